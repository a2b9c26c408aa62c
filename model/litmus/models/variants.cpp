#include "model/litmus/models/variants.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

/// Row and column, of a table of so many.
std::pair<std::size_t, std::size_t> cell_named(std::string_view cell, std::size_t size) {
  std::size_t column = 0;
  const bool row = !cell.empty() && cell[0] >= 'A' && cell[0] < 'A' + static_cast<int>(size);
  if (row) {
    const char* const end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data() + 1, end, column);
    if (error != std::errc{} || stop != end) column = 0;
  }
  if (column < 1 || column > size)
    throw std::invalid_argument("expected a cell of the stamp order, A1 to " +
                                std::string(1, static_cast<char>('A' + static_cast<int>(size) - 1)) +
                                std::to_string(size) + ", found " + text::in_quotes(cell));
  return {static_cast<std::size_t>(cell[0] - 'A'), column - 1};
}

/// Is it a stamp of a queue pair, and not of a thread?
bool of_queue_pair(std::size_t stamp) {
  return stamp >= static_cast<std::size_t>(VerbsStamp::aNLR) && stamp != static_cast<std::size_t>(VerbsStamp::aRP);
}

void flip_verbs(std::size_t row, std::size_t column, VerbsOrder& order) {
  char& c = order.cells[row][column];
  if (c == 'Y' || c == 'n')
    c = '.';
  else  // what orders starts only is told as not ordered, as in Fig. 10
    c = of_queue_pair(row) && of_queue_pair(column) ? 'n' : 'Y';
}

Cell flipped(Cell c) { return c == Cell::no ? Cell::yes : Cell::no; }

}  // namespace

void flip_cell(std::string_view cell, StampOrder& order) {
  const auto [row, column] = cell_named(cell, kStamps);
  Cell& c = order.cells[row][column];
  c = flipped(c);
}

void flip_cell(std::string_view cells, ModelOptions& options) {
  for (std::size_t at = 0; at <= cells.size();) {
    const std::size_t end = std::min(cells.find(',', at), cells.size());
    const std::string_view cell = cells.substr(at, end - at);
    const auto [row, column] = cell_named(cell, kVerbsStamps);
    flip_verbs(row, column, options.verbs_order);
    if (row < kStamps && column < kStamps) flip_cell(cell, options.order);
    at = end + 1;
  }
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
