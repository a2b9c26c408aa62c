// Which ports bring a packet closer to its destination, and the choices among them (docs/machine.md, "Fabric").
//
// For every vertex and destination host there is a set of candidate ports, all on shortest paths; following any of
// them ends at the destination. What is short:
//   dragonfly    minimal routing of Kim et al., ISCA 2008, section 4.1: at most one global link, and the fewest links
//                among those paths (a path over two global links may be shorter; it is not minimal)
//   custom       links or delay, as its `metric` says
//   others       links
// Choices:
//   deterministic  by destination, so that a (switch, destination) pair has one port: D-mod-k, i.e. the destination
//                  divided by the number of choices that lower levels have made already, modulo the number of ports
//                  (Zahavi, Johnson, Kerbyson, Lang, "Optimized InfiniBand fat-tree routing", CCPE 2010). On a torus
//                  dimension-order instead, a tie between both directions by destination.
//   ecmp           by flow: SplitMix64's mixer (Steele, Lea, Flood, OOPSLA 2014) over the flow and the switch, so that
//                  two switches do not choose alike, scaled to the number of ports by multiplication
//   adaptive, spray  the packet model picks from candidates(), by load or at random
//
// Tables are kept for each switch that a host hangs on, not for each host, and are shared by switches that look
// alike. A Routes is a value of its own (it does not refer to the Topology), some hundred KB for 1,024 hosts: share
// one const copy among copies of a simulation. Lookups allocate nothing and are the same on every machine.
//
// Deadlock (Dally, Seitz, IEEE ToC 1987): with lossless links, up-down routes of leaf_spine and fat_tree cannot
// deadlock, nor can star and back_to_back; those that search() finds around failed cables can. torus, ring and
// dragonfly can, on one lane, even in dimension order: docs/topologies.md, and has_cyclic_dependency() in reports.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology/topology.hpp"

namespace loco::fabric::topology {

enum class Routing : std::uint8_t { deterministic, ecmp, adaptive, spray };

/// What stays the same for all packets of a flow; `label` tells flows of one pair apart, e.g. the queue pair.
[[nodiscard]] std::uint64_t flow_hash(VertexId source, VertexId destination, std::uint64_t label);

class Routes {
 public:
  /// Of a whole network, from the shape of it. Throws TopologyError when a custom graph's table would have more than
  /// kEntriesMax entries.
  explicit Routes(const Topology& topology);

  /// Around `failed` cables, by search over what is left; candidates are empty where there is no path. Throws as
  /// above, for every kind. With none failed: the routes that a custom graph of the same cables would have.
  static Routes search(const Topology& topology, std::span<const CableId> failed = {});

  static constexpr std::size_t kEntriesMax = std::size_t{1} << 25U;

  /// Ports of `at` on the shortest paths to host `destination`, ascending; empty at the destination itself.
  [[nodiscard]] std::span<const PortId> candidates(VertexId at, VertexId destination) const;

  /// The one port of deterministic routing. Precondition of both: candidates() is not empty.
  [[nodiscard]] PortId deterministic(VertexId at, VertexId destination) const;
  [[nodiscard]] PortId ecmp(VertexId at, VertexId destination, std::uint64_t flow) const;

  /// Hosts with one cable, to a switch, have that switch here; others kNone.
  [[nodiscard]] VertexId attachment(VertexId host) const { return attachment_[host]; }
  static constexpr std::uint32_t kNone = 0xffffffffU;

  [[nodiscard]] std::size_t memory_bytes() const;

  bool operator==(const Routes&) const = default;

 private:
  friend class RoutesBuilder;
  Routes() = default;

  enum class Scheme : std::uint8_t {
    table,      // a row a vertex (or kind of vertex), a column a destination switch
    torus,      // by displacement: the graph looks alike from every router
    dragonfly,  // by router in the group, distance in groups, router in the destination group
  };
  struct PortSet {
    std::uint32_t begin = 0;  // in ports_
    std::uint32_t count = 0;
    bool operator==(const PortSet&) const = default;
  };

  [[nodiscard]] std::size_t entry(VertexId at, VertexId destination) const;
  [[nodiscard]] std::size_t torus_entry(VertexId at, VertexId destination) const;
  [[nodiscard]] PortSet find(const std::vector<std::uint32_t>& table, VertexId at, VertexId destination) const;
  [[nodiscard]] PortSet injection(const std::vector<std::uint32_t>& table, VertexId host, VertexId destination) const;

  Scheme scheme_ = Scheme::table;
  std::uint32_t hosts_ = 0;
  std::vector<PortSet> sets_;
  std::vector<PortId> ports_;           // begins with 0, 1, 2, ... for sets that are a range
  std::vector<std::uint32_t> table_;    // entry -> set
  std::vector<std::uint32_t> ordered_;  // torus: entry -> set in dimension order
  std::vector<VertexId> attachment_;    // per host
  std::vector<PortId> delivery_;        // per host: the port of its attachment that leads to it
  std::vector<PortId> injection_;       // per host: its own port, when it has an attachment
  // Scheme::table
  bool failures_ = false;  // some destinations may be out of reach
  std::size_t columns_ = 0;
  std::vector<std::uint32_t> row_;      // per vertex; kNone for a host with an attachment
  std::vector<std::uint32_t> column_;   // per host
  std::vector<std::uint32_t> divisor_;  // per vertex, for D-mod-k; empty: 1 for all
  // Scheme::torus
  std::vector<std::uint32_t> dims_;
  std::vector<std::uint16_t> coordinates_;  // per switch and dimension
  // Scheme::dragonfly
  std::uint32_t groups_ = 0;
  std::uint32_t routers_per_group_ = 0;
};

}  // namespace loco::fabric::topology
