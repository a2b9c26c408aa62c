// Requester: going back, timers, and giving up (IBTA volume 1, 9.7.5 and 9.7.6). Interface: requester.hpp.
#include <algorithm>

#include "nic_model/connection/failure.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/ack_timers.hpp"
#include "nic_model/requester/requester.hpp"
#include "probe/probe.hpp"
#include "sim/rng.hpp"

namespace loco::nic {

/// Goes back: sends again everything from the oldest unacknowledged PSN on, which also starts the timer.
void Requester::go_back(Engine& engine, QpId id, std::uint32_t oldest) {
  if (oldest == started_) return;
  forget_sent();
  LOCO_PROBE(go_back_n);
  if (engine.kernel.controls()) tell_all_sent_again(engine, id, !rnr_wait_);
  if (engine.kernel.windows()) window_.edit().forget_sample();
  const std::uint32_t until = transmit_next_;  // nothing after it has been sent
  for (std::uint32_t number = oldest; number != started_; ++number) {
    edit(number).sent = 0;
    if (number == until) break;
  }
  SendEntry& e = edit(oldest);
  const std::int32_t acknowledged = una_.distance(e.psn);
  if (!reads_or_atomic(e.wqe.opcode) && acknowledged > 0) {
    const std::uint64_t mtu = mtu_of(engine, engine.connections[id], e.wqe.length);
    e.sent = static_cast<std::uint32_t>(mtu * static_cast<std::uint32_t>(acknowledged));
  }
  transmit_next_ = oldest;
  withdraw_message(engine, id, false);  // the flow model's announced message is no longer the next one
  if (!rnr_wait_) cancel_timer(engine);
  engine.count(&Counters::retransmissions);
  schedule_transmit(engine, id);
}

/// Ends a work request with an error unless it is done already. No other work request of the queue pair starts.
void Requester::fail(Engine& engine, QpId id, std::uint32_t number, Status status) {
  if (number == started_ || entry(number).done) return;
  SendEntry& e = edit(number);
  e.status = status;
  e.done = true;
  halted_ = true;
  if (policy_of(engine, id).order.when_whole) {
    complete_alone(engine, id, number, {});
    return announce(engine, SendFailed{id});
  }
  complete(engine, id, {});
}

/// Goes back to work request `oldest`, or fails it if no retries are left.
void Requester::retry(Engine& engine, QpId id, std::uint32_t oldest) {
  if (retries_ == 0) {
    LOCO_PROBE(retries_exhausted);
    return fail(engine, id, oldest, Status::retry_exc_err);
  }
  --retries_;
  if (policy_of(engine, id).recovery.selective) {
    cancel_timer(engine);
    LOCO_PROBE(selective_time_out);
    selective_.edit().time_out(recovering_);  // a second timeout: what the peer said may be stale
    tell_what_is_lost(engine, id, nullptr);
    if (engine.kernel.controls()) tell_all_sent_again(engine, id, false);  // no answer will report the others either
  }
  recovering_ = true;
  if (repeats()) return schedule_transmit(engine, id);
  go_back(engine, id, oldest);
}

/// With adaptive retransmission the total time counts, not the number of retries (qp_total_timeout of ROCE_ACCL).
void Requester::retry_by_timer(Engine& engine, QpId id) {
  const NicId nic = engine.connections[id].node();
  if (engine.kernel.slow_restarts(nic)) window_.edit().restart();
  if (engine.kernel.controls()) tell_timeout(engine, id);
  const sim::Duration first = engine.kernel.lossy_timeout(nic);
  if (first.ps > 0) {
    const QpSettings& settings = qp_settings(engine, id);
    const sim::Duration after = window_->time_out(first, settings.timeout);
    const sim::Duration waited = window_.edit().timed_out(after, settings.timeout);
    if (waited >= settings.timeout * (std::int64_t{settings.retry_count} + 1)) {
      LOCO_PROBE(adaptive_retransmission_gives_up);
      return fail(engine, id, completed_, Status::retry_exc_err);
    }
    retries_ = static_cast<std::uint8_t>(settings.retry_count + 1);
  }
  retry(engine, id, completed_);
}

/// Uses up one RNR retry; returns false if none is left.
bool Requester::takes_rnr_retry() {
  if (rnr_retries_ == 0) return false;
  if (rnr_retries_ != kRnrRetryForEver) --rnr_retries_;
  return true;
}

/// An RNR NAK for work request `which` has come. Returns true if a wait for the receiver begins. Returns false if one
/// is running already, or if no RNR retries are left, which fails `which`.
bool Requester::may_wait_for_receiver(Engine& engine, QpId id, std::uint32_t which) {
  if (rnr_wait_) {
    LOCO_PROBE(rnr_nak_while_waiting);
    return false;
  }
  if (takes_rnr_retry()) return true;
  LOCO_PROBE(rnr_retries_exhausted);
  fail(engine, id, which, Status::rnr_retry_exc_err);
  return false;
}

/// An RNR NAK for work request `which`: goes back to `oldest` after the time `wait`. Without RNR retries left, `which`
/// fails.
void Requester::receiver_not_ready(Engine& engine, QpId id, std::uint32_t which, std::uint32_t oldest,
                                   sim::Duration wait) {
  if (!may_wait_for_receiver(engine, id, which)) return;
  cancel_timer(engine);
  rnr_wait_ = true;
  go_back(engine, id, oldest);
  timer_pending_ = true;
  timer_ = engine.schedule(kEventRnrTimer, id, 0, engine.now() + wait);
}

// --- timers ----------------------------------------------------------------------------------------------------------

/// Number of PSNs sent and not acknowledged.
std::uint32_t Requester::under_way() const { return static_cast<std::uint32_t>(unsent_psn_.distance(una_)); }

namespace {
/// How much later than that a timeout takes effect: up to once more (IBTA volume 1, 9.7.6.1.3: up to four times the
/// value), by where the queue pair is in its stream, so that those which lost packets together do not all send them
/// again together.
sim::Duration late_by(const Engine& engine, const Connection& qp, sim::Duration nominal, fabric::Psn una) {
  std::uint64_t state = engine.kernel.config().seed ^ (std::uint64_t{qp.peer()} << 32U) ^ una.value();
  return {static_cast<std::int64_t>(sim::splitmix64_below(state, static_cast<std::uint64_t>(nominal.ps)))};
}
}  // namespace

/// The current timeout. Adaptive retransmission starts with a short one that doubles until there is progress (NVIDIA,
/// "Adaptive Retransmission: Parameters Control", 2025). With few packets in flight a timeout of its own applies (IRN,
/// SIGCOMM 2018, section 3.1: RTO_low).
sim::Duration Requester::time_out(const Engine& engine, const Connection& qp) const {
  const HardwareProfile& p = engine.profile(qp.node());
  const QpSettings& settings = qp_settings(engine, qp);
  const sim::Duration lossy = engine.kernel.lossy_timeout(qp.node());
  sim::Duration time = settings.timeout;
  if (const sim::Duration least = policy_of(engine, qp).recovery.rto_least; least.ps > 0)
    return std::min(time, packet_answers_->round_trips.time_out(least, std::max(settings.retry_count - retries_, 0)));
  if (p.nic_adaptive_timeout.ps > 0) {
    const int doublings = std::max(settings.retry_count - retries_, 0);
    time = std::min(time, p.nic_adaptive_timeout * (std::int64_t{1} << doublings));
  }
  if (lossy.ps > 0) {
    const sim::Duration nominal = window_->time_out(lossy, time);
    time = std::min(time, nominal + late_by(engine, qp, nominal, una_));
  }
  if (p.nic_tail_timeout.ps > 0 && under_way() <= p.nic_tail_packets) time = std::min(time, p.nic_tail_timeout);
  return time;
}

/// If a sent packet ends the state of few packets in flight, extends the running timer, which was started with the
/// short timeout.
void Requester::more_under_way(const Engine& engine, const Connection& qp, std::uint32_t before) {
  const HardwareProfile& p = engine.profile(qp.node());
  if (p.nic_tail_timeout.ps == 0 || (!timer_pending_ && !timing_) || rnr_wait_) return;
  if (before > p.nic_tail_packets || under_way() <= p.nic_tail_packets) return;
  const sim::Duration longer = time_out(engine, qp);
  if (longer > p.nic_tail_timeout) deadline_ += longer - p.nic_tail_timeout;
  LOCO_PROBE(timer_for_few_packets_lengthened);
}

void Requester::cancel_timer(Engine& engine) {
  timing_ = false;
  if (!timer_pending_) return;
  engine.cancel(timer_);
  timer_pending_ = false;
}

/// Schedules the transport timer's event at the deadline.
void Requester::arm_timer(Engine& engine, QpId id) {
  timer_pending_ = true;
  timer_ = engine.schedule(kEventTimeout, id, 0, deadline_);
}

/// Starts the transport timer as of `since`, unless it is running or disabled (timeout 0). Precondition: runs_timer().
void Requester::start_running_timer(Engine& engine, QpId id, sim::SimTime since) {
  const QpSettings& settings = qp_settings(engine, id);
  if (timer_pending_ || settings.timeout.ps == 0) return;
  deadline_ = std::max(engine.now(), since + time_out(engine, engine.connections[id]));
  arm_timer(engine, id);
}

namespace {
/// The shortest timeout that can apply.
sim::Duration shortest_time_out(const HardwareProfile& p, sim::Duration timeout) {
  sim::Duration shortest = timeout;
  if (p.nic_adaptive_timeout.ps > 0) shortest = std::min(shortest, p.nic_adaptive_timeout);
  if (p.nic_tail_timeout.ps > 0) shortest = std::min(shortest, p.nic_tail_timeout);
  return shortest;
}
}  // namespace

/// Where time is watched: an answer is due from now on.
void Requester::watch_time(Engine& engine, QpId id) {
  const QpSettings& settings = qp_settings(engine, id);
  if (settings.timeout.ps == 0) return;
  timing_ = true;
  deadline_ = engine.now() + time_out(engine, engine.connections[id]);
  if (watched_) return;
  watched_ = true;
  const NicId nic = engine.connections[id].node();
  const std::uint32_t index = engine.kernel.ranked() ? nic.index() : 0;
  engine.ack_timers[index].watch(engine, index, id, shortest_time_out(engine.profile(nic), settings.timeout));
}

bool Requester::due_until(Engine& engine, QpId id, sim::SimTime until) {
  if (timing_ && !timer_pending_ && deadline_ <= until) arm_timer(engine, id);
  watched_ = timing_;
  return timing_;
}

/// A packet that waits for a paused port is not sent, so it is not answered either. In timed runs its timer runs.
void Requester::port_is_closed(Engine& engine, QpId id) {
  const bool waits = !rnr_wait_ && completed_ != started_ && policy_of(engine, id).acknowledges();
  if (engine.kernel.times_ports() && waits) start_timer(engine, id);
}

/// True if the oldest work request is still being sent and its last packet will request an answer. If it may have to
/// wait for answers itself, earlier packets have requested one.
bool Requester::asks_later(const Engine& engine, QpId id) const {
  if (transmit_next_ != completed_) return false;
  const Connection& qp = engine.connections[id];
  const bool others_ask = engine.kernel.holds_back() || policy_of(engine, qp).answers_each_packet();
  return !others_ask || sent_ahead(engine, qp) == 0;
}

/// After an answer, restarts the timer if something else in flight is to be answered.
void Requester::restart_timer(Engine& engine, QpId id) {
  if (rnr_wait_) return;
  if (asks_later(engine, id)) return cancel_timer(engine);  // its last packet will start it
  const sim::SimTime deadline = engine.now() + time_out(engine, engine.connections[id]);
  if (deadline < deadline_) {  // the pending event would be too late
    LOCO_PROBE(timer_brought_forward);
    cancel_timer(engine);
  }
  deadline_ = deadline;
  start_timer(engine, id);
}

/// Something was answered: restarts the timer, or stops it if nothing is in flight.
void Requester::time_next_answer(Engine& engine, QpId id) {
  if (completed_ == started_) return stop_timer(engine);
  const DeliveryPolicy& policy = policy_of(engine, id);
  if (runs_timer(policy) || policy.recovery.watches_time()) restart_timer(engine, id);
}

/// Stops the transport or RNR timer, because there is nothing to wait for.
void Requester::stop_timer(Engine& engine) {
  cancel_timer(engine);
  rnr_wait_ = unanswered_ = false;
}

void Requester::timed_out(Engine& engine, QpId id) {
  timer_pending_ = false;
  if (completed_ == started_) return;
  if (engine.now() < deadline_) {  // progress has moved the deadline
    LOCO_PROBE(timer_put_off);
    if (runs_timer(policy_of(engine, id))) arm_timer(engine, id);
    return;
  }
  timing_ = false;
  const bool closed = engine.kernel.times_ports() && engine.network.paused(port_of(engine, engine.connections[id]),
                                                                           peer_port_of(engine, engine.connections[id]),
                                                                           engine.connections[id].traffic_class());
  if (asks_later(engine, id) && !closed) return;
  engine.count(&Counters::timeouts);
  LOCO_PROBE(time_out);
  retry_by_timer(engine, id);
  if (!closed) return;
  LOCO_PROBE(time_out_at_paused_port);
  port_is_closed(engine, id);
}

void Requester::rnr_timer_expired(Engine& engine, QpId id) {
  timer_pending_ = rnr_wait_ = false;
  LOCO_PROBE(rnr_timer_expires);
  schedule_transmit(engine, id);
  // Other messages continued meanwhile without a timer; a loss among them would block the window for ever.
  const bool others = policy_of(engine, id).order.when_whole && completed_ != started_;
  if (others && !transmit_event_) start_timer(engine, id);
}

/// An answer will never come; it has been missing since `since`.
void Requester::expect_no_answer(Engine& engine, QpId id, sim::SimTime since) {
  const Connection& qp = engine.connections[id];
  const DeliveryPolicy& policy = policy_of(engine, qp);
  if (policy.recovery.timer_always_runs() || !policy.acknowledges() || completed_ == started_) return;
  unanswered_ = true;
  LOCO_PROBE(nobody_will_answer);
  if (rnr_wait_ || timer_pending_) return;
  start_running_timer(engine, id, since);
  if (!engine.fault(Fault::responder_reorders) && !engine.fault(Fault::early_write_completion)) return;
  // With these faults a repeated request would be executed twice, so the time of all retries passes without any.
  deadline_ += qp_settings(engine, qp).timeout * std::int64_t{retries_};
  retries_ = 0;
}

void Requester::take_no_answer(Engine& engine, QpId id, const NoAnswer& message) {
  if (engine.connections[id].peer() != message.responder) return;  // from an earlier connection
  if (message.refused != kNone && waits_for(message.refused)) return;
  expect_no_answer(engine, id, message.since);
}

}  // namespace loco::nic
