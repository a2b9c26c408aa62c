#include "loco_sim/networks/allowed.hpp"

#include <algorithm>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/search/search.hpp"

namespace loco::networks {

using namespace model::litmus;

std::vector<Outcome> allowed(const Program& program, RuleSet rules, const std::function<void()>& poll) {
  SearchOptions options;
  options.outcomes_only = true;
  options.poll = poll;
  return search(program, Model{"", {}, rules}, options).outcomes.all();
}

bool has(const std::vector<Outcome>& outcomes, const Outcome& outcome) {
  return std::binary_search(outcomes.begin(), outcomes.end(), outcome);
}

const std::vector<Rule>& basic_rules() {
  static const std::vector<Rule> kRules = kCoreRmaUnordered.rules();
  return kRules;
}

const std::vector<Rule>& extra_rules() {
  static const std::vector<Rule> kExtra = {Rule::pp, Rule::gg, Rule::ptg, Rule::gtp, Rule::pta, Rule::ao, Rule::gta,
                                           Rule::so, Rule::sr, Rule::oa,  Rule::sf,  Rule::rl,  Rule::fa, Rule::at};
  return kExtra;
}

namespace {
RuleSet parts_of_routing() {
  RuleSet parts;
  for (std::size_t i = 0; i < kPartsOfRouting; ++i) parts = parts.with(extra_rules()[i]);
  return parts;
}
}  // namespace

RuleSet with_routing_named(RuleSet rules) {
  if (!rules.includes(parts_of_routing())) return rules;
  for (const Rule part : parts_of_routing().rules()) rules = rules.without(part);
  return rules.with(Rule::ir);
}

RuleSet with_routing_split(RuleSet rules) {
  if (!rules.has(Rule::ir)) return rules;
  for (const Rule part : parts_of_routing().rules()) rules = rules.with(part);
  return rules.without(Rule::ir);
}

std::string cycle_text(const Program& program, const Outcome& outcome, RuleSet rules, std::optional<RuleSet> weaker) {
  PartialOutcome wanted;
  for (int i = 0; i < len(outcome); ++i) wanted.emplace_back(i, at(outcome, i));
  Options options;
  options.model = rules.text();
  if (weaker) options.weaker = weaker->text();
  const auto cycles = explain_forbidden(program, wanted, options);
  return cycles.empty() ? std::string() : to_text(cycles.front());
}

}  // namespace loco::networks
