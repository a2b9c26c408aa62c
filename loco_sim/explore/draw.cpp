#include "loco_sim/explore/draw.hpp"

#include <algorithm>

namespace loco::explore {

void DrawnSchedule::begin() {
  constexpr std::uint64_t kDropEvery[] = {4, 8, 16, 48};  // steps, on average; a litmus run takes some dozens
  const std::uint64_t drop_every = kDropEvery[stream_.below(4)];
  uniform_ = stream_.below(4) != 0;
  // Most runs make no choice among steps whose order makes no difference; one in sixteen makes all choices.
  reduce_ = stream_.below(16) != 0;
  agents_.clear();
  pct_ = sim::PctScheduler(drop_every, sim::PctScheduler::Demotion::behind_all);
}

void DrawnSchedule::run(Configuration& c) {
  begin();
  for (std::uint64_t steps = 0; !machine_.over(c) && steps < machine_.steps_max(); ++steps) machine_.step(c, pick(c));
}

bool DrawnSchedule::run_to(Configuration& c, const std::function<bool(const Configuration&)>& reached) {
  begin();
  reduce_ = false;
  for (std::uint64_t steps = 0; steps < machine_.steps_max(); ++steps) {
    if (reached(c)) return true;
    if (machine_.over(c)) return false;
    machine_.step(c, pick(c));
  }
  return false;
}

Choice DrawnSchedule::pick(const Configuration& c) {
  machine_.choices(c, choices_);
  if (choices_.size() == 1) return choices_.front();
  if (reduce_) {
    for (const Choice i : choices_) {
      if (machine_.commutes(c, i)) return i;
    }
  }
  return choices_[uniform_ ? stream_.below(choices_.size()) : most_urgent(c)];
}

/// Index in choices_.
std::size_t DrawnSchedule::most_urgent(const Configuration& c) {
  return pct_.pick(choices_.size(), stream_, [&](std::size_t i) { return find(Machine::event(c, choices_[i])); });
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
