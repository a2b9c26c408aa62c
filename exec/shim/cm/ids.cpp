// Ids: made, bound, resolved, given queue pairs, destroyed.
#include "exec/shim/cm/ids.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <infiniband/ib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace loco::cm {

namespace {

Id* ids = nullptr;
std::uint32_t next_number = 1;
std::uint32_t next_port = 32768;
ibv_context* opened = nullptr;
ibv_pd* shared_pd = nullptr;

[[gnu::constructor]] void begin() { loco_sim_set_mailbox(take_mail); }

}  // namespace

ibv_context* device() {
  if (opened != nullptr) return opened;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  if (count > 0) opened = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  return opened;
}

ibv_pd* default_pd() {
  if (shared_pd == nullptr && device() != nullptr) shared_pd = ibv_alloc_pd(device());
  return shared_pd;
}

Id* id_numbered(std::uint32_t number) {
  for (Id* id = ids; id != nullptr; id = id->next)
    if (id->number == number) return id;
  return nullptr;
}

Id* listener_on(std::uint32_t port) {
  for (Id* id = ids; id != nullptr; id = id->next)
    if (id->listening && port_of(&id->id.route.addr.src_addr) == port) return id;
  return nullptr;
}

Id* make_id(rdma_event_channel* channel, void* context, rdma_port_space space) {
  Id* const id = make_object<Id>();
  if (id == nullptr) return nullptr;
  id->id.channel = channel;
  id->id.context = context;
  id->id.ps = space;
  id->id.qp_type = space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
  id->number = loco_sim_channel()->facts.process << kProcessBit | next_number++;
  id->psn = (id->number * 0x9e3779U) & 0xffffffU;
  id->retry_count = id->rnr_retry = 7;
  id->next = ids;
  ids = id;
  return id;
}

bool group_of(const sockaddr* address, ibv_gid& out) {
  out = {};
  if (address->sa_family == AF_INET) {
    out.raw[10] = out.raw[11] = 0xff;
    std::memcpy(out.raw + 12, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 4);
    return out.raw[12] >> 4U == 0xe;
  }
  const void* gid = nullptr;
  if (address->sa_family == AF_INET6) gid = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (address->sa_family == AF_IB) gid = &reinterpret_cast<const sockaddr_ib*>(address)->sib_addr;
  if (gid == nullptr) return false;
  std::memcpy(out.raw, gid, sizeof(out.raw));
  return out.raw[0] == 0xff;
}

int host_of(const sockaddr* address) {
  const auto& facts = loco_sim_channel()->facts;
  if (ibv_gid group; group_of(address, group)) return static_cast<int>(facts.host);
  std::uint32_t ip = 0;
  if (address->sa_family == AF_INET) {
    ip = ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
  } else if (address->sa_family == AF_INET6) {
    const auto* const bytes = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr.s6_addr;
    std::memcpy(&ip, bytes + 12, 4);
    ip = ntohl(ip);
  } else {
    return -1;
  }
  if (ip == INADDR_ANY || ip == INADDR_LOOPBACK) return static_cast<int>(facts.host);
  const bool loopback = (ip >> 16U) == (127U << 8U | 1U);
  const bool of_gid = (ip >> 16U) == 10U << 8U;
  const std::uint32_t host = ((ip >> 8U) & 0xffU) * 255 + (ip & 0xffU) - 1;
  return (loopback || of_gid) && host < facts.hosts ? static_cast<int>(host) : -1;
}

void set_address(sockaddr_storage& out, std::uint32_t host, std::uint32_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(127U << 24U | 1U << 16U | (host / 255) << 8U | (host % 255 + 1));
  std::memcpy(&out, &address, sizeof(address));
}

// both kinds of address have the port at the same offset
std::uint32_t port_of(const sockaddr* address) {
  return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
}

bool datagram(const Id& id) { return id.id.ps == RDMA_PS_UDP || id.id.ps == RDMA_PS_IPOIB; }

namespace {

void use_device(Id& id) {
  id.id.verbs = device();
  id.id.port_num = 1;
  if (id.id.pd == nullptr) id.id.pd = default_pd();
}

ibv_mtu active_mtu(ibv_context* context) {
  ibv_port_attr attributes{};
  ___ibv_query_port(context, 1, &attributes);
  return attributes.active_mtu;
}

constexpr unsigned kConnectionRights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

}  // namespace

int to_init(Id& id) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (datagram(id)) {
    a.qkey = RDMA_UDP_QKEY;
    mask |= IBV_QP_QKEY;
  } else {
    a.qp_access_flags = kConnectionRights;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  int error = ibv_modify_qp(id.id.qp, &a, mask);
  if (error != 0 || !datagram(id)) return error;
  a.qp_state = IBV_QPS_RTR;
  error = ibv_modify_qp(id.id.qp, &a, IBV_QP_STATE);
  if (error != 0) return error;
  a.qp_state = IBV_QPS_RTS;
  a.sq_psn = 0;
  return ibv_modify_qp(id.id.qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

namespace {

void attributes_of(Id& id, ibv_qp_state state, ibv_qp_attr& a, int& mask) {
  a = {};
  a.qp_state = state;
  if (state == IBV_QPS_INIT) {
    a.port_num = 1;
    a.qp_access_flags = kConnectionRights;
    mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  } else if (state == IBV_QPS_RTR) {
    a.path_mtu = active_mtu(id.id.verbs);
    a.dest_qp_num = id.peer_qp;
    a.rq_psn = id.peer_psn;
    a.max_dest_rd_atomic = static_cast<std::uint8_t>(id.responder_resources);
    a.min_rnr_timer = 12;
    a.ah_attr.is_global = 1;
    a.ah_attr.port_num = 1;
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
           IBV_QP_MIN_RNR_TIMER;
  } else {
    a.sq_psn = id.psn;
    a.timeout = 14;
    a.retry_cnt = static_cast<std::uint8_t>(id.retry_count);
    a.rnr_retry = static_cast<std::uint8_t>(id.rnr_retry);
    a.max_rd_atomic = static_cast<std::uint8_t>(id.initiator_depth);
    mask =
        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  }
}

}  // namespace

int to_rts(Id& id) {
  if (id.id.qp == nullptr || datagram(id)) return 0;
  for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS}) {
    ibv_qp_attr a;
    int mask = 0;
    attributes_of(id, state, a, mask);
    if (const int error = ibv_modify_qp(id.id.qp, &a, mask)) return error;
  }
  return 0;
}

}  // namespace loco::cm

using namespace loco::cm;

LOCO_EXPORT rdma_event_channel* rdma_create_event_channel() {
  EventChannel* const c = make_object<EventChannel>();
  if (c == nullptr) return nullptr;
  c->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  c->end = &c->first;
  return &c->channel;
}

LOCO_EXPORT void rdma_destroy_event_channel(rdma_event_channel* channel) {
  EventChannel* const c = of(channel);
  while (c->first != nullptr) {
    Pending* const gone = c->first;
    c->first = gone->next;
    std::free(gone);
  }
  syscall(SYS_close, channel->fd);
  c->destroyed = true;
  if (c->waiting == 0) std::free(c);
}

LOCO_EXPORT int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** out, void* context, rdma_port_space space) {
  if (loco_sim_channel() == nullptr || device() == nullptr) return failed(ENODEV);
  rdma_event_channel* const mine = channel != nullptr ? channel : rdma_create_event_channel();
  Id* const id = make_id(mine, context, space);
  if (id == nullptr) return failed(ENOMEM);
  id->synchronous = channel == nullptr;
  *out = &id->id;
  return 0;
}

LOCO_EXPORT int rdma_destroy_id(rdma_cm_id* raw) {
  Id* const id = of(raw);
  if (id->listening && loco_sim_channel() != nullptr)
    loco_sim_call(Request::cm_listen, port_of(&raw->route.addr.src_addr), 0);
  if (raw->event != nullptr) rdma_ack_cm_event(raw->event);
  if (raw->channel != nullptr) {  // drops its pending events
    EventChannel* const c = of(raw->channel);
    for (Pending** at = &c->first; *at != nullptr;) {
      Pending* const p = *at;
      if (p->id != id) {
        at = &p->next;
        continue;
      }
      *at = p->next;
      std::free(p);
      std::uint64_t one = 0;
      syscall(SYS_read, raw->channel->fd, &one, sizeof(one));
    }
    c->end = &c->first;
    while (*c->end != nullptr) c->end = &(*c->end)->next;
  }
  take_out(ids, id);
  if (id->synchronous) rdma_destroy_event_channel(raw->channel);
  std::free(id->for_requests);
  std::free(id);
  return 0;
}

LOCO_EXPORT int rdma_bind_addr(rdma_cm_id* raw, sockaddr* address) {
  const int host = host_of(address);
  if (host != static_cast<int>(loco_sim_channel()->facts.host)) return failed(EADDRNOTAVAIL);
  std::uint32_t port = port_of(address);
  if (port == 0) port = next_port++;
  const bool any = address->sa_family == AF_INET &&
                   reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_ANY);
  set_address(raw->route.addr.src_storage, static_cast<std::uint32_t>(host), port);
  if (any) {
    reinterpret_cast<sockaddr_in*>(&raw->route.addr.src_storage)->sin_addr.s_addr = htonl(INADDR_ANY);
  } else {
    use_device(*of(raw));
  }
  return 0;
}

LOCO_EXPORT int rdma_resolve_addr(rdma_cm_id* raw, sockaddr* from, sockaddr* to, int) {
  Id& id = *of(raw);
  if (from != nullptr && rdma_bind_addr(raw, from) != 0) return -1;
  const int host = host_of(to);
  const std::uint32_t port = port_of(&raw->route.addr.src_addr);
  set_address(raw->route.addr.src_storage, loco_sim_channel()->facts.host, port != 0 ? port : next_port++);
  if (host < 0) {
    happen(id, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
  } else {
    set_address(raw->route.addr.dst_storage, static_cast<std::uint32_t>(host), port_of(to));
    id.host = static_cast<std::uint32_t>(host);
    use_device(id);
    happen(id, RDMA_CM_EVENT_ADDR_RESOLVED);
  }
  return complete(id);
}

LOCO_EXPORT int rdma_resolve_route(rdma_cm_id* raw, int) {
  static ibv_sa_path_rec path{};
  raw->route.path_rec = &path;
  raw->route.num_paths = 1;
  happen(*of(raw), RDMA_CM_EVENT_ROUTE_RESOLVED);
  return complete(*of(raw));
}

namespace {

/// As in librdmacm, attributes left out are made for the id.
int make_cqs(rdma_cm_id* id, ibv_qp_init_attr* a) {
  const auto one = [&](ibv_cq*& cq, ibv_comp_channel*& channel, std::uint32_t entries) {
    channel = ibv_create_comp_channel(id->verbs);
    if (channel == nullptr) return false;
    cq = ibv_create_cq(id->verbs, static_cast<int>(entries == 0 ? 1 : entries), id, channel, 0);
    return cq != nullptr;
  };
  if (a->recv_cq == nullptr) {
    if (!one(id->recv_cq, id->recv_cq_channel, a->cap.max_recv_wr)) return -1;
    a->recv_cq = id->recv_cq;
    of(id)->own_cqs = true;
  }
  if (a->send_cq == nullptr) {
    if (!one(id->send_cq, id->send_cq_channel, a->cap.max_send_wr)) return -1;
    a->send_cq = id->send_cq;
    of(id)->own_cqs = true;
  }
  return 0;
}

}  // namespace

LOCO_EXPORT int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* a) {
  if (id->qp != nullptr || id->verbs == nullptr) return failed(EINVAL);
  if (pd == nullptr) pd = id->pd != nullptr ? id->pd : default_pd();
  if (a->srq == nullptr) a->srq = id->srq;
  if (make_cqs(id, a) != 0) return -1;
  ibv_qp* const qp = ibv_create_qp(pd, a);
  if (qp == nullptr) return -1;
  id->qp = qp;
  id->pd = pd;
  if (id->send_cq == nullptr) id->send_cq = a->send_cq;
  if (id->recv_cq == nullptr) id->recv_cq = a->recv_cq;
  return done(to_init(*of(id)));
}

LOCO_EXPORT int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* a) {
  if (id->qp != nullptr || id->verbs == nullptr) return failed(EINVAL);
  if ((a->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) {
    a->pd = id->pd != nullptr ? id->pd : default_pd();
    a->comp_mask |= IBV_QP_INIT_ATTR_PD;
  }
  if (make_cqs(id, reinterpret_cast<ibv_qp_init_attr*>(a)) != 0) return -1;
  ibv_qp* const qp = ibv_create_qp_ex(id->verbs, a);
  if (qp == nullptr) return -1;
  id->qp = qp;
  id->pd = a->pd;
  return done(to_init(*of(id)));
}

LOCO_EXPORT void rdma_destroy_qp(rdma_cm_id* id) {
  if (id->qp != nullptr) ibv_destroy_qp(id->qp);
  id->qp = nullptr;
  if (!of(id)->own_cqs) return;
  of(id)->own_cqs = false;
  if (id->send_cq_channel != nullptr) {
    ibv_destroy_cq(id->send_cq);
    ibv_destroy_comp_channel(id->send_cq_channel);
  }
  if (id->recv_cq_channel != nullptr) {
    ibv_destroy_cq(id->recv_cq);
    ibv_destroy_comp_channel(id->recv_cq_channel);
  }
  id->send_cq = id->recv_cq = nullptr;
  id->send_cq_channel = id->recv_cq_channel = nullptr;
}

// of rdma/rdma_verbs.h
LOCO_EXPORT int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* a) {
  if (pd == nullptr) pd = id->pd != nullptr ? id->pd : default_pd();
  id->srq = ibv_create_srq(pd, a);
  return id->srq == nullptr ? -1 : 0;
}

LOCO_EXPORT void rdma_destroy_srq(rdma_cm_id* id) {
  if (id->srq != nullptr) ibv_destroy_srq(id->srq);
  id->srq = nullptr;
}

LOCO_EXPORT int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* a) {
  id->srq = ibv_create_srq_ex(id->verbs, a);
  return id->srq == nullptr ? -1 : 0;
}

LOCO_EXPORT int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* a, int* mask) {
  if (id->verbs == nullptr) return failed(EINVAL);
  attributes_of(*of(id), a->qp_state, *a, *mask);
  return 0;
}

LOCO_EXPORT int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  Id& mine = *of(id);
  if (mine.synchronous && channel != nullptr) rdma_destroy_event_channel(id->channel);
  mine.synchronous = channel == nullptr;
  id->channel = channel != nullptr ? channel : rdma_create_event_channel();
  return 0;
}

LOCO_EXPORT int rdma_set_option(rdma_cm_id*, int, int, void*, std::size_t) { return 0; }
LOCO_EXPORT __be16 rdma_get_src_port(rdma_cm_id* id) {
  return reinterpret_cast<const sockaddr_in*>(&id->route.addr.src_addr)->sin_port;
}
LOCO_EXPORT __be16 rdma_get_dst_port(rdma_cm_id* id) {
  return reinterpret_cast<const sockaddr_in*>(&id->route.addr.dst_addr)->sin_port;
}

LOCO_EXPORT ibv_context** rdma_get_devices(int* count) {
  auto** const list = static_cast<ibv_context**>(std::calloc(2, sizeof(ibv_context*)));
  if (list != nullptr) list[0] = device();
  if (count != nullptr) *count = list != nullptr && list[0] != nullptr ? 1 : 0;
  return list;
}
LOCO_EXPORT void rdma_free_devices(ibv_context** list) { std::free(list); }
