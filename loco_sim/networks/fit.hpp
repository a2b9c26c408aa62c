// Which rules does a network keep? (The future work that the coreRMA paper names in Section 7: "defining a space of
// rules and automatically selecting those rules which are consistent with experimental results".)
//
// The space is the lattice of all sets of the basic rules (Fig. 4 without IR) and of the extra ones (the parts of IR,
// and what networks keep beyond the paper). A set is consistent when it allows every outcome that the network showed.
// More rules allow less, so consistent sets are closed downwards: what is told are the strongest, those to which no
// rule can be added, with the test that rules out each addition. They are the complements of the minimal hitting sets
// of the conflicts, minimal sets of rules that some outcome contradicts (Reiter, "A theory of diagnosis from first
// principles", 1987); conflicts are found as they are needed.
//
// While the basic rules are consistent they stay in: without R1, say, nearly everything is allowed, which says little.
// Where only programs with rga or cas contradict them (stale operands; atomics that a CPU's store can get lost in),
// these are told apart: such statements compute values, and rules order accesses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loco_sim/networks/observe.hpp"
#include "model/corerma/generate.hpp"
#include "model/litmus/rule_set.hpp"

namespace loco::networks {

using model::litmus::Rule;
using model::litmus::RuleSet;

struct FitProgress {
  std::uint64_t tests = 0;  ///< run so far
  std::uint64_t of = 0;     ///< 0: not yet known
};

struct FitOptions {
  std::uint64_t tests = 60;  ///< for each rule and number of processes, the smallest ones
  ObserveLimits limits = {};
  std::function<void(const FitProgress&)> poll = {};  ///< called now and then; what it throws ends the work
};

/// An outcome that a set of rules does not allow.
struct Contradiction {
  std::string test;
  std::string document;
  std::string outcome;
  std::string cycle;  ///< in words; empty: no execution has these values
};

/// Why a rule cannot be added to a set.
struct RuledOutRule {
  Rule rule = Rule::ir;
  Contradiction by;
};

struct StrongestSet {
  RuleSet rules;                        ///< with the parts of IR
  RuleSet base;                         ///< the largest set with a name in it, IR in place of its parts
  RuleSet beyond;                       ///< what it has beside those
  std::vector<RuledOutRule> ruled_out;  ///< each of the other rules
};

struct FitResult {
  std::vector<StrongestSet> strongest{};  ///< those with the most rules first
  /// Outcomes that contradict the basic rules, one a test, the shortest first, and what all of these tests have: rga or
  /// cas. Such tests are left out of the rest. None where the basic rules hold, or are broken elsewhere, too.
  std::vector<Contradiction> exceptions;
  std::string left_out;
  RuleSet untested;   ///< rules of which the tests that are left say nothing
  bool basic = true;  ///< the basic rules hold
  bool cut = false;   ///< there are more strongest sets than are told
  std::uint64_t tests = 0;
  std::uint64_t outcomes = 0;  ///< observed
  std::uint64_t sampled = 0;   ///< tests too large to explore
  std::uint64_t allowed = 0;   ///< outcomes that the first of `strongest` allows
};

/// The tests that tell rules apart, small ones first (fit_tests.cpp). `atomics`: with rga and cas, too.
/// `poll`: as of FitOptions.
[[nodiscard]] std::vector<model::corerma::Test> fit_tests(std::uint64_t each, bool atomics,
                                                          const std::function<void()>& poll = {});

[[nodiscard]] FitResult fit(const nic::HardwareProfile& profile, const FitOptions& options = {});

/// "corerma-verbs plus PTG, SO".
[[nodiscard]] std::string words(const StrongestSet& set);
[[nodiscard]] std::string fit_text(const std::string& network, const FitResult& result);
[[nodiscard]] std::string fit_json(const std::string& network, const FitResult& result);

}  // namespace loco::networks
