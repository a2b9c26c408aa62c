#include "fabric/flow/platform.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <utility>

#include "fabric/flow/flow_clock.hpp"
#include "fabric/network.hpp"
#include "fabric/route_time.hpp"
#include "fabric/topology/routes.hpp"

namespace loco::fabric {

namespace {

namespace s4u = simgrid::s4u;

// SimGrid 4.0 has new names for what builds a platform, and takes hosts where 3.32 takes their net points.
#if SIMGRID_VERSION >= 40000
s4u::NetZone* new_zone(s4u::Engine& engine) { return engine.get_netzone_root()->add_netzone_full("fabric"); }
s4u::Host* new_host(s4u::NetZone& zone, const std::string& name) { return zone.add_host(name, 1e9); }
s4u::Link* new_link(s4u::NetZone& zone, const std::string& name, double bytes_per_second) {
  return zone.add_link(name, bytes_per_second)->set_latency(0.0)->seal();
}
void add_route(s4u::NetZone& zone, const s4u::Host& from, const s4u::Host& to,
               const std::vector<s4u::LinkInRoute>& route) {
  zone.add_route(&from, &to, route, false);
}
#else
s4u::NetZone* new_zone(s4u::Engine& /*engine*/) { return s4u::create_full_zone("fabric"); }
s4u::Host* new_host(s4u::NetZone& zone, const std::string& name) { return zone.create_host(name, 1e9); }
s4u::Link* new_link(s4u::NetZone& zone, const std::string& name, double bytes_per_second) {
  return zone.create_link(name, bytes_per_second)->set_latency(0.0)->seal();
}
void add_route(s4u::NetZone& zone, const s4u::Host& from, const s4u::Host& to,
               const std::vector<s4u::LinkInRoute>& route) {
  zone.add_route(from.get_netpoint(), to.get_netpoint(), nullptr, nullptr, route, false);
}
#endif

struct Shape {
  explicit Shape(Wiring built) : network(std::move(built)), routes(network.graph) {}
  Wiring network;
  topology::Routes routes;
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkInfo>> hops{};  // of the routes that have been asked for
};

/// Links from host to host, as routing chooses them.
std::vector<topology::LinkId> path(const Wiring& network, const topology::Routes& routes, Routing routing, NodeId from,
                                   NodeId to) {
  const std::uint64_t flow = topology::flow_hash(from, to, 0);
  std::vector<topology::LinkId> links;
  for (topology::VertexId at = from; at != to; at = network.links[links.back()].to) {
    const topology::PortId port = routing == Routing::ecmp ? routes.ecmp(at, to, flow) : routes.deterministic(at, to);
    links.push_back(network.graph.out(at, port));
  }
  return links;
}

/// What a NIC's packet_gap leaves of its port: full packets, one a gap. 0: no limit.
sim::BitsPerSecond paced_rate(const Config& config, NodeId host) {
  const PacketFormat& packets = config.packets;
  const sim::Duration gap = config.gap_of(host);
  if (gap.ps == 0) return {};
  const std::uint64_t bits = 8 * (packets.mtu + packets.write_overhead()).count;
  return {bits * 1'000'000'000'000 / static_cast<std::uint64_t>(gap.ps)};
}

/// Does the port's pace tell on a cable? 0 is no limit.
bool slower(sim::BitsPerSecond paced, sim::BitsPerSecond cable) {
  return paced.value != 0 && (cable.value == 0 || paced.value < cable.value);
}

/// Alone, the message takes what the packet model takes; of that, its bytes on the narrowest link are SimGrid's part.
FlowEnd end_of(const std::vector<LinkInfo>& route, const Config& config, NodeId source, const Burst& burst) {
  const sim::BitsPerSecond paced = paced_rate(config, source);
  const sim::BitsPerSecond narrowest = narrowest_rate(route);
  const sim::BitsPerSecond rate = slower(paced, narrowest) ? paced : narrowest;
  const sim::Duration rest =
      burst_time(route, config.switch_latency, burst) - sim::transmission_time({burst.bytes()}, rate);
  return {.latency = std::max(rest, sim::Duration{}),  // a flow ends a gap after its last packet has begun
          .last = burst_time(route, config.switch_latency, {.packets = 1, .full = burst.last, .last = burst.last}),
          .rate = rate};
}

std::vector<LinkInfo> hops(const Wiring& network, const topology::Routes& routes, Routing routing, NodeId from,
                           NodeId to) {
  std::vector<LinkInfo> infos;
  for (const topology::LinkId id : path(network, routes, routing, from, to)) infos.push_back(network.links[id]);
  return infos;
}

RouteOf build_from_shape(s4u::Engine& engine, const Config& config) {
  auto shape = std::make_shared<Shape>(make_wiring(config));
  const Wiring& network = shape->network;
  const topology::Routes& routes = shape->routes;
  s4u::NetZone* zone = new_zone(engine);
  std::vector<s4u::Host*> hosts;
  for (NodeId node = 0; node < config.nodes; ++node) {
    hosts.push_back(new_host(*zone, fmt::format("h{}", node)));
  }
  const auto link_of = [zone](const std::string& name, sim::BitsPerSecond rate) {
    constexpr double kNoLimit = 1e18;  // a link without a rate
    return new_link(*zone, name, rate.value > 0 ? static_cast<double>(rate.value) / 8 : kNoLimit);
  };
  std::vector<s4u::Link*> links;
  for (topology::LinkId id = 0; id < network.links.size(); ++id)
    links.push_back(link_of(fmt::format("l{}", id), network.links[id].rate));
  for (NodeId from = 0; from < config.nodes; ++from) {
    const sim::BitsPerSecond paced = paced_rate(config, from);
    s4u::Link* port = paced.value == 0 ? nullptr : link_of(fmt::format("p{}", from), paced);
    for (NodeId to = 0; to < config.nodes; ++to) {
      if (from == to) continue;
      std::vector<s4u::LinkInRoute> route;
      for (const topology::LinkId id : path(network, routes, config.options.routing, from, to)) {
        if (route.empty() && slower(paced, network.links[id].rate)) route.emplace_back(port);
        route.emplace_back(links[id]);
      }
      add_route(*zone, *hosts[from], *hosts[to], route);
    }
  }
  zone->seal();
  return [shape, config](const FlowStart& flow) {
    const auto [known, fresh] = shape->hops.try_emplace({flow.source, flow.destination});
    if (fresh)
      known->second = hops(shape->network, shape->routes, config.options.routing, flow.source, flow.destination);
    return end_of(known->second, config, flow.source, flow.burst);
  };
}

/// The sum of the latencies of the route's links, and the narrowest of them, as SimGrid knows them: a platform has no
/// packets that a switch would wait for.
FlowEnd end_in_file(const std::string& from, const std::string& to, sim::Duration delivery, const Burst& burst) {
  std::vector<s4u::Link*> links;
  double latency = 0;
  s4u::Host::by_name(from)->route_to(s4u::Host::by_name(to), links, &latency);
  if (links.empty()) throw FlowError(fmt::format("the platform has no route from {} to {}", from, to));
  double rate = links.front()->get_bandwidth();
  for (const s4u::Link* link : links) rate = std::min(rate, link->get_bandwidth());
  FlowEnd end{.latency = sim::Duration{std::llround(latency * 1e12)} + delivery,
              .rate = {static_cast<std::uint64_t>(rate * 8)}};
  end.last = end.latency + sim::transmission_time({burst.last}, end.rate);
  return end;
}

}  // namespace

RouteOf build_platform(s4u::Engine& engine, const std::vector<std::string>& names, const Config& config) {
  try {
    if (config.flow.platform.empty()) return build_from_shape(engine, config);
    if (!std::filesystem::exists(config.flow.platform)) {
      throw FlowError(fmt::format("there is no platform file {}", config.flow.platform));
    }
    engine.load_platform(config.flow.platform);
    return [&names, config](const FlowStart& flow) {
      return end_in_file(names[flow.source], names[flow.destination], config.delivery_to(flow.destination), flow.burst);
    };
  } catch (const FlowError&) {
    throw;
  } catch (const std::exception& error) {
    throw FlowError(fmt::format("SimGrid refuses the platform: {}", error.what()));
  }
}

}  // namespace loco::fabric
