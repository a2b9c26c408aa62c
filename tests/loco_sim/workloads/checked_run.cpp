#include "tests/loco_sim/workloads/checked_run.hpp"

#include <algorithm>
#include <array>

#include "model/check.hpp"

namespace loco::test {

namespace {

constexpr std::array kLibraries = {trace::Library::rdmawait, trace::Library::sv,  trace::Library::bal,
                                   trace::Library::rbl,      trace::Library::msw, trace::Library::lock,
                                   trace::Library::kvstore};

}  // namespace

Outcome run(const Job& job) {
  const workloads::Workload& workload = *workloads::find(job.kind);
  workloads::Params params(workload.params);
  for (const auto& [key, value] : job.params) params.set(key, value);
  ClusterConfig c;
  c.nodes = job.nodes;
  c.schedule = job.schedule;
  c.seed = job.seed;
  c.record = true;
  c.profile = job.profile;
  c.events_max = 3'000'000;
  SimulatedCluster cluster(c);
  Outcome outcome;
  try {
    for (const std::string& text : workloads::run(workload, params, cluster, job.library_faults).broken())
      outcome.broken.push_back(text.substr(0, text.find(':')));
  } catch (const Deadlock&) {
    if (!job.may_hang) throw;
    outcome.hung = true;
  } catch (const EventLimit&) {
    if (!job.may_hang) throw;
    outcome.hung = true;
  }
  const model::Verdict verdict = model::check(cluster.take_trace(), kLibraries, {.tower = job.tower});
  outcome.consistent = verdict.consistent();
  outcome.text = verdict.to_text();
  outcome.subevents = verdict.subevents;
  return outcome;
}

std::int64_t pattern(std::string_view name) {
  const auto& choices = workloads::find("pattern")->params[1].choices;
  return std::ranges::find(choices, name) - choices.begin();
}

}  // namespace loco::test
