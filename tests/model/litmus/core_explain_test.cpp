// Explanations of coreRMA: an edge names the rules that made it, and a rule's own cycle goes with the rule.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "model/litmus/search/search.hpp"
#include "tests/catch.hpp"

using namespace loco::model::litmus;

namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state_ >> 33U) % n;
  }
  template <class List>
  const auto& of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

RuleSet random_rules(Draw& draw) {
  RuleSet rules;
  for (int r = 0; r < kRules; ++r)
    if (draw.below(5) < 3) rules = rules.with(static_cast<Rule>(r));
  return rules;
}

/// Kinds of statement: 0 read, 1 write, 2 put, 3 get, 4 rga, 5 cas, 6 flush. What each process has.
struct Shape {
  std::vector<std::size_t> first = {0, 1, 2, 3, 4, 5, 6}, second = first;
  std::size_t least = 1, most = 2;  ///< statements of the first process
};

/// What shows the rules that are about two statements of certain kinds.
Shape shape_for(Rule rule) {
  switch (rule) {
    case Rule::pp:
      return {.first = {2}, .second = {0}, .least = 2};
    case Rule::gg:
      return {.first = {3}, .second = {1}, .least = 2};
    case Rule::ptg:
      return {.first = {2, 3}, .second = {0, 1}, .least = 2};
    case Rule::f3:
    case Rule::fa:
      return {.first = {2, 3, 6}, .second = {0, 1}, .least = 3, .most = 3};
    default:
      return {};
  }
}

/// Two processes on nodes 0 and 1, with two locations each.
std::string random_document(Draw& draw, const Shape& shape = {}) {
  const std::vector<std::vector<std::string>> own = {{"A", "B"}, {"C", "D"}};
  const std::vector<std::string> all = {"A", "B", "C", "D"};
  std::string text =
      "model: corerma\nlocations: {A: {node: 0}, B: {node: 0, init: 1}, C: {node: 1}, D: {node: 1}}\n"
      "threads:\n";
  int number = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    std::string code;
    for (std::size_t n = t == 0 ? shape.least + draw.below(shape.most - shape.least + 1) : 1; n > 0; --n) {
      const std::string& mine = draw.of(own[t]);
      const std::string i = std::to_string(++number);
      switch (draw.of(t == 0 ? shape.first : shape.second)) {
        case 0:
          code += "u" + i + " = " + mine + "; ";
          break;
        case 1:
          code += mine + " = " + std::to_string(10 + number) + "; ";
          break;
        case 2:
          code += "put(" + draw.of(all) + ", " + mine + "); ";
          break;
        case 3:
          code += mine + " = get(" + draw.of(all) + "); ";
          break;
        case 4:
          code += mine + " = rga(" + draw.of(all) + ", " + draw.of(own[t]) + "); ";
          break;
        case 5:
          code += mine + " = cas(" + draw.of(all) + ", " + draw.of(own[t]) + ", " + draw.of(own[t]) + "); ";
          break;
        default:
          code += "flush(" + std::to_string(draw.below(2)) + "); ";
      }
    }
    code += "v" + std::to_string(t) + " = " + draw.of(own[t]);
    text += "  - {node: " + std::to_string(t) + ", code: \"" + code + "\"}\n";
  }
  return text + "final: [A, C]\n";
}

/// The rules that an edge names: ways to have it, each of rules that are needed together.
std::vector<RuleSet> rules_named(const std::string& why) {
  std::vector<RuleSet> ways;
  const std::size_t open = why.rfind('(');
  if (open == std::string::npos || why.back() != ')') return ways;
  std::string list = why.substr(open + 1, why.size() - open - 2) + " or ";
  for (std::size_t at = 0, end = 0; (end = list.find(" or ", at)) != std::string::npos; at = end + 4) {
    const std::string way = list.substr(at, end - at) + " and ";
    RuleSet rules;
    for (std::size_t from = 0, to = 0; (to = way.find(" and ", from)) != std::string::npos; from = to + 5) {
      const auto rule = find_rule(way.substr(from, to - from));
      REQUIRE(rule);
      rules = rules.with(*rule);
    }
    ways.push_back(rules);
  }
  return ways;
}

/// What the rules say of the program's one skeleton, before anything is chosen.
Axioms axioms(const Program& p, RuleSet rules) {
  std::optional<Axioms> found;
  for_each_skeleton(p, Model{"", {}, rules}, {}, [&](const Skeleton&, const Axioms& a) {
    found = a;
    return false;
  });
  REQUIRE(found);
  return *found;
}

bool has_edge(const Axioms& a, const Explanation::Edge& e) {
  return a.so.contains(e.from, e.to) || (e.relation == "rf" && a.rf_so.contains(e.from, e.to)) ||
         (e.relation == "rb" && a.rb_so.contains(e.from, e.to)) ||
         (e.relation == "mo" && a.mo.contains(e.from, e.to)) ||
         (e.why.find("one step (AT)") != std::string::npos && !a.steps.empty());
}

std::vector<PartialOutcome> forbidden(const Program& p, RuleSet rules) {
  Options o;
  o.model = "none";
  const Outcomes all = enumerate(p, o).outcomes;
  o.model = rules.text();
  const Outcomes allowed = enumerate(p, o).outcomes;
  std::vector<PartialOutcome> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (allowed.contains(all.row(i))) continue;
    PartialOutcome partial;
    for (std::size_t k = 0; k < all.row(i).size(); ++k) partial.emplace_back(static_cast<int>(k), all.row(i)[k]);
    out.push_back(std::move(partial));
  }
  return out;
}

}  // namespace

namespace {

/// A set in which the rule is likely to tell: values follow from writes, and few others order the same.
RuleSet rules_around(Draw& draw, Rule rule) {
  RuleSet rules;
  for (const Rule basic : {Rule::r1, Rule::r2, Rule::ws, Rule::pg, Rule::ga, Rule::cas}) rules = rules.with(basic);
  for (int r = 0; r < kRules; ++r)
    if (draw.below(8) == 0) rules = rules.with(static_cast<Rule>(r));
  if (rule == Rule::f3 || rule == Rule::fa) rules = rules.with(Rule::f2);
  return rules.with(rule);
}

/// Each named rule is in the set and orders the edge, which is gone without it. Adds the rules to `seen`; how many
/// edges there were.
std::size_t check_edges(Draw& draw, const RuleSet& rules, RuleSet& seen, const Shape& shape = {}) {
  const Program p = parse_text(random_document(draw, shape), "test").front();
  const std::vector<PartialOutcome> none = forbidden(p, rules);
  if (none.empty()) return 0;
  INFO(rules.text());
  Options o;
  o.model = rules.text();
  int asked = 0;
  o.out_of_time = [&] { return ++asked > 10; };  // programs with too many candidates tell nothing else
  std::size_t edges = 0;
  for (const Explanation& e : explain_forbidden(p, draw.of(none), o))
    for (const Explanation::Edge& edge : e.edges) {
      if (!edge.on_cycle || edge.relation == "po") continue;
      INFO(edge.relation << ": " << edge.why);
      const std::vector<RuleSet> ways = rules_named(edge.why);
      if (ways.empty()) {
        CHECK(edge.why == "the next one is the final value");
        continue;
      }
      RuleSet without = rules;
      for (const RuleSet way : ways) {
        CHECK(rules.includes(way));
        without = without.without(way.rules().front());
        seen = seen.with(way);
        if (edge.relation == "hb") CHECK(has_edge(axioms(p, way), edge));
      }
      CHECK_FALSE(has_edge(axioms(p, without), edge));
      ++edges;
    }
  return edges;
}

}  // namespace

TEST_CASE("each rule that an edge names is in the set, orders it, and without it the edge is gone", "[corerma]") {
  std::size_t edges = 0;
  RuleSet seen;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Draw draw(seed);
    const RuleSet rules = random_rules(draw);
    INFO(seed);
    edges += check_edges(draw, rules, seen);
  }
  CHECK(edges > 30);
  // Every rule is seen: those that random sets leave out are looked for.
  for (int r = 0; r < kRules; ++r) {
    const auto rule = static_cast<Rule>(r);
    for (std::uint64_t seed = 1; !seen.has(rule) && seed <= 2000; ++seed) {
      Draw draw(1000 * (static_cast<std::uint64_t>(r) + 1) + seed);
      INFO(name(rule) << " " << seed);
      const RuleSet rules = rules_around(draw, rule);
      (void)check_edges(draw, rules, seen, shape_for(rule));
    }
    INFO(name(rule));
    CHECK(seen.has(rule));
  }
}

TEST_CASE("the first cycle of a rule that makes the difference goes with the rule", "[corerma]") {
  std::size_t cycles = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Draw draw(seed);
    const RuleSet weaker = random_rules(draw);
    const auto added = static_cast<Rule>(draw.below(kRules));
    if (weaker.has(added)) continue;
    const RuleSet rules = weaker.with(added);
    const Program p = parse_text(random_document(draw), "test").front();
    Options o;
    o.model = weaker.text();
    const Outcomes possible = enumerate(p, o).outcomes;
    o.model = rules.text();
    o.weaker = weaker.text();
    int asked = 0;
    o.out_of_time = [&] { return ++asked > 10; };
    for (const PartialOutcome& outcome : forbidden(p, rules)) {
      if (std::ranges::none_of(possible, [&](const Outcome& x) { return matches(outcome, x); })) continue;
      INFO(seed << " " << rules.text() << " without " << name(added));
      const std::vector<Explanation> told = explain_forbidden(p, outcome, o);
      if (told.empty()) continue;
      CHECK_FALSE(told.front().also_weaker);
      const Axioms without = axioms(p, weaker);
      const auto& edges = told.front().edges;
      const bool gone = std::ranges::any_of(edges, [&](const Explanation::Edge& e) {
        return e.on_cycle && e.relation != "po" && e.why != "the next one is the final value" && !has_edge(without, e);
      });
      CHECK(gone);
      ++cycles;
      break;  // one of each program
    }
  }
  CHECK(cycles > 5);
}
