// A bounded number of things in flight at once: PCIe tags, credits, context fetches, processing units.
//
// Each user says when it takes a unit and when it will give the unit back. If all are taken, the next user waits for
// the oldest. Only units that can still make a user wait are kept. A window delays users and never reorders them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class Window {
 public:
  /// Since when `units` of `capacity` have been free, or when they will be; time zero if the last of them was never
  /// taken. More units than the capacity count as all of them. A capacity of 0 means no limit. give_back() must follow.
  sim::SimTime take(std::uint64_t units, std::uint64_t capacity) {
    if (capacity == 0) return {};
    units = std::min(units, capacity);
    sim::SimTime since;
    while (taken_ + units > capacity) {
      Use& oldest = uses_.front();
      since = std::max(since, oldest.until);
      const std::uint64_t part = std::min(oldest.units, taken_ + units - capacity);
      oldest.units -= part;
      taken_ -= part;
      if (oldest.units == 0) uses_.pop_front();
    }
    return since;
  }

  /// The units just taken are in use from `from` until `until`. Units that were free by `gone` make nobody wait any
  /// more.
  void give_back(std::uint64_t units, std::uint64_t capacity, sim::SimTime from, sim::SimTime until,
                 sim::SimTime gone) {
    if (capacity == 0) return;
    while (!uses_.empty() && uses_.front().until <= gone) pop();
    units = std::min(units, capacity);
    busy_ += share_of(until - from, units, capacity);
    uses_.push_back({until, units});
    taken_ += units;
  }

  /// Takes over what is in use in `later`, so much earlier.
  void take_over(const Window& later, sim::Duration earlier) {
    uses_ = later.uses_;
    for (std::size_t i = 0; i < uses_.size(); ++i) uses_[i].until = uses_[i].until - earlier;
    taken_ = later.taken_;
  }

  /// How long the units have been taken, as a share of all of them: half of the units for a time count as half of that
  /// time.
  [[nodiscard]] sim::Duration busy() const { return busy_; }
  /// Number of units that count as taken.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

  bool operator==(const Window&) const = default;

 private:
  struct Use {
    sim::SimTime until{};
    std::uint64_t units = 0;
    bool operator==(const Use&) const = default;
  };

  static sim::Duration share_of(sim::Duration time, std::uint64_t units, std::uint64_t capacity) {
    __extension__ using Wide = unsigned __int128;
    const auto ps = static_cast<std::uint64_t>(std::max<std::int64_t>(time.ps, 0));
    const Wide unit_time = Wide{ps} * units;
    if (unit_time >> 64U == 0) [[likely]]  // hardware divides 64 bits, a function 128
      return {static_cast<std::int64_t>(static_cast<std::uint64_t>(unit_time) / capacity)};
    return {static_cast<std::int64_t>(unit_time / capacity)};
  }
  void pop() {
    taken_ -= uses_.front().units;
    uses_.pop_front();
  }

  sim::Ring<Use> uses_{};
  std::uint64_t taken_ = 0;
  sim::Duration busy_{};
};

/// Processing units, ordered by when they will be free.
class UnitPool {
 public:
  /// Since when one of `count` units has been free, or when it will be; time zero if one was never busy.
  [[nodiscard]] sim::SimTime free_since(std::uint32_t count) const {
    return free_at_.size() < count ? sim::SimTime{} : free_at_.front();
  }

  /// The unit that is free first is busy until `until`.
  void take(std::uint32_t count, sim::SimTime until) {
    if (free_at_.size() == count) free_at_.pop_front();
    std::size_t place = free_at_.size();
    free_at_.push_back(until);
    for (; place != 0 && free_at_[place - 1] > until; --place) free_at_[place] = free_at_[place - 1];
    free_at_[place] = until;
  }

  bool operator==(const UnitPool&) const = default;

 private:
  sim::Ring<sim::SimTime> free_at_{};  // sorted; most units are taken for as long as the one before
};

}  // namespace loco::nic
