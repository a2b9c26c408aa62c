#include "text/json.hpp"

#include <nlohmann/json.hpp>

#include "model/litmus/command.hpp"
#include "model/litmus/value_json.hpp"

namespace loco::model::litmus {

nlohmann::ordered_json value_json(const Program& p, Value v) {
  if (is_integer(v)) return v;
  if (v == kTrue || v == kFalse) return v == kTrue;
  if (!is_tuple(v)) return p.text(v);
  nlohmann::ordered_json elements = nlohmann::ordered_json::array();
  for (const Value e : p.tuples[static_cast<std::size_t>(v - kFirstTuple)]) elements.push_back(e);
  return elements;
}

std::string to_json(const std::vector<const Program*>& programs, const std::vector<Result>& results, bool times) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Program& p = *programs[i];
    const Result& r = results[i];
    nlohmann::ordered_json outcomes = nlohmann::ordered_json::array();
    for (const Outcome& o : r.outcomes) {
      nlohmann::ordered_json entry = nlohmann::ordered_json::object();
      for (std::size_t k = 0; k < o.size(); ++k) entry[p.observables[k].name] = value_json(p, o[k]);
      outcomes.push_back(std::move(entry));
    }
    nlohmann::ordered_json j = {{"name", r.name},       {"model", r.model},           {"engine", r.engine},
                                {"outcomes", outcomes}, {"executions", r.executions}, {"verdict", name(verdict_of(r))},
                                {"missing", r.missing}, {"unexpected", r.unexpected}};
    if (times) j["seconds"] = r.seconds;
    if (!r.counts.empty()) j["counts"] = r.counts;
    if (!r.notes.empty()) j["notes"] = r.notes;
    if (!r.complete) j["complete"] = false;
    array.push_back(std::move(j));
  }
  return text::json_text(array, 2);
}

}  // namespace loco::model::litmus
