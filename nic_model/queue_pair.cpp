#include "nic_model/queue_pair.hpp"

#include <algorithm>

#include "nic_model/acknowledge.hpp"
#include "nic_model/receive_queue.hpp"
#include "nic_model/requester.hpp"

namespace loco::nic {

namespace {

bool allowed(QpType type, QpState from, QpState to) {
  switch (to) {
    case QpState::reset:
    case QpState::error:
      return true;
    case QpState::init:
      return from == QpState::reset || from == QpState::init;
    case QpState::rtr:
      return from == QpState::init;
    case QpState::rts:
      return from == QpState::rtr || from == QpState::rts || from == QpState::sqd ||
             (from == QpState::sqe && type != QpType::rc);
    case QpState::sqd:
      return from == QpState::rts || from == QpState::sqd;
    case QpState::sqe:
      return false;  // only a failure leads there
  }
  return false;
}

/// All that is left of the past is dropped, without a CQE. Numbers go on, so that what is on its way finds nothing.
void reset(Engine& engine, QpId id) {
  State& s = engine.state;
  QueuePair& qp = s.qps[id];
  Requester& rq = qp.requester;
  stop_timer(engine, id);
  rq.first += static_cast<std::uint32_t>(rq.queue.size());
  for (; !rq.queue.empty(); rq.queue.pop_front()) release_entry(engine, rq.queue.front());
  rq.rung = rq.fetched = rq.started = rq.payload_next = rq.transmit_next = rq.completed = rq.first;
  rq.outstanding = 0;
  rq.fetch_cancelled = rq.fetching;
  rq.halted = rq.rnr_wait = rq.recovering = false;
  Responder& rs = qp.responder;
  if (!(*rs.disorder == Disorder{})) {
    Disorder& held = rs.disorder.edit();
    for (; !held.waiting.empty(); held.waiting.pop_front()) engine.release(held.waiting.front().packet.buffer);
    for (; !held.early.empty(); held.early.pop_front()) engine.release(held.early.front().packet.buffer);
    held.replays.clear();
  }
  rs.nak_sent = rs.receiving = rs.in_message = rs.write_valid = false;
  if (rs.queue == kNone || s.receive_queues[rs.queue].owner != id) return;
  s.receive_queues[rs.queue].entries.clear();
  s.receive_queues[rs.queue].visible = 0;
}

bool set_attributes(Engine& engine, QpId id, QpState from, QpState to, const QpAttributes& a) {
  State& s = engine.state;
  QueuePair& qp = s.qps[id];
  if (to == QpState::init) qp.qkey = a.qkey;
  if (to == QpState::rtr) {
    if (qp.type != QpType::ud) {
      if (a.dest_qp >= s.qps.size() || a.dest_qp == id || s.qps[a.dest_qp].type != qp.type) return false;
      qp.peer = a.dest_qp;
      qp.peer_node = s.qps[a.dest_qp].node;
    }
    qp.settings.min_rnr_timer = a.min_rnr_timer;
    qp.responder.expected_psn = qp.responder.done_psn = fabric::Psn(a.rq_psn);
  }
  if (to == QpState::rts && from == QpState::rtr) {
    const std::uint32_t most = engine.profile().nic_max_rd_atomic;
    if (a.max_rd_atomic > most || a.retry_count > 7 || a.rnr_retry > 7) return false;
    Requester& rq = qp.requester;
    qp.settings.max_rd_atomic = a.max_rd_atomic == 0 ? most : a.max_rd_atomic;
    qp.settings.timeout = a.timeout;
    rq.retries = qp.settings.retry_count = static_cast<std::uint8_t>(a.retry_count);
    rq.rnr_retries = qp.settings.rnr_retry = static_cast<std::uint8_t>(a.rnr_retry);
    rq.next_psn = rq.una = fabric::Psn(a.sq_psn);
  }
  return true;
}

}  // namespace

ModifyResult modify(Engine& engine, QpId id, QpState to, const QpAttributes& attributes) {
  QueuePair& qp = engine.state.qps[id];
  const QpState from = qp.state;
  if (!allowed(qp.type, from, to)) return ModifyResult::invalid_transition;
  if (to == QpState::reset) {
    reset(engine, id);
  } else if (to == QpState::error) {
    to_error(engine, id);
  } else if (!set_attributes(engine, id, from, to, attributes)) {
    return ModifyResult::invalid_attribute;
  }
  qp.state = to;
  if (to == QpState::rts) {
    qp.requester.halted = false;
    start(engine, id, {});
  }
  return ModifyResult::ok;
}

void to_error(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  if (qp.state == QpState::error) return;
  qp.state = QpState::error;
  flush_sends(engine, id);
  flush_receives(engine, id);
}

void send_failed(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  if (qp.type == QpType::rc) return to_error(engine, id);
  qp.state = QpState::sqe;
  flush_sends(engine, id);
}

}  // namespace loco::nic
