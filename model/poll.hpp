// Lets a caller look in on a check that takes long: to show progress, or to end it by throwing.
#pragma once

#include <cstdint>
#include <functional>

namespace loco::model {

/// Calls what it was given every few thousand steps, which take some microseconds together.
class Poll {
 public:
  explicit Poll(const std::function<void()>& look) : look_(look ? &look : nullptr) {}

  void operator()() const {
    if ((++steps_ & (kEvery - 1)) == 0 && look_ != nullptr) (*look_)();
  }

 private:
  static constexpr std::uint32_t kEvery = 4096;
  const std::function<void()>* look_;  // outlives this
  mutable std::uint32_t steps_ = 0;
};

}  // namespace loco::model
