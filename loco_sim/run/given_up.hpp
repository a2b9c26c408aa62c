// Which promises of the memory models a machine does not make. A verdict "inconsistent" on such a machine is not an
// error of the program and says so. Cells are those of Fig. 10 of the LOCO/Mowgli paper; docs/queue-pairs.md,
// "Out-of-order placement", explains what gives them up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/check.hpp"
#include "nic_model/profile.hpp"
#include "trace/trace.hpp"

namespace loco {

struct GivenUp {
  std::string cell;  ///< "G7"
  trace::Stamp earlier = trace::Stamp::aNRW;
  trace::Stamp later = trace::Stamp::aNRW;
  std::string meaning;    ///< "a put's write before a later put's, same node"
  std::string mechanism;  ///< "nic.placement: out_of_order places the packets of a queue pair as they come"
};

/// All of a machine's; empty if it keeps every cell.
[[nodiscard]] std::vector<GivenUp> given_up(const nic::HardwareProfile& profile);
/// Of a machine whose queue pairs have these transports (scenario::hardware_in_use): what any of them gives up.
[[nodiscard]] std::vector<GivenUp> given_up(std::span<const nic::HardwareProfile> in_use);

/// A line on a verdict that is not consistent: the promises that the hardware gives up, the mechanism of each, and
/// which of them a cycle of the verdict violates. Empty for a consistent verdict and for hardware that gives up
/// nothing. `keeps_promises`: whether the run is consistent without the orders that are given up, if known.
[[nodiscard]] std::string given_up_text(const model::Verdict& verdict, const std::string& hardware,
                                        std::span<const nic::HardwareProfile> in_use,
                                        std::optional<bool> keeps_promises = {});

}  // namespace loco
