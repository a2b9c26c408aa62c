// What a running system tells the outside: typed events, each a plain record.
//
// Subevents are the accesses to memory of the LOCO/Mowgli paper (Section 3.1, Fig. 10), one per aligned 8-byte word.
// A write that takes time (aCW, aNRW, aNLW) is announced twice: begin when the store buffer or the PCIe write queue
// takes it, finish when memory has it. `seq` counts what the machine did; `at` is simulated time.
// Observers only look: nothing they do can change a run.
#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/packet.hpp"
#include "nic_model/verbs.hpp"
#include "rdma/stamp.hpp"
#include "sim/time.hpp"

namespace loco::nic {

using rdma::Stamp;

struct Subevent {
  SubeventId id = 0;  ///< counts from 1 in order of beginning
  Stamp stamp = Stamp::aCR;
  bool finished = true;     ///< false: a write that has begun; on_subevent_finish follows
  bool nic_atomic = false;  ///< part of a remote atomic operation
  ThreadId thread = 0;      ///< the thread whose call it is, wherever it takes place
  OpId op = 0;
  NodeId peer = 0;          ///< remote node of the operation (families of Fig. 10)
  NodeId home = 0;          ///< node whose memory is accessed
  Address address = 0;      ///< of the word, a multiple of 8
  std::uint64_t value = 0;  ///< of the whole word: read, or (to be) written
  std::uint64_t value_read =
      0;                     ///< aCAS: what it found; aNAR: its place among the atomics of its unit (trace/trace.hpp)
  SubeventId source = 0;     ///< reads and aCAS: the write it read from
  SubeventId overwrote = 0;  ///< finished writes and aCAS: the write before it in memory order
  std::uint64_t seq = 0;
  sim::SimTime at{};
};

struct SubeventFinish {
  SubeventId id = 0;
  SubeventId overwrote = 0;
  std::uint64_t value = 0;  ///< of the whole word afterwards (differs from the begin's if it wrote a part of it)
  std::uint64_t seq = 0;
  sim::SimTime at{};
};

enum class TlpKind : std::uint8_t { memory_write, memory_read, completion, mmio_write };

struct TlpEvent {
  TlpKind kind = TlpKind::memory_write;
  NodeId node = 0;
  QpId qp = 0;
  Address address = 0;
  std::uint32_t bytes = 0;
  sim::SimTime at{};
};

/// A message that needs a receive work request has come: it has taken the oldest one of a queue, or found none (an RNR
/// NAK on RC; lost on UC and UD).
struct MessageArrival {
  bool found = true;
  QpId qp = 0;              ///< of the responder
  std::uint32_t queue = 0;  ///< its receive queue, shared or not; kNone: it has none
  OpId op = 0;              ///< the call that the message belongs to; 0: not known any more
  RecvWqe receive{};        ///< what it has taken
  sim::SimTime at{};
};

enum class PacketStep : std::uint8_t { sent, received };

class Observer {
 public:
  virtual ~Observer() = default;
  /// Does it want subevents and TLPs? Else one event may stand for several TLPs (pcie/bursts.hpp), and only packets,
  /// messages and CQEs are told.
  [[nodiscard]] virtual bool follows_accesses() const { return true; }
  virtual void on_subevent(const Subevent&) {}
  virtual void on_subevent_finish(const SubeventFinish&) {}
  /// A READ was executed again because its response was lost: this replaces the aNRR with the same id.
  virtual void on_subevent_repeated(const Subevent&) {}
  virtual void on_packet(PacketStep, const fabric::Packet&, sim::SimTime) {}
  virtual void on_tlp(const TlpEvent&) {}
  virtual void on_cqe(NodeId, CqId, const Cqe&, sim::SimTime) {}
  /// A completion queue had no room for this CQE, which is lost with all that would follow.
  virtual void on_cq_overrun(NodeId, CqId, const Cqe&, sim::SimTime) {}
  virtual void on_message(const MessageArrival&) {}
  /// The NIC knows of `count` more receives of a queue that the thread has posted, in the order of posting.
  virtual void on_receives_known(std::uint32_t /*queue*/, ThreadId, std::uint32_t /*count*/) {}
};

/// Follows messages, of work requests whose `op` is not 0, without following each access: a run with it takes the same
/// events at the same times as one without.
class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  /// Memory has `bytes` more of what the message writes there: a WRITE's or SEND's payload, or a READ's data.
  virtual void on_placed(OpId op, std::uint32_t bytes, sim::SimTime at) = 0;
  /// A packet that belongs to a request leaves the NIC that requests, or has arrived; repeated ones as well.
  virtual void on_request_packet(PacketStep step, const fabric::Packet& packet) = 0;
};

}  // namespace loco::nic
