// Writes one way through a thread's code: its events, their subevents, and the symbols of their values.
#pragma once

#include "model/litmus/skeletons/skeleton.hpp"

namespace loco::model::litmus {

class PathWriter {
 public:
  PathWriter(const Program& program, const Cells& cells, int thread)
      : program_(&program), cells_(&cells), thread_(thread) {}

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] int node() const { return at(program_->threads, thread_).node; }
  /// The nodes of threads, sorted, each once.
  [[nodiscard]] std::vector<int> nodes_of(const std::vector<int>& threads) const;

  // --- symbols: each call adds at most one for each operator, and returns the symbol of the value ---
  static int symbol(ThreadPath& p, const Symbol& s);
  static int constant(ThreadPath& p, Value v);
  static int operation(ThreadPath& p, ExprOp op, int a, int b);
  /// `then` where the condition is not 0, else `otherwise`.
  static int select(ThreadPath& p, int condition, int then, int otherwise);
  /// The value that a subevent has read.
  static int read_of(ThreadPath& p, int sub);
  int evaluate(ThreadPath& p, int expr) const;

  // --- events: each begins with the instruction that it comes from; subevents belong to the latest one ---
  void begin_event(ThreadPath& p, int instruction) const;
  [[nodiscard]] SubEvent make(const ThreadPath& p, Stamp stamp, Library library, int node = 0) const;
  static int add(ThreadPath& p, const SubEvent& s);
  int add_fence(ThreadPath& p, Stamp stamp, Library library, int node = 0) const;
  /// A read of a cell; returns the symbol of its value.
  static int add_read(ThreadPath& p, SubEvent s, int cell);
  static void add_write(ThreadPath& p, SubEvent s, int cell, int value);

  /// The copy of a location that the thread's node accesses, or another node.
  [[nodiscard]] int cell(int location) const { return cells_->cell(location, node()); }
  [[nodiscard]] int cell(int location, int on_node) const { return cells_->cell(location, on_node); }

 private:
  const Program* program_;
  const Cells* cells_;
  int thread_;
};

/// A way through the code up to an instruction.
struct PathState {
  ThreadPath path;
  std::vector<int> back_jumps;  ///< per instruction, times taken
  int pc = 0;
};

/// Ways that are still to be followed: those that forks have not taken.
using PendingPaths = std::vector<PathState>;

/// Writes a LOCO statement at the present instruction, one that moves no control. A call that may fail, or find
/// nothing, forks: that way goes to `pending`, behind the statement.
void write_loco_statement(const PathWriter& writer, const PathOptions& options, PathState& s, const Instruction& i,
                          PendingPaths& pending);

/// The same for posts and polls of model `verbs`.
void write_verbs_statement(const PathWriter& writer, PathState& s, const Instruction& i, PendingPaths& pending);

/// The same for a statement of coreRMA (paper, Table 3); none of them forks.
void write_corerma_statement(const PathWriter& writer, PathState& s, const Instruction& i);

}  // namespace loco::model::litmus
