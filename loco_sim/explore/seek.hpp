// Runs that go where something may be new.
//
// A map holds the states met so far. If a way to an outcome that no run has shown is known, a run takes it. Otherwise
// it prefers choices that may lead to something new, first those to states that few runs passed. After the run it looks
// ahead: on copies of the machine it tries a bounded number of the choices not taken, the last ones first, and what
// follows them; the more it finds, the more it may try. So later runs know which parts only repeat what is known, and
// the way to outcomes that are far from the common ones.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "loco_sim/explore/machine.hpp"
#include "loco_sim/explore/state_map.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

class Seeker {
 public:
  /// `machine` must outlive this. `out_of_time` is asked now and then; true ends the looking ahead, which may take much
  /// longer than runs.
  Seeker(const Machine& machine, std::uint64_t seed, std::function<bool()> out_of_time)
      : machine_(machine),
        stream_(seed, "explore/seek"),
        out_of_time_(std::move(out_of_time)),
        map_(machine),
        next_(machine.initial()) {}

  /// True if nothing can be new any more: the map is complete, and runs have shown every outcome in it.
  [[nodiscard]] bool done() const { return runs_ > 0 && map_.closed(kStart); }
  /// Runs to the end. `c` must be the machine's initial configuration. Precondition: !done().
  void run(Configuration& c);
  /// A run of any kind has shown this outcome; show_stuck(): it has ended with a thread that waits forever.
  void show(const model::litmus::Outcome& outcome) { map_.show(outcome); }
  void show_stuck() { map_.show_stuck(); }

 private:
  struct Place {
    std::uint32_t state = 0;
    Configuration configuration;
  };
  static constexpr std::uint32_t kStart = 0;     // the first state of the map
  static constexpr std::size_t kPathMax = 1024;  // a litmus run has some dozens of choices
  // Choices that may be tried on copies, for each run and for each outcome found.
  static constexpr std::uint64_t kAhead = 96;
  static constexpr std::uint64_t kFound = 600;
  static constexpr std::uint64_t kAskEvery = 64;  // choices tried
  // More than this is left only where outcomes are many: then runs show those that are known first.
  static constexpr std::uint64_t kPlenty = 16 * kFound;

  [[nodiscard]] Choice pick(const Configuration& c, std::uint32_t state);
  /// An untried choice at the place; the number of pending events if there is none.
  [[nodiscard]] Choice untried(const Place& place);
  void look_ahead();
  [[nodiscard]] bool enough_known() const { return left_ > kPlenty && map_.fresh(kStart); }
  void push(std::uint32_t state, const Configuration& c);
  [[nodiscard]] bool on_path(std::uint32_t state) const;

  const Machine& machine_;
  sim::Stream stream_;
  std::function<bool()> out_of_time_;
  StateMap map_;
  std::vector<Place> path_;  // of the run, continued by look-ahead; reuses the storage of its elements
  std::size_t length_ = 0;   // elements of path_ in use
  std::vector<Choice> choices_;
  Configuration next_;
  std::uint64_t left_ = 0;  // choices that look-ahead may still try
  std::uint32_t runs_ = 0;
};

}  // namespace loco::explore
