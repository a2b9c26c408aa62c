#include "nic_model/responder/responder.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/records.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/placing.hpp"
#include "nic_model/responder/receives.hpp"
#include "nic_model/responder/responses.hpp"
#include "nic_model/responder/unreliable.hpp"
#include "nic_model/verbs/queue_pair.hpp"

namespace loco::nic {

namespace {

using fabric::NakCode;
using fabric::Psn;
using Op = fabric::Opcode;

/// Out of order, what comes for so many PSNs from the expected one on is kept; what comes for later ones is dropped,
/// and the requester's timer has it sent again.
constexpr std::int32_t kReorderWindow = 1 << 14;

/// A request that nobody will answer has come.
void no_answer(Engine& engine, const fabric::Packet& packet) {
  if (engine.lossy() || !packet.last) return;
  Requester& source = engine.requesters[packet.source_qp];
  // What comes behind a request that was refused needs no answer of its own: that one's NAK is on its way.
  const std::uint32_t refused = engine.responders[packet.destination_qp].disorder->refused;
  const bool behind = refused != kNone && static_cast<std::int32_t>(packet.wqe - refused) >= 0 &&
                      engine.connections[packet.destination_qp].peer() == packet.source_qp;
  if (behind && source.waits_for(refused)) return;
  source.expect_no_answer(engine, packet.source_qp);
}

/// May the memory that a request names be accessed?
NakCode check(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  if (packet.opcode == Op::send) return NakCode::none;
  std::uint8_t access = kRemoteWrite;
  if (packet.opcode == Op::read_request) access = kRemoteRead;
  if (is_atomic(packet.opcode)) {
    if (packet.address % 8 != 0) return NakCode::invalid_request;
    access = kRemoteAtomic;
  }
  if (packet.total == 0) return NakCode::none;  // nothing is accessed: no key is needed (IBTA 9.7.4.1.4)
  return engine.allowed(packet.rkey, qp.node(), packet.address, packet.total, access) ? NakCode::none
                                                                                    : NakCode::remote_access_error;
}

void acknowledge(Engine& engine, QpId id, const fabric::Packet& packet, Psn psn) {
  if (!packet.ack_request) return;
  push_response(engine, id,
                {.opcode = Op::ack, .ready = true, .psn = psn, .wqe = packet.wqe, .available = engine.now()});
}

void refuse(Engine& engine, QpId id, const fabric::Packet& packet, NakCode nak, std::uint64_t value = 0) {
  push_response(engine, id,
                {.opcode = Op::nak,
                 .nak = nak,
                 .ready = true,
                 .psn = packet.psn,
                 .wqe = packet.wqe,
                 .value = value,
                 .available = engine.now()});
}

NakCode take_write(Engine& engine, QpId id, const fabric::Packet& packet, bool executed) {
  if (!executed) place_write(engine, id, packet);
  if (packet.immediate) complete_immediate(engine, id, packet);
  return NakCode::none;
}

NakCode take_send(Engine& engine, QpId id, const fabric::Packet& packet) {
  switch (place_send(engine, id, packet, {})) {
    case Status::success:
      return NakCode::none;
    case Status::loc_len_err:
      return NakCode::invalid_request;
    default:
      return NakCode::remote_operational_error;
  }
}

/// PSNs that a request takes: a READ's are those of its responses.
std::uint32_t psns_of(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  return packet.opcode == Op::read_request ? packets_of(engine, qp, packet.total) : 1;
}

/// There is no receive work request for this packet: an RNR NAK. Neither it nor what has come behind it is taken, until
/// it comes again.
void not_ready(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  for (std::size_t i = 0; i < rs.disorder->waiting.size(); ++i) {
    Arrival& later = rs.disorder.edit().waiting[i];
    if (later.packet.psn.distance(packet.psn) < 0) continue;  // of what has been executed
    engine.release(later.packet.buffer);
    later.fate = Fate::dropped;
  }
  rs.expected_psn = packet.psn;
  rs.nak_sent = true;
  engine.count(&Counters::rnr_naks);
  const sim::Duration given = qp.settings().min_rnr_timer;
  const sim::Duration wait = given == sim::Duration{} ? kRnrTimerCode0 : given;
  refuse(engine, id, packet, NakCode::receiver_not_ready, static_cast<std::uint64_t>(wait.ps));
}

/// Does a message begin where the one before it has ended? (IBTA volume 1, 9.7.4.1: OpCode sequence) A peer that was
/// RESET alone uses PSNs again: those that are taken for repetitions here are dropped, and the first that is not may be
/// in the middle of a message.
bool in_sequence(const Engine& engine, const Responder& rs, const fabric::Packet& packet) {
  return packet.first != rs.in_message || engine.fault(Fault::responder_reorders);
}

/// Does it begin a message that takes a receive, or end one?
bool needs_receive(const fabric::Packet& packet) { return packet.opcode == Op::send ? packet.first : packet.immediate; }

/// Has the responder as many READs and atomics under way as it has resources for? (IBTA volume 1, 9.7.7.2 and C9-150:
/// a requester with more than the responder's resources violates the protocol) Answers to repetitions do not count.
bool out_of_resources(const Connection& qp, const Responder& rs) {
  if (rs.responses.size() < qp.settings().max_dest_rd_atomic) return false;
  std::uint32_t under_way = 0;
  for (std::size_t i = 0; i < rs.responses.size(); ++i) {
    const Response& r = rs.responses[i];
    if (!r.again && (r.opcode == Op::read_response || r.opcode == Op::atomic_response)) ++under_way;
  }
  return under_way >= qp.settings().max_dest_rd_atomic;
}

/// Executes a request, or refuses it. `executed`: out of order, the memory that it names has been accessed already.
void execute_fresh(Engine& engine, QpId id, const fabric::Packet& packet, bool executed) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  NakCode nak = packet.first || !rs.write_valid ? check(engine, qp, packet) : NakCode::none;
  if (!in_sequence(engine, rs, packet)) nak = NakCode::invalid_request;
  const bool takes_resources = packet.opcode == Op::read_request || is_atomic(packet.opcode);
  if (takes_resources && !executed && out_of_resources(qp, rs)) nak = NakCode::invalid_request;
  rs.write_valid = nak == NakCode::none;
  if (nak == NakCode::none && needs_receive(packet) && !can_receive(engine, id)) return not_ready(engine, id, packet);
  rs.done_psn = packet.psn + psns_of(engine, qp, packet);
  rs.in_message = !packet.last;
  if (nak == NakCode::none && packet.opcode == Op::write) nak = take_write(engine, id, packet, executed);
  if (nak == NakCode::none && packet.opcode == Op::send) nak = take_send(engine, id, packet);
  if (nak != NakCode::none) {
    refuse(engine, id, packet, nak);
    rs.disorder.edit().refused = packet.wqe;
    return to_error(engine, id);
  }
  if (packet.opcode == Op::read_request) {
    if (!executed) take_read(engine, id, packet);
    return;
  }
  if (is_atomic(packet.opcode)) return take_atomic(engine, id, packet);
  acknowledge(engine, id, packet, packet.psn);
}

/// A request that has been executed comes again: its answer was lost, or is late (IBTA volume 1, 9.7.5.1.2).
void execute_again(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  if (packet.opcode == Op::read_request) {
    if (check(engine, qp, packet) != NakCode::none) return no_answer(engine, packet);
    take_read(engine, id, packet, true);
  } else if (is_atomic(packet.opcode)) {
    for (std::size_t i = 0; i < rs.disorder->replays.size(); ++i) {
      if (rs.disorder->replays[i].psn != packet.psn) continue;
      push_response(engine, id,
                    {.opcode = Op::atomic_response,
                     .ready = true,
                     .psn = packet.psn,
                     .wqe = packet.wqe,
                     .value = rs.disorder->replays[i].value,
                     .again = true,
                     .available = engine.now()});
      return;
    }
    no_answer(engine, packet);
  } else {
    acknowledge(engine, id, packet, rs.done_psn + Psn::kMask);  // the last one executed: it may be a later one
  }
}

void execute(Engine& engine, QpId id, const Arrival& arrival) {
  const Connection& qp = engine.connections[id];
  const fabric::Packet& packet = arrival.packet;
  if (arrival.fate == Fate::dropped) return;
  if (!qp.takes_requests()) {
    no_answer(engine, packet);
  } else if (arrival.fate == Fate::fresh) {
    execute_fresh(engine, id, packet, false);
  } else if (arrival.fate == Fate::duplicate) {
    execute_again(engine, id, packet);
  } else if (packet.psn == engine.responders[id].expected_psn) {  // what is missing has not come while this one was waiting
    refuse(engine, id, packet, NakCode::psn_sequence_error);
  }
  engine.release(packet.buffer);
}

/// Out of order: what has come and is next. In ERROR it gets no answer.
void execute_in_turn(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  while (!rs.blocked && !rs.disorder->early.empty() && rs.disorder->early.front().present) {
    const bool taken = qp.takes_requests();
    const Early early = rs.disorder->early.front();
    const fabric::Packet& packet = early.packet;
    if (taken && needs_receive(packet) && !can_receive(engine, id)) {
      rs.disorder.edit().early.front().present = false;  // it will come again
      not_ready(engine, id, packet);
      return engine.release(packet.buffer);
    }
    const std::uint32_t psns = psns_of(engine, qp, packet);
    rs.expected_psn = packet.psn + psns;
    for (std::uint32_t i = 0; i < psns && !rs.disorder->early.empty(); ++i) rs.disorder.edit().early.pop_front();
    if (taken) {
      execute_fresh(engine, id, packet, early.executed);
    } else {
      no_answer(engine, packet);
    }
    engine.release(packet.buffer);
  }
}

/// Out of order: a WRITE is placed as soon as it comes; where READs are unordered, they are executed.
void take_out_of_order(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  const std::int32_t ahead = packet.psn.distance(rs.expected_psn);
  if (ahead < 0) return execute(engine, id, {packet, Fate::duplicate});
  if (ahead >= kReorderWindow) {
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  const auto index = static_cast<std::size_t>(ahead);
  sim::Ring<Early>& all = rs.disorder.edit().early;
  while (all.size() <= index) all.push_back({});
  Early& early = all[index];
  if (early.present) return engine.release(packet.buffer);
  early.present = true;
  early.packet = packet;
  // It is behind a gap. Where nothing is lost and there is one path, an RNR NAK leaves one, which the peer will fill.
  // Any other is there because the peer's PSNs do not fit: nobody will fill it.
  if (!all.front().present && !rs.nak_sent && !engine.profile().link_ideal) no_answer(engine, packet);
  const bool reads_now = packet.opcode == Op::read_request && reads_as_they_come(engine.profile().nic_placement);
  if ((packet.opcode == Op::write || reads_now) && check(engine, qp, packet) == NakCode::none) {
    if (!early.executed && reads_now) take_read(engine, id, packet);
    if (!early.executed && !reads_now) place_write(engine, id, packet);
    early.executed = true;
    early.packet.buffer = fabric::kNoBuffer;
    engine.release(packet.buffer);
  }
  execute_in_turn(engine, id);
}

}  // namespace

void execute_waiting(Engine& engine, QpId id) {
  Responder& rs = engine.responders[id];
  while (!rs.blocked && !rs.disorder->waiting.empty()) {
    const Arrival arrival = rs.disorder->waiting.front();
    rs.disorder.edit().waiting.pop_front();
    execute(engine, id, arrival);
  }
  execute_in_turn(engine, id);
}

namespace {

/// What its PSN says about a request packet that has just come.
Fate classify(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  const std::int32_t ahead = packet.psn.distance(rs.expected_psn);
  if (ahead < 0) return Fate::duplicate;
  if (ahead == 0) {
    rs.expected_psn = packet.psn + psns_of(engine, qp, packet);
    rs.nak_sent = false;
    return Fate::fresh;
  }
  if (rs.nak_sent) return Fate::dropped;
  rs.nak_sent = true;
  return Fate::gap;
}

/// Lets a packet loose: it is taken at some time; with `in_line`, behind earlier ones that are in line.
void stray(Engine& engine, QpId id, const fabric::Packet& packet, bool in_line) {
  Disorder& disorder = engine.responders[id].disorder.edit();
  const std::uint32_t slot = disorder.strays.acquire();
  disorder.strays[slot] = packet;
  if (in_line) disorder.in_line.push_back(slot);
  if (!in_line || disorder.in_line.size() == 1) engine.schedule(kEventStrayRequest, id, slot, engine.now());
}

}  // namespace

void request_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  if (qp.type() != QpType::rc || packet.opcode == Op::datagram) return unreliable_arrived(engine, packet);
  if (!qp.takes_requests() || packet.source_qp != qp.peer()) {
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  if (const Placement placement = engine.profile().nic_placement; overtakes(placement)) {
    // No network: no path is faster than another, any packet may come next.
    if (!engine.profile().link_ideal) return take_out_of_order(engine, id, packet);
    return stray(engine, id, packet, placement == Placement::reads_overtake && packet.opcode != Op::read_request);
  }
  const Fate fate = classify(engine, id, packet);
  if (engine.fault(Fault::responder_reorders)) return stray(engine, id, packet, false);
  const bool at_once = !rs.blocked && rs.disorder->waiting.empty();
  if (fate == Fate::fresh && at_once) {
    execute_fresh(engine, id, packet, false);
    return engine.release(packet.buffer);
  }
  Arrival arrival{packet, fate};
  if (fate == Fate::gap || fate == Fate::dropped) {
    engine.release(packet.buffer);
    arrival.packet.buffer = fabric::kNoBuffer;
    arrival.packet.psn = rs.expected_psn;
    if (fate == Fate::dropped) return;
  }
  if (at_once) {
    execute(engine, id, arrival);
  } else {
    rs.disorder.edit().waiting.push_back(arrival);
  }
}

void stray_request(Engine& engine, QpId id, std::uint32_t slot) {
  Responder& rs = engine.responders[id];
  const fabric::Packet packet = rs.disorder->strays[slot];
  Disorder& disorder = rs.disorder.edit();
  disorder.strays.release(slot);
  if (!disorder.in_line.empty() && disorder.in_line.front() == slot) {
    disorder.in_line.pop_front();
    if (!disorder.in_line.empty()) engine.schedule(kEventStrayRequest, id, disorder.in_line.front(), engine.now());
  }
  const Connection& qp = engine.connections[id];
  if (packet.source_qp != qp.peer() || qp.state() == QpState::reset) {  // there was a RESET meanwhile
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  if (overtakes(engine.profile().nic_placement)) return take_out_of_order(engine, id, packet);
  rs.disorder.edit().waiting.push_back({packet, Fate::fresh});
  execute_waiting(engine, id);
}

}  // namespace loco::nic
