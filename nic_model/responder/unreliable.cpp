#include "nic_model/responder/unreliable.hpp"

#include "nic_model/connection/connection.hpp"
#include "nic_model/records.hpp"
#include "nic_model/responder/placing.hpp"
#include "nic_model/responder/receives.hpp"
#include "nic_model/verbs/queue_pair.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;

void connected(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  if (packet.first) {
    rs.in_message = true;
  } else if (packet.psn != rs.expected_psn) {
    rs.in_message = false;
  }
  rs.expected_psn = packet.psn + 1;
  if (!rs.in_message) return;
  if (packet.opcode == Op::write) {
    const bool refused = packet.first && packet.total > 0 &&
                         !engine.allowed(packet.rkey, qp.node(), packet.address, packet.total, kRemoteWrite);
    if (refused) rs.in_message = false;
    if (refused) return;
    place_write(engine, id, packet);
    if (!packet.immediate) return;
    if (can_receive(engine, id)) return complete_immediate(engine, id, packet);
    engine.count(&Counters::out_of_buffer);
    return;
  }
  if (packet.first && !can_receive(engine, id)) {
    engine.count(&Counters::out_of_buffer);
    rs.in_message = false;
    return;
  }
  if (place_send(engine, id, packet, {}) != Status::success) to_error(engine, id);
}

void datagram(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  if (packet.rkey != qp.qkey()) return;
  if (!can_receive(engine, id)) {
    engine.count(&Counters::out_of_buffer);
    return;
  }
  const Cqe like{.source_qp = packet.source_qp};
  if (place_send(engine, id, packet, like, kGrhBytes) != Status::success) {
    to_error(engine, id);
  }
}
}  // namespace

void unreliable_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Connection& qp = engine.connections[id];
  const bool fits = (qp.type() == QpType::ud) == (packet.opcode == Op::datagram);
  if (fits && qp.takes_requests()) {
    if (qp.type() == QpType::ud) {
      datagram(engine, id, packet);
    } else if (packet.source_qp == qp.peer()) {
      connected(engine, id, packet);
    }
  }
  engine.release(packet.buffer);
}

}  // namespace loco::nic
