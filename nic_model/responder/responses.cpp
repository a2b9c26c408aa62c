#include "nic_model/responder/responses.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/records.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/read_order.hpp"
#include "nic_model/responder/responder.hpp"
#include "sim/invariant.hpp"

namespace loco::nic {

namespace {

using Op = fabric::Opcode;

/// A READ's answer that is handed over whole may begin to flow when the first packet of it has been read.
void announce_response(Engine& engine, QpId id) {
  const std::uint64_t first = engine.network.announce_after();
  const Connection& qp = engine.connections[id];
  const Response& r = engine.responders[id].responses.front();
  if (r.read < first) return;
  fabric::Packet packet;
  packet.source = qp.node();
  packet.destination = qp.peer_node();
  packet.source_qp = id;
  packet.opcode = r.opcode;
  packet.length = r.length;
  const auto part = static_cast<std::uint32_t>(first);
  announce_message(engine, packet, there_before(engine, r.available, r.address, part, r.read));
}

/// Bytes of the next packet of the oldest response.
std::uint32_t next_segment(const Engine& engine, const Connection& qp, const Response& r) {
  if (r.opcode != Op::read_response) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(r.length - r.sent, mtu_of(engine, qp)));
}

/// Is the next packet there?
bool may_respond(const Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  const Responder& rs = engine.responders[id];
  if (rs.responses.empty() || !rs.responses.front().ready) return false;
  const Response& r = rs.responses.front();
  return r.read >= r.sent + next_segment(engine, qp, r) || r.opcode != Op::read_response;
}
}  // namespace

void schedule_respond(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  Responder& rs = engine.responders[id];
  if (rs.respond_event || rs.responses.empty() || !rs.responses.front().ready) return;
  const Response& r = rs.responses.front();
  sim::SimTime there = r.available;
  if (r.opcode == Op::read_response) {
    const std::uint32_t part = r.sent + next_segment(engine, qp, r);
    if (r.read < part) return announce_response(engine, id);
    there = there_before(engine, there, r.address, part, r.read);
  }
  rs.respond_event = true;
  engine.schedule(kEventRespond, id, 0, std::max(there, rs.transmit_free));
}

namespace {

/// How often the work request of a READ has been executed before: for the trace, as name_origin().
std::uint32_t count_execution(Engine& engine, const fabric::Packet& packet) {
  const Requester& source = engine.requesters[packet.source_qp];
  if (!engine.witness() || !source.holds(packet.wqe) || source.entry(packet.wqe).track == kNone) return 0;
  return engine.tracks.execute(source.entry(packet.wqe).track);
}

void start_atomic(Engine& engine, NodeId node) {
  sim::Ring<AtomicRequest>& atomics = engine.hosts[node].atomics;
  const auto dropped = [&](const AtomicRequest& a) { return !engine.responders[a.qp].holds(a.response); };
  while (!atomics.empty() && dropped(atomics.front())) atomics.pop_front();  // by a RESET
  if (atomics.empty()) return;
  engine.hosts[node].atomic_since = engine.now();
  const AtomicRequest request = atomics.front();
  Responder& rs = engine.responders[request.qp];
  const Response& r = rs.response(request.response);
  issue_read(engine, rs.domain, {.kind = ReadKind::atomic, .where = node}, 8, {}, {r.rkey, r.address});
}

Response response_to(Engine& engine, const fabric::Packet& packet) {
  Response r{.opcode = is_atomic(packet.opcode) ? Op::atomic_response : Op::read_response,
             .psn = packet.psn,
             .wqe = packet.wqe,
             .length = packet.total,
             .address = packet.address,
             .compare_add = packet.a,
             .swap = packet.b,
             .request = packet.opcode,
             .rkey = packet.rkey};
  name_origin(engine, packet, r.thread, r.op);
  return r;
}

/// As sample(), where a READ may be executed more than once, by executions that may overtake each other. The first time
/// its words are announced; later ones are kept until it is known whose answer counts. A READ that nobody waits for any
/// more leaves no trace.
void sample_tracked(Engine& engine, const Connection& qp, const Response& r, std::span<std::byte> out) {
  const Address address = r.address + r.read;
  const HostMemory& memory = engine.memories[qp.node()];
  memory.read(address, out);
  const Requester& source = engine.requesters[qp.peer()];
  if (!source.holds(r.wqe) || source.entry(r.wqe).track == kNone) return;
  const Wqe& wqe = source.entry(r.wqe).wqe;
  const std::uint32_t track = source.entry(r.wqe).track;
  for (Address word = word_of(address); word < address + out.size(); word += 8) {
    const std::size_t index = (word - word_of(wqe.remote)) / 8;
    if (engine.tracks.sampled(track, index) != 0) {
      engine.tracks.keep(track, r.execution, index,
                         {memory.word(word), memory.writer(word), engine.kernel.next_seq(), engine.now()});
      continue;
    }
    const SubeventId id = engine.begin({.stamp = Stamp::aNRR,
                                        .thread = r.thread,
                                        .op = r.op,
                                        .peer = qp.node(),
                                        .home = qp.node(),
                                        .address = word,
                                        .value = memory.word(word),
                                        .source = memory.writer(word)});
    engine.tracks.name(track, index, id);
  }
}

}  // namespace

std::uint64_t push_response(Engine& engine, QpId id, const Response& response) {
  Responder& rs = engine.responders[id];
  rs.responses.push_back(response);
  schedule_respond(engine, id);
  return rs.first + rs.responses.size() - 1;
}

void name_origin(const Engine& engine, const fabric::Packet& packet, ThreadId& thread, OpId& op) {
  thread = op = 0;
  if (!engine.witness()) return;  // nobody will read it
  thread = engine.connections[packet.source_qp].thread();
  op = packet.call;
}

void take_atomic(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  engine.responders[id].blocked = true;
  const std::uint64_t number = push_response(engine, id, response_to(engine, packet));
  sim::Ring<AtomicRequest>& atomics = engine.hosts[qp.node()].atomics;
  atomics.push_back({id, number});
  if (atomics.size() == 1) start_atomic(engine, qp.node());
}

void take_read(Engine& engine, QpId id, const fabric::Packet& packet, bool again) {
  Response r = response_to(engine, packet);
  r.again = again;
  if (r.length == 0) {
    r.ready = true;
    r.available = engine.now();
    push_response(engine, id, r);
    return;
  }
  if (engine.profile().nic_placement == Placement::serial) engine.responders[id].blocked = true;
  r.buffer = engine.payloads.acquire(r.length);
  r.execution = count_execution(engine, packet);
  const std::uint64_t number = push_response(engine, id, r);
  issue_remote_read(engine, id, number);
}

std::uint32_t sample_next(Engine& engine, QpId id, std::uint64_t number) {
  const Connection& qp = engine.connections[id];
  Response& r = engine.responders[id].response(number);
  const std::uint32_t bytes = read_step(engine, r.address, r.length, r.read);
  std::byte* into = engine.payloads.data(r.buffer) + r.read;
  if ((engine.lossy() || engine.loose()) && engine.witness()) {
    sample_tracked(engine, qp, r, {into, bytes});
  } else {
    sample(engine, qp.node(), r.address + r.read, {into, bytes},
           {.stamp = Stamp::aNRR, .thread = r.thread, .op = r.op, .peer = qp.node()});
  }
  r.read += bytes;
  return bytes;
}

namespace {
/// One request at a time: the READ that held back those behind it has its data.
void next_request(Engine& engine, QpId id) {
  engine.responders[id].blocked = false;
  execute_waiting(engine, id);
}
}  // namespace

void read_remote(Engine& engine, QpId id, std::uint64_t number) {
  LOCO_INVARIANT(engine.now() != kNoTimeYet, engine.now(), "responder", "a READ in its turn was given no time");
  if (!engine.responders[id].holds(number)) return;  // dropped by a RESET
  if (!takes_effect(engine, id, number)) return;
  const std::uint32_t bytes = sample_next(engine, id, number);
  const Connection& qp = engine.connections[id];
  Response& r = engine.responders[id].response(number);
  r.ready = true;
  sim::SimTime link_free;
  r.available = return_data(engine, qp.node(), bytes, link_free, {r.rkey, r.read, r.length});
  if (r.read < r.length) {
    engine.schedule(kEventReadRemote, id, number, link_free);
  } else {
    remote_read_done(engine, id, number, link_free);
    if (engine.profile().nic_placement == Placement::serial) next_request(engine, id);
  }
  schedule_respond(engine, id);
}

namespace {
/// What an atomic found is kept where its answer may be lost: the request comes again.
void keep_result(Engine& engine, QpId id, const Response& r) {
  if (!engine.lossy()) return;
  const Connection& qp = engine.connections[id];
  sim::Ring<Replay>& replays = engine.responders[id].disorder.edit().replays;
  if (replays.size() == qp.settings().max_dest_rd_atomic) replays.pop_front();
  replays.push_back({r.psn, r.value});
}

/// Does it hold its NIC's atomic unit until its write has been committed? Not where the next atomic's read pushes that
/// write, in one ordering domain with it.
bool held_until_committed(const HardwareProfile& p) { return p.nic_atomic_cap == AtomicCap::hca && p.splits_writes(); }

/// The new value goes to memory: at once where atomics are atomic with CPUs, else as a write that is posted `modify`
/// from now.
void write_atomic(Engine& engine, NodeId node, std::uint32_t domain, const Response& r, sim::Duration modify) {
  const HardwareProfile& p = engine.profile();
  const std::uint64_t value = r.request == Op::fetch_add ? r.value + r.compare_add : r.swap;
  if (p.nic_atomic_cap != AtomicCap::global) {
    const WriteOrigin origin{.stamp = Stamp::aNRW, .atomic = true, .thread = r.thread, .op = r.op, .peer = node};
    return post_write(engine, domain,
                      {.ends_atomic = held_until_committed(p), .length = 8, .address = r.address, .value = value},
                      origin, modify, r.rkey);
  }
  engine.memories[node].set_word(r.address, value);
  instant_write(engine, {.stamp = Stamp::aNRW,
                         .nic_atomic = true,
                         .thread = r.thread,
                         .op = r.op,
                         .peer = node,
                         .home = node,
                         .address = r.address,
                         .value = value});
  touched_bytes(engine, node, r.address, 8);
}
}  // namespace

void execute_atomic(Engine& engine, NodeId node) {
  const AtomicRequest request = engine.hosts[node].atomics.front();
  Responder& rs = engine.responders[request.qp];
  if (!rs.holds(request.response)) return atomic_unit_free(engine, node);  // dropped by a RESET
  Response& r = rs.response(request.response);
  sample(engine, node, r.address, std::as_writable_bytes(std::span(&r.value, 1)),
         {.stamp = Stamp::aNRR, .nic_atomic = true, .thread = r.thread, .op = r.op, .peer = node});
  keep_result(engine, request.qp, r);
  sim::SimTime link_free;
  r.ready = true;
  r.available = return_data(engine, node, 8, link_free, {r.rkey}) + engine.profile().nic_atomic_modify;
  const sim::Duration modify = r.available - engine.now();
  const bool writes = r.request == Op::fetch_add || r.value == r.compare_add;
  if (writes) write_atomic(engine, node, rs.domain, r, modify);
  if (!writes || !held_until_committed(engine.profile())) {
    engine.schedule(kEventAtomicDone, node, 0, engine.now() + modify);
  }
  rs.blocked = false;
  schedule_respond(engine, request.qp);
  execute_waiting(engine, request.qp);
}

void atomic_unit_free(Engine& engine, NodeId node) {
  Host& host = engine.hosts[node];
  host.busy.atomics += engine.now() - host.atomic_since;
  sim::Ring<AtomicRequest>& atomics = host.atomics;
  atomics.pop_front();
  if (!atomics.empty()) start_atomic(engine, node);
}

namespace {
/// The next packet of an answer: an ACK, a NAK and an atomic's response are one.
fabric::Packet response_packet(const Engine& engine, QpId id, const Response& r) {
  const Connection& qp = engine.connections[id];
  fabric::Packet packet;
  packet.source = qp.node();
  packet.destination = qp.peer_node();
  packet.source_qp = id;
  packet.destination_qp = qp.peer();
  packet.opcode = r.opcode;
  packet.nak = r.nak;
  packet.psn = r.psn;
  packet.wqe = r.wqe;
  packet.a = r.value;
  if (r.opcode != Op::read_response) return packet;
  packet.offset = r.sent;
  packet.total = r.length;
  packet.length = next_segment(engine, qp, r);
  packet.first = r.sent == 0;
  packet.last = r.sent + packet.length == r.length;
  packet.buffer = packet.length == 0 ? fabric::kNoBuffer : r.buffer;
  packet.psn = r.psn + static_cast<std::uint32_t>(r.sent / mtu_of(engine, qp));
  packet.b = r.execution;
  return packet;
}
}  // namespace

namespace {
/// As in the requester: payload bytes at most of the packet behind the one that is about to leave.
std::uint32_t payload_behind(const Engine& engine, QpId id, bool last) {
  const Connection& qp = engine.connections[id];
  const Responder& rs = engine.responders[id];
  if (last && rs.responses.size() == 1) return static_cast<std::uint32_t>(mtu_of(engine, qp));
  const Response& r = rs.responses[last ? 1 : 0];
  return r.opcode == Op::read_response ? next_segment(engine, qp, r) : 0;
}
}  // namespace

void respond(Engine& engine, QpId id) {
  Responder& rs = engine.responders[id];
  if (wait_for_port(engine, id, true)) return;
  rs.respond_event = false;
  if (!may_respond(engine, id)) return schedule_respond(engine, id);  // the event was for what a RESET has dropped
  Response& r = rs.responses.front();
  const fabric::Packet packet = response_packet(engine, id, r);
  r.sent += packet.length;
  rs.transmit_free = send_packet(engine, packet, payload_behind(engine, id, packet.last));
  if (packet.last) {
    engine.release(r.buffer);
    rs.responses.pop_front();
    ++rs.first;
  }
  schedule_respond(engine, id);
}

}  // namespace loco::nic
