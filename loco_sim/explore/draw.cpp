#include "loco_sim/explore/draw.hpp"

#include <algorithm>

namespace loco::explore {

void DrawnSchedule::begin() {
  constexpr std::uint64_t kDropEvery[] = {4, 8, 16, 48};  // steps, on average: a litmus run takes some dozens
  const std::uint64_t drop_every = kDropEvery[stream_.below(4)];
  uniform_ = stream_.below(4) != 0;
  // Most runs spend no choice on steps whose order makes no difference; one in sixteen leaves nothing out.
  reduce_ = stream_.below(16) != 0;
  agents_.clear();
  pct_ = sim::PctScheduler(drop_every, sim::PctScheduler::Demotion::behind_all);
}

void DrawnSchedule::run(Configuration& c) {
  begin();
  for (std::uint64_t steps = 0; !c.system.idle() && steps < kStepsMax; ++steps) machine_.step(c, pick(c));
}

bool DrawnSchedule::run_to(Configuration& c, const std::function<bool(const Configuration&)>& reached) {
  begin();
  reduce_ = false;
  for (std::uint64_t steps = 0; steps < kStepsMax; ++steps) {
    if (reached(c)) return true;
    if (c.system.idle()) return false;
    machine_.step(c, pick(c));
  }
  return false;
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
  return pct_.pick(system.pending_events(), stream_, [&](std::size_t i) { return find(system.pending_event(i)); });
}

std::size_t DrawnSchedule::find(const sim::Event& e) {
  const std::uint64_t wanted =
      (std::uint64_t{e.what} << 48U | std::uint64_t{e.where} << 16U | (e.a & 0xffffU)) ^ e.b << 40U;
  const auto found = std::find(agents_.begin(), agents_.end(), wanted);
  if (found != agents_.end()) return static_cast<std::size_t>(found - agents_.begin());
  agents_.push_back(wanted);
  return agents_.size() - 1;
}

}  // namespace loco::explore
