// Requester: what selective repeat learns from packets that are sent and from their answers. Which PSNs are lost:
// selective_repeat.hpp.
#include "nic_model/port/congestion.hpp"
#include "nic_model/requester/requester.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;
using fabric::NakCode;
using fabric::Psn;

SelectiveRepeat::Answer answer_of(const Engine& engine, NicId node, Op request) {
  if (request == Op::read_request && reads_as_they_come(engine.profile(node).nic_placement)) {
    return SelectiveRepeat::Answer::as_it_comes;
  }
  const bool data = request == Op::read_request || is_atomic(request);
  return data ? SelectiveRepeat::Answer::in_turn : SelectiveRepeat::Answer::ack;
}
}  // namespace

void Requester::note_sent(Engine& engine, const fabric::Packet& packet, std::uint32_t psns) {
  selective_.edit().sent(packet.psn, psns, answer_of(engine, packet.source, packet.opcode), engine.now());
}

/// Congestion control counts each loss once.
void Requester::tell_what_is_lost(Engine& engine, QpId id) const {
  if (!engine.kernel.controls()) return;
  const sim::Ring<Psn>& lost = selective_->lost();
  for (std::size_t i = 0; i < lost.size(); ++i) tell_lost(engine, id, lost[i]);
}

/// Before an answer is taken: what it says of others.
void Requester::note_response(Engine& engine, const fabric::Packet& packet) {
  const SelectiveRepeat::Seen seen{engine.now(), engine.kernel.reorder_tolerance()};
  SelectiveRepeat& selective = selective_.edit();
  if (packet.opcode == Op::nak) {
    if (packet.nak == NakCode::packet_trimmed) selective.trimmed(Psn(static_cast<std::uint32_t>(packet.a)));
    if (packet.nak != NakCode::psn_sequence_error) return;
    return selective.reached(Psn(static_cast<std::uint32_t>(packet.a)), Psn(static_cast<std::uint32_t>(packet.b)),
                             seen);
  }
  const bool as_it_comes =
      packet.opcode == Op::read_response && reads_as_they_come(engine.profile(packet.destination).nic_placement);
  if (packet.opcode != Op::ack) selective.answered(packet.psn);
  // In turn, everything before it has been executed.
  selective.reached(packet.psn, as_it_comes ? una_ : packet.psn + 1, seen);
  selective.answer_seen(packet.psn, as_it_comes, seen);
}

}  // namespace loco::nic
