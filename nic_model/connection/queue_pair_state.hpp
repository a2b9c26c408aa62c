// The state of a queue pair: requester, responder, what they have under way. Part of state.hpp, in the same style.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/dcqcn.hpp"
#include "fabric/packet.hpp"
#include "nic_model/verbs.hpp"
#include "sim/event_queue.hpp"
#include "sim/lazy.hpp"
#include "sim/ring.hpp"
#include "sim/sparse_ring.hpp"

namespace loco::nic {

/// A work request from posting until its place is free.
struct SendEntry {
  Wqe wqe{};
  Status status = Status::success;
  bool done = false;        // its response has come (or an error was found)
  bool read_ready = false;  // no posted write is in front of its payload's read any more: only earlier payloads are
  fabric::Psn psn{};
  std::uint32_t packets = 0;  // PSNs that it takes
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t payload_read = 0;  // bytes
  std::uint32_t sent = 0;          // bytes
  std::uint32_t received = 0;      // bytes of a READ's response
  std::uint32_t track = kNone;     // of a READ, in State::tracks, where packets can be lost
  // When memory may be read for its payload; once some of that has been read, when what has been is in the NIC. Without
  // a payload to read: when it may be sent.
  sim::SimTime ready{};
  sim::Duration reach{};  // of its payload's read: see HeldRead

  bool operator==(const SendEntry&) const = default;
};

/// A word as a repeated READ has found it.
struct Sample {
  std::uint64_t value = 0;
  SubeventId source = 0;
  std::uint64_t seq = 0;
  sim::SimTime at{};

  bool operator==(const Sample&) const = default;
};

/// What must be known of a READ that may be executed again. With the witness, the trace names one aNRR a word: that of
/// the execution whose answer is taken in the end.
struct ReadTrack {
  std::vector<SubeventId> sampled{};         // the aNRR of each word, once there is one
  std::vector<std::vector<Sample>> again{};  // by execution, then by word: where another one was first
  std::vector<std::uint64_t> placed{};       // out of order: one bit a packet of the response

  bool operator==(const ReadTrack&) const = default;
};

/// PSNs that may be on their way at once (IBTA volume 1, 9.7.1).
inline constexpr std::uint32_t kPsnsMax = 1U << 23U;

/// The send queue and requester of a queue pair. Work requests have running numbers, and each step has the number of
/// the first one that it has not done yet: posted() by threads; `rung`, known by a doorbell; `fetched`, in the NIC;
/// `started`, with PSNs of its own; none is ahead of the one before it. Payloads are read and packets sent behind
/// `started` (payload_next, transmit_next), and `completed` follows. Two numbers are behind all of these: `first`, of
/// queue[0], which the NIC may still need, and `reaped`, of the first that takes a place in the send queue.
struct Requester {
  CqId cq = 0;
  std::uint32_t depth = 0;
  std::uint32_t domain = 0;
  std::uint32_t first = 0;  // number of queue[0]
  sim::SparseRing<SendEntry> queue{};
  std::uint32_t rung = 0;
  std::uint32_t fetched = 0;
  std::uint32_t started = 0;
  std::uint32_t payload_next = 0;   // oldest whose payload is not read completely
  std::uint32_t transmit_next = 0;  // oldest that is not sent completely
  std::uint32_t completed = 0;
  std::uint32_t reaped = 0;       // first whose place is not free: neither its CQE nor a later one was polled
  std::uint32_t outstanding = 0;  // READs and atomics
  bool fetching = false;          // a read of work requests is under way
  bool payload_event = false;     // the next step of payload_next's read is pending
  bool transmit_event = false;    // kEventTransmit is pending
  bool halted = false;            // a work request has failed: nothing more starts
  bool fetch_cancelled = false;   // what is being fetched is not wanted any more
  bool rnr_wait = false;          // the receiver was not ready: nothing is sent until the RNR timer fires
  bool recovering = false;        // has gone back, and nothing has been acknowledged since
  bool timer_pending = false;     // `timer` is: a kEventTimeout, or with rnr_wait a kEventRnrTimer
  bool unanswered = false;        // on a lossless network: something gets no answer, so the transport timer runs
  std::uint8_t retries = 0;       // left until retry_exc_err
  std::uint8_t rnr_retries = 0;   // left until rnr_retry_exc_err
  fabric::Psn next_psn{};         // of the next work request that starts
  fabric::Psn unsent_psn{};       // first that has never been sent: before next_psn, or that
  fabric::Psn una{};              // oldest that is not acknowledged
  sim::SimTime transmit_free{};
  sim::SimTime deadline{};  // of the transport timer
  sim::EventHandle timer{};

  [[nodiscard]] std::uint32_t posted() const { return first + static_cast<std::uint32_t>(queue.size()); }
  [[nodiscard]] std::uint32_t room() const { return depth - (posted() - reaped); }
  [[nodiscard]] bool holds(std::uint32_t number) const { return number - first < queue.size(); }
  [[nodiscard]] SendEntry& entry(std::uint32_t number) { return queue[number - first]; }
  [[nodiscard]] const SendEntry& entry(std::uint32_t number) const { return queue[number - first]; }
  bool operator==(const Requester&) const = default;
};

struct Response {
  fabric::Opcode opcode = fabric::Opcode::ack;
  fabric::NakCode nak = fabric::NakCode::none;
  bool ready = false;  // has data to send (an ACK has none to wait for)
  fabric::Psn psn{};
  std::uint32_t wqe = 0;  // number of the request in the requester's send queue
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t length = 0;     // of a READ
  std::uint32_t read = 0;       // bytes
  std::uint32_t sent = 0;       // bytes
  std::uint32_t execution = 0;  // of a READ: how often it had been executed before
  Address address = 0;
  std::uint64_t value = 0;        // an atomic's old value; of an RNR NAK, how long to wait, in ps
  std::uint64_t compare_add = 0;  // operands of an atomic
  std::uint64_t swap = 0;
  fabric::Opcode request = fabric::Opcode::read_request;
  ThreadId thread = 0;  // whose subevents they are
  OpId op = 0;
  std::uint32_t rkey = 0;
  bool again = false;  // to a request that has come before
  bool held = false;  // of a READ in an ordered stream: by the root complex, until it is the oldest
  // Of a READ whose turn on the link is behind long ones (read_order.cpp):
  std::uint32_t long_reads_before = 0;  // those asked for before it
  sim::EventHandle turn{};              // its event, while it waits for them
  sim::Duration reach{};                // see HeldRead
  // When memory may be read; once some of its data has been read, when what has been is in the NIC.
  sim::SimTime available{};

  bool operator==(const Response&) const = default;
};

/// What is to be done about a request packet, by its PSN.
enum class Fate : std::uint8_t {
  fresh,      // the next one: execute it
  duplicate,  // executed before: answer again
  gap,        // something before it is missing: say so (its payload is gone, its PSN is that of what is missing)
  dropped,    // nothing
};

struct Arrival {
  fabric::Packet packet{};
  Fate fate = Fate::fresh;

  bool operator==(const Arrival&) const = default;
};

/// Out of order: what has come for one PSN, from the expected one on. A READ takes several, the first of them stands
/// for it.
struct Early {
  bool present = false;   // its packet has come
  bool executed = false;  // a WRITE: memory has been given its payload; a READ: it is being answered
  fabric::Packet packet{};

  bool operator==(const Early&) const = default;
};

/// The result of an atomic, for a request that comes again (IBTA volume 1, 9.4.5).
struct Replay {
  fabric::Psn psn{};
  std::uint64_t value = 0;

  bool operator==(const Replay&) const = default;
};

/// What a responder needs when packets are lost, wait or overtake each other, and for atomics that may come again.
struct Disorder {
  sim::Ring<Arrival> waiting{};
  sim::Ring<Replay> replays{};  // oldest first, at most max_dest_rd_atomic; only where packets can be lost
  sim::Ring<Early> early{};
  sim::Pool<fabric::Packet> strays{};
  sim::Ring<std::uint32_t> in_line{};      // of strays, those that keep their order: only the first has an event
  sim::Ring<std::uint64_t> read_stream{};  // numbers of READs that have not taken effect, when these are ordered
  std::uint32_t refused = kNone;           // the work request whose NAK led to ERROR

  bool operator==(const Disorder&) const = default;
};

/// The responder of a queue pair.
struct Responder {
  std::uint32_t domain = 0;
  CqId cq = 0;
  std::uint32_t queue = kNone;  // receive queue, its own or shared
  bool blocked = false;         // an atomic has not posted its write yet: later requests wait
  bool respond_event = false;
  bool write_valid = false;    // of the message being received: key and bounds were checked with its first packet
  bool nak_sent = false;       // for what is expected: nothing more is said until it comes
  bool receiving = false;      // `receive` has been taken from the queue
  bool in_message = false;     // between a message's packets; UC: and the earlier ones have all come
  std::uint32_t received = 0;  // bytes of a SEND that are in its buffer
  fabric::Psn expected_psn{};  // of the next packet that is new
  fabric::Psn done_psn{};      // first that has not been executed: behind, while requests wait for an atomic
  std::uint64_t first = 0;     // number of responses[0]
  sim::SparseRing<Response> responses{};  // in PSN order
  sim::Lazy<RecvWqe> receive{};           // what the message being received goes to
  sim::Lazy<Disorder> disorder{};
  std::uint32_t long_reads = 0;       // that it has asked its PCIe for: see read_order.cpp
  std::uint32_t long_reads_done = 0;  // of these, those that have been read
  sim::SimTime transmit_free{};

  [[nodiscard]] Response& response(std::uint64_t number) { return responses[number - first]; }
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first < responses.size(); }
  bool operator==(const Responder&) const = default;
};

/// A packet that waits for its queue pair's context.
struct StalledPacket {
  sim::SimTime ready{};
  fabric::Packet packet{};
  std::uint32_t next = kNone;  // behind it, in State::stalled

  bool operator==(const StalledPacket&) const = default;
};

/// Of a queue pair, when it is on.
struct CongestionControl {
  fabric::Dcqcn rate{};     // of what it sends
  fabric::CnpPacer cnps{};  // for what it receives
  sim::SimTime next{};      // when its rate allows the next packet, of its requests or its answers

  bool operator==(const CongestionControl&) const = default;
};

/// Of QpAttributes, what is needed all the time.
struct QpSettings {
  sim::Duration timeout{};
  sim::Duration min_rnr_timer{};
  std::uint16_t max_rd_atomic = 0;
  std::uint16_t max_dest_rd_atomic = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;

  bool operator==(const QpSettings&) const = default;
};

/// There can be millions, and in a large network each is in no cache when its next event comes: a few lines of memory.
struct alignas(64) QueuePair {
  NodeId node = 0;
  QpId peer = kNone;
  NodeId peer_node = kNone;
  ThreadId thread = 0;
  QpType type = QpType::rc;
  QpState state = QpState::reset;
  bool waits_for_unit = false;          // for the processing unit that works for it, or in Host::unit_waiters
  std::uint32_t qkey = 0;               // UD
  std::uint32_t stalled_first = kNone;  // packets that wait for its context, in State::stalled
  std::uint32_t stalled_last = kNone;
  QpSettings settings{};
  sim::SimTime unit_until{};  // when it may start the next work request: see context.hpp
  sim::Lazy<CongestionControl> congestion{};
  Requester requester;
  Responder responder;

  bool operator==(const QueuePair&) const = default;
};

static_assert(sizeof(QueuePair) <= 256);

}  // namespace loco::nic
