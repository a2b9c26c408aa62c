// nic.word_order: any. An access of several words is made in parts of nic.word_unit aligned bytes, each of them a
// pending event of its own: any may be next (docs/machine.md, law 1).
//
// In the order of time the parts take the times that the TLPs of the access have one behind the other, which part which
// of these is drawn: a function of the seed, of whose access it is and of its number. Only what has several parts comes
// here. Private to nic_model/.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "sim/rng.hpp"

namespace loco::nic {

/// So many bytes of one message are read in any order at once, but for short ones that is a packet's (link.mtu).
inline constexpr std::uint32_t kPartsBytesMax = 16384;
inline constexpr std::uint32_t kPartsMax = kPartsBytesMax / 8 + 1;

struct Part {
  std::uint32_t offset = 0;  ///< from the beginning of the access
  std::uint32_t bytes = 0;
};

/// The parts of bytes [from, stop) of an access that begins at `address`.
class Parts {
 public:
  Parts(std::uint64_t unit, Address address, std::uint32_t from, std::uint32_t stop)
      : address_(address), unit_(unit), from_(from), stop_(stop) {}

  [[nodiscard]] std::uint32_t count() const {
    if (from_ == stop_) return 0;
    return static_cast<std::uint32_t>((address_ + stop_ - 1) / unit_ - (address_ + from_) / unit_) + 1;
  }
  [[nodiscard]] Part at(std::uint32_t i) const {
    const Address first = (address_ + from_) / unit_ * unit_;
    const Address begin = std::max(first + i * unit_, address_ + from_);
    const Address end = std::min(first + (i + 1) * unit_, address_ + stop_);
    return {static_cast<std::uint32_t>(begin - address_), static_cast<std::uint32_t>(end - begin)};
  }

 private:
  Address address_;
  std::uint64_t unit_;
  std::uint32_t from_;
  std::uint32_t stop_;
};

/// What is read in parts comes in the same completions as in the order of addresses: the n-th part that is read stands
/// for the n-th in that order, and the completion in which that one would end is sent when it does.
struct PartCompletion {
  std::uint32_t bytes = 0;  ///< of the completion; 0: none ends there
  std::uint32_t done = 0;   ///< bytes from the beginning of the access
};
/// `nth`: that part; the access is at `address`, what is read in any order from `from` to `stop`.
[[nodiscard]] inline PartCompletion completion_of(const Engine& engine, NicId nic, Address address, std::uint32_t from,
                                                  std::uint32_t stop, Part nth) {
  const std::uint64_t step = engine.profile(nic).pcie_read_completion.count;
  const std::uint32_t end = nth.offset + nth.bytes;
  if ((address + end) % step != 0 && end != stop) return {0, end};
  const Address begin = std::max((address + end - 1) / step * step, address + from);
  return {static_cast<std::uint32_t>(address + end - begin), end};
}
/// How long it takes on the link.
[[nodiscard]] inline sim::Duration completion_time(const Engine& engine, NicId nic, const PartCompletion& completion) {
  const HardwareProfile& p = engine.profile(nic);
  return completion.bytes == 0
             ? sim::Duration{}
             : sim::transmission_time({completion.bytes + p.pcie_completion_header.count}, p.pcie_rate);
}

/// In which order the parts of an access come where time decides (Fisher and Yates): `who` and `number` name it.
class DrawnOrder {
 public:
  /// Precondition: count <= kPartsMax.
  DrawnOrder(const Engine& engine, std::uint64_t who, std::uint64_t number, std::uint32_t count) : count_(count) {
    std::uint64_t seed = engine.kernel.config().seed + (who << 32U);
    seed = sim::splitmix64(seed) + number;
    sim::Stream stream(seed, "nic.word_order");
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::uint32_t>(stream.below(i + 1));
      order_[i] = order_[j];
      order_[j] = static_cast<std::uint16_t>(i);
    }
  }
  [[nodiscard]] std::uint32_t operator[](std::uint32_t i) const { return order_[i]; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
  std::array<std::uint16_t, kPartsMax> order_;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to count_
};

}  // namespace loco::nic
