#include "loco_sim/explore/draw.hpp"

namespace loco::explore {

void DrawnSchedule::run(Configuration& c) {
  constexpr std::uint64_t kDropEvery[] = {4, 8, 16, 48};  // steps, on average: a litmus run takes some dozens
  drop_every_ = kDropEvery[stream_.below(4)];
  uniform_ = stream_.below(4) != 0;
  // Most runs spend no choice on steps whose order makes no difference; one in sixteen leaves nothing out.
  reduce_ = stream_.below(16) != 0;
  agents_.clear();
  lowest_ = kMiddle;
  for (std::uint64_t steps = 0; !c.system.idle() && steps < kStepsMax; ++steps) machine_.step(c, pick(c));
}

std::size_t DrawnSchedule::pick(const Configuration& c) {
  const std::size_t pending = c.system.pending_events();
  if (pending == 1) return 0;
  if (reduce_) {
    for (std::size_t i = 0; i < pending; ++i) {
      if (machine_.commutes(c, i)) return i;
    }
  }
  return uniform_ ? stream_.below(pending) : most_urgent(c.system);
}

std::size_t DrawnSchedule::most_urgent(const nic::System& system) {
  std::size_t chosen = 0;
  std::size_t running = 0;
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < system.pending_events(); ++i) {
    const std::size_t agent = find(system.pending_event(i));
    if (agents_[agent].priority < best) continue;
    best = agents_[agent].priority;
    chosen = i;
    running = agent;
  }
  if (stream_.below(drop_every_) == 0) agents_[running].priority = --lowest_;
  return chosen;
}

std::size_t DrawnSchedule::find(const sim::Event& e) {
  const std::uint64_t wanted = std::uint64_t{e.what} << 48U | std::uint64_t{e.where} << 16U | (e.a & 0xffffU);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (agents_[i].key == wanted) return i;
  }
  agents_.push_back({wanted, kMiddle | stream_()});
  return agents_.size() - 1;
}

}  // namespace loco::explore
