// Runs that go where something may be new.
//
// By a map of the states met so far, a run takes the way to an outcome that no run has shown, if one is known; else
// choices behind which something may be new, those first whose states few runs came through. After it, it looks ahead:
// on copies of the machine it tries a bounded number of choices that the run passed by, the last ones first, and what
// comes after them; the more it finds, the more it may try. So later runs know which parts repeat what is known, and
// the way to outcomes that are far from what is common.
#pragma once

#include <cstdint>
#include <vector>

#include "loco_sim/explore/machine.hpp"
#include "loco_sim/explore/state_map.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

class Seeker {
 public:
  /// `machine` outlives it.
  Seeker(const Machine& machine, std::uint64_t seed)
      : machine_(machine), stream_(seed, "explore/seek"), map_(machine), next_(machine.initial()) {}

  /// Nothing can be new any more: the map is complete, and runs have shown every outcome in it.
  [[nodiscard]] bool done() const { return runs_ > 0 && map_.closed(kStart); }
  /// Runs to the end. `c` is the machine's initial configuration. Precondition: !done().
  void run(Configuration& c);
  /// A run of any kind has shown this outcome, or has ended with a thread that waits for ever.
  void show(const model::litmus::Outcome& outcome) { map_.show(outcome); }
  void show_stuck() { map_.show_stuck(); }

 private:
  struct Place {
    std::uint32_t state = 0;
    Configuration configuration;
  };
  static constexpr std::uint32_t kStart = 0;     // the first state of the map
  static constexpr std::size_t kPathMax = 1024;  // a litmus run has some dozens of choices
  // Choices that may be tried on copies: for each run, and for each outcome found.
  static constexpr std::uint64_t kAhead = 96;
  static constexpr std::uint64_t kFound = 600;

  [[nodiscard]] Choice pick(const Configuration& c, std::uint32_t state);
  /// A choice at the place that has not been tried; or how many events are pending.
  [[nodiscard]] Choice untried(const Place& place);
  void look_ahead();
  void push(std::uint32_t state, const Configuration& c);
  [[nodiscard]] bool on_path(std::uint32_t state) const;

  const Machine& machine_;
  sim::Stream stream_;
  StateMap map_;
  std::vector<Place> path_;  // of the run, and of look-ahead on from there; keeps the storage of what it held
  std::size_t length_ = 0;   // of path_, in use
  std::vector<Choice> choices_;
  Configuration next_;
  std::uint64_t left_ = 0;  // choices that look-ahead may still try
  std::uint32_t runs_ = 0;
};

}  // namespace loco::explore
