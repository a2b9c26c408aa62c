#include "loco_sim/scenario/workload_list.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "loco_sim/scenario/classes.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/transports.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "nic_model/delivery/transports.hpp"
#include "options/rows.hpp"
#include "sim/id_format.hpp"
#include "text/file.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::scenario {

namespace {

constexpr std::int64_t kThreadsMax = 4096;  // on all nodes together
constexpr const char* kList = "workloads";

/// Opens a file that a parameter names, beside the scenario or in the working directory.
void read_parameter_file(const Settings& settings, const std::string& path, const Option& spec,
                         workloads::Params& parameters, Scenario& out) {
  constexpr std::size_t kBytesMax = std::size_t{1} << 30U;
  const Value* const value = given(settings, path);
  if (value == nullptr) return;
  const std::string file = find_beside(out.file, value->text);
  if (!std::filesystem::is_regular_file(file))
    throw text::InputError(
        value->place, path, "a file",
        text::in_quotes(value->text) + (std::filesystem::exists(file) ? "" : ", which is not there"));
  parameters.set_file(spec.key, {file, text::read_file(file, kBytesMax)});
  out.inputs.push_back({std::string(spec.key), file});
}

void require_few_threads(const Value& value, const std::string& path, std::uint32_t nodes) {
  if (value.number * nodes <= kThreadsMax) return;
  throw text::InputError(value.place, path, fmt::format("at most {} threads on all nodes together", kThreadsMax),
                         fmt::format("{} on each of {}", value.number, nodes));
}

/// `memory: gpu1` is of hosts that have such a GPU, `numa1` of those with two sockets.
void require_memory(const Value& memory, const std::string& path, const Scenario& out) {
  const nic::RegionKind kind = workloads::memory_of_name(memory.number);
  if (!memory.given) return;
  for (const nic::HostId host : sim::IdRange<nic::HostId>(out.nodes)) {
    if (kind.numa >= out.hosts.sockets(host))
      throw text::InputError(
          memory.place, path,
          fmt::format("the memory of a socket that every host has (hosts: pcie.sockets): host {} has {}", host,
                      out.hosts.sockets(host)),
          text::in_quotes(memory.text));
    if (out.hosts.gpus(host) >= kind.gpu) continue;
    throw text::InputError(memory.place, path,
                           fmt::format("the memory of a GPU that every host has (hosts: devices): host {} has {}", host,
                                       out.hosts.gpus(host)),
                           text::in_quotes(memory.text));
  }
}

/// The keys of an entry besides those of its kind.
constexpr auto kPartOptions = std::to_array<Option>({
    rows::text("name", {1, 64}, "What results call it."),
    rows::list("nodes", "Its hosts."),
    rows::list("ranks", "Of collectives: the same."),
    rows::duration("start", 0, {0, 3'600'000'000'000'000}, "When it begins."),
    rows::map("transport", "Of its queue pairs; the run's when left out."),
});

/// Reads `5` or `0-15`.
void add_nodes(const yaml::Node& item, const std::string& path, std::uint32_t all, std::vector<NodeId>& out) {
  const std::string expected = fmt::format("a host from 0 to {}, or several as in 0-3", all - 1);
  const auto [first, last] = host_range(item, path, all, expected);
  for (NodeId n = first; n <= last; ++n) {
    if (std::ranges::find(out, n) != out.end()) refuse(item, path, fmt::format("each host once ({})", n));
    out.push_back(n);
  }
}

std::vector<NodeId> node_list(const yaml::Node& node, const std::string& path, std::uint32_t all) {
  std::vector<NodeId> nodes;
  const std::vector<yaml::Node>& items = list(node, path, "hosts");
  for (std::size_t i = 0; i < items.size(); ++i) add_nodes(items[i], fmt::format("{}[{}]", path, i), all, nodes);
  return nodes;
}

std::string kind_of(const yaml::Node& item, const std::string& path) {
  if (item.kind != yaml::Node::Kind::map) refuse(item, path, "a map with the key kind");
  const yaml::Node* const kind = item.find("kind");
  if (kind == nullptr) refuse(item, path, "a map with the key kind");
  return read_value(*kind, path + ".kind", workload_kind_option()).text;
}

void require_shared(const yaml::Node& item, const std::string& path, const PartWorkload& part) {
  const workloads::Workload& workload = *workloads::find(part.kind);
  if (workloads::shares_run(workload, part.parameters)) return;
  std::vector<std::string_view> kinds;
  for (const workloads::Workload& w : workloads::all())
    if (w.shares) kinds.push_back(w.kind);
  throw text::InputError(item.find("kind")->place, path + ".kind",
                         fmt::format("one that shares a run: {}{}", fmt::join(kinds, ", "),
                                     workload.shares ? "; this one with another algorithm" : ""),
                         text::in_quotes(part.kind));
}

std::string name_of(const Settings& settings, const std::string& prefix, const std::string& kind,
                    const std::vector<PartWorkload>& others) {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(others, [&](const PartWorkload& other) { return other.part.name == name; });
  };
  if (const Value* const name = given(settings, prefix + "name")) {
    if (taken(name->text))
      throw text::InputError(name->place, prefix + "name", "another name for each", text::in_quotes(name->text));
    return name->text;
  }
  std::string name = kind;
  for (std::size_t i = 2; taken(name); ++i) name = fmt::format("{}-{}", kind, i);
  return name;
}

/// Its transport has the operations that it posts.
void require_operations(const Settings& settings, const std::string& prefix, const PartWorkload& part,
                        const Scenario& out) {
  if (part.part.service.transport == 0 || part.kind != "flows") return;
  const nic::HardwareProfile own =
      nic::with_transport(out.hardware, out.transports[part.part.service.transport - std::size_t{1}]);
  const Value& operation = settings.find(prefix + "operation")->second;
  if (operation.text != "send" || nic::reliable_policy(own).operations.sends) return;
  throw text::InputError(operation.place, prefix + "operation",
                         fmt::format("one that the transport {} has: write, read", nic::reliable_name(own)),
                         "\"send\"");
}

PartWorkload read_part(yaml::Node item, const std::string& path, Scenario& out) {
  spell_out_transport(item);
  PartWorkload read;
  read.kind = kind_of(item, path);
  const std::string prefix = path + ".";
  const std::array<Option, 1> kind = {workload_kind_option()};
  std::array<Option, 1> of_part = kind;
  of_part[0].key = "kind";
  const Settings settings = read_settings(
      item, prefix,
      {{prefix, of_part}, {prefix, kPartOptions}, {prefix, service_options()}, {prefix, workload_options(read.kind)}});
  read.part.name = name_of(settings, prefix, read.kind, out.parts);
  if (const Value* const start = given(settings, prefix + "start")) read.part.start_ps = start->number;
  const workloads::Workload& workload = *workloads::find(read.kind);
  const yaml::Node* const named = item.find("nodes");
  const yaml::Node* const ranks = item.find("ranks");
  if (ranks != nullptr && !workload.collective) refuse(*ranks, prefix + "ranks", "nodes in its place: no collective");
  if (ranks != nullptr && named != nullptr) refuse(*ranks, prefix + "ranks", "nodes or ranks, one of both");
  if (named != nullptr) read.part.nodes = node_list(*named, prefix + "nodes", out.nodes);
  if (ranks != nullptr) read.part.nodes = node_list(*ranks, prefix + "ranks", out.nodes);
  const auto nodes = read.part.nodes.empty() ? out.nodes : static_cast<std::uint32_t>(read.part.nodes.size());
  if (nodes < workload.nodes_min || nodes > workload.nodes_max)
    throw text::InputError(
        item.place, prefix + "nodes",
        fmt::format("{} to {} nodes for the workload {}", workload.nodes_min, workload.nodes_max, read.kind),
        fmt::format("{}", nodes));
  read.parameters = read_parameters(settings, prefix, read.kind, nodes, out);
  read.part.service = read_service(item, settings, prefix, out);
  if (const yaml::Node* const transport = item.find("transport"))
    read.part.service.transport = read_own_transport(*transport, prefix + "transport", out);
  require_operations(settings, prefix, read, out);
  require_classes_of_flows(settings, prefix, read.kind, read.parameters, nodes, out);
  require_shared(item, path, read);
  return read;
}

}  // namespace

workloads::Params read_parameters(const Settings& settings, const std::string& prefix, const std::string& kind,
                                  std::uint32_t nodes, Scenario& out) {
  const workloads::Workload& workload = *workloads::find(kind);
  workloads::Params parameters(workload.params);
  for (const Option& spec : workload.params) {
    const std::string path = prefix + std::string(spec.key);
    if (spec.type == Type::text) {
      read_parameter_file(settings, path, spec, parameters, out);
      continue;
    }
    const Value& value = settings.find(path)->second;
    if (value.number % spec.multiple_of != 0)
      throw text::InputError(value.place, path, fmt::format("a multiple of {}", spec.multiple_of),
                             fmt::format("{}", value.number));
    parameters.set(spec.key, value.number);
    if (spec.key == "threads_per_node") require_few_threads(value, path, nodes);
    if (spec.key == "memory") require_memory(value, path, out);
  }
  if (workload.misfit == nullptr) return parameters;
  const auto misfit = workload.misfit(parameters, nodes);
  if (!misfit) return parameters;
  const std::string path = prefix + std::string(misfit->key);
  const auto said = settings.find(path);
  const Value value = said != settings.end() ? said->second : Value{};
  const Value& place = value.given ? value : settings.find(prefix + "kind")->second;
  throw text::InputError(place.place, path, misfit->expected,
                         value.text.empty() ? fmt::format("{}", value.number) : text::in_quotes(value.text));
}

std::vector<NodeId> read_ranks(const yaml::Node& node, std::uint32_t nodes) {
  std::vector<NodeId> ranks = node_list(node, "workload.ranks", nodes);
  if (ranks.size() < 2) refuse(node, "workload.ranks", "2 nodes or more");
  return ranks;
}

void read_sizes(const yaml::Node& node, Scenario& out) {
  constexpr std::size_t kMost = 64;
  const std::string path = "workload.sizes";
  const workloads::Workload& workload = *workloads::find(out.workload);
  const Option& size = *std::ranges::find(workload.params, std::string_view("size"), &Option::key);
  const std::vector<yaml::Node>& items = list(node, path, "sizes");
  if (items.empty() || items.size() > kMost) refuse(node, path, fmt::format("1 to {} sizes", kMost));
  if (!workloads::shares_run(workload, out.parameters)) refuse(node, path, "an algorithm beside it");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::int64_t bytes = read_value(items[i], at, size).number;
    if (bytes % size.multiple_of != 0) refuse(items[i], at, fmt::format("a multiple of {}", size.multiple_of));
    workloads::Params parameters = out.parameters;
    parameters.set("size", bytes);
    const auto ranks = static_cast<std::uint32_t>(out.ranks.empty() ? out.nodes : out.ranks.size());
    if (const auto misfit = workload.misfit(parameters, ranks)) refuse(items[i], at, misfit->expected);
    out.sizes.push_back(bytes);
  }
}

void read_workload_list(const yaml::Node& node, Scenario& out) {
  const std::vector<yaml::Node>& items = list(node, kList, "workloads");
  if (items.empty() || items.size() > workloads::kPartsMost)
    refuse(node, kList, fmt::format("1 to {} workloads", workloads::kPartsMost));
  for (std::size_t i = 0; i < items.size(); ++i)
    out.parts.push_back(read_part(items[i], fmt::format("{}[{}]", kList, i), out));
  out.workload = kList;
}

yaml::Node* find_workload(yaml::Node& root, std::string_view name) {
  yaml::Node* const all = root.find(kList);
  if (all == nullptr || all->kind != yaml::Node::Kind::list) return nullptr;
  for (yaml::Node& item : all->items) {
    const yaml::Node* const own = item.kind == yaml::Node::Kind::map ? item.find("name") : nullptr;
    if (own != nullptr && own->text == name) return &item;
  }
  return nullptr;
}

}  // namespace loco::scenario
