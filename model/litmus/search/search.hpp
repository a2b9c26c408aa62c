// Finds the consistent executions of a program: values and rf first, mo and nfo only where they matter.
//
// For each way to join the threads' paths, reads choose their write one after another; each choice adds edges to
// one graph (order_graph.hpp), and a branch ends as soon as it has a cycle or contradicts a condition of a path.
// Where all reads are decided, final values of interest are chosen, and only then are mo and nfo oriented: forced
// pairs first, to a fixpoint; the rest by trial. One orientation is enough: it is existence that counts.
//
// An "execution" counted here is thus a reads-from class: paths, rf and the last write of each location in `final`.
// With `every_witness` mo, nfo and rao are enumerated too, and executions are complete witnesses (rf, mo, nfo, rao).
//
// A program with symmetries (symmetry.hpp) is searched once for each orbit, of paths and of executions: outcomes and
// counts are those of all executions, all the same. Small programs are not asked for theirs.
//
// The search is deterministic, allocates little, and never prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "model/litmus/models/axioms.hpp"
#include "model/litmus/search/outcomes.hpp"
#include "model/litmus/skeletons/skeleton.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

struct SearchOptions {
  ModelOptions model;
  int loop_bound = 4;
  bool every_witness = false;
  /// Look no further into branches whose outcome is already known (then executions are not all counted) ...
  bool outcomes_only = false;
  /// If given, executions are traces (rf, mo) of which this says yes, with mo total on each cell. It is asked before
  /// nfo and rao are looked for.
  std::function<bool(const Skeleton&, const Axioms&, const Sources&, const Relation& mo)> traces = {};
  std::uint64_t counted_max = 0;  ///< ... or not before so many executions; 0: count all
  /// Stop after so many; 0: no limit. Those with new outcomes are looked for first: there are no more outcomes than
  /// are found unless `stopped` is set.
  std::uint64_t executions_max = 0;
  std::size_t memory_max = 0;  ///< bytes of outcomes; 0: as many as there are
  /// Look for symmetries after so many steps (0: at once), and start anew if there are any; later where nearly every
  /// step finds a new outcome. Not where a visitor, an outcome or `executions_max` asks for single executions.
  std::uint64_t symmetry_after = 1'000;
  std::function<void()> poll = {};         ///< called now and then; what it throws ends the search
  std::function<bool()> out_of_time = {};  ///< asked now and then; true stops the search
};
inline constexpr std::uint64_t kNoSymmetry = ~std::uint64_t{0};

/// A consistent execution, handed to a visitor.
struct FoundExecution {
  const Skeleton* skeleton = nullptr;
  const Axioms* axioms = nullptr;
  Sources sources;
  Witness witness;
  Outcome outcome;
};

struct SearchResult {
  Outcomes outcomes;  ///< sorted, unless a limit was reached
  std::uint64_t executions = 0;
  std::uint64_t skeletons = 0;
  bool cut_loops = false;      ///< loops were cut at the bound
  bool uncounted = false;      ///< branches with known outcomes were left out: there are more executions
  bool stopped = false;        ///< executions_max was reached, or the visitor said so
  bool timed_out = false;      ///< SearchOptions::out_of_time said so
  bool out_of_memory = false;  ///< SearchOptions::memory_max was reached, or there was no more
  TooLarge too_large;          ///< paths, or ways to join them, were left out for their size or number
  bool ill_formed = false;     ///< ways to join paths were left out: barriers not passed equally often, nothing to poll
  std::vector<std::pair<int, int>> failed_assertions;  ///< (thread, instruction), sorted, each once

  /// Has a limit of time or memory ended the search?
  [[nodiscard]] bool limited() const { return timed_out || out_of_memory; }
};

/// Called for each execution found, with a complete witness (mo and nfo filled in); false stops the search.
using ExecutionVisitor = std::function<bool(const FoundExecution&)>;

/// `wanted`: only executions whose outcome matches. `visit` may be empty.
[[nodiscard]] SearchResult search(const Program& program, const Model& model, const SearchOptions& options,
                                  const PartialOutcome& wanted = {}, const ExecutionVisitor& visit = {});

/// Calls `visit` for each well-formed way to join the threads' paths, until it returns false. `limits`, if given, is
/// told about paths that were cut off or left out (and no more).
void for_each_skeleton(const Program& program, const Model& model, const SearchOptions& options,
                       const std::function<bool(const Skeleton&, const Axioms&)>& visit,
                       SearchResult* limits = nullptr);

}  // namespace loco::model::litmus
