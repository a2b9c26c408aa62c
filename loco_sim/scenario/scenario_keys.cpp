// The table of a scenario's keys. Whoever adds a key adds it here; reading, messages and the reference page follow.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/kinds.hpp"
#include "loco_sim/scenario/network.hpp"
#include "loco_sim/scenario/scenario.hpp"

namespace loco::scenario {

std::vector<std::string> topology_kinds() {
  std::vector<std::string> names;
  for (const auto& kind : fabric::topology::kinds()) names.emplace_back(kind.name);
  return names;
}

namespace {

std::string topology_kinds_doc() {
  std::string doc;
  for (const auto& kind : fabric::topology::kinds()) {
    doc += std::string(doc.empty() ? "" : " ") + std::string(kind.name) + ": " + std::string(kind.doc) + ".";
  }
  return doc;
}

/// The table with the keys of the network after those that every topology and every fabric has.
KeyTable with_network(KeyTable table) {
  const auto after = [&](std::string_view path, const KeyTable& keys) {
    const auto at = std::find_if(table.begin(), table.end(), [&](const Key& k) { return k.path == path; });
    table.insert(at + 1, keys.begin(), keys.end());
  };
  after("topology.nodes", topology_parameter_keys());
  after("fabric.model", fabric_keys());
  return table;
}

}  // namespace

const KeyTable& scenario_keys() {
  static const KeyTable kTable = with_network({
      {.path = "name", .least = 1, .most = 128, .doc = "What reports call the run; the file's name when left out."},
      {.path = "description", .most = 4096, .doc = "For readers."},
      {.path = "seed",
       .type = KeyType::integer,
       .fallback = "1",
       .doc = "Everything random in a run is drawn from it: the same scenario and seed give the same bytes."},
      {.path = "hardware",
       .type = KeyType::subtree,
       .fallback = "cx5-roce-25g",
       .doc = "A hardware profile, by name or path, or a map that starts from one: {base: NAME, nic: {...}}."},
      {.path = "platform",
       .least = 1,
       .most = 4096,
       .doc =
           "A SimGrid platform file in place of `topology`, for `fabric.model: flow`: its hosts, in their order, are "
           "the nodes. Looked for beside the scenario, then in the working directory.",
       .file = true},
      {.path = "topology.kind",
       .type = KeyType::choice,
       .fallback = "star",
       .choices = topology_kinds(),
       .doc = topology_kinds_doc()},
      {.path = "topology.nodes",
       .type = KeyType::integer,
       .fallback = "2",
       .least = 2,
       .most = 1024,
       .doc =
           "star, ring: hosts (2 of a star, 4 of a ring when left out). Other kinds say by keys of their own how many "
           "there are."},
      {.path = "fabric.model",
       .type = KeyType::choice,
       .fallback = "packet",
       .choices = {"packet", "flow"},
       .doc = "packet: every packet is an event. flow: every message is a flow that shares links with others max-min "
              "fairly (SimGrid); no losses, no queues. See docs/flow-model.md."},
      {.path = "fabric.link.rate",
       .type = KeyType::rate,
       .least = 1'000'000,
       .most = 10'000'000'000'000,
       .doc = "Rate of every link; the hardware's (link.rate) when left out."},
      {.path = "fabric.link.delay",
       .type = KeyType::duration,
       .most = 1'000'000'000,
       .doc = "Propagation over every link; the hardware's (link.delay) when left out."},
      {.path = "workload", .type = KeyType::subtree, .doc = "What the hosts do: `kind` and the kind's parameters."},
      {.path = "schedule",
       .type = KeyType::choice,
       .fallback = "timed",
       .choices = {"timed", "random", "adversarial"},
       .doc =
           "Which pending event runs next. timed: the earliest; the only one whose times mean anything. random: any, "
           "drawn from the seed: whatever the hardware's queues allow. adversarial: components and threads are held "
           "back for long, at random."},
      {.path = "faults",
       .type = KeyType::choices,
       .fallback = "[]",
       .choices = fault_names(),
       .doc = "Deliberate faults, to see the checkers find them."},
      {.path = "trace.level",
       .type = KeyType::choice,
       .fallback = "subevents",
       .choices = {"none", "subevents", "packets"},
       .doc =
           "What is recorded. subevents: every library call and every access to memory. packets: also packets, TLPs, "
           "doorbells and completions, for pictures. none: nothing, and the default of `check` is [] then; another "
           "`check` or a `trace.path` beside it is refused. The workloads traffic and lookup have none when neither "
           "this nor one of those is given."},
      {.path = "trace.path",
       .least = 1,
       .most = 4096,
       .doc = "The file that `loco-sim run` writes the trace to; none when left out. Python's `run()` writes no file.",
       .file = true},
      {.path = "series.interval",
       .type = KeyType::duration,
       .least = 1'000,
       .most = 1'000'000'000'000,
       .doc = "Links are looked at so often: how busy, how much waits; not at all when left out. Never changes a run."},
      {.path = "check",
       .type = KeyType::choices,
       .fallback = "[rdmawait, sv, bal]",
       .choices = {"rdmawait", "sv", "bal", "rbl", "msw", "lock", "kvstore", "tower"},
       .doc = "The libraries whose memory models the run is checked against; [] for none. tower: also whether what "
              "each of them promises is kept by the level below (`loco-sim check --tower`)."},
      {.path = "limits.events",
       .type = KeyType::integer,
       .fallback = "10000000000",
       .least = 1,
       .doc = "A run that takes more events is stopped with an error."},
      {.path = "limits.memory",
       .type = KeyType::size,
       .least = 1 << 20,
       .doc = "A run that takes more memory, from its set-up to the end of its checks, is stopped with an error, and "
              "one that is known to need more is not begun; half of what the machine has free when left out."},
      {.path = "limits.wall_time",
       .type = KeyType::duration,
       .least = 1'000'000'000,
       .doc = "A run that takes longer, by the clock on the wall, is stopped with an error."},
      {.path = "sweep",
       .type = KeyType::subtree,
       .doc = "Dotted keys and the values they take (lists, ranges, random draws), one run for each combination; see "
              "docs/sweeps.md."},
  });
  return kTable;
}

}  // namespace loco::scenario
