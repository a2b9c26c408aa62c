// Traces in JSON, as `--json` prints them, taken step by step through the exact semantics.
#pragma once

#include <string>

#include "verify/schedule.hpp"

namespace loco::verify {

struct Replay {
  Schedule schedule;
  Run outcome;
  Network network = Network::kUnordered;
  bool flush_after_every_remote = false;
};

/// `text` is what `--json` printed, an array or one element of it; of several elements the first that has a trace is
/// taken. A network or flushes that it names go before the arguments. Throws std::invalid_argument, in one line that
/// says what was expected, when it is not a trace.
[[nodiscard]] Replay replay(const Program& program, const std::string& text, Network network);

/// One line: whether every step can be taken, and what breaks.
[[nodiscard]] std::string to_text(const Program& program, const Replay& replay);

}  // namespace loco::verify
