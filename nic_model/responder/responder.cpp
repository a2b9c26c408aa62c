#include "nic_model/responder/responder.hpp"

#include "nic_model/connection/failure.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/no_answer.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using fabric::NakCode;
using fabric::Psn;
using Op = fabric::Opcode;
}  // namespace

/// Checks access to the memory that a request names; none: allowed.
NakCode access_refused(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  if (packet.opcode == Op::send) return NakCode::none;
  std::uint8_t access = kRemoteWrite;
  if (packet.opcode == Op::read_request) access = kRemoteRead;
  if (is_atomic(packet.opcode)) {
    if (packet.address % 8 != 0) return NakCode::invalid_request;
    access = kRemoteAtomic;
  }
  if (packet.total == 0) return NakCode::none;  // no access, so no key is needed (IBTA 9.7.4.1.4)
  // ConnectX gives this answer for a different protection domain (rdma-core, tests/test_mr.py, test_mr_rereg_pd).
  if (!in_domain(engine, qp, packet.rkey)) return NakCode::remote_operational_error;
  return may_serve(engine, qp, packet.rkey, packet.address, packet.total, access) ? NakCode::none
                                                                                  : NakCode::remote_access_error;
}

/// PSNs that a request takes; a READ takes those of its responses.
std::uint32_t psns_of(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  return packet.opcode == Op::read_request ? packets_of(engine, qp, packet.total) : 1;
}

/// Reports a request that will never be answered.
void Responder::no_answer(Engine& engine, const fabric::Packet& packet) const {
  if (policy_of(engine, packet.destination_qp).recovery.timer_always_runs() || !packet.last) return;
  // Requests after a refused one need no report of their own: that one's NAK is in flight.
  const std::uint32_t refused = disorder().refused;
  const bool behind = refused != kNone && static_cast<std::int32_t>(packet.wqe - refused) >= 0 &&
                      engine.connections[packet.destination_qp].peer() == packet.source_qp;
  LOCO_PROBE(request_without_answer);
  send_no_answer(engine, packet.destination, packet.source,
                 {.requester = packet.source_qp,
                  .responder = packet.destination_qp,
                  .refused = behind ? refused : kNone,
                  .since = engine.now()});
}

void Responder::acknowledge(Engine& engine, QpId id, const fabric::Packet& packet, Psn psn) {
  if (!packet.ack_request) return;
  push_response(engine, id,
                {.opcode = Op::ack, .ready = true, .psn = psn, .wqe = packet.wqe, .available = engine.now()});
}

void Responder::refuse(Engine& engine, QpId id, const fabric::Packet& packet, NakCode nak, std::uint64_t value) {
  push_response(engine, id,
                {.opcode = Op::nak,
                 .nak = nak,
                 .ready = true,
                 .psn = packet.psn,
                 .wqe = packet.wqe,
                 .value = value,
                 .available = engine.now()});
}

NakCode Responder::take_write(Engine& engine, QpId id, const fabric::Packet& packet, bool executed) {
  if (!executed) place_write(engine, id, packet);
  if (packet.immediate) complete_immediate(engine, id, packet);
  return NakCode::none;
}

NakCode Responder::take_send(Engine& engine, QpId id, const fabric::Packet& packet) {
  switch (place_send(engine, id, packet, {})) {
    case Status::success:
      return NakCode::none;
    case Status::loc_len_err:
      return NakCode::invalid_request;
    default:
      return NakCode::remote_operational_error;
  }
}

/// No receive work request for this packet: sends an RNR NAK. This packet and the later ones are dropped until it comes
/// again.
void Responder::not_ready(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  for (std::size_t i = 0; i < disorder().waiting.size(); ++i) {
    Arrival& later = edit_disorder().waiting[i];
    if (later.packet.psn.distance(packet.psn) < 0) continue;  // part of what has been executed
    LOCO_PROBE(dropped_behind_rnr_nak);
    engine.release(later.packet.buffer);
    later.fate = Fate::dropped;
  }
  tell_of_message(engine, id, packet, false);
  expected_psn_ = packet.psn;
  nak_sent_ = true;
  LOCO_PROBE(receiver_not_ready);
  engine.count(&Counters::rnr_naks);
  const sim::Duration given = qp_settings(engine, qp).min_rnr_timer;
  const sim::Duration wait = given == sim::Duration{} ? kRnrTimerCode0 : given;
  refuse(engine, id, packet, NakCode::receiver_not_ready, static_cast<std::uint64_t>(wait.ps));
}

/// True if a message begins where the previous one has ended (IBTA volume 1, 9.7.4.1: OpCode sequence). It may not if
/// the peer alone was RESET and reuses PSNs: packets that look like repetitions are dropped here, and the first one
/// that does not may be in the middle of a message.
bool Responder::in_sequence(const Engine& engine, const fabric::Packet& packet) const {
  return packet.first != in_message_ || engine.fault(Fault::responder_reorders);
}

/// True if a packet has as much payload as this end's path MTU requires. A peer with another path MTU sends other
/// lengths.
bool Responder::fits(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  const bool has_payload = packet.opcode == Op::write || packet.opcode == Op::send;
  return !has_payload || fits_path(engine, qp, packet.length, packet.last, packet.total);
}

/// True if the responder has as many READs and atomics in progress as it has resources for (IBTA volume 1, 9.7.7.2 and
/// C9-150: exceeding the responder's resources violates the protocol). Repeated ones do not count.
bool Responder::out_of_resources(const Engine& engine, const Connection& qp) const {
  if (responses_.size() < qp_settings(engine, qp).max_dest_rd_atomic) return false;
  std::uint32_t under_way = 0;
  for (std::size_t i = 0; i < responses_.size(); ++i) {
    const Response& r = responses_[i];
    if (!r.again && (r.opcode == Op::read_response || r.opcode == Op::atomic_response)) ++under_way;
  }
  return under_way >= qp_settings(engine, qp).max_dest_rd_atomic;
}

/// Executes a request or refuses it. `executed`: with out-of-order placement it has accessed memory already.
void Responder::execute_fresh(Engine& engine, QpId id, const fabric::Packet& packet, bool executed) {
  const Connection& qp = engine.connections[id];
  if (qp_settings(engine, qp).xrc) choose_queue(engine, qp.node(), packet);
  NakCode nak = packet.first || !write_valid_ ? access_refused(engine, qp, packet) : NakCode::none;
  if (!in_sequence(engine, packet)) {
    LOCO_PROBE(message_begins_in_the_middle);
    nak = NakCode::invalid_request;
  } else if (!fits(engine, qp, packet)) {
    LOCO_PROBE(request_of_another_path_mtu);
    nak = NakCode::invalid_request;
  }
  const bool takes_resources = packet.opcode == Op::read_request || is_atomic(packet.opcode);
  if (takes_resources && !executed && out_of_resources(engine, qp)) {
    LOCO_PROBE(responder_out_of_resources);
    nak = NakCode::invalid_request;
  }
  write_valid_ = nak == NakCode::none;
  if (nak == NakCode::none && needs_receive(packet) && !can_receive(engine)) return not_ready(engine, id, packet);
  done_psn_ = packet.psn + psns_of(engine, qp, packet);
  in_message_ = !packet.last;
  if (nak == NakCode::none && packet.opcode == Op::write) nak = take_write(engine, id, packet, executed);
  if (nak == NakCode::none && packet.opcode == Op::send) nak = take_send(engine, id, packet);
  if (nak != NakCode::none) {
    LOCO_PROBE(responder_refuses);
    refuse(engine, id, packet, nak);
    edit_disorder().refused = packet.wqe;
    return announce(engine, ConnectionFailed{id});
  }
  if (packet.opcode == Op::read_request) {
    if (!executed) take_read(engine, id, packet);
    return;
  }
  if (is_atomic(packet.opcode)) return executed ? void() : take_atomic(engine, id, packet);
  acknowledge(engine, id, packet, packet.psn);
}

/// An executed request arrives again, because its answer was lost or is late (IBTA volume 1, 9.7.5.1.2).
void Responder::execute_again(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  if (packet.opcode == Op::read_request) {
    LOCO_PROBE(duplicate_read);
    if (access_refused(engine, qp, packet) != NakCode::none) return no_answer(engine, packet);
    take_read(engine, id, packet, true);
  } else if (is_atomic(packet.opcode)) {
    if (engine.fault(Fault::atomic_replayed)) return take_atomic(engine, id, packet);
    for (std::size_t i = 0; i < disorder().replays.size(); ++i) {
      if (disorder().replays[i].psn != packet.psn) continue;
      LOCO_PROBE(duplicate_atomic_replayed);
      push_response(engine, id,
                    {.opcode = Op::atomic_response,
                     .ready = true,
                     .psn = packet.psn,
                     .wqe = packet.wqe,
                     .value = disorder().replays[i].value,
                     .again = true,
                     .available = engine.now()});
      return;
    }
    LOCO_PROBE(duplicate_atomic_forgotten);
    no_answer(engine, packet);
  } else {
    LOCO_PROBE(duplicate_write_or_send);
    acknowledge(engine, id, packet, done_psn_ + Psn::kMask);  // up to the last one executed, perhaps a later one
  }
}

void Responder::execute(Engine& engine, QpId id, const Arrival& arrival) {
  const Connection& qp = engine.connections[id];
  const fabric::Packet& packet = arrival.packet;
  if (arrival.fate == Fate::dropped) return;
  if (!qp.takes_requests()) {
    LOCO_PROBE(request_in_error_state);
    no_answer(engine, packet);
  } else if (arrival.fate == Fate::fresh) {
    execute_fresh(engine, id, packet, false);
  } else if (arrival.fate == Fate::duplicate) {
    execute_again(engine, id, packet);
  } else if (packet.psn == expected_psn_) {  // the missing packet has not arrived while this one waited
    refuse(engine, id, packet, NakCode::psn_sequence_error);
  }
  engine.release(packet.buffer);
}

void Responder::execute_waiting(Engine& engine, QpId id) {
  while (!blocked_ && !disorder().waiting.empty()) {
    const Arrival arrival = disorder().waiting.front();
    edit_disorder().waiting.pop_front();
    execute(engine, id, arrival);
  }
  execute_in_turn(engine, id);
}

/// Decides by its PSN what to do with a request packet that has just arrived.
Fate Responder::classify(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  const std::int32_t ahead = packet.psn.distance(expected_psn_);
  if (ahead < 0) return Fate::duplicate;
  if (ahead == 0) {
    expected_psn_ = packet.psn + psns_of(engine, qp, packet);
    nak_sent_ = false;
    return Fate::fresh;
  }
  if (nak_sent_ || !policy_of(engine, qp).recovery.naks_gaps) {
    LOCO_PROBE(dropped_behind_gap);
    return Fate::dropped;
  }
  LOCO_PROBE(gap_in_psns);
  nak_sent_ = true;
  return Fate::gap;
}

void Responder::take_in_order(Engine& engine, QpId id, const fabric::Packet& packet, Fate fate) {
  const bool at_once = !blocked_ && disorder().waiting.empty();
  if (fate == Fate::fresh && at_once) {
    execute_fresh(engine, id, packet, false);
    return engine.release(packet.buffer);
  }
  Arrival arrival{packet, fate};
  if (fate == Fate::gap || fate == Fate::dropped) {
    engine.release(packet.buffer);
    arrival.packet.buffer = fabric::kNoBuffer;
    arrival.packet.psn = expected_psn_;
    if (fate == Fate::dropped) return;
  }
  if (at_once) {
    execute(engine, id, arrival);
  } else {
    edit_disorder().waiting.push_back(arrival);
  }
}

void Responder::request_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Connection& qp = engine.connections[id];
  const DeliveryPolicy& policy = policy_of(engine, qp);
  if (!policy.acknowledges() || packet.opcode == Op::datagram) return take_unreliable(engine, packet);
  if (!qp.takes_requests() || packet.source_qp != qp.peer()) {
    LOCO_PROBE(request_of_a_past_connection);
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  if (policy.order.overtakes()) {
    if (!policy.order.any_packet_next) {
      return policy.order.when_whole ? take_whole(engine, id, packet) : take_out_of_order(engine, id, packet);
    }
    return let_loose(engine, id, packet, !policy.order.writes_early && packet.opcode != Op::read_request);
  }
  const Fate fate = classify(engine, qp, packet);
  if (engine.fault(Fault::responder_reorders)) return let_loose(engine, id, packet, false);
  take_in_order(engine, id, packet, fate);
}

void Responder::reset(Engine& engine, QpId id) {
  break_read(engine, id);
  const Connection& qp = engine.connections[id];
  const bool dropped = !responses_.empty() || !disorder().waiting.empty() || !disorder().reorder.empty();
  for (; !responses_.empty(); responses_.pop_front(), ++first_) {
    engine.release(responses_.front().buffer);
    engine.cancel(responses_.front().turn);
  }
  withdraw_message(engine, id, true);
  if (further_->long_reads != 0) further_.edit().long_reads = further_.edit().long_reads_done = 0;
  blocked_ = false;
  reset_disorder(engine);
  const bool waits = dropped && policy_of(engine, qp).acknowledges() && qp.peer() != kNone;
  if (waits && !policy_of(engine, qp).recovery.timer_always_runs()) {
    LOCO_PROBE(reset_drops_requests);
    send_no_answer(engine, port_of(engine, qp), peer_port_of(engine, qp),
                   {.requester = qp.peer(), .responder = id, .since = engine.now()});
  }
  nak_sent_ = receiving_ = in_message_ = write_valid_ = false;
}

}  // namespace loco::nic
