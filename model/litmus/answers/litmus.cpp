#include "model/litmus/answers/litmus.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "model/litmus/language/herd.hpp"
#include "model/litmus/language/names.hpp"
#include "model/litmus/language/statements.hpp"
#include "model/litmus/search/search.hpp"
#include "model/litmus/search/verbs_races.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

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
    if (const auto v = request_named(program_, w)) return *v;
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

namespace {

/// The races found against those that the document expects, all of them.
void judge_races(std::vector<std::string> expected, bool cut, Result& result) {
  std::sort(expected.begin(), expected.end());
  const auto missing_in = [](const std::vector<std::string>& some, const std::vector<std::string>& all,
                             std::vector<std::string>& to) {
    for (const std::string& race : some)
      if (!std::binary_search(all.begin(), all.end(), race)) to.push_back("race: " + race);
  };
  if (!cut) missing_in(expected, result.races, result.missing);
  missing_in(result.races, expected, result.unexpected);
  result.ok = result.ok && result.missing.empty() && result.unexpected.empty();
  result.cut_short = result.cut_short || cut;
}

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
  search_options.memory_max = options.memory_max;
  search_options.counted_max = options.executions_max != 0 ? 0 : options.counted_max;
  search_options.poll = options.poll;
  search_options.out_of_time = options.out_of_time;
  SearchResult found = search(program, *model, search_options);
  result.outcomes = std::move(found.outcomes);
  result.executions = found.executions;
  result.cut_short = found.stopped || found.limited() || found.too_large.any();
  result.complete_in_bound = !result.cut_short;
  result.complete = result.complete_in_bound && !found.cut_loops;
  if (found.timed_out)
    result.notes.push_back("stopped early by the limit of " + options.time_limit + ", after " +
                           std::to_string(found.executions) + " executions: there may be more outcomes");
  if (found.out_of_memory)
    result.notes.push_back("stopped early by the limit of memory, after " + std::to_string(found.executions) +
                           " executions and " + std::to_string(result.outcomes.size()) +
                           " outcomes: there may be more outcomes");
  if (found.stopped)
    result.notes.push_back("stopped after " + std::to_string(found.executions) +
                           " executions: there may be more outcomes");
  if (found.uncounted && !options.outcomes_only && !result.cut_short)
    result.notes.push_back("executions were counted up to " +
                           std::to_string(options.executions_max != 0 ? options.executions_max : options.counted_max) +
                           "; the outcomes are complete");
  if (found.too_large.any())
    result.notes.push_back("too large: ways through the code were left out, so the verdict is not known: " +
                           found.too_large.text());
  if (found.cut_loops)
    result.notes.push_back("loops were cut after " + std::to_string(options.loop_bound) + " repetitions");
  const bool was_cut = result.cut_short;
  judge(program, result.complete_in_bound, result, options.out_of_time);
  if (result.cut_short && !was_cut)
    result.notes.push_back("stopped early by the limit of " + options.time_limit +
                           ", while the outcomes were compared with those of the document");
  if (program.verbs.judges_races && model->verbs && result.complete_in_bound) {
    bool cut = false;
    result.races = all_races(program, *model, search_options, &cut);
    judge_races(program.verbs.races, cut, result);
  }
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

namespace {

/// Outcomes of a document. Those that say everything are looked up, the others compared one by one.
class Expected {
 public:
  /// `hardware`: undefined stands for any value.
  Expected(const std::vector<PartialOutcome>& outcomes, std::size_t observables, bool hardware) : hardware_(hardware) {
    for (const PartialOutcome& p : outcomes) {
      Outcome whole(observables);
      std::size_t named = 0;
      for (const auto& [observable, value] : p) {
        at(whole, observable) = value;
        named += hardware && value == kUndefined ? 0 : 1;
      }
      if (named == observables && p.size() == observables)
        whole_.insert(whole);
      else
        partial_.push_back(&p);
    }
  }
  [[nodiscard]] bool has(OutcomeView o) const {
    return whole_.contains(o) || std::ranges::any_of(partial_, [&](const PartialOutcome* p) {
             return hardware_ ? agrees(*p, o) : matches(*p, o);
           });
  }

 private:
  bool hardware_;
  Outcomes whole_;
  std::vector<const PartialOutcome*> partial_;
};

class Judge {
 public:
  Judge(const Program& program, bool exhaustive, Result& result, const std::function<bool()>& stop)
      : program_(program), exhaustive_(exhaustive), result_(result), stop_(stop) {}

  void run() {
    if (program_.condition) ask_condition(*program_.condition);
    if (same_expectations(program_.model, result_.model)) {
      require_possible(program_.allowed);
      for (const PartialOutcome& p : program_.forbidden)
        if (possible(p)) result_.unexpected.push_back(program_.text(p, "any outcome"));
    }
    for (const auto& [model, outcomes] : program_.outcomes_by_model) {
      if (!same_expectations(model, result_.model)) continue;
      require_possible(outcomes);
      const Expected expected(outcomes, program_.observables.size(), result_.engine != "declarative");
      for (std::size_t i = 0; i < result_.outcomes.size() && !stopped(); ++i)
        if (!expected.has(result_.outcomes.row(i))) tell_unexpected(result_.outcomes.row(i));
    }
    if (unexpected_ > kUnexpectedTold)
      result_.unexpected.push_back("and " + std::to_string(unexpected_ - kUnexpectedTold) + " more");
    result_.ok = result_.ok && result_.missing.empty() && result_.unexpected.empty();
    if (!is_stopped_) return;
    result_.cut_short = true;
    result_.complete = result_.complete_in_bound = false;
  }

 private:
  static constexpr std::size_t kUnexpectedTold = 10'000;

  bool stopped() {
    constexpr std::uint64_t kAskEvery = 1024;
    if (!is_stopped_ && ++steps_ % kAskEvery == 0) is_stopped_ = stop_ && stop_();
    return is_stopped_;
  }
  bool possible(const PartialOutcome& p) {
    if (p.size() == program_.observables.size()) {
      Outcome whole(p.size());
      for (const auto& [observable, value] : p) at(whole, observable) = value;
      return result_.outcomes.contains(whole);
    }
    for (std::size_t i = 0; i < result_.outcomes.size() && !stopped(); ++i)
      if (matches(p, result_.outcomes.row(i))) return true;
    return false;
  }
  void ask_condition(const HerdCondition& c) {
    using Quantifier = HerdCondition::Quantifier;
    bool some = false, all = true;
    for (std::size_t i = 0; i < result_.outcomes.size() && !stopped(); ++i)
      (holds(c, result_.outcomes.row(i)) ? some : all) = holds(c, result_.outcomes.row(i));
    const std::string asked = litmus::text(c);
    if (c.quantifier == Quantifier::exists && !some && exhaustive_ && !is_stopped_) result_.missing.push_back(asked);
    if (c.quantifier == Quantifier::not_exists && some) result_.unexpected.push_back("a state against " + asked);
    if (c.quantifier == Quantifier::forall && !all) result_.unexpected.push_back("a state against " + asked);
  }
  void require_possible(const std::vector<PartialOutcome>& outcomes) {
    if (!exhaustive_) return;
    for (const PartialOutcome& p : outcomes)
      if (!possible(p) && !is_stopped_) result_.missing.push_back(program_.text(p, "any outcome"));
  }
  void tell_unexpected(OutcomeView o) {
    if (++unexpected_ <= kUnexpectedTold) result_.unexpected.push_back(program_.text(o));
  }

  const Program& program_;
  const bool exhaustive_;
  Result& result_;
  const std::function<bool()>& stop_;
  std::uint64_t steps_ = 0;
  std::size_t unexpected_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

void judge(const Program& program, bool exhaustive, Result& result, const std::function<bool()>& stop) {
  Judge(program, exhaustive, result, stop).run();
}

PartialOutcome parse_outcome(const Program& program, const std::string& text) {
  return OutcomeReader(program, text).run();
}

}  // namespace loco::model::litmus
