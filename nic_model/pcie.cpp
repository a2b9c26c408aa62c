#include "nic_model/pcie.hpp"

#include <algorithm>

#include "nic_model/flow_control.hpp"
#include "nic_model/queue_pair.hpp"
#include "nic_model/read_order.hpp"
#include "nic_model/requester.hpp"
#include "nic_model/responses.hpp"

namespace loco::nic {

namespace {
sim::Duration on_link(const Engine& engine, std::uint64_t bytes) {
  return sim::transmission_time({bytes}, engine.profile().pcie_rate);
}

/// One direction of the link carries `bytes` now, or once it is free; returns when it is done.
sim::SimTime upstream(Engine& engine, NodeId node, std::uint64_t bytes, std::uint64_t tlps) {
  State& s = engine.state;
  Host& host = s.hosts[node];
  s.counters.tlps_up += tlps;
  s.counters.pcie_bytes_up += bytes;
  host.upstream_free = std::max(host.upstream_free, s.now) + on_link(engine, bytes);
  return host.upstream_free;
}

sim::SimTime downstream(Engine& engine, NodeId node, std::uint64_t bytes) {
  State& s = engine.state;
  Host& host = s.hosts[node];
  ++s.counters.tlps_down;
  s.counters.pcie_bytes_down += bytes;
  host.downstream_free = std::max(host.downstream_free, s.now) + on_link(engine, bytes);
  return host.downstream_free;
}

/// What no read has asked for: the data of all reads comes so much later.
sim::SimTime downstream_unasked(Engine& engine, NodeId node, std::uint64_t bytes) {
  engine.state.hosts[node].asked_until += on_link(engine, bytes);
  return downstream(engine, node, bytes);
}

/// What memory of a region costs because of where it is. May be negative: a warm line. Queues have no region.
sim::Duration place_penalty(const HardwareProfile& p, const MemoryRegion* region) {
  sim::Duration penalty{};
  if (p.pcie_remote_numa) penalty += p.pcie_numa_penalty;
  const std::uint64_t size = region == nullptr ? 1 : region->size;  // queues are small
  if (size <= p.pcie_cpu_cache.count) penalty = penalty - p.pcie_warm_saving;
  return penalty;
}

/// What an access to memory costs besides the profile's latency: cache, NUMA, IOMMU.
sim::Duration memory_penalty(Engine& engine, NodeId node, std::uint32_t key, Address address, std::uint64_t bytes) {
  const HardwareProfile& p = engine.profile();
  const MemoryRegion* region = engine.region(key);
  sim::Duration penalty = place_penalty(p, region);
  if (region == nullptr) return penalty;
  if (p.pcie_iommu) {
    constexpr Address kPage = kIommuPage.count;
    bool held = true;
    for (Address page = address / kPage; page <= (address + std::max<std::uint64_t>(bytes, 1) - 1) / kPage; ++page) {
      held &= engine.state.hosts[node].translated.touch(page);
    }
    if (!held) penalty += p.pcie_iommu_penalty;
  }
  return penalty;
}

/// Requests that a read of `bytes` takes.
std::uint64_t read_requests(const HardwareProfile& p, std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, (bytes + p.pcie_mrrs.count - 1) / p.pcie_mrrs.count);
}

/// From a read request on the link until memory is read, apart from what its address costs.
sim::Duration read_reach(const Engine& engine) {
  const HardwareProfile& p = engine.profile();
  return on_link(engine, p.pcie_read_header.count) + p.pcie_upstream + p.pcie_read_access;
}

void announce(Engine& engine, TlpKind kind, NodeId node, QpId qp, Address address, std::uint32_t bytes) {
  if (Observer* o = engine.observer()) {
    o->on_tlp({.kind = kind, .node = node, .qp = qp, .address = address, .bytes = bytes, .at = engine.now()});
  }
}

/// Was the TLP behind the first `done` bytes on its way while the rest of its message was? See PostedWrite::ahead.
bool crossed(const PostedWrite& write, std::uint32_t done, std::uint32_t bytes) {
  return done != 0 && done + bytes <= write.ahead;
}

/// When memory has the next TLP of a write, which needs credits.
[[gnu::noinline]] sim::SimTime with_credits(Engine& engine, NodeId node, const PostedWrite& write) {
  const std::uint32_t bytes = write.is_cqe
                                  ? static_cast<std::uint32_t>(engine.profile().nic_cqe_bytes.count)
                                  : write_step(engine, write.address + write.committed, write.length - write.committed);
  if (write.device || crossed(write, write.committed, bytes)) return write.ready;
  return take_posted(engine, node, bytes, write.ready, write.way);
}

/// The next TLP of a write that nothing is in front of.
void schedule_commit(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write) {
  const NodeId node = engine.state.domains[domain].node;
  write.has_event = true;
  if (!write.is_cqe) {
    const std::uint32_t bytes = write_step(engine, write.address + write.committed, write.length - write.committed);
    engine.prefetch(node, write.address + write.committed, write.buffer, write.offset + write.committed, bytes);
  }
  if (engine.profile().pcie_posted_credits.count != 0) write.ready = with_credits(engine, node, write);
  engine.schedule(kEventCommit, domain, number, write.ready);
}

/// Puts the TLPs of a write on the link, one behind the other and in front of whatever is posted next. Returns when the
/// first has been sent.
sim::SimTime send_tlps(Engine& engine, NodeId node, const PostedWrite& write) {
  const std::uint64_t header = engine.profile().pcie_write_header.count;
  sim::SimTime first;
  std::uint32_t done = 0;
  do {
    const std::uint32_t bytes = write_step(engine, write.address + done, write.length - done);
    const bool ahead = crossed(write, done, bytes);
    const sim::SimTime sent = upstream(engine, node, ahead ? 0 : bytes + header, 1);
    if (ahead) engine.state.counters.pcie_bytes_up += bytes + header;
    announce(engine, TlpKind::memory_write, node, 0, write.address + done, bytes);
    if (done == 0) first = sent;
    done += bytes;
  } while (done < write.length);
  return first;
}

void enqueue(Engine& engine, std::uint32_t domain, const PostedWrite& write) {
  PostedDomain& d = engine.state.domains[domain];
  PostedWrite& queued = d.writes.push_back(write);
  const bool loose = queued.relaxed || engine.fault(Fault::posted_passes_posted) ||
                     (queued.is_cqe && engine.fault(Fault::completion_before_data));
  if (loose || d.writes.size() == 1) schedule_commit(engine, domain, d.issued() - 1, queued);
}

/// Relaxed ordering is an attribute of a TLP: those of one write may pass each other as well, so each is a write of its
/// own. With the flow model, whose packets are messages, a write stays whole.
void enqueue_relaxed(Engine& engine, std::uint32_t domain, PostedWrite write) {
  if (engine.state.fabric.config().flow.enabled) return enqueue(engine, domain, write);
  std::uint32_t left = write.length;
  do {
    write.length = write_step(engine, write.address, left);
    left -= write.length;
    if (left > 0) engine.hold(write.buffer);
    enqueue(engine, domain, write);
    write.subevent += words_of(write.address, write.length);
    write.address += write.length;
    write.offset += write.length;
    write.ready += on_link(engine, write_step(engine, write.address, left) + engine.profile().pcie_write_header.count);
  } while (left > 0);
}

void commit_cqe(Engine& engine, const PostedWrite& write) {
  CompletionQueue& cq = engine.state.cqs[write.cq];
  if (cq.overrun || cq.cqes.size() == cq.entries) {
    cq.overrun = true;
    return to_error(engine, write.cqe.qp);  // its other completions are lost, too
  }
  cq.cqes.push_back(write.cqe);
  cq.failed = cq.failed || write.cqe.status != Status::success;
  ++engine.state.counters.completions;
  if (Observer* o = engine.observer()) o->on_cqe(cq.node, write.cq, write.cqe, engine.now());
  engine.touched(cq.node, watch_key(WatchKind::cq, write.cq));
}

void commit_data(Engine& engine, NodeId node, const PostedWrite& write, std::uint32_t bytes) {
  State& s = engine.state;
  const Address address = write.address + write.committed;
  HostMemory& memory = s.hosts[node].memory;
  const std::byte* from = write.buffer == fabric::kNoBuffer ? std::as_bytes(std::span(&write.value, 1)).data()
                                                            : s.buffers[write.buffer].data();
  memory.write(address, {from + write.offset + write.committed, bytes});
  if (engine.witness()) {
    for (Address word = word_of(address); word < address + bytes; word += 8) {
      const auto index = static_cast<SubeventId>((word - word_of(write.address)) / 8);
      engine.finish_write(write.subevent + index, node, word);
    }
  }
  engine.touched_bytes(node, address, bytes);
}

/// Nothing at the root complex holds it back any more.
void read_may_execute(Engine& engine, NodeId node, HeldRead& read) {
  read.due = std::max(read.due, engine.now());
  const auto sampled = [&](sim::Duration begin) {
    return take_request(engine, node, read.key, read.bytes, read.due, read.reach, begin);
  };
  switch (read.kind) {
    case ReadKind::wqe_fetch:
      return wqe_fetch_may_execute(engine, read);
    case ReadKind::payload:
      return payload_read_may_execute(engine, read);
    case ReadKind::remote_read:
      return remote_read_may_execute(engine, read);
    case ReadKind::probe:
      engine.schedule(kEventProbe, read.where, read.number, sampled(engine.profile().nic_wqe_start));
      return;
    case ReadKind::atomic:
      engine.schedule(kEventAtomic, read.where, 0, sampled({}));
  }
}
}  // namespace

std::uint32_t write_step(const Engine& engine, Address address, std::uint32_t left) {
  const std::uint64_t mps = engine.profile().pcie_mps.count;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, mps - address % mps));
}

void ring_doorbell(Engine& engine, NodeId node, const StoreEntry& doorbell) {
  const HardwareProfile& p = engine.profile();
  const auto payload = static_cast<std::uint32_t>(doorbell.value);
  const sim::SimTime sent = downstream_unasked(engine, node, payload + p.pcie_write_header.count);
  announce(engine, TlpKind::mmio_write, node, doorbell.qp, 0, payload);
  sim::Ring<Doorbell>& doorbells = engine.state.hosts[node].doorbells;
  // A work request of several bursts is there when the last of them is.
  constexpr std::uint64_t kBurst = 64;
  const auto bursts = static_cast<std::int64_t>((doorbell.value + kBurst - 1) / kBurst);
  const sim::Duration behind = p.cpu_mmio_gap * (bursts - 1);
  doorbells.push_back({sent + behind + p.pcie_downstream, doorbell.qp, doorbell.posted, doorbell.blueflame});
  if (doorbells.size() == 1) engine.schedule(kEventDoorbell, node, 0, doorbells.front().ready);
}

void post_write(Engine& engine, std::uint32_t domain, PostedWrite write, const WriteOrigin& origin, sim::Duration delay,
                std::uint32_t key) {
  const HardwareProfile& p = engine.profile();
  const NodeId node = engine.state.domains[domain].node;
  const MemoryRegion* region = engine.region(key);
  write.device = region != nullptr && region->kind.device;
  write.relaxed = region != nullptr && region->kind.relaxed_ordering && !write.probe;
  if (write.device) {
    write.ready = engine.now() + delay + p.nic_device_access;
  } else {
    const sim::SimTime sent = send_tlps(engine, node, write);
    write.way = p.pcie_upstream + p.pcie_write_commit + memory_penalty(engine, node, key, write.address, write.length);
    write.ready = sent + delay + write.way;
  }
  write.stamp = origin.stamp;
  if (engine.witness()) {
    const HostMemory& memory = engine.state.hosts[node].memory;
    const std::byte* from = write.buffer == fabric::kNoBuffer
                                ? std::as_bytes(std::span(&write.value, 1)).data()
                                : engine.state.buffers[write.buffer].data() + write.offset;
    for (Address word = word_of(write.address); word < write.address + write.length; word += 8) {
      std::uint64_t value = memory.word(word);  // the part of the word that is not written stays
      const auto bytes = std::as_writable_bytes(std::span(&value, 1));
      const Address low = std::max(word, write.address);
      const Address high = std::min(word + 8, write.address + write.length);
      std::copy(from + (low - write.address), from + (high - write.address), bytes.data() + (low - word));
      const SubeventId id = engine.begin({.stamp = origin.stamp,
                                          .finished = false,
                                          .nic_atomic = origin.atomic,
                                          .thread = origin.thread,
                                          .op = origin.op,
                                          .peer = origin.peer,
                                          .home = node,
                                          .address = word,
                                          .value = value});
      if (word == word_of(write.address)) write.subevent = id;
    }
  }
  return write.relaxed ? enqueue_relaxed(engine, domain, write) : enqueue(engine, domain, write);
}

void post_cqe(Engine& engine, std::uint32_t domain, CqId cq, const Cqe& cqe, sim::Duration delay) {
  const HardwareProfile& p = engine.profile();
  const NodeId node = engine.state.domains[domain].node;
  const sim::SimTime sent = upstream(engine, node, p.nic_cqe_bytes.count + p.pcie_write_header.count, 1);
  announce(engine, TlpKind::memory_write, node, cqe.qp, 0, static_cast<std::uint32_t>(p.nic_cqe_bytes.count));
  const sim::Duration way = p.pcie_upstream + p.pcie_write_commit + memory_penalty(engine, node, kNoKey, 0, 0);
  enqueue(engine, domain, {.is_cqe = true, .cq = cq, .ready = sent + delay + way, .way = way, .cqe = cqe});
}

void commit(Engine& engine, std::uint32_t domain, std::uint64_t number) {
  PostedDomain& d = engine.state.domains[domain];
  PostedWrite& write = d.writes[number - d.first];
  write.has_event = false;
  if (write.is_cqe) {
    write.done = true;
    commit_cqe(engine, write);
  } else {
    const std::uint32_t bytes = write_step(engine, write.address + write.committed, write.length - write.committed);
    commit_data(engine, d.node, write, bytes);
    write.committed += bytes;
    if (write.committed < write.length) {
      const HardwareProfile& p = engine.profile();
      if (write.device) return schedule_commit(engine, domain, number, write);
      // It was sent right behind the last one: all that separates them is the time that the link needs.
      const std::uint32_t next = write_step(engine, write.address + write.committed, write.length - write.committed);
      write.ready = engine.now();
      if (!crossed(write, write.committed, next)) write.ready += on_link(engine, next + p.pcie_write_header.count);
      return schedule_commit(engine, domain, number, write);
    }
    write.done = true;
    engine.release(write.buffer);
    if (write.ends_atomic) atomic_unit_free(engine, d.node);
    if (write.probe) ++engine.state.hosts[d.node].probes_done;
  }
  while (!d.writes.empty() && d.writes.front().done) {
    d.writes.pop_front();
    ++d.first;
  }
  if (!d.writes.empty() && !d.writes.front().has_event) schedule_commit(engine, domain, d.first, d.writes.front());
  while (!d.held.empty() && d.held.front().behind <= d.first) {
    HeldRead read = d.held.front();
    d.held.pop_front();
    read_may_execute(engine, d.node, read);
  }
}

void issue_read(Engine& engine, std::uint32_t domain, const HeldRead& read, std::uint32_t bytes, sim::Duration delay,
                const ReadTarget& target) {
  const HardwareProfile& p = engine.profile();
  PostedDomain& d = engine.state.domains[domain];
  HeldRead held = read;
  held.bytes = bytes;
  held.key = target.key;
  held.behind = engine.fault(Fault::read_does_not_flush) ? 0 : d.issued();
  if (engine.on_device(target.key)) {
    held.due = engine.now() + delay + p.nic_device_access;
  } else {
    const std::uint64_t requests = read_requests(p, bytes);
    // The first request is answered while the others follow it on the link.
    const sim::SimTime sent = upstream(engine, d.node, p.pcie_read_header.count, 1);
    if (requests > 1) upstream(engine, d.node, (requests - 1) * p.pcie_read_header.count, requests - 1);
    announce(engine, TlpKind::memory_read, d.node, 0, 0, bytes);
    const sim::Duration penalty = memory_penalty(engine, d.node, target.key, target.address, bytes);
    held.due = sent + delay + p.pcie_upstream + p.pcie_read_access + penalty;
    held.reach = read_reach(engine) + penalty;
  }
  // Work requests are not part of the memory model: with a domain a queue pair their fetch is a stream of its own.
  const bool free_stream = read.kind == ReadKind::wqe_fetch && p.pcie_ordering_domain == OrderingDomain::qp;
  if (free_stream || held.behind <= d.first) {
    read_may_execute(engine, d.node, held);
  } else {
    d.held.push_back(held);
  }
}

std::uint32_t read_step(const Engine& engine, Address address, std::uint32_t length, std::uint32_t done) {
  const std::uint64_t step = engine.profile().pcie_read_completion.count;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(length - done, step - (address + done) % step));
}

namespace {
/// Of a read that goes on, when the next step may begin, at `due` or later: `bytes` have come, and the requests whose
/// data is next, that of the ones before them being complete, take tags and credits.
sim::SimTime ask_for_next(Engine& engine, NodeId node, std::uint32_t bytes, sim::SimTime due,
                          const ReadProgress& read) {
  const HardwareProfile& p = engine.profile();
  const auto mrrs = static_cast<std::uint32_t>(p.pcie_mrrs.count);
  for (std::uint32_t next = ((read.done - bytes) / mrrs + 1) * mrrs; next <= read.done; next += mrrs) {
    const sim::Duration reach = read_reach(engine) + place_penalty(p, engine.region(read.key));
    due = take_request(engine, node, read.key, read.length - next, due, reach);
  }
  return due;
}
}  // namespace

sim::SimTime return_data(Engine& engine, NodeId node, std::uint32_t bytes, sim::SimTime& link_free,
                         const ReadProgress& read) {
  const HardwareProfile& p = engine.profile();
  if (engine.on_device(read.key)) return link_free = engine.now();
  link_free = downstream(engine, node, bytes + p.pcie_completion_header.count);
  announce(engine, TlpKind::completion, node, 0, 0, bytes);
  const sim::SimTime there = link_free + p.pcie_downstream;
  if (read.done < read.length) link_free = ask_for_next(engine, node, bytes, link_free, read);
  return there;
}

sim::SimTime there_before(const Engine& engine, sim::SimTime newest, Address address, std::uint32_t part,
                          std::uint32_t done) {
  const HardwareProfile& p = engine.profile();
  const std::uint64_t step = p.pcie_read_completion.count;
  const Address end = address + done;
  const Address held =
      std::min(end, (address + part + step - 1) / step * step);  // by the completion that ends the part
  const std::uint64_t completions = (end - held + step - 1) / step;
  return newest - on_link(engine, end - held + completions * p.pcie_completion_header.count);
}

sim::Duration access_time(const Engine& engine, std::uint32_t key) {
  const HardwareProfile& p = engine.profile();
  if (engine.on_device(key)) return p.nic_device_access;
  return p.pcie_read_access + place_penalty(p, engine.region(key));
}

sim::Duration context_read(Engine& engine, NodeId node) {
  const HardwareProfile& p = engine.profile();
  Window& fetches = engine.state.hosts[node].context_fetches;
  const sim::SimTime now = engine.now();
  const sim::Duration round_trip = p.pcie_upstream + p.pcie_read_access + p.pcie_downstream;
  const sim::SimTime begin = std::max(now, fetches.take(1, p.nic_context_fetches));
  fetches.give_back(1, p.nic_context_fetches, begin + round_trip, now);
  const auto bytes = static_cast<std::uint32_t>(p.nic_context_bytes.count);
  const std::uint64_t requests = read_requests(p, bytes);
  const sim::SimTime asked = upstream(engine, node, requests * p.pcie_read_header.count, requests);
  sim::SimTime answered = now;
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t step = read_step(engine, 0, bytes, done);
    answered = downstream_unasked(engine, node, step + p.pcie_completion_header.count);
    done += step;
  }
  return (begin - now) + round_trip + (asked - now) + (answered - now);
}

void probe_step(Engine& engine, NodeId node, std::uint32_t index) {
  Probe& probe = engine.state.hosts[node].probes[index];
  const std::uint32_t bytes = read_step(engine, probe.address, probe.length, probe.read);
  probe.read += bytes;
  sim::SimTime link_free;
  const sim::SimTime there = return_data(engine, node, bytes, link_free, {probe.key, probe.read, probe.length});
  if (probe.read < probe.length) {
    engine.schedule(kEventProbe, node, index, link_free);
    return;
  }
  const sim::Duration copied = sim::transmission_time({probe.length}, engine.profile().nic_buffer_rate);
  engine.schedule(kEventProbeDone, node, 0, there + copied);
  engine.state.hosts[node].probes.release(index);
}

void sample(Engine& engine, NodeId node, Address address, std::span<std::byte> out, Subevent like) {
  const HostMemory& memory = engine.state.hosts[node].memory;
  memory.read(address, out);
  if (!engine.witness()) return;
  like.home = node;
  for (Address word = word_of(address); word < address + out.size(); word += 8) {
    like.address = word;
    like.value = memory.word(word);
    like.source = memory.writer(word);
    engine.begin(like);
  }
}

}  // namespace loco::nic
