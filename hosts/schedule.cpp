#include "hosts/schedule.hpp"

namespace loco::hosts {

bool Scheduler::step_any(nic::System& system, nic::Context& context) {
  const std::size_t pending = system.pending_events();
  if (pending == 0) return false;
  system.step(context, schedule_ == Schedule::random ? stream_.below(pending) : pick_by_priority(system));
  return true;
}

std::size_t Scheduler::pick_by_priority(const nic::System& system) {
  return pct_.pick(system.pending_events(), stream_,
                   [&](std::size_t i) { return agent_of(system.pending_event(i)); });
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
