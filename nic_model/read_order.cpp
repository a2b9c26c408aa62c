#include "nic_model/read_order.hpp"

#include <algorithm>
#include <array>

#include "nic_model/flow_control.hpp"
#include "nic_model/pcie.hpp"
#include "nic_model/responses.hpp"

namespace loco::nic {

namespace {

void issue(Engine& engine, QpId id, std::uint64_t number, sim::Duration delay) {
  Responder& rs = engine.state.qps[id].responder;
  const Response& r = rs.response(number);
  issue_read(engine, rs.domain, {.kind = ReadKind::remote_read, .where = id, .number = number}, r.length, delay,
             {r.rkey, r.address});
}

/// Is it read in several steps over PCIe? Then those behind it wait.
bool is_long(const Engine& engine, const Response& r) {
  return read_step(engine, r.address, r.length, 0) < r.length && !engine.on_device(r.rkey);
}

/// Gives the READs behind a long one their times, up to and with the next long one.
void next_turn(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free) {
  const NodeId node = engine.state.qps[id].node;
  Responder& rs = engine.state.qps[id].responder;
  ++rs.long_reads_done;
  while (rs.holds(++number)) {
    Response& r = rs.response(number);
    if (r.opcode != fabric::Opcode::read_response || r.read == r.length) continue;
    if (engine.state.events.cancel(r.turn)) {
      const sim::SimTime due = std::max(r.available, link_free);
      engine.schedule(kEventReadRemote, id, number, take_request(engine, node, r.rkey, r.length, due, r.reach));
    }
    r.turn = {};
    if (is_long(engine, r)) return;
  }
}

/// Does memory still hold what was read?
bool unchanged(const Engine& engine, NodeId node, const Response& r) {
  const HostMemory& memory = engine.state.hosts[node].memory;
  const std::byte* kept = engine.state.buffers[r.buffer].data();
  std::array<std::byte, 64> now{};
  for (std::uint32_t at = 0; at < r.length; at += static_cast<std::uint32_t>(now.size())) {
    const std::uint32_t bytes = std::min(r.length - at, static_cast<std::uint32_t>(now.size()));
    memory.read(r.address + at, std::span(now).first(bytes));
    if (!std::equal(now.begin(), now.begin() + bytes, kept + at)) return false;
  }
  return true;
}

/// Lets the oldest READs of a stream take effect, as far as they have been executed.
void retire(Engine& engine, QpId id) {
  QueuePair& qp = engine.state.qps[id];
  sim::Ring<std::uint64_t>& stream = qp.responder.disorder.edit().read_stream;
  while (!stream.empty()) {
    Response& r = qp.responder.response(stream.front());
    if (r.read < r.length) return;
    if (!unchanged(engine, qp.node, r)) {
      ++engine.state.counters.reads_squashed;
      r.read = 0;
      engine.schedule(kEventReadRemote, id, stream.front(), engine.now() + engine.profile().pcie_read_access);
      return;
    }
    sim::SimTime link_free;
    for (r.read = 0; r.read < r.length;) {
      const std::uint32_t bytes = sample_next(engine, id, stream.front());
      r.available = return_data(engine, qp.node, bytes, link_free, {r.rkey});
    }
    r.ready = true;
    stream.pop_front();
    schedule_respond(engine, id);
  }
}

}  // namespace

void issue_remote_read(Engine& engine, QpId id, std::uint64_t number) {
  const ReadOrdering ordering = engine.profile().pcie_read_ordering;
  if (ordering != ReadOrdering::unordered) {
    sim::Ring<std::uint64_t>& stream = engine.state.qps[id].responder.disorder.edit().read_stream;
    stream.push_back(number);
    if (ordering == ReadOrdering::nic_serialised && stream.size() > 1) return;
  }
  Responder& rs = engine.state.qps[id].responder;
  Response& r = rs.response(number);
  r.long_reads_before = rs.long_reads;
  if (is_long(engine, r)) ++rs.long_reads;
  issue(engine, id, number, {});
}

void remote_read_may_execute(Engine& engine, const HeldRead& read) {
  const QpId id = read.where;
  const NodeId node = engine.state.qps[id].node;
  const ReadOrdering ordering = engine.profile().pcie_read_ordering;
  Responder& rs = engine.state.qps[id].responder;
  if (!rs.holds(read.number)) return;  // dropped by a RESET
  Response& r = rs.response(read.number);
  // Counted by running numbers: where READs have passed each other, too, each is given its time in the end.
  const auto in_front = static_cast<std::int32_t>(r.long_reads_before - rs.long_reads_done);
  if (ordering == ReadOrdering::unordered && in_front > 0 && !engine.on_device(read.key)) {
    r.available = read.due;
    r.reach = read.reach;
    r.turn = engine.schedule(kEventReadRemote, id, read.number, kNoTimeYet);
    return;
  }
  const sim::SimTime due = take_request(engine, node, read.key, read.bytes, read.due, read.reach);
  if (ordering == ReadOrdering::root_complex) {
    r.may_execute = true;
    r.available = due;
    if (rs.disorder->read_stream.front() != read.number) return;
  }
  engine.schedule(kEventReadRemote, id, read.number, due);
}

void read_speculatively(Engine& engine, QpId id, std::uint64_t number) {
  QueuePair& qp = engine.state.qps[id];
  Response& r = qp.responder.response(number);
  const std::uint32_t bytes = read_step(engine, r.address, r.length, r.read);
  engine.state.hosts[qp.node].memory.read(r.address + r.read, {engine.state.buffers[r.buffer].data() + r.read, bytes});
  r.read += bytes;
  if (r.read == r.length) return retire(engine, id);
  engine.schedule(kEventReadRemote, id, number,
                  ask_for_next(engine, qp.node, bytes, engine.now(), {r.rkey, r.read, r.length}));
}

void remote_read_done(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free) {
  const ReadOrdering ordering = engine.profile().pcie_read_ordering;
  Responder& rs = engine.state.qps[id].responder;
  if (ordering == ReadOrdering::unordered) {
    const bool any_long = rs.long_reads != rs.long_reads_done;
    if (any_long && is_long(engine, rs.response(number))) next_turn(engine, id, number, link_free);
    return;
  }
  const sim::SimTime there = rs.response(number).available;
  rs.disorder.edit().read_stream.pop_front();
  if (rs.disorder->read_stream.empty()) return;
  const std::uint64_t next = rs.disorder->read_stream.front();
  if (ordering == ReadOrdering::nic_serialised) return issue(engine, id, next, there - engine.now());
  const Response& r = rs.response(next);
  if (!r.may_execute) return;
  const sim::SimTime due = std::max(r.available, engine.now() + engine.profile().pcie_read_access);
  engine.schedule(kEventReadRemote, id, next, due);
}

}  // namespace loco::nic
