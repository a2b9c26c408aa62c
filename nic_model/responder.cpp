#include "nic_model/responder.hpp"

#include <algorithm>
#include <stdexcept>

#include "nic_model/pcie.hpp"
#include "nic_model/requester.hpp"

namespace loco::nic {

namespace {

using fabric::NakCode;
using Op = fabric::Opcode;

bool is_atomic(Op op) { return op == Op::compare_swap || op == Op::fetch_add; }

void schedule_respond(Engine& engine, QpId id) {
  Responder& rs = engine.state.qps[id].responder;
  if (rs.respond_event || rs.responses.empty() || !rs.responses.front().ready) return;
  const Response& r = rs.responses.front();
  if (r.opcode == Op::read_response) {
    const std::uint64_t segment = std::min<std::uint64_t>(r.length - r.sent, engine.profile().link_mtu.count);
    if (r.read < r.sent + segment) return;
  }
  rs.respond_event = true;
  engine.schedule(kEventRespond, id, 0, std::max(r.available, rs.transmit_free));
}

std::uint64_t push_response(Engine& engine, QpId id, const Response& response) {
  Responder& rs = engine.state.qps[id].responder;
  rs.responses.push_back(response);
  schedule_respond(engine, id);
  return rs.first + rs.responses.size() - 1;
}

NakCode check(const Engine& engine, const QueuePair& qp, const fabric::Packet& packet) {
  std::uint8_t access = kRemoteWrite;
  if (packet.opcode == Op::read_request) access = kRemoteRead;
  if (is_atomic(packet.opcode)) {
    if (packet.address % 8 != 0) return NakCode::invalid_request;
    access = kRemoteAtomic;
  }
  if (packet.total == 0) return NakCode::none;  // nothing is accessed: no key is needed (IBTA 9.7.4.1.4)
  return engine.allowed(packet.rkey, qp.node, packet.address, packet.total, access) ? NakCode::none
                                                                                    : NakCode::remote_access_error;
}

/// Whose subevents a request's are: a shortcut past the wire for the trace, without influence on the run.
void name_origin(const Engine& engine, const fabric::Packet& packet, ThreadId& thread, OpId& op) {
  const QueuePair& source = engine.state.qps[packet.source_qp];
  thread = source.thread;
  op = source.requester.holds(packet.wqe) ? source.requester.entry(packet.wqe).wqe.op : 0;
}

void take_write(Engine& engine, QpId id, const fabric::Packet& packet) {
  QueuePair& qp = engine.state.qps[id];
  if (packet.length > 0) {
    WriteOrigin origin{.stamp = Stamp::aNRW, .peer = qp.node};
    name_origin(engine, packet, origin.thread, origin.op);
    engine.hold(packet.buffer);
    post_write(engine, qp.responder.domain,
               {.buffer = packet.buffer,
                .offset = packet.offset,
                .length = packet.length,
                .address = packet.address + packet.offset},
               origin, {});
  }
  if (!packet.last) return;
  push_response(engine, id,
                {.opcode = Op::ack, .ready = true, .psn = packet.psn, .wqe = packet.wqe, .available = engine.now()});
}

void start_atomic(Engine& engine, NodeId node) {
  const AtomicRequest& request = engine.state.hosts[node].atomics.front();
  issue_read(engine, engine.state.qps[request.qp].responder.domain, {.kind = ReadKind::atomic, .where = node}, 8, {});
}

/// A READ or an atomic: has its response's place in PSN order now, its data later.
void take_read_or_atomic(Engine& engine, QpId id, const fabric::Packet& packet) {
  QueuePair& qp = engine.state.qps[id];
  Response r{.opcode = is_atomic(packet.opcode) ? Op::atomic_response : Op::read_response,
             .psn = packet.psn,
             .wqe = packet.wqe,
             .length = packet.total,
             .address = packet.address,
             .compare_add = packet.a,
             .swap = packet.b,
             .request = packet.opcode};
  name_origin(engine, packet, r.thread, r.op);
  if (is_atomic(packet.opcode)) {
    qp.responder.blocked = true;
    const std::uint64_t number = push_response(engine, id, r);
    sim::Ring<AtomicRequest>& atomics = engine.state.hosts[qp.node].atomics;
    atomics.push_back({id, number});
    if (atomics.size() == 1) start_atomic(engine, qp.node);
    return;
  }
  if (r.length == 0) {
    r.ready = true;
    r.available = engine.now();
    push_response(engine, id, r);
    return;
  }
  r.buffer = engine.new_buffer(r.length);
  const std::uint64_t number = push_response(engine, id, r);
  issue_read(engine, qp.responder.domain, {.kind = ReadKind::remote_read, .where = id, .number = number}, r.length, {});
}

/// Executes a request, or refuses it.
void execute(Engine& engine, QpId id, const fabric::Packet& packet) {
  QueuePair& qp = engine.state.qps[id];
  Responder& rs = qp.responder;
  const HardwareProfile& p = engine.profile();
  if (rs.dead || qp.state == QpState::error) {
    // Nobody answers. The requester repeats the request in vain and gives up.
    if (packet.last) {
      engine.schedule(kEventRetryExceeded, packet.source_qp, packet.wqe,
                      engine.now() + p.nic_ack_timeout * (std::int64_t{p.nic_retry_count} + 1));
    }
    return engine.release(packet.buffer);
  }
  const NakCode nak = packet.first || !rs.write_valid ? check(engine, qp, packet) : NakCode::none;
  rs.write_valid = nak == NakCode::none;
  if (nak != NakCode::none) {
    rs.dead = true;
    push_response(engine, id,
                  {.opcode = Op::nak,
                   .nak = nak,
                   .ready = true,
                   .psn = packet.psn,
                   .wqe = packet.wqe,
                   .available = engine.now()});
  } else if (packet.opcode == Op::write) {
    take_write(engine, id, packet);
  } else {
    take_read_or_atomic(engine, id, packet);
  }
  engine.release(packet.buffer);
}

void execute_waiting(Engine& engine, QpId id) {
  Responder& rs = engine.state.qps[id].responder;
  while (!rs.blocked && !rs.waiting.empty()) {
    const fabric::Packet packet = rs.waiting.front();
    rs.waiting.pop_front();
    execute(engine, id, packet);
  }
}

std::uint32_t psns_of(const Engine& engine, const fabric::Packet& packet) {
  if (packet.opcode != Op::read_request) return 1;
  const std::uint64_t mtu = engine.profile().link_mtu.count;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (packet.total + mtu - 1) / mtu));
}

}  // namespace

void request_arrived(Engine& engine, const fabric::Packet& packet) {
  const QpId id = packet.destination_qp;
  Responder& rs = engine.state.qps[id].responder;
  // Every network of this model keeps the packets of a queue pair in order and loses none.
  if (packet.psn != rs.expected_psn) throw std::logic_error("a packet came out of order");
  rs.expected_psn = packet.psn + psns_of(engine, packet);
  if (engine.fault(Fault::responder_reorders)) {
    const std::uint32_t slot = rs.strays.acquire();
    rs.strays[slot] = packet;
    return engine.schedule(kEventStrayRequest, id, slot, engine.now());
  }
  if (rs.blocked || !rs.waiting.empty()) {
    rs.waiting.push_back(packet);
  } else {
    execute(engine, id, packet);
  }
}

void stray_request(Engine& engine, QpId id, std::uint32_t slot) {
  Responder& rs = engine.state.qps[id].responder;
  const fabric::Packet packet = rs.strays[slot];
  rs.strays.release(slot);
  rs.waiting.push_back(packet);
  execute_waiting(engine, id);
}

void read_remote(Engine& engine, QpId id, std::uint64_t number) {
  QueuePair& qp = engine.state.qps[id];
  Response& r = qp.responder.response(number);
  const std::uint32_t bytes = read_step(engine, r.address, r.length, r.read);
  std::byte* into = engine.state.buffers[r.buffer].data() + r.read;
  sample(engine, qp.node, r.address + r.read, {into, bytes},
         {.stamp = Stamp::aNRR, .thread = r.thread, .op = r.op, .peer = qp.node});
  r.read += bytes;
  r.ready = true;
  sim::SimTime link_free;
  r.available = return_data(engine, qp.node, bytes, link_free);
  if (r.read < r.length) engine.schedule(kEventReadRemote, id, number, link_free);
  schedule_respond(engine, id);
}

void execute_atomic(Engine& engine, NodeId node) {
  State& s = engine.state;
  const AtomicRequest request = s.hosts[node].atomics.front();
  const HardwareProfile& p = engine.profile();
  Responder& rs = s.qps[request.qp].responder;
  Response& r = rs.response(request.response);
  std::uint64_t old = 0;
  sample(engine, node, r.address, std::as_writable_bytes(std::span(&old, 1)),
         {.stamp = Stamp::aNRR, .nic_atomic = true, .thread = r.thread, .op = r.op, .peer = node});
  sim::SimTime link_free;
  r.value = old;
  r.ready = true;
  r.available = return_data(engine, node, 8, link_free) + p.nic_atomic_modify;
  const sim::Duration modify = r.available - engine.now();
  const bool writes = r.request == Op::fetch_add || old == r.compare_add;
  const std::uint64_t value = r.request == Op::fetch_add ? old + r.compare_add : r.swap;
  const WriteOrigin origin{.stamp = Stamp::aNRW, .atomic = true, .thread = r.thread, .op = r.op, .peer = node};
  const Address address = r.address;
  if (writes && p.nic_atomic_cap == AtomicCap::global) {
    s.hosts[node].memory.set_word(address, value);
    engine.instant_write({.stamp = Stamp::aNRW,
                          .nic_atomic = true,
                          .thread = origin.thread,
                          .op = origin.op,
                          .peer = node,
                          .home = node,
                          .address = address,
                          .value = value});
    engine.touched_bytes(node, address, 8);
  } else if (writes) {
    post_write(engine, rs.domain, {.ends_atomic = true, .length = 8, .address = address, .value = value}, origin,
               modify);
  }
  if (!writes || p.nic_atomic_cap == AtomicCap::global) {
    engine.schedule(kEventAtomicDone, node, 0, engine.now() + modify);
  }
  rs.blocked = false;
  schedule_respond(engine, request.qp);
  execute_waiting(engine, request.qp);
}

void atomic_unit_free(Engine& engine, NodeId node) {
  sim::Ring<AtomicRequest>& atomics = engine.state.hosts[node].atomics;
  atomics.pop_front();
  if (!atomics.empty()) start_atomic(engine, node);
}

void respond(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  Responder& rs = qp.responder;
  if (wait_for_port(engine, id, true)) return;
  rs.respond_event = false;
  Response& r = rs.responses.front();
  fabric::Packet packet;
  packet.source = qp.node;
  packet.destination = qp.peer_node;
  packet.source_qp = id;
  packet.destination_qp = qp.peer;
  packet.opcode = r.opcode;
  packet.nak = r.nak;
  packet.psn = r.psn;
  packet.wqe = r.wqe;
  packet.a = r.value;
  if (r.opcode == Op::read_response) {
    const std::uint64_t mtu = engine.profile().link_mtu.count;
    packet.offset = r.sent;
    packet.total = r.length;
    packet.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(r.length - r.sent, mtu));
    packet.first = r.sent == 0;
    packet.last = r.sent + packet.length == r.length;
    packet.buffer = packet.length == 0 ? fabric::kNoBuffer : r.buffer;
    packet.psn = r.psn + static_cast<std::uint32_t>(r.sent / mtu);
    r.sent += packet.length;
  }
  rs.transmit_free = send_packet(engine, packet);
  if (packet.last) {
    engine.release(r.buffer);
    rs.responses.pop_front();
    ++rs.first;
  }
  schedule_respond(engine, id);
}

}  // namespace loco::nic
