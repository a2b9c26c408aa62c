// The verbs vocabulary of the NIC model: work requests, completions, memory regions, their names and errors.
//
// Names follow the InfiniBand specification (volume 1, chapters 10 and 11) and libibverbs. All records are plain
// values. Hosts (nodes), queue pairs, completion queues, memory regions and threads are identified by index.
#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/packet.hpp"
#include "nic_model/ids.hpp"
#include "rdma/status.hpp"
#include "sim/time.hpp"

namespace loco::nic {

using fabric::QpId;
using CqId = std::uint32_t;
using SrqId = std::uint32_t;       ///< shared receive queue
using ThreadId = std::uint32_t;    ///< unique in the whole system
using Address = std::uint64_t;     ///< byte address in a host's memory
using OpId = std::uint32_t;        ///< names a call in the trace; 0 is none
using SubeventId = std::uint32_t;  ///< names a subevent in the trace; 0 is the initial value of memory

inline constexpr std::uint32_t kNone = 0xffffffffU;  ///< no queue, no queue pair
inline constexpr std::uint32_t kGrhBytes = 40;       ///< in front of a datagram, in its buffer (IBTA volume 1, 8.3)

/// The last two are for receive completions only.
enum class Opcode : std::uint8_t { rdma_write, rdma_read, compare_swap, fetch_add, send, recv, recv_rdma_with_imm };

[[nodiscard]] constexpr bool is_atomic(Opcode op) { return op == Opcode::compare_swap || op == Opcode::fetch_add; }
[[nodiscard]] constexpr bool is_receive(Opcode op) { return op == Opcode::recv || op == Opcode::recv_rdma_with_imm; }
[[nodiscard]] constexpr bool reads_or_atomic(Opcode op) { return op == Opcode::rdma_read || is_atomic(op); }

using rdma::name;
using rdma::Status;

/// Rights of a memory region; local read is always granted.
enum Access : std::uint8_t { kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8, kAllAccess = 15 };

/// For a queue pair that can access regions of all protection domains.
inline constexpr std::uint16_t kAnyDomain = 0xffff;

/// What kind of memory a region is and how NICs may access it.
struct RegionKind {
  bool device = false;  ///< memory on a NIC (ibv_alloc_dm), which that one reaches without PCIe, and others of
                        ///< its host as a peer; the CPU's own accesses have no costs of their own
  bool relaxed_ordering = false;  ///< PCIe writes to it may pass earlier ones (IBV_ACCESS_RELAXED_ORDERING)
  std::uint16_t domain = 0;       ///< its protection domain; queue pairs of others cannot access it
  std::uint8_t gpu = 0;           ///< n: the memory of the host's GPU n - 1, which is a memory of its own: what a NIC
                                  ///< writes there keeps no order with what it writes elsewhere. 0: the host's
  std::uint8_t numa = 0;          ///< of the host's memory: the socket that it is at
  std::uint8_t nic = 0;           ///< of a device's: which of the host's NICs it is on

  bool operator==(const RegionKind&) const = default;
};

struct MemoryRegion {
  NodeId node = 0;
  Address base = 0;
  std::uint64_t size = 0;
  std::uint32_t lkey = 0;  ///< lkey and rkey are the same number, as on mlx5
  std::uint32_t rkey = 0;
  std::uint8_t access = kAllAccess;
  RegionKind kind{};

  bool operator==(const MemoryRegion&) const = default;
};

/// A work request as posted, with one scatter/gather element.
struct Wqe {
  std::uint64_t wr_id = 0;
  Opcode opcode = Opcode::rdma_write;
  bool signaled = true;
  bool fence = false;        ///< wait for this queue pair's earlier READs and atomics
  bool inline_data = false;  ///< the CPU copies the payload when posting (writes and sends)
  bool with_imm = false;     ///< of WRITEs and SENDs: `imm` arrives with the message, which consumes a receive
  bool gather = false;       ///< of atomics: compare_add and swap are addresses, from which the NIC reads the operands
  std::uint32_t length = 8;  ///< bytes; 8 for atomics
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;  ///< XRC SENDs: number of the shared receive queue
  std::uint32_t imm = 0;
  Address local = 0;
  Address remote = 0;
  std::uint64_t compare_add = 0;  ///< expected value or value to add; with `gather` its address, in lkey's region
  std::uint64_t swap = 0;
  std::uint32_t remote_qkey = 0;  ///< UD: must equal the receiver's
  QpId remote_qp = kNone;         ///< UD: the address handle, which also gives the node
  OpId op = 0;                    ///< the call that its subevents belong to
  OpId fence_op = 0;              ///< with `fence`: the remote fence call that the aRF subevent is for; 0: none

  bool operator==(const Wqe&) const = default;
};

/// A receive work request, with one scatter element.
struct RecvWqe {
  std::uint64_t wr_id = 0;
  Address address = 0;
  std::uint32_t length = 0;
  std::uint32_t lkey = 0;

  bool operator==(const RecvWqe&) const = default;
};

struct Cqe {
  std::uint64_t wr_id = 0;
  QpId qp = 0;
  Opcode opcode = Opcode::rdma_write;
  Status status = Status::success;
  bool with_imm = false;
  std::uint32_t length = 0;  ///< of a receive: bytes received, on UD including the 40 bytes of the GRH
  std::uint32_t imm = 0;
  QpId source_qp = kNone;  ///< of a receive on UD
  std::uint32_t wqe = 0;   ///< of a send: its work request's number in the send queue

  bool operator==(const Cqe&) const = default;
};

enum class QpType : std::uint8_t {
  rc,  ///< reliable connection
  uc,  ///< unreliable connection: no ACKs; WRITE and SEND only
  ud,  ///< unreliable datagram: SENDs of one packet to any UD queue pair
};

/// IBTA volume 1, 10.3.1.
enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, error };

/// What modify_qp sets, with durations instead of the specification's codes: see timeout_of_code() and similar. There
/// is no mask: an attribute with the default value counts as not given. Besides the step named at each: min_rnr_timer
/// may also be set at RTS and in SQD, those of RTS and max_dest_rd_atomic also at SQD -> SQD, qkey at every step from
/// INIT on.
struct QpAttributes {
  QpId dest_qp = kNone;                  ///< RC, UC: at RTR
  std::uint32_t rq_psn = 0;              ///< at RTR: the first PSN expected
  std::uint32_t sq_psn = 0;              ///< at RTS: the first PSN sent
  std::uint32_t max_rd_atomic = 0;       ///< at RTS; 0: the profile's, which is also the maximum
  sim::Duration timeout{};               ///< at RTS; 0: never
  std::uint32_t retry_count = 7;         ///< at RTS
  std::uint32_t rnr_retry = 7;           ///< at RTS; 7: forever
  std::uint32_t max_dest_rd_atomic = 0;  ///< at RTR: READs and atomics accepted at once; 0: the profile's max_rd_atomic
  std::uint32_t path_mtu = 0;  ///< RC, UC: at RTR: payload of its packets at most, and of those that it takes: 256 to
                               ///< 4096 in powers of two, at most the profile's link.mtu, which 0 stands for
  sim::Duration min_rnr_timer{};  ///< at RTR: how long its RNR NAKs ask the peer to wait; 0 is code 0: 655.36 ms
  std::uint32_t qkey = 0;         ///< UD: at INIT

  bool operator==(const QpAttributes&) const = default;
};

/// IBTA volume 1, 9.7.6.1.3: local ACK timeout 4.096 us * 2^code; code 0 means never.
[[nodiscard]] constexpr sim::Duration timeout_of_code(std::uint32_t code) {
  return sim::Duration{code == 0 ? 0 : std::int64_t{4'096'000} << code};
}

/// The value of rnr_retry that means no limit (IBTA volume 1, 9.7.5.2.8).
inline constexpr std::uint8_t kRnrRetryForEver = 7;
/// The longest wait that an RNR NAK can ask for, code 0 of its timer field (IBTA volume 1, table 45).
inline constexpr sim::Duration kRnrTimerCode0{655'360'000'000};

enum class ModifyResult : std::uint8_t {
  ok,
  invalid_transition,  ///< the state diagram has no such arrow (IBTA volume 1, figure 125)
  invalid_attribute,   ///< RTR of a connection needs a peer of the same type; max_rd_atomic is at most the profile's;
                       ///< path_mtu is one that verbs have and the port carries;
                       ///< or one that the transition does not take, and that would change
};

/// QpConfig::ack_class: the same class as everything else.
inline constexpr std::uint8_t kOwnClass = 0xff;

/// What a queue pair is made from. kNone means no such queue; without a receive queue nothing can be received.
struct QpConfig {
  QpType type = QpType::rc;
  CqId send_cq = 0;
  CqId recv_cq = kNone;  ///< kNone: the send queue's
  std::uint32_t send_entries = 1;
  std::uint32_t recv_entries = 0;
  SrqId srq = kNone;                   ///< used instead of a receive queue of its own
  std::uint16_t domain = 0;            ///< its protection domain
  bool xrc = false;                    ///< RC: what comes names its shared receive queue (IBTA volume 1, annex A14)
  ThreadId thread = 0;                 ///< whose subevents its work requests are
  std::uint8_t traffic_class = 0;      ///< of all that it sends: 0 to 7
  std::uint8_t ack_class = kOwnClass;  ///< of its answers without payload (ACK, NAK, CNP); kOwnClass: the same
  std::uint8_t congestion =
      0;  ///< 0: congestion control as the network's options say; n: SystemConfig::congestion[n - 1]
  std::uint8_t transport = 0;  ///< of RC: 0: as the hardware says; n: SystemConfig::transports[n - 1]
  std::uint32_t nic = 0;       ///< which of its host's NICs it is on
  std::uint8_t port = 0;       ///< which of that one's ports it sends and receives by (verbs' port_num - 1)
};

}  // namespace loco::nic
