// Schedules: do they run, what do they break, in words; and better ones that break the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/engine.hpp"
#include "verify/semantics.hpp"
#include "verify/trace.hpp"

namespace loco::verify {

/// How a schedule went.
struct Run {
  std::size_t steps = 0;                ///< taken, up to what was broken or the first that could not be taken
  std::optional<Broken> broken;         ///< the first thing that was
  std::optional<std::string> obstacle;  ///< why step number `steps` could not be taken
};

/// `limits`, if given, end it (LimitReached).
[[nodiscard]] Run run(const Semantics& semantics, const Schedule& schedule, const Limits* limits = nullptr);

/// A schedule that breaks something, without steps after that and without steps that can be left out, one or several at
/// a time, as far as limits allow. `schedule` breaks something.
[[nodiscard]] Schedule without_needless_steps(const Semantics& semantics, const Schedule& schedule,
                                              const Limits& limits = {});

/// The same with operations that are done before flushes that do not count, where that breaks something still.
/// As far as limits allow.
[[nodiscard]] Schedule with_operations_early(const Semantics& semantics, const Schedule& schedule,
                                             const Limits& limits = {});

/// The flushes that do not count and that the schedule passed while they would have had to wait: any one of them, had
/// it counted, would have made this schedule impossible.
[[nodiscard]] std::vector<std::uint32_t> flushes_that_would_wait(const Semantics& semantics, const Schedule& schedule);

/// One step for people.
struct StepInWords {
  std::uint32_t process = 0;  ///< whose CPU or NIC
  bool nic = false;
  std::optional<std::uint32_t> operation;  ///< that is issued or goes on
  std::string action;                      ///< `R = get(Y, 1)`, `reads Y`
  std::string effect;                      ///< `R = 3`, `r: 0 -> 3`; may be empty
  Place place;                             ///< of the statement
};

/// Words for each step that can be taken.
[[nodiscard]] std::vector<StepInWords> in_words(const Semantics& semantics, const Schedule& schedule);

}  // namespace loco::verify
