#include "loco_sim/explore/engines.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loco_sim/explore/core_verbs.hpp"
#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/in_order.hpp"
#include "loco_sim/explore/queues.hpp"
#include "loco_sim/explore/ruled_out.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/implementations/implementations.hpp"
#include "model/verbs/check.hpp"
#include "text/words.hpp"

namespace loco::explore {

namespace {

using model::litmus::EngineOptions;
using model::litmus::Outcome;
using model::litmus::Program;
using model::litmus::Result;
using text::counted;

/// True if a mixed-size variable of `final` ended up torn. Every read of it would fail, which the model does not cover.
bool torn(const Program& program, const Outcome& outcome) {
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    const auto& o = program.observables[i];
    if (o.location != model::litmus::kNone && outcome[i] == model::litmus::kBottom) return true;
  }
  return false;
}

void name_torn(std::size_t outcomes, Result& result) {
  if (outcomes == 0) return;
  result.notes.push_back(
      fmt::format("left out {} in which a final mixed-size value is torn in memory: its readers would go on trying",
                  counted(outcomes, "outcome")));
}

/// The program as hardware with this profile runs it: over words, and over verbs.
Program on_hardware(const Program& program, const EngineOptions& options, const nic::HardwareProfile& profile) {
  if (model::litmus::is_corerma(options.model)) return over_verbs(program, verbs_options(profile));
  return program.model == "verbs" ? program : model::litmus::implement(program);
}

constexpr const char* kReference = "model-weak";

/// On model-weak atomics are as the model defines them: one action in coreRMA; in rdmatso they exclude other atomics
/// only.
nic::HardwareProfile profile_for(const std::string& hardware, const EngineOptions& options) {
  nic::HardwareProfile profile = scenario::load_hardware(hardware).profile;
  if (hardware == kReference && !model::litmus::is_corerma(options.model)) profile.nic_atomic_cap = nic::AtomicCap::hca;
  return profile;
}

Machine machine_for(const Program& program, const EngineOptions& options) {
  const nic::HardwareProfile profile = profile_for(options.hardware, options);
  return Machine(on_hardware(program, options, profile), profile);
}

std::string list(const Program& program, const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& o : outcomes) text += (text.empty() ? "" : "; ") + program.text(o);
  return text;
}

/// Names the outcomes that the model allows but in-order completion excludes.
void name_excluded(const Program& program, const EngineOptions& options, model::litmus::TimeLimit& limit,
                   Result& result) {
  const std::vector<Outcome> excluded = excluded_by_in_order(program, options.model, options.poll, limit.question());
  if (limit.was_reached()) result.notes.emplace_back("not compared with in-order completion: no time was left");
  if (excluded.empty()) return;
  result.notes.push_back(fmt::format("in-order completion excludes {}: {}", counted(excluded.size(), "allowed outcome"),
                                     list(program, excluded)));
}

/// Names the outcomes of model-weak that the profile rules out, with the mechanism. `shown`: all outcomes of the
/// profile.
void name_ruled_out(const Program& program, const EngineOptions& options, const std::vector<Outcome>& shown,
                    const ExploreLimits& limits, Result& result) {
  if (options.hardware == kReference) return;
  const auto reference = profile_for(kReference, options);
  const auto all = mechanisms(reference, scenario::load_hardware(options.hardware).profile);
  const RuledOutResult found = ruled_out(
      [&](const nic::HardwareProfile& p) { return on_hardware(program, options, p); }, shown, reference, all, limits);
  if (!found.complete) {
    result.notes.push_back(fmt::format("not compared with {}: a limit stopped the search there", kReference));
    return;
  }
  std::string text;
  std::size_t outcomes = 0;
  for (const RuledOut& r : found.ruled_out) {
    if (torn(program, r.outcome)) continue;
    ++outcomes;
    text += fmt::format("{}{} (by {})", text.empty() ? "" : "; ", program.text(r.outcome),
                        r.by.empty() ? "several mechanisms together" : fmt::format("{}", fmt::join(r.by, " or ")));
  }
  if (outcomes == 0) return;
  result.notes.push_back(fmt::format("{} rules out {} that {} shows: {}", options.hardware,
                                     counted(outcomes, "outcome"), kReference, text));
}

std::chrono::milliseconds time_limit(double seconds) {
  constexpr double kMost = 1e12;
  const double ms = std::clamp(seconds * 1000, 0.0, kMost);
  return std::chrono::milliseconds(seconds > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(ms)) : 0);
}

/// Further turns of loops that post operations, because each turn is a new state.
constexpr std::uint16_t kLoopTurns = 2;

/// Some programs of model verbs are not run. Verbs refuse to post an atomic if the device has none, so such a program
/// is not run either.
bool refused(const Program& program, const EngineOptions& options, Result& result) {
  if (const std::string why = refusal(program); !why.empty()) {
    result.ran = result.complete = false;
    result.notes.push_back("hardware does not run it: " + why);
    return true;
  }
  if (profile_for(options.hardware, options).nic_atomic_cap != nic::AtomicCap::none) return false;
  for (const auto& thread : program.threads)
    for (const auto& i : thread.code) {
      if (!is_atomic(program, i)) continue;
      result.ran = result.complete = false;
      result.notes.push_back(
          fmt::format("{} has no remote atomics (nic.atomic_cap: none): '{}' is refused when it is posted",
                      options.hardware, i.text));
      return true;
    }
  return false;
}

/// Each outcome of a program of model verbs has a run, whose trace is judged like those of other programs. A run that
/// the model does not allow is a failure, whatever its outcome.
void judge_runs(const Program& program, const EngineOptions& options, const Ways& ways, Result& result) {
  if (ways.empty()) return;
  const Machine machine(program, profile_for(options.hardware, options), Network::simplest, true);
  std::size_t consistent = 0;
  for (const auto& [outcome, way] : ways) {
    const model::verbs::Verdict verdict = model::verbs::check(machine.record(way));
    if (verdict.consistent())
      ++consistent;
    else
      result.unexpected.push_back(program.text(outcome) + ", in a run that the model forbids: " + verdict.to_text());
  }
  if (consistent > 0)
    result.notes.push_back(
        fmt::format("the trace of a run with {} is consistent",
                    consistent == 1 ? "its outcome" : fmt::format("each of {} outcomes", consistent)));
}

const char* or_message(const Program& program) {
  return program.model == "verbs" ? ", or a message for a receive," : "";
}

Result explore_engine(const Program& program, const EngineOptions& options) {
  Result result;
  if (refused(program, options, result)) return result;
  const Machine machine = machine_for(program, options);
  model::litmus::TimeLimit time(options.max_seconds);  // for everything explored for the test
  const ExploreLimits limits{.max_executions = options.max_executions,
                             .out_of_time = time.question(),
                             .loop_turns = kLoopTurns,
                             .poll = options.poll};
  ExploreLimits varied = limits;
  varied.max_time = time_limit(options.max_seconds);
  varied.vary = true;
  varied.ways = program.model == "verbs";
  const ExploreResult found = explore(machine, varied);
  if (found.cut != 0) {
    result.notes.push_back(fmt::format("loops with remote operations were cut after {} repetitions", kLoopTurns));
  }
  for (const Outcome& o : found.outcomes)
    if (!torn(program, o)) result.outcomes.push_back(o);
  name_torn(found.outcomes.size() - result.outcomes.size(), result);
  result.unexpected.assign(found.failed_assertions.begin(), found.failed_assertions.end());
  judge_runs(program, options, found.ways, result);
  result.executions = found.executions;
  result.complete = found.exhaustive();
  result.cut_short = !found.complete;
  if (!found.complete) {
    const bool executions = options.max_executions != 0 && found.executions >= options.max_executions;
    result.notes.push_back(fmt::format(
        "stopped early by the limit of {}, after {} and {}{}: there may be more outcomes",
        executions ? counted(options.max_executions, "execution") : fmt::format("{} s", options.max_seconds),
        counted(found.executions, "execution"), counted(found.states, "state"),
        found.varied == 0 ? "" : ", and " + counted(found.varied, "run") + " that sought new outcomes"));
  }
  if (found.stuck != 0) {
    result.notes.push_back(
        fmt::format("{} in which a thread{} waits for ever", counted(found.stuck, "final state"), or_message(program)));
  }
  const bool stopped = !found.complete && !time.was_reached();
  if (stopped) result.notes.emplace_back("not compared with in-order completion: the limit of executions was reached");
  if (!stopped && !time.was_reached()) name_excluded(program, options, time, result);
  if (found.exhaustive() && !time.was_reached()) name_ruled_out(program, options, found.outcomes, limits, result);
  return result;
}

Result sample_engine(const Program& program, const EngineOptions& options) {
  Result result;
  if (refused(program, options, result)) return result;
  const Machine machine = machine_for(program, options);
  const SampleResult seen =
      sample(machine, options.runs, options.seed,
             {.max_time = time_limit(options.max_seconds), .poll = options.poll, .ways = program.model == "verbs"});
  for (const SampleResult::Seen& s : seen.outcomes) {
    if (torn(program, s.outcome)) continue;
    result.outcomes.push_back(s.outcome);
    result.counts.push_back(s.times);
  }
  name_torn(seen.outcomes.size() - result.outcomes.size(), result);
  result.unexpected.assign(seen.failed_assertions.begin(), seen.failed_assertions.end());
  judge_runs(program, options, seen.ways, result);
  result.executions = seen.runs;
  if (seen.runs < options.runs) {
    result.complete = false;
    result.cut_short = true;
    result.notes.push_back(
        fmt::format("stopped early by the limit of {} s, after {}", options.max_seconds, counted(seen.runs, "run")));
  }
  if (seen.stuck != 0) {
    result.notes.push_back(
        fmt::format("{} ended with a thread{} that waits for ever", counted(seen.stuck, "run"), or_message(program)));
  }
  return result;
}

}  // namespace

std::map<std::string, model::litmus::Engine> engines() {
  return {{"explore", explore_engine}, {"sample", sample_engine}};
}

}  // namespace loco::explore
