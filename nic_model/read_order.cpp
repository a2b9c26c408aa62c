#include "nic_model/read_order.hpp"

#include <algorithm>
#include <array>

#include "nic_model/pcie.hpp"
#include "nic_model/responses.hpp"

namespace loco::nic {

namespace {

void issue(Engine& engine, QpId id, std::uint64_t number, sim::Duration delay, sim::Duration behind = {}) {
  Responder& rs = engine.state.qps[id].responder;
  const Response& r = rs.response(number);
  issue_read(engine, rs.domain, {.kind = ReadKind::remote_read, .where = id, .number = number}, r.length, delay,
             {r.rkey, r.address, behind});
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
      return engine.schedule(kEventReadRemote, id, stream.front(), engine.now() + engine.profile().pcie_read_access);
    }
    sim::SimTime link_free;
    for (r.read = 0; r.read < r.length;) {
      const std::uint32_t bytes = sample_next(engine, id, stream.front());
      r.available = return_data(engine, qp.node, bytes, link_free, r.rkey);
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
  // The NIC asks for one READ's data after the other's: they do not share the link, as their answers leave in order.
  Responder& rs = engine.state.qps[id].responder;
  const Response& r = rs.response(number);
  const sim::SimTime begin = std::max(rs.reads_until, engine.now());
  rs.reads_until = begin + data_time(engine, r.rkey, r.length);
  issue(engine, id, number, {}, begin - engine.now());
}

void remote_read_may_execute(Engine& engine, QpId id, std::uint64_t number, sim::SimTime due) {
  Responder& rs = engine.state.qps[id].responder;
  if (engine.profile().pcie_read_ordering == ReadOrdering::root_complex) {
    Response& r = rs.response(number);
    r.may_execute = true;
    r.available = due;
    if (rs.disorder->read_stream.front() != number) return;
  }
  engine.schedule(kEventReadRemote, id, number, due);
}

void read_speculatively(Engine& engine, QpId id, std::uint64_t number) {
  QueuePair& qp = engine.state.qps[id];
  Response& r = qp.responder.response(number);
  const std::uint32_t bytes = read_step(engine, r.address, r.length, r.read);
  engine.state.hosts[qp.node].memory.read(r.address + r.read, {engine.state.buffers[r.buffer].data() + r.read, bytes});
  r.read += bytes;
  if (r.read < r.length) return engine.schedule(kEventReadRemote, id, number, engine.now());
  retire(engine, id);
}

void remote_read_done(Engine& engine, QpId id, std::uint64_t number) {
  const ReadOrdering ordering = engine.profile().pcie_read_ordering;
  if (ordering == ReadOrdering::unordered) return;
  Responder& rs = engine.state.qps[id].responder;
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
