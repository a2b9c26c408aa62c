// Until when work may go on, by the clock on the wall: what is found before that depends on the machine.
#pragma once

#include <chrono>

namespace loco::explore {

class Deadline {
 public:
  /// `limit` from now; 0: never.
  explicit Deadline(std::chrono::milliseconds limit)
      : limited_(limit.count() != 0), at_(std::chrono::steady_clock::now() + limit) {}

  [[nodiscard]] bool over() const { return limited_ && std::chrono::steady_clock::now() >= at_; }

 private:
  bool limited_;
  std::chrono::steady_clock::time_point at_;
};

}  // namespace loco::explore
