#include "nic_model/requester/acknowledge.hpp"

#include <algorithm>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/retransmit.hpp"

namespace loco::nic {

namespace {

using fabric::NakCode;
using fabric::Psn;
using Op = fabric::Opcode;

/// The PSN of the first packet that is missing of the answer to a READ or atomic.
Psn first_missing(const Engine& engine, const QueuePair& qp, const SendEntry& e) {
  return e.psn + static_cast<std::uint32_t>(e.received / engine.mtu(qp));
}

/// Everything before `una` is acknowledged. If that is news, all retries are left again.
void progress(Requester& rq, const QpSettings& settings, Psn una) {
  const std::int32_t ahead = una.distance(rq.una);
  const bool all_at_once = ahead == -static_cast<std::int32_t>(kPsnsMax);  // half of all PSNs, which has no sign
  if (ahead <= 0 && !all_at_once) return;
  rq.una = una;
  rq.retries = settings.retry_count;
  rq.rnr_retries = settings.rnr_retry;
  rq.recovering = false;
}

/// The oldest work request that is not done, once an answer has been looked at.
struct Oldest {
  std::uint32_t number = 0;
  bool implied_nak = false;  // it is a READ or an atomic whose response should have come before this answer
};

/// As acknowledge(), where answers overtake each other: that a READ or an atomic has no answer yet means nothing, it is
/// passed over.
Oldest acknowledge_loosely(Engine& engine, QpId id, Psn end) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  bool open = false;
  std::uint32_t oldest = 0;
  std::uint32_t number = rq.completed;
  for (; number != rq.started; ++number) {
    SendEntry& e = rq.entry(number);
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
  progress(rq, qp.settings, open ? rq.entry(oldest).psn : end);
  return {oldest, false};
}

/// Everything before `end` has reached the responder: WRITEs and SENDs are done. Goes on to the first READ or atomic,
/// which waits for data of its own.
Oldest acknowledge(Engine& engine, QpId id, Psn end) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  std::uint32_t number = rq.completed;
  for (; number != rq.started; ++number) {
    SendEntry& e = rq.entry(number);
    if (e.status != Status::success) break;  // it was never sent
    if (e.done) continue;
    if (reads_or_atomic(e.wqe.opcode)) {
      const Psn first = first_missing(engine, qp, e);
      const bool implied_nak = end.distance(first) > 0;
      progress(rq, qp.settings, implied_nak ? first : end);
      return {number, implied_nak};
    }
    if (end.distance(e.psn + e.packets) < 0) break;
    e.done = true;
  }
  progress(rq, qp.settings, end);
  if (rq.transmit_next == number && number != rq.started &&
      rq.entry(number).status == Status::success) {  // has gone back: what has come is not sent again
    SendEntry& e = rq.entry(number);
    const std::int32_t packets = end.distance(e.psn);
    if (packets > 0) {
      const std::uint64_t bytes = engine.mtu(qp) * static_cast<std::uint32_t>(packets);
      e.sent = std::max(e.sent, static_cast<std::uint32_t>(bytes));
    }
  }
  return {number, false};
}

/// Having gone back, the requester does not send again what has been answered meanwhile.
void skip_answered(Requester& rq) {
  while (rq.transmit_next != rq.started && rq.entry(rq.transmit_next).done) ++rq.transmit_next;
}

/// The work request that has this PSN; `started` if it is known no more.
std::uint32_t holder_of(const Requester& rq, Psn psn) {
  std::uint32_t number = rq.completed;
  for (; number != rq.started; ++number) {
    const SendEntry& e = rq.entry(number);
    const std::int32_t index = psn.distance(e.psn);
    if (e.status == Status::success && index >= 0 && static_cast<std::uint32_t>(index) < e.packets) break;
  }
  return number;
}

void refused(Engine& engine, QpId id, std::uint32_t oldest, const fabric::Packet& nak) {
  // Where answers overtake each other, what is refused need not be the oldest.
  const std::uint32_t which = engine.state.loose ? holder_of(engine.state.qps[id].requester, nak.psn) : oldest;
  switch (nak.nak) {
    case NakCode::psn_sequence_error:
      return retry(engine, id, oldest);
    case NakCode::receiver_not_ready:
      return receiver_not_ready(engine, id, which, oldest, sim::Duration{static_cast<std::int64_t>(nak.a)});
    case NakCode::invalid_request:
      return fail_work_request(engine, id, which, Status::rem_inv_req_err);
    case NakCode::remote_access_error:
      return fail_work_request(engine, id, which, Status::rem_access_err);
    case NakCode::none:
    case NakCode::remote_operational_error:
      return fail_work_request(engine, id, which, Status::rem_op_err);
  }
}

/// A READ that was executed several times: the answer of `execution` is the one that is taken, for `length` bytes from
/// `offset` on. Where the trace has another execution's aNRR for a word, which came first, this one replaces it.
void name_execution(Engine& engine, const QueuePair& qp, const SendEntry& e, std::uint64_t execution,
                    std::uint32_t offset, std::uint32_t length) {
  const ReadTrack& track = engine.state.tracks[e.track];
  if (execution >= track.again.size()) return;  // without the witness
  const Address from = e.wqe.remote + offset;
  for (Address word = word_of(from); word < from + length; word += 8) {
    const std::size_t index = (word - word_of(e.wqe.remote)) / 8;
    const Sample& sample = track.again[execution][index];
    if (track.sampled[index] == 0 || sample.seq == 0) continue;
    engine.repeat({.id = track.sampled[index],
                   .stamp = Stamp::aNRR,
                   .thread = qp.thread,
                   .op = e.wqe.op,
                   .peer = qp.peer_node,
                   .home = qp.peer_node,
                   .address = word,
                   .value = sample.value,
                   .source = sample.source,
                   .seq = sample.seq,
                   .at = sample.at});
  }
}

/// The data of a READ, from `offset` on, or of an atomic goes to memory; true when it is complete. Takes over the
/// packet's payload.
bool take_data(Engine& engine, QpId id, SendEntry& e, const fabric::Packet& packet, std::uint32_t offset) {
  const QueuePair& qp = engine.state.qps[id];
  const WriteOrigin origin{.stamp = Stamp::aNLW,
                           .atomic = packet.opcode == Op::atomic_response,
                           .thread = qp.thread,
                           .op = e.wqe.op,
                           .peer = qp.peer_node};
  if (packet.opcode == Op::atomic_response) {
    post_write(engine, qp.requester.domain, {.length = 8, .address = e.wqe.local, .value = packet.a}, origin, {},
               e.wqe.lkey);
    return true;
  }
  if (packet.length > 0) {
    if (e.track != kNone) name_execution(engine, qp, e, packet.b, offset, packet.length);
    post_write(engine, qp.requester.domain,
               {.buffer = packet.buffer,
                .offset = packet.offset,
                .length = packet.length,
                .ahead = crossed_ahead(engine, packet),
                .address = e.wqe.local + offset},
               origin, receive_buffer_time(engine, packet), e.wqe.lkey);
  }
  e.received += packet.length;
  return e.received == e.wqe.length;
}

/// A fault has executed requests, or completed them, out of order: each answer is taken for its own work request.
void unordered_response(Engine& engine, QpId id, const fabric::Packet& packet) {
  Requester& rq = engine.state.qps[id].requester;
  if (!rq.holds(packet.wqe) || rq.entry(packet.wqe).done) return engine.release(packet.buffer);
  if (packet.opcode == Op::nak) return refused(engine, id, packet.wqe, packet);
  SendEntry& e = rq.entry(packet.wqe);
  if (packet.opcode != Op::ack && !take_data(engine, id, e, packet, e.received)) return;
  e.done = true;
  if (reads_or_atomic(e.wqe.opcode)) --rq.outstanding;
  complete(engine, id, receive_buffer_time(engine, packet));
  start(engine, id, {});
}

bool answers(const SendEntry& e, const fabric::Packet& packet) {
  return packet.opcode == Op::read_response ? e.wqe.opcode == Opcode::rdma_read : is_atomic(e.wqe.opcode);
}

/// Has this packet of a READ's response not been placed before?
bool place_once(ReadTrack& track, std::uint32_t packets, std::uint32_t index) {
  track.placed.resize((packets + 63) / 64);
  std::uint64_t& word = track.placed[index / 64];
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  const bool is_new = (word & bit) == 0;
  word |= bit;
  return is_new;
}

/// An answer that others may have overtaken: it is taken for the READ or atomic that has its PSN, once.
void take_loosely(Engine& engine, QpId id, const fabric::Packet& packet) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  for (std::uint32_t number = rq.completed; number != rq.started; ++number) {
    SendEntry& e = rq.entry(number);
    const std::int32_t index = packet.psn.distance(e.psn);
    if (index < 0) break;
    if (static_cast<std::uint32_t>(index) >= e.packets) continue;
    if (e.done || !answers(e, packet)) break;
    if (e.track != kNone && !place_once(engine.state.tracks[e.track], e.packets, static_cast<std::uint32_t>(index))) {
      break;
    }
    const auto offset = static_cast<std::uint32_t>(engine.mtu(qp) * static_cast<std::uint32_t>(index));
    if (!take_data(engine, id, e, packet, offset)) return;
    e.done = true;
    --rq.outstanding;
    return;
  }
  engine.release(packet.buffer);
}

/// The PSN up to which an answer says that all requests have reached the responder.
Psn acknowledged_by(const Engine& engine, const Requester& rq, const fabric::Packet& packet) {
  if (packet.opcode == Op::ack) return packet.psn + 1;
  // Unordered READs are answered as they come: that says nothing of earlier requests.
  const bool alone = packet.opcode == Op::read_response && reads_as_they_come(engine.profile().nic_placement);
  return alone ? rq.una : packet.psn;
}

/// Data for the oldest work request; false when it is not what that waits for. Takes over the packet's payload.
bool take_in_order(Engine& engine, QpId id, std::uint32_t oldest, const fabric::Packet& packet) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (oldest == rq.started || !answers(rq.entry(oldest), packet)) {
    engine.release(packet.buffer);
    return false;
  }
  SendEntry& e = rq.entry(oldest);
  progress(rq, qp.settings, packet.psn + 1);
  if (take_data(engine, id, e, packet, e.received)) {
    e.done = true;
    --rq.outstanding;
  }
  return true;
}

/// Of what is acknowledged already, or was never sent: from a connection of the past that used the same PSNs.
bool is_ghost(const Requester& rq, const fabric::Packet& packet) {
  return packet.psn.distance(rq.una) < 0 || packet.psn.distance(rq.unsent_psn) >= 0;
}
}  // namespace

void response_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (packet.source_qp != qp.peer) return engine.release(packet.buffer);  // of a connection that is no more
  if (engine.fault(Fault::responder_reorders) || engine.fault(Fault::early_write_completion)) {
    return unordered_response(engine, id, packet);
  }
  if (is_ghost(rq, packet)) {
    expect_no_answer(engine, id);  // on a lossless network nothing else will come
    return engine.release(packet.buffer);
  }
  const bool has_data = packet.opcode == Op::read_response || packet.opcode == Op::atomic_response;
  const bool loose = engine.state.loose;
  const Psn una = rq.una;
  const Psn end = acknowledged_by(engine, rq, packet);
  const Oldest oldest = loose ? acknowledge_loosely(engine, id, end) : acknowledge(engine, id, end);
  if (oldest.implied_nak) {
    engine.release(packet.buffer);
    if (!rq.recovering) retry(engine, id, oldest.number);
  } else if (packet.opcode == Op::nak) {
    refused(engine, id, oldest.number, packet);
  } else if (has_data && loose) {
    take_loosely(engine, id, packet);
  } else if (has_data && !take_in_order(engine, id, oldest.number, packet)) {
    return;
  }
  skip_answered(rq);
  complete(engine, id, receive_buffer_time(engine, packet));
  if (rq.completed == rq.started) {
    stop_timer(engine, id);
  } else if (runs_timer(engine, rq) && (rq.una != una || (loose && has_data))) {
    restart_timer(engine, id);
  }
  start(engine, id, {});
  schedule_transmit(engine, id);
}

}  // namespace loco::nic
