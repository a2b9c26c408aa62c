#include "hosts/schedule.hpp"

namespace loco::hosts {

bool Scheduler::step_any(nic::System& system, nic::Context& context) {
  const std::size_t pending = system.pending_events();
  if (pending == 0) return false;
  std::size_t next = pick(system, pending, [](std::size_t i) { return i; });
  if (system.timer_is_early(next)) next = pick_other(system, next);
  system.step(context, next);
  return true;
}

/// A transport timer that fires while an answer is in flight would only reflect the schedule, because real timers are
/// longer than anything but a loss. So this picks among the other events if there are any.
std::size_t Scheduler::pick_other(const nic::System& system, std::size_t next) {
  others_.clear();
  for (std::size_t i = 0; i < system.pending_events(); ++i)
    if (!system.timer_is_early(i)) others_.push_back(i);
  if (others_.empty()) return next;
  return others_[pick(system, others_.size(), [&](std::size_t i) { return others_[i]; })];
}

std::size_t Scheduler::agent_of(const sim::Event& event) {
  if (event.what >= agent_numbers_.size()) agent_numbers_.resize(event.what + 1U);
  std::vector<std::size_t>& components = agent_numbers_[event.what];
  if (event.where >= components.size()) components.resize(event.where + 1U);
  std::size_t& number = components[event.where];
  if (number == 0) number = ++agents_;
  return number - 1;
}

}  // namespace loco::hosts
