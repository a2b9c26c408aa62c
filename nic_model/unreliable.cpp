#include "nic_model/unreliable.hpp"

#include "nic_model/port.hpp"
#include "nic_model/queue_pair.hpp"
#include "nic_model/receive_queue.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;

void place(Engine& engine, QpId id, const fabric::Packet& packet, Address address, std::uint32_t key,
           const WriteOrigin& origin) {
  if (packet.length == 0) return;
  engine.hold(packet.buffer);
  post_write(engine, engine.state.qps[id].responder.domain,
             {.buffer = packet.buffer,
              .offset = packet.offset,
              .length = packet.length,
              .ahead = crossed_ahead(engine, packet),
              .address = address},
             origin, receive_buffer_time(engine, packet), key);
}

WriteOrigin unreliable_origin(const Engine& engine, QpId id, const fabric::Packet& packet) {
  return {.stamp = Stamp::aNRW,
          .thread = engine.state.qps[packet.source_qp].thread,
          .op = packet.call,
          .peer = engine.state.qps[id].node};
}

void connected(Engine& engine, QpId id, const fabric::Packet& packet) {
  QueuePair& qp = engine.state.qps[id];
  Responder& rs = qp.responder;
  if (packet.first) {
    rs.in_message = true;
  } else if (packet.psn != rs.expected_psn) {
    rs.in_message = false;
  }
  rs.expected_psn = packet.psn + 1;
  if (!rs.in_message) return;
  if (packet.opcode == Op::write) {
    const bool refused = packet.first && packet.total > 0 &&
                         !engine.allowed(packet.rkey, qp.node, packet.address, packet.total, kRemoteWrite);
    if (refused) rs.in_message = false;
    if (refused) return;
    place_write(engine, id, packet, unreliable_origin(engine, id, packet));
    if (packet.immediate && can_receive(engine, id)) complete_immediate(engine, id, packet);
    return;
  }
  if (packet.first && !can_receive(engine, id)) {
    rs.in_message = false;
    return;
  }
  if (place_send(engine, id, packet, unreliable_origin(engine, id, packet), {}) != Status::success)
    to_error(engine, id);
}

void datagram(Engine& engine, QpId id, const fabric::Packet& packet) {
  const QueuePair& qp = engine.state.qps[id];
  if (packet.rkey != qp.qkey || !can_receive(engine, id)) return;
  const Cqe like{.source_qp = packet.source_qp};
  if (place_send(engine, id, packet, unreliable_origin(engine, id, packet), like, kGrhBytes) != Status::success) {
    to_error(engine, id);
  }
}
}  // namespace

void place_write(Engine& engine, QpId id, const fabric::Packet& packet, const WriteOrigin& origin) {
  place(engine, id, packet, packet.address + packet.offset, packet.rkey, origin);
}

void complete_immediate(Engine& engine, QpId id, const fabric::Packet& packet) {
  take_receive(engine, id);
  complete_receive(engine, id,
                   {.opcode = Opcode::recv_rdma_with_imm,
                    .with_imm = true,
                    .length = packet.total,
                    .imm = static_cast<std::uint32_t>(packet.a)},
                   Status::success, receive_buffer_time(engine, packet));
}

Status place_send(Engine& engine, QpId id, const fabric::Packet& packet, const WriteOrigin& origin, Cqe like,
                  std::uint32_t header) {
  Responder& rs = engine.state.qps[id].responder;
  if (packet.first) {
    take_receive(engine, id);
    rs.received = header;
  }
  like.opcode = Opcode::recv;
  const Status status = check_receive(engine, id, rs.received + packet.length);
  if (status != Status::success) {
    complete_receive(engine, id, like, status);
    return status;
  }
  place(engine, id, packet, rs.receive->address + rs.received, rs.receive->lkey, origin);
  rs.received += packet.length;
  if (!packet.last) return status;
  like.length = rs.received;
  like.with_imm = packet.immediate;
  like.imm = packet.immediate ? static_cast<std::uint32_t>(packet.a) : 0;
  complete_receive(engine, id, like, status, receive_buffer_time(engine, packet));
  return status;
}

void unreliable_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const QueuePair& qp = engine.state.qps[id];
  const bool fits = (qp.type == QpType::ud) == (packet.opcode == Op::datagram);
  if (fits && takes_requests(qp.state)) {
    if (qp.type == QpType::ud) {
      datagram(engine, id, packet);
    } else if (packet.source_qp == qp.peer) {
      connected(engine, id, packet);
    }
  }
  engine.release(packet.buffer);
}

}  // namespace loco::nic
