#include "sim/process.hpp"

#include <algorithm>
#include <utility>

#include "sim/invariant.hpp"

namespace loco::sim {

Processes::Processes(EventQueue& queue, const SimTime& now, FiberPool::Options options)
    : queue_(queue), now_(now), pool_(options) {}

Processes::~Processes() = default;

EventHandle Processes::push_wake(ProcessId id, SimTime at) {
  return queue_.push({.at = at, .what = kProcessWake, .where = id.slot, .a = id.generation});
}

ProcessId Processes::spawn(std::string name, std::function<void()> body) {
  const ProcessId id = pool_.create(std::move(body));
  if (processes_.size() <= id.slot) processes_.resize(id.slot + std::size_t{1});
  processes_[id.slot] = Process{.name = std::move(name), .id = id};
  push_wake(id, now_);
  return id;
}

void Processes::handle(const Event& event) {
  LOCO_INVARIANT(event.what == kProcessWake, now_, "processes", "an event that is not a wake-up");
  const ProcessId id{event.where, static_cast<std::uint32_t>(event.a)};
  pool_.resume(id);
}

void Processes::sleep_until(SimTime t) {
  push_wake(current(), std::max(t, now_));
  pool_.suspend();
}

void Processes::block() { pool_.suspend(); }

void Processes::wake(ProcessId id) { push_wake(id, now_); }

void Processes::wait(Condition& condition) { wait_until(condition, SimTime::max()); }

bool Processes::wait_until(Condition& condition, SimTime deadline) {
  const ProcessId self = current();
  EventHandle timer;
  if (deadline < SimTime::max()) timer = push_wake(self, std::max(deadline, now_));
  processes_[self.slot].timer = timer;
  processes_[self.slot].notified = false;
  condition.append(self.slot);
  // Timed out or unwound, the process leaves the list itself; its timer has run or must not.
  struct Leave {
    Processes& processes;
    std::uint32_t slot;
    ~Leave() {
      processes.queue_.cancel(processes.processes_[slot].timer);
      if (Condition* c = processes.processes_[slot].waits_on) c->remove(slot);
    }
  };
  const Leave leave{*this, self.slot};
  pool_.suspend();
  return processes_[self.slot].notified;
}

std::vector<std::string> Processes::unfinished_names() const {
  std::vector<std::string> names;
  for (const Process& process : processes_) {
    if (!pool_.finished(process.id)) names.push_back(process.name);
  }
  return names;
}

Condition::~Condition() {
  while (!empty()) remove(first_);
}

bool Condition::notify_one() {
  if (empty()) return false;
  const std::uint32_t slot = first_;
  remove(slot);
  // Its timer may lie at this very instant, before the wake-up: it would wake the process twice.
  auto& process = processes_.processes_[slot];
  processes_.queue_.cancel(process.timer);
  process.notified = true;
  processes_.wake(process.id);
  return true;
}

void Condition::notify_all() {
  while (notify_one()) {
  }
}

void Condition::append(std::uint32_t slot) {
  auto& list = processes_.processes_;
  list[slot].waits_on = this;
  list[slot].previous = last_;
  list[slot].next = Processes::kNone;
  (last_ == Processes::kNone ? first_ : list[last_].next) = slot;
  last_ = slot;
}

void Condition::remove(std::uint32_t slot) {
  auto& list = processes_.processes_;
  const auto previous = list[slot].previous;
  const auto next = list[slot].next;
  (previous == Processes::kNone ? first_ : list[previous].next) = next;
  (next == Processes::kNone ? last_ : list[next].previous) = previous;
  list[slot].waits_on = nullptr;
}

void Simulation::step() {
  const Event event = pick_(queue_);
  now_ = std::max(now_, event.at);
  if (event.what == kProcessWake) {
    processes_.handle(event);
  } else {
    LOCO_INVARIANT(handler_ != nullptr, now_, "simulation", "an event that nobody handles");
    handler_(event);
  }
}

void Simulation::run() {
  while (!queue_.empty()) step();
}

void Simulation::run_until(SimTime until) {
  while (!queue_.empty() && queue_.earliest().at <= until) step();
  now_ = std::max(now_, until);
}

}  // namespace loco::sim
