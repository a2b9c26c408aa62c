// Whether a long flow repeats itself. The bytes of a message are cut into segments of equal length. One segment is like
// the one before it if its packets left, and were placed, at the same distances in time.
//
// A segment is a whole number of packets and of ACK intervals, and of pages unless what is compared is within one, so
// that nothing that depends on an address or a packet's number differs between segments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>

#include "nic_model/engine/hash.hpp"
#include "nic_model/verbs.hpp"

namespace loco::workloads::flows {

/// One place on a flow's way: where packets leave the sender's NIC, arrive at the receiver's, or are placed in memory.
class SteadyEnd {
 public:
  static constexpr std::uint32_t kAlike = 3;  ///< so many segments in a row must be like the one before them
  static constexpr std::uint32_t kWindow = kAlike + 1;

  /// `bytes` more at `at`. Returns true if a segment ends with them.
  bool add(std::uint64_t bytes, std::int64_t at_ps, std::uint64_t segment) {
    if (position_ == 0 && segments_ == 0) begun_ps_ = at_ps;
    position_ += bytes;
    gaps_.add(static_cast<std::uint64_t>(at_ps - begun_ps_) * 31 + bytes);
    if (position_ % segment != 0) return false;
    end_segment(at_ps);
    return true;
  }
  /// The same as if so many bytes had come, in segments like the last ones.
  void skip(std::uint64_t bytes) { position_ += bytes; }

  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// When the last segment ended.
  [[nodiscard]] std::int64_t begun_ps() const { return begun_ps_; }
  /// The time that the last segment took.
  [[nodiscard]] std::int64_t took_ps() const { return took_ps_[(segments_ + kWindow - 1) % kWindow]; }
  /// True if the last kAlike segments were like the one before each, to the picosecond.
  [[nodiscard]] bool repeats() const { return alike_ >= kAlike; }
  /// True if each of the last kWindow segments took their mean time but for one part in `one_in`.
  [[nodiscard]] bool repeats_nearly(std::int64_t one_in) const {
    const std::int64_t mean = mean_ps();
    return segments_ >= kWindow &&
           std::ranges::all_of(took_ps_, [&](std::int64_t t) { return std::abs(t - mean) * one_in <= mean; });
  }
  /// The mean time of the last kWindow segments.
  [[nodiscard]] std::int64_t mean_ps() const {
    return std::accumulate(took_ps_.begin(), took_ps_.end(), std::int64_t{0}) / kWindow;
  }

 private:
  void end_segment(std::int64_t at_ps) {
    const bool same = segments_ > 0 && gaps_.value() == last_gaps_;
    alike_ = same ? alike_ + 1 : 0;
    last_gaps_ = gaps_.value();
    gaps_ = {};
    took_ps_[segments_ % took_ps_.size()] = at_ps - begun_ps_;
    begun_ps_ = at_ps;
    ++segments_;
  }

  std::uint64_t position_ = 0;
  std::int64_t begun_ps_ = 0;
  nic::Hasher gaps_{};
  std::uint64_t last_gaps_ = 0;
  std::array<std::int64_t, kWindow> took_ps_{};  // of the last segments, in turn
  std::uint32_t alike_ = 0;
  std::uint32_t segments_ = 0;
};

/// The way from the receiver's port into memory. PCIe carries what the host itself sends, too, so placing is not as
/// even as arriving. But while the least delay of a segment stays the same, nothing piles up.
class SteadyWay {
 public:
  void arrived(std::int64_t at_ps) { arrivals_.push_back(at_ps); }
  /// A packet is in memory: that which has arrived before all others.
  void placed(std::int64_t at_ps) {
    if (arrivals_.empty()) return;
    least_ps_ = std::min(least_ps_, at_ps - arrivals_.front());
    arrivals_.pop_front();
  }
  void end_segment() {
    alike_ = least_ps_ == last_least_ps_ ? alike_ + 1 : 0;
    last_least_ps_ = std::exchange(least_ps_, kNone);
  }
  [[nodiscard]] bool keeps_up() const { return alike_ >= SteadyEnd::kAlike; }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::deque<std::int64_t> arrivals_{};
  std::int64_t least_ps_ = kNone, last_least_ps_ = kNone;
  std::uint32_t alike_ = 0;
};

}  // namespace loco::workloads::flows
