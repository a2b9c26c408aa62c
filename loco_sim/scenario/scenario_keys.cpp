// The table of a scenario's keys. A new key is added here; the reader, messages and the reference page follow from it.
#include <array>
#include <fmt/format.h>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric_options.hpp"
#include "fabric/topology/kinds.hpp"
#include "loco_sim/scenario/network.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "nic_model/transport_options.hpp"
#include "options/rows.hpp"

namespace loco::scenario {

namespace {

constexpr std::array<std::string_view, 2> kModels = {"packet", "flow"};
constexpr std::array<std::string_view, 3> kSchedules = {"timed", "random", "adversarial"};
constexpr std::array<std::string_view, 3> kFastForward = {"off", "exact", "approximate"};
constexpr std::array<std::string_view, 2> kResolutions = {"ps", "ns"};
constexpr std::array<std::string_view, 3> kLevels = {"none", "subevents", "packets"};
constexpr std::array<std::string_view, 8> kChecks = {"rdmawait", "sv", "bal", "rbl", "msw", "lock", "kvstore", "tower"};

std::span<const std::string_view> all_fault_names() {
  static const auto kNames = [] {
    std::vector<std::string_view> names(nic::kFaultNames.begin(), nic::kFaultNames.end());
    names.insert(names.end(), workloads::kLibraryFaultNames.begin(), workloads::kLibraryFaultNames.end());
    return names;
  }();
  return kNames;
}

std::span<const Option> run_options() {
  static const auto kKindNames = [] {
    std::vector<std::string_view> names;
    for (const auto& kind : fabric::topology::kinds()) names.push_back(kind.name);
    return names;
  }();
  static const std::string kKindsDoc = [] {
    std::string doc;
    for (const auto& kind : fabric::topology::kinds())
      doc += fmt::format("{}{}: {}.", doc.empty() ? "" : " ", kind.name, kind.doc);
    return doc;
  }();
  static const auto kOptions = std::to_array<Option>({
      rows::text("name", {1, 128}, "What reports call the run; the file's name when left out."),
      rows::text("description", {0, 4096}, "For readers."),
      rows::integer("seed", 1, rows::kAny,
                    "Everything random in a run is drawn from it: the same scenario and seed give the same bytes."),
      rows::map("hardware", "cx5-roce-25g",
                "A hardware profile, by name or path, or a map that starts from one: {base: NAME, nic: {...}}."),
      rows::list(
          "hosts",
          "Hosts that differ: a list of {nodes: [0-15], hardware: cx7-ib-ndr, nics: 8, ports: 2, pcie: {sockets: 2, "
          "switches: [{name: a}]}, devices: [{kind: gpu, count: 8, switch: a}]}; see docs/hardware.md."),
      rows::file("platform", {1, 4096},
                 "A SimGrid platform file in place of `topology`, for `fabric.model: flow`: its hosts, in their order, "
                 "are the nodes. Looked for beside the scenario, then in the working directory."),
      rows::choice("topology.kind", "star", kKindNames, kKindsDoc),
      rows::integer("topology.nodes", 2, {2, 1024},
                    "star, ring: hosts (2 of a star, 4 of a ring when left out). Other kinds say by keys of their own "
                    "how many there are."),
  });
  return kOptions;
}

constexpr auto kModelOptions = std::to_array<Option>({
    rows::choice("fabric.model", "packet", kModels,
                 "packet: every packet is an event. flow: every message is a flow that shares links with others "
                 "max-min fairly (SimGrid); no losses, no queues. See docs/flow-model.md."),
});

/// Read by failures.cpp, path_mtu.cpp and network.cpp.
constexpr auto kNetworkLists = std::to_array<Option>({
    rows::list("fabric.failures",
               "What fails: a list of {link: [h0, s0], down: 1ms, up: 2ms, loss: 1000}, up later than down, loss in "
               "packets in a million, {host: h2, stops: 50us}, a node whose threads and NIC do nothing from then on, "
               "and {host: h2, pauses: 1ms, until: 2ms, class: 3}, a NIC that pauses its link."),
    rows::list("fabric.classes",
               "Traffic classes beside class 0: a list of {id: 3, flow_control: pfc, buffer: {...}, pfc: {...}, ecn: "
               "{...}, schedule: strict} or {weight: 3}; what is left out is as fabric says (docs/fabric.md)."),
    rows::list("fabric.path_mtu",
               "Hosts whose queue pairs have another path MTU than the links (hardware.link.mtu): a list of {host: h1, "
               "mtu: 1024B}. Between ends with different ones only messages of one packet pass (docs/queue-pairs.md)."),
    rows::list("fabric.cross_traffic",
               "Background traffic for `fabric.model: flow`: a list of {from: h0, to: h1, rate: 10Gbps, size: 1GB, "
               "start: 1ms}; without a rate all that links give, without a size for ever."),
});

constexpr auto kLinkOptions = std::to_array<Option>({
    rows::rate("fabric.link.rate", {1'000'000, 10'000'000'000'000},
               "Rate of every link; the hardware's (link.rate) when left out."),
    rows::duration("fabric.link.delay", {0, 1'000'000'000},
                   "Propagation over every link; the hardware's (link.delay) when left out."),
});

constexpr auto kWorkloadOptions = std::to_array<Option>({
    rows::map("workload", "What the hosts do: `kind` and the kind's parameters."),
    rows::list("workloads",
               "Several at once, in place of `workload`: a list of maps with a workload's keys and `name`, `nodes: "
               "[0-15, 20]` (all when left out), `start`, `class`, `ack_class`, `congestion` and `transport`. Of "
               "traffic, flows and collectives (docs/flows.md)."),
});

std::span<const Option> kind_options() {
  static const auto kKinds = [] {
    std::vector<std::string_view> kinds;
    for (const workloads::Workload& workload : workloads::all()) kinds.push_back(workload.kind);
    return kinds;
  }();
  static const std::array<Option, 1> kOptions = {
      Option{.key = "workload.kind", .type = Type::choice, .choices = kKinds}};
  return kOptions;
}

std::span<const Option> checking_options() {
  static const auto kOptions = std::to_array<Option>({
      rows::choice("schedule", "timed", kSchedules,
                   "Which pending event runs next. timed: the earliest; the only one whose times mean anything. "
                   "random: any, drawn from the seed: whatever the hardware's queues allow. adversarial: components "
                   "and threads are held back for long, at random."),
      rows::choices("faults", "[]", all_fault_names(), "Deliberate faults, to see the checkers find them."),
      rows::choice("trace.level", "subevents", kLevels,
                   "What is recorded. subevents: every library call and every access to memory. packets: also packets, "
                   "TLPs, doorbells and completions, for pictures. none: nothing, and the default of `check` is [] "
                   "then; another `check` or a `trace.path` beside it is refused. The workloads traffic, lookup and "
                   "all_reduce have none when neither this nor one of those is given."),
      rows::file("trace.path", {1, 4096},
                 "The file that `loco-sim run` writes the trace to; none when left out. Python's `run()` writes no "
                 "file, but for the workload programs."),
      rows::file("capture.path", {1, 4096},
                 "The file that `loco-sim run` writes the packets of all links to, as pcapng: Wireshark and tshark "
                 "read it. None when left out; Python's `run()` writes no file."),
      rows::list("capture.links", "The links that are captured, a direction each: [s0-h1, h1-s0]; all when left out."),
      rows::size("capture.payload", 64, {0, 1 << 20},
                 "Bytes of a packet's payload that are captured; its length on the link is said all the same."),
      rows::choice("capture.resolution", "ps", kResolutions, "Unit of the times in a capture."),
      rows::duration(
          "series.interval", {1'000, 1'000'000'000'000},
          "Links are looked at so often: how busy, how much waits; not at all when left out. Never changes a run."),
      rows::choices("check", "[rdmawait, sv, bal]", kChecks,
                    "The libraries whose memory models the run is checked against; [] for none. tower: also whether "
                    "what each of them promises is kept by the level below (`loco-sim check --tower`)."),
      rows::choice("sim.fast_forward", "off", kFastForward,
                   "Rounds of a collective, and the middle of long flows, that would only repeat what was before them "
                   "are left out, and their time is added: exact, behind equal times to the picosecond, in which "
                   "nothing was lost, marked or paused; approximate, behind rounds whose times differ by 0.2 % at "
                   "most, or flows of even rates. Runs that are traced, checked or captured, have a series or failures "
                   "are simulated whole; see docs/fast-forward.md."),
      rows::integer(
          "sim.threads", {1, 64},
          "Simulate parts of the network on so many threads (docs/parallel-runs.md): the result is the same for any "
          "number of them. When left out, one thread and no parts: events of equal time have another order."),
      rows::integer("limits.events", 10'000'000'000, rows::at_least(1),
                    "A run that takes more events is stopped with an error."),
      rows::size("limits.memory", rows::at_least(1 << 20),
                 "A run that takes more memory, from its set-up to the end of its checks, is stopped with an error, "
                 "and one that is known to need more is not begun; half of what the machine has free when left out."),
      rows::duration("limits.wall_time", rows::at_least(1'000'000'000),
                     "A run that takes longer, by the clock on the wall, is stopped with an error."),
      rows::map("sweep",
                "Dotted keys and the values they take (lists, ranges, random draws), one run for each combination; see "
                "docs/sweeps.md."),
  });
  return kOptions;
}

const workloads::Workload& known_workload(const std::string& kind) {
  const workloads::Workload* workload = workloads::find(kind);
  if (workload == nullptr) throw std::out_of_range("no workload " + kind);
  return *workload;
}

/// The table with the workload's groups in their place.
Table table_with(const Table& workload) {
  Table table = {{"", run_options()},
                 {"topology.", topology_options()},
                 {"", kModelOptions},
                 {"transport.", nic::transport_options()},
                 {"fabric.", fabric::fabric_options()},
                 {"", kNetworkLists},
                 {"", kLinkOptions}};
  table.insert(table.end(), workload.begin(), workload.end());
  table.push_back({"", checking_options()});
  return table;
}

}  // namespace

const Table& scenario_table() {
  static const Table kTable = table_with({{"", kWorkloadOptions}});
  return kTable;
}

Table scenario_table(const std::string& kind) {
  std::vector<Group> workload = {
      {"", kind_options()}, {"workload.", workload_options(kind)}, {"workload.", service_options()}};
  if (known_workload(kind).collective) workload.push_back({"", collective_options()});
  return table_with(workload);
}

std::span<const Option> collective_options() {
  static constexpr auto kOptions = std::to_array<Option>({
      rows::list("workload.sizes",
                 "A run for each of these sizes, in place of `size`, and a row for each as nccl-tests print them "
                 "(docs/collectives.md)."),
      rows::list(
          "workload.ranks",
          "The nodes in the order of their ranks, such as [0, 2, 1, 3] or [0-7]; all in their order when left out."),
  });
  return kOptions;
}

const Option& workload_kind_option() { return kind_options().front(); }

std::span<const Option> workload_options(const std::string& kind) { return known_workload(kind).params; }

std::vector<std::string> workload_kinds() {
  const auto kinds = workload_kind_option().choices;
  return {kinds.begin(), kinds.end()};
}

std::string workload_description(const std::string& kind) { return std::string(known_workload(kind).doc); }

std::vector<std::string> topology_kinds() {
  const auto names = find_option(scenario_table(), "topology.kind")->choices;
  return {names.begin(), names.end()};
}

std::vector<std::string> fault_names() { return {all_fault_names().begin(), all_fault_names().end()}; }

}  // namespace loco::scenario
