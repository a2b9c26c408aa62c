// What the hosts of a simulated cluster do: workloads by kind, each with a table of typed parameters.
//
// The table is the only source for reading scenarios, `list workloads`, the schema and the reference page. A workload's
// programs are plain blocking LOCO code. Results are samples of simulated time, by what was measured.
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

/// The values of a workload's parameters, initially the defaults.
class Params {
 public:
  explicit Params(std::span<const options::Option> specs);
  /// Throws std::invalid_argument for an unknown key, or a value that is out of range or not a required multiple.
  void set(std::string_view key, std::int64_t value);
  /// Throws std::invalid_argument for an unknown key.
  [[nodiscard]] std::int64_t get(std::string_view key) const;
  [[nodiscard]] std::uint32_t count(std::string_view key) const { return static_cast<std::uint32_t>(get(key)); }
  [[nodiscard]] std::uint64_t amount(std::string_view key) const { return static_cast<std::uint64_t>(get(key)); }
  /// Sets the content of the file that the parameter names. Throws as set() does.
  void set_file(std::string_view key, LoadedFile file);
  /// Null if no file was given.
  [[nodiscard]] const LoadedFile* file(std::string_view key) const;

 private:
  [[nodiscard]] std::size_t index(std::string_view key) const;

  std::span<const options::Option> specs_;
  std::vector<std::int64_t> values_;
  std::map<std::size_t, LoadedFile> files_;  // by index of the parameter
};

/// The times of one kind of operation, in order of completion.
struct OperationTimes {
  std::string name;
  std::vector<std::int64_t> samples_ps;
  std::vector<std::int64_t> ends_ps;  ///< when each of them ended, since the start of the run
  /// Number of these times per operation: a barrier has one for each thread. 0: each is a part of another operation.
  std::uint32_t samples_each = 1;
  [[nodiscard]] std::uint64_t operations() const { return samples_each == 0 ? 0 : samples_ps.size() / samples_each; }
};
inline constexpr std::uint32_t kPartOfAnother = 0;

/// A collective's bandwidth as nccl-tests compute it: algbw is its size over its time; busbw is that times a factor
/// that makes it the rate of the busiest port for any number of ranks (PERFORMANCE.md of github.com/NVIDIA/nccl-tests).
struct BusBandwidth {
  std::uint64_t bytes = 0;  ///< size of the collective; 0: the workload is none
  std::uint64_t times = 1;
  std::uint64_t over = 1;
};

struct Results {
  std::vector<OperationTimes> operations;
  std::vector<flows::FlowRecord> flows;  ///< of workloads that have flows
  BusBandwidth bus;
  sim::Counters counters;
  std::vector<std::string> promises;  ///< names of the counters that must be 0, which the workload checks itself
  std::int64_t first_start_ps = 0;    ///< of all measured operations
  std::int64_t last_end_ps = 0;
  std::int64_t left_out_ps = 0;  ///< simulated time of the rounds that were left out (ClusterConfig::fast_forward)
  struct Failure {
    NodeId node = 0;
    Completion completion;
  };
  std::map<std::string, Failure, std::less<>> failures;  ///< by counter: the first failure

  /// Adds a sample of an operation that ran from `start_ps` to `end_ps`.
  void add(std::string_view operation, std::int64_t start_ps, std::int64_t end_ps, std::uint32_t samples_each = 1);
  /// So many rounds or packets, and this much time, have been left out. Adds to the counter of that name.
  void leave_out(std::string_view counter, std::uint64_t how_many, std::int64_t time_ps);
  /// Adds to a counter of things that must not happen. Adding 0 says that they were checked for.
  void promise(std::string_view counter, std::uint64_t broken);
  /// An operation of `node` failed, which the counter counts. The first failure is reported with the counter; one that
  /// failed by itself takes precedence over one that was flushed because of another.
  void note_failure(std::string_view counter, NodeId node, const Completion& failed);
  /// "lost_updates: 3" for each broken promise; "failed_messages: 3 (first: node 1: put to node 2 failed: transport
  /// retry counter exceeded)" if the reason is known.
  [[nodiscard]] std::vector<std::string> broken() const;
  /// Null if nothing of that name was measured.
  [[nodiscard]] const OperationTimes* find(std::string_view operation) const;
  /// Number of what a user calls an operation: a section, a broadcast, a barrier. Parts of operations are not counted.
  [[nodiscard]] std::uint64_t operations_done() const;
};

/// What a workload's programs are started with. Must outlive the run. Workloads that may share a run use `hosts`;
/// others have the whole cluster.
struct Setup {
  SimulatedCluster& cluster;
  WorkloadHosts& hosts;
  const Params& params;
  LibraryFaults faults;
  Results& results;
  std::function<void()>* at_end = nullptr;  ///< set by the code that starts the programs; called at the end of the run
};

/// A parameter that is inconsistent with the others.
struct Misfit {
  std::string_view key;
  std::string expected;  ///< instead of its value
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
  /// Spawns the programs, which refer to `setup` while the cluster runs.
  void (*start)(const Setup& setup);
  /// True if it needs a NIC with remote atomics. Null: never.
  bool (*atomics)(const Params&) = nullptr;
  /// What is wrong with parameters and a number of nodes that are each valid by themselves. Null: nothing.
  std::optional<Misfit> (*misfit)(const Params&, std::uint32_t nodes) = nullptr;
  /// Limit on the work requests to one node that are in flight from a thread that polls its own completions; it cannot
  /// wait for room in a send queue. Null: nodes have polling threads, which make room.
  std::uint32_t (*send_queue)(const Params&) = nullptr;
  /// True if its runs are recorded and checked by default. False for kinds that only make load, because a trace takes
  /// some hundred bytes for each word that crosses the network.
  bool recorded = true;
  /// True if the parameters make it a mere load. Null: never.
  bool (*load)(const Params&) = nullptr;
  /// True if it may share a run with others, if its parameters make it a load. It must then use only its `hosts`.
  bool shares = false;
  /// True for a collective with the parameters `size` and `algorithm`, whose bandwidth is computed as by nccl-tests.
  bool collective = false;
  InParts in_parts{};
};

/// All kinds, in the order of their documentation.
[[nodiscard]] std::span<const Workload> all();
/// Null if there is no such kind.
[[nodiscard]] const Workload* find(std::string_view kind);

/// Lower bounds on what a run produces that takes memory.
struct Footprint {
  double bytes = 0;       ///< that its programs keep or touch
  double operations = 0;  ///< measured operations, each with its start and end
  double calls = 0;       ///< calls in a trace
  double accesses = 0;    ///< accesses in a trace
};
[[nodiscard]] Footprint footprint(const Workload& workload, const Params& params, std::uint32_t nodes);

/// True if it may share a run.
[[nodiscard]] bool shares_run(const Workload& workload, const Params& params);

/// Entries that each of its send queues needs.
[[nodiscard]] std::uint32_t send_queue_entries(const Workload& workload, const Params& params);

/// Starts a workload on a fresh cluster and runs it to its end. Throws std::invalid_argument if the cluster has too few
/// or too many nodes or too short send queues, and what SimulatedCluster::run() throws. `ranks`: the nodes, in order,
/// of a workload that may share a run; empty: all.
[[nodiscard]] Results run(const Workload& workload, const Params& params, SimulatedCluster& cluster,
                          LibraryFaults faults = {}, std::vector<NodeId> ranks = {});

/// One of several workloads in a run.
struct Job {
  const Workload* workload = nullptr;
  const Params* params = nullptr;
  Part part{};
};
/// The same for several workloads on one cluster; returns the results of each and numbers their parts. Also throws
/// std::invalid_argument for a workload that may not share a run.
[[nodiscard]] std::vector<Results> run_together(std::vector<Job> jobs, SimulatedCluster& cluster);

}  // namespace loco::workloads
