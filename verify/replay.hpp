// Traces in JSON, as `--json` prints them, taken step by step through the exact semantics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "verify/liveness/check.hpp"
#include "verify/schedule.hpp"

namespace loco::verify {

struct Replay {
  Schedule schedule;
  Run outcome;
  /// Of a lasso, in place of the two above: the property that it is to break, under which fairness, and why it does
  /// not.
  std::optional<liveness::Lasso> lasso;
  std::uint32_t property = 0;  ///< of Program::liveness
  Fairness fairness = Fairness::kWeak;
  std::optional<std::string> fault;
  Network network = Network::kUnordered;
  bool flush_after_every_remote = false;
};

/// `text` is what `--json` printed, an array or one element of it; of several elements the first that has a trace, or a
/// lasso, is taken, of its lassos the first. A network or flushes that it names go before the arguments. Throws
/// std::invalid_argument, in one line that says what was expected, when it is not a trace.
[[nodiscard]] Replay replay(const Program& program, const std::string& text, Network network);

/// One line: whether every step can be taken, and what breaks.
[[nodiscard]] std::string to_text(const Program& program, const Replay& replay);

}  // namespace loco::verify
