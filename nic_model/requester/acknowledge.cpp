// Requester: handling of answers, that is ACKs, NAKs and responses (IBTA volume 1, 9.7.5 and 9.7.6). Interface and
// order: requester.hpp. Missing answers: retransmit.cpp.
#include <algorithm>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {

using fabric::NakCode;
using fabric::Psn;
using Op = fabric::Opcode;

/// PSN of the first missing packet of the answer to a READ or atomic.
Psn first_missing(const Engine& engine, const Connection& qp, const SendEntry& e) {
  return e.psn + static_cast<std::uint32_t>(e.received / mtu_of(engine, qp, e.wqe.length));
}

/// A READ may have been executed several times. This names the execution whose answer is taken, from `offset` on: if
/// the trace has an earlier execution's aNRR for a word, it is replaced.
void name_execution(Engine& engine, const Connection& qp, const SendEntry& e, const fabric::Packet& packet,
                    std::uint32_t offset) {
  const Address from = e.wqe.remote + offset;
  for (Address word = word_of(from); word < from + packet.length; word += 8) {
    const RepeatedSample* sample = engine.payloads.repeated(packet.buffer, word);
    if (sample == nullptr) continue;
    engine.repeat({.id = sample->id,
                   .stamp = Stamp::aNRR,
                   .thread = qp.thread(),
                   .op = e.wqe.op,
                   .peer = engine.node_of(qp.peer_node()),
                   .home = engine.node_of(qp.peer_node()),
                   .address = word,
                   .value = sample->value,
                   .source = sample->source,
                   .seq = sample->seq,
                   .at = sample->at});
  }
}

bool answers(const SendEntry& e, const fabric::Packet& packet) {
  return packet.opcode == Op::read_response ? e.wqe.opcode == Opcode::rdma_read : is_atomic(e.wqe.opcode);
}

/// The PSN after the successful work requests from `number` on that are done; `una` if there are none.
Psn end_of_done(const Requester& requester, std::uint32_t number, std::uint32_t started, Psn una) {
  for (; number != started && requester.entry(number).done; ++number) {
    const SendEntry& e = requester.entry(number);
    if (e.status != Status::success) break;
    una = e.psn + e.packets;
  }
  return una;
}

}  // namespace

Status status_of(NakCode nak) {
  switch (nak) {
    case NakCode::invalid_request:
      return Status::rem_inv_req_err;
    case NakCode::remote_access_error:
      return Status::rem_access_err;
    default:
      return Status::rem_op_err;
  }
}

/// Everything before `una` is acknowledged. Progress restores all retries.
void Requester::progress(const QpSettings& settings, Psn una) {
  const std::int32_t ahead = una.distance(una_);
  const bool all_at_once = ahead == -static_cast<std::int32_t>(kPsnsMax);  // half of all PSNs: the sign is ambiguous
  if (ahead <= 0 && !all_at_once) return;
  if (all_at_once) LOCO_PROBE(all_psns_acknowledged_at_once);
  una_ = una;
  retries_ = settings.retry_count;
  rnr_retries_ = settings.rnr_retry;
  recovering_ = false;
}

/// Like acknowledge(), for answers that may overtake each other: a READ or an atomic without an answer is skipped,
/// because its answer may still come.
Requester::Oldest Requester::acknowledge_loosely(const Engine& engine, const Connection& qp, Psn end) {
  bool open = false;
  std::uint32_t oldest = 0;
  std::uint32_t number = completed_;
  for (; number != started_; ++number) {
    SendEntry& e = edit(number);
    if (e.done) continue;
    const bool covered = end.distance(e.psn + e.packets) >= 0;
    if (reads_or_atomic(e.wqe.opcode)) {
      if (!open) oldest = number;
      open = true;
    } else if (covered) {
      e.done = true;
    }
    if (!covered) break;
  }
  if (!open) oldest = number;
  progress(qp_settings(engine, qp), open ? entry(oldest).psn : end);
  return {oldest, false};
}

/// Everything before `end` has reached the responder, which completes WRITEs and SENDs. Stops at the first READ or
/// atomic that still waits for its data.
Requester::Oldest Requester::acknowledge(const Engine& engine, const Connection& qp, Psn end) {
  std::uint32_t number = completed_;
  for (; number != started_; ++number) {
    SendEntry& e = edit(number);
    if (e.status != Status::success) break;  // it failed locally and was never sent
    if (e.done) continue;
    if (reads_or_atomic(e.wqe.opcode)) {
      const Psn first = first_missing(engine, qp, e);
      const bool implied_nak = end.distance(first) > 0;
      progress(qp_settings(engine, qp), implied_nak ? first : end);
      return {number, implied_nak};
    }
    if (end.distance(e.psn + e.packets) < 0) break;
    e.done = true;
  }
  progress(qp_settings(engine, qp), end);
  return {number, false};
}

/// After going back, skips the packets of this work request that are acknowledged meanwhile.
void Requester::skip_acknowledged(const Engine& engine, const Connection& qp, std::uint32_t number, Psn end) {
  if (number == started_ || entry(number).status != Status::success) return;
  SendEntry& e = edit(number);
  if (reads_or_atomic(e.wqe.opcode)) return;
  const std::int32_t packets = end.distance(e.psn);
  if (packets <= 0) return;
  LOCO_PROBE(packets_skipped_after_go_back);
  const std::uint64_t bytes = mtu_of(engine, qp, e.wqe.length) * static_cast<std::uint32_t>(packets);
  e.sent = std::max(e.sent, static_cast<std::uint32_t>(bytes));
}

/// After going back, skips work requests that have been answered meanwhile.
void Requester::skip_answered() {
  for (; transmit_next_ != started_ && entry(transmit_next_).done; ++transmit_next_)
    LOCO_PROBE(request_skipped_after_go_back);
}

/// The work request with this PSN; `started_` if none is known.
std::uint32_t Requester::holder_of(Psn psn) const {
  std::uint32_t number = completed_;
  for (; number != started_; ++number) {
    const SendEntry& e = entry(number);
    const std::int32_t index = psn.distance(e.psn);
    if (e.status == Status::success && index >= 0 && static_cast<std::uint32_t>(index) < e.packets) break;
  }
  return number;
}

void Requester::refused(Engine& engine, QpId id, std::uint32_t oldest, const fabric::Packet& nak) {
  // Where answers may overtake each other, the refused request need not be the oldest.
  const std::uint32_t which = policy_of(engine, id).order.answers_early ? holder_of(nak.psn) : oldest;
  if (nak.nak == NakCode::packet_trimmed) {  // selective repeat has noted it for retransmission
    LOCO_PROBE(nak_of_a_trimmed_packet);
    return;
  }
  if (nak.nak == NakCode::psn_sequence_error) {
    LOCO_PROBE(nak_of_a_gap);
    if (!policy_of(engine, id).recovery.selective) retry(engine, id, oldest);
    return;
  }
  if (nak.nak == NakCode::receiver_not_ready) {
    LOCO_PROBE(rnr_nak);
    return receiver_not_ready(engine, id, which, oldest, sim::Duration{static_cast<std::int64_t>(nak.a)});
  }
  LOCO_PROBE(request_refused);
  fail(engine, id, which, status_of(nak.nak));
}

/// Writes the data of a READ from `offset` on, or of an atomic, to memory. Returns true once it is complete. Takes
/// ownership of the payload.
bool Requester::take_data(Engine& engine, QpId id, SendEntry& e, const fabric::Packet& packet, std::uint32_t offset) {
  const Connection& qp = engine.connections[id];
  const WriteOrigin origin{.stamp = Stamp::aNLW,
                           .atomic = packet.opcode == Op::atomic_response,
                           .thread = qp.thread(),
                           .op = e.wqe.op,
                           .peer = qp.peer_node()};
  if (packet.opcode == Op::atomic_response) {
    post_write(engine, domain_, {.length = 8, .address = e.wqe.local, .value = packet.a}, origin, {}, e.wqe.lkey);
    return true;
  }
  if (packet.length > 0) {
    if (travels_by_words(engine, qp.type(), e.wqe.length)) offset = packet.offset;
    if (engine.witness()) name_execution(engine, qp, e, packet, offset);
    post_write(engine, domain_,
               {.buffer = packet.buffer,
                .offset = packet.offset,
                .length = packet.length,
                .ahead = crossed_ahead(engine, packet),
                .call = e.wqe.op,
                .address = e.wqe.local + offset,
                .received_by = packet.destination,
                .message = engine.kernel.any_word_order() ? message_of(id, packet.wqe, false) : 0},
               origin, receive_buffer_time(engine, packet), e.wqe.lkey);
  }
  e.received += packet.length;
  return e.received == e.wqe.length;
}

/// True if a packet of READ data has the length that this end's path MTU requires. `last`: it is the last packet.
bool Requester::fits(const Engine& engine, QpId id, const fabric::Packet& packet, bool last) {
  return packet.opcode != Op::read_response ||
         fits_path(engine, engine.connections[id], packet.length, last, packet.total);
}

/// With a fault that executes or completes requests out of order, each answer belongs to the work request that it
/// names.
void Requester::take_unordered(Engine& engine, QpId id, const fabric::Packet& packet) {
  if (!holds(packet.wqe) || entry(packet.wqe).done) {
    time_next_answer(engine, id);
    return engine.release(packet.buffer);
  }
  if (packet.opcode == Op::nak) return refused(engine, id, packet.wqe, packet);
  SendEntry& e = edit(packet.wqe);
  if (packet.opcode != Op::ack && !take_data(engine, id, e, packet, e.received)) return;
  e.done = true;
  if (reads_or_atomic(e.wqe.opcode)) --outstanding_;
  complete(engine, id, receive_buffer_time(engine, packet));
  time_next_answer(engine, id);
  start(engine, id, {});
}

/// Takes an answer that others may have overtaken, once, for the READ or atomic with its PSN.
void Requester::take_loosely(Engine& engine, QpId id, const fabric::Packet& packet) {
  for (std::uint32_t number = completed_; number != started_; ++number) {
    SendEntry& e = edit(number);
    const std::int32_t index = packet.psn.distance(e.psn);
    if (index < 0) break;
    if (static_cast<std::uint32_t>(index) >= e.packets) continue;
    if (e.done || !answers(e, packet)) break;
    if (e.track != kNone && !engine.tracks.place_once(e.track, e.packets, static_cast<std::uint32_t>(index))) {
      LOCO_PROBE(read_data_comes_twice);
      break;
    }
    if (!fits(engine, id, packet, static_cast<std::uint32_t>(index) + 1 == e.packets)) {
      LOCO_PROBE(read_data_of_another_path_mtu);
      engine.release(packet.buffer);
      return fail(engine, id, number, Status::loc_len_err);
    }
    const std::uint64_t offset =
        mtu_of(engine, engine.connections[id], e.wqe.length) * static_cast<std::uint32_t>(index);
    if (!take_data(engine, id, e, packet, static_cast<std::uint32_t>(offset))) return;
    e.done = true;
    --outstanding_;
    if (policy_of(engine, id).order.when_whole)
      return complete_alone(engine, id, number, receive_buffer_time(engine, packet));
    // No other answer may be in flight that would acknowledge it, and later work requests may wait for that.
    progress(qp_settings(engine, id), end_of_done(*this, completed_, started_, una_));
    return;
  }
  engine.release(packet.buffer);
}

/// The PSN up to which an answer proves that requests have reached the responder.
Psn Requester::acknowledged_by(const Engine& engine, const fabric::Packet& packet) const {
  if (packet.opcode == Op::ack) return packet.psn + 1;
  // A READ that is executed as it arrives is answered early, which proves nothing about earlier requests.
  const bool alone = packet.opcode == Op::read_response && policy_of(engine, packet.destination_qp).order.reads_early;
  return alone ? una_ : packet.psn;
}

/// Takes data for the oldest work request. Returns false if that one waits for something else. Takes ownership of the
/// payload.
bool Requester::take_in_order(Engine& engine, QpId id, std::uint32_t oldest, const fabric::Packet& packet) {
  if (oldest == started_ || !answers(entry(oldest), packet)) {
    LOCO_PROBE(data_that_nobody_waits_for);
    engine.release(packet.buffer);
    return false;
  }
  SendEntry& e = edit(oldest);
  if (!fits(engine, id, packet, e.received + packet.length >= e.wqe.length)) {
    LOCO_PROBE(read_data_of_another_path_mtu);
    engine.release(packet.buffer);
    fail(engine, id, oldest, Status::loc_len_err);
    return true;
  }
  progress(qp_settings(engine, id), packet.psn + 1);
  if (take_data(engine, id, e, packet, e.received)) {
    e.done = true;
    --outstanding_;
  }
  return true;
}

/// True for an answer to something already acknowledged or never sent: it comes from an earlier connection that used
/// the same PSNs.
bool Requester::is_ghost(const fabric::Packet& packet, bool when_whole) const {
  // The PSN that counts is the one that the answer is about: a NAK of a trimmed packet, or an ACK of a single packet,
  // is valid even after later answers.
  const bool trimmed = packet.opcode == Op::nak && packet.nak == NakCode::packet_trimmed;
  const bool come = when_whole && packet.opcode == Op::ack && packet.psn.distance(una_) < 0;
  const Psn psn = trimmed || come ? Psn(static_cast<std::uint32_t>(packet.a)) : packet.psn;
  return psn.distance(una_) < 0 || psn.distance(unsent_psn_) >= 0;
}

/// Lets the window grow by what has been acknowledged since `before`.
void Requester::grow_window(const Engine& engine, const Connection& qp, Psn before) {
  const std::uint64_t mtu = mtu_of(engine, qp) + engine.profile(qp.node()).link_overhead.count;
  const std::uint64_t per_second = engine.network.port_rate(port_of(engine, qp)).value / (8 * mtu);
  const auto packets = static_cast<std::uint32_t>(std::max(una_.distance(before), 0));
  window_.edit().acknowledged(una_, packets, engine.now(), per_second);
}

/// Acts on an answer. `news`: something was acknowledged; `before` is the oldest unacknowledged PSN before it.
void Requester::answered(Engine& engine, QpId id, const fabric::Packet& packet, bool news, Psn before) {
  skip_answered();
  skip_acknowledged(engine, engine.connections[id], transmit_next_, una_);
  if (news && engine.kernel.windows()) grow_window(engine, engine.connections[id], before);
  if (una_ != before && engine.kernel.controls()) tell_acknowledged(engine, id, una_);
  if (policy_of(engine, id).recovery.selective) selective_.edit().forget_before(una_);
  complete(engine, id, receive_buffer_time(engine, packet));
  if (news || completed_ == started_) time_next_answer(engine, id);
  start(engine, id, {});
  schedule_transmit(engine, id);
}

void Requester::take_response(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  const Connection& qp = engine.connections[id];
  if (packet.source_qp != qp.peer()) {  // from an earlier connection
    LOCO_PROBE(answer_of_a_past_connection);
    return engine.release(packet.buffer);
  }
  if (engine.fault(Fault::responder_reorders) || engine.fault(Fault::early_write_completion)) {
    return take_unordered(engine, id, packet);
  }
  const DeliveryPolicy& policy = policy_of(engine, qp);
  if (is_ghost(packet, policy.order.when_whole)) {
    LOCO_PROBE(late_answer);
    expect_no_answer(engine, id, engine.now());  // on a lossless network no other answer will come
    engine.release(packet.buffer);
    if (engine.kernel.controls()) schedule_transmit(engine, id);  // it may have opened a congestion window
    return;
  }
  if (policy.order.when_whole) return take_response_to_packet(engine, packet);
  const bool has_data = packet.opcode == Op::read_response || packet.opcode == Op::atomic_response;
  const bool loose = policy.order.answers_early;
  const Psn una = una_;
  if (policy.recovery.selective) {
    note_response(engine, packet);
    tell_what_is_lost(engine, id, &packet);
  }
  const Psn end = acknowledged_by(engine, packet);
  const Oldest oldest = loose ? acknowledge_loosely(engine, qp, end) : acknowledge(engine, qp, end);
  if (oldest.implied_nak) {
    LOCO_PROBE(implied_nak);
    engine.release(packet.buffer);
    if (!recovering_ && policy.recovery.naks_gaps) retry(engine, id, oldest.number);
  } else if (packet.opcode == Op::nak) {
    refused(engine, id, oldest.number, packet);
  } else if (has_data && loose) {
    take_loosely(engine, id, packet);
  } else if (has_data && !take_in_order(engine, id, oldest.number, packet)) {
    return;
  }
  answered(engine, id, packet, una != una_ || (loose && has_data), una);
}

}  // namespace loco::nic
