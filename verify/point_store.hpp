// The points that a search has seen, packed into bytes, each with the one it came from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/set_system.hpp"

namespace loco::verify {

class PointStore {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffffffffU;

  explicit PointStore(const Program& program);

  /// The place of a point, and whether it is new.
  std::pair<Index, bool> put(const Point& point);
  void get(Index index, Point& into) const;

  [[nodiscard]] Index size() const { return static_cast<Index>(begins_.size()); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void pack(const Point& point);
  [[nodiscard]] bool equal(Index index) const;
  void grow();

  std::size_t processes_;
  std::size_t shared_;
  std::size_t locals_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint64_t> begins_;  ///< of points in bytes_; a point ends where the next one begins
  std::vector<Index> table_;           ///< open addressing; its size is a power of two
  std::vector<std::uint8_t> packed_;   ///< the point that put() looks for
};

}  // namespace loco::verify
