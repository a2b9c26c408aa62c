#include "verify/report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

std::string schedule_text(const Report& report) {
  const std::vector<StepInWords> steps = in_words(semantics_of(report), report.answer.counterexample->schedule);
  std::size_t first = 0;
  std::size_t second = 0;
  for (const StepInWords& step : steps) {
    first = std::max(first, who(report.program, step).size());
    second = std::max(second, what(step).size());
  }
  constexpr std::size_t kWide = 48;
  second = std::min(second, kWide);
  std::string result;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string line = fmt::format("  {:>4}  {:<{}}  {:<{}}  {}", i + 1, who(report.program, steps[i]), first,
                                   what(steps[i]), second, steps[i].effect);
    line.erase(line.find_last_not_of(' ') + 1);
    result += fmt::format("{}  (line {})\n", line, steps[i].place.line);
  }
  return result;
}

std::string search_text(const Report& report) {
  const FlushSearch& search = *report.search;
  std::string result = fmt::format("  {}\n", search.why);
  for (const Elements& placement : search.placements) {
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

ordered_json trace_json(const Report& report) {
  const Schedule& schedule = report.answer.counterexample->schedule;
  const std::vector<StepInWords> steps = in_words(semantics_of(report), schedule);
  ordered_json result = ordered_json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepInWords& step = steps[i];
    ordered_json out{{"actor", step.nic ? "nic" : "cpu"},
                     {"process", number(report.program.processes[step.process].id)},
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

std::uint64_t count(const FlushMask& mask) {
  return static_cast<std::uint64_t>(std::count(mask.begin(), mask.end(), true));
}

}  // namespace

std::string to_text(const Report& report) {
  std::string result = fmt::format("{}: {} under {} ({}: {})\n", report.program.file, name(report.answer.verdict),
                                   name(report.network), report.answer.engine, report.answer.why);
  if (report.search && report.answer.verdict == Verdict::kSafe) result += search_text(report);
  if (report.answer.counterexample) {
    if (report.answer.counterexample->shortest) result += "  no schedule with fewer steps breaks anything\n";
    result += schedule_text(report);
  }
  return result;
}

ordered_json to_json(const Report& report, bool times) {
  ordered_json flushes{{"given", count(report.flushes)}, {"needed", nullptr}, {"placements", ordered_json::array()}};
  if (report.search && report.search->found) {
    flushes["needed"] = report.search->placements.front().size();
    flushes["placements"] = report.search->placements;
    flushes["undecided"] = report.search->undecided;
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
    result["trace"] = trace_json(report);
    result["shortest"] = report.answer.counterexample->shortest;
  }
  return result;
}

}  // namespace loco::verify
