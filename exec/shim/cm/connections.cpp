// Listening, connecting, accepting, disconnecting; and rdma_getaddrinfo, rdma_create_ep.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>

#include "exec/shim/cm/ids.hpp"

namespace loco::cm {

namespace {

std::uint32_t resources(std::uint8_t asked, std::uint8_t most_of_all) {
  const std::uint32_t most = loco_sim_channel()->facts.max_rd_atomic;
  return asked == most_of_all || asked > most ? most : asked;
}

void take_parameters(Id& id, const rdma_conn_param* p) {
  if (p == nullptr) {
    id.responder_resources = id.initiator_depth = loco_sim_channel()->facts.max_rd_atomic;
    return;
  }
  id.responder_resources = resources(p->responder_resources, RDMA_MAX_RESP_RES);
  id.initiator_depth = resources(p->initiator_depth, RDMA_MAX_INIT_DEPTH);
  id.retry_count = p->retry_count & 7U;
  id.rnr_retry = p->rnr_retry_count & 7U;
}

}  // namespace
}  // namespace loco::cm

using namespace loco::cm;

LOCO_EXPORT int rdma_listen(rdma_cm_id* id, int backlog) {
  sockaddr_in& own = *reinterpret_cast<sockaddr_in*>(&id->route.addr.src_addr);
  if (own.sin_port == 0) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    if (rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&any)) != 0) return -1;
  }
  const std::int64_t error =
      loco_sim_call(Request::cm_listen, port_of(&id->route.addr.src_addr), static_cast<std::uint64_t>(backlog) | 1U);
  if (error != 0) return failed(static_cast<int>(error));
  of(id)->listening = true;
  return 0;
}

LOCO_EXPORT int rdma_connect(rdma_cm_id* raw, rdma_conn_param* parameters) {
  Id& id = *of(raw);
  take_parameters(id, parameters);
  const int error = send(id, datagram(id) ? CmType::sidr_req : CmType::req, parameters);
  if (error != 0) happen(id, RDMA_CM_EVENT_UNREACHABLE, -error);
  return complete(id);
}

LOCO_EXPORT int rdma_accept(rdma_cm_id* raw, rdma_conn_param* parameters) {
  Id& id = *of(raw);
  if (parameters != nullptr) {
    id.rnr_retry = parameters->rnr_retry_count & 7U;
    const std::uint32_t responder = resources(parameters->responder_resources, RDMA_MAX_RESP_RES);
    const std::uint32_t initiator = resources(parameters->initiator_depth, RDMA_MAX_INIT_DEPTH);
    if (responder < id.responder_resources) id.responder_resources = responder;
    if (initiator < id.initiator_depth) id.initiator_depth = initiator;
  }
  if (datagram(id)) return send(id, CmType::sidr_rep, parameters) == 0 ? 0 : -1;
  if (const int error = to_rts(id)) return failed(error);
  if (const int error = send(id, CmType::rep, parameters)) return failed(error);
  id.connected = true;  // it may be disconnected before the program takes the event
  return complete(id);
}

LOCO_EXPORT int rdma_establish(rdma_cm_id* raw) {
  Id& id = *of(raw);
  id.connected = true;
  return done(send(id, CmType::rtu, nullptr));
}

LOCO_EXPORT int rdma_reject(rdma_cm_id* raw, const void* data, std::uint8_t bytes) {
  Id& id = *of(raw);
  return done(send(id, datagram(id) ? CmType::sidr_rep : CmType::rej, nullptr, data, bytes));
}

LOCO_EXPORT int rdma_reject_ece(rdma_cm_id* id, const void* data, std::uint8_t bytes) {
  return rdma_reject(id, data, bytes);
}

LOCO_EXPORT int rdma_disconnect(rdma_cm_id* raw) {
  Id& id = *of(raw);
  if (datagram(id)) return failed(EINVAL);
  if (raw->qp != nullptr) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    ibv_modify_qp(raw->qp, &a, IBV_QP_STATE);
  }
  if (!id.connected) return 0;
  send(id, CmType::dreq, nullptr);
  return complete(id);
}

LOCO_EXPORT int rdma_notify(rdma_cm_id*, ibv_event_type) { return 0; }

LOCO_EXPORT int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** out) {
  if (!of(listener)->synchronous) return failed(EINVAL);
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener->channel, &event) != 0) return -1;
  if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    rdma_ack_cm_event(event);
    return failed(EINVAL);
  }
  rdma_cm_id* const id = event->id;
  id->event = event;
  of(id)->synchronous = true;
  id->channel = rdma_create_event_channel();
  if (of(listener)->for_requests != nullptr) {
    ibv_qp_init_attr a = *of(listener)->for_requests;
    a.qp_context = id;
    if (rdma_create_qp(id, of(listener)->pd_for_requests, &a) != 0) return -1;
  }
  *out = id;
  return 0;
}

LOCO_EXPORT int rdma_create_ep(rdma_cm_id** out, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* a) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(nullptr, &id, nullptr, static_cast<rdma_port_space>(info->ai_port_space)) != 0) return -1;
  const auto refuse = [&] {
    const int error = errno;
    rdma_destroy_id(id);
    return failed(error);
  };
  if ((info->ai_flags & RAI_PASSIVE) != 0) {
    if (rdma_bind_addr(id, info->ai_src_addr) != 0) return refuse();
    of(id)->pd_for_requests = pd;
    if (a != nullptr) {
      of(id)->for_requests = make_object<ibv_qp_init_attr>();
      if (of(id)->for_requests != nullptr) *of(id)->for_requests = *a;
      if (of(id)->for_requests != nullptr) of(id)->for_requests->qp_type = static_cast<ibv_qp_type>(info->ai_qp_type);
    }
  } else {
    if (rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, 2000) != 0) return refuse();
    if (rdma_resolve_route(id, 2000) != 0) return refuse();
    if (a != nullptr) {
      a->qp_type = static_cast<ibv_qp_type>(info->ai_qp_type);
      if (rdma_create_qp(id, pd, a) != 0) return refuse();
    }
  }
  *out = id;
  return 0;
}

LOCO_EXPORT void rdma_destroy_ep(rdma_cm_id* id) {
  if (id->qp != nullptr) rdma_destroy_qp(id);
  if (id->srq != nullptr) ibv_destroy_srq(id->srq);
  id->srq = nullptr;
  rdma_destroy_id(id);
}

namespace {

sockaddr* copy_of(const sockaddr* from, socklen_t bytes) {
  auto* const address = static_cast<sockaddr*>(std::calloc(1, sizeof(sockaddr_storage)));
  if (address != nullptr && bytes <= sizeof(sockaddr_storage)) std::memcpy(address, from, bytes);
  return address;
}

/// Looks up an address by name. Returns 0, or an error of getaddrinfo.
int look_up(const char* node, const char* service, int flags, rdma_addrinfo& out) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  const bool passive = (flags & RAI_PASSIVE) != 0;
  if (passive) wanted.ai_flags = AI_PASSIVE;
  if ((flags & RAI_NUMERICHOST) != 0) wanted.ai_flags |= AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(node, service, &wanted, &found)) return error;
  (passive ? out.ai_src_addr : out.ai_dst_addr) = copy_of(found->ai_addr, found->ai_addrlen);
  (passive ? out.ai_src_len : out.ai_dst_len) = found->ai_addrlen;
  freeaddrinfo(found);
  return 0;
}

}  // namespace

LOCO_EXPORT int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                 rdma_addrinfo** out) {
  if (node == nullptr && service == nullptr && hints == nullptr) return failed(EINVAL);
  static constexpr rdma_addrinfo kNone{};
  const rdma_addrinfo& h = hints == nullptr ? kNone : *hints;
  auto* const info = make_object<rdma_addrinfo>();
  if (info == nullptr) return failed(ENOMEM);
  if (node != nullptr || service != nullptr) {
    if (const int error = look_up(node, service, h.ai_flags, *info)) {
      rdma_freeaddrinfo(info);
      return error;
    }
  } else if (h.ai_dst_addr != nullptr) {
    info->ai_dst_addr = copy_of(h.ai_dst_addr, h.ai_dst_len);
    info->ai_dst_len = h.ai_dst_len;
  }
  info->ai_flags = h.ai_flags;
  info->ai_family = AF_INET;
  info->ai_port_space = h.ai_port_space != 0 ? h.ai_port_space : RDMA_PS_TCP;
  info->ai_qp_type = h.ai_qp_type != 0                    ? h.ai_qp_type
                     : info->ai_port_space == RDMA_PS_UDP ? static_cast<int>(IBV_QPT_UD)
                                                          : static_cast<int>(IBV_QPT_RC);
  if (info->ai_src_addr == nullptr && h.ai_src_addr != nullptr) {
    info->ai_src_addr = copy_of(h.ai_src_addr, h.ai_src_len);
    info->ai_src_len = h.ai_src_len;
  }
  *out = info;
  return 0;
}

LOCO_EXPORT void rdma_freeaddrinfo(rdma_addrinfo* info) {
  while (info != nullptr) {
    rdma_addrinfo* const next = info->ai_next;
    std::free(info->ai_src_addr);
    std::free(info->ai_dst_addr);
    std::free(info);
    info = next;
  }
}

LOCO_EXPORT int rdma_set_local_ece(rdma_cm_id*, ibv_ece*) { return 0; }
LOCO_EXPORT int rdma_get_remote_ece(rdma_cm_id*, ibv_ece* ece) {
  *ece = {};
  return 0;
}

LOCO_EXPORT int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  ibv_gid group;
  if (!group_of(address, group)) return failed(EINVAL);
  joined(*of(id), group, context);
  return complete(*of(id));
}
LOCO_EXPORT int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* wanted, void* context) {
  if ((wanted->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) == 0) return failed(EINVAL);
  return rdma_join_multicast(id, wanted->addr, context);
}
LOCO_EXPORT int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  ibv_gid group;
  if (!group_of(address, group)) return failed(EINVAL);
  if (id->qp == nullptr) return 0;
  return done(ibv_detach_mcast(id->qp, &group, 0));
}
