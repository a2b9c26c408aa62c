// Liveness of RMA programs: events that every fair run must reach (docs/verify.md, "Liveness").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/engine.hpp"
#include "verify/program.hpp"
#include "verify/trace.hpp"

namespace loco::verify::liveness {

/// A run that goes round for ever: `stem` once, then `loop` again and again; an empty loop: the run is over.
struct Lasso {
  Schedule stem;
  Schedule loop;  ///< operations are numbered on from the stem
  /// Of each operation that is pending at the loop's end, the one pending at its begin whose place it takes.
  std::map<std::uint32_t, std::uint32_t> again;
  /// Not empty: the loop comes back but for numbers that have all moved by as much, of which only differences matter.
  /// It leads from each state like that at its begin to another one: from a condition, this one, to itself.
  std::string recurrent;
};

/// The way in which a liveness property fails.
enum class Kind : std::uint8_t {
  kStopped,   ///< nothing can step
  kDeadlock,  ///< no schedule whatsoever gets there from the loop
  kLivelock,  ///< another schedule would
};

enum class LiveVerdict : std::uint8_t { kLive, kNotLive, kUnknown };

struct LiveAnswer {
  std::uint32_t property = 0;  ///< of Program::liveness
  Fairness fairness = Fairness::kWeak;
  LiveVerdict verdict = LiveVerdict::kUnknown;
  std::string why;             ///< one line
  std::optional<Kind> kind;    ///< of kNotLive
  std::optional<Lasso> lasso;  ///< of kNotLive: confirmed by the exact semantics
};

[[nodiscard]] std::string_view name(LiveVerdict verdict);
[[nodiscard]] std::string_view name(Kind kind);

/// Answers for all liveness properties of a program, in their order; `otherwise`: the fairness of properties that name
/// none.
[[nodiscard]] std::vector<LiveAnswer> check(const Task& task, Fairness otherwise);

}  // namespace loco::verify::liveness
