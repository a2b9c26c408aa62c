#include "loco_sim/scenario/network.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <span>
#include <utility>

#include "fabric/disconnect.hpp"
#include "fabric/fabric_options.hpp"
#include "fabric/flow/flow_clock.hpp"
#include "fabric/flow/platform_file.hpp"
#include "fabric/topology/kinds.hpp"
#include "loco_sim/scenario/classes.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/failures.hpp"
#include "loco_sim/scenario/hosts.hpp"
#include "loco_sim/scenario/idle_options.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/path_mtu.hpp"
#include "nic_model/system.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

namespace topology = fabric::topology;

/// The description of a topology's parameter: the kinds that have it, its meaning, and its defaults, which may differ
/// from kind to kind.
std::string parameter_doc(std::string_view key) {
  std::vector<std::string> kinds;
  std::vector<std::string> defaults;
  std::set<std::string> different;
  std::string_view doc;
  for (const topology::KindInfo& kind : topology::kinds()) {
    for (const Option& p : kind.parameters) {
      if (p.key != key) continue;
      doc = p.doc;
      kinds.emplace_back(kind.name);
      if (p.fallback.none()) continue;
      different.insert(options::default_text(p));
      defaults.push_back(fmt::format("{} of a {}", options::default_text(p), kind.name));
    }
  }
  const std::string fallback =
      different.size() == 1 ? *different.begin() : fmt::format("{}", fmt::join(defaults, ", "));
  return fmt::format("{}: {}{}.", fmt::join(kinds, ", "), doc,
                     different.empty() ? "" : fmt::format(" ({} when left out)", fallback));
}

/// Reads `[h0, s0]` or `[h0, s0, {rate: 10Gbps, delay: 1us}]`.
topology::Edge edge(const yaml::Node& node, const std::string& path, const Scenario& out, std::uint32_t switches) {
  const std::string expected = "two vertices, such as [h0, s0] or [h0, s0, {rate: 10Gbps, delay: 1us}]";
  if (node.kind != yaml::Node::Kind::list || node.items.size() < 2 || node.items.size() > 3) {
    refuse(node, path, expected);
  }
  topology::Edge e{vertex(node.items[0], path, out, switches), vertex(node.items[1], path, out, switches)};
  if (node.items.size() == 2) return e;
  constexpr std::array kOptions = {rows::rate("rate", rows::at_least(1'000'000)),
                                   rows::duration("delay", {0, topology::kDelayMax.ps})};
  const Settings s = read_item(node.items[2], path, kOptions);
  take(s, path + ".rate", e.rate);
  take(s, path + ".delay", e.delay);
  return e;
}

/// The given parameters of the topology's kind, without the edges of a custom one. Refuses parameters of other kinds.
topology::Parameters shape_of(const yaml::Node& root, const Settings& settings, topology::Kind kind) {
  const topology::KindInfo& info = topology::info(kind);
  const yaml::Node* section = root.find("topology");
  std::vector<topology::Setting> given;
  const std::span<const yaml::Entry> entries = section == nullptr ? std::span<const yaml::Entry>() : section->entries;
  for (const yaml::Entry& entry : entries) {
    if (entry.key == "kind" || entry.key == "nodes") continue;
    const auto row = std::ranges::find(info.parameters, entry.key, &Option::key);
    if (row == info.parameters.end()) {
      throw text::InputError(entry.key_place, "topology", fmt::format("a parameter of {}", info.name),
                             text::in_quotes(entry.key));
    }
    topology::Setting setting{.key = row->key};
    const std::string path = "topology." + entry.key;
    if (row->key == "edges") continue;
    if (row->type == Type::list) {
      for (const yaml::Node& item : list(entry.value, path, "integers")) {
        const auto number = item.kind == yaml::Node::Kind::scalar ? text::parse_integer(item.text) : std::nullopt;
        if (!number) refuse(item, path, "a list of integers");
        setting.numbers.push_back(*number);
      }
    } else {
      setting.numbers.push_back(settings.find(path)->second.number);
    }
    given.push_back(std::move(setting));
  }
  const Value& nodes = settings.find("topology.nodes")->second;
  if (kind == topology::Kind::star || (kind == topology::Kind::ring && nodes.given)) {
    given.push_back({.key = "nodes", .numbers = {nodes.number}});
  }
  return topology::parameters_from(kind, given);
}

/// Number of hosts of a shape. With rails or several NICs per host a shape has several ends for each host.
std::uint32_t hosts_of(const topology::Parameters& shape) {
  if (const auto* rails = std::get_if<topology::Rails>(&shape)) return rails->hosts;
  return static_cast<std::uint32_t>(topology::size_of(shape).hosts);
}

/// The shape has an end for each port; a custom one its edges, whose ends are ports by name.
void add_ends(const yaml::Node& root, Scenario& out) {
  if (auto* star = std::get_if<topology::Star>(&out.network.shape)) star->nodes = ports(out);
  auto* const custom = std::get_if<topology::Custom>(&out.network.shape);
  if (custom == nullptr) return;
  custom->hosts = ports(out);
  const yaml::Node* const edges = yaml::find_at(root, "topology.edges");
  if (edges == nullptr) return;
  const std::vector<yaml::Node>& items = list(*edges, "topology.edges", "cables");
  for (std::size_t i = 0; i < items.size(); ++i) {
    custom->edges.push_back(edge(items[i], fmt::format("topology.edges[{}]", i), out, custom->switches));
  }
}

/// Sets what all hosts have, then what `hosts` gives for some.
void apply_hosts(const yaml::Node& root, const Settings& settings, Scenario& out) {
  if (const auto* rails = std::get_if<topology::Rails>(&out.network.shape); rails != nullptr && rails->rails > 1)
    out.hosts.of.assign(out.nodes, {.nics = rails->rails});
  if (const yaml::Node* hosts = root.find("hosts"); hosts != nullptr) read_hosts(*hosts, settings, out);
}

void apply_options(const Settings& settings, fabric::Options& options) {
  fabric::Options mlx5;
  mlx5.dcqcn = fabric::mlx5_dcqcn();
  const auto setting = [&](std::string_view key) -> const Value& {
    return settings.find(fmt::format("fabric.{}", key))->second;
  };
  for (const Option& option : fabric::fabric_options()) option.set(&options, setting(option.key).number);
  // Giving an option of the watchdog switches it on.
  for (const Option& option : fabric::fabric_options())
    if (option.key.starts_with("pfc.watchdog.") && setting(option.key).given && !setting("pfc.watchdog.enabled").given)
      options.watchdog.enabled = true;
  if (options.dcqcn.profile != fabric::DcqcnProfile::mlx5) return;
  for (const Option& option : fabric::fabric_options()) {
    const bool open = option.key.starts_with("dcqcn.") && option.key != "dcqcn.enabled" && !setting(option.key).given;
    if (open) option.set(&options, option.get(&mlx5));
  }
}

/// Reports what does not fit together, such as headroom greater than the buffer.
void check_fit(const text::Place& place, const Scenario& scenario) {
  try {
    fabric::Config network = scenario.network;
    network.nodes = ports(scenario);
    network.topology = scenario.topology;
    for (const NodeStop& stop : scenario.stops)
      for (const nic::PortId port : nic::ports_of(scenario.hosts, scenario.nodes, nic::HostId(stop.node)))
        fabric::disconnect(network, port, stop.at);
    const nic::System probe({.profile = scenario.hardware,
                             .hosts = scenario.hosts,
                             .topology = scenario.topology,
                             .network = network,
                             .nodes = scenario.nodes});
  } catch (const topology::TopologyError&) {
    throw;
  } catch (const std::invalid_argument& error) {
    throw text::InputError(place, "fabric", "a network that can be built", error.what());
  }
}

}  // namespace

std::span<const Option> topology_options() {
  struct Rows {
    std::deque<std::string> docs;
    std::vector<Option> options;
  };
  static const Rows kRows = [] {
    Rows rows;
    std::set<std::string_view> known = {"nodes"};
    for (const topology::KindInfo& kind : topology::kinds()) {
      for (Option option : kind.parameters) {
        if (!known.insert(option.key).second) continue;
        option.doc = rows.docs.emplace_back(parameter_doc(option.key));
        option.fallback = {};
        rows.options.push_back(option);
      }
    }
    return rows;
  }();
  return kRows.options;
}

namespace {

NodeId host(const Settings& s, const std::string& path, const Scenario& out) {
  const auto value = s.find(path);
  const auto v = topology::vertex_of(value->second.text, out.nodes, 0);
  if (!v) {
    throw text::InputError(value->second.place, path,
                           fmt::format("one of {} hosts: h0 to h{}", out.nodes, out.nodes - 1),
                           text::in_quotes(value->second.text));
  }
  return *v;
}

/// Reads `fabric.cross_traffic`: [{from: h0, to: h1, rate: 10Gbps, size: 1GB, start: 1ms}, ...].
void read_cross_traffic(const yaml::Node& node, Scenario& out) {
  const std::vector<yaml::Node>& items = list(node, "fabric.cross_traffic", "flows");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("fabric.cross_traffic[{}]", i);
    constexpr std::array kOptions = {
        rows::text("from", {2, 16}), rows::text("to", {2, 16}), rows::rate("rate", {1'000, 10'000'000'000'000}),
        rows::size("size", {1, std::int64_t{1} << 60U}), rows::duration("start", rows::kAny)};
    const Settings s = read_item(items[i], path, kOptions);
    if (!s.contains(path + ".from") || !s.contains(path + ".to"))
      refuse(items[i], path, "a map with the keys from and to");
    fabric::CrossFlow flow{.from = host(s, path + ".from", out), .to = host(s, path + ".to", out)};
    if (flow.from == flow.to) refuse(items[i], path, "two different hosts");
    take(s, path + ".rate", flow.rate);
    take(s, path + ".size", flow.size);
    if (const Value* const start = given(s, path + ".start")) flow.start = {start->number};
    out.network.flow.cross_traffic.push_back(flow);
  }
}

/// Sets a platform file in place of a topology. SimGrid counts its hosts.
void apply_platform(const Value& platform, const Settings& settings, Scenario& out) {
  refuse_beside_platform(settings);
  const std::string path = find_beside(out.file, platform.text);
  try {
    fabric::check_platform_file(path);
    const std::size_t hosts = fabric::platform_hosts(path).size();
    if (hosts < 2 || hosts > 1024) {
      throw text::InputError(platform.place, "platform", "a platform of 2 to 1024 hosts",
                             fmt::format("one of {}", hosts));
    }
    out.nodes = static_cast<std::uint32_t>(hosts);
  } catch (const fabric::PlatformFileError& error) {
    throw text::InputError({path, error.line(), error.column()}, "", error.expected(), text::printable(error.found()));
  } catch (const fabric::FlowError& error) {
    const std::string_view said = error.what();
    throw text::InputError(platform.place, "platform", "a SimGrid platform file",
                           text::printable(said.substr(0, said.find('\n'))));
  }
  out.network.flow.platform = path;
  out.inputs.push_back({"platform", path});
  out.network.shape = topology::Star{out.nodes};
  out.topology = fabric::Topology::star;
}

/// Sets `fabric.model: flow` and its own options.
void apply_flow_model(const Settings& settings, Scenario& out) {
  const Value& model = settings.find("fabric.model")->second;
  const Value* const platform = given(settings, "platform");
  out.network.model = model.text == "flow" ? fabric::Model::flow : fabric::Model::packet;
  if (out.network.model == fabric::Model::packet) {
    if (platform != nullptr)
      throw text::InputError(platform->place, "platform", "fabric.model: flow with it", "packet");
    return;
  }
  if (!fabric::has_flow_model()) {
    throw text::InputError(model.place, "fabric.model", fmt::format("packet ({})", fabric::kNoFlowModel), "\"flow\"");
  }
  if (out.schedule != Schedule::timed) {
    throw text::InputError(model.place, "fabric.model", "packet, since events run in random order (schedule)",
                           "\"flow\"");
  }
  if (platform != nullptr) apply_platform(*platform, settings, out);
}

/// Reports an impossible shape at its place in the scenario.
[[noreturn]] void refuse_shape(const topology::Problem& problem, const Settings& settings) {
  const auto value = settings.find("topology." + problem.key);
  throw text::InputError(value != settings.end() ? value->second.place : settings.find("topology.kind")->second.place,
                         problem.key.empty() ? "topology" : "topology." + problem.key, problem.expected, problem.found);
}

}  // namespace

void apply_network(const yaml::Node& root, const Settings& settings, Scenario& out) {
  const Value& nodes = settings.find("topology.nodes")->second;
  const Value& kind_value = settings.find("topology.kind")->second;
  const topology::Kind kind = topology::kind_of(kind_value.text).value();
  try {
    apply_flow_model(settings, out);
    const bool from_file = !out.network.flow.platform.empty();
    if (!from_file) {
      out.network.shape = shape_of(root, settings, kind);
      out.nodes = hosts_of(out.network.shape);
    }
    apply_hosts(root, settings, out);
    if (!from_file) add_ends(root, out);
    const topology::Topology graph = topology::build(out.network.shape);
    if (!from_file)
      out.topology = kind == topology::Kind::star           ? fabric::Topology::star
                     : kind == topology::Kind::back_to_back ? fabric::Topology::back_to_back
                                                            : fabric::Topology::shaped;
    if (nodes.number != out.nodes && (nodes.given || (!from_file && kind == topology::Kind::back_to_back))) {
      throw text::InputError(nodes.place, "topology.nodes",
                             fmt::format("{} for {}", out.nodes, from_file ? "this platform file" : kind_value.text),
                             fmt::format("\"{}\"", nodes.number));
    }
    apply_options(settings, out.network.options);
    refuse_idle_options(settings, out);
    out.network.seed = out.seed;
    const auto list_at = [&root](const char* path) { return yaml::find_at(root, path); };
    if (const yaml::Node* classes = list_at("fabric.classes")) read_classes(*classes, out);
    read_capture(root, settings, graph, out);
    if (const yaml::Node* failures = list_at("fabric.failures")) read_failures(*failures, graph, out);
    if (const yaml::Node* mtus = list_at("fabric.path_mtu")) read_path_mtu(*mtus, out);
    if (const yaml::Node* cross = list_at("fabric.cross_traffic")) read_cross_traffic(*cross, out);
  } catch (const topology::TopologyError& error) {
    refuse_shape(error.problem(), settings);
  }
}

void require_network_that_fits(const yaml::Node& root, const Settings& settings, const Scenario& scenario) {
  const yaml::Node* section = root.find("fabric");
  try {
    check_fit(section != nullptr ? section->place : settings.find("topology.kind")->second.place, scenario);
  } catch (const topology::TopologyError& error) {
    refuse_shape(error.problem(), settings);
  }
}

}  // namespace loco::scenario
