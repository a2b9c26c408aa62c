#include "nic_model/requester/requester.hpp"

#include <algorithm>
#include <cstring>

#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/retransmit.hpp"
#include "nic_model/verbs/queue_pair.hpp"

namespace loco::nic {

namespace {

bool sends_payload(Opcode op) { return op == Opcode::rdma_write || op == Opcode::send; }

bool gathers(const Wqe& wqe) { return wqe.gather && is_atomic(wqe.opcode); }

bool needs_payload_read(const SendEntry& e) {
  return e.status == Status::success && e.payload_read < bytes_to_read(e.wqe);
}

/// An atomic that a flaw lets leave with whatever words the NIC has read last.
bool leaves_early(const HardwareProfile& p, const QueuePair& qp, const Wqe& wqe) {
  if (p.nic_stale_operands == StaleOperands::none || !gathers(wqe) || qp.peer_node != qp.node) return false;
  const StaleOperands kind = wqe.opcode == Opcode::fetch_add ? StaleOperands::add : StaleOperands::compare;
  return p.nic_stale_operands == kind || p.nic_stale_operands == StaleOperands::both;
}

/// What the requester itself finds wrong with a work request when it starts it.
Status local_check(const Engine& engine, const QueuePair& qp, const Wqe& wqe) {
  const fabric::FlowOptions& flow = engine.state.fabric.config().flow;
  const std::uint64_t mtu = flow.enabled ? flow.mtu.count : engine.profile().link_mtu.count;
  // A message has its PSNs on their way at once, also where packets are smaller than InfiniBand's 256 bytes.
  const bool one_packet = qp.type == QpType::ud || (wqe.opcode == Opcode::send && !engine.profile().nic_send_segments);
  const std::uint64_t most = one_packet ? mtu : std::min(engine.profile().nic_max_message.count, mtu * kPsnsMax);
  if (wqe.length > most || (is_atomic(wqe.opcode) && wqe.length != 8)) return Status::loc_len_err;
  if (wqe.inline_data || wqe.length == 0) return Status::success;
  for (std::uint32_t done = 0; gathers(wqe) && done < bytes_to_read(wqe); done += 8) {
    if (!engine.allowed(wqe.lkey, qp.node, payload_step(engine, wqe, done).address, 8, 0)) return Status::loc_prot_err;
  }
  const std::uint8_t access = sends_payload(wqe.opcode) ? 0 : kLocalWrite;
  return engine.allowed(wqe.lkey, qp.node, wqe.local, wqe.length, access) ? Status::success : Status::loc_prot_err;
}

/// The next step of a payload's PCIe read.
void schedule_read(Engine& engine, QpId id, std::uint32_t number, const SendEntry& e, sim::SimTime at) {
  const PayloadStep step = payload_step(engine, e.wqe, e.payload_read);
  engine.prefetch(engine.state.qps[id].node, step.address, e.buffer, e.payload_read, step.bytes);
  engine.schedule(kEventReadPayload, id, number, at);
}

void schedule_payload(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  while (rq.payload_next != rq.started && !needs_payload_read(rq.entry(rq.payload_next))) ++rq.payload_next;
  if (rq.payload_next == rq.started || rq.payload_event || engine.fault(Fault::payload_reads_reorder)) return;
  const SendEntry& e = rq.entry(rq.payload_next);
  if (!e.read_ready) return;
  rq.payload_event = true;
  // Its turn: the data of the payload before it is on the link.
  const NodeId node = engine.state.qps[id].node;
  const sim::Duration begin = engine.profile().nic_wqe_start;
  schedule_read(engine, id, rq.payload_next, e,
                take_request(engine, node, e.wqe.lkey, bytes_to_read(e.wqe), e.ready, e.reach, begin));
}

/// Bytes of the next packet of a write.
std::uint32_t next_segment(const Engine& engine, const QueuePair& qp, const SendEntry& e) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(e.wqe.length - e.sent, engine.mtu(qp)));
}

/// Is the next packet of the oldest unsent work request there?
bool may_transmit(const Engine& engine, const QueuePair& qp) {
  const Requester& rq = qp.requester;
  if (rq.rnr_wait || rq.transmit_next == rq.started) return false;
  const SendEntry& e = rq.entry(rq.transmit_next);
  if (e.status != Status::success) return false;
  if (gathers(e.wqe)) return !needs_payload_read(e) || leaves_early(engine.profile(), qp, e.wqe);
  return !sends_payload(e.wqe.opcode) || e.payload_read >= e.sent + next_segment(engine, qp, e);
}

/// Flow model: a message may begin to flow when the first packet of it has been read.
void announce_oldest(Engine& engine, QpId id) {
  const fabric::FlowOptions& flow = engine.state.fabric.config().flow;
  const QueuePair& qp = engine.state.qps[id];
  const Requester& rq = qp.requester;
  if (!flow.enabled || rq.rnr_wait || rq.transmit_next == rq.started || qp.type == QpType::ud) return;
  const SendEntry& e = rq.entry(rq.transmit_next);
  if (e.status != Status::success || !sends_payload(e.wqe.opcode) || e.payload_read < flow.mtu.count) return;
  fabric::Packet packet;
  packet.source = qp.node;
  packet.destination = qp.peer_node;
  packet.source_qp = id;
  packet.opcode = e.wqe.opcode == Opcode::rdma_write ? fabric::Opcode::write : fabric::Opcode::send;
  packet.length = e.wqe.length;
  packet.immediate = e.wqe.with_imm;
  const auto first = static_cast<std::uint32_t>(flow.mtu.count);
  announce_message(engine, packet, there_before(engine, e.ready, e.wqe.local, first, e.payload_read));
}

void write_cqe(Engine& engine, QpId id, std::uint32_t number, Status status, sim::Duration delay) {
  const Requester& rq = engine.state.qps[id].requester;
  const Wqe& wqe = rq.entry(number).wqe;
  post_cqe(engine, rq.domain, rq.cq,
           {.wr_id = wqe.wr_id, .qp = id, .opcode = wqe.opcode, .status = status, .length = wqe.length, .wqe = number},
           delay + engine.profile().nic_cqe);
}

}  // namespace

std::uint32_t bytes_to_read(const Wqe& wqe) {
  if (sends_payload(wqe.opcode)) return wqe.length;
  if (!gathers(wqe)) return 0;
  return wqe.opcode == Opcode::compare_swap ? 16 : 8;
}

PayloadStep payload_step(const Engine& engine, const Wqe& wqe, std::uint32_t done) {
  if (gathers(wqe)) return {done < 8 ? wqe.compare_add : wqe.swap, 8};
  return {wqe.local + done, read_step(engine, wqe.local, wqe.length, done)};
}

void release_entry(Engine& engine, SendEntry& e) {
  engine.release(e.buffer);
  if (e.track == kNone) return;
  engine.state.tracks[e.track] = {};
  engine.state.tracks.release(e.track);
  e.track = kNone;
}

void free_finished(Engine& engine, Requester& rq) {
  while (!rq.queue.empty() && rq.first != rq.completed && rq.first != rq.transmit_next) {
    release_entry(engine, rq.queue.front());
    rq.queue.pop_front();
    ++rq.first;
  }
}

void schedule_transmit(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (rq.transmit_event) return;
  if (!may_transmit(engine, qp)) return announce_oldest(engine, id);
  rq.transmit_event = true;
  const SendEntry& e = rq.entry(rq.transmit_next);
  sim::SimTime there = e.ready;
  if (sends_payload(e.wqe.opcode) && !e.wqe.inline_data)
    there = there_before(engine, there, e.wqe.local, e.sent + next_segment(engine, qp, e), e.payload_read);
  engine.schedule(kEventTransmit, id, 0, std::max(there, rq.transmit_free));
}

void flush_sends(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  while (rq.completed != rq.rung) {
    write_cqe(engine, id, rq.completed, Status::wr_flush_err, {});
    ++rq.completed;
  }
  rq.fetched = rq.started = rq.payload_next = rq.transmit_next = rq.rung;
  withdraw_message(engine, id, false);
  rq.outstanding = 0;
  rq.fetch_cancelled = rq.fetching;
  rq.una = rq.unsent_psn = rq.next_psn;
  stop_timer(engine, id);
  free_finished(engine, rq);
}

void complete(Engine& engine, QpId id, sim::Duration delay) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  while (rq.completed != rq.started && rq.entry(rq.completed).done) {
    const SendEntry& e = rq.entry(rq.completed);
    if (e.wqe.signaled || e.status != Status::success) write_cqe(engine, id, rq.completed, e.status, delay);
    const bool failed = e.status != Status::success;
    ++rq.completed;
    if (failed) return send_failed(engine, id);
  }
  free_finished(engine, rq);
}

namespace {
bool fence_holds(const Requester& rq) {
  return rq.outstanding != 0 || rq.payload_next != rq.started || rq.transmit_next != rq.started;
}

/// Would it take more PSNs than may be on their way? With none on its way any message may start: local_check() has
/// refused those that are too long.
bool too_far_ahead(const Requester& rq, std::uint32_t packets) {
  const std::uint32_t ahead = (rq.next_psn.value() - rq.una.value()) & fabric::Psn::kMask;
  return ahead != 0 && ahead + packets > kPsnsMax;
}

/// PSNs that a work request takes: a READ's are those of its responses.
std::uint32_t packets_of(const Engine& engine, const QueuePair& qp, const Wqe& wqe) {
  return is_atomic(wqe.opcode) ? 1 : engine.packets_of(qp, wqe.length);
}

/// Does a work request wait for earlier ones? What ends the wait calls start() again.
bool waits_for_others(const Engine& engine, const QueuePair& qp, const SendEntry& e) {
  const Requester& rq = qp.requester;
  if (e.wqe.fence && fence_holds(rq) && !engine.fault(Fault::fence_ignored)) return true;
  if (reads_or_atomic(e.wqe.opcode) && rq.outstanding >= qp.settings.max_rd_atomic) return true;
  return qp.type == QpType::rc && too_far_ahead(rq, e.packets);
}

void announce_fence(Engine& engine, const QueuePair& qp, const Wqe& wqe) {
  if (!wqe.fence || wqe.fence_op == 0) return;
  engine.begin({.stamp = Stamp::aRF, .thread = qp.thread, .op = wqe.fence_op, .peer = qp.peer_node, .home = qp.node});
}

/// Gives the next PSNs to a work request, and what must be known until its answer is there.
void take_psns(Engine& engine, Requester& rq, SendEntry& e) {
  State& s = engine.state;
  e.psn = rq.next_psn;
  rq.next_psn = rq.next_psn + e.packets;
  ++s.counters.work_requests;
  if (reads_or_atomic(e.wqe.opcode)) ++rq.outstanding;
  if (e.wqe.opcode == Opcode::rdma_read && (s.lossy || s.loose)) {
    e.track = s.tracks.acquire();
    s.tracks[e.track].sampled.assign(engine.witness() ? words_of(e.wqe.remote, e.wqe.length) : 0, 0);
  }
}
}  // namespace

void start(Engine& engine, QpId id, sim::Duration delay) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  while (qp.state == QpState::rts && !rq.halted && rq.started != rq.fetched) {
    SendEntry& e = rq.entry(rq.started);
    e.packets = packets_of(engine, qp, e.wqe);
    if (waits_for_others(engine, qp, e)) return;
    sim::Duration stall{};
    if (!take_unit(engine, id, e.wqe, rq.started, stall)) return;
    announce_fence(engine, qp, e.wqe);
    const std::uint32_t number = rq.started++;
    const sim::Duration begun = delay + engine.profile().nic_wqe_start;
    e.ready = engine.now() + stall + begun;
    e.status = local_check(engine, qp, e.wqe);
    if (e.status != Status::success) {
      e.done = rq.halted = true;
      e.packets = 0;
      return complete(engine, id, delay);
    }
    take_psns(engine, rq, e);
    if (needs_payload_read(e)) {
      const std::uint32_t bytes = bytes_to_read(e.wqe);
      e.buffer = engine.new_buffer(bytes);
      issue_read(engine, rq.domain, {.kind = ReadKind::payload, .where = id, .number = number}, bytes, begun,
                 {e.wqe.lkey, payload_step(engine, e.wqe, 0).address}, stall);
    }
    schedule_payload(engine, id);  // steps over a work request without payload
    schedule_transmit(engine, id);
    if (engine.fault(Fault::early_write_completion) && e.wqe.opcode == Opcode::rdma_write) {
      e.done = true;
      complete(engine, id, delay);
    }
  }
}

namespace {
/// Of a datagram: with the high bit set, the queue pair's own (IBTA volume 1, 10.2.5).
std::uint32_t qkey_of(const QueuePair& qp, const Wqe& wqe) {
  constexpr std::uint32_t kControlled = 1U << 31U;
  return (wqe.remote_qkey & kControlled) != 0 ? qp.qkey : wqe.remote_qkey;
}

fabric::Packet request_packet(const Engine& engine, QpId id, const SendEntry& e, std::uint32_t number) {
  const QueuePair& qp = engine.state.qps[id];
  fabric::Packet packet;
  packet.source = qp.node;
  packet.source_qp = id;
  packet.destination_qp = qp.type == QpType::ud ? e.wqe.remote_qp : qp.peer;
  packet.destination = qp.type == QpType::ud ? engine.state.qps[packet.destination_qp].node : qp.peer_node;
  packet.wqe = number;
  packet.call = e.wqe.op;  // the requester may have forgotten the work request when it is executed
  packet.rkey = qp.type == QpType::ud ? qkey_of(qp, e.wqe) : e.wqe.rkey;
  packet.total = e.wqe.length;
  packet.address = e.wqe.remote;
  return packet;
}

/// The next packet of a WRITE or SEND.
void add_payload(const Engine& engine, const QueuePair& qp, SendEntry& e, fabric::Packet& packet) {
  const HardwareProfile& p = engine.profile();
  const auto index = static_cast<std::uint32_t>(e.sent / engine.mtu(qp));
  packet.opcode = e.wqe.opcode == Opcode::rdma_write ? fabric::Opcode::write
                  : qp.type == QpType::ud            ? fabric::Opcode::datagram
                                                     : fabric::Opcode::send;
  packet.psn = e.psn + index;
  packet.offset = e.sent;
  packet.length = next_segment(engine, qp, e);
  packet.first = e.sent == 0;
  packet.last = e.sent + packet.length == e.wqe.length;
  packet.buffer = packet.length == 0 ? fabric::kNoBuffer : e.buffer;
  packet.immediate = e.wqe.with_imm && packet.last;
  packet.a = e.wqe.imm;
  const bool every = p.nic_ack_coalescing != 0 && (index + 1) % p.nic_ack_coalescing == 0;
  packet.ack_request = qp.type == QpType::rc && (packet.last || every);
  e.sent += packet.length;
}

/// An operand that has been read from memory; a fetch-and-add has no second one.
std::uint64_t operand(const Engine& engine, const SendEntry& e, std::uint32_t index) {
  std::uint64_t word = 0;
  if (8 * index < bytes_to_read(e.wqe)) {
    std::memcpy(&word, engine.state.buffers[e.buffer].data() + std::size_t{8} * index, 8);
  }
  return word;
}

/// A READ request asks for what has not come yet; an atomic is always whole.
void add_request(const Engine& engine, const QueuePair& qp, const SendEntry& e, fabric::Packet& packet) {
  packet.psn = e.psn;
  if (e.wqe.opcode == Opcode::rdma_read) {
    packet.opcode = fabric::Opcode::read_request;
    if (engine.state.loose) return;  // what has come need not be its beginning
    packet.psn = e.psn + static_cast<std::uint32_t>(e.received / engine.mtu(qp));
    packet.address += e.received;
    packet.total -= e.received;
    return;
  }
  packet.opcode = e.wqe.opcode == Opcode::compare_swap ? fabric::Opcode::compare_swap : fabric::Opcode::fetch_add;
  packet.a = gathers(e.wqe) ? operand(engine, e, 0) : e.wqe.compare_add;
  packet.b = gathers(e.wqe) ? operand(engine, e, 1) : e.wqe.swap;
}

/// The flaw: what has not been read of the operands is what the NIC has read last, and will not be read any more.
void take_stale_operands(Engine& engine, const QueuePair& qp, SendEntry& e) {
  const Host& host = engine.state.hosts[qp.node];
  const std::uint32_t words = bytes_to_read(e.wqe) / 8;
  std::byte* into = engine.state.buffers[e.buffer].data();
  for (std::uint32_t i = 0; i < words; ++i) {
    std::memcpy(into + std::size_t{8} * i, &host.words_read[host.words_read.size() - words + i], 8);
  }
  e.payload_read = bytes_to_read(e.wqe);
}
}  // namespace

void payload_read_may_execute(Engine& engine, const HeldRead& read) {
  const QpId id = read.where;
  const auto number = static_cast<std::uint32_t>(read.number);
  Requester& rq = engine.state.qps[id].requester;
  if (!rq.holds(number)) return;  // flushed
  SendEntry& e = rq.entry(number);
  e.read_ready = true;
  e.ready = read.due;
  e.reach = read.reach;
  if (!engine.fault(Fault::payload_reads_reorder)) return schedule_payload(engine, id);
  const NodeId node = engine.state.qps[id].node;
  engine.schedule(
      kEventReadPayload, id, number,
      take_request(engine, node, read.key, read.bytes, read.due, read.reach, engine.profile().nic_wqe_start));
}

void read_payload(Engine& engine, QpId id, std::uint32_t number) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (!engine.fault(Fault::payload_reads_reorder)) rq.payload_event = false;
  if (!rq.holds(number)) return schedule_payload(engine, id);  // flushed or RESET; others may wait behind it
  SendEntry& e = rq.entry(number);
  if (!needs_payload_read(e)) return schedule_payload(engine, id);  // it has left without: nic.stale_operands
  const PayloadStep step = payload_step(engine, e.wqe, e.payload_read);
  std::byte* into = engine.state.buffers[e.buffer].data() + e.payload_read;
  sample(engine, qp.node, step.address, {into, step.bytes},
         {.stamp = Stamp::aNLR, .thread = qp.thread, .op = e.wqe.op, .peer = qp.peer_node});
  e.payload_read += step.bytes;
  sim::SimTime link_free;
  e.ready = return_data(engine, qp.node, step.bytes, link_free, {e.wqe.lkey, e.payload_read, bytes_to_read(e.wqe)});
  if (needs_payload_read(e)) {
    rq.payload_event = !engine.fault(Fault::payload_reads_reorder);
    schedule_read(engine, id, number, e, link_free);
  } else {
    schedule_payload(engine, id);
    start(engine, id, {});  // a fence may have waited for this read
  }
  schedule_transmit(engine, id);
}

namespace {
/// Payload bytes at most of the packet behind the one that is about to leave; a work request that is not there yet may
/// have a packet of any size.
std::uint32_t following_payload(const Engine& engine, const QueuePair& qp, bool last) {
  const Requester& rq = qp.requester;
  const std::uint32_t next = rq.transmit_next + (last ? 1 : 0);
  if (next == rq.started) return static_cast<std::uint32_t>(engine.mtu(qp));
  const SendEntry& e = rq.entry(next);
  return sends_payload(e.wqe.opcode) ? next_segment(engine, qp, e) : 0;
}
}  // namespace

void transmit(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (wait_for_port(engine, id, false)) return;
  rq.transmit_event = false;
  if (!may_transmit(engine, qp)) return;
  SendEntry& e = rq.entry(rq.transmit_next);
  if (gathers(e.wqe) && needs_payload_read(e)) {
    take_stale_operands(engine, qp, e);
    schedule_payload(engine, id);  // steps over it: its read may still be pending when it has long been answered
  }
  fabric::Packet packet = request_packet(engine, id, e, rq.transmit_next);
  if (sends_payload(e.wqe.opcode)) {
    add_payload(engine, qp, e, packet);
  } else {
    add_request(engine, qp, e, packet);
  }
  if (packet.psn == rq.unsent_psn) rq.unsent_psn = packet.psn + (sends_payload(e.wqe.opcode) ? 1 : e.packets);
  rq.transmit_free = send_packet(engine, packet, following_payload(engine, qp, packet.last));
  if (packet.ack_request || reads_or_atomic(e.wqe.opcode)) start_timer(engine, id);
  if (packet.last) {
    ++rq.transmit_next;
    if (qp.type != QpType::rc) {  // nobody answers: sent is done
      e.done = true;
      complete(engine, id, {});
    }
    free_finished(engine, rq);
    start(engine, id, {});  // a fence may have waited for this packet
  }
  schedule_transmit(engine, id);
}

}  // namespace loco::nic
