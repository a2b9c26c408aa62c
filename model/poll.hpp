// Lets a caller look in on a check that takes long: to show progress, or to end it by throwing.
#pragma once

#include <cstddef>
#include <functional>

namespace loco::model {

/// Calls the function that it was given every few thousand steps, which take some microseconds together.
class Poll {
 public:
  explicit Poll(const std::function<void()>& look) : look_(look ? &look : nullptr) {}

  /// A step, or so many at once: a call may have many subevents.
  void operator()(std::size_t steps = 1) const {
    steps_ += steps;
    if (steps_ < kEvery) return;
    steps_ = 0;
    if (look_ != nullptr) (*look_)();
  }

 private:
  static constexpr std::size_t kEvery = 4096;
  const std::function<void()>* look_;  // outlives this
  mutable std::size_t steps_ = 0;
};

}  // namespace loco::model
