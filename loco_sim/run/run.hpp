// Runs a scenario: builds the simulated machine, lets the workload run on it, checks the trace. The one door for the
// command line and for Python. Prints nothing, reads and writes no files.
//
// A result is a function of the scenario (its seed included): no wall-clock time is in it. Runs share nothing, so
// several threads may run at once. A run that cannot go on (deadlock, failed operation, too many events) throws
// RunError; a scenario that is wrong was refused when it was read.
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

/// Resources that a result names.
inline constexpr std::size_t kBusiestMax = 5;

/// Order statistics of some samples, in picoseconds. Percentiles by nearest rank: the smallest sample that is at least
/// as large as that share of all.
struct LatencySummary {
  std::uint64_t count = 0;
  std::int64_t min_ps = 0;
  std::int64_t median_ps = 0;
  std::int64_t p99_ps = 0;
  std::int64_t max_ps = 0;
};
[[nodiscard]] LatencySummary summarise(std::vector<std::int64_t> samples_ps);

/// GB/s, of 10^9 bytes, of a collective that takes so long; 0 of what is none.
[[nodiscard]] double algorithm_bandwidth(const workloads::BusBandwidth& bus, std::int64_t ps);
[[nodiscard]] double bus_bandwidth(const workloads::BusBandwidth& bus, std::int64_t ps);

/// One of several workloads in a run.
struct PartResult {
  std::string name;
  std::string kind;
  workloads::BusBandwidth bus;  ///< of collectives
  std::int64_t median_ps = 0;   ///< of its first kind of operation
  std::int64_t alone_ps = 0;    ///< the same by itself in the same network; 0: of a collective only, and not as flows
  std::uint64_t flows = 0;      ///< so many of the result's flows, which are in the order of the workloads
};

/// A collective of one of several sizes, as nccl-tests print it.
struct SizeRow {
  std::uint64_t size = 0;
  std::uint64_t count = 0;   ///< words of 8 bytes
  std::int64_t time_ps = 0;  ///< the median iteration's
  double algbw = 0;          ///< GB/s
  double busbw = 0;
  std::uint64_t wrong = 0;
};

struct RunResult {
  std::vector<OperationTimes> operations;  ///< in the workload's order
  std::uint64_t operations_done = 0;       ///< all of them together: a barrier is one, parts of another none
  std::int64_t measured_ps = 0;            ///< simulated time from the first operation's start to the last one's end
  std::int64_t simulated_ps = 0;           ///< simulated time of the whole run, set-up included
  std::vector<workloads::flows::FlowRecord> flows;  ///< of workloads that have flows, in the order of their list
  /// Of a ring of all_reduce whose NICs missed their caches: what it takes when all nodes are in step; 0: not known.
  std::int64_t in_step_ps = 0;
  workloads::BusBandwidth bus;               ///< of collectives
  std::vector<PartResult> parts;             ///< where several workloads share the run
  std::vector<SizeRow> sizes;                ///< of a collective of several sizes; the rest is of the last one
  nic::Counters counters;                    ///< of the machine
  sim::Counters workload_counters;           ///< what the workload itself noticed
  std::vector<std::string> broken;           ///< what the workload itself found wrong: "lost_updates: 3"
  std::vector<nic::Usage> busiest;           ///< of the whole run, the greatest share first; none of random schedules
  std::string pause_cycle;                   ///< links that PFC has paused for good, in words; empty: none
  std::vector<std::string> hints;            ///< counters that explain a surprise, a line each: hints.hpp
  std::optional<fabric::LinkSeries> series;  ///< when the scenario has series.interval
  std::vector<std::string> links;            ///< of the series: `h0-s0`, in the order of the graph
  std::optional<trace::Trace> trace;         ///< when the scenario records one or checks
  std::optional<model::Verdict> verdict;     ///< when the scenario checks
  /// Of a verdict that is violated, on hardware that gives up orders: is the run consistent without them?
  std::optional<bool> keeps_promises{};

  /// GB/s, of 10^9 bytes, of a collective's median time; 0 of other workloads.
  [[nodiscard]] double algorithm_bandwidth() const;
  [[nodiscard]] double bus_bandwidth() const;
  /// Operations a simulated second; 0 when nothing was measured.
  [[nodiscard]] double operations_per_second() const;
  [[nodiscard]] bool consistent() const { return broken.empty() && (!verdict || verdict->consistent()); }
};

/// Says what went wrong and how to repeat it (scenario and seed). What was recorded until then is not lost: calls that
/// were under way are in the trace as calls that have not returned.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  RunError(const std::string& what, std::shared_ptr<trace::Trace> trace, std::optional<model::Verdict> verdict)
      : std::runtime_error(what), trace_(std::move(trace)), verdict_(std::move(verdict)) {}

  /// Null when the run recorded none.
  [[nodiscard]] const std::shared_ptr<trace::Trace>& trace() const { return trace_; }
  /// Of that trace, when the scenario checks.
  [[nodiscard]] const std::optional<model::Verdict>& verdict() const { return verdict_; }

 private:
  std::shared_ptr<trace::Trace> trace_;
  std::optional<model::Verdict> verdict_;
};

/// A run was stopped from outside.
class Interrupted : public RunError {
 public:
  using RunError::RunError;
};

struct RunOptions {
  /// Asked now and then; true ends the run with Interrupted. May be empty.
  std::function<bool()> interrupted;
  /// Keep the trace in the result even when the scenario neither writes nor checks one.
  bool keep_trace = false;
  /// Write the scenario's capture (capture.path). That a file cannot be written is a std::system_error, before the run
  /// or at its end.
  bool capture = false;
  /// Each access of a thread is in memory before the next, and nobody comes between the halves of a remote atomic:
  /// what goes wrong all the same is no matter of ordering (docs/robustness.md).
  bool strong = false;
};

/// What a run that begins now may take.
[[nodiscard]] sim::Budget budget_of(const scenario::Scenario& scenario, std::function<bool()> interrupted = {});

/// Bytes of this machine's memory that a run takes at least, its trace included when it is checked or written; a check
/// takes more.
[[nodiscard]] std::uint64_t memory_at_least(const scenario::Scenario& scenario);

/// Copies what the links did over time into a result, if the cluster looked.
void fill_series(const SimulatedCluster& cluster, RunResult& result);

[[nodiscard]] RunResult run(const scenario::Scenario& scenario, const RunOptions& options = {});

}  // namespace loco
