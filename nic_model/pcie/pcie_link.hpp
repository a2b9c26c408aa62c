// The PCIe link of a node and what an access to its memory costs: what pcie.cpp and posted_writes.cpp share. Each
// direction carries one TLP after the other, in the order of the calls. Private to these two.
#pragma once

#include <algorithm>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/records.hpp"

namespace loco::nic {

/// How long one direction is busy with so many bytes, headers included.
[[nodiscard]] inline sim::Duration on_link(const Engine& engine, std::uint64_t bytes) {
  return sim::transmission_time({bytes}, engine.profile().pcie_rate);
}

/// Towards the root complex: `bytes` in `tlps` TLPs, now or once the link is free; returns when the last has been sent.
inline sim::SimTime upstream(Engine& engine, NodeId node, std::uint64_t bytes, std::uint64_t tlps) {
  Host& host = engine.hosts[node];
  engine.count(&Counters::tlps_up, tlps);
  engine.count(&Counters::pcie_bytes_up, bytes);
  const sim::Duration taken = on_link(engine, bytes);
  host.busy.upstream += taken;
  host.upstream_free = std::max(host.upstream_free, engine.now()) + taken;
  return host.upstream_free;
}

/// The same towards the NIC, for one TLP.
inline sim::SimTime downstream(Engine& engine, NodeId node, std::uint64_t bytes) {
  Host& host = engine.hosts[node];
  engine.count(&Counters::tlps_down);
  engine.count(&Counters::pcie_bytes_down, bytes);
  const sim::Duration taken = on_link(engine, bytes);
  host.busy.downstream += taken;
  host.downstream_free = std::max(host.downstream_free, engine.now()) + taken;
  return host.downstream_free;
}

inline void announce_tlp(Engine& engine, TlpKind kind, NodeId node, QpId qp, Address address, std::uint32_t bytes) {
  if (Observer* o = engine.observer()) {
    o->on_tlp({.kind = kind, .node = node, .qp = qp, .address = address, .bytes = bytes, .at = engine.now()});
  }
}

/// What an access to memory of a region costs because of where that is: NUMA, cache. May be negative: a warm line.
/// Queues have no region (null).
[[nodiscard]] sim::Duration place_penalty(const HardwareProfile& p, const MemoryRegion* region);
/// What an access to memory costs besides the profile's latency: its place, and the IOMMU, whose buffer it goes
/// through.
sim::Duration memory_penalty(Engine& engine, NodeId node, std::uint32_t key, Address address, std::uint64_t bytes);
/// No posted write holds the read back any more: has its owner schedule it.
void read_may_execute(Engine& engine, NodeId node, HeldRead& read);

}  // namespace loco::nic
