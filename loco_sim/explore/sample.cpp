#include <map>

#include "loco_sim/explore/explore.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

namespace {

/// Picks the next pending event so that rare orders become common: the probabilistic concurrency testing of Burckhardt,
/// Kothari, Musuvathi, Nagarakatte (ASPLOS 2010), with hardware in the place of threads. Each agent (a thread; one kind
/// of step of one component for one operation) gets a random priority, and the most urgent pending event runs; at
/// random points the running agent drops behind all others. A run is thus a schedule in which some parts are starved
/// for long stretches, as under delays of {none, nominal, 100 times nominal}.
class Scheduler {
 public:
  Scheduler(const Machine& machine, std::uint64_t seed) : machine_(machine), stream_(seed, "explore/sample") {}

  void begin_run() {
    constexpr std::uint64_t kDropEvery[] = {4, 8, 16, 48};  // steps, on average: a litmus run takes some dozens
    drop_every_ = kDropEvery[stream_.below(4)];
    // Three runs in four spend no choice on steps whose order makes no difference; the fourth leaves nothing out.
    reduce_ = stream_.below(4) != 0;
    agents_.clear();
    lowest_ = kMiddle;
  }

  std::size_t pick(const Configuration& c) {
    const nic::System& system = c.system;
    std::size_t chosen = 0;
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < system.pending_events(); ++i) {
      if (reduce_ && machine_.commutes(c, i)) return i;
      const std::size_t agent = find(system.pending_event(i));
      if (agents_[agent].priority < best) continue;
      best = agents_[agent].priority;
      chosen = i;
      running_ = agent;
    }
    if (stream_.below(drop_every_) == 0) agents_[running_].priority = --lowest_;
    return chosen;
  }

 private:
  static constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63U;
  struct Agent {
    std::uint64_t key;
    std::uint64_t priority;
  };

  std::size_t find(const sim::Event& e) {
    const std::uint64_t key = std::uint64_t{e.what} << 48U | std::uint64_t{e.where} << 16U | (e.a & 0xffffU);
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      if (agents_[i].key == key) return i;
    }
    agents_.push_back({key, kMiddle | stream_()});
    return agents_.size() - 1;
  }

  const Machine& machine_;
  sim::Stream stream_;
  bool reduce_ = false;
  std::vector<Agent> agents_;
  std::size_t running_ = 0;
  std::uint64_t drop_every_ = 1;
  std::uint64_t lowest_ = kMiddle;
};

}  // namespace

SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed) {
  std::map<model::litmus::Outcome, std::uint64_t> seen;
  SampleResult result;
  result.runs = runs;
  Configuration c = machine.initial();
  Scheduler scheduler(machine, seed);
  for (std::uint64_t run = 0; run < runs; ++run) {
    c = machine.initial();
    scheduler.begin_run();
    while (!c.system.idle()) machine.step(c, scheduler.pick(c));
    if (machine.finished(c)) {
      ++seen[machine.outcome(c)];
    } else {
      ++result.stuck;
    }
  }
  for (const auto& [outcome, times] : seen) result.outcomes.push_back({outcome, times});
  return result;
}

}  // namespace loco::explore
