// Verdicts of robustness as JSON and in words (docs/robustness.md).
#include "model/litmus/answers/robust_text.hpp"

#include <nlohmann/json.hpp>

#include "model/litmus/language/value_json.hpp"
#include "text/shown.hpp"

namespace loco::model::litmus {
namespace {

nlohmann::ordered_json or_null(const std::optional<bool>& b) {
  return b ? nlohmann::ordered_json(*b) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json outcome_json(const Program& p, const Outcome& outcome) {
  nlohmann::ordered_json entry = nlohmann::ordered_json::object();
  for (std::size_t k = 0; k < outcome.size(); ++k) entry[p.observables[k].name] = value_json(p, outcome[k]);
  return entry;
}

const char* word(Repair::Reason reason) {
  switch (reason) {
    case Repair::Reason::none:
      return "none";
    case Repair::Reason::limit:
      return "limit";
    case Repair::Reason::model:
      return "model";
    default:
      return "unknown";
  }
}

nlohmann::ordered_json repair_json(const Repair& repair) {
  nlohmann::ordered_json sets = nlohmann::ordered_json::array();
  for (const auto& set : repair.sets) {
    nlohmann::ordered_json one = nlohmann::ordered_json::array();
    for (const Insertion& i : set) {
      nlohmann::ordered_json j = {{"thread", i.thread}, {"before", i.before}, {"insert", i.text()}};
      if (i.operation != kNone) j["names"] = i.operation_text + " as " + i.name;
      one.push_back(std::move(j));
    }
    sets.push_back(std::move(one));
  }
  return {{"size", repair.size}, {"sets", std::move(sets)}};
}

}  // namespace

nlohmann::ordered_json robust_json(const RobustReport& r) {
  nlohmann::ordered_json cycle = nlohmann::ordered_json::array();
  for (const Robustness::Step& s : r.result.cycle)
    cycle.push_back({{"thread", s.thread}, {"statement", s.statement}, {"access", s.access}, {"edge", s.edge}});
  nlohmann::ordered_json j = {{"name", r.program->name},
                              {"model", r.model},
                              {"robust", or_null(r.result.robust)},
                              {"robust_outcomes", or_null(r.result.robust_outcomes)}};
  j["outcome"] = r.result.outcome ? outcome_json(*r.program, *r.result.outcome) : nlohmann::ordered_json(nullptr);
  j["cycle"] = std::move(cycle);
  const bool found = r.result.repair && r.result.repair->reason == Repair::Reason::found;
  j["repair"] = found ? repair_json(*r.result.repair) : nlohmann::ordered_json(nullptr);
  if (r.result.repair && !found) j["reason"] = word(r.result.repair->reason);
  if (!r.result.why_unknown.empty()) j["unknown"] = r.result.why_unknown;
  j["seconds"] = r.seconds;
  return j;
}

namespace {

/// The statement of a thread, as written.
std::string statement_text(const Program& p, int thread, int statement) {
  const Thread& t = at(p.threads, thread);
  const std::vector<int> statements = statements_of(t);
  for (int pc = 0; pc < len(t.code); ++pc)
    if (at(statements, pc) == statement) return at(t.code, pc).text;
  return "";
}

std::string repair_text(const Program& p, const Repair& repair) {
  if (repair.reason == Repair::Reason::none) return "No repair: nothing that can be inserted helps\n";
  if (repair.reason == Repair::Reason::limit) return "No repair found: more insertions are needed than --max-repair\n";
  if (repair.reason == Repair::Reason::model)
    return "No repair: in rdmatso a poll more takes the completion of another\n";
  if (repair.reason == Repair::Reason::unknown) return "No repair found: a limit stopped the search\n";
  std::string s = "Repair of " + std::to_string(repair.size) + (repair.size == 1 ? " insertion" : " insertions") + "\n";
  for (std::size_t k = 0; k < repair.sets.size(); ++k) {
    const char* lead = k == 0 ? "  " : "  or ";
    for (const Insertion& i : repair.sets[k]) {
      s += lead + i.text() + " before `" + text::shown(statement_text(p, i.thread, i.before)) + "` (thread " +
           std::to_string(i.thread) + ", statement " + std::to_string(i.before) + ")";
      if (i.operation != kNone) s += ", with `" + text::shown(i.operation_text) + " as " + i.name + "`";
      lead = "; ";
    }
    s += "\n";
  }
  return s;
}

}  // namespace

std::string to_text(const RobustReport& r) {
  const Program& p = *r.program;
  const char* verdict = !r.result.robust ? "Unknown" : *r.result.robust ? "Robust" : "Not robust";
  std::string s = "Test " + text::shown(p.name) + " " + verdict + "\n";
  if (!r.result.robust) s += "  " + r.result.why_unknown + "\n";
  if (r.result.outcome) {
    const std::string outcome = p.text(*r.result.outcome);
    if (!outcome.empty())
      s += "Outcome " + outcome + (r.result.robust_outcomes == true ? ", one of sc as well\n" : "\n");
  }
  for (std::size_t k = 0; k < r.result.cycle.size(); ++k) {
    const Robustness::Step& step = r.result.cycle[k];
    s += "  thread " + std::to_string(step.thread) + " `" +
         text::shown(statement_text(p, step.thread, step.statement)) + "` [" + step.access + "]\n    --" + step.edge +
         "-->\n";
  }
  if (!r.result.cycle.empty()) {
    const Robustness::Step& first = r.result.cycle.front();
    s += "  thread " + std::to_string(first.thread) + " `" +
         text::shown(statement_text(p, first.thread, first.statement)) + "` [" + first.access + "]\n";
  }
  if (r.result.repair) s += repair_text(p, *r.result.repair);
  return s;
}

}  // namespace loco::model::litmus
