#include "loco_sim/run/run.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

#include "fabric/flow/child.hpp"
#include "fabric/report.hpp"
#include "loco_sim/run/capture.hpp"
#include "loco_sim/run/given_up.hpp"
#include "loco_sim/run/hints.hpp"
#include "loco_sim/run/ideal_times.hpp"
#include "loco_sim/run/jobs.hpp"
#include "loco_sim/run/parallel.hpp"
#include "loco_sim/run/result_bytes.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "options/option.hpp"

namespace loco {

namespace {

/// How many nodes work on a job of the scenario.
std::uint32_t nodes_of(const scenario::Scenario& s, const workloads::Job& job) {
  const std::size_t own = s.parts.empty() ? s.ranks.size() : job.part.nodes.size();
  return own == 0 ? s.nodes : static_cast<std::uint32_t>(own);
}

std::uint64_t memory_at_least(const scenario::Scenario& s, bool recorded) {
  workloads::Footprint f;
  for (const workloads::Job& job : jobs_of(s)) {
    const workloads::Footprint one = workloads::footprint(*job.workload, *job.params, nodes_of(s, job));
    f.bytes += one.bytes;
    f.operations += one.operations;
    f.calls += one.calls;
    f.accesses += one.accesses;
  }
  constexpr double kSample = 2 * sizeof(std::int64_t);  // duration and end
  const double trace = f.calls * sizeof(trace::Call) + f.accesses * sizeof(trace::Subevent);
  constexpr double kMost = 0x1p62;
  return static_cast<std::uint64_t>(std::min(kMost, f.bytes + f.operations * kSample + (recorded ? trace : 0)));
}

void require_memory(const scenario::Scenario& s, const ClusterConfig& config) {
  const std::uint64_t unrecorded = memory_at_least(s, false);
  const std::uint64_t bytes = memory_at_least(s, config.record);
  const bool trace = bytes / 2 > unrecorded;
  config.budget->require(bytes, trace ? fmt::format("trace.level: none takes {}", sim::bytes_text(unrecorded)) : "");
}

/// True if rounds and packets may be left out: nothing looks into them (no checker, trace, capture or time series), and
/// nothing happens at times of its own.
bool may_leave_out(const scenario::Scenario& s, const ClusterConfig& config) {
  const bool looked_into = config.record || s.series_interval.ps > 0 || !s.capture.path.empty() || s.trace_activities;
  const bool by_the_clock =
      !s.stops.empty() || !s.network.changes.empty() || !s.network.storms.empty() || s.network.options.watchdog.enabled;
  return !looked_into && !by_the_clock && s.schedule == Schedule::timed && s.parts.empty() &&
         s.network.model == fabric::Model::packet && !s.hardware.pcie_iommu && !config.strong && s.hosts.of.empty();
}

ClusterConfig cluster_config(const scenario::Scenario& s, const RunOptions& options, sim::Budget& budget) {
  ClusterConfig config;
  config.refuse_unfit = false;  // a scenario shows what happens there; the verdict names the mechanism
  config.profile = s.hardware;
  config.hosts = s.hosts;
  config.topology = s.topology;
  config.network = s.network;
  config.strong = options.strong;
  if (options.strong && config.profile.nic_atomic_cap == nic::AtomicCap::hca)
    config.profile.nic_atomic_cap = nic::AtomicCap::global;
  config.nodes = s.nodes;
  config.path_mtu = s.path_mtu;
  config.service = s.service;
  config.congestion = s.congestion;
  config.transports = s.transports;
  config.stops = s.stops;
  config.seed = s.seed;
  config.schedule = s.schedule;
  config.record = !s.check.empty() || !s.trace_path.empty() || (options.keep_trace && s.trace_subevents);
  config.record_activities = s.trace_activities;
  config.series_interval = s.series_interval;
  config.events_max = s.events_max;
  config.budget = &budget;
  if (may_leave_out(s, config)) config.fast_forward = s.fast_forward;
  for (const workloads::Job& job : jobs_of(s))
    config.send_queue_entries =
        std::max(config.send_queue_entries, workloads::send_queue_entries(*job.workload, *job.params));
  return config;
}

std::string told(const scenario::Scenario& s, const std::exception& error) {
  return fmt::format("{} (scenario {}, seed {})", error.what(), s.file, s.seed);
}

/// On links, and for lack of one.
std::uint64_t packets_lost(const fabric::PacketNetwork& network) {
  std::uint64_t lost = 0;
  for (std::size_t reason = 0; reason < fabric::kLossReasonNames.size(); ++reason)
    lost += network.packets_lost(static_cast<fabric::LossReason>(reason));
  return lost;
}

/// Adds what all links of the network did.
void add_network_counters(const fabric::Network& whole, sim::Counters& counters) {
  if (whole.packet_network() == nullptr || whole.packet_network()->links() == 0) return;
  const fabric::PacketNetwork& network = *whole.packet_network();
  const fabric::LinkCounters sum = fabric::totals(network);
  const auto add = [&](const char* name, std::uint64_t value) { counters.add(counters.id(name), value); };
  add("fabric_packets_delivered", network.packets_delivered());
  add("fabric_bytes_delivered", network.bytes_delivered());
  add("fabric_packets_lost", packets_lost(network));
  if (network.config().options.watchdog.enabled) {
    add("fabric_watchdog_actions", network.watchdog_actions());
    add("fabric_watchdog_lost", network.packets_lost(fabric::LossReason::watchdog));
  }
  if (network.config().options.trim) add("fabric_packets_trimmed", network.packets_trimmed());
  add("fabric_marks", sum.marks);
  add("fabric_pauses", sum.pauses);
  add("fabric_paused_ps", static_cast<std::uint64_t>(sum.paused.ps));
  add("fabric_queue_max_bytes", sum.queue_max);
}

void check_trace(const scenario::Scenario& s, sim::Budget& budget, RunResult& result) {
  if (s.check.empty()) return;
  model::CheckOptions check{.tower = s.check_tower};
  check.poll = [&] { budget.check(); };
  result.verdict = model::check(*result.trace, s.check, check);
  if (!result.verdict->violated()) return;
  for (const GivenUp& cell : given_up(scenario::hardware_in_use(s)))
    check.without.push_back({cell.earlier, cell.later});
  if (!check.without.empty()) result.keeps_promises = !model::check(*result.trace, s.check, check).violated();
}

}  // namespace

sim::Budget budget_of(const scenario::Scenario& s, std::function<bool()> interrupted) {
  return sim::Budget({.memory = s.memory_max,
                      .wall_time = std::chrono::nanoseconds(s.wall_time_max.ps / 1000),
                      .interrupted = std::move(interrupted)});
}

std::uint64_t memory_at_least(const scenario::Scenario& s) {
  return memory_at_least(s, !s.check.empty() || !s.trace_path.empty());
}

void fill_series(const SimulatedCluster& cluster, RunResult& result) {
  if (!cluster.series()) return;
  result.series = cluster.series();
  for (const fabric::LinkUse& link : fabric::link_use(*cluster.system().network().packet_network(), {})) {
    result.links.push_back(fmt::format("{}-{}", link.from, link.to));
  }
}

LatencySummary summarise(std::vector<std::int64_t> samples_ps) {
  LatencySummary summary;
  if (samples_ps.empty()) return summary;
  std::sort(samples_ps.begin(), samples_ps.end());
  const std::size_t n = samples_ps.size();
  const auto percentile = [&](std::size_t percent) { return samples_ps[(n * percent + 99) / 100 - 1]; };
  summary.count = n;
  summary.min_ps = samples_ps.front();
  summary.median_ps = percentile(50);
  summary.p99_ps = percentile(99);
  summary.max_ps = samples_ps.back();
  return summary;
}

double algorithm_bandwidth(const workloads::BusBandwidth& bus, std::int64_t ps) {
  return ps <= 0 ? 0 : static_cast<double>(bus.bytes) / static_cast<double>(ps) * 1e3;
}

double bus_bandwidth(const workloads::BusBandwidth& bus, std::int64_t ps) {
  return algorithm_bandwidth(bus, ps) * static_cast<double>(bus.times) / static_cast<double>(bus.over);
}

double RunResult::algorithm_bandwidth() const {
  return operations.empty() ? 0 : loco::algorithm_bandwidth(bus, summarise(operations.front().samples_ps).median_ps);
}

double RunResult::bus_bandwidth() const {
  return operations.empty() ? 0 : loco::bus_bandwidth(bus, summarise(operations.front().samples_ps).median_ps);
}

double RunResult::operations_per_second() const {
  return measured_ps <= 0 ? 0 : static_cast<double>(operations_done) / (static_cast<double>(measured_ps) * 1e-12);
}

namespace {
/// Throws the error of a run that cannot go on. The scenario says whether the trace up to then is checked.
[[noreturn]] void fail(const scenario::Scenario& s, sim::Budget& budget, const std::string& what,
                       std::optional<trace::Trace> trace, bool checked) {
  if (!trace) throw RunError(what);
  RunResult so_far;
  so_far.trace = std::move(trace);
  if (checked) check_trace(s, budget, so_far);
  throw RunError(what, std::make_shared<trace::Trace>(std::move(*so_far.trace)), std::move(so_far.verdict));
}

std::optional<trace::Trace> recorded(const scenario::Scenario& s, SimulatedCluster& cluster) {
  if (!cluster.config().record) return std::nullopt;
  trace::Trace trace = cluster.take_trace();
  trace.scenario = s.name;
  return trace;
}

/// Checks a finished run's trace, which is kept even if a limit ends the check.
void check_finished(const scenario::Scenario& s, sim::Budget& budget, RunResult& result) {
  if (!result.trace) return;
  try {
    check_trace(s, budget, result);
  } catch (const sim::Interrupted& error) {
    throw Interrupted(told(s, error));
  } catch (const sim::LimitReached& error) {
    fail(s, budget, told(s, error), std::move(result.trace), false);
  }
}

void fill_ideal(const scenario::Scenario& s, const ClusterConfig& config, RunResult& result) {
  if (s.parts.empty()) return fill_ideal_times(s.parameters, s.hardware, config, result.flows);
  for (std::size_t i = 0, first = 0; i < s.parts.size(); first += result.parts[i].flows, ++i) {
    ClusterConfig of_part = config;
    of_part.service = s.parts[i].part.service;
    fill_ideal_times(s.parts[i].parameters, s.hardware, std::move(of_part),
                     std::span(result.flows).subspan(first, result.parts[i].flows));
  }
}

/// Merges the measurements of several workloads, under their names.
void merge(const scenario::Scenario& s, std::vector<workloads::Results> all, RunResult& result) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool any = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    workloads::Results& measured = all[i];
    const std::string& name = s.parts[i].part.name;
    const bool timed = !measured.operations.empty();
    const std::int64_t median = timed ? summarise(measured.operations.front().samples_ps).median_ps : 0;
    result.parts.push_back({.name = name, .kind = s.parts[i].kind, .bus = measured.bus, .median_ps = median});
    result.parts.back().flows = measured.flows.size();
    if (timed) {
      first = any ? std::min(first, measured.first_start_ps) : measured.first_start_ps;
      last = std::max(last, measured.last_end_ps);
      any = true;
    }
    for (OperationTimes& operation : measured.operations) {
      result.operations_done += operation.operations();
      operation.name = fmt::format("{}: {}", name, operation.name);
      result.operations.push_back(std::move(operation));
    }
    for (const std::string& broken : measured.broken()) result.broken.push_back(fmt::format("{}: {}", name, broken));
    result.flows.insert(result.flows.end(), measured.flows.begin(), measured.flows.end());
    for (const std::string& counter : measured.counters.names())
      result.workload_counters.add(result.workload_counters.id(counter), measured.counters.value(counter));
  }
  result.measured_ps = last - first;
}

/// Runs collectives alone in the same network, for comparison with their times.
void fill_alone(const scenario::Scenario& s, ClusterConfig config, RunResult& result) {
  config.record = config.record_activities = false;
  config.series_interval = {};
  const std::vector<workloads::Job> jobs = jobs_of(s);
  for (std::size_t i = 0; i < s.parts.size(); ++i) {
    if (result.parts[i].bus.bytes == 0) continue;
    SimulatedCluster cluster(config);
    const std::vector<workloads::Results> alone = workloads::run_together({jobs[i]}, cluster);
    if (!alone.front().operations.empty())
      result.parts[i].alone_ps = summarise(alone.front().operations.front().samples_ps).median_ps;
  }
}

/// 2 (n-1) exchanges, each half of what a ring of two nodes takes for two chunks. Only if nothing but the nodes
/// themselves can delay a ring.
void fill_in_step(const scenario::Scenario& s, ClusterConfig config, RunResult& result) {
  constexpr std::uint32_t kShortest = 8;
  const bool ring = s.parts.empty() && s.workload == "all_reduce" && s.parameters.get("algorithm") == 0 &&
                    s.parameters.get("channels") == 1 && s.parameters.get("reduce_rate") == 0;
  const auto ranks = s.ranks.empty() ? std::int64_t{s.nodes} : static_cast<std::int64_t>(s.ranks.size());
  if (!ring || ranks < kShortest || config.topology != fabric::Topology::star || !config.hosts.of.empty() ||
      result.counters.cache_misses == 0 || s.schedule != Schedule::timed || config.network.model == fabric::Model::flow)
    return;
  config.record = config.record_activities = false;
  config.series_interval = {};
  config.nodes = config.network.nodes = 2;
  config.network.shape = fabric::topology::Star{2};
  workloads::Params two = s.parameters;
  const std::int64_t chunk = s.parameters.get("size") / ranks;
  two.set("size", std::max<std::int64_t>(16, 2 * (chunk / 8 * 8)));
  two.set("iterations", 3);
  SimulatedCluster cluster(config);
  const workloads::Results exchange = workloads::run(*workloads::find(s.workload), two, cluster);
  result.in_step_ps = (ranks - 1) * summarise(exchange.operations.front().samples_ps).median_ps;
}

void fill_flows(const scenario::Scenario& scenario, const ClusterConfig& config, RunResult& result) {
  try {
    fill_ideal(scenario, config, result);
    if (result.broken.empty()) fill_in_step(scenario, config, result);
    if (scenario.parts.size() > 1 && config.network.model != fabric::Model::flow) fill_alone(scenario, config, result);
  } catch (const sim::Interrupted& error) {
    throw Interrupted(told(scenario, error));
  } catch (const sim::LimitReached& error) {
    throw RunError(told(scenario, error));
  }
}

void take_measured(const scenario::Scenario& s, std::vector<workloads::Results> all, RunResult& result) {
  if (!s.parts.empty()) return merge(s, std::move(all), result);
  workloads::Results& measured = all.front();
  result.operations = std::move(measured.operations);
  for (const OperationTimes& operation : result.operations) result.operations_done += operation.operations();
  result.measured_ps = measured.last_end_ps - measured.first_start_ps;
  result.simulated_ps = measured.left_out_ps;
  result.broken = measured.broken();
  result.flows = std::move(measured.flows);
  result.bus = measured.bus;
  result.workload_counters = std::move(measured.counters);
}

/// What is the same for all runs that ended well.
void fill_from_machine(const scenario::Scenario& scenario, const SimulatedCluster& cluster, sim::SimTime ended,
                       RunResult& result) {
  result.counters = cluster.system().counters();
  if (scenario.schedule == Schedule::timed)
    result.busiest = cluster.system().usage(ended - sim::SimTime{}, kBusiestMax);
  add_network_counters(cluster.system().network(), result.workload_counters);
  result.pause_cycle = cluster.pause_cycle();
  fill_series(cluster, result);
}

/// Runs on several threads, or with the same result as on several. Returns nothing if only a run on one thread can
/// report what went wrong.
std::optional<RunResult> run_on_threads(const scenario::Scenario& scenario, const ClusterConfig& config,
                                        Capture* capture) {
  std::optional<ParallelRun> run;
  try {
    run = run_in_parallel(scenario, config, capture);
  } catch (const sim::Interrupted& error) {
    throw Interrupted(told(scenario, error));
  } catch (const std::runtime_error& error) {
    throw RunError(told(scenario, error));
  }
  if (!run) return std::nullopt;
  if (capture != nullptr) capture->finish();
  RunResult result;
  take_measured(scenario, std::move(run->measured), result);
  result.simulated_ps = run->ended.ps;
  if (run->clusters.size() == 1) result.one_thread = "nothing in its network can be parted";
  fill_from_machine(scenario, *run->clusters.front(), run->ended, result);
  fill_flows(scenario, config, result);
  return result;
}

RunResult run_here(const scenario::Scenario& scenario, const RunOptions& options) {
  sim::Budget budget = budget_of(scenario, options.interrupted);
  ClusterConfig config = cluster_config(scenario, options, budget);
  std::vector<workloads::Results> measured;
  try {
    require_memory(scenario, config);
  } catch (const sim::LimitReached& error) {
    throw RunError(told(scenario, error));
  }
  std::optional<Capture> capture;
  if (options.capture && !scenario.capture.path.empty()) capture.emplace(scenario.capture);
  std::string_view one_thread = one_thread_because(scenario, config);
  if (scenario.threads != 0 && one_thread.empty()) {
    std::optional<RunResult> result = run_on_threads(scenario, config, capture ? &*capture : nullptr);
    if (result) return std::move(*result);
    if (capture) capture.emplace(scenario.capture);  // from its beginning again
    one_thread = "a part has failed, and one thread says how";
    config.network.share.ranked = true;  // so that the result is the same
  }
  if (capture) {
    capture->be_parted(1);
    config.network.tap = &capture->tap(0);
  }
  SimulatedCluster cluster(config);
  if (capture) capture->watch(0, cluster.system());
  config.network.tap = nullptr;  // not for runs beside it
  try {
    measured = run_workloads(scenario, cluster);
  } catch (const sim::Interrupted& error) {
    throw Interrupted(told(scenario, error));
  } catch (const sim::LimitReached& error) {
    fail(scenario, budget, told(scenario, error), recorded(scenario, cluster), false);
  } catch (const Deadlock& error) {
    fail(scenario, budget, told(scenario, error), recorded(scenario, cluster), true);
  } catch (const std::runtime_error& error) {
    const std::string cycle = cluster.pause_cycle();
    const RunError whole(error.what() + (cycle.empty() ? cycle : "; PFC deadlock: " + cycle));
    fail(scenario, budget, told(scenario, whole), recorded(scenario, cluster), true);
  }
  RunResult result;
  result.one_thread = one_thread;
  take_measured(scenario, std::move(measured), result);
  result.simulated_ps += cluster.ended().ps;
  fill_from_machine(scenario, cluster, cluster.ended(), result);
  if (capture) capture->finish();
  result.trace = recorded(scenario, cluster);
  check_finished(scenario, budget, result);
  config.network.share = {};  // flows alone are not divided into parts
  fill_flows(scenario, config, result);
  return result;
}

/// The first byte of the answer is its kind.
constexpr char kResult = 'r';
constexpr char kFailure = 'f';

/// SimGrid can run only once in a process, so each run on the flow model has a process of its own and returns the whole
/// result, which is checked here.
RunResult run_in_own_process(const scenario::Scenario& scenario, const RunOptions& options) {
  const auto work = [&]() -> std::string {
    scenario::Scenario unchecked = scenario;
    const bool records = !scenario.check.empty() || !scenario.trace_path.empty();
    unchecked.check.clear();
    const RunOptions inside{.interrupted = {}, .keep_trace = options.keep_trace || records};
    try {
      return kResult + to_bytes(run_here(unchecked, inside));
    } catch (const RunError& error) {
      RunResult failed;
      failed.broken.emplace_back(error.what());
      if (error.trace()) failed.trace = *error.trace();
      return kFailure + to_bytes(failed);
    } catch (const std::exception& error) {
      RunResult failed;
      failed.broken.emplace_back(error.what());
      return kFailure + to_bytes(failed);
    }
  };
  std::string answer;
  try {
    if (!fabric::run_in_child(work, options.interrupted, answer)) {
      throw Interrupted(told(scenario, RunError("interrupted")));
    }
  } catch (const fabric::ChildError& error) {
    throw RunError(told(scenario, error));
  }
  RunResult result = result_from_bytes(std::string_view(answer).substr(1));
  sim::Budget budget = budget_of(scenario, options.interrupted);
  check_finished(scenario, budget, result);
  if (answer.front() == kResult) return result;
  if (!result.trace) throw RunError(result.broken.front());
  throw RunError(result.broken.front(), std::make_shared<trace::Trace>(std::move(*result.trace)),
                 std::move(result.verdict));
}
}  // namespace

namespace {
RunResult run_sizes(const scenario::Scenario& scenario, const RunOptions& options) {
  RunResult all;
  for (const std::int64_t size : scenario.sizes) {
    scenario::Scenario one = scenario;
    one.sizes.clear();
    one.parameters.set("size", size);
    RunResult result = run(one, options);
    const std::int64_t median = summarise(result.operations.front().samples_ps).median_ps;
    const auto& names = result.workload_counters.names();
    const bool schedule = std::ranges::find(names, "wrong") != names.end();
    all.sizes.push_back({.size = static_cast<std::uint64_t>(size),
                         .count = static_cast<std::uint64_t>(size) / 8,
                         .time_ps = median,
                         .algbw = result.algorithm_bandwidth(),
                         .busbw = result.bus_bandwidth(),
                         .wrong = result.workload_counters.value(schedule ? "wrong" : "wrong_sums")});
    for (OperationTimes& operation : result.operations) {
      operation.name += fmt::format(" {}", options::format_number(size, options::Type::size));
      all.operations.push_back(std::move(operation));
    }
    for (const std::string& broken : result.broken) all.broken.push_back(fmt::format("{} of {} B", broken, size));
    result.operations = std::move(all.operations);
    result.broken = std::move(all.broken);
    result.sizes = std::move(all.sizes);
    result.operations_done += all.operations_done;
    result.measured_ps += all.measured_ps;
    all = std::move(result);
  }
  return all;
}
}  // namespace

RunResult run(const scenario::Scenario& scenario, const RunOptions& options) {
  if (!scenario.sizes.empty()) return run_sizes(scenario, options);
  RunResult result = scenario.network.model == fabric::Model::flow ? run_in_own_process(scenario, options)
                                                                   : run_here(scenario, options);
  result.hints = hints(scenario, result);
  if (scenario.network.model == fabric::Model::flow) result.one_thread = "the flow model is simulated as a whole";
  if (scenario.threads > 1 && !result.one_thread.empty())
    result.hints.push_back(
        fmt::format("sim.threads: {}: one thread has done it: {}", scenario.threads, result.one_thread));
  return result;
}

}  // namespace loco
