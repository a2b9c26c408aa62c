// Runs under adversarial delays, each drawn by itself: nothing is remembered from one to the next.
//
// A schedule stands for delays: the event that runs is the one whose delays turned out shortest (docs/machine.md, law
// 1). One run in four follows the probabilistic concurrency testing of Burckhardt, Kothari, Musuvathi, Nagarakatte
// (ASPLOS 2010), with hardware in the place of threads: each agent (a thread; one kind of step of one component for one
// operation) gets a random priority, and the most urgent pending event runs; at random points the running agent drops
// behind all others. Some parts are thus starved for long stretches, as under delays of {none, nominal, 100 times
// nominal}. The others pick uniformly.
#pragma once

#include <cstdint>
#include <vector>

#include "loco_sim/explore/machine.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

class DrawnSchedule {
 public:
  /// `machine` outlives it.
  DrawnSchedule(const Machine& machine, std::uint64_t seed) : machine_(machine), stream_(seed, "explore/draw") {}

  /// Runs to the end, from wherever `c` is.
  void run(Configuration& c);

 private:
  static constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63U;
  struct Agent {
    std::uint64_t key;
    std::uint64_t priority;
  };
  std::size_t pick(const Configuration& c);
  std::size_t most_urgent(const nic::System& system);
  std::size_t find(const sim::Event& e);

  const Machine& machine_;
  sim::Stream stream_;
  bool reduce_ = false;
  bool uniform_ = false;
  std::vector<Agent> agents_;
  std::uint64_t drop_every_ = 1;
  std::uint64_t lowest_ = kMiddle;
};

}  // namespace loco::explore
