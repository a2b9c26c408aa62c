// Limits of runs: what is told before a run, during it, and how long the telling is.
#include <algorithm>
#include <string>

#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco;

namespace {

scenario::Scenario scenario_of(const std::string& text) { return scenario::parse_scenario(text, "s.yaml"); }

/// What the run says that ends it; empty: it ends by itself.
std::string ended_by(const std::string& text) {
  try {
    (void)run(scenario_of(text));
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
auto lines(const std::string& text) { return 1 + std::ranges::count(text, '\n'); }

}  // namespace

TEST_CASE("what does not fit is told before the run, in one line, with what would take less") {
  // 16 hosts, 240 messages of 2^19 words, each accessed at both ends: at least 48 bytes for each access.
  const std::string load =
      "topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 4}\n"
      "workload: {kind: traffic, pattern: all_to_all, size: 4MiB}\nlimits: {memory: 1GiB}\n";
  const std::string told = ended_by(load + "trace: {level: subevents}\ncheck: [rdmawait]\n");
  CHECK(has(told, "limits.memory"));
  CHECK(has(told, "trace.level: none takes "));
  CHECK(lines(told) == 1);
  // Of 240 messages when each was posted; what is sent is zeroes, which no memory keeps.
  const std::uint64_t unrecorded = memory_at_least(scenario_of(load));
  CHECK(unrecorded >= 240U * 8);
  CHECK(unrecorded < 1U << 20U);
}

TEST_CASE("set-up is within the limits, of every kind of workload that scenarios can make large") {
  for (const char* const workload :
       {"kind: kvstore, key_space: 16GiB", "kind: kvstore, key_space: 16GiB, keys: zipfian",
        "kind: kvstore, key_space: 16GiB, store: rpc", "kind: kvstore, key_space: 16GiB, store: tree",
        "kind: kvstore, key_space: 16GiB, store: tcp, mix: insert", "kind: all_reduce, iterations: 100000000",
        "kind: barrier, iterations: 100000000, threads_per_node: 256", "kind: broadcast, iterations: 100000000",
        "kind: lock, iterations: 100000000", "kind: lookup, iterations: 100000000",
        "kind: message_passing, iterations: 100000000", "kind: mixed_size, iterations: 100000000",
        "kind: quickstart, iterations: 100000000", "kind: transactions, iterations: 100000000"}) {
    INFO(workload);
    const std::string told =
        ended_by("workload: {" + std::string(workload) + "}\ncheck: []\nlimits: {memory: 64MiB, wall_time: 60s}\n");
    CHECK(has(told, "(limits.memory)"));
    CHECK(lines(told) == 1);
  }
}

TEST_CASE("a run that takes more than its estimate ends with one line, and its trace is kept") {
  // A barrier's lower bound has no polling and no store buffers in it.
  const scenario::Scenario s =
      scenario_of("workload: {kind: barrier, iterations: 60000}\ntopology: {nodes: 4}\nlimits: {memory: 60MiB}\n");
  REQUIRE(memory_at_least(s) < std::uint64_t{60} << 20U);
  try {
    (void)run(s);
    FAIL("it fits");
  } catch (const RunError& error) {
    CHECK(has(error.what(), "has taken 60.0 MiB of memory (limits.memory)"));
    CHECK(lines(error.what()) == 1);
    REQUIRE(error.trace() != nullptr);
    CHECK(!error.trace()->subevents.empty());
    CHECK(!error.verdict());
  }
}

TEST_CASE("a run that takes longer than it may ends with one line") {
  const std::string told =
      ended_by("workload: {kind: barrier, iterations: 10000000}\ncheck: []\nlimits: {wall_time: 50ms, memory: 8GiB}\n");
  CHECK(has(told, "0.05 s (limits.wall_time)"));
  CHECK(lines(told) == 1);
}

TEST_CASE("loading a store, which takes no simulated time, is within the limits") {
  for (const char* const store : {"loco", "rpc", "tree", "tcp"}) {
    INFO(store);
    const std::string told =
        ended_by("topology: {nodes: 3}\nworkload: {kind: kvstore, key_space: 256MiB, store: " + std::string(store) +
                 "}\ncheck: []\ntrace: {level: none}\n" + "limits: {wall_time: 50ms, memory: 16GiB}\n");
    CHECK(has(told, "0.05 s (limits.wall_time)"));
  }
}

TEST_CASE("what every node keeps of each lock is part of the estimate") {
  for (const char* const workload : {"kind: kvstore, locks: 1000000", "kind: transactions, locks: 1000000"})
    CHECK(has(ended_by("topology: {nodes: 64}\nworkload: {" + std::string(workload) +
                       "}\ncheck: []\ntrace: {level: none}\nlimits: {memory: 400MiB}\n"),
              "the run would take 4"));
}

TEST_CASE("a report names ten threads and says how many more there are") {
  const std::string told =
      ended_by("topology: {nodes: 60}\nworkload: {kind: quickstart, iterations: 1}\nlimits: {events: 1000}\n");
  CHECK(has(told, "60 thread(s) have not ended"));
  CHECK(has(told, "\n  and 50 more threads"));
  CHECK(lines(told) == 12);
}

TEST_CASE("workloads for load record nothing unless somebody wants it") {
  for (const std::string kind : {"traffic", "lookup", "all_reduce"}) {
    INFO(kind);
    const std::string workload = "workload: {kind: " + kind + "}\n";
    CHECK(!scenario_of(workload).trace_subevents);
    CHECK(scenario_of(workload).check.empty());
    CHECK(!run(scenario_of(workload), {.interrupted = {}, .keep_trace = true}).trace);
    CHECK(scenario_of(workload + "check: [rdmawait]\n").trace_subevents);
    CHECK(scenario_of(workload + "trace: {path: t.trace}\n").check.size() == 3);
    CHECK(scenario_of(workload + "trace: {level: subevents}\n").check.size() == 3);
    CHECK(!scenario_of(workload + "check: []\n").trace_subevents);
  }
  CHECK(scenario_of("workload: {kind: barrier}\n").trace_subevents);
}

TEST_CASE("a switch that would drop every packet is refused") {
  const auto told = [](const std::string& fabric, const std::string& size = "1MiB") -> std::string {
    try {
      (void)scenario_of("fabric: {flow_control: drop_tail, " + fabric + "}\nworkload: {kind: traffic, size: " + size +
                        "}\nhardware: {base: cx5-roce-25g, link: {mtu: 4096, overhead: 82}}\n");
    } catch (const text::InputError& error) {
      return error.what();
    }
    return "";
  };
  // The first packet of a write: 4096 + 82 bytes and a RETH of 16 (IBTA 9.3.3); 33552 * 125 / 1000 = 4194.
  CHECK(has(told("buffer: {size: 33551B}"),
            "s.yaml:1:50: fabric.buffer.size: expected a queue that holds a packet of 4194 B"));
  CHECK(told("buffer: {size: 33552B}").empty());
  CHECK(has(told("buffer: {alpha: 1, size: 4MB}"), "fabric.buffer.size"));
  CHECK(has(told("buffer: {size: 4193B, alpha: 1000000}"), "one of 4193 B"));
  CHECK(told("buffer: {size: 1kB, alpha: 125}", "8B").empty());  // 8 + 82 + 16 bytes
  CHECK(has(told("buffer: {alpha: 1, size: 105kB}", "8B"), "a packet of 106 B"));
  // Of other workloads the short messages pass.
  CHECK_NOTHROW(
      scenario_of("fabric: {flow_control: drop_tail, buffer: {size: 20kB}}\nhardware: efa-srd-like\n"
                  "workload: {kind: message_passing, size: 4096B}\n"));
  // What passes alone is delivered.
  const RunResult result = run(scenario_of(
      "fabric: {flow_control: drop_tail, buffer: {size: 33552B}}\ntopology: {nodes: 2}\n"
      "workload: {kind: traffic, size: 4KiB}\nhardware: {base: cx5-roce-25g, link: {mtu: 4096, overhead: 82}}\n"));
  CHECK(result.operations_done == 1);
}
