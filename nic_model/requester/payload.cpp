// Requester: reading the payloads of work requests, and the operands of atomics, over PCIe. Interface and order:
// requester.hpp.
#include <algorithm>
#include <cstring>

#include "nic_model/host/process.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"

namespace loco::nic {

namespace {

bool needs_payload_read(const SendEntry& e) {
  return e.status == Status::success && e.payload_read < bytes_to_read(e.wqe);
}

}  // namespace

/// The next step of a payload's PCIe read: up to the end of a packet they may be a burst. Packets wait for no other
/// step.
void Requester::schedule_read(Engine& engine, QpId id, std::uint32_t number, const SendEntry& e, sim::SimTime at) {
  const NodeId node = engine.connections[id].node();
  const PayloadStep step = payload_step(engine, e.wqe, e.payload_read);
  if (engine.kernel.bursts() && sends_payload(e.wqe.opcode)) {
    const std::uint64_t mtu = mtu_of(engine, engine.connections[id]);
    const auto stop =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(e.wqe.length, (e.payload_read / mtu + 1) * mtu));
    payload_burst_ = begin_burst(engine, node,
                                 {.qp = id,
                                  .number = number,
                                  .address = e.wqe.local,
                                  .buffer = e.buffer,
                                  .key = e.wqe.lkey,
                                  .length = e.wqe.length,
                                  .done = e.payload_read,
                                  .stop = stop,
                                  .next = at});
    if (payload_burst_) return;
  }
  prefetch_copy(engine, node, step.address, e.buffer, e.payload_read, step.bytes);
  engine.schedule(kEventReadPayload, id, number, at);
}

/// What a burst has read.
void Requester::take_over(const ReadBurst& burst) {
  SendEntry& e = edit(static_cast<std::uint32_t>(burst.number));
  if (burst.done == e.payload_read) return;
  e.payload_read = burst.done;
  e.ready = burst.there;
}

/// Before it matters how much of a payload has been read.
void Requester::settle_payload_burst(Engine& engine, QpId id) {
  const NodeId node = engine.connections[id].node();
  settle_read_burst(engine, node);
  take_over(bursts_of(engine, node).read());
}

/// Before what is being read is dropped.
void Requester::break_payload_burst(Engine& engine, QpId id) {
  if (!payload_burst_) return;
  payload_burst_ = false;
  ReadBurst burst;
  break_read_burst(engine, engine.connections[id].node(), burst);
  take_over(burst);
}

/// If there is something to read.
void Requester::issue_payload_read(Engine& engine, QpId id, std::uint32_t number, sim::Duration begun,
                                   sim::Duration stall) {
  SendEntry& e = edit(number);
  if (!needs_payload_read(e)) return;
  const std::uint32_t bytes = bytes_to_read(e.wqe);
  e.buffer = engine.payloads.acquire(bytes);
  issue_read(engine, domain_, {.kind = ReadKind::payload, .where = id, .number = number}, bytes, begun,
             {e.wqe.lkey, payload_step(engine, e.wqe, 0).address}, stall);
}

void Requester::schedule_payload(Engine& engine, QpId id) {
  while (payload_next_ != started_ && !needs_payload_read(entry(payload_next_))) ++payload_next_;
  if (payload_next_ == started_ || payload_event_ || engine.fault(Fault::payload_reads_reorder)) return;
  const SendEntry& e = entry(payload_next_);
  if (!e.read_ready) return;
  payload_event_ = true;
  // Its turn: the data of the payload before it is on the link.
  const NodeId node = engine.connections[id].node();
  const sim::Duration begin = engine.profile().nic_wqe_start;
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
  const NodeId node = engine.connections[id].node();
  engine.schedule(
      kEventReadPayload, id, number,
      take_request(engine, node, read.key, read.bytes, read.due, read.reach, engine.profile().nic_wqe_start));
}

void Requester::read_payload(Engine& engine, QpId id, std::uint32_t number) {
  const Connection& qp = engine.connections[id];
  if (payload_burst_) {
    ReadBurst burst;
    if (!end_burst(engine, qp.node(), burst)) return;
    payload_burst_ = false;
    take_over(burst);
  }
  if (!engine.fault(Fault::payload_reads_reorder)) payload_event_ = false;
  if (!holds(number)) return schedule_payload(engine, id);  // flushed or RESET; others may wait behind it
  SendEntry& e = edit(number);
  if (!needs_payload_read(e)) return schedule_payload(engine, id);  // it has left without: nic.stale_operands
  const PayloadStep step = payload_step(engine, e.wqe, e.payload_read);
  sample(engine, qp.node(), step.address, BufferPart{e.buffer, e.payload_read, step.bytes},
         {.stamp = Stamp::aNLR, .thread = qp.thread(), .op = e.wqe.op, .peer = qp.peer_node()});
  e.payload_read += step.bytes;
  sim::SimTime link_free;
  e.ready = return_data(engine, qp.node(), step.bytes, link_free, {e.wqe.lkey, e.payload_read, bytes_to_read(e.wqe)});
  if (needs_payload_read(e)) {
    payload_event_ = !engine.fault(Fault::payload_reads_reorder);
    schedule_read(engine, id, number, e, link_free);
  } else {
    schedule_payload(engine, id);
    start(engine, id, {});  // a fence may have waited for this read
  }
  schedule_transmit(engine, id);
}

/// A flaw (nic.stale_operands): what has not been read of the operands is what the NIC has read last, and will not be
/// read any more.
void Requester::take_stale_operands(Engine& engine, NodeId node, SendEntry& e) {
  const std::array<std::uint64_t, 2>& last = engine.links[node].words_read();
  const std::uint32_t words = bytes_to_read(e.wqe) / 8;
  std::byte* into = engine.payloads.edit(e.buffer);
  for (std::uint32_t i = 0; i < words; ++i) {
    std::memcpy(into + std::size_t{8} * i, &last[last.size() - words + i], 8);
  }
  e.payload_read = bytes_to_read(e.wqe);
}

}  // namespace loco::nic
