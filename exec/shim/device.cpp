// The device of a host: one NIC with one port, with values from the hardware profile.
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/objects.hpp"

namespace loco::shim {

int async_descriptor();

namespace {

constexpr std::uint32_t kMaxQueues = 1U << 16U;
constexpr int kGids = 4;  // the first is set, the others are empty

ibv_device devices[kNicsMax];

const HostFacts& facts() {
  static const HostFacts none{};
  const Channel* const c = channel();
  return c == nullptr ? none : c->facts;
}

/// The host's GUID, with the number of the NIC from bit 16 on.
__be64 guid(std::uint32_t nic) {
  return htobe64(0x0200'00ff'fe00'0001ULL + facts().host + (std::uint64_t{nic} << 16U));
}

/// RoCE v2: the IPv4 address 10.k.h.h+1 of NIC k; InfiniBand: the subnet's prefix and the GUID.
ibv_gid own_gid(std::uint32_t nic) {
  ibv_gid gid{};
  if (facts().infiniband != 0) {
    gid.global.subnet_prefix = htobe64(0xfe80'0000'0000'0000ULL);
    gid.global.interface_id = guid(nic);
    return gid;
  }
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 10;
  gid.raw[13] = static_cast<std::uint8_t>(nic);
  gid.raw[14] = static_cast<std::uint8_t>(facts().host / 255);
  gid.raw[15] = static_cast<std::uint8_t>(facts().host % 255 + 1);
  return gid;
}

ibv_mtu mtu_of(std::uint32_t bytes) {
  if (bytes >= 4096) return IBV_MTU_4096;
  if (bytes >= 2048) return IBV_MTU_2048;
  if (bytes >= 1024) return IBV_MTU_1024;
  return bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

void describe(ibv_device_attr& a, std::uint32_t nic) {
  const HostFacts& f = facts();
  a = {};
  std::snprintf(a.fw_ver, sizeof(a.fw_ver), "1.0.0");
  a.node_guid = guid(nic);
  a.sys_image_guid = guid(0);
  a.max_mr_size = 1ULL << 40U;
  a.page_size_cap = ~0xfffULL;
  a.vendor_id = 0x02c9;
  a.vendor_part_id = 4119;  // ConnectX-5
  a.max_qp = a.max_cq = a.max_pd = a.max_ah = a.max_srq = kMaxQueues;
  a.max_qp_wr = static_cast<int>(f.max_qp_wr);
  a.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
                       IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_XRC |
                       IBV_DEVICE_MEM_MGT_EXTENSIONS;
  a.max_mw = 1 << 20;
  a.max_sge = a.max_sge_rd = a.max_srq_sge = kElementsMax;
  a.max_cqe = static_cast<int>(f.max_cqe);
  a.max_mr = 1 << 20;
  a.max_qp_rd_atom = a.max_qp_init_rd_atom = static_cast<int>(f.max_rd_atomic);
  a.max_res_rd_atom = 1 << 20;
  a.atomic_cap = f.atomics != 0 ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
  a.max_srq_wr = static_cast<int>(f.max_srq_wr);
  a.max_pkeys = 1;
  a.phys_port_cnt = 1;
  a.local_ca_ack_delay = 16;
}

ibv_device* named_device(std::uint32_t nic) {
  ibv_device& device = devices[nic];
  device.node_type = IBV_NODE_CA;
  device.transport_type = IBV_TRANSPORT_IB;
  std::snprintf(device.name, sizeof(device.name), "loco%u", nic);
  std::snprintf(device.dev_name, sizeof(device.dev_name), "uverbs%u", nic);
  std::snprintf(device.dev_path, sizeof(device.dev_path), "/sys/class/infiniband_verbs/uverbs%u", nic);
  std::snprintf(device.ibdev_path, sizeof(device.ibdev_path), "/sys/class/infiniband/loco%u", nic);
  return &device;
}

}  // namespace

std::uint32_t nic_of(const ibv_device* device) { return static_cast<std::uint32_t>(device - devices); }

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* out, std::size_t bytes) {
  if (port != 1) return EINVAL;
  const HostFacts& f = facts();
  ibv_port_attr a{};
  const bool down = channel() != nullptr && (channel()->ports_down >> nic_of(context) & 1U) != 0;
  a.state = down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  a.max_mtu = IBV_MTU_4096;
  a.active_mtu = mtu_of(f.mtu);
  a.gid_tbl_len = kGids;
  a.pkey_tbl_len = 1;
  a.port_cap_flags = 0x04010000;
  a.max_msg_sz = 1U << 30U;
  a.max_vl_num = 1;
  a.subnet_timeout = 18;
  a.active_width = static_cast<std::uint8_t>(f.width);
  a.active_speed = static_cast<std::uint8_t>(f.speed);
  constexpr std::uint8_t kPolling = 2, kLinkUp = 5;  // IBTA volume 1, PortInfo
  a.phys_state = down ? kPolling : kLinkUp;
  a.link_layer = f.infiniband != 0 ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  if (f.infiniband != 0) {
    a.lid = static_cast<std::uint16_t>(nic_of(context) * f.hosts + f.host + 1);
    a.sm_lid = 1;
  }
  std::memset(out, 0, bytes);
  std::memcpy(out, &a, bytes < sizeof(a) ? bytes : sizeof(a));
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* out,
                    std::size_t bytes) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  ibv_device_attr_ex a{};
  describe(a.orig_attr, nic_of(context));
  a.phys_port_cnt_ex = 1;
  a.completion_timestamp_mask = ~0ULL;
  a.hca_core_clock = 1'000'000;  // kHz
  a.max_dm_size = facts().device_memory;
  constexpr std::uint32_t kDatagrams = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
  a.odp_caps.general_caps = IBV_ODP_SUPPORT;
  a.odp_caps.per_transport_caps.ud_odp_caps = kDatagrams;
  a.odp_caps.per_transport_caps.uc_odp_caps = kDatagrams | IBV_ODP_SUPPORT_WRITE;
  a.odp_caps.per_transport_caps.rc_odp_caps =
      kDatagrams | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
  std::memset(out, 0, bytes);
  std::memcpy(out, &a, bytes < sizeof(a) ? bytes : sizeof(a));
  return 0;
}

namespace {

int query_rt_values(ibv_context*, ibv_values_ex* values) {
  const std::int64_t ns = read_clock() / 1000;
  if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) values->raw_clock = {0, ns};
  return 0;
}

// Thread domains and parent domains only declare who uses what.
ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* wanted) {
  if (wanted->comp_mask != 0) return failed(EOPNOTSUPP);
  auto* const td = make_object<ibv_td>();
  if (td != nullptr) td->context = context;
  return td;
}

int dealloc_td(ibv_td* td) {
  std::free(td);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* wanted) {
  if (wanted->pd == nullptr) return failed(EINVAL);
  constexpr std::uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  if ((wanted->comp_mask & ~kKnown) != 0) return unsupported("ibv_alloc_parent_domain with these attributes");
  auto* const pd = make_object<Pd>();
  if (pd == nullptr) return nullptr;
  pd->pd.context = context;
  pd->pd.handle = wanted->pd->handle;
  pd->inner = of(wanted->pd);
  ++pd->inner->users;
  if ((wanted->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0) {
    pd->alloc = wanted->alloc;
    pd->free = wanted->free;
  }
  if ((wanted->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) != 0) pd->allocator = wanted->pd_context;
  return &pd->pd;
}

/// The descriptor that stands for a device's own.
int command_file(std::uint32_t nic) {
  static int files[kNicsMax];
  int& file = files[nic];
  if (file == 0) file = static_cast<int>(system_call(SYS_memfd_create, "loco-sim-device", 1U /* MFD_CLOEXEC */));
  return file;
}

}  // namespace

ibv_device* device_of_file(int file) {
  struct stat theirs {};
  if (fstat(file, &theirs) != 0) return nullptr;
  for (std::uint32_t nic = 0; nic < facts().nics; ++nic) {
    struct stat ours {};
    if (fstat(command_file(nic), &ours) == 0 && theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev)
      return named_device(nic);
  }
  return nullptr;
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT ibv_device** ibv_get_device_list(int* count) {
  const std::uint32_t nics = facts().nics;  // without a conductor there is none
  if (count != nullptr) *count = static_cast<int>(nics);
  auto** const list = static_cast<ibv_device**>(std::calloc(nics + 1, sizeof(ibv_device*)));
  for (std::uint32_t nic = 0; list != nullptr && nic < nics; ++nic) list[nic] = named_device(nic);
  return list;
}

LOCO_EXPORT void ibv_free_device_list(ibv_device** list) { std::free(list); }
LOCO_EXPORT const char* ibv_get_device_name(ibv_device* d) { return d == nullptr ? nullptr : d->name; }
LOCO_EXPORT __be64 ibv_get_device_guid(ibv_device* d) { return guid(nic_of(d)); }
LOCO_EXPORT int ibv_get_device_index(ibv_device* d) { return static_cast<int>(nic_of(d)); }
LOCO_EXPORT const char* ibv_get_sysfs_path() { return "/sys"; }

LOCO_EXPORT ibv_context* ibv_open_device(ibv_device* d) {
  if (no_conductor()) return nullptr;
  auto* const v = make_object<verbs_context>();
  if (v == nullptr) return nullptr;
  v->sz = sizeof(verbs_context);
  v->query_port = query_port;
  v->query_device_ex = query_device_ex;
  v->create_qp_ex = create_qp_ex;
  v->create_cq_ex = create_cq_ex;
  v->create_srq_ex = create_srq_ex;
  v->query_rt_values = query_rt_values;
  v->alloc_td = alloc_td;
  v->dealloc_td = dealloc_td;
  v->alloc_parent_domain = alloc_parent_domain;
  v->alloc_dm = alloc_dm;
  v->free_dm = free_dm;
  v->reg_dm_mr = reg_dm_mr;
  v->advise_mr = advise_mr;
  v->open_xrcd = open_xrcd;
  v->close_xrcd = close_xrcd;
  v->open_qp = open_qp;
  v->get_srq_num = get_srq_num;
  ibv_context& c = v->context;
  c.device = d;
  c.abi_compat = __VERBS_ABI_IS_EXTENDED;
  c.cmd_fd = command_file(nic_of(d));
  c.async_fd = async_descriptor();
  c.num_comp_vectors = 1;
  pthread_mutex_init(&c.mutex, nullptr);
  c.ops.alloc_mw = alloc_mw;
  c.ops.dealloc_mw = dealloc_mw;
  c.ops.bind_mw = bind_mw;
  c.ops.poll_cq = poll_cq;
  c.ops.post_send = post_send;
  c.ops.post_recv = post_recv;
  c.ops.post_srq_recv = post_srq_recv;
  c.ops.req_notify_cq = req_notify_cq;
  return &c;
}

LOCO_EXPORT ibv_context* ibv_import_device(int file) {
  if (no_conductor()) return nullptr;
  ibv_device* const device = device_of_file(file);
  if (device != nullptr) return ibv_open_device(device);
  return failed(EINVAL);
}

LOCO_EXPORT int ibv_close_device(ibv_context* c) {
  std::free(reinterpret_cast<char*>(c) - offsetof(verbs_context, context));
  return 0;
}

LOCO_EXPORT int ibv_query_device(ibv_context* context, ibv_device_attr* out) {
  describe(*out, nic_of(context));
  return 0;
}

LOCO_EXPORT int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* out) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(out), offsetof(ibv_port_attr, port_cap_flags2));
}

LOCO_EXPORT int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  if (port != 1 || index < 0 || index >= kGids) return failed(EINVAL);
  *gid = index == 0 ? own_gid(nic_of(context)) : ibv_gid{};
  return 0;
}

LOCO_EXPORT int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* out,
                                  std::uint32_t flags, std::size_t bytes) {
  if (port != 1 || flags != 0) return EINVAL;
  if (index != 0) return index < kGids ? ENODATA : EINVAL;
  ibv_gid_entry entry{};
  entry.gid = own_gid(nic_of(context));
  entry.port_num = port;
  entry.gid_type = facts().infiniband != 0 ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
  std::memcpy(out, &entry, bytes < sizeof(entry) ? bytes : sizeof(entry));
  return 0;
}

LOCO_EXPORT ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* out, std::size_t most,
                                         std::uint32_t flags, std::size_t bytes) {
  if (flags != 0) return -EINVAL;
  if (most == 0) return -EINVAL;
  return _ibv_query_gid_ex(context, 1, 0, out, 0, bytes) == 0 ? 1 : -EIO;
}

/// Private to rdma-core, and used by ibv_devinfo: 0 is InfiniBand or RoCE v1, 1 is RoCE v2.
LOCO_EXPORT int ibv_query_gid_type(ibv_context*, std::uint8_t, unsigned index, int* type) {
  *type = facts().infiniband != 0 ? 0 : 1;
  if (index == 0) return 0;
  return failed(EINVAL);
}

LOCO_EXPORT int ibv_query_pkey(ibv_context*, std::uint8_t, int index, __be16* key) {
  *key = htons(0xffff);
  if (index == 0) return 0;
  return failed(EINVAL);
}

LOCO_EXPORT int ibv_get_pkey_index(ibv_context*, std::uint8_t, __be16 key) {
  return (ntohs(key) & 0x7fff) == 0x7fff ? 0 : -1;
}

LOCO_EXPORT int ibv_read_sysfs_file(const char*, const char* file, char* out, std::size_t bytes) {
  const auto say = [&](const char* text) { return std::snprintf(out, bytes, "%s", text); };
  if (std::strcmp(file, "device/vendor") == 0) return say("0x15b3");
  if (std::strcmp(file, "device/device") == 0) return say("0x1017");
  if (std::strcmp(file, "board_id") == 0) return say("LOCO_SIM");
  return failed(ENOENT);
}

LOCO_EXPORT const char* ibv_node_type_str(ibv_node_type type) {
  static constexpr const char* kNames[] = {"",
                                           "InfiniBand channel adapter",
                                           "InfiniBand switch",
                                           "InfiniBand router",
                                           "iWARP NIC",
                                           "usNIC",
                                           "usNIC UDP",
                                           "unspecified"};
  return type > 0 && static_cast<unsigned>(type) < 8 ? kNames[type] : "unknown";
}

LOCO_EXPORT const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr const char* kStates[] = {"PORT_NOP",   "PORT_DOWN",   "PORT_INIT",
                                            "PORT_ARMED", "PORT_ACTIVE", "PORT_ACTIVE_DEFER"};
  return static_cast<unsigned>(state) < 6 ? kStates[state] : "invalid state";
}

LOCO_EXPORT const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr const char* kTexts[] = {"success",
                                           "local length error",
                                           "local QP operation error",
                                           "local EE context operation error",
                                           "local protection error",
                                           "Work Request Flushed Error",
                                           "memory bind operation error",
                                           "bad response error",
                                           "local access error",
                                           "remote invalid request error",
                                           "remote access error",
                                           "remote operation error",
                                           "transport retry counter exceeded",
                                           "RNR retry counter exceeded",
                                           "local RDD violation error",
                                           "remote invalid RD request",
                                           "operation aborted",
                                           "invalid EE context number",
                                           "invalid EE context state",
                                           "fatal error",
                                           "response timeout error",
                                           "general error",
                                           "TM error",
                                           "TM software rendezvous"};
  return static_cast<unsigned>(status) < sizeof(kTexts) / sizeof(kTexts[0]) ? kTexts[status] : "unknown";
}

LOCO_EXPORT const char* ibv_event_type_str(ibv_event_type type) {
  static constexpr const char* kTexts[] = {"CQ error",
                                           "local work queue catastrophic error",
                                           "invalid request local work queue error",
                                           "local access violation work queue error",
                                           "communication established",
                                           "send queue drained",
                                           "path migrated",
                                           "path migration request error",
                                           "local catastrophic error",
                                           "port active",
                                           "port error",
                                           "LID change",
                                           "P_Key change",
                                           "SM change",
                                           "SRQ catastrophic error",
                                           "SRQ limit reached",
                                           "last WQE reached",
                                           "client reregistration",
                                           "GID table change",
                                           "WQ fatal"};
  return static_cast<unsigned>(type) < sizeof(kTexts) / sizeof(kTexts[0]) ? kTexts[type] : "unknown";
}

namespace {

struct Rate {
  ibv_rate rate;
  int mult, mbps;
};
constexpr Rate kRates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},    {IBV_RATE_5_GBPS, 2, 5000},     {IBV_RATE_10_GBPS, 4, 10000},
    {IBV_RATE_20_GBPS, 8, 20000},    {IBV_RATE_30_GBPS, 12, 30000},  {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000},   {IBV_RATE_80_GBPS, 32, 80000},  {IBV_RATE_120_GBPS, 48, 120000},
    {IBV_RATE_14_GBPS, 5, 14062},    {IBV_RATE_56_GBPS, 22, 56250},  {IBV_RATE_25_GBPS, 10, 25781},
    {IBV_RATE_100_GBPS, 41, 103125}, {IBV_RATE_200_GBPS, 82, 206250}};

}  // namespace

LOCO_EXPORT int ibv_rate_to_mult(ibv_rate rate) {
  for (const Rate& r : kRates)
    if (r.rate == rate) return r.mult;
  return -1;
}
LOCO_EXPORT ibv_rate mult_to_ibv_rate(int mult) {
  for (const Rate& r : kRates)
    if (r.mult == mult) return r.rate;
  return IBV_RATE_MAX;
}
LOCO_EXPORT int ibv_rate_to_mbps(ibv_rate rate) {
  for (const Rate& r : kRates)
    if (r.rate == rate) return r.mbps;
  return -1;
}
LOCO_EXPORT ibv_rate mbps_to_ibv_rate(int mbps) {
  for (const Rate& r : kRates)
    if (r.mbps == mbps) return r.rate;
  return IBV_RATE_MAX;
}
