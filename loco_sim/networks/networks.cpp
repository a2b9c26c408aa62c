#include "loco_sim/networks/networks.hpp"

namespace loco::networks {

using namespace model::litmus;

const std::vector<Network>& networks() {
  const RuleSet loose = kCoreRmaUnordered.with({Rule::sf, Rule::fa});
  const RuleSet connection = loose.with({Rule::pp, Rule::ptg, Rule::pta, Rule::ao, Rule::so, Rule::rl});
  static const std::vector<Network> kNetworks = {
      {"aries-deterministic", "Cray Aries, deterministic routing", "aries-deterministic", kCoreRmaAries.with(Rule::ir),
       loose.with({Rule::sr, Rule::oa, Rule::pp, Rule::pta, Rule::so}), 0},
      {"aries", "Cray Aries, adaptive routing", "aries-like", kCoreRmaAries,
       loose.with({Rule::sr, Rule::oa, Rule::pta, Rule::so})},
      {"verbs", "InfiniBand, VPI Verbs", "verbs-vpi-like", kCoreRmaVerbs, connection.with({Rule::gg, Rule::oa}), 1},
      {"portals", "Portals 4 over UDP", "portals-udp-like", kCoreRma, connection.with({Rule::gg, Rule::gtp, Rule::gta}),
       2},
  };
  return kNetworks;
}

nic::HardwareProfile on_network(nic::HardwareProfile profile, fabric::Routing routing) {
  const bool one_path = routing == fabric::Routing::deterministic || routing == fabric::Routing::ecmp;
  const bool as_it_comes =
      profile.nic_placement == nic::Placement::unordered || profile.nic_placement == nic::Placement::out_of_order;
  if (one_path && as_it_comes) profile.nic_placement = nic::Placement::in_order;
  return profile;
}

}  // namespace loco::networks
