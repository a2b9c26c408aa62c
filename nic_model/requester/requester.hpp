// The requester of a queue pair: from the doorbell to the CQE (IBTA volume 1, 9.7 and 10.7; docs/machine.md, "NIC,
// requester side").
//
// Work requests have running numbers (32 bits, they wrap), and each step has the number of the first one that it has
// not done yet: posted() by threads; `rung`, known by a doorbell; `fetched`, in the NIC; `started`, with PSNs of its
// own; none is ahead of the one before it. Payloads are read and packets sent behind `started` (payload_next,
// transmit_next), and `completed` follows. Two numbers are behind all of these: `first`, of the oldest in the queue,
// which the NIC may still need, and `reaped`, of the first that takes a place in the send queue.
//
// Order per queue pair: work requests are fetched, start, have their payload read, send their packets and complete in
// the order in which they were posted. Not ordered: a later payload read and an earlier packet on its way. The fence
// flag holds a work request until the queue pair's earlier READs and atomics are complete and its earlier packets
// are sent.
//
// Going back (9.7.5, 9.7.6; retransmit.cpp) repeats everything from the oldest PSN that is not acknowledged; selective
// repeat (selective_repeat.hpp, repeat.cpp), which needs a peer that places packets out of order, only what is lost. A
// repeated WRITE or SEND carries the payload that was read the first time.
// The transport timer (9.7.6.1.3) starts with a packet that asks for an answer, if it does not run, and starts anew
// when there is progress. It runs only where the network can lose packets (TimerUse). On a lossless network nearly
// everything is answered, and without a timer nothing is pending in an idle machine; runs in the order of time watch it
// all the same (ack_timers.hpp). Other runs know exceptions only: a peer that is not ready, has stopped or is connected
// to another one, PSNs that do not fit, a RESET. Whoever drops such a request, or an answer, says so
// (no_answer.hpp): from then on the timer runs there, too, until everything is answered. The RNR timer takes the
// place of the transport timer while a receiver that was not ready is given time.
//
// Answers are taken in PSN order (acknowledge.cpp). One that answers a later request acknowledges all earlier WRITEs
// and SENDs; a READ or an atomic that it passes over has lost its response (an implied NAK): the requester goes back
// to it. Private to nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "nic_model/connection/connection.hpp"
#include "nic_model/delivery/entropies.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/requester/answer_tracks.hpp"
#include "nic_model/requester/no_answer.hpp"
#include "nic_model/requester/round_trips.hpp"
#include "nic_model/requester/selective_repeat.hpp"
#include "nic_model/requester/transmit_window.hpp"
#include "sim/event_queue.hpp"
#include "sim/lazy.hpp"
#include "sim/prefetch.hpp"
#include "sim/sparse_ring.hpp"

namespace loco::nic {

/// PSNs that may be on their way at once (IBTA volume 1, 9.7.1).
inline constexpr std::uint32_t kPsnsMax = 1U << 23U;

/// A work request from posting until its place is free.
struct SendEntry {
  Wqe wqe{};
  Status status = Status::success;
  bool done = false;        // its response has come (or an error was found)
  bool completed = false;   // although earlier ones are not
  bool read_ready = false;  // no posted write is in front of its payload's read any more: only earlier payloads are
  fabric::Psn psn{};
  std::uint32_t packets = 0;  // PSNs that it takes
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t payload_read = 0;  // bytes
  std::uint32_t sent = 0;          // bytes
  std::uint32_t received = 0;      // bytes of a READ's response
  std::uint32_t acked = 0;         // packets of a WRITE or SEND that have come, where each is answered
  std::uint32_t track = kNone;     // of a READ, in Engine::tracks, where packets can be lost; or where each is answered
  // When memory may be read for its payload; once some of that has been read, when what has been is in the NIC. Without
  // a payload to read: when it may be sent.
  sim::SimTime ready{};
  sim::Duration reach{};  // of its payload's read: see HeldRead

  bool operator==(const SendEntry&) const = default;
};

/// What a requester keeps where packets have entropies, or each is answered.
struct PacketAnswers {
  Entropies entropies{};
  RoundTrips round_trips{};
  fabric::Psn all_come{};  // before it every packet has come

  bool operator==(const PacketAnswers&) const = default;
};

/// What a NAK says of the work request that it refuses.
[[nodiscard]] Status status_of(fabric::NakCode nak);

class alignas(sim::kCacheLine) Requester {
 public:
  Requester(CqId cq, std::uint32_t depth, std::uint32_t domain) : cq_(cq), depth_(depth), domain_(domain) {}

  // --- what others ask ---------------------------------------------------------------------------------------------
  [[nodiscard]] CqId cq() const { return cq_; }
  [[nodiscard]] std::uint32_t domain() const { return domain_; }  ///< the ordering domain that it posts in
  [[nodiscard]] std::uint32_t posted() const { return first_ + static_cast<std::uint32_t>(queue_.size()); }
  /// Places that are free in the send queue.
  [[nodiscard]] std::uint32_t room() const { return depth_ - (posted() - reaped_); }
  [[nodiscard]] bool holds(std::uint32_t number) const { return number - first_ < queue_.size(); }
  /// Precondition: holds().
  [[nodiscard]] const SendEntry& entry(std::uint32_t number) const { return queue_[number - first_]; }
  /// Does it hold this work request, and has not completed it?
  [[nodiscard]] bool waits_for(std::uint32_t number) const {
    return holds(number) && static_cast<std::int32_t>(number - completed_) >= 0;
  }
  /// What kEventReadPayload reads next, or with a part, counted from 1, that one. Precondition: it has not been read.
  [[nodiscard]] struct PayloadStep payload_part(const Engine& engine, QpId id, std::uint32_t number,
                                                std::uint32_t part) const;
  /// The oldest work request that has not started; null if all have.
  [[nodiscard]] const Wqe* first_unstarted() const { return started_ == posted() ? nullptr : &entry(started_).wqe; }
  [[nodiscard]] const sim::SparseRing<SendEntry>& queue() const { return queue_; }

  // --- verbs calls -------------------------------------------------------------------------------------------------
  /// `inline_payload`: what the CPU has copied; kNoBuffer otherwise. Precondition: room().
  void post(const Wqe& wqe, std::uint32_t inline_payload);
  /// The CQE of this work request has been polled: its place is free, and unless they complete in any order (`alone`)
  /// those of all before it.
  void reap(std::uint32_t number, bool alone);
  /// To RTS: the PSN of the next packet.
  void set_psn(fabric::Psn psn) { next_psn_ = unsent_psn_ = una_ = psn; }
  void set_retries(std::uint8_t retries) { retries_ = retries; }
  void set_rnr_retries(std::uint8_t retries) { rnr_retries_ = retries; }
  /// SQE -> RTS: work requests start again.
  void resume() { halted_ = false; }
  /// The queue pair can send nothing more: everything that the NIC knows of is flushed, in order.
  void flush(Engine& engine, QpId id);
  /// Drops all work requests, without a CQE. Their numbers are not used again, so that answers on their way find none.
  void reset(Engine& engine, QpId id);

  // --- what comes from PCIe, the port, the network and timers ------------------------------------------------------
  /// A doorbell has reached the NIC: work requests are known up to producer index `posted`; `blueflame`: the last of
  /// them has come with it.
  void ring(Engine& engine, QpId id, std::uint32_t posted, bool blueflame);
  /// No posted write is in front of the read of work requests any more.
  static void wqe_fetch_may_execute(Engine& engine, const HeldRead& read);
  /// kEventFetchWqe: `count` work requests are in the NIC.
  void wqes_fetched(Engine& engine, QpId id, std::uint32_t count);
  /// No posted write is in front of the read of a payload any more: its turn is behind earlier payloads.
  void payload_read_may_execute(Engine& engine, const HeldRead& read);
  /// kEventReadPayload; `part`: as commit() has it.
  void read_payload(Engine& engine, QpId id, std::uint32_t number, std::uint32_t part);
  /// kEventTransmit
  void transmit(Engine& engine, QpId id);
  /// A response packet has arrived. Takes over its payload.
  void take_response(Engine& engine, const fabric::Packet& packet);
  /// kEventTimeout
  void timed_out(Engine& engine, QpId id);
  /// Where time is watched (ack_timers.hpp): does it wait for an answer? If that is due until then, it gets an event.
  bool due_until(Engine& engine, QpId id, sim::SimTime until);
  /// Where time is watched: does it wait for an answer?
  [[nodiscard]] bool waits_for_answer() const { return timing_; }
  /// Will it send something without being answered first?
  [[nodiscard]] bool has_packets_to_send() const {
    const bool unsent = transmit_next_ != started_ && entry(transmit_next_).status == Status::success;
    return transmit_event_ || (unsent && !rnr_wait_) || repeats();
  }
  /// kEventRnrTimer
  void rnr_timer_expired(Engine& engine, QpId id);
  /// Starts work requests, in order, until one has to wait. `delay`: between the event being handled and its effect.
  void start(Engine& engine, QpId id, sim::Duration delay);
  /// kEventNoAnswer: something that it has sent, or its answer, was dropped for good without the network losing it.
  void take_no_answer(Engine& engine, QpId id, const NoAnswer& message);

  void hash(Hasher& h, const Payloads& payloads) const;
  /// Throws sim::BrokenInvariant.
  void check(QpId id, sim::SimTime now) const;
  bool operator==(const Requester&) const = default;

 private:
  /// The oldest work request that is not done, once an answer has been looked at.
  struct Oldest {
    std::uint32_t number = 0;
    bool implied_nak = false;  // it is a READ or an atomic whose response should have come before this answer
  };

  [[nodiscard]] SendEntry& edit(std::uint32_t number) { return queue_[number - first_]; }

  // requester.cpp
  [[nodiscard]] bool fence_holds(const DeliveryPolicy& policy) const;
  [[nodiscard]] bool too_far_ahead(std::uint32_t packets) const;
  [[nodiscard]] bool waits_for_others(const Engine& engine, const Connection& qp, const SendEntry& e) const;
  void take_psns(Engine& engine, const DeliveryPolicy& policy, SendEntry& e);
  bool start_next(Engine& engine, QpId id, sim::Duration delay, sim::Duration stall);
  void write_cqe(Engine& engine, QpId id, std::uint32_t number, Status status, sim::Duration delay) const;
  void complete(Engine& engine, QpId id, sim::Duration delay);
  void free_finished(Engine& engine);

  // payload.cpp
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
  void break_payload_burst(Engine& engine, QpId id);
  void issue_payload_read(Engine& engine, QpId id, std::uint32_t number, sim::Duration begun, sim::Duration stall);
  void schedule_payload(Engine& engine, QpId id);
  void take_stale_operands(Engine& engine, NodeId node, SendEntry& e);

  // transmit.cpp
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

  // repeat.cpp
  [[nodiscard]] bool repeats() const { return selective_->pending(); }
  void note_sent(Engine& engine, const fabric::Packet& packet, std::uint32_t psns);
  [[nodiscard]] sim::Duration longest_back_off(const Engine& engine, QpId id) const;
  void note_response(Engine& engine, const fabric::Packet& packet);
  void tell_what_is_lost(Engine& engine, QpId id) const;
  void forget_sent() {
    if (!(*selective_ == SelectiveRepeat{})) selective_.edit().clear();
  }
  void repeat(Engine& engine, QpId id);
  [[nodiscard]] fabric::Packet repeated_packet(const Engine& engine, QpId id, std::uint32_t number, fabric::Psn psn,
                                               std::uint32_t count) const;

  // whole.cpp
  void complete_alone(Engine& engine, QpId id, std::uint32_t number, sim::Duration delay);
  bool has_come(Engine& engine, QpId id, fabric::Psn psn, sim::Duration delay);
  void follow_answers(const Engine& engine, QpId id);
  void receiver_of_message_not_ready(Engine& engine, QpId id, const fabric::Packet& nak);
  bool take_answer(Engine& engine, QpId id, const fabric::Packet& packet);
  void take_response_to_packet(Engine& engine, const fabric::Packet& packet);

  // wqe_fetch.cpp
  void fetch_wqes(Engine& engine, QpId id);

  // acknowledge.cpp
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

  // retransmit.cpp
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

  // check.cpp
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
  std::uint32_t payload_next_ = 0;   // oldest whose payload is not read completely
  std::uint32_t transmit_next_ = 0;  // oldest that is not sent completely
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
  sim::Lazy<TransmitWindow> window_{};  // where there are windows, or round trips are measured
  sim::Lazy<PacketAnswers> packet_answers_{};
  sim::Lazy<SelectiveRepeat> selective_{};  // where packets can be lost and are repeated one by one
};

static_assert(sizeof(Requester) == 2 * sim::kCacheLine, "there can be millions");

}  // namespace loco::nic
