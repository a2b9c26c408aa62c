#include "loco_sim/transport/schedule.hpp"

namespace loco {

bool Scheduler::step(nic::System& system, nic::Context& context) {
  if (schedule_ == Schedule::timed) return system.step(context);
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
  if (++picks_ % kRenewEvery == 0) priorities_.clear();
  std::size_t best = 0;
  std::uint64_t* best_priority = nullptr;
  for (std::size_t i = 0; i < system.pending_events(); ++i) {
    const sim::Event& event = system.pending_event(i);
    const auto [entry, fresh] = priorities_.try_emplace({event.what, event.where}, 0);
    if (fresh) entry->second = stream_();
    if (best_priority == nullptr || entry->second > *best_priority) {
      best = i;
      best_priority = &entry->second;
    }
  }
  if (stream_.chance(1, kChangeEvery)) *best_priority = stream_();
  return best;
}

}  // namespace loco
