#include "hosts/local_time.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hosts/costs.hpp"
#include "hosts/fibers.hpp"

namespace loco::hosts {

namespace {
/// A turn with more looks than this pays for them in between.
constexpr std::uint32_t kLooksPerStep = 64;
}  // namespace

void LocalTime::defer() {
  ahead_ += owed_;
  owed_ = {};
  looks_ = 0;
}

void LocalTime::synchronise() {
  threads_.cpu().resume_after(offset());
  threads_.suspend();
}

void LocalTime::catch_up() {
  const sim::Duration owed = owed_;
  const std::uint32_t looks = looks_;
  threads_.cpu().resume_after(ahead_);
  threads_.suspend();
  owed_ = owed;
  looks_ = looks;
}

void LocalTime::begin_step() {
  ahead_ = {};
  owed_ = {};
  looks_ = 0;
  acted_ = false;
  polling_ = {};
}

void LocalTime::before(Access access) {
  switch (access) {
    case Access::look:
      return look();
    case Access::early_look:
      return early_look();
    case Access::poll:
      return poll();
    case Access::change:
      return change();
    case Access::buffered_change:
      return buffered_change();
  }
}

void LocalTime::look() {
  const bool together = threads_.timed() && !acted_ && looks_ < kLooksPerStep;
  if ((looks_ > 0 || acted_) && !together)
    synchronise();
  else if (ahead_.ps > 0)
    catch_up();
  ++looks_;
}

void LocalTime::early_look() {
  if (!threads_.timed() || looks_ >= kLooksPerStep) return look();
  if (acted_) {
    // If something has changed already, the loop would look again at once.
    if (owed_.ps == 0 || threads_.cpu().noticed()) return look();
    defer();
    acted_ = false;
  }
  ++looks_;
}

void LocalTime::poll() {
  if (!threads_.timed()) return look();
  owed_ += poll_cost(threads_.profile(), 1) - polling_;
  polling_ = {};
  if (offset().ps > 0) synchronise();
  ++looks_;
}

void LocalTime::change() {
  const bool separate = !threads_.timed() && (looks_ > 0 || acted_);
  if (offset().ps > 0 || separate) synchronise();
  acted_ = true;
}

void LocalTime::buffered_change() {
  // A doorbell that does not wait for the store buffer is visible at once.
  if (!threads_.timed() || threads_.profile().faults.has(nic::Fault::doorbell_before_stores) ||
      threads_.cpu().store_buffer_full()) {
    return change();
  }
  defer();
  acted_ = true;
}

std::size_t LocalTime::poll_limit(std::size_t most) const {
  return threads_.timed() ? std::min<std::size_t>(most, 1) : most;
}

void LocalTime::after_poll(std::size_t taken) {
  polled_ = true;
  if (taken == 0 || !threads_.timed()) after_whole_poll(taken);  // otherwise it was paid for before
}

void LocalTime::after_whole_poll(std::size_t taken) {
  advance(poll_cost(threads_.profile(), taken));
  acted_ = acted_ || taken != 0;
}

void LocalTime::compute(std::int64_t ps) {
  // Half of the representable time: then whatever is in flight ends within the other half.
  constexpr sim::SimTime kEnd{std::int64_t{1} << 62};
  constexpr std::int64_t kLongestUntimed = 1'000'000'000;
  if (ps < 0) throw std::out_of_range("compute: expected at least 0 ps, found " + std::to_string(ps) + " ps");
  const std::int64_t now = (threads_.machine_time() + offset()).ps;
  if (threads_.timed() && ps > kEnd.ps - now)
    throw std::out_of_range("compute: expected to end within " + std::to_string(kEnd.ps) +
                            " ps of simulated time, found " + std::to_string(ps) + " ps at " + std::to_string(now));
  advance(sim::Duration{threads_.timed() ? ps : std::min(ps, kLongestUntimed)});
  synchronise();
}

bool LocalTime::may_join_latest_access() const { return threads_.timed(); }

void LocalTime::pause(std::uint64_t wake) {
  if (acted_ && ahead_.ps > 0) synchronise();
  if (must_turn_) {
    must_turn_ = false;
    synchronise();
  } else {
    threads_.cpu().watch(wake);
    const bool takes = polled_ && threads_.timed();
    threads_.cpu().pause_from(ahead_, owed_, takes ? poll_cost(threads_.profile(), 1) : sim::Duration{});
    threads_.suspend();
    polling_ = threads_.cpu().taken();
  }
  polled_ = false;
}

void LocalTime::drain() {
  while (!threads_.cpu().store_buffer_empty()) {
    threads_.cpu().resume_when_drained();
    threads_.suspend();
  }
  acted_ = true;
}

void LocalTime::make_room() {
  while (threads_.cpu().store_buffer_full()) {
    threads_.cpu().resume_when_room();
    threads_.suspend();
  }
  acted_ = true;
}

void LocalTime::wait_for_notice() {
  threads_.cpu().pause(threads_.profile().cpu_load);
  threads_.suspend();
  must_turn_ = true;
}

}  // namespace loco::hosts
