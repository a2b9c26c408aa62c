// What in a run's counters explains a surprise: retransmissions, time-outs, pauses, receivers that were not ready,
// misses of the NIC's caches, losses, PCIe links that are full. A line is there only where the counter exceeds a share
// that matters, and names the key that would change it. docs/command-line.md, "What `run` prints".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"

namespace loco {

/// As many as a reader takes in; what usually costs more comes first.
inline constexpr std::size_t kHintsMax = 3;

/// A counter explains something from so many on, of what it is compared with.
struct HintShares {
  double retransmissions = 0.001;  ///< of the packets: each goes back over all that is under way
  double losses = 0.001;           ///< of the packets
  double waiting = 0.01;           ///< of the hosts' time, in time-outs
  double not_ready = 0.01;         ///< of the work requests
  double paused = 0.05;            ///< of the run, in pauses of links: their sum, by host
  double misses = 0.1;             ///< of the work requests
  double out_of_step = 0.1;        ///< of the time that a ring takes in step
  double pcie = 0.9;               ///< of what the PCIe links can carry in one direction, all hosts together
};

/// At most kHintsMax lines without newline; none for a run in which nothing of the kind happened.
[[nodiscard]] std::vector<std::string> hints(const scenario::Scenario& scenario, const RunResult& result,
                                             const HintShares& shares = {});

}  // namespace loco
