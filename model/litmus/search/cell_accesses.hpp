// Which subevents of a skeleton access which cell, and on which reads the outcome of an execution depends.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/litmus/search/checks.hpp"
#include "model/litmus/skeletons/skeleton.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

class CellAccesses {
 public:
  struct Cell {
    int cell;
    std::vector<int> writes, reads;
  };

  void collect(const Skeleton& x);
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  /// The cell that a subevent accesses.
  [[nodiscard]] const Cell& of(int sub) const { return at(cells_, index_[static_cast<std::size_t>(sub)]); }
  /// Null when no subevent accesses it.
  [[nodiscard]] const Cell* find(int cell) const;

  /// The reads on which an observable of the program or a check depends, through the writes that reads may read from.
  /// `rf`: the sources that the skeleton determines.
  [[nodiscard]] Set relevant_reads(const Skeleton& x, const Sources& rf, const Checks& checks) const;

 private:
  void mark(const Skeleton& x, const Sources& rf, int thread, int symbol, Set& relevant) const;

  std::vector<Cell> cells_;
  std::array<std::int16_t, kSubeventsMax> index_{};
};

}  // namespace loco::model::litmus
