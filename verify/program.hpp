// An RMA program as values: processes with control-flow graphs, variables, remote statements, flushes, properties.
//
// The language is that of "Automatic Verification of RMA Programs via Abstraction Extrapolation" (Baumann et al.,
// VMCAI 2018), Table 1, with remote read-and-add and compare-and-swap, local computation and structured control flow
// (docs/verify.md). Everything is numbered from 0 in textual order, over the whole program: variables, remote
// statements, flushes; locations and edges within their process. A `Program` never changes: which flushes count is said
// by a `FlushMask` beside it, so that a placement of flushes is a mask and not another program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/place.hpp"
#include "verify/expression.hpp"
#include "verify/integer.hpp"

namespace loco::verify {

/// Where something was written.
using Place = text::Mark;

struct SharedVariable {
  std::string name;  ///< unique in the program
  Integer initial;
  std::uint32_t process = 0;  ///< its home: index of Program::processes
  Place place;
};

struct LocalVariable {
  std::string name;  ///< unique in its process
  Integer initial;
  std::uint32_t process = 0;
  Place place;
};

enum class RemoteKind : std::uint8_t { kPut, kGet, kRga, kCas };

/// `put(remote, pid, operand)`, `result = get(remote, pid)`, `result = rga(remote, pid, operand)`: adds the operand,
/// and `result = cas(remote, pid, operand, swap)`: writes `swap` where the operand was found. The variables are indices
/// of Program::shared; `remote` lives on `target`, the others on `process`.
struct RemoteStatement {
  RemoteKind kind = RemoteKind::kPut;
  std::uint32_t process = 0;  ///< who issues it
  std::uint32_t target = 0;   ///< where the remote variable lives; may be `process` itself
  std::uint32_t remote = 0;
  std::optional<std::uint32_t> result;   ///< all but put
  std::optional<std::uint32_t> operand;  ///< all but get
  std::optional<std::uint32_t> swap;     ///< cas
  std::string text;                      ///< `put(Y, 1, X)`
  Place place;
};

struct FlushStatement {
  std::uint32_t process = 0;
  std::uint32_t target = 0;
  std::string text;  ///< `flush(1)`
  Place place;
};

/// Which of Program::flushes count; the others are as `skip`.
using FlushMask = std::vector<bool>;

enum class ActionKind : std::uint8_t {
  kSkip,    ///< skip, goto, break
  kAssign,  ///< local = expression
  kChoose,  ///< local = any one of choices
  kLoad,    ///< local = shared
  kStore,   ///< shared = expression
  kRemote,  ///< remote: becomes pending
  kFlush,   ///< flush
  kAssume,  ///< goes on when expression is true (kept: of a test, when it is false); without one: either way
  kAssert,  ///< goes on; the program is wrong when expression is false, or may be when there is none
};

/// The action of an edge. Fields that its kind does not name have no meaning.
struct Action {
  ActionKind kind = ActionKind::kSkip;
  std::uint32_t local = 0;
  std::uint32_t shared = 0;
  std::uint32_t remote = 0;  ///< index of Program::remotes
  std::uint32_t flush = 0;   ///< index of Program::flushes
  std::optional<Expression> expression;
  bool negated = false;  ///< kAssume: holds when the expression is 0
  std::vector<Integer> choices;
};

struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Action action;
  std::string text;  ///< the statement; of a test `(x == 1) is true`
  Place place;
};

/// A point between statements. Where a process ends there are no edges; a test has two.
struct Location {
  std::vector<std::uint32_t> edges;  ///< of Process::edges, that start here
  std::vector<std::string> labels;
  Place place;  ///< of the statement that comes next, or of the end
};

struct Label {
  std::string name;
  std::uint32_t location = 0;
  Place place;
  std::vector<bool> inside;  ///< by location: of the labelled statement, its block included
};

struct Process {
  Integer id;  ///< as in the program
  std::uint32_t entry = 0;
  std::uint32_t exit = 0;
  std::vector<Location> locations;
  std::vector<Edge> edges;
  std::vector<Label> labels;
  Place place;

  [[nodiscard]] std::string name() const { return id.str(); }
};

enum class PropertyKind : std::uint8_t {
  kAlways,  ///< in every state
  kFinal,   ///< in every state in which all processes have ended, whatever is pending
};

struct Property {
  PropertyKind kind = PropertyKind::kAlways;
  Expression expression;
  Place place;
};

/// A liveness property (docs/verify.md, "Liveness").
enum class LivenessKind : std::uint8_t {
  kEnds,        ///< these processes end
  kEventually,  ///< `then` holds in some state
  kLeadsTo,     ///< in or after each state with `when` there is one with `then`
  kProgress,    ///< one of the labelled statements is executed again and again, or all these processes have ended
};

/// Which runs count. Under all of them a run goes on as long as any step is enabled.
enum class Fairness : std::uint8_t {
  kWeak,  ///< who is enabled from some point on takes a step, and every operation is done
  kNic,   ///< every operation is done; processes may stop
  kNone,  ///< every run
};

inline constexpr std::array<std::string_view, 3> kFairnessNames = {"weak", "nic", "none"};

struct LivenessProperty {
  struct Labelled {
    std::uint32_t process = 0;
    std::uint32_t location = 0;
  };
  LivenessKind kind = LivenessKind::kEnds;
  std::vector<std::uint32_t> processes;  ///< of kEnds and kProgress; ascending
  std::vector<Labelled> labels;          ///< of kProgress
  std::optional<Expression> when;        ///< of kLeadsTo
  std::optional<Expression> then;        ///< of kEventually and kLeadsTo
  std::optional<Fairness> under;         ///< as the program says
  std::string text;                      ///< `leads_to (in(1, wait), !in(1, wait))`
  Place place;

  /// Is it about this process? About all where it names none.
  [[nodiscard]] bool names(std::uint32_t process) const {
    return processes.empty() || std::binary_search(processes.begin(), processes.end(), process);
  }
};

struct Program {
  std::string file;
  std::vector<Process> processes;
  std::vector<SharedVariable> shared;
  std::vector<LocalVariable> locals;
  std::vector<RemoteStatement> remotes;
  std::vector<FlushStatement> flushes;
  std::vector<Property> properties;
  std::vector<LivenessProperty> liveness;
};

/// All flushes count.
[[nodiscard]] inline FlushMask all_flushes(const Program& program) { return FlushMask(program.flushes.size(), true); }

/// The variables that a remote statement reads (operand, swap, and what it reads remotely) and writes, as indices of
/// Program::shared.
[[nodiscard]] std::vector<std::uint32_t> reads(const RemoteStatement& statement);
[[nodiscard]] std::vector<std::uint32_t> writes(const RemoteStatement& statement);

/// Whether the flush waits for operations of this statement.
[[nodiscard]] constexpr bool awaits(const FlushStatement& flush, const RemoteStatement& statement) {
  return statement.process == flush.process && statement.target == flush.target;
}

/// `flag0`, or `x@1` for a local whose name several processes use.
[[nodiscard]] std::string local_name(const Program& program, std::uint32_t local);

/// The program with a flush to its target after every remote statement, in place of those that it has: where flushes
/// may be needed at all. Loopbacks get one, too.
[[nodiscard]] Program with_flush_after_every_remote(const Program& program);

}  // namespace loco::verify
