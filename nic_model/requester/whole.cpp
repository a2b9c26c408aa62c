// Requester: requests that complete once they are whole, in any order (srd, rud, rudi; docs/transports.md). Every
// packet is answered; the answer says which packet has arrived and up to where all have. A WRITE or SEND is done when
// all of its packets are known to have arrived, a READ when its data is complete.
#include "nic_model/connection/failure.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;
using fabric::NakCode;
using fabric::Psn;
}  // namespace

/// Completes a work request that is done, even if earlier ones are not.
void Requester::complete_alone(Engine& engine, QpId id, std::uint32_t number, sim::Duration delay) {
  SendEntry& e = edit(number);
  e.completed = true;
  if (e.wqe.signaled || e.status != Status::success) {
    write_cqe(engine, id, number, e.status, delay);
  } else {
    ++reaped_;  // no CQE of it will be polled
  }
}

/// This packet has arrived. Returns false if that was known.
bool Requester::has_come(Engine& engine, QpId id, Psn psn, sim::Duration delay) {
  const std::uint32_t number = holder_of(psn);
  if (number == started_ || entry(number).done || reads_or_atomic(entry(number).wqe.opcode)) return false;
  SendEntry& e = edit(number);
  if (!engine.tracks.place_once(e.track, e.packets, static_cast<std::uint32_t>(psn.distance(e.psn)))) {
    LOCO_PROBE(packet_acknowledged_twice);
    return false;
  }
  if (++e.acked != e.packets) return true;
  e.done = true;
  complete_alone(engine, id, number, delay);
  return true;
}

/// Advances `una_` to the oldest work request that is not done, and within a WRITE or SEND to its first missing packet.
void Requester::follow_answers(const Engine& engine, QpId id) {
  Psn una = una_;
  for (std::uint32_t number = completed_; number != started_; ++number) {
    const SendEntry& e = entry(number);
    if (e.status != Status::success) break;
    if (!e.done) {
      const std::int32_t known = std::max(una_.distance(e.psn), 0);
      una = e.psn;
      if (!reads_or_atomic(e.wqe.opcode))
        una = e.psn + engine.tracks.first_not_placed(e.track, static_cast<std::uint32_t>(known));
      break;
    }
    una = e.psn + e.packets;
  }
  progress(qp_settings(engine, id), una);
}

/// Marks all packets of a message that are not known to have arrived for retransmission, once the receiver may be
/// ready.
void Requester::receiver_of_message_not_ready(Engine& engine, QpId id, const fabric::Packet& nak) {
  const std::uint32_t which = holder_of(nak.psn);
  if (which == started_ || entry(which).done) return;
  const SendEntry& e = entry(which);
  selective_.edit().lose_all_of(e.psn, e.packets);
  LOCO_PROBE(message_finds_no_receive);
  if (!may_wait_for_receiver(engine, id, which)) return;
  cancel_timer(engine);
  rnr_wait_ = timer_pending_ = true;
  timer_ = engine.schedule(kEventRnrTimer, id, 0, engine.now() + sim::Duration{static_cast<std::int64_t>(nak.a)});
}

/// What an answer says of the packet that it answers, and of those before it. True when it is news that one has come.
bool Requester::take_answer(Engine& engine, QpId id, const fabric::Packet& packet) {
  PacketAnswers& state = packet_answers_.edit();
  const DeliveryPolicy& policy = policy_of(engine, id);
  const bool trimmed = packet.opcode == Op::nak && packet.nak == NakCode::packet_trimmed;
  if (packet.opcode == Op::ack || trimmed)
    state.entropies.answered(policy.paths, packet.entropy, !trimmed && !packet.marked);
  if (packet.opcode != Op::ack) return false;
  const Psn psn(static_cast<std::uint32_t>(packet.a));
  state.round_trips.answered(psn, false, engine.now());
  const sim::Duration delay = receive_buffer_time(engine, packet);
  bool news = has_come(engine, id, psn, delay);
  const Psn end = packet.psn + 1;
  if (state.all_come.distance(una_) < 0) state.all_come = una_;
  for (; state.all_come.distance(end) < 0; state.all_come = state.all_come + 1)
    news = has_come(engine, id, state.all_come, delay) || news;
  if (news) retries_ = qp_settings(engine, id).retry_count;
  return news;
}

void Requester::take_response_to_packet(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Psn una = una_;
  const std::uint32_t completed = completed_;
  note_response(engine, packet);
  tell_what_is_lost(engine, id, &packet);
  bool news = take_answer(engine, id, packet);
  if (packet.opcode == Op::read_response) {
    const std::uint32_t number = holder_of(packet.psn);
    const bool known = number != started_ && !entry(number).done;
    const std::uint32_t received = known ? entry(number).received : 0;
    take_loosely(engine, id, packet);
    news = known && (!holds(number) || entry(number).received != received);
    if (news) retries_ = qp_settings(engine, id).retry_count;
  } else if (packet.opcode == Op::nak && packet.nak == NakCode::receiver_not_ready) {
    receiver_of_message_not_ready(engine, id, packet);
  } else if (packet.opcode == Op::nak && packet.nak != NakCode::packet_trimmed) {
    fail(engine, id, holder_of(packet.psn), status_of(packet.nak));
  }
  if (!engine.connections[id].flushes_sends()) follow_answers(engine, id);
  // That of a packet which is sent again without need, and has come before, is none: else what never comes would be
  // sent for ever.
  news = news || una_ != una || completed_ != completed;
  answered(engine, id, packet, news, una);
}

}  // namespace loco::nic
