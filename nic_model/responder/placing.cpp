#include "nic_model/responder/placing.hpp"

#include "nic_model/connection/connection.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/responder/receives.hpp"
#include "nic_model/responder/responses.hpp"

namespace loco::nic {

namespace {
void place(Engine& engine, QpId id, const fabric::Packet& packet, Address address, std::uint32_t key) {
  if (packet.length == 0) return;
  engine.hold(packet.buffer);
  WriteOrigin origin{.stamp = Stamp::aNRW, .peer = engine.connections[id].node()};
  name_origin(engine, packet, origin.thread, origin.op);
  post_write(engine, engine.responders[id].domain,
             {.received = true,
              .buffer = packet.buffer,
              .offset = packet.offset,
              .length = packet.length,
              .ahead = crossed_ahead(engine, packet),
              .address = address},
             origin, receive_buffer_time(engine, packet), key);
}
}  // namespace

void place_write(Engine& engine, QpId id, const fabric::Packet& packet) {
  place(engine, id, packet, packet.address + packet.offset, packet.rkey);
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

Status place_send(Engine& engine, QpId id, const fabric::Packet& packet, Cqe like, std::uint32_t header) {
  Responder& rs = engine.responders[id];
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
  place(engine, id, packet, rs.receive->address + rs.received, rs.receive->lkey);
  rs.received += packet.length;
  if (!packet.last) return status;
  like.length = rs.received;
  like.with_imm = packet.immediate;
  like.imm = packet.immediate ? static_cast<std::uint32_t>(packet.a) : 0;
  complete_receive(engine, id, like, status, receive_buffer_time(engine, packet));
  return status;
}

}  // namespace loco::nic
