// Requester: reads the payloads of work requests, and the operands of atomics, over PCIe. Interface and order:
// requester.hpp.
#include <algorithm>
#include <cstring>

#include "nic_model/host/process.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/parts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"

namespace loco::nic {

namespace {

/// In timed runs a payload gets its buffer when its turn comes, because buffers for a deep queue of long messages would
/// exceed any cache. In searches it gets it earlier, since the moment would otherwise distinguish equal states.
bool is_buffered_late(const Engine& engine) { return engine.kernel.bursts() && !engine.kernel.any_word_order(); }

bool needs_payload_read(const SendEntry& e) {
  return e.status == Status::success && e.payload_read < bytes_to_read(e.wqe);
}

/// With nic.word_order any: the end of the range that is read in any order from e.payload_read on. It is the packet's
/// end, since a packet leaves once it is complete, or the message's if words travel alone.
std::uint32_t parts_until(const Engine& engine, const Connection& qp, const SendEntry& e) {
  if (gathers(e.wqe)) return bytes_to_read(e.wqe);
  if (travels_by_words(engine, qp.type(), e.wqe.length)) return e.wqe.length;
  const std::uint64_t most = std::min<std::uint64_t>(mtu_of(engine, qp), kPartsBytesMax);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(e.wqe.length, (e.payload_read / most + 1) * most));
}

/// Parts by their addresses in memory; for operands and messages that travel by words, by their offset in the payload.
Parts parts_of(const Engine& engine, const Connection& qp, const SendEntry& e) {
  const std::uint32_t until = parts_until(engine, qp, e);
  if (gathers(e.wqe) || travels_by_words(engine, qp.type(), e.wqe.length)) return {8, 0, 0, until};
  return {engine.profile(qp.node()).nic_word_unit.count, e.wqe.local, e.payload_read, until};
}

/// Each operand is a read of its own.
PartCompletion completion_of_payload(const Engine& engine, const Connection& qp, const SendEntry& e, Part nth) {
  if (gathers(e.wqe)) return {nth.bytes, nth.offset + nth.bytes};
  const std::uint32_t from = travels_by_words(engine, qp.type(), e.wqe.length) ? 0 : e.payload_read;
  return completion_of(engine, qp.node(), e.wqe.local, from, parts_until(engine, qp, e), nth);
}

}  // namespace

/// With nic.word_order any: schedules the parts of a payload that may be read in any order now. Returns false if there
/// is only one part, which is then read as usual.
bool Requester::schedule_parts(Engine& engine, QpId id, std::uint32_t number, const SendEntry& e, sim::SimTime at) {
  if (!engine.kernel.any_word_order() || engine.fault(Fault::payload_reads_reorder)) return false;
  const Connection& qp = engine.connections[id];
  const Parts parts = parts_of(engine, qp, e);
  const std::uint32_t count = parts.count();
  if (count < 2) return false;
  const DrawnOrder order(engine, id, std::uint64_t{number} << 32U | e.payload_read, count);
  parts_left_ = static_cast<std::uint16_t>(count);
  at = std::max(at, engine.now());
  for (std::uint32_t i = 0; i < count; ++i) {
    engine.kernel.schedule_part(kEventReadPayload, id, number, order[i] + 1, at);
    at += completion_time(engine, qp.node(), completion_of_payload(engine, qp, e, parts.at(i)));
  }
  return true;
}

PayloadStep Requester::payload_part(const Engine& engine, QpId id, std::uint32_t number, std::uint32_t part) const {
  const SendEntry& e = entry(number);
  if (part == 0) return payload_step(engine, engine.connections[id].node(), e.wqe, e.payload_read);
  const Part read = parts_of(engine, engine.connections[id], e).at(part - 1);
  if (gathers(e.wqe)) return payload_step(engine, engine.connections[id].node(), e.wqe, read.offset);
  return {e.wqe.local + read.offset, read.bytes};
}

void Requester::read_part(Engine& engine, QpId id, std::uint32_t number, std::uint32_t part) {
  const Connection& qp = engine.connections[id];
  --parts_left_;
  payload_event_ = parts_left_ != 0;
  if (!holds(number)) return payload_event_ ? void() : schedule_payload(engine, id);  // flushed
  SendEntry& e = edit(number);
  const Parts parts = parts_of(engine, qp, e);
  const std::uint32_t until = parts_until(engine, qp, e);
  const Part read = parts.at(part - 1);
  const PartCompletion sent = completion_of_payload(engine, qp, e, parts.at(parts.count() - 1 - parts_left_));
  sample(engine, qp.node(), payload_part(engine, id, number, part).address,
         BufferPart{e.buffer, read.offset, read.bytes},
         {.stamp = Stamp::aNLR, .thread = qp.thread(), .op = e.wqe.op, .peer = engine.node_of(qp.peer_node())});
  if (travels_by_words(engine, qp.type(), e.wqe.length) && !gathers(e.wqe)) {
    engine.payloads.note_read(e.buffer, part - 1);
    e.payload_read += read.bytes;
  } else if (!payload_event_) {
    e.payload_read = until;
  }
  sim::SimTime link_free = engine.now();
  if (sent.bytes != 0) {
    e.ready = return_data(engine, qp.node(), sent.bytes, link_free, {e.wqe.lkey, sent.done, bytes_to_read(e.wqe)});
  }
  if (!payload_event_) payload_goes_on(engine, id, number, link_free);
  schedule_transmit(engine, id);
}

/// The scheduled part of a payload has been read: continues with the rest of it, or with the next payload.
void Requester::payload_goes_on(Engine& engine, QpId id, std::uint32_t number, sim::SimTime link_free) {
  const SendEntry& e = entry(number);
  if (needs_payload_read(e)) {
    payload_event_ = !engine.fault(Fault::payload_reads_reorder);
    return schedule_read(engine, id, number, e, link_free);
  }
  schedule_payload(engine, id);
  start(engine, id, {});  // a fence may have waited for this read
}

/// Where a burst that begins now ends, at the end of a packet: the next one if that waits for it, a later one if
/// packets that have been read before are still to leave.
std::uint32_t Requester::burst_until(std::uint32_t number, std::uint64_t mtu) const {
  constexpr std::uint64_t kPackets = 16;
  const SendEntry& e = entry(number);
  const std::uint64_t packet = e.payload_read / mtu;
  const bool others = number != transmit_next_ || e.payload_read >= e.sent + 2 * mtu;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(e.wqe.length, (packet + (others ? kPackets : 1)) * mtu));
}

/// The next packet waits for data in the midst of a burst: its end gets an event of its own.
void Requester::shorten_payload_burst(Engine& engine, QpId id) {
  if (!payload_burst_ || transmit_next_ != payload_next_) return;
  const SendEntry& e = entry(payload_next_);
  const std::uint32_t wanted =
      e.sent + static_cast<std::uint32_t>(mtu_of(engine, engine.connections[id], e.wqe.length));
  if (e.payload_read < wanted && wanted < bursts_of(engine, engine.connections[id].node()).read().stop)
    break_payload_burst(engine, id);
}

/// Schedules the next step of a payload's PCIe read. Steps up to the end of a packet may form a burst, because a packet
/// waits only for the last of them.
void Requester::schedule_read(Engine& engine, QpId id, std::uint32_t number, const SendEntry& e, sim::SimTime at) {
  if (schedule_parts(engine, id, number, e, at)) return;
  const NicId node = engine.connections[id].node();
  const PayloadStep step = payload_step(engine, engine.connections[id].node(), e.wqe, e.payload_read);
  if (engine.kernel.bursts() && sends_payload(e.wqe.opcode)) {
    const std::uint64_t mtu = mtu_of(engine, engine.connections[id]);
    payload_burst_ = begin_burst(engine, node,
                                 {.qp = id,
                                  .number = number,
                                  .address = e.wqe.local,
                                  .buffer = e.buffer,
                                  .key = e.wqe.lkey,
                                  .length = e.wqe.length,
                                  .done = e.payload_read,
                                  .stop = burst_until(number, mtu),
                                  .next = at});
    if (payload_burst_) return;
  }
  prefetch_copy(engine, engine.host_of(node), step.address, e.buffer, e.payload_read, step.bytes);
  engine.schedule(kEventReadPayload, id, number, at);
}

/// Takes over the progress of a burst.
void Requester::take_over(const ReadBurst& burst) {
  SendEntry& e = edit(static_cast<std::uint32_t>(burst.number));
  if (burst.done == e.payload_read) return;
  e.payload_read = burst.done;
  e.ready = burst.there;
}

/// Call this before using how much of a payload has been read.
void Requester::settle_payload_burst(Engine& engine, QpId id) {
  const NicId node = engine.connections[id].node();
  settle_read_burst(engine, node);
  take_over(bursts_of(engine, node).read());
}

/// Call this before dropping the payload that is being read.
void Requester::break_payload_burst(Engine& engine, QpId id) {
  if (!payload_burst_) return;
  payload_burst_ = false;
  ReadBurst burst;
  break_read_burst(engine, engine.connections[id].node(), burst);
  take_over(burst);
}

/// Issues the read of a payload, if there is one.
void Requester::issue_payload_read(Engine& engine, QpId id, std::uint32_t number, sim::Duration begun,
                                   sim::Duration stall) {
  SendEntry& e = edit(number);
  if (!needs_payload_read(e)) return;
  const std::uint32_t bytes = bytes_to_read(e.wqe);
  if (!is_buffered_late(engine)) e.buffer = engine.payloads.acquire(bytes);
  if (engine.kernel.any_word_order() && bytes > 8 && bytes <= kPartsBytesMax) {
    engine.payloads.fill_in_any_order(e.buffer);
  }
  issue_read(engine, domain_, {.kind = ReadKind::payload, .where = id, .number = number}, bytes, begun,
             {e.wqe.lkey, payload_step(engine, engine.connections[id].node(), e.wqe, 0).address}, stall);
}

void Requester::schedule_payload(Engine& engine, QpId id) {
  while (payload_next_ != started_ && !needs_payload_read(entry(payload_next_))) ++payload_next_;
  if (payload_next_ == started_ || payload_event_ || engine.fault(Fault::payload_reads_reorder)) return;
  SendEntry& e = edit(payload_next_);
  if (!e.read_ready) return;
  payload_event_ = true;
  if (e.buffer == fabric::kNoBuffer) e.buffer = engine.payloads.acquire(bytes_to_read(e.wqe));
  // Its turn: the previous payload's data is on the link.
  const NicId node = engine.connections[id].node();
  const sim::Duration begin = engine.profile(node).nic_wqe_start;
  schedule_read(engine, id, payload_next_, e,
                take_request(engine, node, e.wqe.lkey, bytes_to_read(e.wqe), e.ready, e.reach, begin));
}

void Requester::payload_read_may_execute(Engine& engine, const HeldRead& read) {
  const QpId id = read.where;
  const auto number = static_cast<std::uint32_t>(read.number);
  if (!holds(number)) return;  // flushed
  SendEntry& e = edit(number);
  e.read_ready = true;
  e.ready = read.due;
  e.reach = read.reach;
  if (!engine.fault(Fault::payload_reads_reorder)) return schedule_payload(engine, id);
  const NicId node = engine.connections[id].node();
  engine.schedule(
      kEventReadPayload, id, number,
      take_request(engine, node, read.key, read.bytes, read.due, read.reach, engine.profile(node).nic_wqe_start));
}

void Requester::read_payload(Engine& engine, QpId id, std::uint32_t number, std::uint32_t part) {
  if (part != 0) return read_part(engine, id, number, part);
  const Connection& qp = engine.connections[id];
  if (payload_burst_) {
    ReadBurst burst;
    if (!end_burst(engine, qp.node(), burst)) return;
    payload_burst_ = false;
    take_over(burst);
  }
  if (!engine.fault(Fault::payload_reads_reorder)) payload_event_ = false;
  if (!holds(number)) return schedule_payload(engine, id);  // flushed or RESET; others may wait for their turn
  SendEntry& e = edit(number);
  if (!needs_payload_read(e)) return schedule_payload(engine, id);  // it has left without: nic.stale_operands
  const PayloadStep step = payload_step(engine, engine.connections[id].node(), e.wqe, e.payload_read);
  sample(engine, qp.node(), step.address, BufferPart{e.buffer, e.payload_read, step.bytes},
         {.stamp = Stamp::aNLR, .thread = qp.thread(), .op = e.wqe.op, .peer = engine.node_of(qp.peer_node())});
  e.payload_read += step.bytes;
  sim::SimTime link_free;
  e.ready = return_data(engine, qp.node(), step.bytes, link_free, {e.wqe.lkey, e.payload_read, bytes_to_read(e.wqe)});
  if (is_scattered(e.wqe.local) && e.payload_read < e.wqe.length) {
    ask_for_element(engine, qp.node(), e.wqe.local + e.payload_read);
  }
  payload_goes_on(engine, id, number, link_free);
  schedule_transmit(engine, id);
}

/// A flaw (nic.stale_operands): replaces the operands that have not been read by the words that the NIC read last. They
/// are not read any more.
void Requester::take_stale_operands(Engine& engine, NicId node, SendEntry& e) {
  const std::array<std::uint64_t, 2>& last = engine.links[node].words_read();
  const std::uint32_t words = bytes_to_read(e.wqe) / 8;
  std::byte* into = engine.payloads.edit(e.buffer);
  for (std::uint32_t i = 0; i < words; ++i) {
    std::memcpy(into + std::size_t{8} * i, &last[last.size() - words + i], 8);
  }
  e.payload_read = bytes_to_read(e.wqe);
}

}  // namespace loco::nic
