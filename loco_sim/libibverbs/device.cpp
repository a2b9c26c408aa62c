#include "loco_sim/libibverbs/device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "loco_sim/loco/errors.hpp"

namespace loco::libibverbs {

namespace {

constexpr std::uint8_t kAckTimeout = 14;  // 4.096 us * 2^14 = 67 ms
constexpr std::uint8_t kRetryCount = 7;
constexpr std::uint8_t kMinRnrTimer = 12;
constexpr std::uint8_t kReadsMax = 16;

using DeviceList = std::unique_ptr<ibv_device*[], decltype(&ibv_free_device_list)>;

}  // namespace

Device::Device(const DeviceOptions& options) : port_(options.port) {
  open(options.name, options.port);
  if (const int error = ibv_query_device(context_.get(), &attributes_); error != 0)
    throw failed("ibv_query_device", error);
  gid_index_ = options.gid_index >= 0 ? options.gid_index : choose_gid();
  if (ibv_query_gid(context_.get(), port_, gid_index_, &gid_) != 0) throw failed("ibv_query_gid", errno);
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (!domain_) throw failed("ibv_alloc_pd", errno);
}

void Device::open(const std::string& wanted, std::uint8_t port) {
  int count = 0;
  const DeviceList list(ibv_get_device_list(&count), &ibv_free_device_list);
  std::string seen;
  for (int i = 0; list && i < count; ++i) {
    const std::string name = ibv_get_device_name(list[static_cast<std::size_t>(i)]);
    seen += (seen.empty() ? "" : ", ") + name;
    if (!wanted.empty() && name != wanted) continue;
    Context context(ibv_open_device(list[static_cast<std::size_t>(i)]));
    if (!context) {
      if (!wanted.empty()) throw setup_error("device " + name + " cannot be opened: " + std::strerror(errno));
      continue;
    }
    ibv_port_attr attributes{};
    const bool active = ibv_query_port(context.get(), port, &attributes) == 0 && attributes.state == IBV_PORT_ACTIVE;
    if (!active && wanted.empty()) continue;
    if (!active) throw setup_error("device " + name + ": port " + std::to_string(port) + " is not active");
    name_ = name;
    context_ = std::move(context);
    port_attributes_ = attributes;
    return;
  }
  throw setup_error(wanted.empty() ? "no device of libibverbs with an active port" +
                                         (seen.empty() ? std::string(": there is none at all") : "; there are " + seen)
                                   : "no device of libibverbs is called '" + wanted + "'; " +
                                         (seen.empty() ? "there is none at all" : "there are " + seen));
}

int Device::choose_gid() const {
  for (int i = 0; i < port_attributes_.gid_tbl_len; ++i) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context_.get(), port_, static_cast<std::uint32_t>(i), &entry, 0) != 0) continue;
    constexpr std::array<std::uint8_t, 12> kMappedIpv4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && std::equal(kMappedIpv4.begin(), kMappedIpv4.end(), entry.gid.raw))
      return i;
  }
  return 0;
}

std::runtime_error Device::failed(const std::string& call, int error) const {
  return std::runtime_error(call + " on " + name_ + ": " + std::strerror(error));
}

std::int64_t Device::retries_ps() {
  return std::int64_t{4'096'000} * (std::int64_t{1} << kAckTimeout) * (kRetryCount + 1);
}

CompletionQueue Device::create_cq(int entries) const {
  CompletionQueue cq(ibv_create_cq(context_.get(), std::min(entries, attributes_.max_cqe), nullptr, nullptr, 0));
  if (!cq) throw failed("ibv_create_cq", errno);
  return cq;
}

QueuePair Device::create_qp(ibv_cq& cq, std::uint32_t send_entries) const {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = &cq;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = send_entries;
  wanted.cap.max_recv_wr = 1;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  QueuePair qp(ibv_create_qp(domain_.get(), &wanted));
  if (!qp) throw failed("ibv_create_qp", errno);
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = port_;
  init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  if (const int error =
          ibv_modify_qp(qp.get(), &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      error != 0)
    throw failed("ibv_modify_qp to INIT", error);
  return qp;
}

QueuePairAddress Device::address_of(const ibv_qp& qp) const {
  return {.number = qp.qp_num,
          .first_psn = qp.qp_num * 2654435761U & 0xffffffU,
          .lid = port_attributes_.lid,
          .reads_taken = static_cast<std::uint8_t>(std::clamp<int>(attributes_.max_qp_rd_atom, 1, kReadsMax)),
          .mtu = static_cast<std::uint8_t>(port_attributes_.active_mtu),
          .gid = gid_};
}

void Device::connect(ibv_qp& qp, const QueuePairAddress& peer) const {
  const QueuePairAddress mine = address_of(qp);
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = static_cast<ibv_mtu>(std::min(mine.mtu, peer.mtu));
  receive.dest_qp_num = peer.number;
  receive.rq_psn = peer.first_psn;
  receive.max_dest_rd_atomic = mine.reads_taken;
  receive.min_rnr_timer = kMinRnrTimer;
  receive.ah_attr.dlid = peer.lid;
  receive.ah_attr.port_num = port_;
  if (port_attributes_.link_layer == IBV_LINK_LAYER_ETHERNET) {
    receive.ah_attr.is_global = 1;
    receive.ah_attr.grh.dgid = peer.gid;
    receive.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
    receive.ah_attr.grh.hop_limit = 64;
  }
  if (const int error = ibv_modify_qp(&qp, &receive,
                                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      error != 0)
    throw failed("ibv_modify_qp to RTR", error);
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.timeout = kAckTimeout;
  send.retry_cnt = kRetryCount;
  send.rnr_retry = 7;
  send.sq_psn = mine.first_psn;
  send.max_rd_atomic = static_cast<std::uint8_t>(
      std::clamp<int>(attributes_.max_qp_init_rd_atom, 1, std::max<int>(peer.reads_taken, 1)));
  if (const int error = ibv_modify_qp(&qp, &send,
                                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
      error != 0)
    throw failed("ibv_modify_qp to RTS", error);
}

void Device::set_state(ibv_qp& qp, ibv_qp_state state) const {
  ibv_qp_attr wanted{};
  wanted.qp_state = state;
  if (const int error = ibv_modify_qp(&qp, &wanted, IBV_QP_STATE); error != 0) throw failed("ibv_modify_qp", error);
}

MemoryRegion Device::register_memory(void* memory, std::uint64_t size) const {
  const bool atomics = attributes_.atomic_cap != IBV_ATOMIC_NONE;
  MemoryRegion region(ibv_reg_mr(domain_.get(), memory, size,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                     (atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0)));
  if (!region)
    throw std::runtime_error("ibv_reg_mr of " + std::to_string(size) + " bytes on " + name_ + ": " +
                             std::strerror(errno) +
                             (errno == ENOMEM ? " (is the limit of locked memory, ulimit -l, high enough?)" : ""));
  return region;
}

}  // namespace loco::libibverbs
