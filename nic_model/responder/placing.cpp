// Responder: places messages, for all transports (IBTA volume 1, 9.7.4). A packet's payload is a posted write, and the
// receive CQE a later one. A WRITE's rights have been checked before; a SEND's are those of its receive work request
// and are checked here.
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/responder/responder.hpp"

namespace loco::nic {

void Responder::place(Engine& engine, QpId id, const fabric::Packet& packet, Address address, std::uint32_t key) const {
  if (packet.length == 0) return;
  engine.hold(packet.buffer);
  WriteOrigin origin{.stamp = Stamp::aNRW, .peer = engine.connections[id].node()};
  name_origin(engine, packet, origin.thread, origin.op);
  post_write(engine, domain_,
             {.buffer = packet.buffer,
              .offset = packet.offset,
              .length = packet.length,
              .ahead = crossed_ahead(engine, packet),
              .call = packet.call,
              .address = address,
              .received_by = packet.destination,
              .message = engine.kernel.any_word_order() ? message_of(id, packet.wqe, true) : 0},
             origin, receive_buffer_time(engine, packet), key);
}

/// Posts the payload of one packet of a WRITE.
void Responder::place_write(Engine& engine, QpId id, const fabric::Packet& packet) const {
  place(engine, id, packet, packet.address + packet.offset, packet.rkey);
}

/// Consumes a receive work request for a WRITE with immediate data. Precondition: can_receive().
void Responder::complete_immediate(Engine& engine, QpId id, const fabric::Packet& packet) {
  take_receive(engine);
  tell_of_message(engine, id, packet, true);
  complete_receive(engine, id,
                   {.opcode = Opcode::recv_rdma_with_imm,
                    .with_imm = true,
                    .length = packet.total,
                    .imm = static_cast<std::uint32_t>(packet.a)},
                   Status::success, receive_buffer_time(engine, packet));
}

/// Posts the payload of one packet of a SEND after what has arrived of the message. Completes the receive with the last
/// packet, or, with the returned error status, if the message does not fit or may not be written. Precondition for a
/// first packet: can_receive(). `like` has further fields of the CQE; `header` bytes before the message are left
/// unchanged.
Status Responder::place_send(Engine& engine, QpId id, const fabric::Packet& packet, Cqe like, std::uint32_t header) {
  if (packet.first) {
    take_receive(engine);
    tell_of_message(engine, id, packet, true);
    received_ = header;
  }
  like.opcode = Opcode::recv;
  const auto left_out = static_cast<std::uint32_t>(packet.address);  // of the message, before this packet
  const Status status = check_receive(engine, engine.connections[id], received_ + left_out + packet.length);
  if (status != Status::success) {
    complete_receive(engine, id, like, status);
    return status;
  }
  place(engine, id, packet, further_->receive.address + header + left_out + packet.offset, further_->receive.lkey);
  received_ += packet.length;
  if (!packet.last) return status;
  like.length = received_ + left_out;
  like.with_imm = packet.immediate;
  like.imm = packet.immediate ? static_cast<std::uint32_t>(packet.a) : 0;
  complete_receive(engine, id, like, status, receive_buffer_time(engine, packet));
  return status;
}

}  // namespace loco::nic
