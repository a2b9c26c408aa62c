// Counters of a run that explain a surprise: retransmissions, timeouts, pauses, receivers that were not ready, misses
// of the NIC's caches, losses, full PCIe links. A hint appears only if its counter exceeds a relevant share, and names
// the key that would change it. docs/command-line.md, "What `run` prints".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"

namespace loco {

/// Few enough to read; what usually costs more comes first.
inline constexpr std::size_t kHintsMax = 3;

/// The shares from which on a counter explains something.
struct HintShares {
  double retransmissions = 0.001;  ///< of packets; each repeats everything in flight
  double losses = 0.001;           ///< of packets
  double waiting = 0.01;           ///< of the hosts' time, in timeouts
  double not_ready = 0.01;         ///< of work requests
  double paused = 0.05;            ///< of the run, in pauses of links: their sum per host
  double misses = 0.1;             ///< of work requests
  double out_of_step = 0.1;        ///< of the time that a ring takes in step
  double pcie = 0.9;               ///< of the capacity of all hosts' PCIe links in one direction
};

/// At most kHintsMax lines without newline; none if nothing of the kind happened.
[[nodiscard]] std::vector<std::string> hints(const scenario::Scenario& scenario, const RunResult& result,
                                             const HintShares& shares = {});

}  // namespace loco
