#include "text/json.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "model/litmus/answers/command.hpp"
#include "model/litmus/language/value_json.hpp"

namespace loco::model::litmus {

nlohmann::ordered_json value_json(const Program& p, Value v) {
  if (is_integer(v)) return v;
  if (v == kTrue || v == kFalse) return v == kTrue;
  if (!is_tuple(v)) return p.text(v);
  nlohmann::ordered_json elements = nlohmann::ordered_json::array();
  for (const Value e : p.tuples[static_cast<std::size_t>(v - kFirstTuple)]) elements.push_back(e);
  return elements;
}

namespace {

/// The text of a value that stands `level` levels deep, after its name.
std::string nested(const nlohmann::ordered_json& json, int level) {
  std::string out;
  for (const char c : text::json_text(json, 2)) {
    out += c;
    if (c == '\n') out.append(static_cast<std::size_t>(2 * level), ' ');
  }
  return out;
}

}  // namespace

void JsonArray::add(const Program& p, Result& r, const std::function<bool()>& stop) {
  out_ << (empty_ ? "\n  {\n" : ",\n  {\n");
  empty_ = false;
  const char* separator = "";
  const auto member = [&](const char* name, const nlohmann::ordered_json& j) {
    out_ << separator << "    \"" << name << "\": " << nested(j, 2);
    separator = ",\n";
  };
  member("name", r.name);
  member("model", r.model);
  member("engine", r.engine);
  std::vector<std::string> names;
  for (const Observable& o : p.observables) names.push_back("        " + text::json_text(o.name) + ": ");
  out_ << ",\n    \"outcomes\": [";
  bool first = true;
  list_outcomes(r, stop, [&](std::size_t i) {
    const OutcomeView o = r.outcomes.row(i);
    out_ << (first ? "\n      {" : ",\n      {");
    first = false;
    for (std::size_t k = 0; k < o.size(); ++k) {
      out_ << (k == 0 ? "\n" : ",\n") << names[k];
      if (is_integer(o[k]))
        out_ << o[k];
      else
        out_ << nested(value_json(p, o[k]), 4);
    }
    out_ << (o.empty() ? "}" : "\n      }");
  });
  out_ << (first ? "]" : "\n    ]");
  member("executions", r.executions);
  member("verdict", name(verdict_of(r)));
  member("missing", r.missing);
  member("unexpected", r.unexpected);
  if (times_) member("seconds", r.seconds);
  if (!r.counts.empty()) member("counts", r.counts);
  if (p.verbs.judges_races) member("races", r.races);
  if (!r.notes.empty()) member("notes", r.notes);
  if (!r.complete) member("complete", false);
  out_ << "\n  }";
}

void JsonArray::write_bracket() { out_ << "["; }

void JsonArray::end() { out_ << (empty_ ? "]" : "\n]"); }

std::string to_json(const std::vector<const Program*>& programs, const std::vector<Result>& results, bool times) {
  std::ostringstream out;
  JsonArray array(out, times);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Result told = results[i];
    array.add(*programs[i], told);
  }
  array.end();
  return out.str();
}

}  // namespace loco::model::litmus
