// What a running system reports: typed events, each a plain record.
//
// Subevents are the accesses to memory of the LOCO/Mowgli paper (Section 3.1, Fig. 10), one for each aligned 8-byte
// word. A write that takes time (aCW, aNRW, aNLW) is announced twice: its begin when the store buffer or the PCIe write
// queue takes it, its finish when memory has it. `seq` numbers what the machine does; `at` is simulated time. Nothing
// that an observer does can change a run.
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
  SubeventId id = 0;  ///< counts from 1 in the order in which subevents begin
  Stamp stamp = Stamp::aCR;
  bool finished = true;     ///< false: a write that has begun; on_subevent_finish() follows
  bool nic_atomic = false;  ///< part of a remote atomic operation
  ThreadId thread = 0;      ///< the thread whose call it belongs to, wherever it takes place
  OpId op = 0;
  NodeId peer = 0;          ///< remote node of the operation (families of Fig. 10)
  NodeId home = 0;          ///< node whose memory is accessed
  Address address = 0;      ///< of the word, a multiple of 8
  std::uint64_t value = 0;  ///< of the whole word, as read or to be written
  std::uint64_t value_read =
      0;                     ///< aCAS: the value found; aNAR: its place among the atomics of its unit (trace/trace.hpp)
  SubeventId source = 0;     ///< of reads and aCAS: the write that they read from
  SubeventId overwrote = 0;  ///< of finished writes and aCAS: the write before it in memory order
  std::uint64_t seq = 0;
  sim::SimTime at{};
};

struct SubeventFinish {
  SubeventId id = 0;
  SubeventId overwrote = 0;
  std::uint64_t value = 0;  ///< of the whole word afterwards; differs from that of the begin if only a part was written
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

/// A message that needs a receive work request has arrived. It has taken the oldest one of a queue, or found none,
/// which causes an RNR NAK on RC and loses the message on UC and UD.
struct MessageArrival {
  bool found = true;
  QpId qp = 0;              ///< of the responder
  std::uint32_t queue = 0;  ///< its receive queue, shared or not; kNone: none
  OpId op = 0;              ///< the call that the message belongs to; 0: no longer known
  RecvWqe receive{};        ///< the receive that it has taken
  sim::SimTime at{};
};

enum class PacketStep : std::uint8_t { sent, received };

class Observer {
 public:
  virtual ~Observer() = default;
  /// True if the observer wants subevents and TLPs. Otherwise one event may stand for several TLPs (pcie/bursts.hpp),
  /// and only packets, messages and CQEs are reported.
  [[nodiscard]] virtual bool follows_accesses() const { return true; }
  virtual void on_subevent(const Subevent&) {}
  virtual void on_subevent_finish(const SubeventFinish&) {}
  /// A READ was executed again because its response was lost. This subevent replaces the aNRR with the same id.
  virtual void on_subevent_repeated(const Subevent&) {}
  virtual void on_packet(PacketStep, const fabric::Packet&, sim::SimTime) {}
  virtual void on_tlp(const TlpEvent&) {}
  virtual void on_cqe(NodeId, CqId, const Cqe&, sim::SimTime) {}
  /// A completion queue had no room for this CQE, which is lost, as are all later ones.
  virtual void on_cq_overrun(NodeId, CqId, const Cqe&, sim::SimTime) {}
  virtual void on_message(const MessageArrival&) {}
  /// The NIC has learned of `count` more receives of a queue that the thread posted, in the order of posting.
  virtual void on_receives_known(std::uint32_t /*queue*/, ThreadId, std::uint32_t /*count*/) {}
};

/// Follows the messages of work requests whose `op` is not 0, but not each access. A run that it observes takes the
/// same events at the same times as one that it does not.
class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  /// `bytes` more of what the message writes have reached memory: payload of a WRITE or SEND, or data of a READ.
  virtual void on_placed(OpId op, std::uint32_t bytes, sim::SimTime at) = 0;
  /// A packet that belongs to a request has left the requester's NIC, or has arrived; includes packets sent again.
  virtual void on_request_packet(PacketStep step, const fabric::Packet& packet) = 0;
};

}  // namespace loco::nic
