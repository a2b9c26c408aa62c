// The points that a search has seen, packed into bytes.
//
// A point is a skeleton (places, memory, locals, which statements have operations pending) and what these operations
// may have read. A point covers another of the same skeleton when all its sets are as large, and its entries stand for
// as many operations: then it can do all that the other can.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "verify/set_system.hpp"

namespace loco::verify {

class PointStore {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffffffffU;

  /// `covering`: points that others cover need not be kept apart. The system outlives this.
  PointStore(const SetSystem& system, bool covering);

  /// The place of a point, or of one that covers it, and whether it is new.
  std::pair<Index, bool> put(const Point& point);
  void get(Index index, Point& into) const;
  /// Whether a point came later that covers this one.
  [[nodiscard]] bool covered(Index index) const { return covered_[index]; }

  [[nodiscard]] Index size() const { return static_cast<Index>(begins_.size()); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void pack(const Point& point);
  [[nodiscard]] bool same_skeleton(Index index) const;
  [[nodiscard]] bool covers(const Entry& larger, const Entry& smaller) const;
  [[nodiscard]] bool covers(const std::vector<Entry>& larger, const std::vector<Entry>& smaller) const;
  void read_entries(const std::uint8_t* from, const std::uint8_t* end, std::vector<Entry>& into) const;
  [[nodiscard]] const std::uint8_t* end_of(Index index) const;
  void grow();

  const SetSystem* system_;
  bool covering_;
  std::size_t words_;  ///< of a skeleton, before its entries
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint64_t> begins_;  ///< of points in bytes_; a point ends where the next one begins
  std::vector<std::uint32_t> hashes_;  ///< of their skeletons
  std::vector<Index> next_;            ///< of the same skeleton
  std::vector<bool> covered_;
  std::vector<Index> table_;  ///< open addressing, one point a skeleton; its size is a power of two
  std::size_t skeletons_ = 0;
  std::vector<std::uint8_t> packed_;  ///< the point that put() looks for
  std::size_t skeleton_size_ = 0;     ///< of packed_
  mutable std::vector<Entry> entries_;
};

}  // namespace loco::verify
