// Responder: requests that are placed as they come (nic.placement), through a reorder buffer of PSNs; and what a flaw,
// or an ideal network, lets loose.
#include "nic_model/responder/responder.hpp"

namespace loco::nic {

/// Out of order: what has come and is next. In ERROR it gets no answer.
void Responder::execute_in_turn(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  while (!blocked_ && !disorder_->reorder.empty() && disorder_->reorder.front().present) {
    const bool taken = qp.takes_requests();
    const ReorderSlot early = disorder_->reorder.front();
    const fabric::Packet& packet = early.packet;
    if (taken && needs_receive(packet) && !can_receive(engine)) {
      disorder_.edit().reorder.front().present = false;  // it will come again
      not_ready(engine, id, packet);
      return engine.release(packet.buffer);
    }
    const std::uint32_t psns = psns_of(engine, qp, packet);
    expected_psn_ = packet.psn + psns;
    for (std::uint32_t i = 0; i < psns && !disorder_->reorder.empty(); ++i) disorder_.edit().reorder.pop_front();
    if (taken) {
      execute_fresh(engine, id, packet, early.executed);
    } else {
      no_answer(engine, packet);
    }
    engine.release(packet.buffer);
  }
}

/// Out of order: a WRITE is placed as soon as it comes; where READs are unordered, they are executed.
void Responder::take_out_of_order(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  const std::int32_t ahead = packet.psn.distance(expected_psn_);
  if (ahead < 0) return execute(engine, id, {packet, Fate::duplicate});
  if (ahead >= kReorderWindow) {
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  const auto index = static_cast<std::size_t>(ahead);
  sim::Ring<ReorderSlot>& all = disorder_.edit().reorder;
  while (all.size() <= index) all.push_back({});
  ReorderSlot& early = all[index];
  if (early.present) return engine.release(packet.buffer);
  early.present = true;
  early.packet = packet;
  // It is behind a gap. Where nothing is lost and there is one path, an RNR NAK leaves one, which the peer will fill.
  // Any other is there because the peer's PSNs do not fit: nobody will fill it.
  if (!all.front().present && !nak_sent_ && !engine.profile().link_ideal) no_answer(engine, packet);
  const bool reads_now =
      packet.opcode == fabric::Opcode::read_request && reads_as_they_come(engine.profile().nic_placement);
  if ((packet.opcode == fabric::Opcode::write || reads_now) &&
      access_refused(engine, qp, packet) == fabric::NakCode::none) {
    if (!early.executed && reads_now) take_read(engine, id, packet);
    if (!early.executed && !reads_now) place_write(engine, id, packet);
    early.executed = true;
    early.packet.buffer = fabric::kNoBuffer;
    engine.release(packet.buffer);
  }
  execute_in_turn(engine, id);
}

/// Lets a packet loose: it is taken at some time; with `in_line`, behind earlier ones that are in line.
void Responder::let_loose(Engine& engine, QpId id, const fabric::Packet& packet, bool in_line) {
  Disorder& disorder = disorder_.edit();
  const std::uint32_t slot = disorder.strays.acquire();
  disorder.strays[slot] = packet;
  if (in_line) disorder.in_line.push_back(slot);
  if (!in_line || disorder.in_line.size() == 1) engine.schedule(kEventStrayRequest, id, slot, engine.now());
}

void Responder::stray_request(Engine& engine, QpId id, std::uint32_t slot) {
  const fabric::Packet packet = stray(slot);
  Disorder& disorder = disorder_.edit();
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
  disorder_.edit().waiting.push_back({packet, Fate::fresh});
  execute_waiting(engine, id);
}

/// Drops what waits for its turn, and what is kept for requests that come again.
void Responder::reset_disorder(Engine& engine) {
  if (*disorder_ == Disorder{}) return;
  Disorder& held = disorder_.edit();
  for (; !held.waiting.empty(); held.waiting.pop_front()) engine.release(held.waiting.front().packet.buffer);
  for (; !held.reorder.empty(); held.reorder.pop_front()) engine.release(held.reorder.front().packet.buffer);
  held.replays.clear();
  held.read_stream.clear();
  held.refused = kNone;
}

}  // namespace loco::nic
