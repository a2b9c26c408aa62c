#include "loco_sim/libfabric/fabric.hpp"

#include <cstring>
#include <rdma/fi_errno.h>
#include <string_view>
#include <utility>

#include "loco_sim/libfabric/library.hpp"
#include "loco_sim/loco/errors.hpp"

namespace loco::libfabric {

namespace {

/// A process that is the target of fetching atomics ends by a signal after some hundred of them, in fi_cq_read
/// (github.com/ofiwg/libfabric/issues/11814).
bool has_atomics_that_crash(const std::string& provider) { return provider.find("ofi_rxd") != std::string::npos; }

/// With sockets everything that peers do arrives at a descriptor. With other providers that may hold for messages only.
bool is_over_sockets(std::string_view provider) {
  return provider.starts_with("tcp") || provider.starts_with("udp") || provider.starts_with("net");
}

Info ask(const std::string& provider, const std::string& address, std::uint64_t caps, std::uint64_t op_flags = 0) {
  const Info hints(library().dupinfo(nullptr));
  if (!hints) throw std::bad_alloc();
  hints->caps = caps;
  hints->mode = FI_CONTEXT;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->op_flags = op_flags;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (!provider.empty()) hints->fabric_attr->prov_name = ::strdup(provider.c_str());
  fi_info* found = nullptr;
  // FI_SOURCE: the address is this node's, so a node on loopback is found
  if (library().getinfo(FI_VERSION(1, 15), address.c_str(), nullptr, FI_SOURCE, hints.get(), &found) != 0)
    return nullptr;
  return Info(found);
}

}  // namespace

std::runtime_error failed(const std::string& call, std::int64_t error) {
  return std::runtime_error(call + ": " + library().strerror(static_cast<int>(error < 0 ? -error : error)));
}

Fabric::Fabric(const std::string& provider, const std::string& address)
    : info_(ask(provider, address, FI_RMA | FI_ATOMIC)) {
  const bool atomics = info_ != nullptr && !has_atomics_that_crash(this->provider());
  if (!info_) info_ = ask(provider, address, FI_RMA);
  if (!info_)
    throw setup_error("no provider of libfabric" + (provider.empty() ? "" : " called '" + provider + "'") +
                      " has reliable datagram endpoints with FI_RMA at " + address + " (fi_info -l lists providers)");
  can_deliver_ = ask(provider, address, info_->caps & (FI_RMA | FI_ATOMIC), FI_DELIVERY_COMPLETE) != nullptr;
  fid_fabric* fabric = nullptr;
  if (const int error = library().fabric(info_->fabric_attr, &fabric, nullptr); error != 0)
    throw failed("fi_fabric", error);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  if (const int error = fi_domain(fabric_.get(), info_.get(), &domain, nullptr); error != 0)
    throw failed("fi_domain", error);
  domain_.reset(domain);
  fi_av_attr av_attributes{};
  fid_av* av = nullptr;
  if (const int error = fi_av_open(domain_.get(), &av_attributes, &av, nullptr); error != 0)
    throw failed("fi_av_open", error);
  av_.reset(av);
  open_cq();
  first_ = make_endpoint();
  std::size_t at_once = 0;
  has_atomics_ = atomics && fi_fetch_atomicvalid(first_.get(), FI_UINT64, FI_SUM, &at_once) == 0 &&
                 fi_compare_atomicvalid(first_.get(), FI_UINT64, FI_CSWAP, &at_once) == 0;
}

/// ofi_rxd 1.17 returns its descriptor only for wait sets, which later versions do not have.
void Fabric::open_cq() {
  const bool waits = progress_is_manual() && is_over_sockets(provider());
  if (waits && (open_cq(FI_WAIT_FD) || open_cq(FI_WAIT_SET))) return;
  wait_set_.reset();
  if (!open_cq(FI_WAIT_NONE)) throw failed("fi_cq_open", FI_EOPNOTSUPP);
}

bool Fabric::open_cq(fi_wait_obj waited_for) {
  if (waited_for == FI_WAIT_SET) {
    fi_wait_attr set_attributes{};
    set_attributes.wait_obj = FI_WAIT_FD;
    fid_wait* set = nullptr;
    if (fi_wait_open(fabric_.get(), &set_attributes, &set) != 0) return false;
    wait_set_.reset(set);
  }
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_CONTEXT;
  attributes.size = 1U << 14U;
  attributes.wait_obj = waited_for;
  attributes.wait_set = wait_set_.get();
  fid_cq* cq = nullptr;
  if (fi_cq_open(domain_.get(), &attributes, &cq, nullptr) != 0) return false;
  cq_.reset(cq);
  if (waited_for == FI_WAIT_NONE) return true;
  if (fi_control(waited_for == FI_WAIT_SET ? &wait_set_->fid : &cq->fid, FI_GETWAIT, &descriptor_) == 0) return true;
  descriptor_ = -1;
  cq_.reset();
  return false;
}

bool Fabric::rearm() const {
  fid* const waited_for = &cq_->fid;
  fid* all[] = {waited_for};
  return fi_trywait(fabric_.get(), all, 1) != -FI_EAGAIN;
}

Promises Fabric::promises() const {
  return {.flags = info_->tx_attr->msg_order & info_->rx_attr->msg_order,
          .read_after_write = info_->ep_attr->max_order_raw_size,
          .write_after_write = info_->ep_attr->max_order_waw_size,
          .atomics_apart = !has_atomics_};
}

/// ofi_rxm 1.17 accesses closed endpoints when waiting for their completion queue, so no endpoint is made without need.
Owned<fid_ep> Fabric::create_endpoint() { return first_ != nullptr ? std::move(first_) : make_endpoint(); }

Owned<fid_ep> Fabric::make_endpoint() const {
  fid_ep* made = nullptr;
  if (const int error = fi_endpoint(domain_.get(), info_.get(), &made, nullptr); error != 0)
    throw failed("fi_endpoint", error);
  Owned<fid_ep> endpoint(made);
  if (const int error = fi_ep_bind(made, &av_->fid, 0); error != 0) throw failed("fi_ep_bind", error);
  if (const int error = fi_ep_bind(made, &cq_->fid, FI_TRANSMIT | FI_RECV); error != 0)
    throw failed("fi_ep_bind", error);
  if (const int error = fi_enable(made); error != 0) throw failed("fi_enable", error);
  return endpoint;
}

std::vector<char> Fabric::name_of(fid_ep& endpoint) {
  std::vector<char> name(256);
  std::size_t bytes = name.size();
  if (const int error = fi_getname(&endpoint.fid, name.data(), &bytes); error != 0) throw failed("fi_getname", error);
  name.resize(bytes);
  return name;
}

fi_addr_t Fabric::insert(const std::vector<char>& name) const {
  fi_addr_t address = FI_ADDR_UNSPEC;
  if (fi_av_insert(av_.get(), name.data(), 1, &address, 0, nullptr) != 1)
    throw std::runtime_error("fi_av_insert: the provider does not take a peer's address");
  return address;
}

Owned<fid_mr> Fabric::register_memory(void* memory, std::uint64_t size, std::uint64_t key) const {
  fid_mr* made = nullptr;
  const int error = fi_mr_reg(domain_.get(), memory, size, FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                              key, 0, &made, nullptr);
  if (error != 0) throw failed("fi_mr_reg of " + std::to_string(size) + " bytes", error);
  return Owned<fid_mr>(made);
}

}  // namespace loco::libfabric
