#include "nic_model/host/thread.hpp"

#include <algorithm>
#include <stdexcept>

#include "nic_model/engine/check.hpp"

namespace loco::nic {

/// Consecutive stores to the NIC are at least cpu_mmio_gap apart.
void Thread::schedule_drain(Engine& engine, ThreadId id) const {
  sim::SimTime at = std::max(engine.now(), buffer_.front().issued) + engine.profile(node_).cpu_store_drain;
  if (buffer_.front().mmio()) at = std::max(at, mmio_free_);
  engine.schedule(kEventDrain, id, 0, at);
}

void Thread::push(Engine& engine, ThreadId id, const StoreEntry& entry) {
  if (store_buffer_full(engine.profile(node_))) throw std::logic_error("store buffer overflow");
  buffer_.push_back(entry);
  if (buffer_.size() == 1) schedule_drain(engine, id);
}

StoreEntry Thread::pop(Engine& engine, ThreadId id) {
  const StoreEntry entry = buffer_.front();
  buffer_.pop_front();
  if (entry.mmio()) mmio_free_ = engine.now() + engine.profile(node_).cpu_mmio_gap * mmio_bursts(entry.value);
  if (!buffer_.empty()) schedule_drain(engine, id);
  return entry;
}

void Thread::drained(Engine& engine, ThreadId id) {
  const bool goes_on = (state_ == ThreadState::draining && buffer_.empty()) || state_ == ThreadState::waiting_room;
  if (goes_on) resume_at(engine, id, engine.now());
}

void Thread::resume_at(Engine& engine, ThreadId id, sim::SimTime at) {
  state_ = ThreadState::scheduled;
  engine.schedule(kEventThreadStep, id, 0, at);
}

void Thread::pause_from(Engine& engine, ThreadId id, sim::Duration ahead, sim::Duration turn, sim::Duration take) {
  busy_ += ahead;  // the turn of a polling loop does not count as work
  if (changed_) {
    forget_watched();
    take_ = {};
    return resume_at(engine, id, engine.now() + ahead + turn);
  }
  state_ = ThreadState::paused;
  turn_ = turn;
  take_ = take;
  paused_at_ = engine.now() + (ahead.ps > 0 ? ahead : turn);
}

void Thread::wake(Engine& engine, ThreadId id, bool completion) {
  if (state_ != ThreadState::paused) return notice();
  // The loop began its turns at paused_at + k * turn. The first turn that begins no earlier than the change sees it.
  sim::SimTime at = engine.now();
  if (turn_.ps > 0 && at > paused_at_) {
    const std::int64_t turns = ((at - paused_at_).ps + turn_.ps - 1) / turn_.ps;
    at = paused_at_ + turn_ * turns;
  }
  watched_.clear();
  if (!completion) take_ = {};
  resume_at(engine, id, std::max(at, paused_at_) + take_);
}

void Thread::hash(Hasher& h) const {
  h.add_all(state_, changed_, watched_.everything(), buffer_.size(), watched_.keys().size());
  for (std::size_t i = 0; i < buffer_.size(); ++i) {
    const StoreEntry& e = buffer_[i];
    h.add_all(e.doorbell, e.blueflame, e.receive, e.address, e.value, e.qp, e.posted);
  }
  std::uint64_t watched = 0;  // a set, hence a sum
  for (const std::uint64_t key : watched_.keys()) watched += mix(key);
  h.add(watched);
}

void Thread::check(ThreadId id, sim::SimTime now, const HardwareProfile& p) const {
  const Check check(now, "thread", "thread", id);
  check.holds(buffer_.size() <= p.cpu_store_buffer_entries, "the store buffer holds no more than its entries");
  check.holds(state_ != ThreadState::running, "a step ends with a word on when the thread goes on");
  check.holds(state_ != ThreadState::draining || !buffer_.empty(), "who waits for its stores has some");
  check.holds(state_ != ThreadState::paused || !changed_, "who has paused has seen all that has changed");
  check.holds(turn_.ps >= 0 && take_.ps >= 0 && busy_.ps >= 0, "no time is negative");
  check.holds(watched_.keys().size() <= WatchSet::kMax, "a watch set is bounded");
  for (std::size_t i = 0; i < buffer_.size(); ++i) {
    const StoreEntry& e = buffer_[i];
    check.holds(e.doorbell || e.address % 8 == 0, "stores are of aligned words");
    check.holds(e.doorbell || !e.blueflame, "only a doorbell carries a work request");
    check.holds(e.doorbell || !e.receive, "a doorbell record is a doorbell");
    check.holds(!e.receive || e.posted > 0, "a doorbell record tells of something new");
  }
}

}  // namespace loco::nic
