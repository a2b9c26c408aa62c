// Responder: requests that are executed once they are whole, in any order (srd, rud, rudi; docs/transports.md). Packets
// of a WRITE are placed as they arrive, and a READ is executed at once. A SEND takes a receive with whichever packet
// comes first, a WRITE with immediate data with its last one; the packet that arrives last completes it. Each packet is
// answered at once, ahead of answers that wait for data: which one has arrived, and up to where all have.
#include <algorithm>

#include "nic_model/connection/failure.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;
using fabric::NakCode;
using fabric::Psn;

/// The first PSN of the message that a packet belongs to.
Psn first_of(const Engine& engine, const Connection& qp, const fabric::Packet& packet) {
  const auto index = static_cast<std::uint32_t>(packet.offset / mtu_of(engine, qp));
  return packet.psn + (0U - index);
}
}  // namespace

void Responder::answer_packet(Engine& engine, QpId id, const fabric::Packet& packet, NakCode nak, std::uint64_t value) {
  const bool refused = nak == NakCode::receiver_not_ready;
  Psn psn = expected_psn_;
  if (nak == NakCode::none) psn = expected_psn_ + Psn::kMask;
  if (refused) psn = packet.psn;
  answer_now(engine, id,
             {.opcode = nak == NakCode::none ? Op::ack : Op::nak,
              .nak = nak,
              .marked = packet.marked,
              .entropy = packet.entropy,
              .psn = psn,
              .wqe = packet.wqe,
              .value = refused ? value : packet.psn.value()});
}

/// True if a PSN has arrived; `ahead` is its distance from the first missing one.
bool Responder::has_come(std::int32_t ahead) const {
  if (ahead < 0) return true;
  return static_cast<std::size_t>(ahead) < disorder().came.size() && disorder().came[static_cast<std::size_t>(ahead)];
}

void Responder::note_come(std::int32_t ahead, std::uint32_t psns) {
  sim::Ring<bool>& came = edit_disorder().came;
  const std::size_t from = static_cast<std::size_t>(ahead);
  while (came.size() < from + psns) came.push_back(false);
  for (std::uint32_t i = 0; i < psns; ++i) came[from + i] = true;
  for (; !came.empty() && came.front(); came.pop_front()) expected_psn_ = expected_psn_ + 1;
  done_psn_ = expected_psn_;
}

std::vector<WholeMessage>::iterator Responder::message_with(Psn first) {
  std::vector<WholeMessage>& all = edit_disorder().messages;
  return std::ranges::find(all, first, &WholeMessage::first);
}

/// This packet begins a message that takes a receive, as far as this end has seen. A result other than none: it is
/// refused.
NakCode Responder::begin_message(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  if (!can_receive(engine)) {
    LOCO_PROBE(receiver_not_ready);
    return NakCode::receiver_not_ready;
  }
  take_receive(engine);
  receiving_ = false;
  tell_of_message(engine, id, packet, true);
  WholeMessage message{.first = first_of(engine, qp, packet),
                       .packets = packets_of(engine, qp, packet.total),
                       .receive = further_->receive};
  if (packet.opcode == Op::send) {
    const Status status = check_receive(engine, qp, packet.total);
    if (status != Status::success) {
      complete_receive(engine, id, {.opcode = Opcode::recv}, status);
      return status == Status::loc_len_err ? NakCode::invalid_request : NakCode::remote_operational_error;
    }
  } else {
    const std::int32_t ahead = message.first.distance(expected_psn_);
    for (std::uint32_t i = 0; i < message.packets; ++i)
      message.come += has_come(ahead + static_cast<std::int32_t>(i)) ? 1U : 0U;
  }
  edit_disorder().messages.push_back(message);
  return NakCode::none;
}

/// Adds a packet to a message that has taken a receive; the last one to arrive completes the message.
void Responder::add_to_message(Engine& engine, QpId id, const fabric::Packet& packet) {
  const auto found = message_with(first_of(engine, engine.connections[id], packet));
  if (found == disorder().messages.end()) return;
  WholeMessage& message = *found;
  if (packet.opcode == Op::send)
    place(engine, id, packet, message.receive.address + packet.offset, message.receive.lkey);
  if (packet.immediate) {
    message.immediate = true;
    message.imm = static_cast<std::uint32_t>(packet.a);
  }
  if (++message.come != message.packets) return;
  further_.edit().receive = message.receive;
  const Cqe like{.opcode = packet.opcode == Op::send ? Opcode::recv : Opcode::recv_rdma_with_imm,
                 .with_imm = message.immediate,
                 .length = packet.total,
                 .imm = message.imm};
  edit_disorder().messages.erase(found);
  complete_receive(engine, id, like, Status::success, receive_buffer_time(engine, packet));
}

/// Returns why the packet is refused, or none.
NakCode Responder::take_whole_first(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  if (!fits(engine, qp, packet)) return NakCode::invalid_request;
  const bool begins = packet.opcode == Op::send || packet.immediate;
  const bool new_message = begins && message_with(first_of(engine, qp, packet)) == disorder().messages.end();
  NakCode nak = access_refused(engine, qp, packet);
  if (nak == NakCode::none && new_message) nak = begin_message(engine, id, packet);
  if (nak != NakCode::none) return nak;
  if (packet.opcode == Op::write) place_write(engine, id, packet);
  if (packet.opcode == Op::read_request) take_read(engine, id, packet);
  add_to_message(engine, id, packet);
  note_come(packet.psn.distance(expected_psn_), psns_of(engine, qp, packet));
  if (packet.opcode != Op::read_request) answer_packet(engine, id, packet, NakCode::none);
  return NakCode::none;
}

/// In searches, where any packet may come next, a packet of a repeatable WRITE takes effect twice: an extra time at any
/// moment before its answer, so that searches see what a repetition can do. Returns true for the extra time.
bool Responder::comes_again(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  const SystemConfig& config = engine.kernel.config();
  if (!policy_of(engine, qp).order.may_repeat || config.timed || config.timers || packet.opcode != Op::write)
    return false;
  if (!qp.takes_requests() || has_come(packet.psn.distance(expected_psn_))) return false;
  std::vector<Psn>& once = edit_disorder().come_once;
  if (std::erase(once, packet.psn) != 0 || !fits(engine, qp, packet)) return false;
  if (access_refused(engine, qp, packet) != NakCode::none) return false;
  LOCO_PROBE(write_takes_effect_twice);
  once.push_back(packet.psn);
  place_write(engine, id, packet);
  return true;
}

/// A packet arrives again, because its answer was lost or is late. A repeatable one takes effect again.
void Responder::take_whole_again(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  const bool allowed = access_refused(engine, qp, packet) == NakCode::none;
  if (packet.opcode == Op::read_request)
    return allowed ? take_read(engine, id, packet, true) : no_answer(engine, packet);
  if (packet.opcode == Op::write && allowed && policy_of(engine, qp).order.may_repeat) {
    LOCO_PROBE(write_takes_effect_again);
    place_write(engine, id, packet);
  }
  LOCO_PROBE(duplicate_packet_answered);
  answer_packet(engine, id, packet, NakCode::none);
}

/// Takes ownership of the packet's payload.
void Responder::take_whole(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  const std::int32_t ahead = packet.psn.distance(expected_psn_);
  if (!qp.takes_requests() || ahead >= kReorderWindow) {
    LOCO_PROBE(request_in_error_state);
    no_answer(engine, packet);
  } else if (has_come(ahead)) {
    take_whole_again(engine, id, packet);
  } else if (const NakCode nak = take_whole_first(engine, id, packet); nak == NakCode::receiver_not_ready) {
    tell_of_message(engine, id, packet, false);
    engine.count(&Counters::rnr_naks);
    const sim::Duration given = qp_settings(engine, qp).min_rnr_timer;
    answer_packet(engine, id, packet, nak, static_cast<std::uint64_t>((given.ps == 0 ? kRnrTimerCode0 : given).ps));
  } else if (nak != NakCode::none) {
    LOCO_PROBE(responder_refuses);
    refuse(engine, id, packet, nak);
    edit_disorder().refused = packet.wqe;
    announce(engine, ConnectionFailed{id});
  }
  engine.release(packet.buffer);
}

}  // namespace loco::nic
