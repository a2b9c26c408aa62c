// What the hosts of a simulated cluster do: workloads by kind, each with a table of typed parameters.
//
// The table is the one source for reading scenarios, for `list workloads`, the schema and the reference page. A
// workload's programs are plain blocking LOCO code. Results are samples of simulated time, by what was measured.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/faults.hpp"
#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/part.hpp"
#include "options/option.hpp"
#include "sim/counters.hpp"

namespace loco::workloads {

/// A file that a parameter names.
struct LoadedFile {
  std::string path;
  std::string text;
};

/// The values of a workload's parameters; starts as the defaults.
class Params {
 public:
  explicit Params(std::span<const options::Option> specs);
  /// Throws std::invalid_argument for an unknown key, a value out of range or no multiple of what it should be.
  void set(std::string_view key, std::int64_t value);
  /// Throws std::invalid_argument for an unknown key.
  [[nodiscard]] std::int64_t get(std::string_view key) const;
  [[nodiscard]] std::uint32_t count(std::string_view key) const { return static_cast<std::uint32_t>(get(key)); }
  /// What is in the file that the parameter names. Throws as above.
  void set_file(std::string_view key, LoadedFile file);
  /// Null when none was named.
  [[nodiscard]] const LoadedFile* file(std::string_view key) const;

 private:
  [[nodiscard]] std::size_t index(std::string_view key) const;

  std::span<const options::Option> specs_;
  std::vector<std::int64_t> values_;
  std::map<std::size_t, LoadedFile> files_;  // by index
};

/// The times that one kind of operation took, in order of completion.
struct OperationTimes {
  std::string name;
  std::vector<std::int64_t> samples_ps;
  std::vector<std::int64_t> ends_ps;  ///< when each of them ended, since the run began
  /// One operation gives so many of these times: a barrier one for each thread. 0: each is a part of another operation.
  std::uint32_t samples_each = 1;
  [[nodiscard]] std::uint64_t operations() const { return samples_each == 0 ? 0 : samples_ps.size() / samples_each; }
};
inline constexpr std::uint32_t kPartOfAnother = 0;

/// What nccl-tests make of a collective's time: algbw is its size over its time, busbw that times a factor which makes
/// it the rate of the busiest port, whatever the number of ranks (PERFORMANCE.md of github.com/NVIDIA/nccl-tests).
struct BusBandwidth {
  std::uint64_t bytes = 0;  ///< of the collective; 0: the workload is none
  std::uint64_t times = 1;
  std::uint64_t over = 1;
};

struct Results {
  std::vector<OperationTimes> operations;
  std::vector<flows::FlowRecord> flows;  ///< of workloads that have flows
  BusBandwidth bus;
  sim::Counters counters;
  std::vector<std::string> promises;  ///< names of the counters that must be 0: what the workload checks itself
  std::int64_t first_start_ps = 0;    ///< of all measured operations
  std::int64_t last_end_ps = 0;
  std::int64_t left_out_ps =
      0;  ///< of simulated time, in rounds that need not be simulated (ClusterConfig::fast_forward)
  struct Failure {
    NodeId node = 0;
    Completion completion;
  };
  std::map<std::string, Failure, std::less<>> failures;  ///< by counter: the first one

  /// Adds a sample of an operation that ran from `start_ps` to `end_ps`.
  void add(std::string_view operation, std::int64_t start_ps, std::int64_t end_ps, std::uint32_t samples_each = 1);
  /// All nodes have left out so many rounds, and this time: in the counter `rounds_left_out`.
  void leave_out(std::uint32_t rounds, std::int64_t time_ps);
  /// Adds to a counter of things that may not happen; adding 0 says that they were looked for.
  void promise(std::string_view counter, std::uint64_t broken);
  /// An operation of `node` failed, for which the counter counts: the first one is told with it, and rather one that
  /// failed by itself than one that was flushed for another's sake.
  void note_failure(std::string_view counter, NodeId node, const Completion& failed);
  /// "lost_updates: 3" for each promise that was not kept; "failed_messages: 3 (first: node 1: put to node 2 failed:
  /// transport retry counter exceeded)" where it is known why.
  [[nodiscard]] std::vector<std::string> broken() const;
  /// Null when nothing of that name was measured.
  [[nodiscard]] const OperationTimes* find(std::string_view operation) const;
  /// What a user calls an operation: a section, a broadcast, a barrier. Their parts are not counted again.
  [[nodiscard]] std::uint64_t operations_done() const;
};

/// What a workload's programs are started with. Outlives the run. `hosts` is for workloads that may be one of several;
/// others have the whole cluster.
struct Setup {
  SimulatedCluster& cluster;
  WorkloadHosts& hosts;
  const Params& params;
  LibraryFaults faults;
  Results& results;
  std::function<void()>* at_end = nullptr;  ///< to be set by who starts the programs: is called when the run has ended
};

/// A parameter that does not go with the others.
struct Misfit {
  std::string_view key;
  std::string expected;  ///< in place of its value
};

/// How a workload runs in parts of a machine (nic_model/parts.hpp), whose hosts have nothing in common then but
/// messages and where they gather (gathering.hpp).
struct InParts {
  std::string_view (*not_because)(const Params&) = nullptr;  ///< why not with these parameters; null, empty: it does
  /// What the parts have measured, together, of hosts that are in these parts. Nothing where a run on one thread has to
  /// tell what went wrong. Null: it never runs in parts.
  std::optional<Results> (*merge)(const std::vector<Results>& parts, const std::vector<std::uint8_t>& part_of,
                                  const Params& params) = nullptr;
};

struct Workload {
  std::string_view kind;
  std::string_view doc;
  std::span<const options::Option> params;
  std::uint32_t nodes_min;
  std::uint32_t nodes_max;
  /// Spawns the programs; they refer to `setup` while the cluster runs.
  void (*start)(const Setup& setup);
  /// Does it need a NIC with remote atomics? Null: never.
  bool (*atomics)(const Params&) = nullptr;
  /// What is wrong with parameters, and a number of nodes, that are good each for itself. Null: nothing.
  std::optional<Misfit> (*misfit)(const Params&, std::uint32_t nodes) = nullptr;
  /// Work requests that a thread which takes its completions itself has under way towards one node at most: it cannot
  /// wait for room in a send queue. Null: nodes have polling threads, which make room.
  std::uint32_t (*send_queue)(const Params&) = nullptr;
  /// Are its runs recorded and checked when the scenario does not say? Not those that are there for load: a trace takes
  /// some hundred bytes for each word that goes over the network.
  bool recorded = true;
  /// With parameters that make a load of it? Null: with none.
  bool (*load)(const Params&) = nullptr;
  /// May it be one of several in a run, with parameters that make a load of it? Then it has to do with its `hosts`
  /// only.
  bool shares = false;
  /// Is it a collective, whose bandwidth nccl-tests count, with the parameters `size` and `algorithm`?
  bool collective = false;
  InParts in_parts{};
};

/// All of them, in the order of their documentation.
[[nodiscard]] std::span<const Workload> all();
/// Null when there is no such kind.
[[nodiscard]] const Workload* find(std::string_view kind);

/// What a run takes at least, in things that take memory.
struct Footprint {
  double bytes = 0;       ///< that its programs keep or touch
  double operations = 0;  ///< measured, each with when it began and ended
  double calls = 0;       ///< in a trace
  double accesses = 0;    ///< in a trace
};
[[nodiscard]] Footprint footprint(const Workload& workload, const Params& params, std::uint32_t nodes);

/// May it be one of several in a run?
[[nodiscard]] bool shares_run(const Workload& workload, const Params& params);

/// Entries of each send queue that it needs.
[[nodiscard]] std::uint32_t send_queue_entries(const Workload& workload, const Params& params);

/// Starts a workload on a fresh cluster and runs it to its end. Throws std::invalid_argument when the cluster has too
/// few or too many nodes, or send queues that are too short, and what SimulatedCluster::run() throws. `ranks`: of one
/// that may share a run, its nodes in their order; empty: all.
[[nodiscard]] Results run(const Workload& workload, const Params& params, SimulatedCluster& cluster,
                          LibraryFaults faults = {}, std::vector<NodeId> ranks = {});

/// One of several in a run.
struct Job {
  const Workload* workload = nullptr;
  const Params* params = nullptr;
  Part part{};
};
/// The same for several that begin on one cluster: what each of them measured. Their parts are numbered here. Throws
/// std::invalid_argument for a workload that shares no run, too.
[[nodiscard]] std::vector<Results> run_together(std::vector<Job> jobs, SimulatedCluster& cluster);

}  // namespace loco::workloads
