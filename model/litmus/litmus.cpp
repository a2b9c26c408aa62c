#include "model/litmus/litmus.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "model/litmus/search.hpp"
#include "model/litmus/statements.hpp"

namespace loco::model::litmus {
namespace {

std::string condition_text(const Program& program, const PartialOutcome& partial) {
  std::string s;
  for (const auto& [observable, value] : partial)
    s += (s.empty() ? "" : " ") + at(program.observables, observable).name + "=" + program.text(value);
  return s.empty() ? "any outcome" : s;
}

/// rdmawait is a part of loco: a program of its methods has the same outcomes in both.
bool same_expectations(const std::string& a, const std::string& b) {
  const auto family = [](const std::string& m) { return m == "rdmawait" ? "loco" : m; };
  return family(a) == family(b);
}

}  // namespace

Result enumerate(const Program& program, const Options& options) {
  Result result;
  result.name = program.name;
  result.model = options.model.empty() ? program.model : options.model;
  result.engine = "declarative";
  const Model* model = find_model(result.model);
  if (model == nullptr) throw std::invalid_argument("unknown model '" + result.model + "'");
  check_methods(program, result.model, program.file);

  SearchOptions search_options;
  search_options.model = options.model_options;
  search_options.loop_bound = options.loop_bound;
  search_options.every_witness = options.every_witness;
  search_options.outcomes_only = options.outcomes_only;
  search_options.executions_max = options.executions_max;
  search_options.counted_max = options.counted_max;
  search_options.poll = options.poll;
  SearchResult found = search(program, *model, search_options);
  result.outcomes = std::move(found.outcomes);
  result.executions = found.executions;
  result.complete = !found.stopped && !found.too_large;
  if (found.stopped) result.notes.push_back("stopped after " + std::to_string(found.executions) + " executions");
  if (found.uncounted && !options.outcomes_only)
    result.notes.push_back("executions were counted up to " + std::to_string(options.counted_max) +
                           "; the outcomes are complete");
  if (found.too_large)
    result.notes.emplace_back("too large: ways through the code were left out, so the verdict is not known");
  if (found.cut_loops)
    result.notes.push_back("loops were cut after " + std::to_string(options.loop_bound) + " repetitions");
  judge(program, result.complete, result);
  if (found.too_large) result.ok = false;  // what was left out is neither possible nor impossible
  for (const auto& [thread, instruction] : found.failed_assertions) {
    result.ok = false;
    result.unexpected.push_back(assertion_text(program, thread, instruction));
  }
  return result;
}

std::string assertion_text(const Program& program, int thread, int instruction) {
  const Instruction& i = at(at(program.threads, thread).code, instruction);
  return "assertion fails: " + i.text + " (line " + std::to_string(i.at.line) + ")";
}

void judge(const Program& program, bool exhaustive, Result& result) {
  const auto possible = [&](const PartialOutcome& partial) {
    return std::any_of(result.outcomes.begin(), result.outcomes.end(),
                       [&](const Outcome& o) { return matches(partial, o); });
  };
  if (same_expectations(program.model, result.model)) {
    for (const PartialOutcome& p : program.allowed)
      if (exhaustive && !possible(p)) result.missing.push_back(condition_text(program, p));
    for (const PartialOutcome& p : program.forbidden)
      if (possible(p)) result.unexpected.push_back(condition_text(program, p));
  }
  for (const auto& [model, outcomes] : program.outcomes_by_model) {
    if (!same_expectations(model, result.model)) continue;
    for (const PartialOutcome& p : outcomes)
      if (exhaustive && !possible(p)) result.missing.push_back(condition_text(program, p));
    for (const Outcome& o : result.outcomes)
      if (std::none_of(outcomes.begin(), outcomes.end(), [&](const PartialOutcome& p) { return matches(p, o); }))
        result.unexpected.push_back(program.text(o));
  }
  result.ok = result.ok && result.missing.empty() && result.unexpected.empty();
}

PartialOutcome parse_outcome(const Program& program, const std::string& text) {
  PartialOutcome result;
  std::size_t i = 0;
  const auto skip = [&](std::string_view characters) {
    while (i < text.size() && characters.find(text[i]) != std::string_view::npos) ++i;
  };
  skip(" ,{}");
  while (i < text.size()) {
    const std::size_t name_end = std::min(text.find_first_of(":= ", i), text.size());
    const std::string name = text.substr(i, name_end - i);
    i = name_end;
    skip(":= ");
    const std::size_t value_end = std::min(text.find_first_of(" ,}", i), text.size());
    const std::string word = text.substr(i, value_end - i);
    i = value_end;
    skip(" ,{}");
    const auto o = std::find_if(program.observables.begin(), program.observables.end(),
                                [&](const Observable& x) { return x.name == name; });
    if (o == program.observables.end())
      throw std::invalid_argument("expected a register or final location, found '" + name + "'");
    Value v = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), v);
    if (error != std::errc{} || stop != word.data() + word.size()) {
      v = word == "true"        ? kTrue
          : word == "false"     ? kFalse
          : word == "empty"     ? kEmpty
          : word == "bottom"    ? kBottom
          : word == "undefined" ? kUndefined
                                : kSpecial;
      if (v == kSpecial) throw std::invalid_argument("expected a value for " + name + ", found '" + word + "'");
    }
    result.emplace_back(static_cast<int>(o - program.observables.begin()), v);
  }
  return result;
}

}  // namespace loco::model::litmus
