// The graph of a network: hosts, switches and cables, as a value without behaviour (docs/machine.md, "Fabric").
//
// Vertices are numbered hosts first, then switches. A cable is two directed links, 2c and 2c + 1, of one rate and
// delay, so that the opposite of a link is `link ^ 1`. Ports of a vertex are numbered from 0 without gaps. The
// numbers follow from the parameters alone:
//   leaf_spine, fat_tree  a switch's ports go down first, in the order of what is there, then up
//   dragonfly             hosts, then the other routers of the group by number, then global links
//   torus, ring           hosts, then for each dimension the next and the previous router (one port if size 2)
//   custom                in the order of the list
// Rates in bits per second, delays in picoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/topology/kinds.hpp"
#include "sim/time.hpp"

namespace loco::fabric::topology {

using LinkId = std::uint32_t;   ///< one direction of a cable
using CableId = std::uint32_t;  ///< both directions
using PortId = std::uint32_t;   ///< of one vertex

struct Link {
  VertexId from = 0;
  VertexId to = 0;
  PortId from_port = 0;
  PortId to_port = 0;
  LinkSpec spec;

  bool operator==(const Link&) const = default;
};

[[nodiscard]] constexpr LinkId opposite(LinkId link) { return link ^ 1U; }
[[nodiscard]] constexpr CableId cable_of(LinkId link) { return link >> 1U; }

/// One cable to be laid: ends and their ports.
struct Cable {
  VertexId a = 0;
  PortId a_port = 0;
  VertexId b = 0;
  PortId b_port = 0;
  LinkSpec spec;
};

class Topology {
 public:
  /// Precondition: the ports of each vertex are 0, 1, 2, ... once each.
  Topology(Parameters parameters, std::uint32_t hosts, std::uint32_t switches, std::span<const Cable> cables);

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Kind kind() const { return kind_of(parameters_); }

  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  [[nodiscard]] std::uint32_t switches() const { return switches_; }
  [[nodiscard]] std::uint32_t vertices() const { return hosts_ + switches_; }
  [[nodiscard]] std::uint32_t cables() const { return static_cast<std::uint32_t>(links_.size() / 2); }
  [[nodiscard]] bool is_host(VertexId v) const { return v < hosts_; }
  [[nodiscard]] VertexId switch_vertex(std::uint32_t index) const { return hosts_ + index; }

  [[nodiscard]] std::span<const Link> links() const& { return links_; }
  std::span<const Link> links() && = delete;  // would outlive the temporary
  [[nodiscard]] const Link& link(LinkId id) const { return links_[id]; }
  /// The outgoing link of each port; the incoming one is its opposite.
  [[nodiscard]] std::span<const LinkId> ports(VertexId v) const {
    return std::span(out_).subspan(first_port_[v], first_port_[v + 1] - first_port_[v]);
  }
  [[nodiscard]] LinkId out(VertexId v, PortId port) const { return out_[first_port_[v] + port]; }

  /// Gives one cable another rate and delay.
  void set_cable(CableId cable, const LinkSpec& spec);

  /// `h3` for a host, or what set_host_names() has called it; `s0` for the first switch.
  [[nodiscard]] std::string name(VertexId v) const;
  /// Where hosts of the graph are NICs of machines with several. One name a host of the graph.
  void set_host_names(std::vector<std::string> names) { host_names_ = std::move(names); }

  bool operator==(const Topology&) const = default;

 private:
  Parameters parameters_;
  std::uint32_t hosts_ = 0;
  std::uint32_t switches_ = 0;
  std::vector<Link> links_;
  std::vector<std::uint32_t> first_port_;  // per vertex, and one past the last
  std::vector<LinkId> out_;
  std::vector<std::string> host_names_;
};

/// The vertex called `h3` or `s0` in a graph of that many hosts and switches; none when there is no such one.
[[nodiscard]] std::optional<VertexId> vertex_of(std::string_view name, std::uint32_t hosts, std::uint32_t switches);

/// Builds what `parameters` say, every cable with `link` except where they say otherwise. Throws TopologyError, also
/// when the hosts of a custom graph cannot all reach each other.
[[nodiscard]] Topology build(const Parameters& parameters, const LinkSpec& link = {});

}  // namespace loco::fabric::topology
