#include "loco_sim/networks/fit.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "loco_sim/networks/allowed.hpp"
#include "model/corerma/document.hpp"

namespace loco::networks {

using namespace model::litmus;
namespace corerma = model::corerma;

namespace {

constexpr std::size_t kStrongestMax = 16;

struct Seen {
  corerma::Test test;
  Program program;
  std::vector<Outcome> outcomes;
  // Sets of rules whose answer is known. More rules allow less.
  std::vector<RuleSet> good, bad;
};

/// Statements that compute values, and may do so wrongly.
struct Computing {
  std::string_view words;
  bool rga = false;
  bool cas = false;
  bool own_only = false;  // on the process's own memory
};
constexpr std::array kComputing = {Computing{"rga on the process's own memory", true, false, true},
                                   Computing{"cas on the process's own memory", false, true, true},
                                   Computing{"rga or cas on the process's own memory", true, true, true},
                                   Computing{"rga or cas", true, true, false}};

bool uses(const corerma::Program& p, const Computing& kind) {
  for (int process = 0; process < p.processes; ++process)
    for (int i = p.begin_of(process); i < p.end_of(process); ++i) {
      const corerma::Statement& s = p.statement(i);
      const bool computes = (kind.rga && s.kind == corerma::Kind::rga) || (kind.cas && s.kind == corerma::Kind::cas);
      if (computes && (!kind.own_only || s.host == process)) return true;
    }
  return false;
}

/// What the network showed; answers whether sets of rules allow it.
class Evidence {
 public:
  explicit Evidence(std::function<void()> poll) : poll_(std::move(poll)) {}

  void add(Seen seen) { seen_.push_back(std::move(seen)); }
  void leave_out(const Computing& kind) {
    std::erase_if(seen_, [&](const Seen& s) { return uses(s.test.program, kind); });
  }
  [[nodiscard]] const std::vector<Seen>& all() const { return seen_; }

  /// The first outcome that the rules do not allow, or null.
  const Outcome* contradiction(Seen& s, RuleSet rules) {
    if (std::ranges::any_of(s.good, [&](RuleSet g) { return g.includes(rules); })) return nullptr;
    const std::vector<Outcome> possible = allowed(s.program, rules, poll_);
    for (const Outcome& o : s.outcomes)
      if (!has(possible, o)) {
        s.bad.push_back(rules);
        return &o;
      }
    s.good.push_back(rules);
    return nullptr;
  }
  bool allows(Seen& s, RuleSet rules) {
    if (std::ranges::any_of(s.bad, [&](RuleSet b) { return rules.includes(b); })) return false;
    return contradiction(s, rules) == nullptr;
  }
  /// The first test that contradicts the rules, or null if they are consistent with all.
  Seen* against(RuleSet rules) {
    for (Seen& s : seen_)
      if (!allows(s, rules)) return &s;
    return nullptr;
  }

 private:
  std::function<void()> poll_;
  std::vector<Seen> seen_;
};

/// `by`: the rule without which the outcome is allowed.
Contradiction told(const Seen& s, const Outcome& o, RuleSet rules, std::optional<Rule> by = {}) {
  const RuleSet named = with_routing_named(rules);  // with IR by name, as the test's document writes it
  std::optional<RuleSet> weaker;
  if (by) weaker = rules.without(*by);
  return {s.test.name, corerma::bare_document(s.test, named), s.program.text(o),
          cycle_text(s.program, o, named, weaker)};
}

/// The strongest consistent sets between `fixed` and `fixed` with all of `free`.
class Lattice {
 public:
  Lattice(Evidence& evidence, RuleSet fixed, std::vector<Rule> free)
      : evidence_(evidence), fixed_(fixed), free_(std::move(free)) {}

  /// Precondition: `fixed` is consistent.
  std::vector<RuleSet> strongest(bool& cut) {
    for (;;) {
      const std::vector<RuleSet> hits = minimal_hitting_sets(cut);
      bool conflict = false;
      std::vector<RuleSet> found;
      for (const RuleSet hit : hits) {
        const RuleSet set = complement(hit);
        if (Seen* against = evidence_.against(set)) {
          conflicts_.push_back(shrink(*against, set));
          conflict = true;
          break;
        }
        found.push_back(set);
      }
      if (!conflict) return found;
    }
  }

 private:
  [[nodiscard]] RuleSet complement(RuleSet without) const {
    RuleSet set = fixed_;
    for (const Rule r : free_)
      if (!without.has(r)) set = set.with(r);
    return set;
  }

  /// A minimal set of free rules that, with the fixed ones, the test contradicts.
  RuleSet shrink(Seen& s, RuleSet set) {
    for (const Rule r : free_)
      if (set.has(r) && !evidence_.allows(s, set.without(r))) set = set.without(r);
    RuleSet conflict;
    for (const Rule r : free_)
      if (set.has(r)) conflict = conflict.with(r);
    return conflict;
  }

  /// Of all conflicts so far. Sets `cut` if some are left out.
  [[nodiscard]] std::vector<RuleSet> minimal_hitting_sets(bool& cut) const {
    std::vector<RuleSet> sets = {RuleSet{}};
    for (const RuleSet conflict : conflicts_) {
      std::vector<RuleSet> next;
      for (const RuleSet set : sets) {
        const std::vector<Rule> in = set.rules();
        if (std::ranges::any_of(in, [&](Rule r) { return conflict.has(r); })) {
          next.push_back(set);
        } else {
          for (const Rule r : conflict.rules()) next.push_back(set.with(r));
        }
      }
      std::ranges::stable_sort(next, {}, [](RuleSet s) { return s.rules().size(); });
      sets.clear();
      for (const RuleSet set : next)
        if (std::ranges::none_of(sets, [&](RuleSet smaller) { return set.includes(smaller); })) sets.push_back(set);
      cut = cut || sets.size() > kStrongestMax;
      if (sets.size() > kStrongestMax) sets.resize(kStrongestMax);
    }
    return sets;
  }

  Evidence& evidence_;
  const RuleSet fixed_;
  const std::vector<Rule> free_;
  std::vector<RuleSet> conflicts_;
};

/// The largest named set contained in `rules`.
RuleSet named_base(RuleSet rules) {
  RuleSet best;
  for (const NamedRuleSet& n : named_rule_sets()) {
    const RuleSet split = with_routing_split(n.rules);
    if (rules.includes(split) && split.rules().size() > with_routing_split(best).rules().size()) best = n.rules;
  }
  return best;
}

class Fitter {
 public:
  Fitter(const nic::HardwareProfile& profile, const FitOptions& options)
      : profile_(profile), options_(options), evidence_(options_.limits.poll) {}

  FitResult run() {
    atomics_ = profile_.nic_atomic_cap != nic::AtomicCap::none;
    look();
    set_aside_computing();
    RuleSet fixed = kCoreRmaUnordered;
    std::vector<Rule> free = tested(extra_rules());
    result_.basic = evidence_.against(fixed) == nullptr;
    if (!result_.basic) {
      free.insert(free.begin(), basic_rules().begin(), basic_rules().end());
      fixed = {};
    }
    std::vector<RuleSet> sets = Lattice(evidence_, fixed, free).strongest(result_.cut);
    std::ranges::stable_sort(sets, std::greater<>{}, [](RuleSet s) { return s.rules().size(); });
    for (const RuleSet set : sets) result_.strongest.push_back(describe(set, free));
    for (const Seen& s : evidence_.all()) {
      result_.outcomes += s.outcomes.size();
      result_.allowed += allowed(s.program, sets.front(), options_.limits.poll).size();
    }
    return std::move(result_);
  }

 private:
  void look() {
    const std::vector<corerma::Test> tests = fit_tests(options_.tests, atomics_, [this] {
      if (options_.poll) options_.poll({});
    });
    for (const corerma::Test& test : tests) {
      if (options_.poll) options_.poll({result_.tests, tests.size()});
      Program program = corerma::to_litmus(test, kCoreRma);
      Observed seen = observe(program, profile_, options_.limits);
      ++result_.tests;
      result_.sampled += seen.exact ? 0 : 1;
      evidence_.add({test, std::move(program), std::move(seen.outcomes), {}, {}});
    }
  }

  /// If the basic rules hold except in tests with statements that compute values, sets these tests aside.
  void set_aside_computing() {
    if (evidence_.against(kCoreRmaUnordered) == nullptr) return;
    for (const Computing& kind : kComputing) {
      Evidence rest = evidence_;
      rest.leave_out(kind);
      if (rest.against(kCoreRmaUnordered) != nullptr) continue;
      for (const Seen& s : evidence_.all()) {
        if (!uses(s.test.program, kind)) continue;
        Seen asked = s;
        if (const Outcome* o = evidence_.contradiction(asked, kCoreRmaUnordered))
          result_.exceptions.push_back(told(s, *o, kCoreRmaUnordered));
      }
      result_.left_out = kind.words;
      evidence_ = std::move(rest);
      if (kind.rga && kind.cas && !kind.own_only) atomics_ = false;
      return;
    }
  }

  /// Without tests that have rga or cas, rules about these cannot be judged.
  [[nodiscard]] std::vector<Rule> tested(std::vector<Rule> rules) {
    if (atomics_) return rules;
    const RuleSet about = {Rule::pta, Rule::ao, Rule::gta, Rule::oa, Rule::at};
    std::erase_if(rules, [&](Rule r) { return about.has(r); });
    result_.untested = about;
    return rules;
  }

  StrongestSet describe(RuleSet set, const std::vector<Rule>& free) {
    StrongestSet s;
    // Without any rule on the order of remote actions this one says nothing about a process's own memory.
    const bool routed =
        std::any_of(extra_rules().begin(), extra_rules().begin() + kPartsOfRouting, [&](Rule r) { return set.has(r); });
    if (!routed) set = set.without(Rule::so);
    s.rules = set;
    const RuleSet routing_untested = atomics_ ? RuleSet{} : RuleSet{Rule::pta, Rule::ao, Rule::gta};
    s.base = named_base(set.with(routing_untested));
    const RuleSet split = with_routing_split(s.base);
    for (const Rule r : set.rules())
      if (!split.has(r)) s.beyond = s.beyond.with(r);
    for (const Rule r : free) {
      if (set.has(r) || (r == Rule::so && !routed)) continue;
      Seen* against = evidence_.against(set.with(r));
      const Outcome* o = evidence_.contradiction(*against, set.with(r));
      s.ruled_out.push_back({r, told(*against, *o, set.with(r), r)});
    }
    return s;
  }

  const nic::HardwareProfile profile_;
  const FitOptions& options_;
  Evidence evidence_;
  bool atomics_ = true;  // the tests include rga and cas
  FitResult result_;
};

}  // namespace

FitResult fit(const nic::HardwareProfile& profile, const FitOptions& options) { return Fitter(profile, options).run(); }

std::string words(const StrongestSet& set) {
  const std::string base = set.base.rules().empty() ? "" : set.base.name();
  if (set.beyond.rules().empty()) return base.empty() ? "no rule" : base;
  std::string more;
  for (const Rule r : set.beyond.rules()) more += (more.empty() ? "" : ", ") + std::string(name(r));
  return base.empty() ? more : base + " plus " + more;
}

}  // namespace loco::networks
