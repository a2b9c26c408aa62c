// The requester of a queue pair: from the doorbell to the CQE (IBTA volume 1, 9.7 and 10.7; docs/machine.md, "NIC,
// requester side").
//
// Work requests have running numbers (32 bits, wrapping), and each stage keeps the number of the first one that it has
// not processed: posted() by threads; `rung`, announced by a doorbell; `fetched` into the NIC; `started`, with PSNs
// assigned. No stage is ahead of the one before it. Payload reads (payload_next) and packets (transmit_next) follow
// `started`, then `completed`. Two numbers lag behind all others: `first`, the oldest entry that the NIC may still
// need, and `reaped`, the first that occupies a place in the send queue.
//
// Order per queue pair: work requests are fetched, started, have their payload read, are sent and complete in the order
// of posting. A later payload read and an earlier packet in flight are not ordered. The fence flag holds a work request
// until the queue pair's earlier READs and atomics are complete and its earlier packets are sent.
//
// Going back (go-back-N; 9.7.5, 9.7.6; retransmit.cpp) repeats everything from the oldest unacknowledged PSN. Selective
// repeat (selective_repeat.hpp, repeat.cpp) repeats only what is lost, and needs a peer that places packets out of
// order. A repeated WRITE or SEND carries the payload that was read the first time.
// The transport timer (9.7.6.1.3) starts with a packet that requests an answer and restarts on progress. It runs only
// where the network can lose packets (TimerUse). On a lossless network nearly everything is answered, and without
// timers an idle machine has no pending event; timed runs watch the time anyway (ack_timers.hpp). In other runs only
// exceptions leave a request unanswered: a peer that is not ready, has stopped or is connected elsewhere, PSNs that do
// not fit, a RESET. Whoever drops such a request or its answer reports that (no_answer.hpp), and the timer runs from
// then on until everything is answered. While a receiver that was not ready is given time, the RNR timer replaces the
// transport timer.
//
// Answers are taken in PSN order (acknowledge.cpp). An answer to a later request acknowledges all earlier WRITEs and
// SENDs. A READ or atomic that it passes over has lost its response (an implied NAK), so the requester goes back to it.
// Private to nic_model/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fabric/packet.hpp"
#include "nic_model/connection/connection.hpp"
#include "nic_model/counters.hpp"
#include "nic_model/delivery/entropies.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/requester/answer_tracks.hpp"
#include "nic_model/requester/no_answer.hpp"
#include "nic_model/requester/round_trips.hpp"
#include "nic_model/requester/selective_repeat.hpp"
#include "nic_model/requester/transmit_window.hpp"
#include "nic_model/spare_bytes.hpp"
#include "sim/event_queue.hpp"
#include "sim/lazy.hpp"
#include "sim/prefetch.hpp"
#include "sim/sparse_ring.hpp"

namespace loco::nic {

/// Most PSNs that may be in flight at once (IBTA volume 1, 9.7.1).
inline constexpr std::uint32_t kPsnsMax = 1U << 23U;

/// A work request, from posting until its place is free.
struct SendEntry {
  Wqe wqe{};
  Status status = Status::success;
  bool done = false;        // its answer has come, or it failed
  bool completed = false;   // completed before earlier work requests
  bool read_ready = false;  // no posted write is ahead of its payload read; earlier payload reads may be
  fabric::Psn psn{};
  std::uint32_t packets = 0;  // number of PSNs it takes
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t payload_read = 0;  // bytes
  std::uint32_t sent = 0;          // bytes
  std::uint32_t received = 0;      // bytes of a READ's response
  std::uint32_t acked = 0;         // packets of a WRITE or SEND known to have arrived, if each is answered
  std::uint32_t left_out = 0;      // bytes that shorten() has taken off
  std::uint32_t track = kNone;     // in Engine::tracks: if each packet is answered; READs also if packets can be lost
  // When memory may be read for its payload; once part of it has been read, when that part is in the NIC. Without a
  // payload to read: when it may be sent.
  sim::SimTime ready{};
  sim::Duration reach{};  // for its payload read: see HeldRead

  bool operator==(const SendEntry&) const = default;
};

/// State of a requester whose packets have entropies or are answered one by one.
struct PacketAnswers {
  Entropies entropies{};
  RoundTrips round_trips{};
  fabric::Psn all_come{};  // every packet before it has arrived

  bool operator==(const PacketAnswers&) const = default;
};

/// The completion status for a work request that a NAK refuses.
[[nodiscard]] Status status_of(fabric::NakCode nak);

class alignas(sim::kCacheLine) Requester {
 public:
  Requester(CqId cq, std::uint32_t depth, std::uint32_t domain) : cq_(cq), depth_(depth), domain_(domain) {}

  // --- what others ask ---------------------------------------------------------------------------------------------
  [[nodiscard]] CqId cq() const { return cq_; }
  [[nodiscard]] std::uint32_t domain() const { return domain_; }  ///< the ordering domain for its writes
  [[nodiscard]] std::uint32_t posted() const { return first_ + static_cast<std::uint32_t>(queue_.size()); }
  /// Free places in the send queue.
  [[nodiscard]] std::uint32_t room() const { return depth_ - (posted() - reaped_); }
  [[nodiscard]] bool holds(std::uint32_t number) const { return number - first_ < queue_.size(); }
  /// Precondition: holds().
  [[nodiscard]] const SendEntry& entry(std::uint32_t number) const { return queue_[number - first_]; }
  /// True if it holds this work request and has not completed it.
  [[nodiscard]] bool waits_for(std::uint32_t number) const {
    return holds(number) && static_cast<std::int32_t>(number - completed_) >= 0;
  }
  /// The step that kEventReadPayload makes next, or, if `part` is not 0, that part, counted from 1. Precondition: it
  /// has not been read.
  [[nodiscard]] struct PayloadStep payload_part(const Engine& engine, QpId id, std::uint32_t number,
                                                std::uint32_t part) const;
  /// The oldest work request that has not started; null if there is none.
  [[nodiscard]] const Wqe* first_unstarted() const { return started_ == posted() ? nullptr : &entry(started_).wqe; }
  [[nodiscard]] const sim::SparseRing<SendEntry>& queue() const { return queue_; }

  // --- verbs calls -------------------------------------------------------------------------------------------------
  /// `inline_payload` is the CPU's copy of the payload, or kNoBuffer. Precondition: room() > 0.
  void post(const Wqe& wqe, std::uint32_t inline_payload);
  /// The CQE of this work request has been polled, which frees its place and those of all before it. With `alone`,
  /// where requests complete in any order, only its own.
  void reap(std::uint32_t number, bool alone);
  /// At the transition to RTS: sets the PSN of the next packet.
  void set_psn(fabric::Psn psn) { next_psn_ = unsent_psn_ = una_ = psn; }
  void set_retries(std::uint8_t retries) { retries_ = retries; }
  void set_rnr_retries(std::uint8_t retries) { rnr_retries_ = retries; }
  /// SQE -> RTS: lets work requests start again.
  void resume() { halted_ = false; }
  /// The queue pair can send nothing more: flushes everything that the NIC knows of, in order.
  void flush(Engine& engine, QpId id);
  /// Drops all work requests without CQEs. Their numbers are not reused, so late answers find no work request.
  void reset(Engine& engine, QpId id);

  // --- leaving out what only repeats (System::shorten_message, leave_out): leave_out.cpp ----------------------------
  /// Of a message that is being sent. Nothing for all but reliable WRITEs and SENDs whose packets are not answered one
  /// by one.
  [[nodiscard]] SpareBytes spare_bytes(const Engine& engine, QpId id, std::uint32_t number) const;
  /// Takes whole packets off its end. The work requests behind it get earlier PSNs. Precondition: there are
  /// more spare bytes.
  void shorten(Engine& engine, QpId id, std::uint32_t number, std::uint32_t bytes);
  /// Its reading of payloads, carried on for so long on a copy of the PCIe link; nothing if more than that would
  /// happen.
  [[nodiscard]] std::optional<class LoneReads> read_on(Engine& engine, QpId id, sim::Duration time);
  /// Of the next bytes that are sent, at most `most`: those that the NIC has read.
  [[nodiscard]] std::span<const std::byte> bytes_read(const Engine& engine, std::uint32_t number,
                                                      std::uint32_t most) const;
  /// Takes the next `bytes` out of a message, and that time out of what follows, in which payloads are read as
  /// read_on() says. Precondition: as for shorten(), and those bytes will have been read then.
  void leave_out(Engine& engine, QpId id, std::uint32_t number, std::uint32_t bytes, const LoneReads& reads);
  /// What reading has added to the counters between two moments. Nothing if that cannot be told.
  [[nodiscard]] std::optional<Counters> counted_by_reading(const Engine& engine, QpId id, const ReadSoFar& from,
                                                           const ReadSoFar& to) const;

  // --- what comes from PCIe, the port, the network and timers ------------------------------------------------------
  /// A doorbell has reached the NIC and announces work requests up to producer index `posted`. `blueflame`: it carries
  /// the last of them.
  void ring(Engine& engine, QpId id, std::uint32_t posted, bool blueflame);
  /// The read of work requests may execute: no posted write is ahead of it any more.
  static void wqe_fetch_may_execute(Engine& engine, const HeldRead& read);
  /// kEventFetchWqe: `count` work requests are in the NIC.
  void wqes_fetched(Engine& engine, QpId id, std::uint32_t count);
  /// The read of a payload may execute as far as posted writes are concerned; it takes its turn after earlier payloads.
  void payload_read_may_execute(Engine& engine, const HeldRead& read);
  /// kEventReadPayload. `part` is that of payload_part().
  void read_payload(Engine& engine, QpId id, std::uint32_t number, std::uint32_t part);
  /// kEventTransmit
  void transmit(Engine& engine, QpId id);
  /// A response packet has arrived. Takes ownership of its payload.
  void take_response(Engine& engine, const fabric::Packet& packet);
  /// kEventTimeout
  void timed_out(Engine& engine, QpId id);
  /// Where time is watched (ack_timers.hpp): returns true if it waits for an answer, and schedules the timeout if that
  /// is due by `until`.
  bool due_until(Engine& engine, QpId id, sim::SimTime until);
  /// Where time is watched: true if it waits for an answer.
  [[nodiscard]] bool waits_for_answer() const { return timing_; }
  /// True if it will send something even if no answer comes first.
  [[nodiscard]] bool has_packets_to_send() const {
    const bool unsent = transmit_next_ != started_ && entry(transmit_next_).status == Status::success;
    return transmit_event_ || (unsent && !rnr_wait_) || repeats();
  }
  /// kEventRnrTimer
  void rnr_timer_expired(Engine& engine, QpId id);
  /// Starts work requests in order until one has to wait. `delay` is the time from the event to its effect.
  void start(Engine& engine, QpId id, sim::Duration delay);
  /// kEventNoAnswer: a request or its answer was dropped for good, but not by the network.
  void take_no_answer(Engine& engine, QpId id, const NoAnswer& message);

  void hash(Hasher& h, const Payloads& payloads) const;
  /// Throws sim::BrokenInvariant.
  void check(QpId id, sim::SimTime now) const;
  bool operator==(const Requester&) const = default;

 private:
  /// The oldest work request that is not done, after an answer was evaluated.
  struct Oldest {
    std::uint32_t number = 0;
    bool implied_nak = false;  // it is a READ or atomic whose response should have come before
  };

  [[nodiscard]] SendEntry& edit(std::uint32_t number) { return queue_[number - first_]; }

  // Implemented in requester.cpp.
  [[nodiscard]] bool fence_holds(const DeliveryPolicy& policy) const;
  [[nodiscard]] bool too_far_ahead(std::uint32_t packets) const;
  [[nodiscard]] bool waits_for_others(const Engine& engine, const Connection& qp, const SendEntry& e) const;
  void take_psns(Engine& engine, const DeliveryPolicy& policy, SendEntry& e);
  bool start_next(Engine& engine, QpId id, sim::Duration delay, sim::Duration stall);
  void write_cqe(Engine& engine, QpId id, std::uint32_t number, Status status, sim::Duration delay) const;
  void complete(Engine& engine, QpId id, sim::Duration delay);
  void free_finished(Engine& engine);

  // Implemented in leave_out.cpp.
  [[nodiscard]] bool may_read_alone(const Engine& engine, const Connection& qp, const SendEntry& e) const;
  void take_over(Engine& engine, const Connection& qp, const struct ReadBurst& read, std::uint32_t left_out);
  void cut(const Engine& engine, QpId id, std::uint32_t number, std::uint32_t bytes);

  // Implemented in payload.cpp.
  bool schedule_parts(Engine& engine, QpId id, std::uint32_t number, const SendEntry& e, sim::SimTime at);
  void read_part(Engine& engine, QpId id, std::uint32_t number, std::uint32_t part);
  void payload_goes_on(Engine& engine, QpId id, std::uint32_t number, sim::SimTime link_free);
  void schedule_read(Engine& engine, QpId id, std::uint32_t number, const SendEntry& e, sim::SimTime at);
  void take_over(const struct ReadBurst& burst);
  void settle_payload(Engine& engine, QpId id) {
    if (payload_burst_) [[unlikely]]
      settle_payload_burst(engine, id);
  }
  void settle_payload_burst(Engine& engine, QpId id);
  [[nodiscard]] std::uint32_t burst_until(std::uint32_t number, std::uint64_t mtu) const;
  void shorten_payload_burst(Engine& engine, QpId id);
  void break_payload_burst(Engine& engine, QpId id);
  void issue_payload_read(Engine& engine, QpId id, std::uint32_t number, sim::Duration begun, sim::Duration stall);
  void schedule_payload(Engine& engine, QpId id);
  void take_stale_operands(Engine& engine, NicId node, SendEntry& e);

  // Implemented in transmit.cpp.
  [[nodiscard]] bool may_transmit(const Engine& engine, QpId id) const;
  [[nodiscard]] bool waits_for_answers(const Engine& engine, QpId id) const;
  [[nodiscard]] bool may_repeat(const Engine& engine, QpId id) const;
  [[nodiscard]] std::uint32_t sent_ahead(const Engine& engine, const Connection& qp) const;
  [[nodiscard]] std::uint32_t window(const Engine& engine, const Connection& qp) const;
  [[nodiscard]] bool window_is_full(const Engine& engine, const Connection& qp) const;
  void ask_within_window(const Engine& engine, const Connection& qp, fabric::Packet& packet);
  [[nodiscard]] std::uint32_t following_payload(const Engine& engine, const Connection& qp, bool last) const;
  [[nodiscard]] sim::SimTime may_send_from(const Engine& engine, QpId id) const;
  void announce_oldest(Engine& engine, QpId id) const;
  void schedule_transmit(Engine& engine, QpId id);
  void choose_path(const DeliveryPolicy& policy, QpId id, fabric::Packet& packet);
  void sent_last_packet(Engine& engine, QpId id, SendEntry& e);

  // Implemented in repeat.cpp.
  [[nodiscard]] bool repeats() const { return selective_->pending(); }
  void note_sent(Engine& engine, const fabric::Packet& packet, std::uint32_t psns);
  [[nodiscard]] sim::Duration longest_back_off(const Engine& engine, QpId id) const;
  void note_response(Engine& engine, const fabric::Packet& packet);
  /// `answer`: what has shown it, if an answer has.
  void tell_what_is_lost(Engine& engine, QpId id, const fabric::Packet* answer) const;
  void forget_sent() {
    if (!(*selective_ == SelectiveRepeat{})) selective_.edit().clear();
  }
  void repeat(Engine& engine, QpId id);
  [[nodiscard]] fabric::Packet repeated_packet(const Engine& engine, QpId id, std::uint32_t number, fabric::Psn psn,
                                               std::uint32_t count) const;

  // Implemented in whole.cpp.
  void complete_alone(Engine& engine, QpId id, std::uint32_t number, sim::Duration delay);
  bool has_come(Engine& engine, QpId id, fabric::Psn psn, sim::Duration delay);
  void follow_answers(const Engine& engine, QpId id);
  void receiver_of_message_not_ready(Engine& engine, QpId id, const fabric::Packet& nak);
  bool take_answer(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_response_to_packet(Engine& engine, const fabric::Packet& packet);

  // Implemented in wqe_fetch.cpp.
  void fetch_wqes(Engine& engine, QpId id);

  // Implemented in acknowledge.cpp.
  void progress(const QpSettings& settings, fabric::Psn una);
  Oldest acknowledge(const Engine& engine, const Connection& qp, fabric::Psn end);
  Oldest acknowledge_loosely(const Engine& engine, const Connection& qp, fabric::Psn end);
  void skip_acknowledged(const Engine& engine, const Connection& qp, std::uint32_t number, fabric::Psn end);
  void skip_answered();
  [[nodiscard]] std::uint32_t holder_of(fabric::Psn psn) const;
  [[nodiscard]] bool is_ghost(const fabric::Packet& packet, bool when_whole) const;
  [[nodiscard]] fabric::Psn acknowledged_by(const Engine& engine, const fabric::Packet& packet) const;
  void refused(Engine& engine, QpId id, std::uint32_t oldest, const fabric::Packet& nak);
  bool take_data(Engine& engine, QpId id, SendEntry& e, const fabric::Packet& packet, std::uint32_t offset);
  [[nodiscard]] static bool fits(const Engine& engine, QpId id, const fabric::Packet& packet, bool last);
  bool take_in_order(Engine& engine, QpId id, std::uint32_t oldest, const fabric::Packet& packet);
  void take_loosely(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_unordered(Engine& engine, QpId id, const fabric::Packet& packet);
  void answered(Engine& engine, QpId id, const fabric::Packet& packet, bool news, fabric::Psn before);
  void grow_window(const Engine& engine, const Connection& qp, fabric::Psn before);

  // Implemented in retransmit.cpp.
  [[nodiscard]] bool runs_timer(const DeliveryPolicy& policy) const {
    return policy.recovery.timer_always_runs() || unanswered_;
  }
  [[nodiscard]] std::uint32_t under_way() const;
  [[nodiscard]] sim::Duration time_out(const Engine& engine, const Connection& qp) const;
  void more_under_way(const Engine& engine, const Connection& qp, std::uint32_t before);
  void cancel_timer(Engine& engine);
  void arm_timer(Engine& engine, QpId id);
  void start_running_timer(Engine& engine, QpId id, sim::SimTime since);
  void expect_no_answer(Engine& engine, QpId id, sim::SimTime since);
  void watch_time(Engine& engine, QpId id);
  void start_timer(Engine& engine, QpId id) {
    const DeliveryPolicy& policy = policy_of(engine, id);
    if (runs_timer(policy)) return start_running_timer(engine, id, engine.now());
    if (policy.recovery.watches_time() && !timing_) watch_time(engine, id);
  }
  void port_is_closed(Engine& engine, QpId id);
  [[nodiscard]] bool asks_later(const Engine& engine, QpId id) const;
  void time_next_answer(Engine& engine, QpId id);
  void restart_timer(Engine& engine, QpId id);
  void stop_timer(Engine& engine);
  void go_back(Engine& engine, QpId id, std::uint32_t oldest);
  void retry_by_timer(Engine& engine, QpId id);
  void retry(Engine& engine, QpId id, std::uint32_t oldest);
  [[nodiscard]] bool takes_rnr_retry();
  bool may_wait_for_receiver(Engine& engine, QpId id, std::uint32_t which);
  void receiver_not_ready(Engine& engine, QpId id, std::uint32_t which, std::uint32_t oldest, sim::Duration wait);
  void fail(Engine& engine, QpId id, std::uint32_t number, Status status);

  // Implemented in check.cpp.
  void check_windows(const class Check& check) const;
  void check_entries(const class Check& check) const;

  CqId cq_;
  std::uint32_t depth_;
  std::uint32_t domain_;
  std::uint32_t first_ = 0;  // number of queue_[0]
  sim::SparseRing<SendEntry> queue_{};
  std::uint32_t rung_ = 0;
  std::uint32_t fetched_ = 0;
  std::uint32_t started_ = 0;
  std::uint32_t payload_next_ = 0;   // the oldest whose payload is not completely read
  std::uint32_t transmit_next_ = 0;  // the oldest that is not completely sent
  std::uint32_t completed_ = 0;
  std::uint32_t reaped_ = 0;          // first whose place is not free: neither its CQE nor a later one was polled
  std::uint32_t outstanding_ = 0;     // READs and atomics
  bool fetching_ : 1 = false;         // a read of work requests is under way
  bool payload_burst_ : 1 = false;    // steps of payload_next's read are a burst: what it has read is known there
  bool payload_event_ : 1 = false;    // the next step of payload_next's read is pending
  bool transmit_event_ : 1 = false;   // kEventTransmit is pending
  bool halted_ : 1 = false;           // a work request has failed: nothing more starts
  bool fetch_cancelled_ : 1 = false;  // what is being fetched is not wanted any more
  bool rnr_wait_ : 1 = false;         // the receiver was not ready: nothing is sent until the RNR timer fires
  bool recovering_ : 1 = false;       // has gone back, and nothing has been acknowledged since
  bool timer_pending_ : 1 = false;    // `timer_` is: a kEventTimeout, or with rnr_wait_ a kEventRnrTimer
  bool timing_ : 1 = false;           // where time is watched: an answer is due at `deadline_`
  bool watched_ : 1 = false;          // in AckTimers' list
  bool unanswered_ : 1 = false;       // on a lossless network: something gets no answer, so the transport timer runs
  std::uint8_t retries_ = 0;          // left until retry_exc_err
  std::uint8_t rnr_retries_ = 0;      // left until rnr_retry_exc_err
  std::uint16_t parts_left_ = 0;      // of payload_next's read, with nic.word_order any: so many events are pending
  fabric::Psn next_psn_{};            // of the next work request that starts
  fabric::Psn unsent_psn_{};          // first that has never been sent: before next_psn_, or that
  fabric::Psn una_{};                 // oldest that is not acknowledged
  sim::SimTime transmit_free_{};
  sim::SimTime deadline_{};  // of the transport timer
  sim::EventHandle timer_{};
  sim::Lazy<TransmitWindow> window_{};  // made where there are windows, or round trips are measured
  sim::Lazy<PacketAnswers> packet_answers_{};
  sim::Lazy<SelectiveRepeat> selective_{};  // made where lost packets are repeated one by one
};

static_assert(sizeof(Requester) == 2 * sim::kCacheLine, "there can be millions");

}  // namespace loco::nic
