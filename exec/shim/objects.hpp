// The verbs objects as the program sees them, each with the shim's own state.
//
// Every queue pair and completion queue is of the extended kind, whose first member is the plain one. Members that
// programs read without a call (verbs.h) are always up to date.
#pragma once

#include <infiniband/verbs.h>
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

#include "exec/shim/shim.hpp"

namespace loco::shim {

/// Offset of queue pair numbers; the simulator's are shared by all hosts and begin with 0.
inline constexpr std::uint32_t kFirstQpn = 0x100;

/// A protection domain, or a parent domain around one, which may have an allocator for queues.
struct Pd {
  ibv_pd pd;
  unsigned users;  ///< objects that prevent its deallocation
  Pd* inner;       ///< for a parent domain
  void* (*alloc)(ibv_pd*, void*, std::size_t, std::size_t, std::uint64_t);
  void (*free)(ibv_pd*, void*, void*, std::uint64_t);
  void* allocator;
};

/// Memory from a parent domain's allocator for a queue. Queues have no memory of their own here: it is allocated, kept
/// and freed again.
struct QueueMemory {
  Pd* pd;
  void* memory;
};
/// Returns false if the allocator has no memory.
[[nodiscard]] bool take_memory(ibv_pd* pd, std::size_t entries, QueueMemory& out);
void give_back(QueueMemory& memory);

struct CompletionChannel {
  ibv_comp_channel channel;
  std::uint32_t number;
};

struct Cq {
  ibv_cq_ex cq;
  std::uint32_t number;
  bool known_empty;  ///< the last reply said so, and no poll has used that yet
  unsigned users;    ///< queue pairs
  QueueMemory memory;
  // between start_poll and end_poll
  Completion current;
};

struct Srq {
  ibv_srq srq;
  std::uint32_t number;
  std::uint32_t entries;
  std::uint32_t sges;
  std::uint32_t limit;
  std::uint32_t outstanding;
  unsigned users;  ///< queue pairs
  QueueMemory memory;
  Cq* cq;  ///< XRC
};

/// A request that the simulator completes as another kind.
struct Special {
  std::uint32_t place;
  Operation operation;
  Special* next;
};

struct Qp {
  ibv_qp_ex qp;
  Special* specials;  ///< oldest first
  std::uint32_t number;
  ibv_qp_attr attributes;
  ibv_qp_init_attr made_with;
  unsigned opened;               ///< how many more times (ibv_open_qp)
  std::uint32_t posted, reaped;  ///< positions in the send queue
  std::uint32_t receives;        ///< posted and not polled
  QueueMemory memory;
  // between wr_start and wr_complete: records for the channel
  char* batch;
  std::size_t batch_bytes, batch_room, batch_last;
  std::uint32_t batch_count;
  int batch_error;
};

struct Mr {
  ibv_mr mr;
  unsigned access;  ///< for ibv_rereg_mr
  struct Dm* dm;    ///< the memory on the NIC, if it is that
  bool imported;
  Mr* next;
};

struct Mw {
  ibv_mw mw;
  std::uint32_t key;  ///< the conductor's key once everything posted has been bound
};

/// Memory on the NIC.
struct Dm {
  ibv_dm dm;
  std::uint32_t number;
  std::uint64_t bytes;
  unsigned users;
  bool imported;
  Dm* next;
};

struct AddressHandle {
  ibv_ah ah;
  ibv_gid to;
};
/// The number that sends a datagram to all members of a group (IBTA volume 1, 10.5.2).
inline constexpr std::uint32_t kGroupQpn = 0xffffff;
/// Fills in the receiver of a datagram.
void address_record(const ibv_ah* ah, std::uint32_t number, SendRecord& record);

[[nodiscard]] inline Cq* of(ibv_cq* cq) { return reinterpret_cast<Cq*>(cq); }
[[nodiscard]] inline Qp* of(ibv_qp* qp) { return reinterpret_cast<Qp*>(qp); }
[[nodiscard]] inline Pd* of(ibv_pd* pd) { return reinterpret_cast<Pd*>(pd); }
[[nodiscard]] inline Srq* of(ibv_srq* srq) { return reinterpret_cast<Srq*>(srq); }

/// By the conductor's numbers; null if there is none.
[[nodiscard]] Qp* qp_numbered(std::uint32_t number);
[[nodiscard]] Cq* cq_numbered(std::uint32_t number);
[[nodiscard]] Srq* srq_numbered(std::uint32_t number);

/// Index of the host's NIC.
[[nodiscard]] std::uint32_t nic_of(const ibv_device* device);
[[nodiscard]] inline std::uint32_t nic_of(const ibv_context* context) { return nic_of(context->device); }

// The functions that verbs.h calls through a context, by file.
int query_port(ibv_context*, std::uint8_t port, ibv_port_attr* out, std::size_t bytes);
int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* out, std::size_t bytes);
ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* attributes);
ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* attributes);
ibv_cq* create_cq_within(ibv_context* context, const ibv_cq_init_attr_ex& wanted);
ibv_cq_ex* create_cq_ex(ibv_context*, ibv_cq_init_attr_ex* attributes);
int poll_cq(ibv_cq* cq, int entries, ibv_wc* out);
int req_notify_cq(ibv_cq* cq, int solicited_only);
int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad);
/// Sets wr_start and all functions that follow it.
void set_posting(ibv_qp_ex& qp);
// xrc.cpp
ibv_xrcd* open_xrcd(ibv_context*, ibv_xrcd_init_attr* wanted);
int close_xrcd(ibv_xrcd* domain);
ibv_qp* open_qp(ibv_context*, ibv_qp_open_attr* wanted);
int get_srq_num(ibv_srq* srq, std::uint32_t* number);
[[nodiscard]] inline bool is_xrc(ibv_qp_type type) { return type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV; }
ibv_mw* alloc_mw(ibv_pd*, ibv_mw_type type);
int dealloc_mw(ibv_mw* mw);
int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind* bind);
/// True if the range to bind lies in a region that may be bound.
[[nodiscard]] bool may_bind(const ibv_qp& qp, const ibv_mw* mw, const ibv_mw_bind_info& bind);
/// Fills the record, whose key the window then has, and the element with the bound range.
void bind_record(ibv_mw* mw, std::uint32_t new_key, const ibv_mw_bind_info& bind, SendRecord& record, Element& element);
ibv_dm* alloc_dm(ibv_context*, ibv_alloc_dm_attr* wanted);
int free_dm(ibv_dm* dm);
ibv_mr* reg_dm_mr(ibv_pd*, ibv_dm*, std::uint64_t offset, std::size_t bytes, unsigned access);
int advise_mr(ibv_pd*, ibv_advise_mr_advice, std::uint32_t flags, ibv_sge* list, std::uint32_t count);
/// The device behind a descriptor, or null. For importing.
[[nodiscard]] ibv_device* device_of_file(int file);
/// Takes the record of one completion, if there is one.
[[nodiscard]] bool poll_one(Cq& cq, Completion& out);
void fill(const Completion& from, ibv_wc& out);
[[nodiscard]] ibv_wc_status status_of(const Completion& completion);
[[nodiscard]] ibv_wc_opcode opcode_of(const Completion& completion);

/// For calls that make or change something: they fail with EIO without a conductor.
[[nodiscard]] inline bool no_conductor() {
  if (channel() != nullptr) return false;
  errno = EIO;
  return true;
}

}  // namespace loco::shim
