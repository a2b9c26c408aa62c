// A litmus program: the plain value that every engine runs (docs/litmus-format.md).
//
// The parser lowers statements to flat instructions, at most one memory access each, with forward and backward
// jumps for control flow, so that an interpreter needs no more than a program counter and a register file.
// Expressions read registers only: `x = y` becomes a read into a temporary register and a write.
//
// Numbering: threads, locations, barriers, ring buffers, registers (per thread) and work identifiers are indices
// into the vectors below; kNone (-1) is "absent". Nodes are the numbers of the document. A program owns all it
// refers to; it is never changed after parsing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/litmus/language/queues.hpp"
#include "model/trace.hpp"
#include "text/place.hpp"

namespace loco::model::litmus {

inline constexpr int kNone = -1;

/// Element `i` of a vector, by the signed indices used throughout.
template <class Vector>
[[nodiscard]] constexpr auto& at(Vector& v, int i) {
  return v[static_cast<std::size_t>(i)];
}
template <class Vector>
[[nodiscard]] constexpr int len(const Vector& v) {
  return static_cast<int>(v.size());
}

// --- values -------------------------------------------------------------------------------------------------

/// An integer of the program, or one of the special values below; tuples are indices into Program::tuples.
using Value = std::int64_t;
inline constexpr Value kValueMax = Value{1} << 61;  ///< integers written in a program lie within +-kValueMax
inline constexpr Value kSpecial = std::numeric_limits<Value>::min();
inline constexpr Value kFalse = kSpecial + 1;
inline constexpr Value kTrue = kSpecial + 2;
inline constexpr Value kEmpty = kSpecial + 3;      ///< a receive found no message
inline constexpr Value kBottom = kSpecial + 4;     ///< a tryread found no stable tuple
inline constexpr Value kUndefined = kSpecial + 5;  ///< coreRMA: the value of a conflicting access
inline constexpr Value kNoName = kSpecial + 6;     ///< verbs: a work request without a name, `_`
inline constexpr Value kFirstName = kSpecial + 7;  ///< verbs: indices into Verbs::names
inline constexpr int kNamesMax = 900;
inline constexpr Value kFirstTuple = kSpecial + 1000;
inline constexpr Value kLastTuple = kFirstTuple + 1'000'000;

[[nodiscard]] constexpr bool is_tuple(Value v) { return v >= kFirstTuple && v <= kLastTuple; }
[[nodiscard]] constexpr bool is_integer(Value v) { return v > kLastTuple; }
/// The number an expression computes with: true is 1; false, empty, bottom, undefined and tuples are 0.
[[nodiscard]] constexpr Value number(Value v) { return is_integer(v) ? v : v == kTrue ? 1 : 0; }

/// The value that documents call `true`, `false`, `empty`, `bottom` or `undefined`.
[[nodiscard]] std::optional<Value> named_value(std::string_view word);

// --- expressions --------------------------------------------------------------------------------------------

enum class ExprOp : std::uint8_t {
  constant,
  reg,
  negate,
  logical_not,
  add,
  sub,
  mul,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or
};

/// A node of an expression over registers; children are indices into Program::exprs, always smaller than its own.
struct Expr {
  ExprOp op = ExprOp::constant;
  Value constant = 0;
  int reg = kNone;
  int lhs = kNone;
  int rhs = kNone;
};

/// Value of a binary or unary operator on values already computed (`rhs` is ignored by unary ones).
[[nodiscard]] Value apply(ExprOp op, Value lhs, Value rhs);

// --- instructions -------------------------------------------------------------------------------------------

enum class Op : std::uint8_t {
  assign,       ///< target = expr
  read,         ///< target = location                       (aCR)
  write,        ///< location = expr                         (aCW)
  cas,          ///< target = cas(location, expr, expr2)     (aCAS, or aMF and aCR); without expr: xchg(location, expr2)
  rcas,         ///< rcas(location, source, expr, expr2) as work_id: `source` is the remote one (aNAR, aNRW, aNLW)
  rfaa,         ///< rfaa(location, source, expr) as work_id (the same)
  mfence,       ///< (aMF)
  put,          ///< put(location, source) as work_id: `location` is the remote one  (aNLR, aNRW)
  get,          ///< get(location, source) as work_id: `source` is the remote one    (aNRR, aNLW)
  wait,         ///< wait(work_id)                           (aWT)
  poll,         ///< target = poll(node)                     (aWT)
  rfence,       ///< rfence(node)                            (aRF)
  bcast,        ///< bcast(location, nodes) as work_id       (aNLR, aNRW for each node)
  gf,           ///< gf(nodes)                               (aGF for each node)
  barrier,      ///< barrier(object)
  submit,       ///< target = submit(object, expr)
  receive,      ///< target = receive(object)
  tuple_write,  ///< write(location, [..]): expr is the tuple, a constant (aCW)
  tuple_read,   ///< target = tryread(location)              (aCR, or aWT when it fails)
  rga,          ///< coreRMA: location = rga(source, operand): `source` is the remote one
  remote_cas,   ///< coreRMA: location = cas(source, operand, operand2)
  flush,        ///< coreRMA: flush(node)
  verbs,        ///< object: an index into Verbs::posts
  jump,         ///< continue at `jump`
  branch_zero,  ///< continue at `jump` when expr is 0, else fall through
  assertion,    ///< assert(expr)
};

/// A read-modify-write at another node's NIC, of any model: the old value goes to a local location.
[[nodiscard]] constexpr bool is_remote_atomic(Op op) {
  return op == Op::rcas || op == Op::rfaa || op == Op::rga || op == Op::remote_cas;
}
/// coreRMA: atomicity of single accesses of a statement; the others have that of the statement.
struct Atomicity {
  std::optional<bool> location{}, source{}, operand{}, operand2{};
};

struct Instruction {
  Op op = Op::assign;
  Library library = Library::rdmawait;  ///< whose method it is (memory operations, fences, barriers, ...)
  bool atomic = true;                   ///< coreRMA: are the accesses of the statement atomic?
  Atomicity single{};                   ///< coreRMA: those that differ
  int target = kNone;                   ///< register of the thread
  int location = kNone;
  int source = kNone;
  int operand = kNone;
  int operand2 = kNone;
  int expr = kNone;
  int expr2 = kNone;
  int node = kNone;
  int object = kNone;   ///< index into Program::barriers or Program::ringbuffers
  int work_id = kNone;  ///< index into Program::work_ids; kNone: no `as d` was written
  int origin = kNone;   ///< of an implementation: the instruction of the client's thread that it is part of
  int jump = kNone;
  std::vector<int> nodes;  ///< sorted, no duplicates
  text::Mark at;           ///< of the statement it comes from
  std::string text;        ///< that statement, as written
};

// --- the program --------------------------------------------------------------------------------------------

enum class LocationKind : std::uint8_t {
  word,    ///< one word on its home node
  shared,  ///< an sv variable: one copy on every node
  tuple,   ///< an msw variable on its home node
};

struct Location {
  std::string name;
  LocationKind kind = LocationKind::word;
  int node = kNone;    ///< home node; kNone for shared locations
  Value init = 0;      ///< of every copy
  bool fresh = false;  ///< made by the parser for `put(remote, constant)` or `_`; no outcome mentions it
  int tuple_size = 0;
  bool relaxed = false;  ///< registered with relaxed ordering
  bool device = false;   ///< in a device's memory, an ordering domain of its own
};

struct Register {
  std::string name;
  bool temporary = false;  ///< made by the parser; no outcome mentions it
};

inline constexpr int kThreadsMax = 64;  ///< of one program

struct Thread {
  int node = 0;
  std::vector<Instruction> code;
  std::vector<Register> registers;  ///< all start at 0

  /// Adds a register that no outcome mentions.
  int temporary();
};

struct Barrier {
  std::string name;
  std::vector<int> participants;  ///< threads, sorted
  bool transitive = false;        ///< fences every node, not only those of the participants
};

struct RingBuffer {
  std::string name;
  int writer = 0;            ///< thread
  std::vector<int> readers;  ///< threads, sorted
};

/// A component of an outcome: a register of a thread, or a location's final value (the copy on `node`).
struct Observable {
  std::string name;  ///< `a`, `z`, `s@2`
  int thread = kNone;
  int reg = kNone;
  int location = kNone;
  int node = kNone;
  std::vector<int> cells{};  ///< of an implemented mixed-size variable: the locations of its hash and its elements
};

/// One value per element of Program::observables.
using Outcome = std::vector<Value>;
using OutcomeView = std::span<const Value>;
/// (observable, value) pairs: matches every outcome that agrees with all of them.
using PartialOutcome = std::vector<std::pair<int, Value>>;

[[nodiscard]] bool matches(const PartialOutcome& partial, OutcomeView outcome);
/// As matches, where `undefined` stands for any value: what hardware gives where a model says that anything may come.
[[nodiscard]] bool agrees(const PartialOutcome& partial, OutcomeView outcome);
[[nodiscard]] bool agrees(OutcomeView allowed, OutcomeView seen);

/// The condition of a herd file on the final states (herd.hpp).
struct HerdCondition {
  enum class Quantifier : std::uint8_t { exists, forall, not_exists } quantifier = Quantifier::exists;
  struct Node {
    enum class Kind : std::uint8_t { truth, equal, negation, both, either } kind = Kind::truth;
    int observable = kNone;
    Value value = 0;
    int lhs = kNone, rhs = kNone;
  };
  std::vector<Node> nodes;
  int root = 0;
  std::vector<std::string> names;  ///< of the observables
};

struct Program {
  std::string name;
  std::string source;  ///< where the test is from; may be empty
  std::string model;   ///< the model the document asks for; may be empty
  std::string file;
  text::Mark at;

  std::vector<int> nodes;  ///< every node that is mentioned, sorted
  std::vector<Location> locations;
  std::vector<Barrier> barriers;
  std::vector<RingBuffer> ringbuffers;
  std::vector<std::string> work_ids;
  std::vector<Thread> threads;
  std::vector<Expr> exprs;
  std::vector<std::vector<Value>> tuples;
  Verbs verbs;  ///< of model `verbs`

  std::vector<Observable> observables;
  std::vector<PartialOutcome> allowed;     ///< must be possible under `model`
  std::vector<PartialOutcome> forbidden;   ///< must be impossible under `model`
  std::optional<HerdCondition> condition;  ///< in place of these in a file of herd's
  PartialOutcome assumed;                  ///< verbs: races are those of executions with this outcome
  /// Model name -> every outcome it has.
  std::map<std::string, std::vector<PartialOutcome>> outcomes_by_model;

  /// `1`, `true`, `empty`, `[1, 2]`, ...
  [[nodiscard]] std::string text(Value v) const;
  /// `a=0 b=1`
  [[nodiscard]] std::string text(OutcomeView outcome) const;
  /// The same of what a partial outcome says, or `otherwise` where that is nothing.
  [[nodiscard]] std::string text(const PartialOutcome& partial, const char* otherwise,
                                 std::string_view between = " ") const;
  /// Of work requests: those of `verbs`, else work identifiers.
  [[nodiscard]] const std::vector<std::string>& request_names() const {
    return verbs.names.empty() ? work_ids : verbs.names;
  }
  /// The value that a poll of rdmatso returns for an operation: its identifier, a value of its own kind unless it is a
  /// number; kNoName without one.
  [[nodiscard]] Value identifier(int work_id) const;
  /// The index of the tuple as a value, adding it if it is new.
  Value intern(const std::vector<Value>& tuple);
  /// The node, which is added to `nodes` if it is new.
  int mention(int node);
  /// Adds an expression.
  int add(const Expr& expr);
  /// Adds a word of the node that no outcome mentions.
  int add_fresh_word(int node, Value init);
  /// The work identifier, which is added if it is new.
  int work_id(const std::string& name);
};

/// Does the name belong to the coreRMA family (`corerma`, `corerma-verbs`, ..., or a list of rules: rule_set.hpp)?
[[nodiscard]] bool is_corerma(std::string_view model);

}  // namespace loco::model::litmus
