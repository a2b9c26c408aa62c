// Responder: the order of the PCIe reads made for the READs of one queue pair (pcie.read_ordering), a what-if for
// architects.
//
// PCIe lets reads pass reads, so today a client that needs two READs in order waits for the first one's answer. The
// alternatives follow Efficient Remote Memory Ordering (ASPLOS 2026). Either the NIC issues one read at a time; or the
// root complex executes the reads of a stream one after the other; or it executes them in any order, keeps the data,
// and lets them take effect in order, repeating those whose bytes have changed since. A read that takes effect with the
// bytes that memory has at that moment equals one executed then, so values are compared, not addresses. The stream is a
// ring per queue pair. Only its oldest READ can take effect, completion by completion as its data goes on the link, so
// speculation costs no more than no order at all until it fails.
//
// Without an order, or with speculation, the READs of a queue pair still take turns: their answers leave in order, so
// the NIC requests their data one after the other. READs after one of several completions wait until the last
// completion is on the link. That is a delay, not an order: the waiting READ has a pending event without a time.
#include <algorithm>
#include <array>

#include "nic_model/host/memory.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {

/// True if the NIC requests the data of one READ after another's.
bool take_turns(ReadOrdering ordering) {
  return ordering == ReadOrdering::unordered || ordering == ReadOrdering::speculative;
}

/// True if a READ takes several steps over PCIe, so that later READs wait for it.
bool is_long(const Engine& engine, NicId node, const Response& r) {
  return read_step(engine, node, r.address, r.length, 0) < r.length && !engine.on_device(node, r.rkey);
}

/// True if memory still holds what the next step of a READ has read.
bool unchanged(Engine& engine, NicId node, const Response& r) {
  const std::uint32_t bytes = read_step(engine, node, r.address, r.length, r.read);
  const std::byte* kept = engine.payloads.data(r.buffer) + r.read;
  settle_memory(engine, node, r.address + r.read, bytes);
  std::array<std::byte, 64> now{};
  for (std::uint32_t at = 0; at < bytes; at += static_cast<std::uint32_t>(now.size())) {
    const std::uint32_t part = std::min(bytes - at, static_cast<std::uint32_t>(now.size()));
    engine.memories[engine.host_of(node)].read(r.address + r.read + at, std::span(now).first(part));
    if (!std::equal(now.begin(), now.begin() + part, kept + at)) return false;
  }
  return true;
}

}  // namespace

void Responder::issue(Engine& engine, QpId id, std::uint64_t number, sim::Duration delay) const {
  const Response& r = response(number);
  issue_read(engine, domain_, {.kind = ReadKind::remote_read, .where = id, .number = number}, r.length, delay,
             {r.rkey, r.address});
}

/// Gives the READs after a long one their times, up to and including the next long one.
void Responder::next_turn(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free) {
  const NicId node = engine.connections[id].node();
  ++further_.edit().long_reads_done;
  while (holds(++number)) {
    Response& r = edit(number);
    if (r.opcode != fabric::Opcode::read_response || r.read == r.length) continue;
    if (engine.cancel(r.turn)) {
      const sim::SimTime due = std::max(r.available, link_free);
      engine.schedule(kEventReadRemote, id, number, take_request(engine, node, r.rkey, r.length, due, r.reach));
    }
    r.turn = {};
    if (is_long(engine, engine.connections[id].node(), r)) return;
  }
}

/// The oldest READ of an ordered stream has taken effect: starts the next one.
void Responder::next_of_stream(Engine& engine, QpId id, sim::SimTime there, sim::SimTime link_free) {
  edit_disorder().read_stream.pop_front();
  if (disorder().read_stream.empty()) return;
  const std::uint64_t next = disorder().read_stream.front();
  const Response& r = response(next);
  const ReadOrdering ordering = engine.profile(engine.connections[id].node()).pcie_read_ordering;
  if (ordering == ReadOrdering::nic_serialised) return issue(engine, id, next, there - engine.now());
  if (!r.held) return;  // it has an event of its own
  const sim::SimTime accessed =
      std::max(r.available, engine.now() + access_time(engine, engine.connections[id].node(), r.rkey));
  engine.schedule(kEventReadRemote, id, next, ordering == ReadOrdering::root_complex ? accessed : link_free);
}

/// Issues the PCIe read of a READ, or queues it in its stream.
void Responder::issue_remote_read(Engine& engine, QpId id, std::uint64_t number) {
  const ReadOrdering ordering = engine.profile(engine.connections[id].node()).pcie_read_ordering;
  if (ordering != ReadOrdering::unordered) {
    sim::Ring<std::uint64_t>& stream = edit_disorder().read_stream;
    stream.push_back(number);
    if (ordering == ReadOrdering::nic_serialised && stream.size() > 1) return;
  }
  Response& r = edit(number);
  r.long_reads_before = further_->long_reads;
  if (is_long(engine, engine.connections[id].node(), r)) ++further_.edit().long_reads;
  issue(engine, id, number, {});
}

void Responder::remote_read_may_execute(Engine& engine, const HeldRead& read) {
  const QpId id = read.where;
  const NicId node = engine.connections[id].node();
  const ReadOrdering ordering = engine.profile(node).pcie_read_ordering;
  if (!holds(read.number)) {  // dropped by a RESET
    LOCO_PROBE(read_of_a_past_connection);
    return;
  }
  Response& r = edit(read.number);
  // Running numbers are compared, so each READ gets its time even if READs have passed each other.
  const auto in_front = static_cast<std::int32_t>(r.long_reads_before - further_->long_reads_done);
  if (take_turns(ordering) && in_front > 0 && !engine.on_device(engine.connections[id].node(), read.key)) {
    LOCO_PROBE(read_behind_a_long_one);
    r.available = read.due;
    r.reach = read.reach;
    r.turn = engine.schedule(kEventReadRemote, id, read.number, kNoTimeYet);
    return;
  }
  const sim::SimTime due = take_request(engine, node, read.key, read.bytes, read.due, read.reach);
  if (ordering == ReadOrdering::root_complex) {
    r.available = due;
    r.held = disorder().read_stream.front() != read.number;
    if (r.held) return;
  }
  if (!schedule_parts(engine, id, read.number, due)) engine.schedule(kEventReadRemote, id, read.number, due);
}

/// True if the next step of a READ takes effect now. False if it was executed ahead of its turn, or is repeated because
/// memory has changed.
bool Responder::takes_effect(Engine& engine, QpId id, std::uint64_t number) {
  if (engine.profile(engine.connections[id].node()).pcie_read_ordering != ReadOrdering::speculative) return true;
  const Connection& qp = engine.connections[id];
  Response& r = edit(number);
  if (disorder().read_stream.front() != number) {
    settle_memory(engine, qp.node(), r.address, r.length);
    engine.memories[engine.host_of(qp.node())].read(r.address, {engine.payloads.edit(r.buffer), r.length});
    r.held = true;
    return false;
  }
  if (!r.held || unchanged(engine, qp.node(), r)) return true;
  LOCO_PROBE(speculative_read_squashed);
  engine.count(&Counters::reads_squashed);
  r.held = false;
  engine.schedule(kEventReadRemote, id, number,
                  engine.now() + access_time(engine, engine.connections[id].node(), r.rkey));
  return false;
}

/// All bytes of a READ have been read and occupy the link until `link_free`: starts the next one.
void Responder::remote_read_done(Engine& engine, QpId id, std::uint64_t number, sim::SimTime link_free) {
  const ReadOrdering ordering = engine.profile(engine.connections[id].node()).pcie_read_ordering;
  const Response& r = response(number);
  const bool any_long = further_->long_reads != further_->long_reads_done;
  if (take_turns(ordering) && any_long && is_long(engine, engine.connections[id].node(), r))
    next_turn(engine, id, number, link_free);
  if (ordering != ReadOrdering::unordered) next_of_stream(engine, id, r.available, link_free);
}

}  // namespace loco::nic
