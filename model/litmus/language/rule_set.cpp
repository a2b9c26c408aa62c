#include "model/litmus/language/rule_set.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>

#include "model/litmus/language/program.hpp"
#include "text/word_list.hpp"

namespace loco::model::litmus {
namespace {

constexpr std::array<std::string_view, kRules> kDescriptions = {
    "a read of w1 comes before every later write of the location (Fig. 4)",
    "a write comes before those who read it (Fig. 4)",
    "a local action comes after earlier flushes (Fig. 4)",
    "a flush comes after all of every earlier remote statement to its target (Fig. 4)",
    "all of a remote statement comes after earlier flushes of its target (Fig. 4)",
    "a put or get reads before it writes (Fig. 4)",
    "an accumulate reads its operand, then accumulates, then stores the old value (Fig. 4)",
    "a compare-and-swap reads its operands, then swaps, then stores the old value (Fig. 4, CAS-F and CAS-T)",
    "a local action comes before all that follows it (Fig. 4)",
    "the writes of a location are in one order (Fig. 4)",
    "remote actions of a process on one target keep their order (Fig. 4)",
    "puts of a process to one target keep their order (Section 7, VPI Verbs)",
    "gets of a process from one target keep their order (Section 7, VPI Verbs)",
    "a put reads its source when it is issued, as a local action (Section 7, Cray DMAPP below 4 KB)",
    "the three actions of an accumulate are one step (Section 7, observed)",
    "a put and a later get of one target keep their order (a part of IR)",
    "a get and a later put of one target keep their order (a part of IR)",
    "a put, accumulate or compare-and-swap and a later accumulate or compare-and-swap of one target keep their order "
    "(a "
    "part of IR)",
    "an accumulate or compare-and-swap and a later put or get of one target keep their order (a part of IR)",
    "a get and a later accumulate or compare-and-swap of one target keep their order (a part of IR)",
    "what orders remote actions on one target also does where the target is the process itself",
    "accumulates and compare-and-swaps read their operands when they are issued, as local actions",
    "what a remote statement reads of its own process comes before all of later ones with the same target",
    "what a remote statement writes to its own process comes after all of earlier ones with the same target",
    "all that follows a flush comes after it, whatever its target"};

}  // namespace

std::optional<Rule> find_rule(std::string_view word) {
  const auto it = std::find(kRuleNames.begin(), kRuleNames.end(), word);
  if (it == kRuleNames.end()) return std::nullopt;
  return static_cast<Rule>(it - kRuleNames.begin());
}

std::string_view description(Rule rule) { return kDescriptions[static_cast<std::size_t>(rule)]; }

std::vector<Rule> RuleSet::rules() const {
  std::vector<Rule> all;
  for (int i = 0; i < kRules; ++i)
    if (has(static_cast<Rule>(i))) all.push_back(static_cast<Rule>(i));
  return all;
}

std::string RuleSet::text() const {
  std::string s;
  for (const Rule r : rules()) s += (s.empty() ? "" : ",") + std::string(litmus::name(r));
  return s.empty() ? "none" : s;
}

std::string RuleSet::name() const {
  for (const NamedRuleSet& n : named_rule_sets())
    if (n.rules == *this) return std::string(n.name);
  return text();
}

const std::vector<NamedRuleSet>& named_rule_sets() {
  static const std::vector<NamedRuleSet> kSets = {
      {"corerma", kCoreRma, "all rules of the coreRMA paper"},
      {"corerma-verbs", kCoreRmaVerbs,
       "coreRMA on VPI Verbs: without in-order routing; puts keep their order, and gets"},
      {"corerma-unordered", kCoreRmaUnordered, "coreRMA without in-order routing"},
      {"corerma-aries", kCoreRmaAries, "coreRMA on Cray Aries: unordered, and puts read their source at once"},
      {"corerma-ga-atomic", kCoreRmaGaAtomic, "coreRMA whose accumulates are one step"}};
  return kSets;
}

RuleSet parse_rules(std::string_view text) {
  RuleSet rules;
  if (text::trimmed(text) == "none") return rules;
  for (const std::string_view word : text::comma_separated(text)) {
    const std::optional<Rule> rule = find_rule(word);
    if (!rule)
      throw std::invalid_argument(
          text::unknown_word(fmt::format("rules ({})", fmt::join(kRuleNames, ", ")), word, kRuleNames));
    rules = rules.with(*rule);
  }
  return rules;
}

std::optional<RuleSet> find_rule_set(std::string_view model) {
  for (const NamedRuleSet& n : named_rule_sets())
    if (n.name == model) return n.rules;
  if (model == "none") return RuleSet();
  // A list begins with a rule's name: other models' names, as most callers ask about, are told apart at once.
  if (!find_rule(text::trimmed(model.substr(0, model.find(','))))) return std::nullopt;
  try {
    return parse_rules(model);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

bool is_corerma(std::string_view model) { return find_rule_set(model).has_value(); }

}  // namespace loco::model::litmus
