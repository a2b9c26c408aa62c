// Reused memory: a trace names its words differently in each use.
//
// A region that has been given back is zero when it is reused, whoever wrote that zero: a word that stayed zero may
// last have been written by another channel. So the words of each use are separate locations, whose first value is the
// initial one. In a trace their addresses carry the number of the use in the upper bits.
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
    constexpr std::uint64_t kUses = 0xffff;  // the number of a use wraps
    ranges_.emplace(begin, Range{end.second, uses_++ % kUses + 1});
  }
  [[nodiscard]] bool any() const { return !ranges_.empty(); }
  /// The name of that address in a trace, at present.
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
