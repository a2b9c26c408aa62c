// nic.word_order: any. An access of several words is made in parts of nic.word_unit aligned bytes. Each part is a
// pending event of its own, and any of them may be next (docs/machine.md, law 1).
//
// In timed runs the parts get the successive times of the access's TLPs, and a draw decides which part gets which time:
// a function of the seed, of the access's owner and of its number. Accesses of a single part do not come here. Private
// to nic_model/.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "sim/rng.hpp"

namespace loco::nic {

/// Most bytes of one message that are read in any order at once; longer messages go packet by packet (link.mtu).
inline constexpr std::uint32_t kPartsBytesMax = 16384;
inline constexpr std::uint32_t kPartsMax = kPartsBytesMax / 8 + 1;

struct Part {
  std::uint32_t offset = 0;  ///< from the start of the access
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

/// Data read in parts travels in the same completions as data read in the order of addresses: the n-th part to be read
/// takes the place of the n-th in that order, and sends the completion that ends there.
struct PartCompletion {
  std::uint32_t bytes = 0;  ///< length of the completion; 0: none ends there
  std::uint32_t done = 0;   ///< bytes from the start of the access
};
/// `nth` is that part, `address` that of the access; the range [from, stop) is read in any order.
[[nodiscard]] inline PartCompletion completion_of(const Engine& engine, NicId nic, Address address, std::uint32_t from,
                                                  std::uint32_t stop, Part nth) {
  const std::uint64_t step = engine.profile(nic).pcie_read_completion.count;
  const std::uint32_t end = nth.offset + nth.bytes;
  if ((address + end) % step != 0 && end != stop) return {0, end};
  const Address begin = std::max((address + end - 1) / step * step, address + from);
  return {static_cast<std::uint32_t>(address + end - begin), end};
}
/// Its time on the link.
[[nodiscard]] inline sim::Duration completion_time(const Engine& engine, NicId nic, const PartCompletion& completion) {
  const HardwareProfile& p = engine.profile(nic);
  return completion.bytes == 0
             ? sim::Duration{}
             : sim::transmission_time({completion.bytes + p.pcie_completion_header.count}, p.pcie_rate);
}

/// The order of an access's parts in timed runs, drawn by the method of Fisher and Yates. `who` and `number` identify
/// the access.
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
