#include "nic_model/verbs/queue_pair.hpp"

#include <algorithm>
#include <bit>

#include "nic_model/connection/completion_queue.hpp"
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

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

/// Discards everything that remains of the queue pair's past.
void reset(Engine& engine, QpId id) {
  Requester& rq = engine.requesters[id];
  Responder& rs = engine.responders[id];
  rq.reset(engine, id);
  LOCO_PROBE(queue_pair_reset);
  rs.reset(engine, id);
  if (engine.kernel.controls()) engine.contexts[id].forget_congestion();
  // IBTA volume 1, 10.2.4.4: what a RESET leaves of the queue pair's CQEs is up to the consumer; libraries such as
  // libmlx5 remove them from the queue. CQEs in flight are lost as well.
  for (const CqId cq : {rq.cq(), rs.cq()}) engine.cqs[cq].forget(id);
  for (const std::uint32_t domain : {rq.domain(), rs.domain()}) forget_cqes(engine, domain, id);
  const std::uint32_t queue = rs.receive_queue();
  if (queue == kNone || engine.receive_queues[queue].owner() != id) return;  // no receive queue, or a shared one
  engine.receive_queues[queue].clear();
}

bool set_peer(Engine& engine, QpId id, const QpAttributes& a) {
  Connection& qp = engine.connections[id];
  if (qp.type() == QpType::ud) return true;
  if (a.dest_qp >= engine.connections.size()) return false;
  const Connection& peer = engine.connections[a.dest_qp];
  if (peer.type() != qp.type()) return false;
  qp.set_peer(a.dest_qp, peer);
  return true;
}

/// Sets the attributes that SQD -> SQD may set and RTR -> RTS must. With `all`, those left out get their defaults.
void set_limits(Engine& engine, Connection& qp, Requester& rq, const QpAttributes& a, std::uint32_t most, bool all) {
  const QpAttributes none;
  QpSettings s = qp_settings(engine, qp);
  if (all || a.max_rd_atomic != 0) {
    s.max_rd_atomic = static_cast<std::uint16_t>(a.max_rd_atomic == 0 ? most : a.max_rd_atomic);
  }
  if (all || a.timeout != none.timeout) s.timeout = a.timeout;
  if (all || a.retry_count != none.retry_count) {
    s.retry_count = static_cast<std::uint8_t>(a.retry_count);
    rq.set_retries(s.retry_count);
  }
  if (all || a.rnr_retry != none.rnr_retry) {
    s.rnr_retry = static_cast<std::uint8_t>(a.rnr_retry);
    rq.set_rnr_retries(s.rnr_retry);
  }
  qp.set_settings(number_of(engine.settings, s));
}

/// True if this would change an attribute that only RTR, RTS or SQD -> SQD may set. Giving the current value is
/// allowed.
bool changes_limits(const Engine& engine, const Connection& qp, const QpAttributes& a) {
  const QpAttributes none;
  const QpSettings& s = qp_settings(engine, qp);
  const auto changes = [](const auto& given, const auto& left_out, const auto& is) {
    return given != left_out && given != is;
  };
  return changes(a.max_rd_atomic, 0U, std::uint32_t{s.max_rd_atomic}) ||
         changes(a.max_dest_rd_atomic, 0U, std::uint32_t{s.max_dest_rd_atomic}) ||
         changes(a.path_mtu, 0U, std::uint32_t{s.path_mtu}) || changes(a.timeout, none.timeout, s.timeout) ||
         changes(a.retry_count, none.retry_count, std::uint32_t{s.retry_count}) ||
         changes(a.rnr_retry, none.rnr_retry, std::uint32_t{s.rnr_retry});
}

void set_max_dest_rd_atomic(Engine& engine, Connection& qp, std::uint32_t most) {
  QpSettings s = qp_settings(engine, qp);
  s.max_dest_rd_atomic = static_cast<std::uint16_t>(most);
  qp.set_settings(number_of(engine.settings, s));
}

void set_min_rnr_timer(Engine& engine, Connection& qp, sim::Duration timer) {
  QpSettings s = qp_settings(engine, qp);
  s.min_rnr_timer = timer;
  qp.set_settings(number_of(engine.settings, s));
}

/// False for an MTU that verbs do not have or the port does not support (ibv_modify_qp: EINVAL).
bool set_path_mtu(Engine& engine, Connection& qp, std::uint32_t mtu) {
  const std::uint64_t most = engine.profile(qp.node()).link_mtu.count;
  QpSettings s = qp_settings(engine, qp);
  s.path_mtu = 0;
  if (mtu != 0 && mtu != most) {
    if (mtu > most || mtu < 256 || mtu > 4096 || !std::has_single_bit(mtu)) return false;
    if (qp.type() != QpType::ud && !engine.network.whole_messages()) s.path_mtu = static_cast<std::uint16_t>(mtu);
  }
  qp.set_settings(number_of(engine.settings, s));
  return true;
}

/// Transition to RTR: sets the peer and the responder's attributes. False if there is no such peer or MTU.
bool set_at_rtr(Engine& engine, QpId id, const QpAttributes& a, std::uint32_t most) {
  Connection& qp = engine.connections[id];
  if (!set_path_mtu(engine, qp, a.path_mtu) || !set_peer(engine, id, a)) return false;
  set_min_rnr_timer(engine, qp, a.min_rnr_timer);
  set_max_dest_rd_atomic(engine, qp, a.max_dest_rd_atomic == 0 ? most : a.max_dest_rd_atomic);
  engine.responders[id].set_psn(fabric::Psn(a.rq_psn));
  return true;
}

/// Transitions to RTS, or within RTS, SQD and SQE. RTR -> RTS sets the requester's attributes; SQD -> SQD may change
/// them and the responder's limit; the others may not.
bool set_requester(Engine& engine, Connection& qp, Requester& rq, QpState to, const QpAttributes& a,
                   std::uint32_t most) {
  if (to == QpState::rts && qp.state() == QpState::rtr) {
    set_limits(engine, qp, rq, a, most, true);
    rq.set_psn(fabric::Psn(a.sq_psn));
    return true;
  }
  const bool other_peer = qp.type() != QpType::ud && a.dest_qp != kNone && a.dest_qp != qp.peer();
  if (other_peer) return false;
  if (to != QpState::sqd || qp.state() != QpState::sqd) return !changes_limits(engine, qp, a);
  set_limits(engine, qp, rq, a, most, false);
  if (a.max_dest_rd_atomic != 0) set_max_dest_rd_atomic(engine, qp, a.max_dest_rd_atomic);
  return true;
}

/// Sets the RNR timer and the Q_Key, which most transitions from RTR on accept.
bool set_late(Engine& engine, Connection& qp, QpState to, const QpAttributes& a) {
  const bool to_sqd = qp.state() == QpState::rts && to == QpState::sqd;
  const bool timer = a.min_rnr_timer != sim::Duration{} && a.min_rnr_timer != qp_settings(engine, qp).min_rnr_timer;
  if (timer && (to_sqd || qp.state() == QpState::sqe)) return false;
  if (timer) set_min_rnr_timer(engine, qp, a.min_rnr_timer);
  if (qp.type() == QpType::ud && a.qkey != 0) qp.set_qkey(a.qkey);
  return true;
}

/// Sets the attributes that a transition accepts (ibv_modify_qp(3)). Refuses a change of any other attribute.
bool set_attributes(Engine& engine, QpId id, QpState to, const QpAttributes& a) {
  Connection& qp = engine.connections[id];
  const std::uint32_t most = engine.profile(qp.node()).nic_max_rd_atomic;
  if (a.max_rd_atomic > most || a.max_dest_rd_atomic > most || a.retry_count > 7 || a.rnr_retry > 7) return false;
  if (to == QpState::init) {
    if (qp.state() == QpState::reset || a.qkey != 0) qp.set_qkey(a.qkey);
    return true;
  }
  if (to == QpState::rtr) return set_at_rtr(engine, id, a, most);
  return set_requester(engine, qp, engine.requesters[id], to, a, most) && set_late(engine, qp, to, a);
}

}  // namespace

ModifyResult modify(Engine& engine, QpId id, QpState to, const QpAttributes& attributes) {
  Connection& qp = engine.connections[id];
  const QpState from = qp.state();
  if (!allowed(qp.type(), from, to)) return ModifyResult::invalid_transition;
  if (to == QpState::reset) {
    reset(engine, id);
  } else if (to == QpState::error) {
    to_error(engine, id);
  } else if (!set_attributes(engine, id, to, attributes)) {
    return ModifyResult::invalid_attribute;
  }
  qp.enter(to);
  if (from == QpState::sqe) engine.requesters[id].resume();
  if (to == QpState::rts) engine.requesters[id].start(engine, id, {});
  return ModifyResult::ok;
}

void to_error(Engine& engine, QpId id) {
  Connection& qp = engine.connections[id];
  if (qp.state() == QpState::error) return;
  qp.enter(QpState::error);
  LOCO_PROBE(queue_pair_in_error);
  engine.requesters[id].flush(engine, id);
  engine.responders[id].flush_receives(engine, id);
}

void send_failed(Engine& engine, QpId id) {
  Connection& qp = engine.connections[id];
  if (qp.type() == QpType::rc) return to_error(engine, id);
  LOCO_PROBE(send_queue_error);
  qp.enter(QpState::sqe);
  engine.requesters[id].flush(engine, id);
}

}  // namespace loco::nic
