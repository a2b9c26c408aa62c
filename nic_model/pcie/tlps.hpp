// TLPs on the PCIe link of a node, and what an access to its memory costs: what pcie.cpp and posted_writes.cpp share.
// Private to these two.
#pragma once

#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/pcie/posted_domain.hpp"

namespace loco::nic {

/// How long one direction is busy with so many bytes, headers included.
[[nodiscard]] inline sim::Duration on_link(const Engine& engine, NodeId node, std::uint64_t bytes) {
  return sim::transmission_time({bytes}, engine.profile(node).pcie_rate);
}

/// The link of a node, as it is now.
inline PcieLink& link_of(Engine& engine, NodeId node) {
  PcieLink& link = engine.links[node];
  if (link.bursts().reads()) [[unlikely]]
    settle_read_burst(engine, node);
  return link;
}

/// Towards the root complex: `bytes` in `tlps` TLPs, now or once the link is free; returns when the last has been sent.
inline sim::SimTime upstream(Engine& engine, NodeId node, std::uint64_t bytes, std::uint64_t tlps) {
  engine.count(&Counters::tlps_up, tlps);
  engine.count(&Counters::pcie_bytes_up, bytes);
  return link_of(engine, node).send_up(engine.now(), on_link(engine, node, bytes));
}

/// The same towards the NIC, for one TLP.
inline sim::SimTime downstream(Engine& engine, NodeId node, std::uint64_t bytes) {
  engine.count(&Counters::tlps_down);
  engine.count(&Counters::pcie_bytes_down, bytes);
  return link_of(engine, node).send_down(engine.now(), on_link(engine, node, bytes));
}

/// And of what no read has asked for.
inline sim::SimTime downstream_unasked(Engine& engine, NodeId node, std::uint64_t bytes) {
  engine.count(&Counters::tlps_down);
  engine.count(&Counters::pcie_bytes_down, bytes);
  return link_of(engine, node).send_down_unasked(engine.now(), on_link(engine, node, bytes));
}

inline void announce_tlp(Engine& engine, TlpKind kind, NodeId node, QpId qp, Address address, std::uint32_t bytes) {
  if (Observer* o = engine.observer()) {
    o->on_tlp(
        {.kind = kind, .node = engine.host_of(node), .qp = qp, .address = address, .bytes = bytes, .at = engine.now()});
  }
}

/// A completion of a read: when its data is in the NIC, and when the read's next step may be made.
struct CompletionTimes {
  sim::SimTime there{};
  sim::SimTime next{};
};
/// Sends `bytes` that have been sampled at `now`.
CompletionTimes send_completion(Engine& engine, NicId node, PcieLink& link, std::uint32_t bytes,
                                const ReadProgress& read, sim::SimTime now);

/// Memory to a buffer. What was never written, on either side, stays so and is not touched.
void read_payload(Engine& engine, NodeId node, Address address, const BufferPart& into);

// --- posted writes of data: posted_writes.cpp and bursts.cpp
// ----------------------------------------------------------
/// Bytes of the next TLP of a write of data.
[[nodiscard]] inline std::uint32_t next_tlp(const Engine& engine, NodeId node, const PostedWrite& write) {
  return write_step(engine, node, write.address + write.committed, write.length - write.committed);
}
/// Memory gets `bytes` of it from `done` on. As in read_payload(), zeroes that nobody has written stay what they are.
void write_payload(Engine& engine, NodeId node, const PostedWrite& write, std::uint32_t done, std::uint32_t bytes);
/// Has one event stand for the TLPs that are left of a write, and schedules it; false: they need an event each.
bool begin_burst(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write);
/// Its event has come: all but the last TLP is in memory.
void end_burst(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write);

/// From a read request on the link until memory is read, apart from what its address costs.
[[nodiscard]] sim::Duration read_reach(const Engine& engine, NodeId node);

/// What an access to memory of a region costs because of where that is: cache, its place in the PCIe tree. May be
/// negative: a warm line. Queues have no region.
[[nodiscard]] sim::Duration place_penalty(Engine& engine, NicId nic, std::uint32_t key);
/// What an access to memory costs besides the profile's latency: its place, and the IOMMU, whose buffer it goes
/// through.
sim::Duration memory_penalty(Engine& engine, NodeId node, std::uint32_t key, Address address, std::uint64_t bytes);
/// No posted write holds the read back any more: its owner is told, or its event is scheduled.
void read_may_execute(Engine& engine, NodeId node, HeldRead& read);

}  // namespace loco::nic
