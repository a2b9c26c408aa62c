#include "model/litmus/variants.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

std::pair<std::size_t, std::size_t> cell_named(std::string_view cell) {
  std::size_t column = 0;
  const bool row = !cell.empty() && cell[0] >= 'A' && cell[0] < 'A' + static_cast<int>(kStamps);
  if (row) {
    const char* const end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data() + 1, end, column);
    if (error != std::errc{} || stop != end) column = 0;
  }
  if (column < 1 || column > kStamps)
    throw std::invalid_argument("expected a cell of the stamp order, A1 to L12, found " + text::in_quotes(cell));
  return {static_cast<std::size_t>(cell[0] - 'A'), column - 1};
}

Cell flipped(Cell c) { return c == Cell::no ? Cell::yes : Cell::no; }

}  // namespace

void flip_cell(std::string_view cell, StampOrder& order) {
  const auto [row, column] = cell_named(cell);
  Cell& c = order.cells[row][column];
  c = flipped(c);
}

void choose_variant(std::string_view name, ModelOptions& options) {
  if (name == "transitive-barriers") {
    options.transitive_barriers = true;
  } else if (name == "weak-ring-buffers") {
    options.ring_rule = RingRule::weak;
  } else if (name == "banked-atomics") {
    options.banked_atomics = true;
  } else if (name == "global-atomics") {
    options.global_atomics = true;
  } else {
    throw std::invalid_argument(
        "expected transitive-barriers, weak-ring-buffers, banked-atomics or global-atomics, found " +
        text::in_quotes(name));
  }
}

}  // namespace loco::model::litmus
