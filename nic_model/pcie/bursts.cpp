#include "nic_model/pcie/bursts.hpp"

#include <algorithm>
#include <bit>

#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/paths.hpp"
#include "nic_model/pcie/posted_domain.hpp"
#include "nic_model/pcie/tlps.hpp"

namespace loco::nic {

bool Bursts::operator==(const Bursts& o) const {
  return reading_ == o.reading_ && writing_ == o.writing_ && stopped_ == o.stopped_ &&
         (!reading_ || read_ == o.read_) && std::equal(writes_.begin(), writes_.begin() + writing_, o.writes_.begin());
}

Bursts& bursts_of(Engine& engine, NicId node) { return engine.links[node].bursts(); }

namespace {

constexpr std::uint32_t kFewest = 3;  // fewer steps are not worth a burst

bool each_tlp_is_observed(const Engine& engine) {
  return engine.observer() != nullptr && engine.observer()->follows_accesses();
}

bool overlap(Address a, std::uint64_t a_size, Address b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

// --- reads -----------------------------------------------------------------------------------------------------------

std::uint32_t next_step(const Engine& engine, NicId node, const ReadBurst& b) {
  return read_step(engine, node, b.address, b.length, b.done);
}

/// Number of steps left, the last one included.
std::uint32_t steps_left(const Engine& engine, NicId node, const ReadBurst& b) {
  const std::uint64_t step = engine.profile(node).pcie_read_completion.count;
  const int bits = std::countr_zero(step);  // a power of two
  return static_cast<std::uint32_t>(((b.address + b.stop + step - 1) >> bits) - ((b.address + b.done) >> bits));
}

/// The earliest time of the last step: directly after those before it.
sim::SimTime earliest_end(const Engine& engine, NicId node, const ReadBurst& b) {
  const HardwareProfile& p = engine.profile(node);
  const std::uint32_t left = steps_left(engine, node, b);
  if (left == 1) return b.next;
  const std::uint64_t header = p.pcie_completion_header.count;
  return b.next + on_link(engine, node, next_step(engine, node, b) + header) +
         engine.links[node].times().completion * (left - 2);
}

/// Makes the steps that were due before now, except the last. A burst's data comes over the NIC's own link only.
void advance(Engine& engine, NicId node, ReadBurst& b) {
  const sim::SimTime now = engine.now();
  if (b.next >= now) return;
  PcieLink& link = engine.links[node];
  const HardwareProfile& p = engine.profile(node);
  const ReadWay way = way_of_read(engine, node, b.key);
  const std::uint32_t before = b.done;
  const auto full = static_cast<std::uint32_t>(p.pcie_read_completion.count);
  std::uint32_t steps = 0;
  std::uint32_t requests = 0;
  sim::SimTime sent = b.next;
  std::uint32_t bytes = next_step(engine, node, b);
  for (std::uint32_t left = steps_left(engine, node, b); left > 1 && b.next < now; --left) {
    b.done += bytes;
    b.next = carry_completion(p, link, bytes, completion_time(p, link, bytes), {b.key, b.done, b.length}, way, b.next,
                              requests, sent);
    bytes = full;  // all that are not the first or the last of the read
    ++steps;
  }
  if (steps == 0) return;
  b.there = sent + p.pcie_downstream + (way.path == nullptr ? sim::Duration{} : way.path->back);
  count_completions(engine, node, steps, b.done - before, requests);
  engine.kernel.count_steps(steps);
  read_payload(engine, node, b.address + before, {b.buffer, before, b.done - before});
}

// --- writes ----------------------------------------------------------------------------------------------------------

/// Commits the TLPs that were due before now, except the last.
void advance(Engine& engine, NicId node, PostedWrite& write) {
  const sim::SimTime now = engine.now();
  if (write.ready >= now) return;
  const std::uint64_t header = engine.profile(node).pcie_write_header.count;
  const auto mps = static_cast<std::uint32_t>(engine.profile(node).pcie_mps.count);
  const sim::Duration full = engine.links[node].times().write;
  const std::uint32_t before = write.committed;
  std::uint32_t steps = 0;
  for (std::uint32_t bytes = next_tlp(engine, node, write); write.ready < now && write.committed + bytes < write.length;
       ++steps) {
    write.committed += bytes;
    bytes = std::min(mps, write.length - write.committed);
    write.ready += bytes == mps ? full : on_link(engine, node, bytes + header);
  }
  if (steps == 0) return;
  engine.kernel.count_steps(steps);
  const std::uint32_t written = write.committed - before;
  write_payload(engine, node, write, before, written);
  if (write.received_by != PortId::none()) announce(engine, ReceivedLanded{write.received_by, written});
}

PostedWrite& written_by(Engine& engine, const WriteBurst& burst) {
  return engine.domains[burst.domain].edit(burst.number);
}

/// Breaks a write's burst: its remaining TLPs get an event each.
void break_write(Engine& engine, NicId node, std::size_t i) {
  Bursts& bursts = bursts_of(engine, node);
  const WriteBurst burst = bursts.writes()[i];
  PostedWrite& write = written_by(engine, burst);
  advance(engine, node, write);
  engine.cancel(burst.event);
  engine.kernel.burst_ends();
  bursts.end_write(i);
  write.burst = false;
  engine.schedule(kEventCommit, burst.domain, burst.number, write.ready);
}

bool watched(const Engine& engine, NicId node, Address address, std::uint64_t size) {
  const std::uint64_t low = watch_key(WatchKind::word, word_of(address));
  const std::uint64_t high = watch_key(WatchKind::word, word_of(address + size - 1));
  return std::ranges::any_of(engine.processes[engine.host_of(node)].threads(),
                             [&](ThreadId id) { return engine.threads[id].watched().touched_by_words(low, high); });
}

/// The part of a write that is not committed.
struct Rest {
  Address address = 0;
  std::uint32_t size = 0;
};
Rest rest_of(const PostedWrite& write) { return {write.address + write.committed, write.length - write.committed}; }

}  // namespace

bool begin_burst(Engine& engine, NicId node, ReadBurst plan) {
  Bursts& bursts = bursts_of(engine, node);
  if (bursts.reads() || each_tlp_is_observed(engine) || engine.on_device(node, plan.key)) return false;
  if (is_scattered(plan.address) || goes_over_links(engine, node, plan.key)) return false;
  if (plan.next < engine.now()) plan.next = engine.now();
  if (steps_left(engine, node, plan) < kFewest) return false;
  for (const WriteBurst& other : bursts.writes()) {
    if (overlap(plan.address + plan.done, plan.stop - plan.done, other.address, other.length)) return false;
  }
  plan.event = engine.schedule(plan.what, plan.qp, plan.number, earliest_end(engine, node, plan));
  engine.kernel.burst_begins();
  bursts.begin(plan);
  return true;
}

bool end_burst(Engine& engine, NicId node, ReadBurst& done) {
  Bursts& bursts = bursts_of(engine, node);
  ReadBurst& b = bursts.read();
  advance(engine, node, b);
  if (b.next > engine.now() || steps_left(engine, node, b) > 1) {
    engine.kernel.uncount_step();
    b.event = engine.schedule(b.what, b.qp, b.number, earliest_end(engine, node, b));
    return false;
  }
  done = b;
  engine.kernel.burst_ends();
  bursts.end_read();
  return true;
}

void break_read_burst(Engine& engine, NicId node, ReadBurst& done) {
  Bursts& bursts = bursts_of(engine, node);
  ReadBurst& b = bursts.read();
  advance(engine, node, b);
  engine.cancel(b.event);
  engine.schedule(b.what, b.qp, b.number, b.next);
  done = b;
  engine.kernel.burst_ends();
  bursts.end_read();
}

void drop_read_burst(Engine& engine, NicId node) {
  Bursts& bursts = bursts_of(engine, node);
  engine.cancel(bursts.read().event);
  engine.kernel.burst_ends();
  bursts.end_read();
}

bool begin_burst(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write) {
  const NicId node = engine.domains[domain].node();
  Bursts& bursts = bursts_of(engine, node);
  const HardwareProfile& p = engine.profile(node);
  const Rest rest = rest_of(write);
  if (write.device || write.over_links != 0 || write.ahead != 0 || is_scattered(write.address)) return false;
  if (!bursts.takes_write() || each_tlp_is_observed(engine) || watched(engine, node, rest.address, rest.size)) {
    return false;
  }
  if (bursts.reads()) {
    const ReadBurst& read = bursts.read();
    if (overlap(read.address + read.done, read.stop - read.done, rest.address, rest.size)) return false;
  }
  for (const WriteBurst& other : bursts.writes()) {
    if (overlap(rest.address, rest.size, other.address, other.length)) return false;
  }
  write.ready = std::max(write.ready, engine.now());
  // All TLPs after the next one are full, except the last.
  const std::uint64_t mps = p.pcie_mps.count;
  const std::uint64_t header = p.pcie_write_header.count;
  const Address end = rest.address + rest.size;
  const int bits = std::countr_zero(mps);  // a power of two
  const std::uint64_t behind = ((end - 1) >> bits) - (rest.address >> bits);
  const std::uint64_t last = ((end - 1) & (mps - 1)) + 1;
  const sim::Duration full = engine.links[node].times().write;
  const sim::SimTime ends = write.ready + full * static_cast<std::int64_t>(behind - 1) +
                            (last == mps ? full : on_link(engine, node, last + header));
  write.burst = true;
  engine.kernel.burst_begins();
  bursts.begin({domain, number, rest.address, rest.size, engine.schedule(kEventCommit, domain, number, ends)});
  return true;
}

void end_burst(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write) {
  const NicId node = engine.domains[domain].node();
  advance(engine, node, write);
  Bursts& bursts = bursts_of(engine, node);
  const std::span<const WriteBurst> all = bursts.writes();
  const auto is_it = [&](const WriteBurst& b) { return b.domain == domain && b.number == number; };
  engine.kernel.burst_ends();
  bursts.end_write(static_cast<std::size_t>(std::ranges::find_if(all, is_it) - all.begin()));
  write.burst = false;
}

void settle_read_burst(Engine& engine, NicId node) {
  Bursts& bursts = bursts_of(engine, node);
  if (bursts.reads()) advance(engine, node, bursts.read());
}

void settle_write_bursts(Engine& engine, NicId node) {
  for (const WriteBurst& burst : bursts_of(engine, node).writes()) advance(engine, node, written_by(engine, burst));
}

void settle_bursts_at(Engine& engine, NicId node, Address address, std::uint64_t size) {
  Bursts& bursts = bursts_of(engine, node);
  if (bursts.reads() && overlap(bursts.read().address, bursts.read().stop, address, size)) {
    advance(engine, node, bursts.read());
  }
  for (const WriteBurst& burst : bursts.writes()) {
    if (overlap(burst.address, burst.length, address, size)) advance(engine, node, written_by(engine, burst));
  }
}

void break_watched_bursts(Engine& engine, ThreadId id) {
  const Thread& thread = engine.threads[id];
  const NicId nic = first_nic(thread.node());  // where there are bursts, the only one
  const std::span<const WriteBurst> all = bursts_of(engine, nic).writes();
  for (std::size_t i = all.size(); i-- > 0;) {
    const Rest rest = rest_of(written_by(engine, all[i]));
    const std::uint64_t low = watch_key(WatchKind::word, word_of(rest.address));
    const std::uint64_t high = watch_key(WatchKind::word, word_of(rest.address + rest.size - 1));
    if (thread.watched().touched_by_words(low, high)) break_write(engine, nic, i);
  }
}

void allow_write_bursts(Engine& engine, NicId node, bool allow) {
  bursts_of(engine, node).stop_writes(!allow);
  if (allow) return;
  for (std::size_t i = bursts_of(engine, node).writes().size(); i-- > 0;) break_write(engine, node, i);
}

void settle_all(Engine& engine) {
  if (!engine.kernel.bursting()) return;
  for (const NicId node : engine.links.ids()) {
    settle_read_burst(engine, node);
    settle_write_bursts(engine, node);
  }
}

}  // namespace loco::nic
