#include "nic_model/requester.hpp"

#include <algorithm>

#include "nic_model/pcie.hpp"

namespace loco::nic {

namespace {

constexpr std::uint32_t kMaxMessage = 1U << 31U;

bool reads_or_atomic(Opcode op) { return op != Opcode::rdma_write; }

bool needs_payload_read(const SendEntry& e) {
  return e.wqe.opcode == Opcode::rdma_write && e.status == Status::success && e.payload_read < e.wqe.length;
}

/// What the requester itself finds wrong with a work request when it starts it.
Status local_check(const Engine& engine, const QueuePair& qp, const Wqe& wqe) {
  if (wqe.length > kMaxMessage) return Status::loc_len_err;
  const bool atomic = wqe.opcode == Opcode::compare_swap || wqe.opcode == Opcode::fetch_add;
  if (atomic && wqe.length != 8) return Status::loc_len_err;
  if (wqe.inline_data || wqe.length == 0) return Status::success;
  const std::uint8_t access = wqe.opcode == Opcode::rdma_write ? 0 : kLocalWrite;
  return engine.allowed(wqe.lkey, qp.node, wqe.local, wqe.length, access) ? Status::success : Status::loc_prot_err;
}

void schedule_payload(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  while (rq.payload_next != rq.started && !needs_payload_read(rq.entry(rq.payload_next))) ++rq.payload_next;
  if (rq.payload_next == rq.started || rq.payload_event || engine.fault(Fault::payload_reads_reorder)) return;
  const SendEntry& e = rq.entry(rq.payload_next);
  if (!e.read_ready) return;
  rq.payload_event = true;
  engine.schedule(kEventReadPayload, id, rq.payload_next, e.ready);
}

/// Bytes of the next packet of a write.
std::uint32_t next_segment(const Engine& engine, const SendEntry& e) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(e.wqe.length - e.sent, engine.profile().link_mtu.count));
}

void schedule_transmit(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  if (rq.transmit_event || rq.transmit_next == rq.started) return;
  const SendEntry& e = rq.entry(rq.transmit_next);
  if (e.status != Status::success) return;
  if (e.wqe.opcode == Opcode::rdma_write && e.payload_read < e.sent + next_segment(engine, e)) return;
  rq.transmit_event = true;
  engine.schedule(kEventTransmit, id, 0, std::max(e.ready, rq.transmit_free));
}

/// A write that was completed early stays until its ACK: the responder still asks whose it is.
bool awaits_ack(const Engine& engine, const SendEntry& e) {
  return engine.fault(Fault::early_write_completion) && e.wqe.opcode == Opcode::rdma_write &&
         e.status == Status::success && !e.acknowledged;
}

void free_finished(Engine& engine, Requester& rq) {
  while (!rq.queue.empty() && rq.first != rq.completed && rq.first != rq.transmit_next &&
         !awaits_ack(engine, rq.queue.front())) {
    engine.release(rq.queue.front().buffer);
    rq.queue.pop_front();
    ++rq.first;
  }
}

void write_cqe(Engine& engine, QpId id, const Wqe& wqe, Status status, sim::Duration delay) {
  const Requester& rq = engine.state.qps[id].requester;
  post_cqe(engine, rq.domain, rq.cq,
           {.wr_id = wqe.wr_id, .qp = id, .opcode = wqe.opcode, .status = status, .length = wqe.length},
           delay + engine.profile().nic_cqe);
}

/// The queue pair is in error: everything that the NIC knows of is flushed, in order.
void flush(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  while (rq.completed != rq.rung) {
    write_cqe(engine, id, rq.entry(rq.completed).wqe, Status::wr_flush_err, {});
    ++rq.completed;
  }
  rq.fetched = rq.started = rq.payload_next = rq.transmit_next = rq.rung;
  rq.outstanding = 0;
  free_finished(engine, rq);
}

void start(Engine& engine, QpId id, sim::Duration delay);

/// Completes what is done, in order. `delay` is what lies between the event being handled and its effect.
void complete(Engine& engine, QpId id, sim::Duration delay) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  while (rq.completed != rq.started && rq.entry(rq.completed).done) {
    const SendEntry& e = rq.entry(rq.completed);
    if (e.wqe.signaled || e.status != Status::success) write_cqe(engine, id, e.wqe, e.status, delay);
    const bool failed = e.status != Status::success;
    ++rq.completed;
    if (failed) {
      qp.state = QpState::error;
      return flush(engine, id);
    }
  }
  free_finished(engine, rq);
}

bool fence_holds(const Requester& rq) {
  return rq.outstanding != 0 || rq.payload_next != rq.started || rq.transmit_next != rq.started;
}

/// Starts work requests, in order, until one has to wait.
void start(Engine& engine, QpId id, sim::Duration delay) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  const HardwareProfile& p = engine.profile();
  while (qp.state == QpState::ready && !rq.halted && rq.started != rq.fetched) {
    SendEntry& e = rq.entry(rq.started);
    if (e.wqe.fence && fence_holds(rq) && !engine.fault(Fault::fence_ignored)) return;
    if (reads_or_atomic(e.wqe.opcode) && rq.outstanding >= p.nic_max_rd_atomic) return;
    if (e.wqe.fence && e.wqe.fence_op != 0) {
      engine.begin(
          {.stamp = Stamp::aRF, .thread = qp.thread, .op = e.wqe.fence_op, .peer = qp.peer_node, .home = qp.node});
    }
    const std::uint32_t number = rq.started++;
    e.ready = engine.now() + delay + p.nic_wqe_start;
    e.status = local_check(engine, qp, e.wqe);
    if (e.status != Status::success) {
      e.done = rq.halted = true;
      return complete(engine, id, delay);
    }
    const std::uint64_t mtu = p.link_mtu.count;
    const std::uint64_t packets = reads_or_atomic(e.wqe.opcode) && e.wqe.opcode != Opcode::rdma_read
                                      ? 1
                                      : std::max<std::uint64_t>(1, (e.wqe.length + mtu - 1) / mtu);
    e.psn = rq.next_psn;
    rq.next_psn = rq.next_psn + static_cast<std::uint32_t>(packets);
    ++engine.state.counters.work_requests;
    if (reads_or_atomic(e.wqe.opcode)) ++rq.outstanding;
    if (needs_payload_read(e)) {
      e.buffer = engine.new_buffer(e.wqe.length);
      issue_read(engine, rq.domain, {.kind = ReadKind::payload, .where = id, .number = number}, e.wqe.length,
                 delay + p.nic_wqe_start);
    }
    schedule_payload(engine, id);  // steps over a work request without payload
    schedule_transmit(engine, id);
    if (engine.fault(Fault::early_write_completion) && e.wqe.opcode == Opcode::rdma_write) {
      e.done = true;
      complete(engine, id, delay);
    }
  }
}

void fetch(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  if (rq.fetching || rq.fetched == rq.rung) return;
  const HardwareProfile& p = engine.profile();
  const std::uint32_t count = std::min(rq.rung - rq.fetched, p.nic_wqe_fetch_max);
  rq.fetching = true;
  issue_read(engine, rq.domain, {.kind = ReadKind::wqe_fetch, .where = id, .number = count},
             count * static_cast<std::uint32_t>(p.nic_wqe_bytes.count), {});
}

fabric::Packet request_packet(const QueuePair& qp, QpId id, const SendEntry& e, std::uint32_t number) {
  fabric::Packet packet;
  packet.source = qp.node;
  packet.destination = qp.peer_node;
  packet.source_qp = id;
  packet.destination_qp = qp.peer;
  packet.psn = e.psn;
  packet.wqe = number;
  packet.rkey = e.wqe.rkey;
  packet.total = e.wqe.length;
  packet.address = e.wqe.remote;
  packet.a = e.wqe.compare_add;
  packet.b = e.wqe.swap;
  return packet;
}

/// When a queue pair may send its next packet, by its rate under congestion control. Only data counts.
sim::SimTime paced(State& s, const fabric::Packet& packet) {
  const fabric::DcqcnOptions& options = s.fabric.config().options.dcqcn;
  if (!options.enabled || packet.length == 0) return s.now;
  fabric::Dcqcn& rate = s.qps[packet.source_qp].rate;
  rate.on_bytes(s.now, {packet.wire}, options);
  return s.now + sim::transmission_time({packet.wire}, rate.rate());
}

}  // namespace

sim::SimTime send_packet(Engine& engine, fabric::Packet packet) {
  State& s = engine.state;
  const HardwareProfile& p = engine.profile();
  packet.wire = static_cast<std::uint32_t>(p.link_overhead.count) + packet.length +
                fabric::extension_header_bytes(packet.opcode, packet.first, packet.last);
  ++s.counters.packets_sent;
  s.counters.wire_bytes_sent += packet.wire;
  engine.hold(packet.buffer);
  if (Observer* o = engine.observer()) o->on_packet(PacketStep::sent, packet, s.now);
  Host& host = s.hosts[packet.source];
  const sim::SimTime pipeline = std::max(host.transmit_free, s.now);
  host.transmit_free = pipeline + p.nic_packet_gap;
  const sim::SimTime port = s.fabric.send(s.events, s.now, (pipeline - s.now) + p.nic_transmit, packet);
  return std::max({port, pipeline, paced(s, packet)});
}

bool wait_for_port(Engine& engine, QpId id, bool responder) {
  State& s = engine.state;
  const NodeId node = s.qps[id].node;
  if (!s.fabric.paused(node) || s.qps[id].peer_node == node) return false;
  if (s.hosts[node].port_waiters.empty()) s.fabric.await_resume(node);
  s.hosts[node].port_waiters.push_back({id, responder});
  return true;
}

void port_resumed(Engine& engine, NodeId node) {
  sim::Ring<PortWaiter>& waiters = engine.state.hosts[node].port_waiters;
  for (; !waiters.empty(); waiters.pop_front()) {
    engine.schedule(waiters.front().responder ? kEventRespond : kEventTransmit, waiters.front().qp, 0, engine.now());
  }
}

void answer_mark(Engine& engine, const fabric::Packet& packet) {
  State& s = engine.state;
  const fabric::DcqcnOptions& options = s.fabric.config().options.dcqcn;
  if (!options.enabled || !s.qps[packet.destination_qp].cnps.due(s.now, options.cnp_interval)) return;
  fabric::Packet cnp;
  cnp.opcode = fabric::Opcode::cnp;
  cnp.source = packet.destination;
  cnp.destination = packet.source;
  cnp.source_qp = packet.destination_qp;
  cnp.destination_qp = packet.source_qp;
  send_packet(engine, cnp);
}

void doorbell_arrived(Engine& engine, NodeId node) {
  State& s = engine.state;
  sim::Ring<Doorbell>& doorbells = s.hosts[node].doorbells;
  const Doorbell doorbell = doorbells.front();
  doorbells.pop_front();
  if (!doorbells.empty()) engine.schedule(kEventDoorbell, node, 0, doorbells.front().ready);
  ++s.counters.doorbells;
  QueuePair& qp = s.qps[doorbell.qp];
  Requester& rq = qp.requester;
  const bool carries_next = doorbell.blueflame && rq.fetched == rq.rung && doorbell.posted == rq.rung + 1;
  // Threads that share a queue pair may ring out of order; producer indices only grow.
  if (static_cast<std::int32_t>(doorbell.posted - rq.rung) > 0) rq.rung = doorbell.posted;
  if (qp.state == QpState::error) return flush(engine, doorbell.qp);
  if (carries_next) {
    rq.fetched = rq.rung;
    return start(engine, doorbell.qp, {});
  }
  fetch(engine, doorbell.qp);
}

void wqe_fetch_may_execute(Engine& engine, QpId id, std::uint64_t count, sim::SimTime due) {
  sim::SimTime link_free;
  const auto bytes = static_cast<std::uint32_t>(count * engine.profile().nic_wqe_bytes.count);
  const sim::SimTime back = return_data(engine, engine.state.qps[id].node, bytes, link_free);
  engine.schedule(kEventFetchWqe, id, count, back + (due - engine.now()));
}

void wqes_fetched(Engine& engine, QpId id, std::uint64_t count) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  rq.fetching = false;
  if (qp.state == QpState::error) return;
  rq.fetched += static_cast<std::uint32_t>(count);
  start(engine, id, {});
  fetch(engine, id);
}

void payload_read_may_execute(Engine& engine, QpId id, std::uint32_t number, sim::SimTime due) {
  Requester& rq = engine.state.qps[id].requester;
  if (!rq.holds(number)) return;  // flushed
  SendEntry& e = rq.entry(number);
  e.read_ready = true;
  e.ready = due;
  if (engine.fault(Fault::payload_reads_reorder)) return engine.schedule(kEventReadPayload, id, number, due);
  schedule_payload(engine, id);
}

void read_payload(Engine& engine, QpId id, std::uint32_t number) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (!engine.fault(Fault::payload_reads_reorder)) rq.payload_event = false;
  if (qp.state == QpState::error || !rq.holds(number)) return;
  SendEntry& e = rq.entry(number);
  const std::uint32_t bytes = read_step(engine, e.wqe.local, e.wqe.length, e.payload_read);
  std::byte* into = engine.state.buffers[e.buffer].data() + e.payload_read;
  sample(engine, qp.node, e.wqe.local + e.payload_read, {into, bytes},
         {.stamp = Stamp::aNLR, .thread = qp.thread, .op = e.wqe.op, .peer = qp.peer_node});
  e.payload_read += bytes;
  sim::SimTime link_free;
  e.ready = return_data(engine, qp.node, bytes, link_free);
  if (needs_payload_read(e)) {
    rq.payload_event = !engine.fault(Fault::payload_reads_reorder);
    engine.schedule(kEventReadPayload, id, number, link_free);
  } else {
    schedule_payload(engine, id);
    start(engine, id, {});  // a fence may have waited for this read
  }
  schedule_transmit(engine, id);
}

void transmit(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (wait_for_port(engine, id, false)) return;
  rq.transmit_event = false;
  if (qp.state == QpState::error || rq.transmit_next == rq.started) return;
  SendEntry& e = rq.entry(rq.transmit_next);
  fabric::Packet packet = request_packet(qp, id, e, rq.transmit_next);
  switch (e.wqe.opcode) {
    case Opcode::rdma_write: {
      packet.opcode = fabric::Opcode::write;
      packet.offset = e.sent;
      packet.length = next_segment(engine, e);
      packet.first = e.sent == 0;
      packet.last = e.sent + packet.length == e.wqe.length;
      packet.buffer = packet.length == 0 ? fabric::kNoBuffer : e.buffer;
      packet.psn = e.psn + static_cast<std::uint32_t>(e.sent / engine.profile().link_mtu.count);
      e.sent += packet.length;
      break;
    }
    case Opcode::rdma_read:
      packet.opcode = fabric::Opcode::read_request;
      break;
    case Opcode::compare_swap:
      packet.opcode = fabric::Opcode::compare_swap;
      break;
    case Opcode::fetch_add:
      packet.opcode = fabric::Opcode::fetch_add;
      break;
  }
  rq.transmit_free = send_packet(engine, packet);
  if (packet.last) {
    e.transmit_done = true;
    ++rq.transmit_next;
    free_finished(engine, rq);
    start(engine, id, {});  // a fence may have waited for this packet
  }
  schedule_transmit(engine, id);
}

void response_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (rq.holds(packet.wqe)) rq.entry(packet.wqe).acknowledged = true;
  if (qp.state == QpState::error || !rq.holds(packet.wqe) || rq.entry(packet.wqe).done) {
    free_finished(engine, rq);
    return engine.release(packet.buffer);
  }
  SendEntry& e = rq.entry(packet.wqe);
  const WriteOrigin origin{.stamp = Stamp::aNLW,
                           .atomic = packet.opcode == fabric::Opcode::atomic_response,
                           .thread = qp.thread,
                           .op = e.wqe.op,
                           .peer = qp.peer_node};
  switch (packet.opcode) {
    case fabric::Opcode::nak:
      e.status = packet.nak == fabric::NakCode::invalid_request       ? Status::rem_inv_req_err
                 : packet.nak == fabric::NakCode::remote_access_error ? Status::rem_access_err
                                                                      : Status::rem_op_err;
      break;
    case fabric::Opcode::read_response:
      if (packet.length > 0) {
        post_write(engine, rq.domain,
                   {.buffer = packet.buffer,
                    .offset = packet.offset,
                    .length = packet.length,
                    .address = e.wqe.local + packet.offset},
                   origin, {});
      }
      e.received += packet.length;
      if (!packet.last) return;
      break;
    case fabric::Opcode::atomic_response:
      post_write(engine, rq.domain, {.length = 8, .address = e.wqe.local, .value = packet.a}, origin, {});
      break;
    default:
      break;
  }
  e.done = true;
  if (reads_or_atomic(e.wqe.opcode)) --rq.outstanding;
  complete(engine, id, {});
  start(engine, id, {});
}

void retry_exceeded(Engine& engine, QpId id, std::uint32_t number) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  if (qp.state == QpState::error || !rq.holds(number) || rq.entry(number).done) return;
  rq.entry(number).status = Status::retry_exc_err;
  rq.entry(number).done = true;
  complete(engine, id, {});
}

}  // namespace loco::nic
