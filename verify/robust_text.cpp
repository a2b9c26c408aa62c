// Verdicts of robustness of RMA programs as JSON and in words (docs/robustness.md).
#include <filesystem>
#include <nlohmann/json.hpp>

#include "text/json.hpp"
#include "text/shown.hpp"
#include "verify/robust.hpp"
#include "verify/schedule.hpp"

namespace loco::verify {
namespace {

std::string name_of(const Program& program) { return std::filesystem::path(program.file).stem().string(); }

}  // namespace

nlohmann::ordered_json robust_json(const Program& program, const FlushMask& flushes, Network network,
                                   const RmaRobustness& r, double seconds) {
  nlohmann::ordered_json cycle = nlohmann::ordered_json::array();
  for (const RmaAccess& a : r.cycle)
    cycle.push_back({{"process", program.processes[a.process].name()},
                     {"line", a.place.line},
                     {"statement", a.statement},
                     {"access", a.access},
                     {"edge", a.edge}});
  nlohmann::ordered_json schedule = nlohmann::ordered_json::array();
  for (const StepInWords& s : in_words(Semantics(program, flushes, network), r.schedule))
    schedule.push_back(
        {{"process", program.processes[s.process].name()}, {"nic", s.nic}, {"action", s.action}, {"effect", s.effect}});
  nlohmann::ordered_json j = {{"name", name_of(program)}, {"model", name(network)}};
  j["robust"] = r.robust ? nlohmann::ordered_json(*r.robust) : nlohmann::ordered_json(nullptr);
  j["robust_outcomes"] = r.robust == true ? nlohmann::ordered_json(true) : nlohmann::ordered_json(nullptr);
  j["outcome"] = nullptr;
  j["cycle"] = std::move(cycle);
  j["repair"] = nullptr;
  if (r.robust == true) j["by"] = r.proved ? "graphs" : "search";
  if (r.robust == false) j["schedule"] = std::move(schedule);
  if (!r.why.empty()) j["unknown"] = r.why;
  j["seconds"] = seconds;
  return j;
}

std::string robust_text(const Program& program, const FlushMask& flushes, Network network, const RmaRobustness& r) {
  const char* verdict = !r.robust ? "Unknown" : *r.robust ? "Robust" : "Not robust";
  std::string s = "Test " + text::shown(name_of(program)) + " " + verdict + "\n";
  if (!r.why.empty()) s += "  " + r.why + "\n";
  const auto line = [&](const RmaAccess& a) {
    return "  process " + program.processes[a.process].name() + " `" + text::shown(a.statement) + "` [" + a.access +
           "]\n";
  };
  for (const RmaAccess& a : r.cycle) s += line(a) + "    --" + a.edge + "-->\n";
  if (r.cycle.empty()) return s;
  s += line(r.cycle.front()) + "Schedule\n";
  for (const StepInWords& step : in_words(Semantics(program, flushes, network), r.schedule))
    s += "  " + std::string(step.nic ? "NIC of " : "process ") + program.processes[step.process].name() + ": " +
         text::shown(step.action) + (step.effect.empty() ? "" : " (" + step.effect + ")") + "\n";
  return s;
}

}  // namespace loco::verify
