// The stamp order `to`: which kinds of subevent keep program order (LOCO paper, Fig. 10), with a row and a column more
// for the reads of remote atomics (docs/atomics.md).
//
// A table is a value, so that a tool can flip a cell and ask which tests notice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/trace.hpp"

namespace loco::model {

/// One cell of Fig. 10: the earlier subevent (row) before the later one (column).
enum class Cell : std::uint8_t { no, yes, same_node };

/// Rows and columns in the order of `Stamp`: aCR aCW aCAS aMF aWT aNLR aNRW aNRR aNLW aRF aGF aNAR.
struct StampOrder {
  std::array<std::array<Cell, kStamps>, kStamps> cells;

  [[nodiscard]] constexpr Cell cell(Stamp earlier, Stamp later) const {
    return cells[static_cast<std::size_t>(earlier)][static_cast<std::size_t>(later)];
  }
  /// Is (earlier, later) in `to`? `same_node`: both are family stamps that name the same remote node.
  [[nodiscard]] constexpr bool ordered(Stamp earlier, Stamp later, bool same_node) const {
    const Cell c = cell(earlier, later);
    return c == Cell::yes || (c == Cell::same_node && same_node);
  }
};

namespace detail {
constexpr StampOrder parse_order(std::array<std::string_view, kStamps> rows) {
  StampOrder order{};
  for (std::size_t r = 0; r < kStamps; ++r)
    for (std::size_t c = 0; c < kStamps; ++c)
      order.cells[r][c] = rows[r][c] == 'Y' ? Cell::yes : rows[r][c] == 'n' ? Cell::same_node : Cell::no;
  return order;
}
}  // namespace detail

/// A cell of Fig. 10: an order of two subevents towards the same node.
struct StampPair {
  Stamp earlier;
  Stamp later;
  constexpr bool operator==(const StampPair&) const = default;
};

/// Fig. 10 as printed, and row L and column 12: Y ordered, . not ordered, n ordered iff both name the same node.
inline constexpr StampOrder kStampOrder = detail::parse_order({
    //  1..5 CPU, 6..9 NIC, 10 aRF, 11 aGF, 12 aNAR
    "YYYYYYYYYYYY",  // A aCR
    ".YYY.YYYYYYY",  // B aCW
    "YYYYYYYYYYYY",  // C aCAS
    "YYYYYYYYYYYY",  // D aMF
    "YYYYYYYYYYYY",  // E aWT
    ".....nnnnnnn",  // F aNLR
    "......nnn.nn",  // G aNRW
    "........nnn.",  // H aNRR
    "........n.n.",  // I aNLW
    ".....nnnnnnn",  // J aRF
    "YYYYYYYYYYYY",  // K aGF
    "......nnnnnn",  // L aNAR
});

}  // namespace loco::model
