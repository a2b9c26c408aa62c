// Chooses which pending event runs next under adversarial delays: probabilistic concurrency testing (Burckhardt,
// Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS
// 2010).
//
// An agent is anything that can be delayed by itself: a thread, one kind of step of one component. Each has a random
// priority, and the most urgent pending event runs. At random points the running agent is demoted, so that some agents
// starve for long stretches, as if their delays were a hundred times those of others (docs/machine.md, law 1).
//
// In the paper, and in runs of some dozens of steps, a demoted agent drops behind all others. In long runs that would
// soon be a round robin, so there it gets a new random priority, and after a while every agent has been both first and
// last. Now and then all priorities are drawn anew, because a thread that polls over the network has events again and
// again. A value; depends only on the given stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/rng.hpp"

namespace loco::sim {

class PctScheduler {
 public:
  enum class Demotion : std::uint8_t { behind_all, redrawn };

  /// The running agent is demoted once in `change_every` picks, on average.
  PctScheduler(std::uint64_t change_every, Demotion demotion) : change_every_(change_every), demotion_(demotion) {}

  /// The index of the event to run among `count` > 0 pending ones; the first of equally urgent ones. `agent_of(i)` is
  /// the agent of the i-th event: a small number, used as an index.
  template <class AgentOf>
  std::size_t pick(std::size_t count, Stream& stream, AgentOf agent_of) {
    if (++picks_ % kRenewEvery == 0) renew();
    std::size_t chosen = 0;
    std::size_t running = 0;
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t agent = agent_of(i);
      const std::uint64_t priority = priority_of(agent, stream);
      if (priority <= best) continue;
      best = priority;
      chosen = i;
      running = agent;
    }
    if (stream.chance(1, change_every_)) {
      priorities_[running].value = demotion_ == Demotion::behind_all ? --lowest_ : drawn(stream);
    }
    return chosen;
  }

 private:
  static constexpr std::uint64_t kRenewEvery = 4096;
  static constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63U;  // drawn priorities are above, demoted agents below

  struct Priority {
    std::uint64_t value = 0;
    std::uint64_t drawn_in = 0;  // the round in which it was drawn; not valid in later ones
  };

  static std::uint64_t drawn(Stream& stream) { return kMiddle | stream() >> 1U; }
  void renew() {
    ++round_;
    lowest_ = kMiddle;
  }
  std::uint64_t priority_of(std::size_t agent, Stream& stream) {
    if (agent >= priorities_.size()) priorities_.resize(agent + 1);
    Priority& priority = priorities_[agent];
    if (priority.drawn_in != round_) priority = {.value = drawn(stream), .drawn_in = round_};
    return priority.value;
  }

  std::uint64_t change_every_;
  Demotion demotion_;
  std::uint64_t picks_ = 0;
  std::uint64_t round_ = 1;
  std::uint64_t lowest_ = kMiddle;
  std::vector<Priority> priorities_;  // by agent
};

}  // namespace loco::sim
