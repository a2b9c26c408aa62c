#include "loco_sim/scenario/network.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <span>
#include <utility>

#include "fabric/disconnect.hpp"
#include "fabric/fields.hpp"
#include "fabric/flow/flow_network.hpp"
#include "fabric/flow/platform_file.hpp"
#include "fabric/topology/kinds.hpp"
#include "loco_sim/scenario/failures.hpp"
#include "loco_sim/scenario/idle_options.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/units.hpp"
#include "nic_model/system.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

namespace topology = fabric::topology;

KeyType key_type(fabric::FieldType type) {
  switch (type) {
    case fabric::FieldType::duration:
      return KeyType::duration;
    case fabric::FieldType::size:
      return KeyType::size;
    case fabric::FieldType::rate:
      return KeyType::rate;
    case fabric::FieldType::count:
      return KeyType::integer;
    case fabric::FieldType::boolean:
      return KeyType::boolean;
    case fabric::FieldType::choice:
      return KeyType::choice;
  }
  return KeyType::integer;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    out.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

/// Whose parameter it is, what it means, and what it is when left out, which may differ from kind to kind.
std::string parameter_doc(std::string_view key) {
  std::vector<std::string> kinds;
  std::vector<std::string> defaults;
  std::set<std::string_view> different;
  std::string_view doc;
  for (const topology::KindInfo& kind : topology::kinds()) {
    for (const topology::Parameter& p : kind.parameters) {
      if (p.key != key) continue;
      doc = p.doc;
      kinds.emplace_back(kind.name);
      if (p.fallback.empty()) continue;
      different.insert(p.fallback);
      defaults.push_back(fmt::format("{} of a {}", p.fallback, kind.name));
    }
  }
  const std::string fallback =
      different.size() == 1 ? std::string(*different.begin()) : fmt::format("{}", fmt::join(defaults, ", "));
  return fmt::format("{}: {}{}.", fmt::join(kinds, ", "), doc,
                     different.empty() ? "" : fmt::format(" ({} when left out)", fallback));
}

Key parameter_key(const topology::Parameter& p) {
  Key key{.path = fmt::format("topology.{}", p.key), .least = p.least, .most = p.most, .doc = parameter_doc(p.key)};
  switch (p.type) {
    case topology::ParameterType::integer:
      key.type = KeyType::integer;
      break;
    case topology::ParameterType::choice:
      key.type = KeyType::choice;
      key.choices = words(p.choices);
      break;
    case topology::ParameterType::integers:
    case topology::ParameterType::edges:
      key.type = KeyType::list;
      break;
  }
  return key;
}

/// `[h0, s0]` or `[h0, s0, {rate: 10Gbps, delay: 1us}]`.
topology::Edge edge(const yaml::Node& node, const std::string& path, const topology::Custom& shape) {
  const std::string expected = "two vertices, such as [h0, s0] or [h0, s0, {rate: 10Gbps, delay: 1us}]";
  if (node.kind != yaml::Node::Kind::list || node.items.size() < 2 || node.items.size() > 3) {
    refuse(node, path, expected);
  }
  topology::Edge e{vertex(node.items[0], path, shape.hosts, shape.switches),
                   vertex(node.items[1], path, shape.hosts, shape.switches)};
  if (node.items.size() == 2) return e;
  const KeyTable keys = {{.path = path + ".rate", .type = KeyType::rate, .least = 1'000'000},
                         {.path = path + ".delay", .type = KeyType::duration, .most = topology::kDelayMax.ps}};
  const Settings s = read_settings(node.items[2], path + ".", keys);
  if (const auto r = s.find(path + ".rate"); r != s.end()) e.rate = {static_cast<std::uint64_t>(r->second.number)};
  if (const auto d = s.find(path + ".delay"); d != s.end()) e.delay = sim::Duration{d->second.number};
  return e;
}

/// The parameters of the kind that are given; those of other kinds are refused.
topology::Parameters shape_of(const yaml::Node& root, const Settings& settings, topology::Kind kind) {
  const topology::KindInfo& info = topology::info(kind);
  const yaml::Node* section = root.find("topology");
  std::vector<topology::Setting> given;
  const yaml::Node* edges = nullptr;
  const std::span<const yaml::Entry> entries = section == nullptr ? std::span<const yaml::Entry>() : section->entries;
  for (const yaml::Entry& entry : entries) {
    if (entry.key == "kind" || entry.key == "nodes") continue;
    const auto row = std::find_if(info.parameters.begin(), info.parameters.end(),
                                  [&](const topology::Parameter& p) { return p.key == entry.key; });
    if (row == info.parameters.end()) {
      throw text::InputError(entry.key_place, "topology", fmt::format("a parameter of {}", info.name),
                             text::in_quotes(entry.key));
    }
    topology::Setting setting{.key = row->key};
    const std::string path = "topology." + entry.key;
    if (row->type == topology::ParameterType::edges) {
      edges = &entry.value;
      continue;
    }
    if (row->type == topology::ParameterType::integers) {
      for (const yaml::Node& item : list(entry.value, path, "integers")) {
        const auto number = item.kind == yaml::Node::Kind::scalar ? text::parse_integer(item.text) : std::nullopt;
        if (!number) refuse(item, path, "a list of integers");
        setting.numbers.push_back(*number);
      }
    } else {
      const Value& value = settings.find(path)->second;
      setting.numbers.push_back(value.number);
      setting.word = value.text;
    }
    given.push_back(std::move(setting));
  }
  const Value& nodes = settings.find("topology.nodes")->second;
  if (kind == topology::Kind::star || (kind == topology::Kind::ring && nodes.given)) {
    given.push_back({.key = "nodes", .numbers = {nodes.number}});
  }
  topology::Parameters parameters = topology::parameters_from(kind, given);
  if (auto* custom = std::get_if<topology::Custom>(&parameters); custom != nullptr && edges != nullptr) {
    const std::vector<yaml::Node>& items = list(*edges, "topology.edges", "cables");
    for (std::size_t i = 0; i < items.size(); ++i) {
      custom->edges.push_back(edge(items[i], fmt::format("topology.edges[{}]", i), *custom));
    }
  }
  return parameters;
}

void apply_options(const Settings& settings, fabric::Options& options) {
  for (const fabric::Field& field : fabric::kFields) {
    const Value& value = settings.find(fmt::format("fabric.{}", field.key))->second;
    const auto choice = std::find(field.choices.begin(), field.choices.end(), value.text);
    field.set(options, field.choices.empty() ? value.number : choice - field.choices.begin());
  }
}

/// What shows only once the parts meet: headroom that does not fit into the buffer, and the like.
void check_fit(const text::Place& place, const Scenario& scenario) {
  try {
    fabric::Config network = scenario.network;
    network.nodes = scenario.nodes;
    network.topology = scenario.topology;
    for (const NodeStop& stop : scenario.stops) fabric::disconnect(network, stop.node, stop.at);
    const nic::System probe(
        {.profile = scenario.hardware, .topology = scenario.topology, .network = network, .nodes = scenario.nodes});
  } catch (const topology::TopologyError&) {
    throw;
  } catch (const std::invalid_argument& error) {
    throw text::InputError(place, "fabric", "a network that can be built", error.what());
  }
}

}  // namespace

KeyTable topology_parameter_keys() {
  KeyTable table;
  std::set<std::string_view> known = {"nodes"};
  for (const topology::KindInfo& kind : topology::kinds()) {
    for (const topology::Parameter& p : kind.parameters) {
      if (known.insert(p.key).second) table.push_back(parameter_key(p));
    }
  }
  return table;
}

KeyTable fabric_keys() {
  KeyTable table;
  const fabric::Options defaults;
  for (const fabric::Field& field : fabric::kFields) {
    Key key{.path = fmt::format("fabric.{}", field.key), .type = key_type(field.type)};
    key.doc = fmt::format("{}.", field.description);
    if (key.type == KeyType::choice) {
      key.choices.assign(field.choices.begin(), field.choices.end());
      key.fallback = key.choices.at(static_cast<std::size_t>(field.get(defaults)));
    } else {
      key.fallback = format_number(field.get(defaults), key.type);
      key.least = field.minimum;
      key.most = field.maximum;
    }
    table.push_back(std::move(key));
  }
  table.push_back({.path = "fabric.failures",
                   .type = KeyType::list,
                   .doc = "What fails: a list of {link: [h0, s0], down: 1ms, up: 2ms, loss: 1000}, up later than down, "
                          "loss in packets in a million, and {host: h2, stops: 50us}, a node whose threads and NIC do "
                          "nothing from then on."});
  table.push_back({.path = "fabric.cross_traffic",
                   .type = KeyType::list,
                   .doc =
                       "Background traffic for `fabric.model: flow`: a list of {from: h0, to: h1, rate: 10Gbps, size: "
                       "1GB, start: 1ms}; without a rate all that links give, without a size for ever."});
  return table;
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

/// `fabric.cross_traffic`: [{from: h0, to: h1, rate: 10Gbps, size: 1GB, start: 1ms}, ...].
void read_cross_traffic(const yaml::Node& node, Scenario& out) {
  const std::vector<yaml::Node>& items = list(node, "fabric.cross_traffic", "flows");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("fabric.cross_traffic[{}]", i);
    const KeyTable keys = {{.path = path + ".from", .least = 2, .most = 16},
                           {.path = path + ".to", .least = 2, .most = 16},
                           {.path = path + ".rate", .type = KeyType::rate, .least = 1'000, .most = 10'000'000'000'000},
                           {.path = path + ".size", .type = KeyType::size, .least = 1, .most = std::int64_t{1} << 60U},
                           {.path = path + ".start", .type = KeyType::duration}};
    const Settings s = read_settings(items[i], path + ".", keys);
    if (s.find(path + ".from") == s.end() || s.find(path + ".to") == s.end()) {
      refuse(items[i], path, "a map with the keys from and to");
    }
    fabric::CrossFlow flow{.from = host(s, path + ".from", out), .to = host(s, path + ".to", out)};
    if (flow.from == flow.to) refuse(items[i], path, "two different hosts");
    const auto number = [&](const char* key) {
      const auto value = s.find(path + key);
      return value == s.end() ? std::int64_t{0} : value->second.number;
    };
    flow.rate = {static_cast<std::uint64_t>(number(".rate"))};
    flow.size = {static_cast<std::uint64_t>(number(".size"))};
    flow.start = {number(".start")};
    out.network.flow.cross_traffic.push_back(flow);
  }
}

/// A platform file in place of a topology. Its hosts are counted by SimGrid.
void apply_platform(const Value& platform, const Settings& settings, Scenario& out) {
  refuse_beside_platform(settings);
  const std::filesystem::path beside = std::filesystem::path(out.file).parent_path() / platform.text;
  const std::string path = std::filesystem::exists(beside) ? beside.string() : platform.text;
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
  out.network.shape = topology::Star{out.nodes};
  out.topology = fabric::Topology::star;
}

/// `fabric.model: flow`, and what goes with it only.
void apply_flow_model(const Settings& settings, Scenario& out) {
  const Value& model = settings.find("fabric.model")->second;
  const auto platform = settings.find("platform");
  const bool has_platform = platform != settings.end() && platform->second.given;
  out.network.flow.enabled = model.text == "flow";
  if (!out.network.flow.enabled) {
    if (has_platform)
      throw text::InputError(platform->second.place, "platform", "fabric.model: flow with it", "packet");
    return;
  }
  if (!fabric::has_flow_model()) {
    throw text::InputError(model.place, "fabric.model", fmt::format("packet ({})", fabric::kNoFlowModel), "\"flow\"");
  }
  if (out.schedule != Schedule::timed) {
    throw text::InputError(model.place, "fabric.model", "packet, since events run in random order (schedule)",
                           "\"flow\"");
  }
  if (has_platform) apply_platform(platform->second, settings, out);
}

}  // namespace

void apply_network(const yaml::Node& root, const Settings& settings, Scenario& out) {
  const Value& nodes = settings.find("topology.nodes")->second;
  const Value& kind_value = settings.find("topology.kind")->second;
  const topology::Kind kind = topology::kind_of(kind_value.text).value();
  try {
    apply_flow_model(settings, out);
    const bool from_file = !out.network.flow.platform.empty();
    if (!from_file) out.network.shape = shape_of(root, settings, kind);
    const topology::Topology graph = topology::build(out.network.shape);
    out.nodes = graph.hosts();
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
    if (const yaml::Node* failures = yaml::find_at(root, "fabric.failures"); failures != nullptr) {
      read_failures(*failures, graph, out);
    }
    if (const yaml::Node* cross = yaml::find_at(root, "fabric.cross_traffic"); cross != nullptr) {
      read_cross_traffic(*cross, out);
    }
    const yaml::Node* section = root.find("fabric");
    check_fit(section != nullptr ? section->place : kind_value.place, out);
  } catch (const topology::TopologyError& error) {
    const topology::Problem& problem = error.problem();
    const auto value = settings.find("topology." + problem.key);
    throw text::InputError(value != settings.end() ? value->second.place : kind_value.place,
                           problem.key.empty() ? "topology" : "topology." + problem.key, problem.expected,
                           problem.found);
  }
}

}  // namespace loco::scenario
