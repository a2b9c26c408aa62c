#include "loco_sim/run/parallel.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "loco_sim/run/jobs.hpp"
#include "nic_model/parts.hpp"
#include "sim/budget.hpp"

namespace loco {

std::string_view one_thread_because(const scenario::Scenario& s, const ClusterConfig& config) {
  for (const workloads::Job& job : jobs_of(s)) {
    const workloads::InParts& in_parts = job.workload->in_parts;
    if (in_parts.merge == nullptr) return "its threads meet in objects of the simulating program";
    if (in_parts.not_because == nullptr) continue;
    if (const std::string_view why = in_parts.not_because(*job.params); !why.empty()) return why;
  }
  if (s.fast_forward != FastForward::off) return "rounds of all nodes together may be left out";
  if (config.schedule != Schedule::timed) return "the schedule is not that of time";
  if (config.record) return "a trace is kept";
  if (config.series_interval.ps != 0) return "links are looked at over time";
  if (!config.stops.empty()) return "nodes stop";
  return nic::not_parted_because(machine_of(config));
}

namespace {

/// The result of a part.
struct PartOutcome {
  std::unique_ptr<SimulatedCluster> cluster;
  std::vector<workloads::Results> measured;  // by workload
  std::exception_ptr error;
};

void run_part(const scenario::Scenario& s, ClusterConfig config, nic::PartMeeting* meeting, std::uint8_t part,
              Capture* capture, PartOutcome& out) {
  try {
    config.network.share.part = part;
    config.meeting = meeting;
    if (capture != nullptr) config.network.tap = &capture->tap(part);
    if (part != 0) config.budget = nullptr;  // the first part, on the calling thread, checks the budget for all
    out.cluster = std::make_unique<SimulatedCluster>(std::move(config));
    if (capture != nullptr) capture->watch(part, out.cluster->system());
    out.measured = run_workloads(s, *out.cluster);
  } catch (...) {
    out.error = std::current_exception();
  }
  if (meeting != nullptr) meeting->leave(part);
}

/// Errors that a run on one thread would also end with, sooner or later.
void rethrow_limits(const std::exception_ptr& error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const sim::Interrupted&) {
    throw;
  } catch (const sim::LimitReached&) {
    throw;
  } catch (...) {  // NOLINT(bugprone-empty-catch): told by the run on one thread
  }
}

}  // namespace

std::optional<ParallelRun> run_in_parallel(const scenario::Scenario& s, const ClusterConfig& whole, Capture* capture) {
  ClusterConfig config = whole;
  config.network.share.ranked = true;
  const std::vector<std::uint8_t> part_of = nic::parts_of(machine_of(whole), s.threads);
  std::optional<nic::PartMeeting> meeting;
  if (!part_of.empty()) {
    config.network.share.part_of = part_of;
    meeting.emplace(machine_of(whole), part_of);
  }
  const std::size_t parts = meeting ? meeting->parts() : 1;
  nic::PartMeeting* const place = meeting ? &*meeting : nullptr;
  if (capture != nullptr) capture->be_parted(parts);
  std::vector<PartOutcome> all(parts);
  {
    std::vector<std::jthread> others;
    for (std::size_t p = 1; p < parts; ++p)
      others.emplace_back([&, p] { run_part(s, config, place, static_cast<std::uint8_t>(p), capture, all[p]); });
    run_part(s, config, place, 0, capture, all.front());
  }
  for (const PartOutcome& part : all) rethrow_limits(part.error);
  if (std::ranges::any_of(all, [](const PartOutcome& part) { return part.error != nullptr; })) return std::nullopt;
  // A limit of events is that of all parts: where it ends the run, one thread says at which event.
  std::uint64_t events = 0;
  for (const PartOutcome& part : all) events += part.cluster->context().runtime.steps();
  if (events > whole.events_max) return std::nullopt;
  ParallelRun run;
  for (PartOutcome& part : all) {
    run.ended = std::max(run.ended, part.cluster->ended());
    run.clusters.push_back(std::move(part.cluster));
  }
  const std::vector<std::uint8_t> one(part_of.empty() ? config.nodes : 0);
  const std::vector<workloads::Job> jobs = jobs_of(s);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<workloads::Results> measured;
    for (PartOutcome& part : all) measured.push_back(std::move(part.measured[i]));
    std::optional<workloads::Results> merged =
        jobs[i].workload->in_parts.merge(measured, part_of.empty() ? one : part_of, *jobs[i].params);
    if (!merged) return std::nullopt;
    run.measured.push_back(std::move(*merged));
  }
  for (std::size_t p = 1; p < parts; ++p) run.clusters.front()->system().absorb(std::move(run.clusters[p]->system()));
  return run;
}

}  // namespace loco
