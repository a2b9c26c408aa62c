// The actions of a program, and which pairs of them the rules order before anything is read or written (coreRMA paper,
// Table 3 and Fig. 4: LO, F1 to F3, IR, PG, GA, CAS, and Section 7's variants).
//
// Actions are numbered in program order, process after process; sets of them are bits of a word.
#pragma once

#include <array>
#include <cstdint>

#include "model/corerma/program.hpp"
#include "model/litmus/language/rule_set.hpp"

namespace loco::model::corerma {

using litmus::Rule;
using litmus::RuleSet;

using Actions = std::uint32_t;
static_assert(kSizeMax <= 32);

[[nodiscard]] constexpr Actions bit(int action) { return Actions{1} << static_cast<unsigned>(action); }

struct ActionGraph {
  struct Variable {
    Actions writers = 0;
    Actions local_reads = 0;
    Actions reads = 0;  ///< local and external, erw included
  };

  int n = 0;
  int variables = 0;
  std::array<Actions, kSizeMax> after{};        ///< of each action: those that the rules of the set put after it
  std::array<Actions, kSizeMax> pivot_after{};  ///< those that the pivot alone puts after it
  std::array<Variable, kSizeMax> of_variable{};
  std::array<std::int8_t, kSizeMax> variable{};                 ///< of each action, or kNobody
  std::array<std::int8_t, kSizeMax> statement{};                ///< of each action: its statement ...
  std::array<std::int8_t, kSizeMax> first{};                    ///< ... and of each statement: its first action
  std::array<std::int8_t, kSizeMax> step_first{}, step_last{};  ///< AT: of the action's rga; else the action itself
  bool steps = false;                                           ///< is there such an rga?

  /// Fills in all of it. `pivot` may be a rule that orders nothing by itself (R1, R2, WS).
  void build(const Program& program, RuleSet rules, Rule pivot);
};

}  // namespace loco::model::corerma
