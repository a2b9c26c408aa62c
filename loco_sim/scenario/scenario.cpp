#include "loco_sim/scenario/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "loco_sim/scenario/classes.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/idle_options.hpp"
#include "loco_sim/scenario/network.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/transports.hpp"
#include "loco_sim/scenario/workload_list.hpp"
#include "nic_model/profile_options.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

/// The value of a setting that a check uses, with its place in the file.
const Value& at(const Settings& settings, std::string_view key) { return settings.find(key)->second; }

/// The workload's kind, which determines the keys of the rest.
std::string workload_kind(const yaml::Node& root) {
  const yaml::Node* workload = root.find("workload");
  if (workload == nullptr) throw text::InputError(root.place, "workload", "a map with the key kind", "nothing");
  if (workload->kind != yaml::Node::Kind::map) {
    throw text::InputError(workload->place, "workload", "a map with the key kind", workload->description());
  }
  const yaml::Node* kind = workload->find("kind");
  if (kind == nullptr) throw text::InputError(workload->place, "workload", "the key kind", "none");
  return read_value(*kind, "workload.kind", workload_kind_option()).text;
}

void apply_hardware(const yaml::Node& root, const Settings& settings, Scenario& out) {
  const yaml::Node* node = root.find("hardware");
  const Hardware hardware = node != nullptr ? read_hardware(*node) : load_hardware(kDefaultHardware);
  out.hardware = hardware.profile;
  out.hardware_name = hardware.name;
  for (const std::string& file : hardware.files) out.inputs.push_back({"hardware", file});
  const Value* rate = given(settings, "fabric.link.rate");
  const Value* delay = given(settings, "fabric.link.delay");
  if (const Value* link = rate != nullptr ? rate : delay; link != nullptr && out.hardware.link_ideal) {
    throw text::InputError(link->place, "fabric.link", "hardware with a network",
                           fmt::format("{}, which has none (link.ideal)", hardware.name));
  }
  if (rate != nullptr) out.hardware.link_rate = {static_cast<std::uint64_t>(rate->number)};
  if (delay != nullptr) out.hardware.link_delay = {delay->number};
  for (const std::string& name : out.faults) {
    const auto fault = std::find(nic::kFaultNames.begin(), nic::kFaultNames.end(), name);
    if (fault != nic::kFaultNames.end()) {
      out.hardware.faults.add(static_cast<nic::Fault>(fault - nic::kFaultNames.begin()));
    } else {
      const auto& names = workloads::kLibraryFaultNames;
      const auto library_fault = std::find(names.begin(), names.end(), name);
      out.library_faults.add(static_cast<workloads::LibraryFault>(library_fault - names.begin()));
    }
  }
}

void require_nodes(const Settings& settings, const std::string& kind, std::uint32_t nodes) {
  const workloads::Workload& workload = *workloads::find(kind);
  if (nodes >= workload.nodes_min && nodes <= workload.nodes_max) return;
  const Value& said = at(settings, "topology.nodes");
  throw text::InputError(
      said.given ? said.place : at(settings, "topology.kind").place, "topology.nodes",
      fmt::format("{} to {} nodes for the workload {}", workload.nodes_min, workload.nodes_max, kind),
      fmt::format("{}", nodes));
}

/// By default a workload that only makes load is not traced, unless the trace is used.
void apply_level(const Settings& settings, Scenario& out) {
  const Value* const check = given(settings, "check");
  const bool wanted = given(settings, "trace.path") != nullptr || (check != nullptr && !check->words.empty());
  const workloads::Workload* const workload = workloads::find(out.workload);  // several workloads are load
  const bool recorded =
      workload != nullptr && workload->recorded && (workload->load == nullptr || !workload->load(out.parameters));
  if (given(settings, "trace.level") != nullptr || wanted || recorded) return;
  out.settings.find("trace.level")->second.text = "none";
}

void apply_checks(const Settings& settings, Scenario& out) {
  apply_level(settings, out);
  const Value& check = at(settings, "check");
  for (const std::string& word : check.words) {
    trace::Library library{};
    if (trace::parse_library(word, library)) out.check.push_back(library);
    if (word == "tower") out.check_tower = true;
  }
  if (out.check_tower && out.check.empty())
    throw text::InputError(check.place, "check", "at least one library for the tower to stand on", "only \"tower\"");
  std::sort(out.check.begin(), out.check.end());
  const Value& level = out.settings.find("trace.level")->second;
  out.trace_subevents = level.text != "none";
  out.trace_activities = level.text == "packets";
  if (const Value* path = given(settings, "trace.path")) out.trace_path = path->text;
  if (!out.trace_subevents && !out.trace_path.empty()) {
    throw text::InputError(level.place, "trace.level", "subevents, since trace.path is given", "\"none\"");
  }
  if (!out.trace_subevents && !out.check.empty() && check.given) {
    throw text::InputError(level.place, "trace.level", "subevents, since the run is checked", "\"none\"");
  }
  if (out.trace_subevents) return;
  out.check.clear();
  out.check_tower = false;
  out.settings.find("check")->second.words.clear();
}

/// Adds lists that have readers of their own to the settings as text on one line.
void add_lists(const yaml::Node& root, const Table& table, Settings& settings) {
  for_each(table, [&](const std::string& path, const Option& option) {
    const yaml::Node* const node = option.type == Type::list ? yaml::find_at(root, path) : nullptr;
    if (node == nullptr) return;
    Value& value = settings[path];
    value.given = true;
    value.place = node->place;
    value.text = yaml::flow_text(*node);
  });
}

void require_map(const yaml::Node& root) {
  if (root.kind == yaml::Node::Kind::map) return;
  throw text::InputError(root.place, "", "a map of keys such as name, topology, workload", root.description());
}

/// `hardware: NAME` is short for `hardware: {base: NAME}`, so its fields can be set.
void set_key(yaml::Node& root, const std::string& key, const yaml::Node& value) {
  yaml::Node* const hardware = root.find("hardware");
  if (key.starts_with("hardware.") && hardware != nullptr && hardware->kind == yaml::Node::Kind::scalar) {
    yaml::Node map;
    map.kind = yaml::Node::Kind::map;
    map.place = hardware->place;
    map.entries.push_back({"base", hardware->place, *hardware});
    *hardware = std::move(map);
  }
  if (key.starts_with("transport.")) spell_out_transport(root);
  constexpr std::string_view kList = "workloads.";
  const std::size_t dot = key.find('.', kList.size());
  if (key.starts_with(kList) && dot != std::string::npos) {
    if (yaml::Node* const one = find_workload(root, std::string_view(key).substr(kList.size(), dot - kList.size()))) {
      const std::string_view own = std::string_view(key).substr(dot + 1);
      if (own.starts_with("transport.")) spell_out_transport(*one);
      return yaml::set_at(*one, own, value);
    }
  }
  yaml::set_at(root, key, value);
}

/// Reads everything except the sweep.
Scenario read_scenario(yaml::Node root, const std::string& file) {
  require_map(root);
  spell_out_transport(root);
  const yaml::Node* const several = root.find("workloads");
  if (several != nullptr && root.find("workload") != nullptr)
    throw text::InputError(several->place, "workloads", "workload or workloads, one of both", "both");
  const std::string kind = several != nullptr ? "" : workload_kind(root);
  const Table table = several != nullptr ? scenario_table() : scenario_table(kind);
  Settings settings = read_settings(root, "", table, Fill::defaults, {{"hardware.", nic::profile_options()}});
  add_lists(root, table, settings);
  Scenario out;
  out.file = file;
  out.settings = settings;
  const Value* name = given(settings, "name");
  out.name = name != nullptr ? name->text : std::filesystem::path(file).stem().string();
  if (const Value* text = given(settings, "description")) out.description = text->text;
  out.seed = static_cast<std::uint64_t>(at(settings, "seed").number);
  out.schedule = static_cast<Schedule>(at(settings, "schedule").number);
  out.fast_forward = static_cast<FastForward>(at(settings, "sim.fast_forward").number);
  out.faults = at(settings, "faults").words;
  out.events_max = static_cast<std::uint64_t>(at(settings, "limits.events").number);
  take(settings, "sim.threads", out.threads);
  take(settings, "limits.memory", out.memory_max);
  take(settings, "limits.wall_time", out.wall_time_max);
  apply_hardware(root, settings, out);
  read_transport(root, settings, out);
  apply_network(root, settings, out);
  if (several == nullptr) require_nodes(settings, kind, out.nodes);
  require_network_that_fits(root, settings, out);
  if (several != nullptr) {
    read_workload_list(*several, out);
  } else {
    out.workload = kind;
    const yaml::Node* const ranks = root.find("workload")->find("ranks");
    if (ranks != nullptr && workloads::find(kind)->collective) out.ranks = read_ranks(*ranks, out.nodes);
    const auto nodes = static_cast<std::uint32_t>(out.ranks.empty() ? out.nodes : out.ranks.size());
    out.parameters = read_parameters(settings, "workload.", kind, nodes, out);
    if (!out.ranks.empty() && !workloads::shares_run(*workloads::find(kind), out.parameters))
      refuse(*ranks, "workload.ranks", "an algorithm beside it");
    out.service = read_service(*root.find("workload"), settings, "workload.", out);
    require_classes_of_flows(settings, "workload.", kind, out.parameters, out.nodes, out);
    const yaml::Node* const sizes = root.find("workload")->find("sizes");
    if (sizes != nullptr && workloads::find(kind)->collective) read_sizes(*sizes, out);
  }
  refuse_dropping_all(settings, out);
  const auto atomics = several != nullptr ? nullptr : workloads::find(kind)->atomics;
  if (atomics != nullptr && atomics(out.parameters) && out.hardware.nic_atomic_cap == nic::AtomicCap::none) {
    const yaml::Node* hardware = root.find("hardware");
    throw text::InputError(hardware != nullptr ? hardware->place : root.place, "hardware",
                           fmt::format("a NIC with remote atomics for the workload {}", kind),
                           fmt::format("{}, which has none (nic.atomic_cap)", out.hardware_name));
  }
  apply_checks(settings, out);
  take(settings, "series.interval", out.series_interval);
  if (out.series_interval.ps > 0 && out.network.model == fabric::Model::flow) {
    throw text::InputError(at(settings, "series.interval").place, "series.interval",
                           "fabric.model: packet with it: flows have no queues to look at", "flow");
  }
  return out;
}

Scenario from_document(yaml::Node root, const std::string& file, const std::vector<Override>& overrides) {
  if (root.kind != yaml::Node::Kind::null) require_map(root);
  for (const Override& o : overrides) {
    const std::string source = o.argument.empty() ? fmt::format("--set {}={}", o.key, o.value) : o.argument;
    set_key(root, o.key, yaml::parse_override(o.value, source));
  }
  Scenario out = read_scenario(root, file);
  if (const yaml::Node* sweep = root.find("sweep"); sweep != nullptr && sweep->kind != yaml::Node::Kind::null) {
    yaml::Node base = root;
    std::erase_if(base.entries, [](const yaml::Entry& entry) { return entry.key == "sweep"; });
    out.sweep = read_sweep(*sweep, [&](const std::string& key, const yaml::Node& value) {
      yaml::Node trial = base;
      set_key(trial, key, value);
      static_cast<void>(read_scenario(trial, file));
    });
  }
  return out;
}

}  // namespace

Scenario load_scenario(const std::string& path_or_name, const std::vector<Override>& overrides) {
  const std::string file = find_scenario(path_or_name);
  return from_document(yaml::load_document(file), file, overrides);
}

Scenario parse_scenario(const std::string& text, const std::string& file, const std::vector<Override>& overrides) {
  return from_document(yaml::parse_document(text, file), file, overrides);
}

Override parse_set(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw text::InputError({"--set " + argument, 0, 0}, "", "key=value", text::in_quotes(argument));
  }
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

}  // namespace loco::scenario
