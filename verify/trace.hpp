// A schedule: the CPU or NIC that takes each step. With the program, the flush mask and the network it determines the
// run.
#pragma once

#include <cstdint>
#include <vector>

namespace loco::verify {

/// One step. A remote statement gets a number when it is issued, its operation: 0 for the first of the schedule, and so
/// on; a NIC's step says which operation moves on, and the semantics knows what it does next.
struct Step {
  enum class Kind : std::uint8_t { kCpu, kNic };
  Kind kind = Kind::kCpu;
  std::uint32_t process = 0;    ///< kCpu: who
  std::uint32_t edge = 0;       ///< kCpu: of Process::edges
  std::uint32_t choice = 0;     ///< kCpu: of Action::choices
  std::uint32_t operation = 0;  ///< kNic
  friend bool operator==(const Step&, const Step&) = default;
};

using Schedule = std::vector<Step>;

/// A schedule and the property that it violates: that of this number in Program::properties, in its last state, or,
/// without a number, the assertion that its last step makes.
struct Counterexample {
  Schedule schedule;
  bool shortest = false;  ///< no schedule with fewer steps breaks anything
};

}  // namespace loco::verify
