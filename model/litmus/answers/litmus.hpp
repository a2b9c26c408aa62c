// Litmus tests: the library behind `loco-sim litmus` (docs/litmus-format.md, docs/models.md).
//
// parse_file (parser.hpp) gives programs; enumerate gives a program's exact outcomes under a model, with the verdict
// on what the document expects; witness and explain_forbidden say why. Pure functions; deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/parser.hpp"
#include "model/litmus/language/program.hpp"
#include "model/litmus/models/axioms.hpp"
#include "model/litmus/search/outcomes.hpp"

namespace loco::model::litmus {

inline constexpr std::size_t kMemoryMax = std::size_t{2} << 30U;  ///< bytes of a test's outcomes unless asked for

struct Options {
  std::string model;  ///< empty: the program's own
  ModelOptions model_options;
  int loop_bound = 4;                      ///< times that control may go back to the head of a loop
  bool every_witness = false;              ///< count complete witnesses (rf, mo, nfo), not reads-from classes
  bool outcomes_only = false;              ///< do not count executions whose outcome is known already
  std::uint64_t counted_max = 200'000;     ///< count so many executions, then look for new outcomes only; 0: all
  std::uint64_t executions_max = 0;        ///< stop after so many, new outcomes first; 0: no limit
  std::size_t memory_max = kMemoryMax;     ///< bytes of outcomes; 0: no limit
  std::function<void()> poll = {};         ///< called now and then; what it throws ends the search
  std::function<bool()> out_of_time = {};  ///< asked now and then; true stops the search, which is then incomplete
  std::string time_limit = {};             ///< what a note calls that: "2 s"
  /// explain_forbidden: a model with fewer rules. Cycles that this model does not have are told first: they need the
  /// rules that the model under test adds.
  std::string weaker = {};
};

/// An engine's outcomes of a program, compared with the document's expectations.
struct Result {
  std::string name;
  std::string model;
  std::string engine;
  Outcomes outcomes;                  ///< each once; sorted unless cut short
  std::vector<std::uint64_t> counts;  ///< how often each outcome was seen; empty where that has no meaning
  std::uint64_t executions = 0;
  bool ok = true;
  std::vector<std::string> missing;     ///< expected outcomes that are not possible
  std::vector<std::string> unexpected;  ///< possible outcomes that are not expected, failed assertions
  std::vector<std::string> races;       ///< verbs: those found, where the document expects some or none
  std::vector<std::string> notes;       ///< limits that were reached, outcomes excluded and why
  bool complete = true;                 ///< false: a limit was reached, so there may be more outcomes
  bool ran = true;                      ///< false: the engine cannot run this program; a note says why
  bool cut_short = false;               ///< a limit of time, number or size left out what might change the verdict
  bool complete_in_bound = true;        ///< declarative: the same, of executions whose loops keep to their bound
  double seconds = 0;                   ///< wall-clock time, set by the command line only
};

/// Requires a judged result. Ok only if the search ran to its end and the expectations are met.
enum class Verdict : std::uint8_t { ok, fail, incomplete, not_run };
[[nodiscard]] Verdict verdict_of(const Result& result);
/// "ok", "fail", "incomplete", "not run".
[[nodiscard]] std::string_view name(Verdict verdict);

/// Throws text::InputError if the program has statements that the model lacks, std::invalid_argument for an unknown
/// model.
[[nodiscard]] Result enumerate(const Program& program, const Options& options = {});

/// Compares `outcomes` with the document's expectations for `model`: fills ok, missing, unexpected. `allowed`
/// outcomes need not all be seen by engines that do not promise completeness. `stop` is asked now and then: if it says
/// yes, what is left is not compared, and the result is incomplete.
void judge(const Program& program, bool exhaustive, Result& result, const std::function<bool()>& stop = {});

/// An assertion that fails, as results show it.
[[nodiscard]] std::string assertion_text(const Program& program, int thread, int instruction);

/// An execution, ready to be told. Relations are on the subevents of `nodes`, by position.
struct Explanation {
  struct Node {
    int thread = 0;
    int event = 0;
    std::string label;      ///< `put(z, x): aNLR x = 0`
    std::string statement;  ///< as in the document
  };
  struct Edge {
    int from = 0, to = 0;
    std::string relation;  ///< po, ppo, rf, mo, rb, nfo, so, ...
    std::string why;       ///< in words
    bool on_cycle = false;
  };
  std::string title;
  Outcome outcome;
  std::vector<int> thread_nodes;  ///< home node of each thread
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<int> cycle;        ///< nodes of the cycle, in order; empty for a witness
  bool also_weaker = false;      ///< Options::weaker has the cycle, too
  std::uint64_t candidates = 0;  ///< of a forbidden outcome: candidates that run into this cycle
};

/// One consistent execution that shows the outcome; nothing if there is none.
[[nodiscard]] std::optional<Explanation> witness(const Program& program, const PartialOutcome& outcome,
                                                 const Options& options = {});

/// Why the outcome is impossible: the cycles that its candidate executions run into, the most telling first (most
/// threads crossed, fewest edges within one thread's own reads and writes, most frequent), until every candidate has
/// one. No explanation means that no candidate has these values at all, or (if `witness` finds
/// one) that the outcome is possible.
[[nodiscard]] std::vector<Explanation> explain_forbidden(const Program& program, const PartialOutcome& outcome,
                                                         const Options& options = {});

/// The text for an outcome that `witness` does not find and explain_forbidden has no cycle for.
struct NoCandidate {
  std::string text;     ///< "is impossible: ..."
  bool decided = true;  ///< false: too large to know, or loops were cut
};
[[nodiscard]] NoCandidate why_no_candidate(const Program& program, const Options& options = {});

/// The test in sentences: the steps of each thread; then which outcomes of the document are allowed, and why.
[[nodiscard]] std::string describe(const Program& program, const Options& options = {});

/// In words, several lines.
[[nodiscard]] std::string to_text(const Explanation& explanation);
/// Graphviz: threads as columns, rf, mo and so in colours, the cycle in bold.
[[nodiscard]] std::string to_dot(const Explanation& explanation);

/// herd7's layout: `Test NAME Allowed`, `States n`, the states, `Ok`, `Observation NAME Sometimes p n`.
[[nodiscard]] std::string to_herd_text(const Program& program, const Result& result);
/// The same, written as it is made. `stop` is asked now and then: if it says yes, kListedAnyway states are listed at
/// most, and the result becomes incomplete if there are more.
void write_herd_text(std::ostream& out, const Program& program, Result& result, const std::function<bool()>& stop = {});

/// Calls `list` with the places of the outcomes that are to be told, with `stop` as above.
inline constexpr std::size_t kListedAnyway = 10'000;
void list_outcomes(Result& result, const std::function<bool()>& stop, const std::function<void(std::size_t)>& list);

/// `a: 0, b: 1`, `a=0; r=[1, 2];` -> partial outcome, as typed on a command line. Throws std::invalid_argument.
[[nodiscard]] PartialOutcome parse_outcome(const Program& program, const std::string& text);

}  // namespace loco::model::litmus
