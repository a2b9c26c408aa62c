// The rules of coreRMA as data: a model of the family is a set of them (coreRMA paper, Fig. 4, and Section 7 for what
// real networks keep and leave out).
//
// The rules order actions. What a statement computes is not among them: a get stores what it read whether PG orders
// its read before its write or not (Section 3.2 of the paper says what statements do, Fig. 4 when). Likewise no-C and C
// hold in every set: they say what a read gives, not what comes before what. docs/models.md has each rule beside the
// paper's, and what a set without it allows.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loco::model::litmus {

enum class Rule : std::uint8_t {
  r1,   ///< w1 rf r, w1 hb w2, all atomic: r hb w2
  r2,   ///< w rf r, both atomic: w hb r
  f1,   ///< flush po local: flush hb local
  f2,   ///< Remote e po flush of its target: all of e's statement hb flush
  f3,   ///< flush po Remote e' towards its target: flush hb all of e' statement
  pg,   ///< put, get: er hb ew
  ga,   ///< rga: er hb erw hb ew
  cas,  ///< cas: both er hb erw hb ew (CAS-F and CAS-T)
  lo,   ///< local po a: local hb a
  ws,   ///< atomic writes to one location: hb one way or the other
  ir,   ///< Remote po Remote, same target, not oneself: hb
  pp,   ///< IR for two puts only
  gg,   ///< IR for two gets only
  sr,   ///< a put reads its source when it is issued: its er is a local action, too
  at,   ///< the three actions of an rga are one step: nothing comes between
  // Orders that networks may keep beyond the paper's rules, each with a name (docs/corerma.md, "Fitting"):
  ptg,  ///< IR for a put and a later get only
  gtp,  ///< IR for a get and a later put only
  pta,  ///< IR for a put, rga or cas and a later rga or cas only
  ao,   ///< IR for an rga or cas and a later put or get only
  gta,  ///< IR for a get and a later rga or cas only
  so,   ///< the rules for remote actions on one target hold where the target is the process itself, too
  oa,   ///< rga and cas read their operands when they are issued: their er are local actions, too
  sf,   ///< a statement's local reads come before all actions of later statements with the same target
  rl,   ///< a statement's local writes come after all actions of earlier statements with the same target
  fa,   ///< flush po a: flush hb a, whatever its target
};
inline constexpr int kRules = 25;
inline constexpr std::array<std::string_view, kRules> kRuleNames = {
    "R1", "R2", "F1",  "F2",  "F3",  "PG", "GA",  "CAS", "LO", "WS", "IR", "PP", "GG",
    "SR", "AT", "PTG", "GTP", "PTA", "AO", "GTA", "SO",  "OA", "SF", "RL", "FA"};

[[nodiscard]] constexpr std::string_view name(Rule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }
/// Empty for a name of no rule.
[[nodiscard]] std::optional<Rule> find_rule(std::string_view word);
/// One line: the actions that the rule orders, and its source.
[[nodiscard]] std::string_view description(Rule rule);

class RuleSet {
 public:
  constexpr RuleSet() = default;
  constexpr RuleSet(std::initializer_list<Rule> rules) {
    for (const Rule r : rules) bits_ |= bit(r);
  }

  [[nodiscard]] constexpr bool has(Rule r) const { return (bits_ & bit(r)) != 0; }
  /// Is every rule of `other` in this set?
  [[nodiscard]] constexpr bool includes(RuleSet other) const { return (other.bits_ & ~bits_) == 0; }
  [[nodiscard]] constexpr RuleSet with(Rule r) const { return RuleSet(bits_ | bit(r)); }
  [[nodiscard]] constexpr RuleSet with(RuleSet other) const { return RuleSet(bits_ | other.bits_); }
  [[nodiscard]] constexpr RuleSet without(Rule r) const { return RuleSet(bits_ & ~bit(r)); }
  [[nodiscard]] std::vector<Rule> rules() const;
  friend constexpr auto operator<=>(RuleSet, RuleSet) = default;

  /// `R1,R2,F1`: the rules in the order of `Rule`. "none" for the empty set.
  [[nodiscard]] std::string text() const;
  /// The name under which the set is known, or its text.
  [[nodiscard]] std::string name() const;

 private:
  constexpr explicit RuleSet(unsigned bits) : bits_(bits) {}
  static constexpr unsigned bit(Rule r) { return 1U << static_cast<unsigned>(r); }

  unsigned bits_ = 0;
};

/// Fig. 4 without IR: the rules that every network of the paper keeps.
inline constexpr RuleSet kCoreRmaUnordered = {Rule::r1, Rule::r2, Rule::f1,  Rule::f2, Rule::f3,
                                              Rule::pg, Rule::ga, Rule::cas, Rule::lo, Rule::ws};
/// All rules of Fig. 4.
inline constexpr RuleSet kCoreRma = kCoreRmaUnordered.with(Rule::ir);
/// InfiniBand VPI Verbs (Section 7): puts to one target keep their order, and gets.
inline constexpr RuleSet kCoreRmaVerbs = kCoreRmaUnordered.with(Rule::pp).with(Rule::gg);
/// Cray Aries with adaptive routing (Section 7): puts below 4 KB read their source at once. With deterministic routing
/// it has IR as well: `with(Rule::ir)`.
inline constexpr RuleSet kCoreRmaAries = kCoreRmaUnordered.with(Rule::sr);
/// Fig. 4 with an rga that is one step, as the paper observed (Section 7) and no documentation promises.
inline constexpr RuleSet kCoreRmaGaAtomic = kCoreRma.with(Rule::at);

struct NamedRuleSet {
  std::string_view name;
  RuleSet rules;
  std::string_view description;
};
[[nodiscard]] const std::vector<NamedRuleSet>& named_rule_sets();

/// `R1,R2,IR` in any order, spaces allowed, or "none". Throws std::invalid_argument: `expected ..., found 'R9'`.
[[nodiscard]] RuleSet parse_rules(std::string_view text);

/// The set that a model's name stands for: one of the names above, or a list of rules. Nothing for any other name.
[[nodiscard]] std::optional<RuleSet> find_rule_set(std::string_view model);

}  // namespace loco::model::litmus
