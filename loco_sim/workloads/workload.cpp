#include "loco_sim/workloads/workload.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/workloads/in_parts.hpp"
#include "loco_sim/workloads/kinds.hpp"

namespace loco::workloads {

namespace {
bool always(const Params& /*params*/) { return true; }

// Of workloads that run in parts of a machine.
using Parts = std::vector<Results>;
std::optional<Results> of_hosts(const Parts& parts, const std::vector<std::uint8_t>& /*part_of*/,
                                const Params& /*params*/) {
  return merge_hosts(parts);
}
std::optional<Results> of_all(const Parts& parts, const std::vector<std::uint8_t>& /*part_of*/,
                              const Params& /*params*/) {
  return merge_together(parts);
}
/// On a ring of all nodes each measures its own all-reduces.
std::optional<Results> of_all_reduces(const Parts& parts, const std::vector<std::uint8_t>& /*part_of*/,
                                      const Params& /*params*/) {
  const bool own = std::ranges::any_of(
      parts, [](const Results& part) { return !part.operations.empty() && part.operations.front().samples_each > 1; });
  return own ? merge_hosts(parts) : merge_together(parts);
}
std::string_view locos_not_in_parts(const Params& params) {
  return is_collective_broadcast(params) ? "" : "threads of LOCO's objects meet in objects of the simulating program";
}

bool adds(const Params& params) { return kPatternNames.at(params.count("pattern")) == "fetch_add"; }

using collectives::Collective;
using Start = void (*)(const Setup&);
using Check = std::optional<Misfit> (*)(const Params&, std::uint32_t nodes);
using SendQueue = std::uint32_t (*)(const Params&);

/// Loads the network, beside others or alone, and is not recorded.
constexpr Workload load(std::string_view kind, std::string_view doc, std::span<const options::Option> params,
                        Start start, Check misfit, SendQueue send_queue, InParts in_parts) {
  constexpr std::uint32_t kNodesMost = 16384;
  Workload w{kind, doc, params, 2, kNodesMost, start, nullptr, misfit, send_queue};
  w.recorded = false;
  w.shares = true;
  w.in_parts = in_parts;
  return w;
}

constexpr Workload collective(std::string_view kind, std::string_view doc, std::span<const options::Option> params,
                              Start start, Check misfit, SendQueue send_queue = collective_send_queue,
                              decltype(InParts::merge) merge = of_all) {
  Workload w = load(kind, doc, params, start, misfit, send_queue, {nullptr, merge});
  w.nodes_max = 1024;
  w.collective = true;
  return w;
}

template <Collective What>
constexpr Workload by_schedule(std::string_view kind, std::string_view doc, std::span<const options::Option> params) {
  return collective(kind, doc, params, start_schedule<What>, schedule_misfit<What>);
}

constexpr Workload broadcast() {
  Workload w = collective(
      "broadcast",
      "node 0 broadcasts over shared variables or a ring buffer; every node tells it that the value has come",
      kBroadcastParams, start_broadcast, broadcast_misfit, broadcast_send_queue);
  w.recorded = true;
  w.load = is_collective_broadcast;
  w.in_parts.not_because = locos_not_in_parts;
  return w;
}

constexpr std::array kWorkloads = {
    Workload{"quickstart", "a broadcast, a message and a barrier, in a loop", kMixParams, 2, 1024, start_mix},
    Workload{"barrier", "all threads wait at a barrier, again and again", kBarrierParams, 1, 1024, start_barrier},
    broadcast(),
    Workload{"message_passing", "each even node puts data, then a flag, to the next node, which reads both",
             kMessageParams, 2, 1024, start_message_passing},
    Workload{"mixed_size", "node 0 writes and pushes a value wider than a word, all others try to read it",
             kMixedSizeParams, 2, 1024, start_mixed_size},
    Workload{"lock", "all threads add to one counter under one lock", kLockParams, 1, 1024, start_lock, always,
             lock_misfit},
    Workload{"transactions", "all threads transfer money between accounts, each time under two locks",
             kTransactionParams, 1, 1024, start_transactions, always},
    Workload{"kvstore", "lookups and changes of a distributed key-value store, several under way in each thread",
             kKvstoreParams, 1, 1024, start_kvstore, kvstore_locks, kvstore_misfit},
    Workload{"dcdc", "node 0 controls the voltage of converters, the other nodes, in a loop over the network",
             kDcdcParams, 2, 256, start_dcdc},
    Workload{"pattern", "small communication patterns whose outcome the memory model decides", kPatternParams, 3, 64,
             start_pattern, adds},
    load("traffic", "RDMA writes that load the network, by pattern", kTrafficParams, start_traffic, traffic_misfit,
         traffic_send_queue, {nullptr, of_hosts}),
    load("flows", "messages from a list, or by sizes, arrivals and a pattern, each with its slowdown", kFlowsParams,
         start_flows, flows_misfit, nullptr, {flows_not_in_parts, merge_flows}),
    Workload{"lookup", "one-sided lookups of objects that their owner, node 0, keeps rewriting", kLookupParams, 2, 1024,
             start_lookup, nullptr, nullptr, lookup_send_queue, false},
    collective("all_reduce", "every node gets the sum of all nodes' vectors, by the ring algorithm over RDMA writes",
               kAllReduceParams, start_all_reduce, all_reduce_misfit, all_reduce_send_queue, of_all_reduces),
    by_schedule<Collective::all_gather>("all_gather", "every node gets all nodes' parts of a vector", kAllGatherParams),
    by_schedule<Collective::reduce_scatter>(
        "reduce_scatter", "every node gets its part of the sum of all nodes' vectors", kReduceScatterParams),
    by_schedule<Collective::all_to_all>("all_to_all", "every node sends each other one a part of its vector",
                                        kAllToAllParams),
    by_schedule<Collective::reduce>("reduce", "node 0 gets the sum of all nodes' vectors", kReduceParams),
};
}  // namespace

std::span<const Workload> all() { return kWorkloads; }

const Workload* find(std::string_view kind) {
  const auto found = std::ranges::find(kWorkloads, kind, &Workload::kind);
  return found == kWorkloads.end() ? nullptr : found;
}

Params::Params(std::span<const options::Option> specs) : specs_(specs) {
  for (const options::Option& spec : specs)
    values_.push_back(spec.type == options::Type::text ? 0 : options::default_number(spec));
}

std::size_t Params::index(std::string_view key) const {
  const auto found = std::ranges::find(specs_, key, &options::Option::key);
  if (found == specs_.end()) throw std::invalid_argument("unknown parameter '" + std::string(key) + "'");
  return static_cast<std::size_t>(found - specs_.begin());
}

void Params::set(std::string_view key, std::int64_t value) {
  const std::size_t i = index(key);
  if (!options::in_range(specs_[i], value))
    throw std::invalid_argument("parameter '" + std::string(key) + "': expected " + options::expectation(specs_[i]) +
                                ", found " + std::to_string(value));
  if (value % specs_[i].multiple_of != 0)
    throw std::invalid_argument("parameter '" + std::string(key) + "': expected a multiple of " +
                                std::to_string(specs_[i].multiple_of) + ", found " + std::to_string(value));
  values_[i] = value;
}

std::int64_t Params::get(std::string_view key) const { return values_[index(key)]; }

void Params::set_file(std::string_view key, LoadedFile file) { files_[index(key)] = std::move(file); }

const LoadedFile* Params::file(std::string_view key) const {
  const auto found = files_.find(index(key));
  return found == files_.end() ? nullptr : &found->second;
}

void Results::add(std::string_view operation, std::int64_t start_ps, std::int64_t end_ps, std::uint32_t samples_each) {
  auto found = std::ranges::find(operations, operation, &OperationTimes::name);
  if (operations.empty()) {
    first_start_ps = start_ps;
    last_end_ps = end_ps;
  }
  first_start_ps = std::min(first_start_ps, start_ps);
  last_end_ps = std::max(last_end_ps, end_ps);
  if (found == operations.end())
    found = operations.insert(
        operations.end(),
        {.name = std::string(operation), .samples_ps = {}, .ends_ps = {}, .samples_each = samples_each});
  found->samples_ps.push_back(end_ps - start_ps);
  found->ends_ps.push_back(end_ps);
}

void Results::leave_out(std::string_view counter, std::uint64_t how_many, std::int64_t time_ps) {
  counters.add(counters.id(std::string(counter)), how_many);
  left_out_ps += time_ps;
}

void Results::promise(std::string_view counter, std::uint64_t broken) {
  if (std::ranges::find(promises, counter) == promises.end()) promises.emplace_back(counter);
  counters.add(counters.id(std::string(counter)), broken);
}

void Results::note_failure(std::string_view counter, NodeId node, const Completion& failed) {
  const auto [first, is_first] = failures.try_emplace(std::string(counter), Failure{node, failed});
  if (!is_first && first->second.completion.status == Status::wr_flush_err && failed.status != Status::wr_flush_err)
    first->second = {node, failed};
}

std::vector<std::string> Results::broken() const {
  std::vector<std::string> result;
  for (const std::string& counter : promises) {
    const std::uint64_t times = counters.value(counter);
    if (times == 0) continue;
    result.push_back(counter + ": " + std::to_string(times));
    const auto first = failures.find(counter);
    if (first == failures.end()) continue;
    const Completion& c = first->second.completion;
    result.back() += " (first: ";
    result.back() += failure(first->second.node, name(c.operation), c.peer, c.status).what();
    result.back() += ")";
  }
  return result;
}

const OperationTimes* Results::find(std::string_view operation) const {
  const auto found = std::ranges::find(operations, operation, &OperationTimes::name);
  return found == operations.end() ? nullptr : &*found;
}

std::uint64_t Results::operations_done() const {
  std::uint64_t sum = 0;
  for (const auto& o : operations) sum += o.operations();
  return sum;
}

std::uint32_t send_queue_entries(const Workload& workload, const Params& params) {
  return workload.send_queue == nullptr ? 1 : workload.send_queue(params);
}

bool shares_run(const Workload& workload, const Params& params) {
  return workload.shares && (workload.load == nullptr || workload.load(params));
}

namespace {
void require_fit(const Workload& workload, const Params& params, std::uint32_t nodes, std::uint32_t room) {
  if (nodes < workload.nodes_min || nodes > workload.nodes_max)
    throw std::invalid_argument("workload " + std::string(workload.kind) + " needs " +
                                std::to_string(workload.nodes_min) + " to " + std::to_string(workload.nodes_max) +
                                " nodes, found " + std::to_string(nodes));
  const std::uint32_t entries = send_queue_entries(workload, params);
  if (room < entries)
    throw std::invalid_argument("workload " + std::string(workload.kind) + " needs send queues of " +
                                std::to_string(entries) + " entries, found " + std::to_string(room));
}
}  // namespace

Results run(const Workload& workload, const Params& params, SimulatedCluster& cluster, LibraryFaults faults,
            std::vector<NodeId> ranks) {
  const auto nodes = ranks.empty() ? cluster.config().nodes : static_cast<std::uint32_t>(ranks.size());
  require_fit(workload, params, nodes, cluster.config().send_queue_entries);
  Results results;
  std::function<void()> at_end;
  WorkloadHosts hosts(cluster, {.nodes = std::move(ranks), .service = cluster.config().service}, nullptr);
  const Setup setup{cluster, hosts, params, faults, results, &at_end};
  workload.start(setup);
  cluster.run();
  if (at_end) at_end();
  return results;
}

std::vector<Results> run_together(std::vector<Job> jobs, SimulatedCluster& cluster) {
  MeetingPoint meeting(cluster.config().nodes, static_cast<std::uint32_t>(jobs.size()));
  std::vector<Results> results(jobs.size());
  std::vector<std::function<void()>> at_end(jobs.size());
  std::deque<WorkloadHosts> hosts;
  std::deque<Setup> setups;  // programs refer to them
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    job.part.number = i;
    job.part.parts = static_cast<std::uint32_t>(jobs.size());
    const auto nodes = job.part.nodes.empty() ? cluster.config().nodes : job.part.nodes.size();
    if (!shares_run(*job.workload, *job.params))
      throw std::invalid_argument("workload " + std::string(job.workload->kind) + " has a run to itself");
    require_fit(*job.workload, *job.params, static_cast<std::uint32_t>(nodes), cluster.config().send_queue_entries);
    hosts.emplace_back(cluster, job.part, jobs.size() == 1 ? nullptr : &meeting);
    setups.push_back({cluster, hosts.back(), *job.params, {}, results[i], &at_end[i]});
    job.workload->start(setups.back());
  }
  cluster.run();
  for (const auto& end : at_end)
    if (end) end();
  return results;
}

}  // namespace loco::workloads
