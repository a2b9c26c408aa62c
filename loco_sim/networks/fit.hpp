// Finds which rules a network keeps. (The coreRMA paper, Section 7, names this as future work: "defining a space of
// rules and automatically selecting those rules which are consistent with experimental results".)
//
// The space is the lattice of all sets of the basic rules (Fig. 4 without IR) and the extra ones (the parts of IR, and
// what networks keep beyond the paper). A set is consistent if it allows every outcome that the network showed. More
// rules allow less, so subsets of consistent sets are consistent. Reported are the strongest sets, to which no rule can
// be added, with the test that rules out each addition. They are the complements of the minimal hitting sets of the
// conflicts, i.e. of the minimal sets of rules that some outcome contradicts (Reiter, "A theory of diagnosis from first
// principles", 1987). Conflicts are computed as needed.
//
// As long as the basic rules are consistent, all reported sets include them, because sets without R1, for example,
// allow nearly everything and say little. If only programs with rga or cas contradict them (stale operands; atomics
// that lose a CPU's store), these are reported separately: such statements compute values, and rules order accesses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loco_sim/networks/observe.hpp"
#include "model/corerma/generate.hpp"
#include "model/litmus/language/rule_set.hpp"

namespace loco::networks {

using model::litmus::Rule;
using model::litmus::RuleSet;

struct FitProgress {
  std::uint64_t tests = 0;  ///< run so far
  std::uint64_t of = 0;     ///< 0: unknown so far
};

struct FitOptions {
  std::uint64_t tests = 60;  ///< for each rule and number of processes, smallest first
  ObserveLimits limits = {};
  std::function<void(const FitProgress&)> poll = {};  ///< called now and then; an exception from it ends the work
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
  RuleSet rules;                        ///< including the parts of IR
  RuleSet base;                         ///< the largest named set in it, with IR instead of its parts
  RuleSet beyond;                       ///< the rules that it has beyond those
  std::vector<RuledOutRule> ruled_out;  ///< each of the other rules
};

struct FitResult {
  std::vector<StrongestSet> strongest{};  ///< sets with the most rules first
  /// Outcomes that contradict the basic rules, one per test, shortest first, and what all of these tests contain: rga
  /// or cas. Such tests are then ignored. None if the basic rules hold, or are also broken elsewhere.
  std::vector<Contradiction> exceptions;
  std::string left_out;
  RuleSet untested;   ///< rules that the remaining tests say nothing about
  bool basic = true;  ///< the basic rules hold
  bool cut = false;   ///< there are more strongest sets than reported
  std::uint64_t tests = 0;
  std::uint64_t outcomes = 0;  ///< observed
  std::uint64_t sampled = 0;   ///< tests that are too large to explore
  std::uint64_t allowed = 0;   ///< outcomes that the first of `strongest` allows
};

/// The tests that distinguish rules, small ones first (fit_tests.cpp). `atomics`: including rga and cas. `poll`: as in
/// FitOptions.
[[nodiscard]] std::vector<model::corerma::Test> fit_tests(std::uint64_t each, bool atomics,
                                                          const std::function<void()>& poll = {});

[[nodiscard]] FitResult fit(const nic::HardwareProfile& profile, const FitOptions& options = {});

/// "corerma-verbs plus PTG, SO".
[[nodiscard]] std::string words(const StrongestSet& set);
[[nodiscard]] std::string fit_text(const std::string& network, const FitResult& result);
[[nodiscard]] std::string fit_json(const std::string& network, const FitResult& result);

}  // namespace loco::networks
