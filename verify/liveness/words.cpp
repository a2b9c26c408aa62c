#include "verify/liveness/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verify/liveness/lasso.hpp"
#include "verify/report.hpp"
#include "verify/schedule.hpp"

namespace loco::verify::liveness {

using nlohmann::ordered_json;

const LiveAnswer& deciding(const std::vector<LiveAnswer>& answers) {
  for (const LiveVerdict verdict : {LiveVerdict::kNotLive, LiveVerdict::kUnknown}) {
    for (const LiveAnswer& a : answers) {
      if (a.verdict == verdict) return a;
    }
  }
  return answers.front();
}

std::string verdict_text(const std::vector<LiveAnswer>& answers) {
  const LiveVerdict verdict = deciding(answers).verdict;
  return verdict == LiveVerdict::kUnknown ? "liveness unknown" : std::string(name(verdict));
}

namespace {

Schedule whole(const Lasso& lasso) {
  Schedule result = lasso.stem;
  result.insert(result.end(), lasso.loop.begin(), lasso.loop.end());
  return result;
}

std::string lasso_text(const Semantics& semantics, const Lasso& lasso) {
  std::vector<std::string> lines = schedule_lines(semantics, whole(lasso));
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == lasso.stem.size()) result += "  and for ever:\n";
    result += lines[i];
  }
  if (lasso.loop.empty()) return result + "  nothing can step any more\n";
  if (!lasso.recurrent.empty()) result += fmt::format("  from each state with {}\n", lasso.recurrent);
  return result + fmt::format("  {}\n", round_in_words(semantics, lasso));
}

}  // namespace

std::string to_text(const Semantics& semantics, const std::vector<LiveAnswer>& answers) {
  std::string result;
  for (const LiveAnswer& a : answers) {
    const LivenessProperty& property = semantics.program().liveness[a.property];
    const std::string_view fairness = kFairnessNames.at(static_cast<std::size_t>(a.fairness));
    if (answers.size() > 1)
      result += fmt::format("  line {}: {} under {} fairness: {} ({})\n", property.place.line, property.text,
                            a.fairness == Fairness::kNone ? "no" : fairness, name(a.verdict), a.why);
    if (a.lasso) result += lasso_text(semantics, *a.lasso);
  }
  return result;
}

ordered_json to_json(const Semantics& semantics, const std::vector<LiveAnswer>& answers) {
  ordered_json result = ordered_json::array();
  for (const LiveAnswer& a : answers) {
    const LivenessProperty& property = semantics.program().liveness[a.property];
    ordered_json out{{"property", property.text},
                     {"line", property.place.line},
                     {"fairness", kFairnessNames.at(static_cast<std::size_t>(a.fairness))},
                     {"verdict", name(a.verdict)},
                     {"why", a.why}};
    if (a.kind) out["kind"] = name(*a.kind);
    if (a.lasso) {
      const ordered_json steps = schedule_json(semantics, whole(*a.lasso));
      ordered_json trace{
          {"stem", ordered_json::array()}, {"loop", ordered_json::array()}, {"again", ordered_json::object()}};
      for (std::size_t i = 0; i < steps.size(); ++i)
        trace[i < a.lasso->stem.size() ? "stem" : "loop"].push_back(steps[i]);
      for (const auto& [end, begin] : a.lasso->again) trace["again"][std::to_string(end)] = std::to_string(begin);
      out["trace"] = std::move(trace);
      if (!a.lasso->recurrent.empty()) out["recurrent"] = a.lasso->recurrent;
    }
    result.push_back(std::move(out));
  }
  return result;
}

std::vector<std::uint32_t> flushes_that_would_wait(const Semantics& semantics, const Lasso& lasso) {
  return verify::flushes_that_would_wait(semantics, whole(lasso));
}

}  // namespace loco::verify::liveness
