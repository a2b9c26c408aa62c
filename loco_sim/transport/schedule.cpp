#include "loco_sim/transport/schedule.hpp"

namespace loco {

bool Scheduler::step_any(nic::System& system, nic::Context& context) {
  const std::size_t pending = system.pending_events();
  if (pending == 0) return false;
  system.step(context, schedule_ == Schedule::random ? stream_.below(pending) : pick_by_priority(system));
  return true;
}

std::size_t Scheduler::pick_by_priority(const nic::System& system) {
  // About one event in 16 gives its component a new priority: over a run, every component is in front and behind.
  constexpr std::uint64_t kChangeEvery = 16;
  // A priority near the bottom would hold its component back for ever where others never rest, as when a thread asks
  // over the network again and again: now and then all are drawn anew.
  constexpr std::uint64_t kRenewEvery = 4096;
  if (++picks_ % kRenewEvery == 0) ++round_;
  std::size_t best = 0;
  std::uint64_t best_priority = 0;
  const std::size_t pending = system.pending_events();
  for (std::size_t i = 0; i < pending; ++i) {
    const std::uint64_t priority = priority_of(system.pending_event(i)).value;
    if (i == 0 || priority > best_priority) {
      best = i;
      best_priority = priority;
    }
  }
  if (stream_.chance(1, kChangeEvery)) priority_of(system.pending_event(best)).value = stream_();
  return best;
}

Scheduler::Priority& Scheduler::priority_of(const sim::Event& event) {
  if (event.what >= priorities_.size()) priorities_.resize(event.what + 1U);
  std::vector<Priority>& components = priorities_[event.what];
  if (event.where >= components.size()) components.resize(event.where + 1U);
  Priority& priority = components[event.where];
  if (priority.drawn_in != round_) priority = {.value = stream_(), .drawn_in = round_};
  return priority;
}

}  // namespace loco
