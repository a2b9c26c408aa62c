#include <array>
#include <map>

#include "loco_sim/explore/explore.hpp"
#include "sim/rng.hpp"

namespace loco::explore {

namespace {

/// Picks the next pending event so that rare orders become common. Kinds of event at one component share a pace,
/// drawn anew at random points of the run: a slow one is picked only when nothing faster is pending. That is what
/// delays of {none, nominal, 100 times nominal} do to a timed run (machine page, "Adversarial delays").
class Scheduler {
 public:
  Scheduler(std::uint64_t seed, std::uint64_t run) : stream_(seed + run, "explore/sample") { redraw(); }

  std::size_t pick(const nic::System& system) {
    if (stream_.below(kChangeEvery) == 0) redraw();
    unsigned best = kPaces;
    std::size_t count = 0;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < system.pending_events(); ++i) {
      const unsigned pace = pace_of(system.pending_event(i));
      if (pace > best) continue;
      count = pace < best ? 1 : count + 1;
      best = pace;
      if (stream_.below(count) == 0) chosen = i;  // each of the fastest is as likely
    }
    return chosen;
  }

 private:
  static constexpr unsigned kPaces = 3;
  static constexpr std::uint64_t kChangeEvery = 24;  // steps, on average: a litmus run takes some dozens

  void redraw() { salt_ = stream_(); }
  [[nodiscard]] unsigned pace_of(const sim::Event& e) const {
    std::uint64_t x = salt_ ^ (std::uint64_t{e.what} << 32U | e.where) * 0x9e3779b97f4a7c15U;
    return static_cast<unsigned>((sim::splitmix64(x) >> 32U) % kPaces);
  }

  sim::Stream stream_;
  std::uint64_t salt_ = 0;
};

}  // namespace

SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed) {
  std::map<model::litmus::Outcome, std::uint64_t> seen;
  SampleResult result;
  result.runs = runs;
  Configuration c = machine.initial();
  for (std::uint64_t run = 0; run < runs; ++run) {
    c = machine.initial();
    Scheduler scheduler(seed, run);
    while (!c.system.idle()) machine.step(c, scheduler.pick(c.system));
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
