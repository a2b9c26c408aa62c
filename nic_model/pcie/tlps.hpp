// TLPs on the PCIe link of a node, and the cost of an access to its memory: shared by pcie.cpp and posted_writes.cpp,
// and private to them.
#pragma once

#include "nic_model/pcie/link.hpp"
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
/// Sends `bytes` that were sampled at `now`.
CompletionTimes send_completion(Engine& engine, NicId node, PcieLink& link, std::uint32_t bytes,
                                const ReadProgress& read, sim::SimTime now);

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
