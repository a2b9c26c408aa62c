#include "nic_model/pcie/pcie.hpp"

#include <algorithm>

#include "nic_model/host/memory.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/paths.hpp"
#include "nic_model/pcie/posted_domain.hpp"
#include "nic_model/pcie/tlps.hpp"
#include "sim/prefetch.hpp"

namespace loco::nic {

namespace {
/// Number of requests that a read of `bytes` takes.
std::uint64_t read_requests(const HardwareProfile& p, std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, (bytes + p.pcie_mrrs.count - 1) / p.pcie_mrrs.count);
}
}  // namespace

sim::Duration read_reach(const Engine& engine, NicId node) { return engine.links[node].times().reach; }

sim::Duration place_penalty(Engine& engine, NicId node, std::uint32_t key, Accesses how) {
  const PciePath* const path = path_to(engine, node, key);
  if (path != nullptr && path->peer) return path->there + (how == Accesses::read ? path->read : path->write);
  const HardwareProfile& p = engine.profile(node);
  const MemoryRegion* const region = engine.region(key);
  sim::Duration penalty = path == nullptr ? sim::Duration{} : path->there;
  if (p.pcie_remote_numa) penalty += p.pcie_numa_penalty;
  const std::uint64_t size = region == nullptr ? 1 : region->size;  // queues are small
  if (size <= p.pcie_cpu_cache.count) penalty = penalty - p.pcie_warm_saving;
  return penalty;
}

void ask_for_element(Engine& engine, NicId node, Address next) {
  if (piece_at(engine, next - 1).bytes > 1) return;  // not the start of an element
  const std::uint64_t header = engine.profile(node).pcie_read_header.count;
  engine.count(&Counters::tlps_up);
  engine.count(&Counters::pcie_bytes_up, header);
  link_of(engine, node).send_up(engine.now(), on_link(engine, node, header));
}

sim::Duration memory_penalty(Engine& engine, NicId node, std::uint32_t key, Accesses how, Address address,
                             std::uint64_t bytes) {
  const HardwareProfile& p = engine.profile(node);
  sim::Duration penalty = place_penalty(engine, node, key, how);
  if (engine.region(key) == nullptr || !p.pcie_iommu) return penalty;
  if (const PciePath* const path = path_to(engine, node, key); path != nullptr && path->peer) return penalty;
  if (is_scattered(address)) {
    const Piece piece = piece_at(engine, address);
    address = piece.address;
    bytes = std::min(bytes, piece.bytes);
  }
  constexpr Address kPage = kIommuPage.count;
  const Address last = (address + std::max<std::uint64_t>(bytes, 1) - 1) / kPage;
  if (!engine.links[node].translates(address / kPage, last)) penalty += p.pcie_iommu_penalty;
  return penalty;
}

void read_may_execute(Engine& engine, NicId node, HeldRead& read) {
  read.due = std::max(read.due, engine.now());
  switch (read.kind) {
    case ReadKind::wqe_fetch:
    case ReadKind::payload:
    case ReadKind::remote_read:
    case ReadKind::atomic:
      return announce(engine, ReadMayExecute{read});
    case ReadKind::probe:
      engine.schedule(
          kEventProbe, read.where, read.number,
          take_request(engine, node, read.key, read.bytes, read.due, read.reach, engine.profile(node).nic_wqe_start));
  }
}

void ring_doorbell(Engine& engine, NicId node, const StoreEntry& doorbell) {
  const HardwareProfile& p = engine.profile(node);
  const auto payload = static_cast<std::uint32_t>(doorbell.value);
  const sim::SimTime sent = downstream_unasked(engine, node, payload + p.pcie_write_header.count);
  announce_tlp(engine, TlpKind::mmio_write, node, doorbell.qp, 0, payload);
  // A work request in several bursts has arrived when the last of them has.
  const sim::Duration behind = p.cpu_mmio_gap * (mmio_bursts(doorbell.value) - 1);
  const Doorbell rings{sent + behind + p.pcie_downstream, doorbell.qp, doorbell.posted, doorbell.blueflame};
  if (engine.links[node].push_doorbell(rings)) engine.schedule(kEventDoorbell, node.index(), 0, rings.ready);
}

Doorbell take_doorbell(Engine& engine, NicId node) {
  PcieLink& link = engine.links[node];
  const Doorbell oldest = link.pop_doorbell();
  if (const Doorbell* next = link.next_doorbell()) engine.schedule(kEventDoorbell, node.index(), 0, next->ready);
  engine.count(&Counters::doorbells);
  return oldest;
}

void issue_read(Engine& engine, std::uint32_t domain, const HeldRead& read, std::uint32_t bytes, sim::Duration delay,
                const ReadTarget& target, sim::Duration stall) {
  const MemoryRegion* const region = engine.region(target.key);
  PostedDomain& d = engine.domains[region == nullptr ? domain : engine.domains[domain].path(domain, region->kind)];
  const NicId node = d.node();
  const HardwareProfile& p = engine.profile(node);
  HeldRead held = read;
  held.bytes = bytes;
  held.key = target.key;
  held.behind = engine.fault(Fault::read_does_not_flush) ? 0 : d.issued();
  if (engine.on_device(node, target.key)) {
    held.due = engine.now() + stall + delay + p.nic_device_access;
  } else {
    // Sends the first request of the read; ask_for_next() sends the others one by one as data arrives. A request that
    // is known only later reserves its place on the link now, since the link carries as much for others before it.
    const sim::SimTime known = engine.now() + stall;
    const sim::SimTime sent = std::max(upstream(engine, node, p.pcie_read_header.count, 1),
                                       known + on_link(engine, node, p.pcie_read_header.count));
    announce_tlp(engine, TlpKind::memory_read, node, 0, 0, bytes);
    const sim::Duration penalty = memory_penalty(engine, node, target.key, Accesses::read, target.address, bytes);
    held.due = sent + delay + p.pcie_upstream + p.pcie_read_access + penalty;
    held.reach = read_reach(engine, node) + penalty;
  }
  // Work requests are not part of the memory model. With a domain per queue pair their fetch is a stream of its own.
  const bool free_stream = read.kind == ReadKind::wqe_fetch && p.pcie_ordering_domain == OrderingDomain::qp;
  if (free_stream || held.behind <= d.committed()) {
    read_may_execute(engine, node, held);
  } else {
    d.hold(held);
  }
}

sim::Duration read_time_now(Engine& engine, NicId node, std::uint32_t key, std::uint32_t bytes) {
  const HardwareProfile& p = engine.profile(node);
  if (engine.on_device(node, key)) return p.nic_device_access;
  const sim::Duration alone =
      read_reach(engine, node) + place_penalty(engine, node, key, Accesses::read) + data_time(p, bytes);
  return link_of(engine, node).waits_up(engine.now()) + alone + p.pcie_downstream;
}

ReadWay way_of_read(Engine& engine, NicId node, std::uint32_t key) {
  ReadWay way{.path = path_to(engine, node, key), .bounded = bounds_requests(engine.profile(node))};
  if (way.bounded) way.reach = read_reach(engine, node) + place_penalty(engine, node, key, Accesses::read);
  return way;
}

CompletionTimes send_completion(Engine& engine, NicId node, PcieLink& link, std::uint32_t bytes,
                                const ReadProgress& read, const ReadWay& way, sim::SimTime now) {
  const HardwareProfile& p = engine.profile(node);
  sim::SimTime sent;
  sim::Duration back = p.pcie_downstream;
  if (way.path != nullptr) {
    const std::uint64_t on_wire = bytes + p.pcie_completion_header.count;
    sent = send_back(engine, *way.path, now, on_wire);
    back += way.path->back + data_stored_time(*way.path, p.pcie_rate, on_wire);
  }
  std::uint32_t requests = 0;
  const sim::SimTime next =
      carry_completion(p, link, bytes, completion_time(p, link, bytes), read, way, now, requests, sent);
  count_completions(engine, node, 1, bytes, requests);
  return {.there = sent + back, .next = next};
}

sim::SimTime return_data(Engine& engine, NicId node, std::uint32_t bytes, sim::SimTime& link_free,
                         const ReadProgress& read) {
  if (engine.on_device(node, read.key)) return link_free = engine.now();
  const CompletionTimes times = send_completion(engine, node, link_of(engine, node), bytes, read,
                                                way_of_read(engine, node, read.key), engine.now());
  announce_tlp(engine, TlpKind::completion, node, 0, 0, bytes);
  link_free = times.next;
  return times.there;
}

Counters counted_by_read(const HardwareProfile& p, Address address, std::uint32_t length, std::uint32_t from,
                         std::uint32_t to) {
  const std::uint64_t step = p.pcie_read_completion.count;
  const auto completions = [&](std::uint32_t bytes) {  // that end by then; the first may be shorter
    return (address + bytes + (bytes == 0 ? 0 : step - 1)) / step;
  };
  // The end of a request's data asks for the next one's, if there is more to read.
  const auto requests = [&](std::uint32_t bytes) { return std::min(bytes, length - 1) / p.pcie_mrrs.count; };
  Counters c;
  c.tlps_down = c.events = completions(to) - completions(from);
  c.pcie_bytes_down = to - from + c.tlps_down * p.pcie_completion_header.count;
  c.tlps_up = requests(to) - requests(from);
  c.pcie_bytes_up = c.tlps_up * p.pcie_read_header.count;
  return c;
}

sim::SimTime there_before(const Engine& engine, NicId node, sim::SimTime newest, Address address, std::uint32_t part,
                          std::uint32_t done) {
  if (part >= done || is_scattered(address)) return newest;
  const HardwareProfile& p = engine.profile(node);
  const std::uint64_t step = p.pcie_read_completion.count;
  const Address end = address + done;
  const Address held =
      std::min(end, (address + part + step - 1) / step * step);  // end of the completion that covers the part
  const std::uint64_t completions = (end - held + step - 1) / step;
  return newest - on_link(engine, node, end - held + completions * p.pcie_completion_header.count);
}

sim::Duration access_time(Engine& engine, NicId node, std::uint32_t key) {
  const HardwareProfile& p = engine.profile(node);
  if (engine.on_device(node, key)) return p.nic_device_access;
  return p.pcie_read_access + place_penalty(engine, node, key, Accesses::read);
}

sim::SimTime context_read(Engine& engine, NicId node, sim::SimTime at) {
  const HardwareProfile& p = engine.profile(node);
  const sim::SimTime now = engine.now();
  const sim::Duration round_trip = p.pcie_upstream + p.pcie_read_access + p.pcie_downstream;
  const sim::SimTime begin = engine.links[node].begin_context_fetch(p.nic_context_fetches, now, round_trip);
  const auto bytes = static_cast<std::uint32_t>(p.nic_context_bytes.count);
  const std::uint64_t requests = read_requests(p, bytes);
  const sim::SimTime asked = upstream(engine, node, requests * p.pcie_read_header.count, requests);
  sim::SimTime answered = now;
  sim::Duration data{};
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t step = read_step(engine, node, 0, bytes, done);
    answered = downstream_unasked(engine, node, step + p.pcie_completion_header.count);
    data += on_link(engine, node, step + p.pcie_completion_header.count);
    done += step;
  }
  // The fetch takes its turn now although it begins at `at`. Otherwise the fetch slots and the link would stay idle
  // until then.
  const sim::SimTime in_turn = begin + (asked - now) + (answered - now);
  const sim::SimTime alone = at + on_link(engine, node, requests * p.pcie_read_header.count) + data;
  return std::max(in_turn, alone) + round_trip;
}

void start_probe(Engine& engine, NicId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  const std::uint32_t probe = engine.links[node].begin_probe({.address = address, .length = bytes, .key = region.rkey});
  issue_read(engine, node.index(), {.kind = ReadKind::probe, .where = node.index(), .number = probe}, bytes,
             engine.profile(node).nic_wqe_start, {region.rkey, address});
}

void probe_step(Engine& engine, NicId node, std::uint32_t index) {
  PcieLink& link = engine.links[node];
  const Probe& probe = link.probe(index);
  const std::uint32_t bytes = read_step(engine, node, probe.address, probe.length, probe.read);
  link.probe_read(index, bytes);
  sim::SimTime link_free;
  const sim::SimTime there = return_data(engine, node, bytes, link_free, {probe.key, probe.read, probe.length});
  if (probe.read < probe.length) {
    engine.schedule(kEventProbe, node.index(), index, link_free);
    return;
  }
  const sim::Duration copied = sim::transmission_time({probe.length}, engine.profile(node).nic_buffer_rate);
  engine.schedule(kEventProbeDone, node.index(), 0, there + copied);
  link.end_probe(index);
}

void read_payload(Engine& engine, NicId node, Address address, const BufferPart& into) {
  const HostMemory& memory = engine.memories[engine.host_of(node)];
  // What nobody has set is neither read nor written.
  const ByteRange set = memory.written({address, address + into.bytes});
  const ByteRange kept = engine.payloads.written(into.buffer, {into.offset, std::uint64_t{into.offset} + into.bytes});
  const ByteRange part = hull({set.from - address, set.to - address}, {kept.from - into.offset, kept.to - into.offset});
  if (part.empty()) return;
  const auto from = static_cast<std::uint32_t>(into.offset + part.from),
             bytes = static_cast<std::uint32_t>(part.to - part.from);
  std::byte* const at = engine.payloads.edit(into.buffer, from, bytes);
  memory.read(address + part.from, {at, bytes});
  // A long message's buffer is in no cache, and it is filled on and on.
  sim::prefetch_ahead(at + bytes, bytes, engine.payloads.size(into.buffer) - from - bytes);
}

namespace {
/// Records what an access of the NIC has read: for nic.stale_operands, and in the trace one instant per word.
void announce_read(Engine& engine, NicId node, Address address, std::uint32_t bytes, Subevent like) {
  const HostMemory& memory = engine.memories[engine.host_of(node)];
  if (engine.profile(node).nic_stale_operands != StaleOperands::none) {
    engine.links[node].remember_word(memory.word(word_of(address + bytes - 1)));
  }
  if (!engine.witness()) return;
  like.home = engine.node_of(node);
  for (Address word = word_of(address); word < address + bytes; word += 8) {
    like.address = word;
    like.value = memory.word(word);
    like.source = memory.writer(word);
    engine.begin(like);
  }
}
}  // namespace

void sample(Engine& engine, NicId node, Address address, const BufferPart& into, Subevent like) {
  const Address place = place_of(engine, address);
  settle_memory(engine, node, place, into.bytes);
  read_payload(engine, node, address, into);
  announce_read(engine, node, place, into.bytes, like);
}

void sample(Engine& engine, NicId node, Address address, std::span<std::byte> out, Subevent like) {
  settle_memory(engine, node, address, out.size());
  engine.memories[engine.host_of(node)].read(address, out);
  announce_read(engine, node, address, static_cast<std::uint32_t>(out.size()), like);
}

}  // namespace loco::nic
