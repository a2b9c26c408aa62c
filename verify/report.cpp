#include "verify/report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verify/liveness/words.hpp"
#include "verify/schedule.hpp"

namespace loco::verify {

using nlohmann::ordered_json;

std::string_view name(Verdict verdict) {
  return verdict == Verdict::kSafe ? "safe" : verdict == Verdict::kUnsafe ? "unsafe" : "unknown";
}

std::string flush_text(const Report& report, std::uint32_t flush) {
  const FlushStatement& f = report.program.flushes[flush];
  if (report.flush_after_every_remote)
    return fmt::format("after {} in line {}", report.program.remotes[flush].text, f.place.line);
  return fmt::format("{} in line {}", f.text, f.place.line);
}

namespace {

Semantics semantics_of(const Report& report) { return {report.program, report.flushes, report.network}; }

/// `CPU 1`, `NIC 2`.
std::string who(const Program& program, const StepInWords& step) {
  return fmt::format("{} {}", step.nic ? "NIC" : "CPU", program.processes[step.process].name());
}

std::string what(const StepInWords& step) {
  return step.operation ? fmt::format("{} #{}", step.action, *step.operation) : step.action;
}

}  // namespace

std::vector<std::string> schedule_lines(const Semantics& semantics, const Schedule& schedule) {
  const Program& program = semantics.program();
  const std::vector<StepInWords> steps = in_words(semantics, schedule);
  std::size_t first = 0;
  std::size_t second = 0;
  for (const StepInWords& step : steps) {
    first = std::max(first, who(program, step).size());
    second = std::max(second, what(step).size());
  }
  constexpr std::size_t kWide = 48;
  second = std::min(second, kWide);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string line = fmt::format("  {:>4}  {:<{}}  {:<{}}  {}", i + 1, who(program, steps[i]), first, what(steps[i]),
                                   second, steps[i].effect);
    line.erase(line.find_last_not_of(' ') + 1);
    result.push_back(fmt::format("{}  (line {})\n", line, steps[i].place.line));
  }
  return result;
}

namespace {

std::string search_text(const Report& report) {
  const FlushSearch& search = *report.search;
  std::string result = fmt::format("  {}\n", search.why);
  std::vector<Elements> placements = search.placements;
  if (search.at_most) placements.push_back(*search.at_most);
  for (const Elements& placement : placements) {
    result += placement.empty() ? "    none\n" : "   ";
    for (std::size_t i = 0; i < placement.size(); ++i)
      result += fmt::format("{} {}{}", i == 0 ? "" : ",", flush_text(report, placement[i]),
                            i + 1 == placement.size() ? "\n" : "");
  }
  return result;
}

ordered_json number(const Integer& integer) {
  if (integer.is_word()) return static_cast<std::int64_t>(integer);
  return integer.str();
}

}  // namespace

ordered_json schedule_json(const Semantics& semantics, const Schedule& schedule) {
  const std::vector<StepInWords> steps = in_words(semantics, schedule);
  ordered_json result = ordered_json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepInWords& step = steps[i];
    ordered_json out{{"actor", step.nic ? "nic" : "cpu"},
                     {"process", number(semantics.program().processes[step.process].id)},
                     {"action", step.action},
                     {"effect", step.effect},
                     {"line", step.place.line},
                     {"column", step.place.column}};
    if (step.operation) out["operation"] = *step.operation;
    if (!step.nic) {
      out["edge"] = schedule[i].edge;
      out["choice"] = schedule[i].choice;
    }
    result.push_back(std::move(out));
  }
  return result;
}

namespace {

std::uint64_t count(const FlushMask& mask) {
  return static_cast<std::uint64_t>(std::count(mask.begin(), mask.end(), true));
}

}  // namespace

bool holds(const Report& report) {
  return report.answer.verdict == Verdict::kSafe &&
         std::all_of(report.liveness.begin(), report.liveness.end(),
                     [](const liveness::LiveAnswer& a) { return a.verdict == liveness::LiveVerdict::kLive; });
}

std::string to_text(const Report& report) {
  const bool live_decides = report.answer.verdict == Verdict::kSafe && !report.liveness.empty();
  const std::string verdicts =
      fmt::format("{}{}", name(report.answer.verdict),
                  report.liveness.empty() ? "" : ", " + liveness::verdict_text(report.liveness));
  const std::string why = live_decides ? fmt::format("explicit: {}", liveness::deciding(report.liveness).why)
                                       : fmt::format("{}: {}", report.answer.engine, report.answer.why);
  std::string result = fmt::format("{}: {} under {} ({})\n", report.program.file, verdicts, name(report.network), why);
  if (report.search && holds(report)) result += search_text(report);
  if (report.answer.counterexample) {
    if (report.answer.counterexample->shortest) result += "  no schedule with fewer steps breaks anything\n";
    for (const std::string& line : schedule_lines(semantics_of(report), report.answer.counterexample->schedule))
      result += line;
  }
  if (!report.liveness.empty()) result += liveness::to_text(semantics_of(report), report.liveness);
  return result;
}

ordered_json to_json(const Report& report, bool times) {
  ordered_json flushes{{"given", count(report.flushes)}, {"needed", nullptr}, {"placements", ordered_json::array()}};
  if (report.search && report.search->found) {
    flushes["needed"] = report.search->placements.front().size();
    flushes["placements"] = report.search->placements;
    flushes["undecided"] = report.search->undecided;
  }
  if (report.search && report.search->at_most) {
    flushes["at_least"] = report.search->at_least;
    flushes["at_most"] = *report.search->at_most;
  }
  if (report.search) {
    flushes["why"] = report.search->why;
    flushes["checks"] = report.search->checks;
  }
  if (report.flush_after_every_remote) flushes["after_every_remote"] = true;
  ordered_json result{{"file", report.program.file},    {"verdict", name(report.answer.verdict)},
                      {"why", report.answer.why},       {"network", name(report.network)},
                      {"engine", report.answer.engine}, {"flushes", std::move(flushes)}};
  if (times) result["seconds"] = report.seconds;
  if (report.answer.predicates) result["predicates"] = *report.answer.predicates;
  if (report.answer.counterexample) {
    result["trace"] = schedule_json(semantics_of(report), report.answer.counterexample->schedule);
    result["shortest"] = report.answer.counterexample->shortest;
  }
  if (!report.liveness.empty()) result["liveness"] = liveness::to_json(semantics_of(report), report.liveness);
  return result;
}

}  // namespace loco::verify
