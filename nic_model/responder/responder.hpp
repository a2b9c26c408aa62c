// The responder of a queue pair: turns requests into memory accesses and sends answers (IBTA volume 1, 9.7.4 and 9.7.5;
// docs/machine.md, "NIC, responder side").
//
// Order per queue pair: requests are taken in PSN order, and answers leave in PSN order. A repeated request is answered
// again but not executed again, except READs. A packet beyond a gap is dropped and the gap is reported once (with
// out-of-order placement: placement.cpp). A WRITE is acknowledged once it is posted to PCIe, before memory has it. A
// READ follows the queue pair's posted writes and is not ordered with anything else: a later READ or WRITE may take
// effect first (read_order.cpp). Requests after an atomic wait until its write is posted (atomics.hpp).
//
// Messages are placed (placing.cpp) at the address in the WRITE, or at that of a receive work request for a SEND.
// Receive work requests are used in the order of posting (receives.cpp): a SEND takes one with its first packet, a
// WRITE with immediate data with its last. The receive CQE is a posted write after the message's data. The NIC has
// fetched receive work requests in advance: their fetch takes no time.
//
// Unreliable transports (unreliable.cpp; 9.8.2, 9.8.3) answer nothing. UC: a gap in the PSNs drops the message that it
// falls into; the next first packet starts afresh. UD: each packet is a message, and the receive buffer begins with the
// 40 bytes of a GRH, which are left unchanged. A datagram without a receive work request or with the wrong key is
// dropped silently. Private to nic_model/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/packet.hpp"
#include "nic_model/connection/connection.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/responder/read_log.hpp"
#include "sim/event_queue.hpp"
#include "sim/lazy.hpp"
#include "sim/prefetch.hpp"
#include "sim/ring.hpp"
#include "sim/sparse_ring.hpp"

namespace loco::nic {

struct Response {
  fabric::Opcode opcode = fabric::Opcode::ack;
  fabric::NakCode nak = fabric::NakCode::none;
  bool ready = false;         // has data to send; an ACK needs none
  bool marked = false;        // the answered packet was marked, if each packet is answered
  std::uint16_t entropy = 0;  // entropy of the answered packet
  fabric::Psn psn{};
  std::uint32_t wqe = 0;  // number of the request in the requester's send queue
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t length = 0;      // of a READ
  std::uint32_t read = 0;        // bytes
  std::uint32_t sent = 0;        // bytes
  std::uint16_t parts_left = 0;  // pending part events of its read (nic.word_order any)
  Address address = 0;
  std::uint64_t value = 0;        // an atomic's old value; for an RNR NAK, how long to wait in ps
  std::uint64_t compare_add = 0;  // operand of an atomic
  std::uint64_t swap = 0;         // operand of an atomic; in a gap's NAK what is missing (`value`: what has arrived)
  fabric::Opcode request = fabric::Opcode::read_request;
  ThreadId thread = 0;  // for its subevents
  OpId op = 0;
  std::uint32_t rkey = 0;
  bool again = false;  // to a repeated request
  bool held = false;   // a READ of an ordered stream: held by the root complex until it is the oldest
  // The following are for a READ whose turn on the link comes after long ones (read_order.cpp).
  std::uint32_t long_reads_before = 0;  // number of long READs issued before it
  sim::EventHandle turn{};              // its event while it waits for them
  sim::Duration reach{};                // see HeldRead
  // When memory may be read; once part of the data has been read, when that part is in the NIC.
  sim::SimTime available{};

  bool operator==(const Response&) const = default;
};

/// What to do with a request packet, by its PSN.
enum class Fate : std::uint8_t {
  fresh,      // it is the next one: execute it
  duplicate,  // it was executed before: answer again
  gap,        // an earlier one is missing: report it (the payload is dropped; the PSN is set to the missing one)
  dropped,    // ignore it
};

struct Arrival {
  fabric::Packet packet{};
  Fate fate = Fate::fresh;

  bool operator==(const Arrival&) const = default;
};

/// A slot of the reorder buffer: the packet for one PSN, counted from the expected one. A READ takes several PSNs; the
/// slot of the first holds it.
struct ReorderSlot {
  bool present = false;   // its packet has arrived
  bool executed = false;  // a WRITE has been placed; a READ is being answered
  fabric::Packet packet{};

  bool operator==(const ReorderSlot&) const = default;
};

/// The result of an atomic, for a repeated request (IBTA volume 1, 9.4.5).
struct Replay {
  fabric::Psn psn{};
  std::uint64_t value = 0;

  bool operator==(const Replay&) const = default;
};

/// A SEND, or a WRITE with immediate data, some of whose packets are still missing.
struct WholeMessage {
  fabric::Psn first{};
  std::uint32_t packets = 0;
  std::uint32_t come = 0;
  bool immediate = false;
  std::uint32_t imm = 0;
  RecvWqe receive{};

  bool operator==(const WholeMessage&) const = default;
};

/// State needed only if packets are lost, wait or overtake each other, or if atomics may be repeated.
struct Disorder {
  sim::Ring<Arrival> waiting{};
  sim::Ring<Replay> replays{};  // oldest first, at most max_dest_rd_atomic; kept only where packets can be lost
  sim::Ring<ReorderSlot> reorder{};
  sim::Ring<bool> came{};  // by PSN from the expected one on, which have arrived, if requests are executed when whole
  std::vector<WholeMessage> messages{};
  std::vector<fabric::Psn> come_once{};  // packets of WRITEs that will take effect a second time (whole.cpp)
  sim::Pool<fabric::Packet> strays{};
  sim::Ring<std::uint32_t> in_line{};       // the strays that keep their order: only the first has an event
  sim::Ring<std::uint64_t> read_stream{};   // numbers of READs that have not taken effect, if READs are ordered
  sim::Ring<sim::SimTime> packets_there{};  // when the data of the next READ packets will have been read: responses.cpp
  fabric::Psn gap{};                        // the PSN missing since `since`, if gaps are tolerated for a time
  sim::SimTime since{};
  std::uint32_t refused = kNone;  // the work request whose NAK led to ERROR
  ReadLog reads{};                // for the trace; survives a RESET, as the numbers of work requests do

  bool operator==(const Disorder&) const = default;
};

/// What many responders never need.
struct Further {
  RecvWqe receive{};                  // what the message being received goes to
  std::uint32_t long_reads = 0;       // that it has asked its PCIe for: see read_order.cpp
  std::uint32_t long_reads_done = 0;  // of these, those that have been read
  sim::Lazy<Disorder> disorder{};

  bool operator==(const Further&) const = default;
};

class alignas(sim::kCacheLine) Responder {
 public:
  /// `queue` is its receive queue, its own or shared, or kNone.
  Responder(std::uint32_t domain, CqId cq, std::uint32_t queue) : domain_(domain), cq_(cq), queue_(queue) {}

  // --- what others ask ---------------------------------------------------------------------------------------------
  [[nodiscard]] CqId cq() const { return cq_; }
  [[nodiscard]] std::uint32_t domain() const { return domain_; }  ///< the ordering domain for its writes
  [[nodiscard]] std::uint32_t receive_queue() const { return queue_; }
  /// True if it still knows this answer. A RESET drops them all.
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first_ < responses_.size(); }
  /// Precondition: holds().
  [[nodiscard]] const Response& response(std::uint64_t number) const { return responses_[number - first_]; }
  [[nodiscard]] const sim::SparseRing<Response>& responses() const { return responses_; }
  /// The range that kEventReadRemote reads next, or, if `part` is not 0, that part, counted from 1: offset and length.
  [[nodiscard]] struct Part read_part(const Engine& engine, QpId id, std::uint64_t number, std::uint32_t part) const;
  /// True if everything that arrived in PSN order has been executed, so that nothing waits for an atomic.
  [[nodiscard]] bool all_executed() const { return done_psn_ == expected_psn_; }
  /// True if it has answers that have not left, or requests that it will execute.
  [[nodiscard]] bool has_answers_to_send() const {
    return !responses_.empty() || blocked_ || !disorder().waiting.empty() || disorder().strays.in_use() != 0;
  }
  /// True if there is a receive for a message.
  [[nodiscard]] bool can_receive(const Engine& engine) const;
  /// Where a SEND that is being received goes, which has so many bytes; 0 if its receive does not take them all, or not
  /// in one piece.
  [[nodiscard]] Address goes_to(const Engine& engine, QpId id, std::uint32_t bytes) const;
  /// The request that kEventStrayRequest will take.
  [[nodiscard]] const fabric::Packet& stray(std::uint32_t slot) const { return disorder().strays[slot]; }

  // --- verbs calls -------------------------------------------------------------------------------------------------
  /// At the transition to RTR: sets the PSN of the next packet.
  void set_psn(fabric::Psn psn) { expected_psn_ = done_psn_ = psn; }
  /// The queue pair is in error: completes its receives as flushed, except those of a shared queue.
  void flush_receives(Engine& engine, QpId id);
  /// Drops all pending answers and reports that to a peer that waits for one. Numbers are not reused, so late events
  /// find no answer.
  void reset(Engine& engine, QpId id);

  // --- what comes from the network, PCIe and the port --------------------------------------------------------------
  /// Only the headers of a request have arrived: a switch without room has trimmed its payload, which is released.
  void take_trimmed(Engine& engine, const fabric::Packet& packet);
  /// A request packet has arrived. Takes ownership of its payload.
  void request_arrived(Engine& engine, const fabric::Packet& packet);
  /// kEventStrayRequest
  void stray_request(Engine& engine, QpId id, std::uint32_t slot);
  /// The PCIe read of a READ may execute: nothing holds it at the root complex.
  void remote_read_may_execute(Engine& engine, const HeldRead& read);
  /// kEventReadRemote: the next step of a READ's PCIe read. `part` is that of read_part().
  void read_remote(Engine& engine, QpId id, std::uint64_t number, std::uint32_t part);
  /// An atomic of this queue pair has its turn in a bank: issues its PCIe read. Precondition: holds().
  void read_for_atomic(Engine& engine, NicId node, std::uint64_t number, std::uint32_t bank) const;
  /// The word has been read: the atomic takes effect. Precondition: holds().
  void execute_atomic(Engine& engine, QpId id, std::uint64_t number, std::uint32_t bank);
  /// kEventRespond
  void respond(Engine& engine, QpId id);

  void hash(Hasher& h, const Payloads& payloads) const;
  /// `qp` is the connection of the same queue pair. Throws sim::BrokenInvariant.
  void check(const Connection& qp, QpId id, sim::SimTime now) const;
  bool operator==(const Responder&) const = default;

 private:
  [[nodiscard]] Response& edit(std::uint64_t number) { return responses_[number - first_]; }
  [[nodiscard]] const Disorder& disorder() const { return *further_->disorder; }
  [[nodiscard]] Disorder& edit_disorder() { return further_.edit().disorder.edit(); }

  // Implemented in responder.cpp.
  void no_answer(Engine& engine, const fabric::Packet& packet) const;
  void acknowledge(Engine& engine, QpId id, const fabric::Packet& packet, fabric::Psn psn);
  void refuse(Engine& engine, QpId id, const fabric::Packet& packet, fabric::NakCode nak, std::uint64_t value = 0);
  fabric::NakCode take_write(Engine& engine, QpId id, const fabric::Packet& packet, bool executed);
  fabric::NakCode take_send(Engine& engine, QpId id, const fabric::Packet& packet);
  void not_ready(Engine& engine, QpId id, const fabric::Packet& packet);
  [[nodiscard]] bool in_sequence(const Engine& engine, const fabric::Packet& packet) const;
  [[nodiscard]] static bool fits(const Engine& engine, const Connection& qp, const fabric::Packet& packet);
  [[nodiscard]] bool out_of_resources(const Engine& engine, const Connection& qp) const;
  void execute_fresh(Engine& engine, QpId id, const fabric::Packet& packet, bool executed);
  void execute_again(Engine& engine, QpId id, const fabric::Packet& packet);
  void execute(Engine& engine, QpId id, const Arrival& arrival);
  void execute_waiting(Engine& engine, QpId id);
  [[nodiscard]] Fate classify(const Engine& engine, const Connection& qp, const fabric::Packet& packet);
  void take_in_order(Engine& engine, QpId id, const fabric::Packet& packet, Fate fate);

  // Implemented in reads.cpp.
  [[nodiscard]] std::uint32_t parts_until(const Engine& engine, QpId id, const Response& r) const;
  bool schedule_parts(Engine& engine, QpId id, std::uint64_t number, sim::SimTime at);
  [[nodiscard]] struct PartCompletion completion_of_part(const Engine& engine, QpId id, std::uint64_t number,
                                                         std::uint32_t n) const;
  void sample_part(Engine& engine, QpId id, std::uint64_t number, std::uint32_t part);
  void schedule_step(Engine& engine, QpId id, std::uint64_t number, sim::SimTime at);
  bool finish_burst(Engine& engine, QpId id, std::uint64_t number);
  void take_over(const struct ReadBurst& burst);
  void settle_reads(Engine& engine, QpId id) {
    if (bursting_) [[unlikely]]
      settle_burst(engine, id);
  }
  void settle_burst(Engine& engine, QpId id);
  void break_read(Engine& engine, QpId id);

  // Implemented in placement.cpp.
  void execute_in_turn(Engine& engine, QpId id);
  void take_out_of_order(Engine& engine, QpId id, const fabric::Packet& packet);
  [[nodiscard]] fabric::Psn first_missing(const Engine& engine, const Connection& qp) const;
  void report_gap(Engine& engine, QpId id, const fabric::Packet& packet);
  void gap_filled(Engine& engine, QpId id, const fabric::Packet& packet, fabric::Psn done_before);
  void execute_early(Engine& engine, QpId id, const Connection& qp, ReorderSlot& slot);
  void take_early_again(Engine& engine, QpId id, const fabric::Packet& packet, bool executed);
  void let_loose(Engine& engine, QpId id, const fabric::Packet& packet, bool in_line);
  void reset_disorder(Engine& engine);

  // Implemented in whole.cpp.
  void answer_packet(Engine& engine, QpId id, const fabric::Packet& packet, fabric::NakCode nak,
                     std::uint64_t value = 0);
  [[nodiscard]] bool has_come(std::int32_t ahead) const;
  void note_come(std::int32_t ahead, std::uint32_t psns);
  std::vector<WholeMessage>::iterator message_with(fabric::Psn first);
  fabric::NakCode begin_message(Engine& engine, QpId id, const fabric::Packet& packet);
  void add_to_message(Engine& engine, QpId id, const fabric::Packet& packet);
  fabric::NakCode take_whole_first(Engine& engine, QpId id, const fabric::Packet& packet);
  bool comes_again(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_whole_again(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_whole(Engine& engine, QpId id, const fabric::Packet& packet);

  // Implemented in placing.cpp.
  void place(Engine& engine, QpId id, const fabric::Packet& packet, Address address, std::uint32_t key) const;
  void place_write(Engine& engine, QpId id, const fabric::Packet& packet) const;
  void complete_immediate(Engine& engine, QpId id, const fabric::Packet& packet);
  Status place_send(Engine& engine, QpId id, const fabric::Packet& packet, Cqe like, std::uint32_t header = 0);

  // Implemented in receives.cpp.
  void take_receive(Engine& engine);
  void choose_queue(const Engine& engine, NicId node, const fabric::Packet& packet);
  void tell_of_message(const Engine& engine, QpId id, const fabric::Packet& packet, bool found) const;
  [[nodiscard]] Status check_receive(const Engine& engine, const Connection& qp, std::uint64_t length) const;
  void complete_receive(Engine& engine, QpId id, Cqe like, Status status, sim::Duration delay = {});

  // Implemented in unreliable.cpp.
  void take_unreliable(Engine& engine, const fabric::Packet& packet);
  void take_connected(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_datagram(Engine& engine, QpId id, const fabric::Packet& packet);

  // Implemented in reads.cpp.
  void take_read(Engine& engine, QpId id, const fabric::Packet& packet, bool again = false);
  [[nodiscard]] static bool tracks_reads(const Engine& engine, QpId id);
  void note_execution(const fabric::Packet& request, bool again);
  void sample_tracked(Engine& engine, const Connection& qp, const Response& r, Address address,
                      std::span<std::byte> out);
  void sample_bytes(Engine& engine, QpId id, const Response& r, std::uint32_t from, std::uint32_t bytes);
  std::uint32_t sample_next(Engine& engine, QpId id, std::uint64_t number);
  void take_atomic(Engine& engine, QpId id, const fabric::Packet& packet);
  void keep_result(const Engine& engine, const Connection& qp, const Response& r);

  // Implemented in responses.cpp.
  std::uint64_t push_response(Engine& engine, QpId id, const Response& response);
  void answer_now(Engine& engine, QpId id, const Response& response) const;
  void schedule_respond(Engine& engine, QpId id);
  void announce_response(Engine& engine, QpId id) const;
  [[nodiscard]] bool may_respond(const Engine& engine, const Connection& qp) const;
  sim::SimTime next_packet_read(Engine& engine, QpId id, std::uint32_t bytes, std::uint32_t key);
  sim::SimTime answer_free(Engine& engine, QpId id, const fabric::Packet& packet, std::uint32_t key, sim::SimTime port);
  [[nodiscard]] std::uint32_t payload_behind(const Engine& engine, const Connection& qp, bool last) const;

  // Implemented in read_order.cpp.
  void issue(Engine& engine, QpId id, std::uint64_t number, sim::Duration delay) const;
  void issue_remote_read(Engine& engine, QpId id, std::uint64_t number);
  bool takes_effect(Engine& engine, QpId id, std::uint64_t number);
  void remote_read_done(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free);
  void next_turn(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free);
  void next_of_stream(Engine& engine, QpId id, sim::SimTime there, sim::SimTime link_free);

  // Implemented in check.cpp.
  void check_responses(const class Check& check) const;
  void check_disorder(const class Check& check) const;

  std::uint32_t domain_;
  CqId cq_;
  std::uint32_t queue_;
  bool blocked_ : 1 = false;  // an atomic has not posted its write yet: later requests wait
  bool respond_event_ : 1 = false;
  bool bursting_ : 1 = false;     // steps of a READ are a burst: how far it is, is known there
  bool write_valid_ : 1 = false;  // of the message being received: key and bounds were checked with its first packet
  bool nak_sent_ : 1 = false;     // for what is expected: nothing more is said until it comes
  bool receiving_ : 1 = false;    // a receive has been taken from the queue
  bool in_message_ : 1 = false;   // between a message's packets; UC: and the earlier ones have all come
  std::uint32_t received_ = 0;    // bytes of a SEND that are in its buffer, without those left out
  fabric::Psn expected_psn_{};    // of the next packet that is new
  fabric::Psn done_psn_{};        // first that has not been executed: behind, while requests wait for an atomic
  std::uint64_t first_ = 0;       // number of responses_[0]
  sim::SparseRing<Response> responses_{};  // in PSN order
  sim::Lazy<Further> further_{};
  sim::SimTime transmit_free_{};
};

static_assert(sizeof(Responder) == sim::kCacheLine, "there can be millions");

/// The doorbell record of a receive queue has reached memory: the NIC knows of `count` more entries of this poster.
void receives_posted(Engine& engine, std::uint32_t queue, ThreadId poster, std::uint32_t count);

/// Checks access to the memory that a request names; none: allowed.
[[nodiscard]] fabric::NakCode access_refused(const Engine& engine, const Connection& qp, const fabric::Packet& packet);
/// PSNs that a request takes; a READ takes those of its responses.
[[nodiscard]] std::uint32_t psns_of(const Engine& engine, const Connection& qp, const fabric::Packet& packet);
/// True if the packet begins a SEND, or ends a WRITE with immediate data: each consumes a receive.
[[nodiscard]] inline bool needs_receive(const fabric::Packet& packet) {
  return packet.opcode == fabric::Opcode::send ? packet.first : packet.immediate;
}
/// The thread and operation that a request's subevents belong to, for the trace; 0 without the witness. No influence on
/// the run.
void name_origin(const Engine& engine, const fabric::Packet& packet, ThreadId& thread, OpId& op);

}  // namespace loco::nic
