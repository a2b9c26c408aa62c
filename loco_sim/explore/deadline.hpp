// Until when work may go on, by the clock on the wall: what is found before that depends on the machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace loco::explore {

class Deadline {
 public:
  /// `limit` from now; 0: never.
  explicit Deadline(std::chrono::milliseconds limit)
      : limited_(limit.count() != 0), at_(std::chrono::steady_clock::now() + limit) {}
  /// The same in seconds, up to 10^9 of them.
  [[nodiscard]] static Deadline after(double seconds) {
    constexpr double kMost = 1e9;
    if (seconds <= 0) return Deadline(std::chrono::milliseconds(0));
    const auto count = static_cast<std::int64_t>(std::min(seconds, kMost) * 1000);
    return Deadline(std::chrono::milliseconds(std::max<std::int64_t>(count, 1)));
  }

  [[nodiscard]] bool over() const { return limited_ && std::chrono::steady_clock::now() >= at_; }
  /// What a part of the work may take, at least 1 ms; 0: as long as it wants.
  [[nodiscard]] std::chrono::milliseconds left() const {
    using std::chrono::milliseconds;
    if (!limited_) return milliseconds(0);
    const auto rest = std::chrono::duration_cast<milliseconds>(at_ - std::chrono::steady_clock::now());
    return std::max(rest, milliseconds(1));
  }

 private:
  bool limited_;
  std::chrono::steady_clock::time_point at_;
};

}  // namespace loco::explore
