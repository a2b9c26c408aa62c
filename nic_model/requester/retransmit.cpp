#include "nic_model/requester/retransmit.hpp"

#include <algorithm>

#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"

namespace loco::nic {

namespace {

constexpr std::uint8_t kForEver = 7;  // of rnr_retry

void cancel_timer(Engine& engine, Requester& rq) {
  if (!rq.timer_pending) return;
  engine.state.events.cancel(rq.timer);
  rq.timer_pending = false;
}

/// The transport timer's event, at the deadline.
void arm_timer(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  rq.timer_pending = true;
  rq.timer = engine.state.events.push({.at = rq.deadline, .what = kEventTimeout, .where = id});
}

/// Has everything from the oldest PSN that is not acknowledged sent again. That starts the timer.
void go_back(Engine& engine, QpId id, std::uint32_t oldest) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (oldest == rq.started) return;
  const std::uint32_t until = rq.transmit_next;  // behind it nothing has been sent
  for (std::uint32_t number = oldest; number != rq.started; ++number) {
    rq.entry(number).sent = 0;
    if (number == until) break;
  }
  SendEntry& e = rq.entry(oldest);
  const std::int32_t acknowledged = rq.una.distance(e.psn);
  if (!reads_or_atomic(e.wqe.opcode) && acknowledged > 0) {
    e.sent = static_cast<std::uint32_t>(engine.mtu(qp) * static_cast<std::uint32_t>(acknowledged));
  }
  rq.transmit_next = oldest;
  withdraw_message(engine, id, false);  // what it had announced to the flow model is not the next one any more
  if (!rq.rnr_wait) cancel_timer(engine, rq);
  ++engine.state.counters.retransmissions;
  schedule_transmit(engine, id);
}

}  // namespace

void fail_work_request(Engine& engine, QpId id, std::uint32_t number, Status status) {
  Requester& rq = engine.state.qps[id].requester;
  if (number == rq.started || rq.entry(number).done) return;
  SendEntry& e = rq.entry(number);
  e.status = status;
  e.done = true;
  rq.halted = true;
  complete(engine, id, {});
}

void retry(Engine& engine, QpId id, std::uint32_t oldest) {
  Requester& rq = engine.state.qps[id].requester;
  if (rq.retries == 0) return fail_work_request(engine, id, oldest, Status::retry_exc_err);
  --rq.retries;
  rq.recovering = true;
  go_back(engine, id, oldest);
}

void receiver_not_ready(Engine& engine, QpId id, std::uint32_t which, std::uint32_t oldest, sim::Duration wait) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (rq.rnr_wait) return;
  if (rq.rnr_retries == 0) return fail_work_request(engine, id, which, Status::rnr_retry_exc_err);
  if (rq.rnr_retries != kForEver) --rq.rnr_retries;
  cancel_timer(engine, rq);
  rq.rnr_wait = true;
  go_back(engine, id, oldest);
  rq.timer_pending = true;
  rq.timer = engine.schedule(kEventRnrTimer, id, 0, engine.now() + wait);
}

// --- timers ----------------------------------------------------------------------------------------------------------

void start_running_timer(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (rq.timer_pending || qp.settings.timeout.ps == 0) return;
  rq.deadline = engine.now() + qp.settings.timeout;
  arm_timer(engine, id);
}

void restart_timer(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (rq.rnr_wait) return;
  if (rq.transmit_next == rq.completed) return cancel_timer(engine, rq);  // what is being sent starts it
  rq.deadline = engine.now() + qp.settings.timeout;
  start_timer(engine, id);
}

void stop_timer(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  cancel_timer(engine, rq);
  rq.rnr_wait = rq.unanswered = false;
}

void timed_out(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  rq.timer_pending = false;
  if (rq.completed == rq.started) return;
  if (engine.now() < rq.deadline) return arm_timer(engine, id);  // there was an answer meanwhile
  if (rq.transmit_next == rq.completed) return;  // the oldest is still being sent: its last packet starts the timer
  ++engine.state.counters.timeouts;
  retry(engine, id, rq.completed);
}

void rnr_timer_expired(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  rq.timer_pending = rq.rnr_wait = false;
  schedule_transmit(engine, id);
}

void expect_no_answer(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (engine.state.lossy || qp.type != QpType::rc || rq.completed == rq.started) return;
  rq.unanswered = true;
  if (rq.rnr_wait || rq.timer_pending) return;
  start_running_timer(engine, id);
  if (!engine.fault(Fault::responder_reorders) && !engine.fault(Fault::early_write_completion)) return;
  // With these faults a request that comes again would be executed again: the time of all retries passes without any.
  rq.deadline += qp.settings.timeout * std::int64_t{rq.retries};
  rq.retries = 0;
}

void no_answer(Engine& engine, const fabric::Packet& packet) {
  if (engine.state.lossy || !packet.last) return;
  const Responder& rs = engine.state.qps[packet.destination_qp].responder;
  const Requester& rq = engine.state.qps[packet.source_qp].requester;
  // What comes behind a request that was refused needs no answer of its own: that one's NAK is on its way.
  const std::uint32_t refused = rs.disorder->refused;
  const bool behind = refused != kNone && static_cast<std::int32_t>(packet.wqe - refused) >= 0 &&
                      engine.state.qps[packet.destination_qp].peer == packet.source_qp;
  if (behind && rq.holds(refused) && static_cast<std::int32_t>(refused - rq.completed) >= 0) return;
  expect_no_answer(engine, packet.source_qp);
}

}  // namespace loco::nic
