// Runs a scenario: builds the simulated machine, runs the workload on it, checks the trace. Both the command line and
// Python use this. Prints nothing, reads and writes no files.
//
// A result depends only on the scenario, including its seed; it contains no wall-clock time. Runs share nothing, so
// several threads may run at once. A run that cannot go on (deadlock, failed operation, too many events) throws
// RunError; an invalid scenario was refused when it was read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fabric/report.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "model/check.hpp"
#include "nic_model/system.hpp"
#include "sim/budget.hpp"
#include "sim/counters.hpp"
#include "trace/trace.hpp"

namespace loco {

using workloads::OperationTimes;

/// Limit on the resources that a result names.
inline constexpr std::size_t kBusiestMax = 5;

/// Order statistics of samples, in picoseconds. Percentiles by nearest rank: the smallest sample that is at least as
/// large as that share of all.
struct LatencySummary {
  std::uint64_t count = 0;
  std::int64_t min_ps = 0;
  std::int64_t median_ps = 0;
  std::int64_t p99_ps = 0;
  std::int64_t max_ps = 0;
};
[[nodiscard]] LatencySummary summarise(std::vector<std::int64_t> samples_ps);

/// In units of 10^9 bytes per second, for a collective that takes this long; 0 if the workload is none.
[[nodiscard]] double algorithm_bandwidth(const workloads::BusBandwidth& bus, std::int64_t ps);
[[nodiscard]] double bus_bandwidth(const workloads::BusBandwidth& bus, std::int64_t ps);

/// One of several workloads in a run.
struct PartResult {
  std::string name;
  std::string kind;
  workloads::BusBandwidth bus;  ///< of collectives
  std::int64_t median_ps = 0;   ///< of its first kind of operation
  std::int64_t alone_ps = 0;    ///< the same alone in the same network; 0 for anything but a collective, and for flows
  std::uint64_t flows = 0;      ///< number of its flows among the result's, which are ordered by workload
};

/// The result of a collective for one of several sizes, as nccl-tests print it.
struct SizeRow {
  std::uint64_t size = 0;
  std::uint64_t count = 0;   ///< words of 8 bytes
  std::int64_t time_ps = 0;  ///< of the median iteration
  double algbw = 0;          ///< GB/s
  double busbw = 0;
  std::uint64_t wrong = 0;
};

struct RunResult {
  std::vector<OperationTimes> operations;  ///< in the workload's order
  std::uint64_t operations_done = 0;       ///< all together: a barrier is one, parts of others are none
  std::int64_t measured_ps = 0;            ///< simulated time from the first operation's start to the last one's end
  std::int64_t simulated_ps = 0;           ///< simulated time of the whole run, including set-up
  std::vector<workloads::flows::FlowRecord> flows;  ///< of workloads with flows, in the order of their list
  /// For a ring of all_reduce whose NICs had cache misses: its time if all nodes are in step; 0: unknown.
  std::int64_t in_step_ps = 0;
  workloads::BusBandwidth bus;               ///< of collectives
  std::vector<PartResult> parts;             ///< if several workloads share the run
  std::vector<SizeRow> sizes;                ///< of a collective with several sizes; the rest is of the last one
  nic::Counters counters;                    ///< of the machine
  sim::Counters workload_counters;           ///< counted by the workload itself
  std::vector<std::string> broken;           ///< found by the workload itself: "lost_updates: 3"
  std::vector<nic::Usage> busiest;           ///< over the whole run, greatest share first; empty with random schedules
  std::string pause_cycle;                   ///< describes links that PFC has paused for good; empty: none
  std::string one_thread;                    ///< why several threads were asked for (sim.threads) and one did it; empty
  std::vector<std::string> hints;            ///< counters that explain a surprise, one per line: hints.hpp
  std::optional<fabric::LinkSeries> series;  ///< if the scenario has series.interval
  std::vector<std::string> links;            ///< of the series: `h0-s0`, in the order of the graph
  std::optional<trace::Trace> trace;         ///< if the scenario records one or checks
  std::optional<model::Verdict> verdict;     ///< if the scenario checks
  /// For a violation on hardware that gives up orders: whether the run is consistent without these.
  std::optional<bool> keeps_promises{};

  /// In units of 10^9 bytes per second, for a collective's median time; 0 for other workloads.
  [[nodiscard]] double algorithm_bandwidth() const;
  [[nodiscard]] double bus_bandwidth() const;
  /// Operations per simulated second; 0 if nothing was measured.
  [[nodiscard]] double operations_per_second() const;
  [[nodiscard]] bool consistent() const { return broken.empty() && (!verdict || verdict->consistent()); }
};

/// Says what went wrong and how to repeat it (scenario and seed). Keeps what was recorded so far; calls in progress are
/// in the trace as calls that have not returned.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  RunError(const std::string& what, std::shared_ptr<trace::Trace> trace, std::optional<model::Verdict> verdict)
      : std::runtime_error(what), trace_(std::move(trace)), verdict_(std::move(verdict)) {}

  /// Null if the run recorded none.
  [[nodiscard]] const std::shared_ptr<trace::Trace>& trace() const { return trace_; }
  /// For that trace, if the scenario checks.
  [[nodiscard]] const std::optional<model::Verdict>& verdict() const { return verdict_; }

 private:
  std::shared_ptr<trace::Trace> trace_;
  std::optional<model::Verdict> verdict_;
};

/// The run was stopped from outside.
class Interrupted : public RunError {
 public:
  using RunError::RunError;
};

struct RunOptions {
  /// Called now and then; the run ends with Interrupted if it returns true. May be empty.
  std::function<bool()> interrupted;
  /// Keep the trace in the result even if the scenario neither writes nor checks it.
  bool keep_trace = false;
  /// Write the scenario's capture (capture.path). Throws std::system_error before the run or at its end if the file
  /// cannot be written.
  bool capture = false;
  /// Each access of a thread is in memory before the next one, and remote atomics are indivisible. What still goes
  /// wrong is not a matter of ordering (docs/robustness.md).
  bool strong = false;
};

/// The limits of a run that begins now.
[[nodiscard]] sim::Budget budget_of(const scenario::Scenario& scenario, std::function<bool()> interrupted = {});

/// Lower bound on the bytes of this machine's memory that a run needs, including its trace if it is checked or written.
/// A check needs more.
[[nodiscard]] std::uint64_t memory_at_least(const scenario::Scenario& scenario);

/// Copies the time series of links into a result, if the cluster recorded one.
void fill_series(const SimulatedCluster& cluster, RunResult& result);

[[nodiscard]] RunResult run(const scenario::Scenario& scenario, const RunOptions& options = {});

}  // namespace loco
