// Robustness (docs/robustness.md): does a weak model let a program do anything that `sc` does not?
//
// The trace of an execution is its accesses with po, rf and mo. It is SC iff po, rf, mo and rb together have no cycle,
// the read and the write of one cas, rcas or rfaa being one point. A program is robust iff every trace that the model
// allows is SC.
//
// Found by search: first with one thread weak and the accesses of the others taking effect one by one, which has found
// every violation so far (tests/model/litmus/robust_test.cpp), then the whole program, so that "robust" is never said
// of what was not searched. Pure functions; deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

struct RobustOptions {
  std::string model;  ///< rdmatso, rdmawait or loco; empty: the program's own
  bool repair = false;
  int repair_max = 3;  ///< insertions of a repair
  int loop_bound = 4;
  std::size_t memory_max = std::size_t{2} << 30U;  ///< bytes of outcomes; 0: no limit
  std::function<void()> poll = {};
  std::function<bool()> out_of_time = {};
};

/// A statement that a repair may insert before another.
struct Insertion {
  enum class Kind : std::uint8_t { rfence, mfence, wait, flush };  ///< the cheapest first
  int thread = 0;
  int before = 0;  ///< statement, as written, from 0
  Kind kind = Kind::mfence;
  int node = kNone;       ///< rfence, flush
  int work_id = kNone;    ///< wait: index into Program::work_ids ...
  int operation = kNone;  ///< ... or the instruction that has no identifier, and gets `name`
  std::string name{};
  std::string operation_text{};
  [[nodiscard]] std::string text() const;
};

struct Repair {
  enum class Reason : std::uint8_t { found, none, limit, unknown, model };
  Reason reason = Reason::unknown;
  int size = 0;                              ///< found: insertions of the smallest repairs ...
  std::vector<std::vector<Insertion>> sets;  ///< ... all of them, the cheapest first
};

struct Robustness {
  struct Step {
    int thread = 0;
    int statement = 0;
    std::string access;  ///< `write x`, `read x`, `update x`
    std::string edge;    ///< po, rf, mo or rb, to the next step
  };
  std::optional<bool> robust;           ///< nothing: unknown
  std::optional<bool> robust_outcomes;  ///< is every outcome one of `sc`?
  std::optional<Outcome> outcome;       ///< of the execution with the cycle
  std::vector<Step> cycle;
  std::optional<Repair> repair;  ///< as asked for, of a program that is not robust
  std::string why_unknown;
};

/// Throws text::InputError if the program has statements that the model lacks, std::invalid_argument for another model.
[[nodiscard]] Robustness robustness(const Program& program, const RobustOptions& options = {});

/// Whether every trace is SC: by search of the whole program, or with one thread weak at a time. `robustness` uses
/// both.
struct TraceVerdict {
  std::optional<bool> robust;
  std::optional<Outcome> outcome;
  std::vector<Robustness::Step> cycle;
  std::string why_unknown;
};
[[nodiscard]] TraceVerdict search_traces(const Program& program, const RobustOptions& options, int weak_thread = kNone);

/// The program with the insertions.
[[nodiscard]] Program with_insertions(const Program& program, const std::vector<Insertion>& insertions);
/// Everything that may be inserted into a thread, by statement.
[[nodiscard]] std::vector<Insertion> possible_insertions(const Program& program, int thread);
/// The statement, as written, of each instruction of a thread.
[[nodiscard]] std::vector<int> statements_of(const Thread& thread);
/// Of the program's smallest repairs. Precondition: it is not robust.
[[nodiscard]] Repair smallest_repairs(const Program& program, const RobustOptions& options);

}  // namespace loco::model::litmus
