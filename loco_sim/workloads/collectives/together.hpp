// What the threads of a collective share, beside the simulated machine. Private to the player.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "loco_sim/workloads/collectives/chunk_leaps.hpp"
#include "loco_sim/workloads/collectives/collective_player.hpp"
#include "loco_sim/workloads/collectives/layout.hpp"
#include "loco_sim/workloads/collectives/plan.hpp"
#include "loco_sim/workloads/gathering.hpp"
#include "loco_sim/workloads/rounds.hpp"
#include "sim/rng.hpp"

namespace loco::workloads::collectives {

using Words = std::vector<std::vector<std::uint64_t>>;  // of each rank, of each slot

/// The words behind some steps of an iteration.
struct Behind {
  std::uint64_t iteration = 0;
  std::uint32_t steps = 0;
  Words words{};
};

/// What all threads share, beside the simulated machine.
struct Together {
  CollectivePlay play;
  CollectiveLayout layout;
  std::vector<RankPlan> plans;
  std::vector<std::vector<Region>> memory;                    // of each rank, of each channel
  std::vector<std::vector<std::vector<std::uint32_t>>> done;  // of each rank and channel: sends whose puts are complete
  ChunkLeaps leaps;                                           // within a step
  Rounds rounds;                                              // a step each, of all ranks and channels
  std::vector<Behind> behind{};                               // of each channel
  bool ordered = true;  // does the hardware place the word behind the data by itself?
  bool failed = false;
  std::uint32_t there = 0;  // threads that have come to the end of an iteration
  std::uint64_t round = 0;  // iterations that have begun
  std::int64_t began_ps = 0;
  std::int64_t ended_ps = 0;               // of the last one, so far
  std::unique_ptr<Gathering> gathering{};  // in parts of a machine: of the threads in this one

  [[nodiscard]] std::uint64_t value(std::uint64_t iteration, std::uint32_t channel, Rank rank,
                                    std::uint32_t part) const {
    std::uint64_t seed =
        ((iteration * play.channels + channel) * 2 * play.schedule.slots + part) * play.schedule.ranks + rank;
    return sim::splitmix64(seed) | 1U;
  }
  /// The words of all ranks' slots behind so many steps. Kept: all ranks ask, one after the other.
  const Words& words_after(std::uint64_t iteration, std::uint32_t channel, std::uint32_t steps) {
    Behind& kept = behind[channel];
    if (kept.iteration == iteration && kept.steps == steps) return kept.words;
    kept = {.iteration = iteration, .steps = steps, .words = {}};
    const Schedule& schedule = play.schedule;
    Words& words = kept.words;
    words.assign(schedule.ranks, std::vector<std::uint64_t>(schedule.slots));
    for (Rank r = 0; r < schedule.ranks; ++r)
      for (Slot slot = 0; slot < schedule.slots; ++slot)
        if (const Expected e = expected(play.what, schedule, r, slot); e.begins)
          words[r][slot] = value(iteration, channel, r, e.part_then);
    // In a step of a ring a rank sends another part than the one that comes.
    for (const Move& move : schedule.moves) {
      if (move.step == steps) break;
      const Piece& piece = move.pieces.front();
      std::uint64_t& word = words[move.to][piece.to];
      word = words[move.from][piece.from] + (move.add ? word : 0);
    }
    return words;
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t iteration, std::uint32_t channel, std::uint32_t part) const {
    std::uint64_t all = 0;
    for (Rank r = 0; r < play.schedule.ranks; ++r) all += value(iteration, channel, r, part);
    return all;
  }
};

}  // namespace loco::workloads::collectives
