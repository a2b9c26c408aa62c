// Interprets a thread's code with symbolic values, once for each way through it.
#include <algorithm>
#include <utility>

#include "model/litmus/skeletons/path_writer.hpp"
#include "model/litmus/skeletons/skeleton.hpp"

namespace loco::model::litmus {
namespace {

class PathBuilder {
 public:
  PathBuilder(const Program& program, const Cells& cells, int thread, const PathOptions& options)
      : writer_(program, cells, thread), self_(at(program.threads, thread)), options_(options) {}

  ThreadPaths run() {
    PathState start;
    start.path.registers.assign(self_.registers.size(), PathWriter::symbol(start.path, {}));
    start.back_jumps.assign(self_.code.size(), 0);
    pending_.push_back(std::move(start));
    while (!pending_.empty()) {
      if (len(result_.paths) >= options_.paths_max || symbols_ > options_.symbols_max) {
        result_.too_large.paths = true;
        break;
      }
      PathState s = std::move(pending_.back());
      pending_.pop_back();
      if (!interpret(s)) continue;
      symbols_ += len(s.path.symbols);
      result_.paths.push_back(std::move(s.path));
    }
    // Forks are taken depth first with the second branch first: restore the order of the code.
    std::reverse(result_.paths.begin(), result_.paths.end());
    return std::move(result_);
  }

 private:
  /// Runs to the end of the code. False when the path is cut off. Forks push the other branch on pending_.
  bool interpret(PathState& s) {
    while (s.pc < len(self_.code)) {
      // A statement has at most some thousand symbols more.
      const bool arithmetic = len(s.path.symbols) > kPathSymbolsMax ||
                              (!s.path.symbols.empty() && s.path.symbols.back().weight > options_.weight_max);
      if (len(s.path.subevents) > kSubeventsMax || arithmetic) {
        result_.too_large.arithmetic = result_.too_large.arithmetic || arithmetic;
        if (!arithmetic) result_.too_large.subevents = std::max(result_.too_large.subevents, len(s.path.subevents));
        return false;
      }
      const Instruction& i = at(self_.code, s.pc);
      if (i.op == Op::jump || i.op == Op::branch_zero || i.op == Op::assertion) {
        if (!control(s, i)) return false;
        continue;
      }
      if (i.op == Op::verbs)
        write_verbs_statement(writer_, s, i, pending_);
      else if (options_.core_rma)
        write_corerma_statement(writer_, s, i);
      else
        write_loco_statement(writer_, options_, s, i, pending_);
      ++s.pc;
    }
    return true;
  }

  bool control(PathState& s, const Instruction& i) {
    if (i.op == Op::jump) return go_to(s, i.jump);
    const int condition = writer_.evaluate(s.path, i.expr);
    const int instruction = s.pc;
    ++s.pc;
    const Symbol c = at(s.path.symbols, condition);
    // Continues with the other value of the condition; false when the path is cut off.
    const auto go = [&](PathState& to, bool nonzero) {
      if (nonzero) return true;
      if (i.op == Op::branch_zero) return go_to(to, i.jump, instruction);
      to.path.violated.push_back(instruction);
      return true;
    };
    if (c.kind == Symbol::Kind::constant) return go(s, number(c.constant) != 0);
    PathState zero = s;
    zero.path.conditions.push_back({condition, false});
    if (go(zero, false)) pending_.push_back(std::move(zero));
    s.path.conditions.push_back({condition, true});
    return true;
  }

  /// Jumps from the instruction at `from` (the current one by default); back only as often as loops may repeat.
  bool go_to(PathState& s, int target, int from = kNone) {
    if (from == kNone) from = s.pc;
    if (target <= from && ++at(s.back_jumps, from) > options_.loop_bound) {
      result_.cut_loops = true;
      return false;
    }
    s.pc = target;
    return true;
  }

  PathWriter writer_;
  const Thread& self_;
  PathOptions options_;
  PendingPaths pending_;
  int symbols_ = 0;
  ThreadPaths result_;
};

}  // namespace

ThreadPaths enumerate_paths(const Program& program, const Cells& cells, int thread, const PathOptions& options) {
  return PathBuilder(program, cells, thread, options).run();
}

}  // namespace loco::model::litmus
