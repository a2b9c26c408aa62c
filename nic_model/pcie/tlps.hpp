// TLPs on the PCIe link of a node, and the cost of an access to its memory: shared by pcie.cpp and posted_writes.cpp,
// and private to them.
#pragma once

#include <algorithm>

#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/paths.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/pcie/posted_domain.hpp"

namespace loco::nic {

/// How long `bytes`, headers included, occupy one direction.
[[nodiscard]] inline sim::Duration on_link(const Engine& engine, NicId node, std::uint64_t bytes) {
  return sim::transmission_time({bytes}, engine.profile(node).pcie_rate);
}

/// The link of a node, brought up to date.
inline PcieLink& link_of(Engine& engine, NicId node) {
  PcieLink& link = engine.links[node];
  if (link.bursts().reads()) [[unlikely]]
    settle_read_burst(engine, node);
  return link;
}

/// Sends `bytes` in `tlps` TLPs to the root complex, now or once the link is free. Returns when the last has been sent.
inline sim::SimTime upstream(Engine& engine, NicId node, std::uint64_t bytes, std::uint64_t tlps) {
  engine.count(&Counters::tlps_up, tlps);
  engine.count(&Counters::pcie_bytes_up, bytes);
  return link_of(engine, node).send_up(engine.now(), on_link(engine, node, bytes));
}

/// Sends one TLP to the NIC.
inline sim::SimTime downstream(Engine& engine, NicId node, std::uint64_t bytes) {
  engine.count(&Counters::tlps_down);
  engine.count(&Counters::pcie_bytes_down, bytes);
  return link_of(engine, node).send_down(engine.now(), on_link(engine, node, bytes));
}

/// Sends one TLP to the NIC that belongs to no read.
inline sim::SimTime downstream_unasked(Engine& engine, NicId node, std::uint64_t bytes) {
  engine.count(&Counters::tlps_down);
  engine.count(&Counters::pcie_bytes_down, bytes);
  return link_of(engine, node).send_down_unasked(engine.now(), on_link(engine, node, bytes));
}

inline void announce_tlp(Engine& engine, TlpKind kind, NicId node, QpId qp, Address address, std::uint32_t bytes) {
  if (Observer* o = engine.observer()) {
    o->on_tlp(
        {.kind = kind, .node = engine.node_of(node), .qp = qp, .address = address, .bytes = bytes, .at = engine.now()});
  }
}

/// A completion of a read: when its data is in the NIC, and when the read's next step may be made.
struct CompletionTimes {
  sim::SimTime there{};
  sim::SimTime next{};
};
/// What the completions of a read have in common.
struct ReadWay {
  const PciePath* path = nullptr;  // behind the NIC's own link
  bool bounded = false;            // its requests take tags or credits
  sim::Duration reach{};           // of a request, until memory is read; only where bounded
};
[[nodiscard]] ReadWay way_of_read(Engine& engine, NicId node, std::uint32_t key);
/// Sends `bytes`, which take `time`, over the NIC's own link. Returns when they are sent, or with the request whose
/// data they complete, when the read's next step may begin: that request takes a tag and credits. A real NIC sent it in
/// time; here requests occupy the link one by one, so that no write waits behind all requests of a long read. A
/// completion is no longer than a request, so it completes at most one.
inline sim::SimTime carry_completion(const HardwareProfile& p, PcieLink& link, std::uint32_t bytes, sim::Duration time,
                                     const ReadProgress& read, const ReadWay& way, sim::SimTime now,
                                     std::uint32_t& requests, sim::SimTime& sent) {
  sent = std::max(link.send_down(now, time), sent);
  const auto mrrs = static_cast<std::uint32_t>(p.pcie_mrrs.count);
  const std::uint32_t next = read.done & ~(mrrs - 1);
  if (next <= read.done - bytes || read.done >= read.length) return sent;
  ++requests;
  link.send_up(now, link.times().read_header);
  if (!way.bounded) return sent;
  return link.take_request(p, now, std::min<std::uint64_t>(read.length - next, mrrs), sent, way.reach, {});
}

/// Counts so many completions of together so many bytes, and requests.
inline void count_completions(Engine& engine, NicId node, std::uint32_t completions, std::uint64_t bytes,
                              std::uint32_t requests) {
  const HardwareProfile& p = engine.profile(node);
  engine.count(&Counters::tlps_down, completions);
  engine.count(&Counters::pcie_bytes_down, bytes + completions * p.pcie_completion_header.count);
  engine.count(&Counters::tlps_up, requests);
  engine.count(&Counters::pcie_bytes_up, requests * p.pcie_read_header.count);
}

/// What a completion takes on the link.
[[nodiscard]] inline sim::Duration completion_time(const HardwareProfile& p, const PcieLink& link,
                                                   std::uint32_t bytes) {
  if (bytes == p.pcie_read_completion.count) [[likely]]
    return link.times().completion;
  return sim::transmission_time({bytes + p.pcie_completion_header.count}, p.pcie_rate);
}

/// Sends `bytes` that were sampled at `now`.
CompletionTimes send_completion(Engine& engine, NicId node, PcieLink& link, std::uint32_t bytes,
                                const ReadProgress& read, const ReadWay& way, sim::SimTime now);

/// Copies memory to a buffer. Where both sides hold unwritten zeros, nothing is touched.
void read_payload(Engine& engine, NicId node, Address address, const BufferPart& into);

// --- posted writes of data: posted_writes.cpp and bursts.cpp
// ----------------------------------------------------------
/// Bytes of the next TLP of a data write.
[[nodiscard]] inline std::uint32_t next_tlp(const Engine& engine, NicId node, const PostedWrite& write) {
  return write_step(engine, node, write.address + write.committed, write.length - write.committed);
}
/// Writes `bytes` of it, from `done` on, to memory. As in read_payload(), unwritten zeros are not touched.
void write_payload(Engine& engine, NicId node, const PostedWrite& write, std::uint32_t done, std::uint32_t bytes);
/// Lets one event stand for a write's remaining TLPs, and schedules it. Returns false if they need an event each.
bool begin_burst(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write);
/// A burst's event is due: carries out all TLPs but the last.
void end_burst(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write);

/// Time from a read request on the link until memory is read, without the cost of its address.
[[nodiscard]] sim::Duration read_reach(const Engine& engine, NicId node);

enum class Accesses : std::uint8_t { read, write };
/// What an access to memory of a region costs because of where that is: cache, its place in the PCIe tree. May be
/// negative: a warm line. Queues have no region.
[[nodiscard]] sim::Duration place_penalty(Engine& engine, NicId nic, std::uint32_t key, Accesses how);
/// Extra cost of an access to memory besides the profile's latency: its location, and the IOMMU, whose buffer is
/// updated.
sim::Duration memory_penalty(Engine& engine, NicId node, std::uint32_t key, Accesses how, Address address,
                             std::uint64_t bytes);
/// No posted write holds the read back any more: announces that to its owner, or schedules its event.
void read_may_execute(Engine& engine, NicId node, HeldRead& read);

}  // namespace loco::nic
