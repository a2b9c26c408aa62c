#include "loco_sim/cli/exec_scenario.hpp"

#include <fmt/format.h>

#include "exec/run.hpp"
#include "fabric/topology/topology.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/programs.hpp"
#include "options/units.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::cli {

namespace {

using yaml::Node;

constexpr const char* kPath = "workload.hosts";

std::vector<std::string> command(const Node& node, const std::string& path) {
  if (node.kind != Node::Kind::list || node.items.empty())
    throw text::InputError(node.place, path, "a program and its arguments: [ib_send_bw, -a]", node.description());
  std::vector<std::string> words;
  for (const Node& item : node.items) {
    if (item.kind != Node::Kind::scalar) throw text::InputError(item.place, path, "a word", item.description());
    words.push_back(item.text);
  }
  return words;
}

/// `[ib_send_bw, -a]`, or `{run: [ib_send_bw, -a], after: 1ms, env: {KEY: value}}`.
exec::ProgramSpec program(const Node& node, const std::string& path) {
  if (node.kind == Node::Kind::list) return {.command = command(node, path)};
  if (node.kind != Node::Kind::map)
    throw text::InputError(node.place, path, "a list of words, or a map with the key run", node.description());
  exec::ProgramSpec out;
  for (const yaml::Entry& entry : node.entries) {
    const std::string key = path + "." + entry.key;
    if (entry.key == "run") {
      out.command = command(entry.value, key);
    } else if (entry.key == "after") {
      const auto time = entry.value.kind == Node::Kind::scalar
                            ? options::parse_quantity(entry.value.text, options::Type::duration)
                            : std::nullopt;
      if (!time || *time < 0)
        throw text::InputError(entry.value.place, key, "a time such as 1ms", entry.value.description());
      out.after = sim::Duration{*time};
    } else if (entry.key == "env") {
      if (entry.value.kind != Node::Kind::map)
        throw text::InputError(entry.value.place, key, "a map of variables", entry.value.description());
      for (const yaml::Entry& variable : entry.value.entries)
        out.environment.emplace_back(variable.key, variable.value.text);
    } else {
      throw text::InputError(entry.key_place, path, "one of the keys run, after, env", text::in_quotes(entry.key));
    }
  }
  if (out.command.empty()) throw text::InputError(node.place, path, "the key run", "none");
  return out;
}

std::vector<exec::ProgramSpec> programs(const Node& workload, std::uint32_t nodes) {
  const Node* const hosts = workload.find("hosts");
  if (hosts == nullptr || hosts->kind != Node::Kind::map || hosts->entries.empty())
    throw text::InputError(hosts == nullptr ? workload.place : hosts->place, kPath,
                           "a map from hosts to programs: {0: [ib_send_bw, -a]}",
                           hosts == nullptr ? "nothing" : hosts->description());
  for (const yaml::Entry& entry : workload.entries)
    if (entry.key != "kind" && entry.key != "hosts")
      throw text::InputError(entry.key_place, "workload", "one of the keys kind, hosts", text::in_quotes(entry.key));
  std::vector<exec::ProgramSpec> out(nodes);
  for (const yaml::Entry& entry : hosts->entries) {
    const auto host = text::parse_integer(entry.key);
    if (!host || *host < 0 || *host >= nodes)
      throw text::InputError(entry.key_place, kPath, fmt::format("a host from 0 to {}", nodes - 1),
                             text::in_quotes(entry.key));
    out[static_cast<std::size_t>(*host)] = program(entry.value, fmt::format("{}.{}", kPath, entry.key));
  }
  return out;
}

/// Of the links that change, those at NICs of hosts.
std::vector<exec::PortChange> port_changes(const scenario::Scenario& s) {
  std::vector<exec::PortChange> out;
  if (s.network.changes.empty()) return out;
  const fabric::topology::Topology graph = fabric::topology::build(s.network.shape);
  const std::vector<nic::NicPlace> further = nic::further_nics(s.hosts);
  for (const fabric::LinkChange& change : s.network.changes) {
    // Programs see the first port of each NIC.
    for (std::uint32_t nic = 0; nic < s.nodes + further.size(); ++nic) {
      if (fabric::topology::cable_of(graph.out(nic, 0)) != change.cable) continue;
      const nic::NicPlace place = nic < s.nodes ? nic::NicPlace{nic::HostId(nic), 0} : further.at(nic - s.nodes);
      out.push_back({.host = place.host.index(), .nic = place.index, .at = change.at, .up = change.up});
    }
  }
  return out;
}

/// Refuses what only runs of other workloads have.
void refuse_other_keys(const scenario::Scenario& s, const Node& root) {
  constexpr const char* kOther[] = {"capture.path",    "capture.links", "capture.payload", "capture.resolution",
                                    "series.interval", "sim.threads",   "sim.fast_forward"};
  const auto refuse = [](const scenario::Value& value, const char* key, const char* expected) {
    throw text::InputError(value.place, key, expected,
                           value.text.empty() ? std::string("a value") : text::in_quotes(value.text));
  };
  for (const char* const key : kOther)
    if (const scenario::Value* const value = scenario::given(s.settings, key))
      refuse(*value, key, "no such key beside programs");
  if (s.schedule != Schedule::timed)
    refuse(s.settings.at("schedule"), "schedule", "timed, since programs run in simulated time");
  if (const scenario::Value* const level = scenario::given(s.settings, "trace.level");
      level != nullptr && level->text != "subevents")
    refuse(*level, "trace.level", "subevents, which is what traces of programs have");
  if (const Node* const check = root.find("check"); check != nullptr && !check->items.empty())
    throw text::InputError(check->place, "check", "[], since programs are no LOCO programs", check->description());
}

}  // namespace

bool runs_programs(const std::string& path_or_name) {
  try {
    return scenario::programs_workload(yaml::load_document(scenario::find_scenario(path_or_name))) != nullptr;
  } catch (const text::InputError&) {
    return false;
  }
}

ProgramsScenario load_programs(const std::string& path_or_name, const std::vector<scenario::Override>& overrides) {
  const Node root = yaml::load_document(scenario::find_scenario(path_or_name));
  const Node* const workload = scenario::programs_workload(root);
  if (workload == nullptr)
    throw text::InputError(root.place, "workload", "{kind: programs, hosts: {0: [PROGRAM, ARGUMENT]}}",
                           "another workload");
  // The rest of the scenario is read as ever, with a workload that has no wishes of its own.
  std::vector<scenario::Override> all = {{"workload", "{kind: traffic}"}, {"check", "[]"}};
  all.insert(all.end(), overrides.begin(), overrides.end());
  const scenario::Scenario s = scenario::load_scenario(path_or_name, all);
  if (s.network.model == fabric::Model::flow)
    throw text::InputError(root.place, "fabric.model", "packet, since programs see packets", "flow");
  if (s.nodes > exec::kProgramsMax)
    throw text::InputError(root.place, "topology.nodes", fmt::format("at most {} hosts", exec::kProgramsMax),
                           fmt::format("{}", s.nodes));
  refuse_other_keys(s, root);
  ProgramsScenario out{.options = {}, .trace_path = s.trace_path};
  exec::Options& o = out.options;
  o.programs = programs(*workload, s.nodes);
  o.system.profile = s.hardware;
  o.system.topology = s.topology;
  o.system.network = s.network;
  o.system.nodes = s.nodes;
  o.system.hosts = s.hosts;
  o.system.path_mtu = s.path_mtu;
  for (const NodeStop& stop : s.stops) o.stops.emplace_back(stop.node, stop.at);
  o.ports = port_changes(s);
  o.infiniband = s.hardware_name.find("-ib-") != std::string::npos;
  o.seed = s.seed;
  o.events_max = s.events_max;
  o.memory_max = s.memory_max;
  o.wall_seconds_max = static_cast<double>(s.wall_time_max.ps) * 1e-12;
  return out;
}

}  // namespace loco::cli
