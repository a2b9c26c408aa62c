// A few nodes: under the timed schedule with round times, else with the profile's defaults.
#pragma once

#include "loco_sim/transport/cluster.hpp"
#include "tests/loco_sim/transport/stages.hpp"

namespace loco::test {

inline ClusterConfig config(std::uint32_t nodes, Schedule schedule = Schedule::timed, std::uint64_t seed = 1) {
  ClusterConfig c;
  c.nodes = nodes;
  c.schedule = schedule;
  c.seed = seed;
  if (schedule == Schedule::timed) c.profile = loco::test::round_profile();
  return c;
}

}  // namespace loco::test
