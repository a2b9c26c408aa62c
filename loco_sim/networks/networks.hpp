// The networks that the coreRMA paper ran its tests on (Section 7), as hardware profiles, with the rules that each is
// documented to keep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fabric/config.hpp"
#include "model/litmus/language/rule_set.hpp"
#include "nic_model/profile.hpp"

namespace loco::networks {

using model::litmus::Rule;
using model::litmus::RuleSet;

struct Network {
  std::string_view name;
  std::string_view title;
  std::string_view hardware;  ///< profile
  RuleSet rules;              ///< what its documentation promises, according to the paper
  /// What its mechanisms do keep (docs/corerma.md, "What networks keep"), with the parts of IR: what `fit` finds.
  RuleSet keeps;
  int paper = -1;  ///< column of the paper's Table 6 (paper_table.hpp), or -1
};

/// Cray Aries with deterministic and with adaptive routing, VPI Verbs, Portals 4 over UDP.
[[nodiscard]] const std::vector<Network>& networks();

/// The profile as programs see it on a network with this routing. Where all packets of a queue pair take one path
/// (deterministic, ecmp), out-of-order placement is in order.
[[nodiscard]] nic::HardwareProfile on_network(nic::HardwareProfile profile, fabric::Routing routing);

}  // namespace loco::networks
