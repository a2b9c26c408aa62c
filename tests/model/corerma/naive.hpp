// All tests for a pivot, the slow way: every program, every renaming, every candidate, with each definition written out
// on its own. Shares nothing with the generator (model/corerma/), which is held against it.
//
// Definitions: coreRMA paper, Sections 3 to 6.1; docs/corerma.md.
#pragma once

#include <compare>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace loco::model::corerma::test {

/// `kind`: r read, w write, g get, p put, a rga, c cas, f flush. Operands are variables, in the order of the statement
/// as written; `host` is the one that a flush is for.
struct NaiveStatement {
  char kind = 'r';
  std::vector<int> operands;
  int host = -1;
  friend auto operator<=>(const NaiveStatement&, const NaiveStatement&) = default;
};

/// Process i runs on host i; hosts may hold variables only.
struct NaiveProgram {
  std::vector<std::vector<NaiveStatement>> processes;
  std::vector<int> homes;  ///< of each variable: its host
  friend auto operator<=>(const NaiveProgram&, const NaiveProgram&) = default;
};

struct NaiveQuestion {
  std::string pivot = "R1";
  int processes = 1;
  int hosts = 1;
  std::string statements = "rwgpf";
  bool one = false;  ///< exactly one local read a writer
  std::set<std::string> rules = {"R1", "R2", "F1", "F2", "F3", "PG", "GA", "CAS", "LO", "WS", "IR"};
};

/// The least of all programs that renaming processes, hosts and variables makes of it.
[[nodiscard]] NaiveProgram naive_canonical(const NaiveProgram& program, int hosts);

/// Some candidate has a cycle, loses all cycles with one edge of the pivot, and all writers in it are read locally.
[[nodiscard]] bool naive_is_test(const NaiveProgram& program, const NaiveQuestion& question);

/// The values that local reads may return under the rules, process after process. The k-th variable starts as 10^k;
/// local writes, in order, go on from there. Rules as in rule_set.hpp.
[[nodiscard]] std::set<std::vector<long>> naive_outcomes(const NaiveProgram& program,
                                                         const std::set<std::string>& rules);

/// Every canonical program of the size.
[[nodiscard]] std::set<NaiveProgram> naive_programs(const NaiveQuestion& question, int size);

/// Those of them that are tests.
[[nodiscard]] std::set<NaiveProgram> naive_tests(const NaiveQuestion& question, const std::set<NaiveProgram>& programs);

}  // namespace loco::model::corerma::test
