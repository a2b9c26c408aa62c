#include "loco_sim/replay/replay_on.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "loco_sim/explore/core_verbs.hpp"
#include "loco_sim/explore/deadline.hpp"
#include "loco_sim/explore/explore.hpp"
#include "loco_sim/replay/straight_line.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::replay {

namespace {

constexpr std::uint64_t kSeed = 1;

using text::counted;

explore::Goal goal_of(const StraightLine& line, const explore::Machine& machine) {
  const auto reached = [&line, &machine](const explore::Configuration& c) {
    return std::ranges::all_of(c.threads, &explore::ThreadState::finished) && breaks(line, machine.outcome(c));
  };
  return {.reached = reached, .passing = line.looks_at_memory};
}

OnHardware search(const StraightLine& line, const nic::HardwareProfile& profile, const ReplayLimits& limits) {
  const explore::Machine machine(explore::over_verbs(line.program, explore::verbs_options(profile)), profile);
  const explore::Goal goal = goal_of(line, machine);
  const explore::Deadline deadline = explore::Deadline::after(limits.max_seconds);
  OnHardware found;
  const explore::ExploreResult all = explore::explore(
      machine, {.max_states = limits.states, .max_time = deadline.left(), .poll = limits.poll, .goal = goal});
  found.states = all.states;
  found.shows = all.reached ? Shows::seen : all.exhaustive() ? Shows::forbidden : Shows::not_seen;
  if (found.shows != Shows::not_seen) return found;
  const explore::SampleResult some =
      explore::sample(machine, limits.runs, kSeed, {.max_time = deadline.left(), .poll = limits.poll, .goal = goal});
  found.runs = some.runs;
  if (some.reached) found.shows = Shows::seen;
  return found;
}

}  // namespace

std::string_view name(Shows shows) {
  constexpr std::array<std::string_view, 4> kNames = {"seen", "forbidden", "not seen", "not run"};
  return kNames.at(static_cast<std::size_t>(shows));
}

OnHardware replay_on(const verify::Semantics& semantics, const verify::Schedule& schedule, const std::string& hardware,
                     const nic::HardwareProfile& profile, const ReplayLimits& limits) {
  OnHardware found;
  try {
    found = search(straight_line(semantics, schedule), profile, limits);
  } catch (const std::invalid_argument& error) {
    found.why = error.what();
  } catch (const text::InputError& error) {
    found.why = error.what();
  }
  found.hardware = hardware;
  return found;
}

std::vector<OnHardware> replay_on(const verify::Report& report, const std::vector<scenario::Hardware>& hardware,
                                  const ReplayLimits& limits) {
  std::vector<OnHardware> result;
  if (!report.answer.counterexample) return result;
  const verify::Semantics semantics(report.program, report.flushes, report.network);
  for (const scenario::Hardware& one : hardware)
    result.push_back(replay_on(semantics, report.answer.counterexample->schedule, one.name, one.profile, limits));
  return result;
}

std::string to_text(const OnHardware& found) {
  const std::string start = fmt::format("on {}: {}", found.hardware, name(found.shows));
  const std::string states = counted(found.states, "state");
  const std::string runs = counted(found.runs, "sampled run");
  switch (found.shows) {
    case Shows::seen:
      if (found.runs == 0) return fmt::format("{}, {} into exploring its schedules", start, states);
      return fmt::format("{}, by the last of {}; too large to explore", start, runs);
    case Shows::forbidden:
      return fmt::format("{}: no schedule does it along these paths ({}, which are all)", start, states);
    case Shows::not_seen:
      return fmt::format("{}, which proves nothing: too large to explore ({}), and none of {} does it", start, states,
                         runs);
    default:
      return fmt::format("{}: {}", start, found.why);
  }
}

nlohmann::ordered_json to_json(const OnHardware& found) {
  nlohmann::ordered_json out{{"hardware", found.hardware}, {"shows", name(found.shows)}};
  if (found.shows == Shows::not_run) {
    out["why"] = found.why;
    return out;
  }
  out["how"] = found.runs == 0 ? "explored" : "sampled";
  out["states"] = found.states;
  out["runs"] = found.runs;
  return out;
}

void add(const std::vector<OnHardware>& found, std::string& text) {
  for (const OnHardware& one : found) text += fmt::format("  {}\n", to_text(one));
}

void add(const std::vector<OnHardware>& found, nlohmann::ordered_json& report) {
  if (found.empty()) return;
  report["replay_on"] = nlohmann::ordered_json::array();
  for (const OnHardware& one : found) report["replay_on"].push_back(to_json(one));
}

}  // namespace loco::replay
