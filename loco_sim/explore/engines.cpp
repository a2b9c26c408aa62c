#include "loco_sim/explore/engines.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>

#include "loco_sim/explore/explore.hpp"
#include "loco_sim/explore/in_order.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/implementations.hpp"

namespace loco::explore {

namespace {

using model::litmus::EngineOptions;
using model::litmus::Outcome;
using model::litmus::Program;
using model::litmus::Result;

bool observes_tuple(const Program& program) {
  return std::any_of(program.observables.begin(), program.observables.end(), [&](const auto& o) {
    return o.location != model::litmus::kNone &&
           at(program.locations, o.location).kind == model::litmus::LocationKind::tuple;
  });
}

/// What hardware can run: a program over words. Nothing for those that it cannot, and why.
std::optional<Machine> machine_for(const Program& program, const EngineOptions& options, Result& result) {
  if (model::litmus::is_corerma(options.model)) {
    result.complete = false;
    result.notes.emplace_back("not run: the statements of coreRMA have no counterpart on this hardware");
    return std::nullopt;
  }
  if (observes_tuple(program)) {
    result.complete = false;
    result.notes.emplace_back("not run: in memory, a mixed-size variable has no one final value to tell");
    return std::nullopt;
  }
  return Machine(model::litmus::implement(program), scenario::load_hardware(options.hardware).profile);
}

std::string list(const Program& program, const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& o : outcomes) text += (text.empty() ? "" : "; ") + program.text(o);
  return text;
}

std::string plural(std::uint64_t n, std::string_view thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

/// Names the outcomes that the model allows and in-order completion does not.
void name_excluded(const Program& program, const EngineOptions& options, Result& result) {
  const std::vector<Outcome> excluded = excluded_by_in_order(program, options.model);
  if (excluded.empty()) return;
  result.notes.push_back(fmt::format("in-order completion excludes {}: {}", plural(excluded.size(), "allowed outcome"),
                                     list(program, excluded)));
}

std::chrono::milliseconds time_limit(double seconds) {
  constexpr double kMost = 1e12;
  const double ms = std::clamp(seconds * 1000, 0.0, kMost);
  return std::chrono::milliseconds(seconds > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(ms)) : 0);
}

Result explore_engine(const Program& program, const EngineOptions& options) {
  Result result;
  const auto machine = machine_for(program, options, result);
  if (!machine) return result;
  const ExploreResult found =
      explore(*machine, {.max_executions = options.max_executions, .max_time = time_limit(options.max_seconds)});
  result.outcomes = found.outcomes;
  result.executions = found.executions;
  result.complete = found.complete;
  if (!found.complete) {
    const bool executions = options.max_executions != 0 && found.executions >= options.max_executions;
    result.notes.push_back(
        fmt::format("stopped early by the limit of {}, after {} and {}: there may be more outcomes",
                    executions ? plural(options.max_executions, "execution") : fmt::format("{} s", options.max_seconds),
                    plural(found.executions, "execution"), plural(found.states, "state")));
  }
  if (found.stuck != 0) {
    result.notes.push_back(fmt::format("{} in which a thread waits for ever", plural(found.stuck, "final state")));
  }
  name_excluded(program, options, result);
  return result;
}

Result sample_engine(const Program& program, const EngineOptions& options) {
  Result result;
  const auto machine = machine_for(program, options, result);
  if (!machine) return result;
  const SampleResult seen = sample(*machine, options.runs, options.seed);
  for (const SampleResult::Seen& s : seen.outcomes) {
    result.outcomes.push_back(s.outcome);
    result.counts.push_back(s.times);
  }
  result.executions = seen.runs;
  if (seen.stuck != 0) {
    result.notes.push_back(fmt::format("{} ended with a thread that waits for ever", plural(seen.stuck, "run")));
  }
  return result;
}

}  // namespace

std::map<std::string, model::litmus::Engine> engines() {
  return {{"explore", explore_engine}, {"sample", sample_engine}};
}

}  // namespace loco::explore
