// Explanations of coreRMA: an edge names the rules that made it, and a rule's own cycle goes with the rule.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/litmus/litmus.hpp"
#include "model/litmus/parser.hpp"
#include "model/litmus/search.hpp"
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

/// Two processes on nodes 0 and 1, with two locations each.
std::string random_document(Draw& draw) {
  const std::vector<std::vector<std::string>> own = {{"A", "B"}, {"C", "D"}};
  const std::vector<std::string> all = {"A", "B", "C", "D"};
  std::string text =
      "model: corerma\nlocations: {A: {node: 0}, B: {node: 0, init: 1}, C: {node: 1}, D: {node: 1}}\n"
      "threads:\n";
  int number = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    std::string code;
    for (std::size_t n = 1 + draw.below(t == 0 ? 2 : 1); n > 0; --n) {
      const std::string& mine = draw.of(own[t]);
      const std::string i = std::to_string(++number);
      switch (draw.below(7)) {
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

TEST_CASE("each rule that an edge names is in the set, orders it, and without it the edge is gone", "[corerma]") {
  std::size_t edges = 0;
  RuleSet seen;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Draw draw(seed);
    const RuleSet rules = random_rules(draw);
    const Program p = parse_text(random_document(draw), "test").front();
    const std::vector<PartialOutcome> none = forbidden(p, rules);
    if (none.empty()) continue;
    INFO(seed << " " << rules.text());
    Options o;
    o.model = rules.text();
    int asked = 0;
    o.out_of_time = [&] { return ++asked > 10; };  // programs with too many candidates tell nothing else
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
  }
  CHECK(edges > 50);
  INFO(seen.text());
  CHECK(seen.rules().size() >= 8);
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
