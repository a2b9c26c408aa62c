// Memory that serves again: to a trace its words are others than before.
//
// What is read of a region that has been given back and is used again is zero, whoever wrote that zero: a word that has
// stayed zero may last have been written by another channel. So the words of each use are locations of their own, whose
// first value is the initial one: in a trace their addresses carry the number of the use in the upper bits.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace loco::hosts {

class RenewedMemory {
 public:
  /// These bytes of a node are zero, and another use of them begins.
  void renew(std::uint32_t node, std::uint64_t base, std::uint64_t size) {
    const Place begin{node, base};
    const Place end{node, base + size};
    auto at = ranges_.lower_bound(begin);
    if (at != ranges_.begin()) at = std::prev(at);
    while (at != ranges_.end() && at->first < end) {
      const Range range = at->second;
      const Place from = at->first;
      if (from.first != node || range.end <= base) {
        ++at;
        continue;
      }
      at = ranges_.erase(at);
      if (from < begin) ranges_.emplace(from, Range{base, range.use});
      if (range.end > end.second) ranges_.emplace(end, range);
    }
    constexpr std::uint64_t kUses = 0xffff;  // they come round
    ranges_.emplace(begin, Range{end.second, uses_++ % kUses + 1});
  }
  [[nodiscard]] bool any() const { return !ranges_.empty(); }
  /// What a trace calls that address now.
  [[nodiscard]] std::uint64_t name(std::uint32_t node, std::uint64_t address) const {
    if (!any()) return address;
    const auto after = ranges_.upper_bound(Place{node, address});
    if (after == ranges_.begin()) return address;
    const auto& [from, range] = *std::prev(after);
    return from.first == node && address < range.end ? address | range.use << 48U : address;
  }

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;
  struct Range {
    std::uint64_t end = 0;
    std::uint64_t use = 0;
  };

  std::map<Place, Range> ranges_;  ///< disjoint, by first byte
  std::uint64_t uses_ = 0;
};

}  // namespace loco::hosts
