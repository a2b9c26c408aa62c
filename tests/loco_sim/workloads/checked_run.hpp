// One run of a workload on a simulated cluster: what it says of itself, and what the models say of its trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::test {

struct Outcome {
  bool consistent = true;
  std::string text;
  std::vector<std::string> broken;  ///< promises of the workload, without the numbers
  std::uint64_t subevents = 0;
  bool hung = false;  ///< programs waited for ever: told as a deadlock, or as too many events
};

struct Job {
  std::string kind;
  std::vector<std::pair<std::string, std::int64_t>> params = {};
  std::uint32_t nodes = 4;
  Schedule schedule = Schedule::random;
  std::uint64_t seed = 1;
  nic::HardwareProfile profile = {};
  workloads::LibraryFaults library_faults = {};
  bool tower = false;  ///< check also what each library promises against the level below
  /// With a fault, messages may be lost and programs wait for ever: then what they did is checked.
  bool may_hang = false;
};

/// Errors of the run are thrown, also deadlocks and too many events, unless the job may hang.
[[nodiscard]] Outcome run(const Job& job);

/// The value of the parameter `pattern` that stands for a name.
[[nodiscard]] std::int64_t pattern(std::string_view name);

}  // namespace loco::test
