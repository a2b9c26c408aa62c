// Responder: requests of the unreliable transports (IBTA volume 1, 9.8.2 and 9.8.3).
#include "nic_model/connection/failure.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;
}  // namespace

void Responder::take_connected(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  if (packet.first) {
    in_message_ = true;
  } else if (packet.psn != expected_psn_) {
    LOCO_PROBE(unreliable_message_cut_short);
    in_message_ = false;
  }
  expected_psn_ = done_psn_ = packet.psn + 1;
  in_message_ = in_message_ && fits(engine, qp, packet);
  if (!in_message_) return;
  if (packet.opcode == Op::write) {
    const bool refused = packet.first && packet.total > 0 &&
                         (!in_domain(engine, qp, packet.rkey) ||
                          !may_serve(engine, qp, packet.rkey, packet.address, packet.total, kRemoteWrite));
    if (refused) in_message_ = false;
    if (refused) return;
    place_write(engine, id, packet);
    if (!packet.immediate) return;
    if (can_receive(engine)) return complete_immediate(engine, id, packet);
    LOCO_PROBE(unreliable_message_finds_no_receive);
    tell_of_message(engine, id, packet, false);
    engine.count(&Counters::out_of_buffer);
    return;
  }
  if (packet.first && !can_receive(engine)) {
    LOCO_PROBE(unreliable_message_finds_no_receive);
    tell_of_message(engine, id, packet, false);
    engine.count(&Counters::out_of_buffer);
    in_message_ = false;
    return;
  }
  if (place_send(engine, id, packet, {}) != Status::success) announce(engine, ConnectionFailed{id});
}

void Responder::take_datagram(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  if (packet.rkey != qp.qkey()) return;
  if (!can_receive(engine)) {
    LOCO_PROBE(datagram_finds_no_receive);
    tell_of_message(engine, id, packet, false);
    engine.count(&Counters::out_of_buffer);
    return;
  }
  const Cqe like{.source_qp = packet.source_qp};
  if (place_send(engine, id, packet, like, kGrhBytes) != Status::success) {
    announce(engine, ConnectionFailed{id});
  }
}

/// A request packet has arrived at an unreliable queue pair, or a datagram at any queue pair.
void Responder::take_unreliable(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Connection& qp = engine.connections[id];
  const bool fits = (qp.type() == QpType::ud) == (packet.opcode == Op::datagram);
  if (fits && qp.takes_requests()) {
    if (qp.type() == QpType::ud) {
      if (engine.kernel.datagrams_overtake()) return let_loose(engine, id, packet, false);
      take_datagram(engine, id, packet);
    } else if (packet.source_qp == qp.peer()) {
      take_connected(engine, id, packet);
    }
  }
  engine.release(packet.buffer);
}

}  // namespace loco::nic
