// Which named rare branches (probe/probe.hpp) the runs of this program have reached.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loco::test {

/// A probe that random worlds need not reach.
struct Rare {
  std::string_view name;
  std::string_view why;  ///< the world that would reach it, or the test that does
};

/// Of random worlds and networks.
[[nodiscard]] std::span<const Rare> rare_in_worlds();

/// Names of probes that were not reached and are not said to be rare, in the order of the alphabet.
[[nodiscard]] std::vector<std::string> unreached(std::span<const Rare> rare);
/// Names that are said to be rare and are none of a probe of this program.
[[nodiscard]] std::vector<std::string> unknown(std::span<const Rare> rare);
/// Each probe, how often it was reached, and "rare" where that is said: a line each.
[[nodiscard]] std::string reached_text(std::span<const Rare> rare);

}  // namespace loco::test
