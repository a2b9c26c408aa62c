// The ways from NICs to memories: lists of links of the PCIe tree (PCIe base specification, 1.3).
//
// A path begins with the NIC's own link, which pcie/link.hpp has. It goes up through switches until one that memory is
// below, too, or to the root complex of the NIC's socket, over to another socket, and down again: peer-to-peer turns
// at the lowest switch that both are behind. Through a root complex it carries pcie.peer_write and pcie.peer_read at
// most. All this delays. What orders is apart: a GPU's memory, or another NIC's, is a memory of its own, with an order
// of posted writes of its own for each ordering domain (posted_domain.hpp), since TLPs to it and to the host part on
// the way. Private to nic_model/.
#pragma once

#include <cstdint>
#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/pcie/tree_link.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// A link on a path.
struct PathHop {
  std::uint32_t link = 0;     ///< of all hosts' tree links
  LinkWay way = LinkWay::up;  ///< of requests; data of reads goes the other way
  sim::BitsPerSecond write{};
  sim::BitsPerSecond read{};
  bool stored = false;        ///< what it comes out of passes a TLP on once all of it has come
  bool data_stored = false;   ///< the same of data of reads
  NicId nic = NicId::none();  ///< not none: it is this NIC's own link, in place of `link`

  bool operator==(const PathHop&) const = default;
};

/// Behind a NIC's own link.
struct PciePath {
  /// What a request takes longer until memory is reached than one to the memory of the NIC's socket, to which the way
  /// is that of the NIC's profile; may be negative: peers below the same switch are nearer.
  sim::Duration there{};
  sim::Duration back{};   ///< and its data
  sim::Duration write{};  ///< what the memory itself takes longer than the profile's, of peers; may be negative
  sim::Duration read{};
  bool peer = false;         ///< to a device's memory: neither NUMA, cache nor IOMMU
  bool data_stored = false;  ///< into the NIC's own link: as PathHop::data_stored
  std::vector<PathHop> hops{};

  bool operator==(const PciePath&) const = default;
};

/// Those of all NICs; a function of the configuration, and of which hosts' NICs have memory in regions.
class PciePaths {
 public:
  explicit PciePaths(const Kernel& kernel);
  /// Memory on NICs of a host with several is used from now on. To call once.
  void reach_nics(const Kernel& kernel, HostId host);

  /// Is all memory behind the NICs' own links?
  [[nodiscard]] bool empty() const { return paths_.empty(); }
  /// From a NIC to a memory of its host: those of the sockets, of the GPUs, then of the NICs (reach_nics()), to its own
  /// of which there is nothing on the way. Precondition: not empty().
  [[nodiscard]] const PciePath& of(NicId nic, std::uint32_t memory) const { return paths_[first_[nic] + memory]; }
  /// The memory that queues of a NIC are in.
  [[nodiscard]] std::uint32_t own_memory(NicId nic) const { return sockets_[nic]; }

  bool operator==(const PciePaths&) const = default;

 private:
  void add_all(const Kernel& kernel);
  void add(const Kernel& kernel, NicId nic, bool to_nics);

  std::vector<PciePath> paths_{};
  sim::IdVector<HostId, std::uint32_t> first_link_{};
  sim::IdVector<NicId, std::uint32_t> first_{};
  sim::IdVector<NicId, std::uint32_t> sockets_{};
};

/// The links that go with them.
[[nodiscard]] std::vector<TreeLink> make_tree_links(const Kernel& kernel);

/// The memory that a region is in, without one that of queues, as PciePaths::of() counts them.
[[nodiscard]] std::uint32_t memory_of(const Engine& engine, NicId nic, std::uint32_t key);
/// To the memory of a region, or without one to that of queues. Null: it is as the NIC's profile says.
[[nodiscard]] inline const PciePath* path_to(const Engine& engine, NicId nic, std::uint32_t key) {
  return engine.paths.empty() ? nullptr : &engine.paths.of(nic, memory_of(engine, nic, key));
}

/// Are there links behind the NIC's own on the way?
[[nodiscard]] inline bool goes_over_links(const Engine& engine, NicId nic, std::uint32_t key) {
  const PciePath* const path = path_to(engine, nic, key);
  return path != nullptr && (!path->hops.empty() || path->data_stored);
}

/// When a TLP that could be in memory at `due` is, as far as is known: others may be faster to the links.
[[nodiscard]] sim::SimTime earliest_over(const Engine& engine, const PciePath& path, sim::SimTime due);
/// The same of one that comes to the links now, which carry it and what comes next behind it. `bytes` of payload.
sim::SimTime pass_over(Engine& engine, NicId nic, const PciePath& path, sim::SimTime due, std::uint64_t bytes);
/// When so many bytes of data that a NIC reads have been sent over all links but its own.
sim::SimTime send_back(Engine& engine, const PciePath& path, sim::SimTime now, std::uint64_t bytes);
/// What switches that store TLPs add to the way of a write of so many bytes, and to that of so much data.
[[nodiscard]] sim::Duration stored_time(const PciePath& path, std::uint64_t bytes);
[[nodiscard]] sim::Duration data_stored_time(const PciePath& path, sim::BitsPerSecond own, std::uint64_t bytes);

}  // namespace loco::nic
