// Events: turns messages into what programs get.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/cm/ids.hpp"

namespace loco::cm {

namespace {

// private data that the kernel's CM passes on, whatever was sent (include/rdma/ib_cm.h)
constexpr std::uint8_t kReqData = 56, kRepData = 196, kRejData = 148, kSidrReqData = 180, kSidrRepData = 136;
constexpr int kRejectedByConsumer = 28;  // IBTA volume 1, table 108

void append(Id& id, Pending* p) {
  p->id = &id;
  EventChannel& c = *of(id.id.channel);
  *c.end = p;
  c.end = &p->next;
  const std::uint64_t one = 1;
  syscall(SYS_write, id.id.channel->fd, &one, sizeof(one));
  loco_sim_channel()->io = 1;  // another thread may be waiting for it
}

std::uint32_t device_most() { return loco_sim_channel()->facts.max_rd_atomic; }

std::uint32_t at_most(std::uint32_t value) { return value < device_most() ? value : device_most(); }

Event* event_of(Id& id, rdma_cm_event_type what, int status = 0) {
  Event* const e = make_object<Event>();
  if (e == nullptr) return nullptr;
  e->event.id = &id.id;
  e->event.event = what;
  e->event.status = status;
  return e;
}

void add_connection(Event& e, const CmMessage& m, std::uint8_t bytes) {
  std::memcpy(e.private_data, m.private_data, kPrivateData);
  rdma_conn_param& p = e.event.param.conn;
  p.private_data = e.private_data;
  p.private_data_len = bytes;
  // requests that one side starts are answered by the other
  p.responder_resources = static_cast<std::uint8_t>(m.initiator_depth);
  p.initiator_depth = static_cast<std::uint8_t>(m.responder_resources);
  p.rnr_retry_count = static_cast<std::uint8_t>(m.rnr_retry);
  p.qp_num = m.qp;
}

void add_datagram(Event& e, const CmMessage& m, std::uint8_t bytes) {
  std::memcpy(e.private_data, m.private_data, kPrivateData);
  rdma_ud_param& p = e.event.param.ud;
  p.private_data = e.private_data;
  p.private_data_len = bytes;
  p.ah_attr.is_global = 1;
  p.ah_attr.port_num = 1;
  p.qp_num = m.qp;
  p.qkey = m.qkey;
}

Event* requested(Id& listener, const CmMessage& m) {
  Id* const id = make_id(listener.id.channel, listener.id.context, listener.id.ps);
  if (id == nullptr) return nullptr;
  id->synchronous = false;
  id->host = m.from_host;
  id->peer_id = m.from_id;
  id->peer_qp = m.qp;
  id->peer_psn = m.psn;
  id->responder_resources = at_most(m.initiator_depth);
  id->initiator_depth = at_most(m.responder_resources);
  id->rnr_retry = m.rnr_retry;
  id->id.verbs = device();
  id->id.port_num = 1;
  id->id.pd = listener.pd_for_requests != nullptr ? listener.pd_for_requests : default_pd();
  set_address(id->id.route.addr.src_storage, loco_sim_channel()->facts.host, m.port);
  set_address(id->id.route.addr.dst_storage, m.from_host, m.from_port);
  Event* const e = event_of(*id, RDMA_CM_EVENT_CONNECT_REQUEST);
  if (e == nullptr) return nullptr;
  e->event.listen_id = &listener.id;
  if (m.type == CmType::sidr_req) {
    add_datagram(*e, m, kSidrReqData);
  } else {
    add_connection(*e, m, kReqData);
  }
  return e;
}

Event* answered(Id& id, const CmMessage& m) {
  id.peer_id = m.from_id;
  id.peer_qp = m.qp;
  id.peer_psn = m.psn;
  id.responder_resources = at_most(m.initiator_depth);
  id.initiator_depth = at_most(m.responder_resources);
  const bool managed = id.id.qp != nullptr;
  int status = 0;
  if (managed) {
    status = -to_rts(id);
    if (status == 0) send(id, CmType::rtu, nullptr);
    id.connected = status == 0;
  }
  const rdma_cm_event_type what = !managed      ? RDMA_CM_EVENT_CONNECT_RESPONSE
                                  : status == 0 ? RDMA_CM_EVENT_ESTABLISHED
                                                : RDMA_CM_EVENT_CONNECT_ERROR;
  Event* const e = event_of(id, what, status);
  if (e != nullptr) add_connection(*e, m, kRepData);
  return e;
}

/// From now on the queue pair is in the group, as with the kernel.
Event* joined_event(Pending& p) {
  Id& id = *p.id;
  constexpr std::uint16_t kLid = 0xc000;
  if (id.id.qp != nullptr) p.status = ibv_attach_mcast(id.id.qp, &p.group, kLid);
  Event* const e =
      event_of(id, p.status == 0 ? RDMA_CM_EVENT_MULTICAST_JOIN : RDMA_CM_EVENT_MULTICAST_ERROR, -p.status);
  if (e == nullptr) return nullptr;
  rdma_ud_param& ud = e->event.param.ud;
  ud.private_data = p.context;
  ud.ah_attr.is_global = 1;
  ud.ah_attr.port_num = 1;
  ud.ah_attr.dlid = kLid;
  ud.ah_attr.grh.dgid = p.group;
  ud.qp_num = 0xffffff;
  ud.qkey = RDMA_UDP_QKEY;
  return e;
}

/// Null if the program is not told.
Event* event_from(Pending& p) {
  Id& id = *p.id;
  if (!p.has_message && p.local == RDMA_CM_EVENT_MULTICAST_JOIN) return joined_event(p);
  if (!p.has_message) return event_of(id, p.local, p.status);
  const CmMessage& m = p.message;
  switch (m.type) {
    case CmType::req:
    case CmType::sidr_req:
      return requested(id, m);
    case CmType::rep:
      return answered(id, m);
    case CmType::rtu:
      id.connected = true;
      return event_of(id, RDMA_CM_EVENT_ESTABLISHED);
    case CmType::rej: {
      Event* const e = event_of(id, RDMA_CM_EVENT_REJECTED, static_cast<int>(m.reason));
      if (e != nullptr) add_connection(*e, m, kRejData);
      return e;
    }
    case CmType::dreq:
    case CmType::drep:
      if (!id.connected) return nullptr;
      id.connected = false;
      return event_of(id, RDMA_CM_EVENT_DISCONNECTED);
    case CmType::sidr_rep: {
      id.peer_qp = m.qp;
      Event* const e = event_of(id, m.reason == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE,
                                static_cast<int>(m.reason));
      if (e != nullptr) add_datagram(*e, m, kSidrRepData);
      return e;
    }
  }
  return nullptr;
}

}  // namespace

void happen(Id& id, rdma_cm_event_type what, int status) {
  Pending* const p = make_object<Pending>();
  if (p == nullptr) return;
  p->local = what;
  p->status = status;
  append(id, p);
}

void joined(Id& id, const ibv_gid& group, void* context) {
  Pending* const p = make_object<Pending>();
  if (p == nullptr) return;
  p->local = RDMA_CM_EVENT_MULTICAST_JOIN;
  p->group = group;
  p->context = context;
  append(id, p);
}

void take_mail(const CmMessage& message) {
  Id* const id = message.to_id == kListener ? listener_on(message.port) : id_numbered(message.to_id);
  if (id == nullptr) return;
  Pending* const p = make_object<Pending>();
  if (p == nullptr) return;
  p->message = message;
  p->has_message = true;
  append(*id, p);
}

int send(Id& id, CmType type, const rdma_conn_param* parameters, const void* data, std::size_t bytes) {
  CmMessage m{};
  m.type = type;
  m.to_host = id.host;
  m.from_id = id.number;
  m.to_id = type == CmType::req || type == CmType::sidr_req ? kListener : id.peer_id;
  m.port = port_of(&id.id.route.addr.dst_addr);
  m.from_port = port_of(&id.id.route.addr.src_addr);
  m.port_space = static_cast<std::uint32_t>(id.id.ps);
  m.psn = id.psn;
  m.qkey = RDMA_UDP_QKEY;
  m.reason = type == CmType::rej ? kRejectedByConsumer : 0;
  m.responder_resources = id.responder_resources;
  m.initiator_depth = id.initiator_depth;
  if (id.id.qp != nullptr) m.qp = id.id.qp->qp_num;
  if (parameters != nullptr) {
    if (id.id.qp == nullptr) m.qp = parameters->qp_num;
    m.rnr_retry = parameters->rnr_retry_count;
    data = parameters->private_data;
    bytes = parameters->private_data_len;
  }
  m.bytes = static_cast<std::uint32_t>(bytes < kPrivateData ? bytes : kPrivateData);
  if (data != nullptr) std::memcpy(m.private_data, data, m.bytes);
  std::memcpy(loco_sim_channel()->data, &m, sizeof(m));
  return static_cast<int>(loco_sim_call(Request::cm_send, m.to_host, static_cast<std::uint64_t>(type)));
}

int complete(Id& id) {
  if (!id.synchronous) return 0;
  if (id.id.event != nullptr) rdma_ack_cm_event(id.id.event);
  id.id.event = nullptr;
  if (rdma_get_cm_event(id.id.channel, &id.id.event) != 0) return -1;
  const int status = id.id.event->status;
  if (status == 0) return 0;
  if (id.id.event->event == RDMA_CM_EVENT_REJECTED) return failed(ECONNREFUSED);
  return failed(status < 0 ? -status : status);
}

}  // namespace loco::cm

using namespace loco::cm;

LOCO_EXPORT int rdma_get_cm_event(rdma_event_channel* raw, rdma_cm_event** out) {
  if (loco_sim_channel() == nullptr) return failed(EIO);
  EventChannel& c = *of(raw);
  const bool blocks = (syscall(SYS_fcntl, raw->fd, F_GETFL) & O_NONBLOCK) == 0;
  while (true) {
    while (c.first != nullptr) {
      Pending* const p = c.first;
      c.first = p->next;
      if (c.first == nullptr) c.end = &c.first;
      std::uint64_t one = 0;
      syscall(SYS_read, raw->fd, &one, sizeof(one));
      Event* const e = event_from(*p);
      std::free(p);
      if (e == nullptr) continue;
      *out = &e->event;
      return 0;
    }
    if (!blocks) {
      loco_sim_note_look();
      return failed(EAGAIN);
    }
    ++c.waiting;
    do {
      loco_sim_call(Request::wait_io, ~std::uint64_t{0}, 0);
    } while (c.destroyed);
    --c.waiting;
  }
}

LOCO_EXPORT int rdma_ack_cm_event(rdma_cm_event* event) {
  std::free(event);
  return 0;
}

LOCO_EXPORT const char* rdma_event_str(rdma_cm_event_type event) {
  static constexpr const char* kNames[] = {
      "RDMA_CM_EVENT_ADDR_RESOLVED",  "RDMA_CM_EVENT_ADDR_ERROR",      "RDMA_CM_EVENT_ROUTE_RESOLVED",
      "RDMA_CM_EVENT_ROUTE_ERROR",    "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",  "RDMA_CM_EVENT_UNREACHABLE",     "RDMA_CM_EVENT_REJECTED",
      "RDMA_CM_EVENT_ESTABLISHED",    "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
      "RDMA_CM_EVENT_TIMEWAIT_EXIT"};
  return static_cast<unsigned>(event) < 16 ? kNames[event] : "UNKNOWN EVENT";
}
