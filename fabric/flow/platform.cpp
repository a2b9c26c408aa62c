#include "fabric/flow/platform.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <simgrid/s4u.hpp>
#include <utility>

#include "fabric/flow/flow_network.hpp"
#include "fabric/network.hpp"
#include "fabric/topology/routes.hpp"

namespace loco::fabric {

namespace {

namespace s4u = simgrid::s4u;

struct Shape {
  explicit Shape(Network built) : network(std::move(built)), routes(network.graph) {}
  Network network;
  topology::Routes routes;
};

/// Links from host to host, as routing chooses them.
std::vector<topology::LinkId> path(const Network& network, const topology::Routes& routes, Routing routing, NodeId from,
                                   NodeId to) {
  const std::uint64_t flow = topology::flow_hash(from, to, 0);
  std::vector<topology::LinkId> links;
  for (topology::VertexId at = from; at != to; at = network.links[links.back()].to) {
    const topology::PortId port = routing == Routing::ecmp ? routes.ecmp(at, to, flow) : routes.deterministic(at, to);
    links.push_back(network.graph.out(at, port));
  }
  return links;
}

/// What the last byte needs beyond the message's time on the slowest link: propagation, switches, and how far each hop
/// lets the message come before it passes it on (docs/fabric.md, "A hop"; store and forward: one packet).
std::int64_t latency_ps(const Network& network, const std::vector<topology::LinkId>& links, std::uint32_t packet,
                        const Config& config) {
  std::int64_t sum = 0;
  for (const topology::LinkId id : links) {
    const LinkInfo& link = network.links[id];
    sum += network.graph.link(id).spec.delay.ps;
    if (!link.to_switch) continue;
    sum += config.switch_latency.ps + link.time(link.cut_through ? std::min(packet, kCutThroughBytes) : packet);
  }
  return sum;
}

LatencyOf build_from_shape(const Config& config) {
  auto shape = std::make_shared<Shape>(make_network(config));
  const Network& network = shape->network;
  const topology::Routes& routes = shape->routes;
  s4u::NetZone* zone = s4u::create_full_zone("fabric");
  std::vector<s4u::Host*> hosts;
  for (NodeId node = 0; node < config.nodes; ++node) {
    hosts.push_back(zone->create_host(fmt::format("h{}", node), 1e9));
  }
  std::vector<s4u::Link*> links;
  for (topology::LinkId id = 0; id < network.links.size(); ++id) {
    constexpr double kNoLimit = 1e18;  // a link without a rate
    const auto rate = static_cast<double>(network.links[id].rate.value) / 8;
    links.push_back(zone->create_link(fmt::format("l{}", id), rate > 0 ? rate : kNoLimit)->set_latency(0.0)->seal());
  }
  for (NodeId from = 0; from < config.nodes; ++from) {
    for (NodeId to = 0; to < config.nodes; ++to) {
      if (from == to) continue;
      std::vector<s4u::LinkInRoute> route;
      for (const topology::LinkId id : path(network, routes, config.options.routing, from, to)) {
        route.emplace_back(links[id]);
      }
      zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
    }
  }
  zone->seal();
  return [shape, config](NodeId from, NodeId to, std::uint32_t packet) {
    const auto route = path(shape->network, shape->routes, config.options.routing, from, to);
    return sim::Duration{latency_ps(shape->network, route, packet, config)};
  };
}

/// The sum of the latencies of the route's links, as SimGrid knows it.
sim::Duration route_latency(const std::string& from, const std::string& to) {
  std::vector<s4u::Link*> links;
  double latency = 0;
  s4u::Host::by_name(from)->route_to(s4u::Host::by_name(to), links, &latency);
  if (links.empty()) throw FlowError(fmt::format("the platform has no route from {} to {}", from, to));
  return sim::Duration{std::llround(latency * 1e12)};
}

}  // namespace

LatencyOf build_platform(s4u::Engine& engine, const std::vector<std::string>& names, const Config& config) {
  try {
    if (config.flow.platform.empty()) return build_from_shape(config);
    if (!std::filesystem::exists(config.flow.platform)) {
      throw FlowError(fmt::format("there is no platform file {}", config.flow.platform));
    }
    engine.load_platform(config.flow.platform);
    return [&names](NodeId from, NodeId to, std::uint32_t /*packet*/) { return route_latency(names[from], names[to]); };
  } catch (const FlowError&) {
    throw;
  } catch (const std::exception& error) {
    throw FlowError(fmt::format("SimGrid refuses the platform: {}", error.what()));
  }
}

}  // namespace loco::fabric
