// Checks a trace against the declarative models, on the witness that it recorded.
//
// LOCO/Mowgli paper, Def. 3.6 (consistency for a set of libraries), Def. G.2 (rdmawait), Def. 3.8 (sv), Def. 4.1
// (bal), Def. 5.2 (rbl), App. H.6 (msw). The libraries asked for are stacked in the order of `Library`: the result for
// one library is that of the execution at the level of this and all lower ones (docs/checking.md). rdmawait is always
// checked, since every other level stands on it.
//
// Time and memory are near-linear in the number of subevents. A pure function of its arguments: no clock, no
// global state, safe from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/rules.hpp"
#include "model/stamps.hpp"
#include "model/trace.hpp"

namespace loco::model {

/// One subevent on a cycle, and the edge that leaves it for the next one (the last leads back to the first).
struct Step {
  CallId call = 0;          ///< the call at the level that was checked
  SubeventId subevent = 0;  ///< 0: synthesised from a library call (aGF of a barrier, ...)
  Stamp stamp = Stamp::aCR;
  std::uint32_t peer = 0;  ///< remote node of a family stamp
  std::uint32_t thread = 0;
  Rule rule = Rule::ppo;              ///< of the edge to the next step
  Library owner = Library::rdmawait;  ///< whose call this is
  std::string thread_name;
  std::string call_text;      ///< e.g. "put(2:0x1040 <- 1:0x80) as 7"
  std::string subevent_text;  ///< e.g. "aNRW_2 writes 2:0x1040 = 5"
  std::string edge_text;      ///< e.g. "ppo (aNRW before aNRR, same node)"
};

struct Violation {
  Rule rule = Rule::ppo;    ///< a predicate; for a cycle, the rule of its most telling edge
  std::string message;      ///< one line
  std::vector<Step> cycle;  ///< empty when a predicate is violated
};

struct LibraryResult {
  Library library = Library::rdmawait;
  bool consistent = true;
  bool undecided = false;             ///< not consistent because of Rule::budget alone: nobody knows
  std::uint64_t calls = 0;            ///< events at this level
  std::uint64_t subevents = 0;        ///< subevents at this level
  bool by_stamps = true;              ///< decided on the recorded order alone; false: on the graph
  std::vector<Violation> violations;  ///< at most CheckOptions::max_violations
};

struct CheckOptions {
  std::size_t max_violations = 8;    ///< predicates reported a library; a cycle is always one
  std::vector<StampPair> without{};  ///< cells of Fig. 10 that do not count: a transport does not promise them
  bool tower = false;                ///< also check each library's promises against the level below (Def. 3.13)
  /// Called every few thousand steps (well under a millisecond). To end the check early it throws; the exception comes
  /// out of `check`.
  std::function<void()> poll{};
};

struct Verdict {
  std::vector<LibraryResult> results;  ///< in the order of `Library`, rdmawait first
  std::uint64_t subevents = 0;         ///< recorded subevents

  [[nodiscard]] bool consistent() const;
  /// Not consistent, and no library is known to be violated.
  [[nodiscard]] bool undecided() const;
  /// A library is known to be violated.
  [[nodiscard]] bool violated() const { return !consistent() && !undecided(); }
  /// Libraries that were checked and of which the trace has no call, so that their being consistent says nothing.
  [[nodiscard]] std::vector<std::string> without_calls() const;
  /// "consistent: rdmawait, sv, bal (N subevents)", each violation in words, undecided libraries, and libraries that
  /// the trace has no call of.
  [[nodiscard]] std::string to_text() const;
  /// Graphviz: the first cycle, threads as columns, relations coloured. Empty graph when there is none.
  [[nodiscard]] std::string to_dot() const;
};

/// The number of posted operations whose missing subevents the trace does not list: two-sided messages that have not
/// arrived and, in traces of a version that did not list them, all operations in flight at the end. The verdict does
/// not judge these subevents.
[[nodiscard]] std::size_t unrecorded_operations(const Trace& trace);

[[nodiscard]] Verdict check(const Trace& trace, std::span<const Library> libraries, const CheckOptions& options = {});

}  // namespace loco::model
