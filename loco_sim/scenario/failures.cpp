#include "loco_sim/scenario/failures.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>
#include <vector>

#include "loco_sim/scenario/classes.hpp"
#include "loco_sim/scenario/hosts.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "text/input_error.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

namespace topology = fabric::topology;

/// Reads a link, which is named by its two ends.
topology::CableId cable(const yaml::Node& node, const std::string& path, const topology::Topology& graph,
                        const Scenario& out) {
  if (node.kind != yaml::Node::Kind::list || node.items.size() != 2) refuse(node, path, "two vertices: [h0, s0]");
  const topology::VertexId a = vertex(node.items[0], path, out, graph.switches());
  const topology::VertexId b = vertex(node.items[1], path, out, graph.switches());
  for (const topology::LinkId link : graph.ports(a)) {
    if (graph.link(link).to == b) return topology::cable_of(link);
  }
  throw text::InputError(node.place, path, "a link of the topology",
                         fmt::format("no link between {} and {}", graph.name(a), graph.name(b)));
}

/// Reads `{host: h2, stops: 50us}`.
NodeStop host_stop(const yaml::Node& item, const std::string& path, const topology::Topology& graph,
                   const Scenario& out) {
  constexpr std::array kOptions = {rows::text("host", rows::kAny), rows::duration("stops", rows::kAny)};
  const Settings s = read_item(item, path, kOptions);
  const auto at = s.find(path + ".stops");
  if (at == s.end()) refuse(item, path, "a map with the keys host and stops");
  const yaml::Node& host = *item.find("host");
  const topology::VertexId v = vertex(host, path + ".host", out, graph.switches());
  if (v >= out.nodes) refuse(host, path + ".host", "a host");
  return {v, {at->second.number}};
}

/// Reads `{host: h2, pauses: 1ms, until: 2ms, class: 3}`.
void read_storm(const yaml::Node& item, const std::string& path, const topology::Topology& graph, Scenario& out) {
  constexpr std::array kOptions = {rows::text("host", rows::kAny), rows::duration("pauses", rows::kAny),
                                   rows::duration("until", rows::kAny),
                                   rows::integer("class", {0, fabric::kClasses - 1})};
  const Settings s = read_item(item, path, kOptions);
  const yaml::Node& host = *item.find("host");
  fabric::PauseStorm storm{.host = vertex(host, path + ".host", out, graph.switches())};
  if (storm.host >= graph.hosts()) refuse(host, path + ".host", "a host");
  storm.from = {s.find(path + ".pauses")->second.number};
  if (const auto until = s.find(path + ".until"); until != s.end()) {
    storm.until = {until->second.number};
    if (storm.until <= storm.from)
      throw text::InputError(until->second.place, path + ".until", "a time after pauses",
                             options::format_number(until->second.number, Type::duration));
  }
  if (const auto c = s.find(path + ".class"); c != s.end()) {
    storm.classes = static_cast<std::uint8_t>(1U << static_cast<unsigned>(c->second.number));
    require_class(c->second, path + ".class", out);
  }
  out.network.storms.push_back(storm);
}

/// The setting that does not allow hosts to stop; empty if they may.
std::string why_no_stops(const Scenario& s) {
  if (s.network.model == fabric::Model::flow) return "fabric.model: flow";
  if (s.hardware.link_ideal) return fmt::format("{}, which has no network (link.ideal)", s.hardware_name);
  return s.schedule == Schedule::timed ? std::string() : "another schedule";
}

/// A change of a link, with its place in the scenario.
struct WrittenChange {
  fabric::LinkChange change;
  text::Place place;
  std::string path;
};

/// Reads `{link: [h0, s0], down: 1ms, up: 2ms, loss: 1000}`.
void read_link(const yaml::Node& item, const std::string& path, const topology::Topology& graph,
               std::vector<WrittenChange>& changes, Scenario& out) {
  constexpr std::array kOptions = {rows::map("link"), rows::duration("down", rows::kAny),
                                   rows::duration("up", rows::kAny), rows::integer("loss", {0, 1'000'000})};
  const Settings s = read_item(item, path, kOptions);
  const yaml::Node* link = item.find("link");
  if (link == nullptr || s.empty()) refuse(item, path, "a map with the key link and one of down, up, loss");
  const topology::CableId id = cable(*link, path + ".link", graph, out);
  for (const bool up : {false, true}) {
    const std::string key = path + (up ? ".up" : ".down");
    if (const auto at = s.find(key); at != s.end())
      changes.push_back({{{at->second.number}, id, up}, at->second.place, key});
  }
  if (const auto loss = s.find(path + ".loss"); loss != s.end())
    out.network.losses.push_back({id, static_cast<std::uint32_t>(loss->second.number)});
}

/// Adds the changes and checks that those of each link alternate: it is up at first, the first change takes it down,
/// and a later one brings it back.
void add_changes(std::vector<WrittenChange> written, fabric::Config& network) {
  for (const WrittenChange& w : written) network.changes.push_back(w.change);
  std::ranges::stable_sort(written, {}, [](const WrittenChange& w) { return std::tuple(w.change.cable, w.change.at); });
  const WrittenChange* before = nullptr;
  for (const WrittenChange& w : written) {
    if (before != nullptr && before->change.cable != w.change.cable) before = nullptr;
    const bool was_up = before == nullptr || before->change.up;
    const std::string found = options::format_number(w.change.at.ps, Type::duration);
    if (w.change.up == was_up)
      throw text::InputError(
          w.place, w.path, was_up ? "a time after the link went down" : "a time at which the link is up again", found);
    if (before != nullptr && before->change.at == w.change.at)
      throw text::InputError(w.place, w.path, "a time of its own for each change of a link", found + " again");
    before = &w;
  }
}

}  // namespace

void read_failures(const yaml::Node& node, const topology::Topology& graph, Scenario& out) {
  std::vector<WrittenChange> changes;
  const std::vector<yaml::Node>& items = list(node, "fabric.failures", "links and hosts that fail");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("fabric.failures[{}]", i);
    if (items[i].kind != yaml::Node::Kind::map || items[i].find("host") == nullptr) {
      read_link(items[i], path, graph, changes, out);
      continue;
    }
    const bool pauses = items[i].find("pauses") != nullptr;
    if (const std::string reason = why_no_stops(out); !reason.empty())
      throw text::InputError(
          items[i].place, path,
          fmt::format("schedule: timed, fabric.model: packet and hardware with a network, so that hosts can {}",
                      pauses ? "pause links" : "stop"),
          reason);
    if (pauses) {
      read_storm(items[i], path, graph, out);
      continue;
    }
    out.stops.push_back(host_stop(items[i], path, graph, out));
  }
  add_changes(std::move(changes), out.network);
}

}  // namespace loco::scenario
