// The responder of a queue pair: requests become memory accesses, answers go back (IBTA volume 1, 9.7.4 and 9.7.5;
// docs/machine.md, "NIC, responder side").
//
// Order per queue pair: requests are taken in PSN order, answers leave in PSN order. What has come before is answered
// again and not executed again, READs apart; what comes too early is dropped and asked for, once (out of order:
// placement.cpp). A WRITE is acknowledged once posted to PCIe, before memory has it. A READ is behind the queue pair's
// posted writes and ordered with nothing else: a later READ or WRITE may take effect first (read_order.cpp). Requests
// behind an atomic wait until its write is posted (atomics.hpp).
//
// Messages are placed (placing.cpp) where WRITEs say, SENDs where a receive work request says. Receive work requests
// are used in the order in which they were posted (receives.cpp): a SEND takes one with its first packet, a WRITE with
// immediate data with its last. The receive CQE is a posted write behind the message's data. The NIC has fetched
// receive work requests before they are needed: their fetch takes no time.
//
// Unreliable transports (unreliable.cpp; 9.8.2, 9.8.3) answer nothing. UC: a gap in the PSNs gives up the message that
// it cuts; the next first packet starts afresh. UD: each packet is a message; the receive buffer begins with the 40
// bytes of a GRH, which are left as they are. What cannot be received, for want of a receive work request or of the
// right key, is dropped without a word. Private to nic_model/.
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
  bool ready = false;         // has data to send (an ACK has none to wait for)
  bool marked = false;        // where each packet is answered: the one that this answers was
  std::uint16_t entropy = 0;  // its entropy
  fabric::Psn psn{};
  std::uint32_t wqe = 0;  // number of the request in the requester's send queue
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t length = 0;      // of a READ
  std::uint32_t read = 0;        // bytes
  std::uint32_t sent = 0;        // bytes
  std::uint16_t parts_left = 0;  // of its read, with nic.word_order any: so many events are pending
  Address address = 0;
  std::uint64_t value = 0;        // an atomic's old value; of an RNR NAK, how long to wait, in ps
  std::uint64_t compare_add = 0;  // operands of an atomic
  std::uint64_t swap = 0;         // of a NAK for a gap: what is missing; `value`: what has come behind it
  fabric::Opcode request = fabric::Opcode::read_request;
  ThreadId thread = 0;  // whose subevents they are
  OpId op = 0;
  std::uint32_t rkey = 0;
  bool again = false;  // to a request that has come before
  bool held = false;   // of a READ in an ordered stream: by the root complex, until it is the oldest
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

/// Of the reorder buffer: what has come for one PSN, from the expected one on. A READ takes several, the first of them
/// stands for it.
struct ReorderSlot {
  bool present = false;   // its packet has come
  bool executed = false;  // a WRITE: memory has been given its payload; a READ: it is being answered
  fabric::Packet packet{};

  bool operator==(const ReorderSlot&) const = default;
};

/// The result of an atomic, for a request that comes again (IBTA volume 1, 9.4.5).
struct Replay {
  fabric::Psn psn{};
  std::uint64_t value = 0;

  bool operator==(const Replay&) const = default;
};

/// A SEND, or a WRITE with immediate data, of which not all packets have come.
struct WholeMessage {
  fabric::Psn first{};
  std::uint32_t packets = 0;
  std::uint32_t come = 0;
  bool immediate = false;
  std::uint32_t imm = 0;
  RecvWqe receive{};

  bool operator==(const WholeMessage&) const = default;
};

/// What a responder needs when packets are lost, wait or overtake each other, and for atomics that may come again.
struct Disorder {
  sim::Ring<Arrival> waiting{};
  sim::Ring<Replay> replays{};  // oldest first, at most max_dest_rd_atomic; only where packets can be lost
  sim::Ring<ReorderSlot> reorder{};
  sim::Ring<bool> came{};  // where requests are executed when they are whole: which PSNs, from the expected one on
  std::vector<WholeMessage> messages{};
  std::vector<fabric::Psn> come_once{};  // packets of WRITEs that may have their effect again, and will (whole.cpp)
  sim::Pool<fabric::Packet> strays{};
  sim::Ring<std::uint32_t> in_line{};       // of strays, those that keep their order: only the first has an event
  sim::Ring<std::uint64_t> read_stream{};   // numbers of READs that have not taken effect, when these are ordered
  sim::Ring<sim::SimTime> packets_there{};  // when the data of the next packets of READs has been read: responses.cpp
  fabric::Psn gap{};                        // what has been missing `since`, where that has to be tolerated for a time
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
  /// `queue`: of receives, its own or shared; kNone: none.
  Responder(std::uint32_t domain, CqId cq, std::uint32_t queue) : domain_(domain), cq_(cq), queue_(queue) {}

  // --- what others ask ---------------------------------------------------------------------------------------------
  [[nodiscard]] CqId cq() const { return cq_; }
  [[nodiscard]] std::uint32_t domain() const { return domain_; }  ///< the ordering domain that it posts in
  [[nodiscard]] std::uint32_t receive_queue() const { return queue_; }
  /// Does it still know this answer? A RESET drops them all.
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first_ < responses_.size(); }
  /// Precondition: holds().
  [[nodiscard]] const Response& response(std::uint64_t number) const { return responses_[number - first_]; }
  [[nodiscard]] const sim::SparseRing<Response>& responses() const { return responses_; }
  /// What kEventReadRemote reads next, or with a part, counted from 1, that one: bytes from its beginning, how many.
  [[nodiscard]] struct Part read_part(const Engine& engine, QpId id, std::uint64_t number, std::uint32_t part) const;
  /// Has what came in PSN order been executed: does none of it wait for an atomic?
  [[nodiscard]] bool all_executed() const { return done_psn_ == expected_psn_; }
  /// Has it answers that have not left, or requests that it will execute?
  [[nodiscard]] bool has_answers_to_send() const {
    return !responses_.empty() || blocked_ || !disorder().waiting.empty() || disorder().strays.in_use() != 0;
  }
  /// Is there a receive for a message?
  [[nodiscard]] bool can_receive(const Engine& engine) const;
  /// A request that kEventStrayRequest will take.
  [[nodiscard]] const fabric::Packet& stray(std::uint32_t slot) const { return disorder().strays[slot]; }

  // --- verbs calls -------------------------------------------------------------------------------------------------
  /// To RTR: the PSN of the next packet.
  void set_psn(fabric::Psn psn) { expected_psn_ = done_psn_ = psn; }
  /// The queue pair is in error: its receives are completed as flushed, a shared queue's apart.
  void flush_receives(Engine& engine, QpId id);
  /// Drops what there is to answer, and tells a peer that waits for it. Numbers go on, so that what is on its way finds
  /// nothing.
  void reset(Engine& engine, QpId id);

  // --- what comes from the network, PCIe and the port --------------------------------------------------------------
  /// A request packet has arrived. Takes over its payload.
  /// The headers of a request whose payload found no room on the way. Its payload is released.
  void take_trimmed(Engine& engine, const fabric::Packet& packet);
  void request_arrived(Engine& engine, const fabric::Packet& packet);
  /// kEventStrayRequest
  void stray_request(Engine& engine, QpId id, std::uint32_t slot);
  /// Nothing at the root complex holds the PCIe read of a READ back.
  void remote_read_may_execute(Engine& engine, const HeldRead& read);
  /// kEventReadRemote: next step of the PCIe read for a READ; `part`: as commit() has it.
  void read_remote(Engine& engine, QpId id, std::uint64_t number, std::uint32_t part);
  /// It is the turn of an atomic of this queue pair in a bank: its PCIe read. Precondition: holds().
  void read_for_atomic(Engine& engine, NodeId node, std::uint64_t number, std::uint32_t bank) const;
  /// The word has been read: the atomic takes effect. Precondition: holds().
  void execute_atomic(Engine& engine, QpId id, std::uint64_t number, std::uint32_t bank);
  /// kEventRespond
  void respond(Engine& engine, QpId id);

  void hash(Hasher& h, const Payloads& payloads) const;
  /// `qp`: the connection of the same queue pair. Throws sim::BrokenInvariant.
  void check(const Connection& qp, QpId id, sim::SimTime now) const;
  bool operator==(const Responder&) const = default;

 private:
  [[nodiscard]] Response& edit(std::uint64_t number) { return responses_[number - first_]; }
  [[nodiscard]] const Disorder& disorder() const { return *further_->disorder; }
  [[nodiscard]] Disorder& edit_disorder() { return further_.edit().disorder.edit(); }

  // responder.cpp
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

  // reads.cpp
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

  // placement.cpp
  void execute_in_turn(Engine& engine, QpId id);
  void take_out_of_order(Engine& engine, QpId id, const fabric::Packet& packet);
  [[nodiscard]] fabric::Psn first_missing(const Engine& engine, const Connection& qp) const;
  void report_gap(Engine& engine, QpId id, const fabric::Packet& packet);
  void gap_filled(Engine& engine, QpId id, const fabric::Packet& packet, fabric::Psn done_before);
  void execute_early(Engine& engine, QpId id, const Connection& qp, ReorderSlot& slot);
  void take_early_again(Engine& engine, QpId id, const fabric::Packet& packet, bool executed);
  void let_loose(Engine& engine, QpId id, const fabric::Packet& packet, bool in_line);
  void reset_disorder(Engine& engine);

  // whole.cpp
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

  // placing.cpp
  void place(Engine& engine, QpId id, const fabric::Packet& packet, Address address, std::uint32_t key) const;
  void place_write(Engine& engine, QpId id, const fabric::Packet& packet) const;
  void complete_immediate(Engine& engine, QpId id, const fabric::Packet& packet);
  Status place_send(Engine& engine, QpId id, const fabric::Packet& packet, Cqe like, std::uint32_t header = 0);

  // receives.cpp
  void take_receive(Engine& engine);
  void choose_queue(const Engine& engine, NodeId node, const fabric::Packet& packet);
  void tell_of_message(const Engine& engine, QpId id, const fabric::Packet& packet, bool found) const;
  [[nodiscard]] Status check_receive(const Engine& engine, const Connection& qp, std::uint64_t length) const;
  void complete_receive(Engine& engine, QpId id, Cqe like, Status status, sim::Duration delay = {});

  // unreliable.cpp
  void take_unreliable(Engine& engine, const fabric::Packet& packet);
  void take_connected(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_datagram(Engine& engine, QpId id, const fabric::Packet& packet);

  // reads.cpp
  void take_read(Engine& engine, QpId id, const fabric::Packet& packet, bool again = false);
  [[nodiscard]] static bool tracks_reads(const Engine& engine, QpId id);
  void note_execution(const fabric::Packet& request, bool again);
  void sample_tracked(Engine& engine, const Connection& qp, const Response& r, Address address,
                      std::span<std::byte> out);
  void sample_bytes(Engine& engine, QpId id, const Response& r, std::uint32_t from, std::uint32_t bytes);
  std::uint32_t sample_next(Engine& engine, QpId id, std::uint64_t number);
  void take_atomic(Engine& engine, QpId id, const fabric::Packet& packet);
  void keep_result(const Engine& engine, const Connection& qp, const Response& r);

  // responses.cpp
  std::uint64_t push_response(Engine& engine, QpId id, const Response& response);
  void answer_now(Engine& engine, QpId id, const Response& response) const;
  void schedule_respond(Engine& engine, QpId id);
  void announce_response(Engine& engine, QpId id) const;
  [[nodiscard]] bool may_respond(const Engine& engine, const Connection& qp) const;
  sim::SimTime next_packet_read(Engine& engine, QpId id, std::uint32_t bytes, std::uint32_t key);
  sim::SimTime answer_free(Engine& engine, QpId id, const fabric::Packet& packet, std::uint32_t key, sim::SimTime port);
  [[nodiscard]] std::uint32_t payload_behind(const Engine& engine, const Connection& qp, bool last) const;

  // read_order.cpp
  void issue(Engine& engine, QpId id, std::uint64_t number, sim::Duration delay) const;
  void issue_remote_read(Engine& engine, QpId id, std::uint64_t number);
  bool takes_effect(Engine& engine, QpId id, std::uint64_t number);
  void remote_read_done(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free);
  void next_turn(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free);
  void next_of_stream(Engine& engine, QpId id, sim::SimTime there, sim::SimTime link_free);

  // check.cpp
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
  std::uint32_t received_ = 0;    // bytes of a SEND that are in its buffer
  fabric::Psn expected_psn_{};    // of the next packet that is new
  fabric::Psn done_psn_{};        // first that has not been executed: behind, while requests wait for an atomic
  std::uint64_t first_ = 0;       // number of responses_[0]
  sim::SparseRing<Response> responses_{};  // in PSN order
  sim::Lazy<Further> further_{};
  sim::SimTime transmit_free_{};
};

static_assert(sizeof(Responder) == sim::kCacheLine, "there can be millions");

/// The doorbell record of a receive queue has reached memory: `count` more entries of this poster are the NIC's.
void receives_posted(Engine& engine, std::uint32_t queue, ThreadId poster, std::uint32_t count);

/// May the memory that a request names be accessed?
[[nodiscard]] fabric::NakCode access_refused(const Engine& engine, const Connection& qp, const fabric::Packet& packet);
/// PSNs that a request takes: a READ's are those of its responses.
[[nodiscard]] std::uint32_t psns_of(const Engine& engine, const Connection& qp, const fabric::Packet& packet);
/// Does it begin a message that takes a receive, or end one?
[[nodiscard]] inline bool needs_receive(const fabric::Packet& packet) {
  return packet.opcode == fabric::Opcode::send ? packet.first : packet.immediate;
}
/// Whose subevents a request's are, with the witness: for the trace, without influence on the run.
void name_origin(const Engine& engine, const fabric::Packet& packet, ThreadId& thread, OpId& op);

}  // namespace loco::nic
