#include "nic_model/verbs/queue_pair.hpp"

#include <algorithm>

#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/retransmit.hpp"

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

/// Drops what there is to send, without a CQE. Numbers go on, so that what is on its way finds nothing.
void reset_requester(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  stop_timer(engine, id);
  rq.first += static_cast<std::uint32_t>(rq.queue.size());
  for (; !rq.queue.empty(); rq.queue.pop_front()) release_entry(engine, rq.queue.front());
  rq.reaped = rq.rung = rq.fetched = rq.started = rq.payload_next = rq.transmit_next = rq.completed = rq.first;
  withdraw_message(engine, id, false);
  rq.outstanding = 0;
  rq.fetch_cancelled = rq.fetching;
  rq.una = rq.unsent_psn = rq.next_psn;
  rq.halted = rq.rnr_wait = rq.recovering = false;
}

/// Drops what waits for its turn, and what is kept for requests that come again.
void reset_disorder(Engine& engine, Responder& rs) {
  if (*rs.disorder == Disorder{}) return;
  Disorder& held = rs.disorder.edit();
  for (; !held.waiting.empty(); held.waiting.pop_front()) engine.release(held.waiting.front().packet.buffer);
  for (; !held.early.empty(); held.early.pop_front()) engine.release(held.early.front().packet.buffer);
  held.replays.clear();
  held.read_stream.clear();
  held.refused = kNone;
}

/// Drops what there is to answer, and tells a peer that waits for it.
void reset_responder(Engine& engine, QpId id) {
  State& s = engine.state;
  QueuePair& qp = s.qps[id];
  Responder& rs = qp.responder;
  const bool dropped = !rs.responses.empty() || !rs.disorder->waiting.empty() || !rs.disorder->early.empty();
  for (; !rs.responses.empty(); rs.responses.pop_front(), ++rs.first) {
    engine.release(rs.responses.front().buffer);
    s.events.cancel(rs.responses.front().turn);
  }
  withdraw_message(engine, id, true);
  rs.long_reads = rs.long_reads_done = 0;
  rs.blocked = false;
  reset_disorder(engine, rs);
  if (dropped && s.qps[qp.peer].peer == id) expect_no_answer(engine, qp.peer);
  rs.nak_sent = rs.receiving = rs.in_message = rs.write_valid = false;
}

/// All that is left of the past is dropped.
void reset(Engine& engine, QpId id) {
  State& s = engine.state;
  reset_requester(engine, id);
  reset_responder(engine, id);
  forget_completions(engine, id);
  const std::uint32_t queue = s.qps[id].responder.queue;
  if (queue == kNone || s.receive_queues[queue].owner != id) return;  // none, or shared with others
  s.receive_queues[queue].entries.clear();
  s.receive_queues[queue].visible = 0;
}

bool set_peer(const State& s, QpId id, QueuePair& qp, const QpAttributes& a) {
  if (qp.type == QpType::ud) return true;
  if (a.dest_qp >= s.qps.size() || a.dest_qp == id || s.qps[a.dest_qp].type != qp.type) return false;
  qp.peer = a.dest_qp;
  qp.peer_node = s.qps[a.dest_qp].node;
  return true;
}

/// The attributes that SQD -> SQD may set, and RTR -> RTS must; `all`: those that are left out as well.
void set_limits(QueuePair& qp, const QpAttributes& a, std::uint32_t most, bool all) {
  const QpAttributes none;
  Requester& rq = qp.requester;
  QpSettings& s = qp.settings;
  if (all || a.max_rd_atomic != 0) {
    s.max_rd_atomic = static_cast<std::uint16_t>(a.max_rd_atomic == 0 ? most : a.max_rd_atomic);
  }
  if (all || a.timeout != none.timeout) s.timeout = a.timeout;
  if (all || a.retry_count != none.retry_count) rq.retries = s.retry_count = static_cast<std::uint8_t>(a.retry_count);
  if (all || a.rnr_retry != none.rnr_retry) rq.rnr_retries = s.rnr_retry = static_cast<std::uint8_t>(a.rnr_retry);
}

/// Would it change what only RTR, RTS or SQD -> SQD may set? What is given as it is already does no harm.
bool changes_limits(const QueuePair& qp, const QpAttributes& a) {
  const QpAttributes none;
  const QpSettings& s = qp.settings;
  const auto changes = [](const auto& given, const auto& left_out, const auto& is) {
    return given != left_out && given != is;
  };
  return changes(a.max_rd_atomic, 0U, std::uint32_t{s.max_rd_atomic}) ||
         changes(a.max_dest_rd_atomic, 0U, std::uint32_t{s.max_dest_rd_atomic}) ||
         changes(a.timeout, none.timeout, s.timeout) ||
         changes(a.retry_count, none.retry_count, std::uint32_t{s.retry_count}) ||
         changes(a.rnr_retry, none.rnr_retry, std::uint32_t{s.rnr_retry});
}

/// To RTR: the peer, and what the responder goes by. False when there is no such peer.
bool set_at_rtr(const State& s, QpId id, QueuePair& qp, const QpAttributes& a, std::uint32_t most) {
  if (!set_peer(s, id, qp, a)) return false;
  qp.settings.min_rnr_timer = a.min_rnr_timer;
  qp.settings.max_dest_rd_atomic = static_cast<std::uint16_t>(a.max_dest_rd_atomic == 0 ? most : a.max_dest_rd_atomic);
  qp.responder.expected_psn = qp.responder.done_psn = fabric::Psn(a.rq_psn);
  return true;
}

/// To RTS, or within RTS, SQD and SQE: RTR -> RTS sets what the requester goes by, SQD -> SQD may change that and what
/// the responder keeps, the others may not.
bool set_requester(QueuePair& qp, QpState from, QpState to, const QpAttributes& a, std::uint32_t most) {
  if (to == QpState::rts && from == QpState::rtr) {
    set_limits(qp, a, most, true);
    qp.requester.next_psn = qp.requester.unsent_psn = qp.requester.una = fabric::Psn(a.sq_psn);
    return true;
  }
  const bool other_peer = qp.type != QpType::ud && a.dest_qp != kNone && a.dest_qp != qp.peer;
  if (other_peer) return false;
  if (to != QpState::sqd || from != QpState::sqd) return !changes_limits(qp, a);
  set_limits(qp, a, most, false);
  if (a.max_dest_rd_atomic != 0) qp.settings.max_dest_rd_atomic = static_cast<std::uint16_t>(a.max_dest_rd_atomic);
  return true;
}

/// The RNR timer and the Q_Key, which most transitions from RTR on take.
bool set_late(QueuePair& qp, QpState from, QpState to, const QpAttributes& a) {
  const bool to_sqd = from == QpState::rts && to == QpState::sqd;
  const bool timer = a.min_rnr_timer != sim::Duration{} && a.min_rnr_timer != qp.settings.min_rnr_timer;
  if (timer && (to_sqd || from == QpState::sqe)) return false;
  if (timer) qp.settings.min_rnr_timer = a.min_rnr_timer;
  if (qp.type == QpType::ud && a.qkey != 0) qp.qkey = a.qkey;
  return true;
}

/// Which attributes a transition takes: ibv_modify_qp(3). What it does not take and would change is refused.
bool set_attributes(Engine& engine, QpId id, QpState from, QpState to, const QpAttributes& a) {
  QueuePair& qp = engine.state.qps[id];
  const std::uint32_t most = engine.profile().nic_max_rd_atomic;
  if (a.max_rd_atomic > most || a.max_dest_rd_atomic > most || a.retry_count > 7 || a.rnr_retry > 7) return false;
  if (to == QpState::init) {
    if (from == QpState::reset || a.qkey != 0) qp.qkey = a.qkey;
    return true;
  }
  if (to == QpState::rtr) return set_at_rtr(engine.state, id, qp, a, most);
  return set_requester(qp, from, to, a, most) && set_late(qp, from, to, a);
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
  if (from == QpState::sqe) qp.requester.halted = false;
  if (to == QpState::rts) start(engine, id, {});
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
