#include "model/litmus/litmus.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "model/litmus/search.hpp"
#include "model/litmus/statements.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

std::string outcome_text(const Program& program, const PartialOutcome& partial) {
  std::string s;
  for (const auto& [observable, value] : partial)
    s += (s.empty() ? "" : " ") + at(program.observables, observable).name + "=" + program.text(value);
  return s.empty() ? "any outcome" : s;
}

/// rdmawait is a part of loco: a program of its methods has the same outcomes in both.
bool same_expectations(const std::string& a, const std::string& b) {
  const auto family = [](const std::string& m) {
    const std::optional<RuleSet> rules = find_rule_set(m);
    return rules ? rules->text() : m == "rdmawait" ? "loco" : m;
  };
  return family(a) == family(b);
}

/// Reads `a: 0, r=[1, 2]`, in any of the ways that outcomes are printed.
class OutcomeReader {
 public:
  OutcomeReader(const Program& program, const std::string& text) : program_(program), text_(text) {}

  PartialOutcome run() {
    PartialOutcome result;
    for (skip(kBetween); i_ < text_.size(); skip(kBetween)) {
      const std::string name = word(":= ,;{}");
      const auto o = std::find_if(program_.observables.begin(), program_.observables.end(),
                                  [&](const Observable& x) { return x.name == name; });
      if (o == program_.observables.end()) fail("a register or final location", name);
      skip(" ");
      if (i_ == text_.size() || (text_[i_] != '=' && text_[i_] != ':')) fail("= after " + name, text_.substr(i_));
      ++i_;
      skip(" ");
      result.emplace_back(static_cast<int>(o - program_.observables.begin()), value(name));
    }
    return result;
  }

 private:
  static constexpr std::string_view kBetween = " ,;{}";

  [[noreturn]] static void fail(const std::string& expected, const std::string& found) {
    throw std::invalid_argument("expected " + expected + ", found " +
                                (found.empty() ? "nothing" : text::in_quotes(found)));
  }
  void skip(std::string_view characters) {
    while (i_ < text_.size() && characters.find(text_[i_]) != std::string_view::npos) ++i_;
  }
  std::string word(std::string_view ends) {
    const std::size_t begin = i_;
    i_ = std::min(text_.find_first_of(ends, i_), text_.size());
    return text_.substr(begin, i_ - begin);
  }
  Value value(const std::string& name) {
    if (i_ < text_.size() && text_[i_] == '[') return tuple(name);
    const std::string w = word(kBetween);
    if (const auto v = text::parse_integer(w)) return *v;
    if (const auto v = named_value(w)) return *v;
    fail("a value for " + name, w);
  }
  /// A tuple that the program does not have is no value of any outcome.
  Value tuple(const std::string& name) {
    const std::size_t begin = i_++;
    std::vector<Value> elements;
    for (skip(" ,"); i_ < text_.size() && text_[i_] != ']'; skip(" ,")) {
      const auto v = text::parse_integer(word(" ,]"));
      if (!v) fail("a list of integers for " + name, text_.substr(begin));
      elements.push_back(*v);
    }
    if (i_ == text_.size() || elements.empty()) fail("a list of integers for " + name, text_.substr(begin));
    ++i_;
    const auto known = std::find(program_.tuples.begin(), program_.tuples.end(), elements);
    return known == program_.tuples.end() ? kSpecial : kFirstTuple + (known - program_.tuples.begin());
  }

  const Program& program_;
  const std::string& text_;
  std::size_t i_ = 0;
};

}  // namespace

Result enumerate(const Program& program, const Options& options) {
  Result result;
  result.name = program.name;
  result.model = options.model.empty() ? program.model : options.model;
  result.engine = "declarative";
  const std::optional<Model> model = find_model(result.model);
  if (!model) throw std::invalid_argument("unknown model " + text::in_quotes(result.model));
  check_methods(program, result.model, program.file);

  SearchOptions search_options;
  search_options.model = options.model_options;
  search_options.loop_bound = options.loop_bound;
  search_options.every_witness = options.every_witness;
  search_options.outcomes_only = options.outcomes_only;
  search_options.executions_max = options.executions_max;
  search_options.counted_max = options.counted_max;
  search_options.poll = options.poll;
  search_options.out_of_time = options.out_of_time;
  SearchResult found = search(program, *model, search_options);
  result.outcomes = std::move(found.outcomes);
  result.executions = found.executions;
  result.cut_short = found.stopped || found.timed_out || found.too_large.any();
  result.complete_in_bound = !result.cut_short;
  result.complete = result.complete_in_bound && !found.cut_loops;
  if (found.timed_out)
    result.notes.push_back("stopped early by the limit of " + options.time_limit + ", after " +
                           std::to_string(found.executions) + " executions: there may be more outcomes");
  if (found.stopped) result.notes.push_back("stopped after " + std::to_string(found.executions) + " executions");
  if (found.uncounted && !options.outcomes_only)
    result.notes.push_back("executions were counted up to " + std::to_string(options.counted_max) +
                           "; the outcomes are complete");
  if (found.too_large.any())
    result.notes.push_back("too large: ways through the code were left out, so the verdict is not known: " +
                           found.too_large.text());
  if (found.cut_loops)
    result.notes.push_back("loops were cut after " + std::to_string(options.loop_bound) + " repetitions");
  judge(program, result.complete_in_bound, result);
  for (const auto& [thread, instruction] : found.failed_assertions) {
    result.ok = false;
    result.unexpected.push_back(assertion_text(program, thread, instruction));
  }
  return result;
}

Verdict verdict_of(const Result& result) {
  if (!result.ran) return Verdict::not_run;
  if (!result.ok) return Verdict::fail;
  const bool nothing = result.outcomes.empty() && !result.complete;  // every way through a loop was cut
  return result.cut_short || nothing ? Verdict::incomplete : Verdict::ok;
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::fail:
      return "fail";
    case Verdict::incomplete:
      return "incomplete";
    case Verdict::not_run:
      return "not run";
  }
  return "";
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
      if (exhaustive && !possible(p)) result.missing.push_back(outcome_text(program, p));
    for (const PartialOutcome& p : program.forbidden)
      if (possible(p)) result.unexpected.push_back(outcome_text(program, p));
  }
  for (const auto& [model, outcomes] : program.outcomes_by_model) {
    if (!same_expectations(model, result.model)) continue;
    for (const PartialOutcome& p : outcomes)
      if (exhaustive && !possible(p)) result.missing.push_back(outcome_text(program, p));
    const bool hardware = result.engine != "declarative";
    const auto expected = [&](const PartialOutcome& p, const Outcome& o) {
      return hardware ? agrees(p, o) : matches(p, o);
    };
    for (const Outcome& o : result.outcomes)
      if (std::none_of(outcomes.begin(), outcomes.end(), [&](const PartialOutcome& p) { return expected(p, o); }))
        result.unexpected.push_back(program.text(o));
  }
  result.ok = result.ok && result.missing.empty() && result.unexpected.empty();
}

PartialOutcome parse_outcome(const Program& program, const std::string& text) {
  return OutcomeReader(program, text).run();
}

}  // namespace loco::model::litmus
