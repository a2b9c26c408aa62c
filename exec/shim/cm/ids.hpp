// The connection manager: this library's ids, events and messages.
//
// It combines the state machines of librdmacm and the kernel's CM (rdma_cm(7); IBTA volume 1, chapter 12); messages
// between hosts go through the conductor. As with the kernel, a message makes the descriptor of its id's event channel
// readable, and its consequences (queue pairs to RTR and RTS, the answer) take place when the program takes the event.
#pragma once

#include <rdma/rdma_cma.h>

#include "exec/protocol.hpp"
#include "exec/shim/basics.hpp"
#undef ibv_query_port

// of libibverbs.so.1 (channel.cpp)
extern "C" {
loco::exec::Channel* loco_sim_channel();
std::int64_t loco_sim_call(loco::exec::Request request, std::uint64_t a, std::uint64_t b);
int loco_sim_unsupported(const char* what);
void loco_sim_note_look();
void loco_sim_set_mailbox(void (*take)(const loco::exec::CmMessage&));
}

namespace loco::cm {

using namespace loco::exec;
using shim::failed;
using shim::make_object;
using shim::take_out;

struct Event {
  rdma_cm_event event;  ///< first, because programs get a pointer to it
  std::uint8_t private_data[kPrivateData];
  Event* next;
};

/// The source of an event: a message, or the end of a step without one.
struct Pending {
  CmMessage message;
  rdma_cm_event_type local;  ///< the event, if there is no message
  bool has_message;
  int status;
  struct Id* id;  ///< for requests the listener's
  ibv_gid group;  ///< for a multicast group that was joined
  void* context;
  Pending* next;
};

struct EventChannel {
  rdma_event_channel channel;
  Pending* first;
  Pending** end;
  unsigned waiting;  ///< waiting threads; a destroyed channel keeps them for ever
  bool destroyed;
};

struct Id {
  rdma_cm_id id;
  std::uint32_t number;
  std::uint32_t host, peer_id, peer_qp, peer_qkey, peer_psn;  ///< of the peer
  std::uint32_t psn;
  std::uint32_t responder_resources, initiator_depth;
  std::uint32_t retry_count, rnr_retry;
  bool synchronous, listening, connected, own_cqs;
  ibv_qp_init_attr* for_requests;  ///< of a listener: from rdma_create_ep
  ibv_pd* pd_for_requests;
  Id* next;
};

[[nodiscard]] inline Id* of(rdma_cm_id* id) { return reinterpret_cast<Id*>(id); }
[[nodiscard]] inline EventChannel* of(rdma_event_channel* channel) { return reinterpret_cast<EventChannel*>(channel); }

/// 0, or -1 with errno.
inline int done(int error) { return error == 0 ? 0 : int{failed(error)}; }

[[nodiscard]] ibv_context* device();
[[nodiscard]] ibv_pd* default_pd();
[[nodiscard]] Id* id_numbered(std::uint32_t number);
[[nodiscard]] Id* listener_on(std::uint32_t port);
/// Makes an id and registers it by its number.
[[nodiscard]] Id* make_id(rdma_event_channel* channel, void* context, rdma_port_space space);

/// The GID of a multicast group by its address; false if the address is none.
[[nodiscard]] bool group_of(const sockaddr* address, ibv_gid& out);
/// The host that an address names, this one for a group's; or -1.
[[nodiscard]] int host_of(const sockaddr* address);
void set_address(sockaddr_storage& out, std::uint32_t host, std::uint32_t port);
[[nodiscard]] std::uint32_t port_of(const sockaddr* address);
[[nodiscard]] bool datagram(const Id& id);

/// Adds an event to an id and makes its channel's descriptor readable.
void happen(Id& id, rdma_cm_event_type what, int status = 0);
void joined(Id& id, const ibv_gid& group, void* context);
void take_mail(const CmMessage& message);
/// For synchronous ids: waits for the next event. Returns 0, or -1 with errno.
int complete(Id& id);
int send(Id& id, CmType type, const rdma_conn_param* parameters, const void* data = nullptr, std::size_t bytes = 0);

int to_init(Id& id);
int to_rts(Id& id);

}  // namespace loco::cm
