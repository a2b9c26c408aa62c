// Fills a Routes: from the shape of a known kind (routes.cpp), or by search on any graph (search.cpp). Internal.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "fabric/topology/routes.hpp"

namespace loco::fabric::topology {

class RoutesBuilder {
 public:
  /// Of a network whose `failed` cables (by number) carry nothing.
  RoutesBuilder(const Topology& topology, std::vector<bool> failed);

  void leaf_spine(const LeafSpine& p);
  void fat_tree(const FatTree& p);
  void torus(std::span<const std::uint32_t> dims, std::uint32_t hosts_per_router);
  void dragonfly(const Dragonfly& p);
  /// Boost.Graph: breadth-first search or Dijkstra from every destination.
  void search(Metric metric);

  [[nodiscard]] Routes finish() &&;

 private:
  /// The number of the set of these ports, which are ascending. The same set has one number.
  std::uint32_t intern(std::vector<PortId> ports);
  std::uint32_t range(PortId first, std::uint32_t count);
  void rows(std::size_t rows, std::size_t columns);
  void set_columns_by_switch(VertexId first, std::uint32_t switches);
  [[nodiscard]] bool up(LinkId link) const { return !failed_[cable_of(link)]; }
  /// A vertex that hosts' packets meet on the way: every switch, and hosts with a choice.
  [[nodiscard]] bool has_row(VertexId v) const { return r_.row_[v] != Routes::kNone; }

  [[nodiscard]] std::vector<VertexId> assign_columns();
  void fill_column(std::size_t column, VertexId root, Metric metric, const std::vector<std::uint64_t>& distance);
  void set_divisors();

  const Topology& topology_;
  std::vector<bool> failed_;
  Routes r_;
  std::map<std::vector<PortId>, std::uint32_t> known_;
};

}  // namespace loco::fabric::topology
