// Requester: feeds selective repeat with sent packets and their answers. selective_repeat.hpp decides which PSNs are
// lost.
#include "nic_model/delivery/reliable.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/requester/requester.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;
using fabric::NakCode;
using fabric::Psn;

SelectiveRepeat::Answer answer_of(const DeliveryOrder& order, Op request) {
  if (request == Op::read_request && order.reads_early) return SelectiveRepeat::Answer::as_it_comes;
  const bool data = request == Op::read_request || is_atomic(request);
  return data ? SelectiveRepeat::Answer::in_turn : SelectiveRepeat::Answer::ack;
}
}  // namespace

void Requester::note_sent(Engine& engine, const fabric::Packet& packet, std::uint32_t psns) {
  selective_.edit().sent(packet.psn, psns, answer_of(policy_of(engine, packet.source_qp).order, packet.opcode),
                         engine.now(), packet.entropy);
}

/// Reports losses to congestion control, which counts each only once.
void Requester::tell_what_is_lost(Engine& engine, QpId id, const fabric::Packet* answer) const {
  if (!engine.kernel.controls()) return;
  const bool trimmed = answer != nullptr && answer->opcode == Op::nak && answer->nak == NakCode::packet_trimmed;
  const sim::Ring<Psn>& lost = selective_->lost();
  for (std::size_t i = 0; i < lost.size(); ++i)
    tell_lost(engine, id, lost[i], trimmed && lost[i] == Psn(static_cast<std::uint32_t>(answer->a)));
}

/// How long what is trimmed again may wait. A congestion control that goes by answers has a window for it.
sim::Duration Requester::longest_back_off(const Engine& engine, QpId id) const {
  const Connection& qp = engine.connections[id];
  if (fabric::needs_answers(engine.kernel.congestion(qp.congestion()).algorithm)) return {};
  return qp_settings(engine, qp).timeout.ps == 0 ? kNeverLate : time_out(engine, qp);
}

/// Evaluates what an answer reveals about other packets, before the answer is taken.
void Requester::note_response(Engine& engine, const fabric::Packet& packet) {
  const DeliveryPolicy& policy = policy_of(engine, packet.destination_qp);
  const SelectiveRepeat::Seen seen{engine.now(), policy.recovery.tolerance};
  SelectiveRepeat& selective = selective_.edit();
  if (packet.opcode == Op::ack && policy.order.when_whole)
    return selective.reached(Psn(static_cast<std::uint32_t>(packet.a)), packet.psn + 1, seen);
  if (packet.opcode == Op::nak) {
    if (packet.nak == NakCode::packet_trimmed)
      selective.trimmed(Psn(static_cast<std::uint32_t>(packet.a)), engine.now(),
                        longest_back_off(engine, packet.destination_qp));
    if (packet.nak != NakCode::psn_sequence_error) return;
    return selective.reached(Psn(static_cast<std::uint32_t>(packet.a)), Psn(static_cast<std::uint32_t>(packet.b)),
                             seen);
  }
  const bool as_it_comes = packet.opcode == Op::read_response && policy.order.reads_early;
  if (packet.opcode != Op::ack) selective.answered(packet.psn);
  // Executed in order, so everything before it has been executed too.
  selective.reached(packet.psn, as_it_comes ? una_ : packet.psn + 1, seen);
  selective.answer_seen(packet.psn, as_it_comes, seen);
}

}  // namespace loco::nic
