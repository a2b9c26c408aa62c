// The exact semantics with reads left open, and with any number of pending operations: what the explicit engine walks.
//
// An operation that may read at any time until it writes does not read in steps of its own. It keeps the set of values
// that it may have read since it was issued, and picks one when it goes on: the sets of the paper's reduction (section
// 3.1), one an instance. This is exact. For rga and cas, too: the target's memory is changed in one step with operands
// from the set (for cas pairs, the operand's value being the older one), after which only the result is to be written.
//
// Statements of a process that do the same, whatever their places, are taken for one.
//
// Up to `pending` instances of one remote statement are told apart, and of rga and cas, which must not be done too
// often, all when there are but few: when none is in a loop. One more, and all become one entry that stands for one or
// more of them, with the union of their sets; whenever one of these goes on, the entry may stay or go. This can only
// add behaviours: `safe` stands for any number of pending operations, and what is found wrong is replayed exactly.
// Where nothing was merged (`Point::merged`), the walk has been exact.
//
// Under `in-order` and `verbs` a get to another process reads in a step of its own, since its place in the order
// matters; entries that stand for several keep no order.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/network.hpp"
#include "verify/numbers.hpp"
#include "verify/program.hpp"
#include "verify/semantics.hpp"
#include "verify/static_facts.hpp"
#include "verify/value_sets.hpp"

namespace loco::verify {

/// Pending operations of one statement that are alike: one, or (`many`) one or more.
struct Entry {
  std::uint32_t statement = 0;  ///< the first of those that do the same
  bool result_only = false;     ///< all that is left is to write the result
  bool many = false;
  SetId set = ValueSets::kEmpty;  ///< values it may have read; of `result_only` values it may write
  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Point {
  std::vector<std::uint32_t> at;
  std::vector<Value> shared;
  std::vector<Value> locals;
  std::vector<Entry> entries;
  bool merged = false;  ///< some entry on the way here stood for several operations
};

/// One step: an edge of a process, or a pending operation that goes on.
struct Move {
  bool nic = false;
  std::uint32_t process = 0;  ///< with edge and choice, of a process
  std::uint32_t edge = 0;
  std::uint32_t choice = 0;
  std::uint32_t entry = 0;  ///< with the rest, of an operation
  Value first = 0;          ///< the value picked: operand, or what was read remotely
  Value second = 0;         ///< of cas: the swap
  bool stays = false;       ///< others of its kind stay pending
};

class SetSystem {
 public:
  /// `pending`: instances of a statement that are told apart. The program outlives this.
  SetSystem(const Program& program, FlushMask flushes, Network network, std::uint32_t pending);

  [[nodiscard]] Point initial();
  /// Appends the moves that a process has.
  void process_moves(const Point& point, std::uint32_t process, std::vector<Move>& into);
  /// Appends the moves of a pending operation.
  void entry_moves(const Point& point, std::uint32_t entry, std::vector<Move>& into);
  /// Whether a move makes one entry of several operations.
  [[nodiscard]] bool merges(const Point& point, const Move& move) const;
  /// Takes a move that the point has; says whether an assertion was broken by it.
  [[nodiscard]] bool take(Point& point, const Move& move);
  /// Whether a property does not hold here.
  [[nodiscard]] bool broken(const Point& point);
  [[nodiscard]] bool ended(const Point& point) const { return all_ended(*program_, point.at); }
  /// Forgets values that no step will read, and operations that write only such values.
  void normalise(Point& point);

  /// The operations that the flush waits for.
  [[nodiscard]] bool awaits(std::uint32_t flush, const Entry& entry) const;
  /// The first entry that holds this one back, under networks that keep an order; its own place when none does.
  [[nodiscard]] std::uint32_t held_back_by(const Point& point, std::uint32_t entry) const;

  [[nodiscard]] Value value(const Point& point, const Expression& expression);
  /// The value of the part that ends with each node.
  void part_values(const Point& point, const Expression& expression, std::vector<Value>& into);
  [[nodiscard]] bool reads_openly(const Entry& entry) const;  ///< its set grows with what it reads
  [[nodiscard]] std::uint32_t moves_weight(const Point& point,
                                           const Move& move) const;  ///< steps of the exact semantics

  /// The first remote statement that does the same as this one: nobody can tell their operations apart.
  [[nodiscard]] std::uint32_t alike(std::uint32_t statement) const { return alike_[statement]; }

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const StaticFacts& facts() const { return facts_; }
  [[nodiscard]] const FlushMask& flushes() const { return flushes_; }
  [[nodiscard]] Network network() const { return network_; }
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  [[nodiscard]] const ValueSets& sets() const { return sets_; }

 private:
  [[nodiscard]] Value at_target(const RemoteStatement& statement, Value old, Value operand, Value swap);
  [[nodiscard]] bool keeps_order(std::uint32_t statement) const { return keeps_order_[statement]; }
  void write(Point& point, std::uint32_t shared, Value value);
  void do_edge(Point& point, const Action& action, std::uint32_t choice);
  void issue(Point& point, std::uint32_t statement);
  void find_alike();
  void find_told_apart();
  void at_once(Point& point, const RemoteStatement& statement);
  void add(Point& point, Entry entry);
  [[nodiscard]] SetId united(const Entry& a, const Entry& b);
  [[nodiscard]] SetId grown(const Point& point, const Entry& entry);
  void go_on(Point& point, const Move& move);
  void drop_operations(Point& point);
  void forget_values(Point& point) const;
  void sort(Point& point) const;
  [[nodiscard]] bool changes_nothing(const Entry& entry, Mask live) const;

  const Program* program_;
  FlushMask flushes_;
  Network network_;
  std::uint32_t pending_;
  StaticFacts facts_;
  Numbers numbers_;
  ValueSets sets_;
  std::vector<std::uint32_t> alike_;       ///< by statement
  std::vector<std::uint32_t> told_apart_;  ///< by statement: instances
  std::vector<Mask> read_by_;              ///< by statement
  std::vector<bool> keeps_order_;          ///< by statement: its place among others may matter
  std::vector<bool> read_openly_;          ///< by shared variable: some statement's set has it
  std::vector<bool> matters_;              ///< of drop_operations
  std::vector<Value> stack_;               ///< of part_values
  std::vector<Value> parts_;               ///< of value
};

}  // namespace loco::verify
