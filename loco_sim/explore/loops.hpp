// Finds from the text of a litmus thread when one turn of a loop shows what all later turns do as long as memory does
// not change. The thread may then wait for a change of memory.
#pragma once

#include <cstdint>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::explore {

/// A jump back ends a turn of a loop.
[[nodiscard]] inline bool is_jump(const model::litmus::Instruction& i) {
  return i.op == model::litmus::Op::jump || i.op == model::litmus::Op::branch_zero;
}

enum class Loop : std::uint8_t {
  acts,     ///< never: its turns post, store, compute or take completions
  awaits,   ///< after any turn: it reads, and no turn uses what an earlier one has read
  searches  ///< after a turn that changes no register: it reads, tries to swap, or contains such loops
};

class Loops {
 public:
  explicit Loops(const model::litmus::Program& program);

  /// The kind of the loop whose backward jump is the thread's instruction `end`.
  [[nodiscard]] Loop kind(int thread, int end) const {
    return kinds_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(end)];
  }

 private:
  std::vector<std::vector<Loop>> kinds_;  // by thread, by instruction
};

}  // namespace loco::explore
