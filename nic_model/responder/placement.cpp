// Responder: requests that are placed as they arrive (nic.placement), through a reorder buffer of PSNs; and packets
// that a fault or an ideal network lets arrive in any order.
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"
#include "sim/rng.hpp"

namespace loco::nic {

/// Executes requests from the reorder buffer as far as they are next in PSN order. In ERROR they get no answer.
void Responder::execute_in_turn(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  while (!blocked_ && !disorder().reorder.empty() && disorder().reorder.front().present) {
    const bool taken = qp.takes_requests();
    const ReorderSlot early = disorder().reorder.front();
    const fabric::Packet& packet = early.packet;
    if (qp_settings(engine, qp).xrc) choose_queue(engine, qp.node(), packet);
    if (taken && needs_receive(packet) && !can_receive(engine)) {
      edit_disorder().reorder.front().present = false;  // it will come again
      LOCO_PROBE(out_of_order_send_finds_no_receive);
      not_ready(engine, id, packet);
      return engine.release(packet.buffer);
    }
    const std::uint32_t psns = psns_of(engine, qp, packet);
    expected_psn_ = packet.psn + psns;
    for (std::uint32_t i = 0; i < psns && !disorder().reorder.empty(); ++i) edit_disorder().reorder.pop_front();
    if (taken) {
      execute_fresh(engine, id, packet, early.executed);
    } else {
      no_answer(engine, packet);
    }
    engine.release(packet.buffer);
  }
}

/// Selective repeat: the first PSN missing from the reorder buffer.
fabric::Psn Responder::first_missing(const Engine& engine, const Connection& qp) const {
  const sim::Ring<ReorderSlot>& all = disorder().reorder;
  std::uint32_t index = 0;
  while (index < all.size() && all[index].present) index += psns_of(engine, qp, all[index].packet);
  return expected_psn_ + index;
}

/// Selective repeat: after a packet beyond a gap, reports which packet has arrived and what is missing. Where paths
/// differ, only once it has been missing for the tolerated time. A congestion control driven by answers is told at
/// once, and applies the tolerance itself.
void Responder::report_gap(Engine& engine, QpId id, const fabric::Packet& packet) {
  const fabric::Psn missing = first_missing(engine, engine.connections[id]);
  if (packet.psn.distance(missing) < 0) return;
  const sim::Duration tolerance = policy_of(engine, id).recovery.tolerance;
  if (tolerance.ps > 0 && !engine.kernel.controls()) {
    Disorder& disorder = edit_disorder();
    const bool is_new = disorder.since == sim::SimTime{} || disorder.gap != missing;
    if (is_new) {
      disorder.gap = missing;
      disorder.since = engine.now();
    }
    if (engine.now() < disorder.since + tolerance) {
      LOCO_PROBE(gap_tolerated);
      return;
    }
  }
  LOCO_PROBE(selective_gap_reported);
  push_response(engine, id,
                {.opcode = fabric::Opcode::nak,
                 .nak = fabric::NakCode::psn_sequence_error,
                 .ready = true,
                 .psn = expected_psn_,
                 .wqe = packet.wqe,
                 .value = packet.psn.value(),
                 .swap = missing.value(),
                 .available = engine.now()});
}

/// Selective repeat: the missing packet has arrived. Acknowledges everything executed with it, because none of those
/// packets may have requested an ACK.
void Responder::gap_filled(Engine& engine, QpId id, const fabric::Packet& packet, fabric::Psn done_before) {
  if (done_psn_ == done_before || !engine.connections[id].takes_requests()) return;
  // If it was merely late, no gap was reported, and messages request their own answers.
  const sim::Duration tolerance = policy_of(engine, id).recovery.tolerance;
  const bool told = disorder().gap == packet.psn && engine.now() >= disorder().since + tolerance;
  if (tolerance.ps > 0 && !told) return;
  LOCO_PROBE(gap_filled);
  const fabric::Psn last = done_psn_ + fabric::Psn::kMask;
  if (!responses_.empty()) {
    const Response& newest = responses_[responses_.size() - 1];
    const bool refused = newest.opcode == fabric::Opcode::nak && newest.psn == done_psn_;
    if (newest.psn == last || refused) return;  // an answer in the queue says so already
  }
  push_response(
      engine, id,
      {.opcode = fabric::Opcode::ack, .ready = true, .psn = last, .wqe = packet.wqe, .available = engine.now()});
}

/// Only the headers of a packet have arrived. Reports the loss to the requester at once. With in-order placement it
/// counts as any other gap.
void Responder::take_trimmed(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Connection& qp = engine.connections[id];
  const DeliveryRecovery& recovery = policy_of(engine, qp).recovery;
  if (!policy_of(engine, qp).acknowledges() || !qp.takes_requests() || packet.source_qp != qp.peer()) return;
  const std::int32_t ahead = packet.psn.distance(expected_psn_);
  if (policy_of(engine, qp).order.when_whole) {
    LOCO_PROBE(headers_of_a_trimmed_packet);
    return answer_packet(engine, id, packet, has_come(ahead) ? fabric::NakCode::none : fabric::NakCode::packet_trimmed);
  }
  if (ahead < 0) {
    LOCO_PROBE(duplicate_comes_trimmed);
    return execute_again(engine, id, packet);
  }
  if (!recovery.selective) {
    LOCO_PROBE(trimmed_packet_in_order);
    if (ahead > 0 || nak_sent_ || !recovery.naks_gaps) return;
    nak_sent_ = true;
    return refuse(engine, id, packet, fabric::NakCode::psn_sequence_error);
  }
  push_response(engine, id,
                {.opcode = fabric::Opcode::nak,
                 .nak = fabric::NakCode::packet_trimmed,
                 .ready = true,
                 .psn = expected_psn_,
                 .wqe = packet.wqe,
                 .value = packet.psn.value(),
                 .available = engine.now()});
}

/// Out of order: places a WRITE as it arrives, unless only READs may overtake, and executes a READ if READs are
/// unordered.
void Responder::take_out_of_order(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  const DeliveryPolicy& policy = policy_of(engine, qp);
  const std::int32_t ahead = packet.psn.distance(expected_psn_);
  if (ahead < 0) return execute(engine, id, {packet, Fate::duplicate});
  if (ahead >= kReorderWindow) {
    LOCO_PROBE(reorder_window_exceeded);
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  const auto index = static_cast<std::size_t>(ahead);
  sim::Ring<ReorderSlot>& all = edit_disorder().reorder;
  while (all.size() <= index) all.push_back({});
  ReorderSlot& slot = all[index];
  if (slot.present) {
    LOCO_PROBE(early_packet_comes_again);
    return take_early_again(engine, id, packet, slot.executed);
  }
  slot.present = true;
  slot.packet = packet;
  // The packet is beyond a gap. Without loss and with one path, only an RNR NAK leaves a gap that the peer will fill.
  // Any other means that the peer's PSNs do not match, and nobody will fill it.
  if (!all.front().present && !nak_sent_ && !policy.order.any_packet_next) no_answer(engine, packet);
  const bool fills_gap = index == 0 && all.size() > 1;
  execute_early(engine, id, qp, slot);
  if (policy.recovery.selective && index > 0) report_gap(engine, id, packet);
  const fabric::Psn done_before = done_psn_;
  execute_in_turn(engine, id);
  if (policy.recovery.selective && fills_gap) gap_filled(engine, id, packet, done_before);
}

/// Executes a packet that has just arrived, if it may be executed before its turn.
void Responder::execute_early(Engine& engine, QpId id, const Connection& qp, ReorderSlot& slot) {
  const DeliveryOrder& order = policy_of(engine, qp).order;
  const fabric::Packet packet = slot.packet;
  const bool read = packet.opcode == fabric::Opcode::read_request && order.reads_early;
  const bool write = packet.opcode == fabric::Opcode::write && order.writes_early;
  const bool atomic = is_atomic(packet.opcode) && order.atomics_early && !blocked_;
  if ((!read && !write && !atomic) || !fits(engine, qp, packet)) return;
  if (access_refused(engine, qp, packet) != fabric::NakCode::none) return;
  if (!slot.executed && read) take_read(engine, id, packet);
  if (!slot.executed && write) place_write(engine, id, packet);
  if (!slot.executed && atomic) take_atomic(engine, id, packet);
  slot.executed = true;
  slot.packet.buffer = fabric::kNoBuffer;
  engine.release(packet.buffer);
}

/// A packet in the reorder buffer arrives again. If it is a READ or atomic that has been executed, its answer was lost.
void Responder::take_early_again(Engine& engine, QpId id, const fabric::Packet& packet, bool executed) {
  const bool answered = packet.opcode == fabric::Opcode::read_request || is_atomic(packet.opcode);
  const bool selective = policy_of(engine, id).recovery.selective;
  if (selective && executed && answered) {
    LOCO_PROBE(early_read_answered_again);
    return execute(engine, id, {packet, Fate::duplicate});
  }
  if (selective) report_gap(engine, id, packet);  // the previous report may be lost
  engine.release(packet.buffer);
}

/// Lets a packet be taken at an arbitrary later time; with `in_line`, only after earlier packets that are in line.
void Responder::let_loose(Engine& engine, QpId id, const fabric::Packet& packet, bool in_line) {
  Disorder& disorder = edit_disorder();
  const std::uint32_t slot = disorder.strays.acquire();
  disorder.strays[slot] = packet;
  if (in_line) disorder.in_line.push_back(slot);
  if (in_line && disorder.in_line.size() != 1) return;
  const std::uint64_t spread = in_line ? 0 : static_cast<std::uint64_t>(engine.kernel.packet_spread().ps);
  sim::SimTime at = engine.now();
  if (spread != 0) {
    std::uint64_t state = engine.kernel.config().seed + (std::uint64_t{id} << 32U);
    state = sim::splitmix64(state) + packet.psn.value();
    at += sim::Duration{static_cast<std::int64_t>(sim::splitmix64(state) % spread)};
  }
  engine.schedule(kEventStrayRequest, id, slot, at);
}

void Responder::stray_request(Engine& engine, QpId id, std::uint32_t slot) {
  const fabric::Packet packet = stray(slot);
  Disorder& disorder = edit_disorder();
  disorder.strays.release(slot);
  if (!disorder.in_line.empty() && disorder.in_line.front() == slot) {
    disorder.in_line.pop_front();
    if (!disorder.in_line.empty()) engine.schedule(kEventStrayRequest, id, disorder.in_line.front(), engine.now());
  }
  const Connection& qp = engine.connections[id];
  if (qp.type() == QpType::ud) {
    if (qp.takes_requests() && !engine.context->lose) take_datagram(engine, id, packet);
    return engine.release(packet.buffer);
  }
  if (packet.source_qp != qp.peer() || qp.state() == QpState::reset) {  // a RESET came in between
    LOCO_PROBE(stray_request_of_a_past_connection);
    no_answer(engine, packet);
    return engine.release(packet.buffer);
  }
  if (policy_of(engine, qp).order.when_whole) {
    if (comes_again(engine, id, packet)) return let_loose(engine, id, packet, false);
    return take_whole(engine, id, packet);
  }
  if (policy_of(engine, qp).order.overtakes()) return take_out_of_order(engine, id, packet);
  edit_disorder().waiting.push_back({packet, Fate::fresh});
  execute_waiting(engine, id);
}

/// Drops waiting requests and everything kept for repeated ones.
void Responder::reset_disorder(Engine& engine) {
  if (disorder() == Disorder{}) return;
  Disorder& held = edit_disorder();
  for (; !held.waiting.empty(); held.waiting.pop_front()) engine.release(held.waiting.front().packet.buffer);
  for (; !held.reorder.empty(); held.reorder.pop_front()) engine.release(held.reorder.front().packet.buffer);
  held.came.clear();
  held.messages.clear();
  held.come_once.clear();
  held.replays.clear();
  held.read_stream.clear();
  held.since = {};
  held.refused = kNone;
}

}  // namespace loco::nic
