// The verbs objects as the program sees them, with what the shim keeps behind each.
//
// Every queue pair and completion queue is of the extended kind, whose first member is the plain one. Members that
// programs read without a call (verbs.h) hold at all times.
#pragma once

#include <infiniband/verbs.h>
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

#include "exec/shim/shim.hpp"

namespace loco::shim {

/// Queue pair numbers begin here; the simulator's are the same for all hosts and begin with 0.
inline constexpr std::uint32_t kFirstQpn = 0x100;

struct CompletionChannel {
  ibv_comp_channel channel;
  std::uint32_t number;
};

struct Cq {
  ibv_cq_ex cq;
  std::uint32_t number;
  bool known_empty;  ///< the last reply said so, and no poll has used it yet
  unsigned events_unacknowledged;
  // start_poll ... end_poll
  Completion current;
};

struct Srq {
  ibv_srq srq;
  std::uint32_t number;
  std::uint32_t entries;
  std::uint32_t sges;
  std::uint32_t limit;
  std::uint32_t outstanding;
};

struct Qp {
  ibv_qp_ex qp;
  std::uint32_t number;
  ibv_qp_attr attributes;
  ibv_qp_init_attr made_with;
  std::uint32_t posted, reaped;  ///< places of the send queue
  std::uint32_t receives;        ///< posted and not polled
  // wr_start ... wr_complete: records as they go into the channel
  char* batch;
  std::size_t batch_bytes, batch_room, batch_last;
  std::uint32_t batch_count;
  int batch_error;
};

struct Mr {
  ibv_mr mr;
  unsigned access;  ///< for ibv_rereg_mr
};

struct AddressHandle {
  ibv_ah ah;
};

[[nodiscard]] inline Cq* of(ibv_cq* cq) { return reinterpret_cast<Cq*>(cq); }
[[nodiscard]] inline Qp* of(ibv_qp* qp) { return reinterpret_cast<Qp*>(qp); }
[[nodiscard]] inline Srq* of(ibv_srq* srq) { return reinterpret_cast<Srq*>(srq); }

/// By the conductor's numbers; null when there is none.
[[nodiscard]] Qp* qp_numbered(std::uint32_t number);
[[nodiscard]] Cq* cq_numbered(std::uint32_t number);
[[nodiscard]] Srq* srq_numbered(std::uint32_t number);

// The functions that verbs.h calls through a context, by file.
int query_port(ibv_context*, std::uint8_t port, ibv_port_attr* out, std::size_t bytes);
int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* out, std::size_t bytes);
ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* attributes);
ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* attributes);
ibv_cq_ex* create_cq_ex(ibv_context*, ibv_cq_init_attr_ex* attributes);
int poll_cq(ibv_cq* cq, int entries, ibv_wc* out);
int req_notify_cq(ibv_cq* cq, int solicited_only);
int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad);
/// wr_start and all that follows it.
void set_posting(ibv_qp_ex& qp);
/// One completion, if there is one: its record.
[[nodiscard]] bool poll_one(Cq& cq, Completion& out);
void fill(const Completion& from, ibv_wc& out);
[[nodiscard]] ibv_wc_status status_of(const Completion& completion);
[[nodiscard]] ibv_wc_opcode opcode_of(const Completion& completion);

/// A zeroed object of the program's heap; null and ENOMEM when there is no room.
template <typename T>
[[nodiscard]] T* make_object() {
  return static_cast<T*>(__builtin_calloc(1, sizeof(T)));
}

/// For calls that make or change something: without a conductor they fail with EIO.
[[nodiscard]] inline bool no_conductor() {
  if (channel() != nullptr) return false;
  errno = EIO;
  return true;
}

}  // namespace loco::shim
