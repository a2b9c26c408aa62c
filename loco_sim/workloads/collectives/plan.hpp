// What each rank of a collective does of its schedule, and in which order. Nothing of a network, and no simulated time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "loco_sim/workloads/collectives/schedule.hpp"

namespace loco::workloads::collectives {

inline constexpr std::uint32_t kNone = 0xffffffffU;

/// What a rank sends and receives, by the number of the move, and what waits for what.
struct RankPlan {
  struct Send {
    std::uint32_t move = 0;
    std::uint32_t stream = 0;      // index in `to`
    std::uint32_t waits = 0;       // moves that have to come first
    std::uint32_t behind = kNone;  // staged: the receive that has to come first
  };
  struct Receive {
    std::uint32_t move = 0;
    std::vector<std::uint32_t> frees{};     // sends that wait for it
    std::vector<std::uint32_t> blockers{};  // sends that have to be complete before it is added
  };
  std::vector<Send> sends{};
  std::vector<Receive> receives{};
  std::vector<std::vector<std::uint32_t>> to{};    // sends of each stream to each rank, in order
  std::vector<std::vector<std::uint32_t>> from{};  // receives of each stream from each rank, in order
};

/// By rank.
[[nodiscard]] std::vector<RankPlan> plan(const Schedule& schedule);

/// Is it a ring in which every rank sends one part to the same rank in each step, and gets one from another?
[[nodiscard]] bool steps_alike(const Schedule& schedule);
[[nodiscard]] std::uint32_t steps_of(const Schedule& schedule);

}  // namespace loco::workloads::collectives
