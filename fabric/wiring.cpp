#include "fabric/wiring.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fabric/disconnect.hpp"
#include "fabric/lane.hpp"
#include "fabric/variation.hpp"
#include "sim/rng.hpp"

namespace loco::fabric {

namespace {

topology::Parameters shape_of(const Config& c) {
  if (c.topology == Topology::back_to_back) return topology::BackToBack{};
  if (c.topology == Topology::star) return topology::Star{c.nodes};
  return c.shape;
}

/// What may still arrive after the decision to pause a link: the pause frame waits for the packet that is being sent
/// and needs the link itself; meanwhile, and while the last packet that was begun before it arrived is on its way, the
/// link delivers; and the decision was made when a packet had only begun to arrive.
std::uint64_t headroom_of(const LinkInfo& link, sim::Duration delay, const Config& c) {
  __extension__ using Wide = unsigned __int128;
  const auto flight = static_cast<Wide>(delay.ps) * 2 * link.rate.value / 8'000'000'000'000U + 1;
  return static_cast<std::uint64_t>(flight) + 3 * c.packet_max.count + kPauseBytes;
}

/// The names of hosts, and the cables of those that are not as fast as the others', or faster.
void set_ends(topology::Topology& graph, const Config& c) {
  if (c.end_points.empty() || graph.hosts() != c.end_points.size()) return;
  std::vector<std::string> names;
  for (topology::VertexId host = 0; host < graph.hosts(); ++host) {
    const std::string& name = c.end_points[host].name;
    names.push_back(name.empty() ? graph.name(host) : name);
  }
  graph.set_host_names(std::move(names));
  const auto* const custom = std::get_if<topology::Custom>(&graph.parameters());
  for (topology::CableId cable = 0; cable < graph.cables(); ++cable) {
    if (custom != nullptr && custom->edges[cable].rate) continue;
    const topology::Link& link = graph.link(2 * cable);
    std::optional<sim::BitsPerSecond> least;
    for (const topology::VertexId end : {link.from, link.to}) {
      if (!graph.is_host(end)) continue;
      const sim::BitsPerSecond rate = c.end_points[end].rate;
      if (!least || least->value == 0 || (rate.value != 0 && rate.value < least->value)) least = rate;
    }
    if (least) graph.set_cable(cable, {*least, link.spec.delay});
  }
}

LinkInfo link_info(const topology::Topology& graph, topology::LinkId id, const Config& c,
                   const std::vector<std::int64_t>& clocks) {
  const topology::Link& link = graph.link(id);
  LinkInfo info{.from = link.from, .to = link.to, .rate = link.spec.rate};
  if (!clocks.empty()) info.rate = skewed(info.rate, clocks[link.from]);
  constexpr std::uint64_t kByte = 8'000'000'000'000;
  if (info.rate.value != 0 && kByte % info.rate.value == 0) {
    info.byte_ps = static_cast<std::int64_t>(kByte / info.rate.value);
  }
  info.to_switch = !graph.is_host(link.to);
  info.cut_through = info.to_switch && c.options.switching == Switching::cut_through;
  info.delay_ps = link.spec.delay.ps;
  if (!info.to_switch) {
    const bool jitters = c.options.variation != Variation::none;
    const sim::Duration delivery = c.delivery_to(link.to);
    info.jitter_ps = jitters ? std::min(c.jitter_at(link.to).ps, delivery.ps) : 0;
    info.delay_ps += delivery.ps - info.jitter_ps;
  }
  info.varies = info.to_switch ? c.varies() : info.jitter_ps != 0;
  info.watched = info.varies || c.tap != nullptr || (!graph.is_host(link.from) && c.writes_telemetry());
  info.headers_ps = info.time(kCutThroughBytes);
  info.loss = c.options.loss;
  const bool chosen = info.to_switch && c.options.pfc_headroom.count != 0;
  info.headroom = chosen ? c.options.pfc_headroom.count : headroom_of(info, link.spec.delay, c);
  return info;
}

/// The part of each switch's buffer that is not kept for single ports.
std::vector<std::uint64_t> shared_buffers(const Wiring& network, const Config& c) {
  std::vector<std::uint64_t> kept(network.graph.vertices());
  for (const TrafficClass& of : c.used_classes()) {
    const ClassBuffers& buffers = *of.buffers;
    if (buffers.flow_control != FlowControl::pfc) continue;
    const std::uint64_t reserved = buffers.xoff.count != 0 ? buffers.xoff.count : buffers.reserved.count;
    for (topology::LinkId id = 0; id < network.links.size(); ++id) {
      const LinkInfo& link = network.links[id];
      if (link.rate.value == 0) throw std::invalid_argument("pfc needs links with a rate");
      const std::uint64_t headroom = buffers.headroom.count != 0
                                         ? buffers.headroom.count
                                         : headroom_of(link, network.graph.link(id).spec.delay, c);
      if (link.to_switch) kept[link.to] += headroom + reserved;
    }
  }
  const std::uint64_t size = c.options.buffer_size.count;
  for (topology::VertexId v = network.graph.hosts(); v < network.graph.vertices(); ++v) {
    if (kept[v] >= size) {
      throw std::invalid_argument(fmt::format(
          "pfc needs {} bytes of buffer in {} for the headroom and threshold of its {} ports; buffer.size is {}",
          kept[v] + 1, network.graph.name(v), network.graph.ports(v).size(), size));
    }
    kept[v] = size - kept[v];
  }
  return kept;
}

void check_cable(const topology::Topology& graph, topology::CableId cable) {
  if (cable < graph.cables()) return;
  throw std::invalid_argument(fmt::format("there is no cable {}: the network has {}", cable, graph.cables()));
}

}  // namespace

/// Apart, to keep the path of most links short.
[[gnu::noinline]] std::int64_t LinkInfo::divided(std::uint32_t bytes) const {
  return sim::transmission_time({bytes}, rate).ps;
}

Wiring make_wiring(const Config& config) {
  Wiring network{.graph = topology::build(shape_of(config), {config.link_rate, config.link_delay}),
                 .links = {},
                 .host_link = {},
                 .shared = {},
                 .changes = config.changes,
                 .variation = sim::Stream(config.seed, "fabric.variation")()};
  set_ends(network.graph, config);
  const topology::Topology& graph = network.graph;
  if (graph.hosts() != config.nodes) {
    throw std::invalid_argument(
        fmt::format("the network has {} hosts, the system {} nodes", graph.hosts(), config.nodes));
  }
  const std::vector<std::int64_t> clocks = clock_errors(config, graph);
  for (topology::LinkId id = 0; id < 2 * graph.cables(); ++id) {
    network.links.push_back(link_info(graph, id, config, clocks));
  }
  for (const LinkLoss& l : config.losses) {
    check_cable(graph, l.cable);
    network.links[2 * l.cable].loss = network.links[2 * l.cable + 1].loss = l.loss;
  }
  for (const LinkChange& change : config.changes) check_cable(graph, change.cable);
  std::stable_sort(network.changes.begin(), network.changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  for (NodeId host = 0; host < graph.hosts(); ++host) {
    const auto ports = graph.ports(host);
    network.host_link.push_back(ports.size() == 1 ? ports.front() : kNone);
  }
  network.shared = shared_buffers(network, config);
  return network;
}

void disconnect(Config& network, PortId port, sim::SimTime at) {
  if (network.topology == Topology::ideal) throw std::invalid_argument("a network without cables cannot lose a host");
  const topology::Topology graph = topology::build(shape_of(network), {network.link_rate, network.link_delay});
  const NodeId host = port.index();
  if (host >= graph.hosts()) throw std::invalid_argument(fmt::format("there is no host {} to disconnect", host));
  for (const topology::LinkId link : graph.ports(host)) {
    network.changes.push_back({.at = at, .cable = topology::cable_of(link), .up = false});
  }
}

}  // namespace loco::fabric
