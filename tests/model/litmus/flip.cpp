#include "tests/model/litmus/flip.hpp"

#include "model/litmus/answers/litmus.hpp"

namespace loco::model::litmus::test {
namespace {

std::string text(Cell c) { return c == Cell::yes ? "ordered" : c == Cell::no ? "not ordered" : "same node"; }

}  // namespace

std::vector<Flip> flip_all(const std::vector<Program>& programs) {
  std::vector<Flip> flips;
  for (std::size_t row = 0; row < kStamps; ++row)
    for (std::size_t column = 0; column < kStamps; ++column)
      for (const Cell to : {Cell::no, Cell::yes}) {
        const Cell from = kStampOrder.cells[row][column];
        if (from == to) continue;
        Flip flip{
            std::string(1, static_cast<char>('A' + static_cast<int>(row))) + std::to_string(column + 1), from, to, {}};
        Options options;
        options.model_options.order.cells[row][column] = to;
        options.outcomes_only = true;
        for (const Program& p : programs)
          if (!is_corerma(p.model) && !enumerate(p, options).ok) flip.noticed_by.push_back(p.name);
        flips.push_back(std::move(flip));
      }
  return flips;
}

std::string describe(const Flip& f) {
  std::string s = f.cell + " " + text(f.from) + " -> " + text(f.to) + ": ";
  if (f.noticed_by.empty()) return s + "noticed by no test";
  s += std::to_string(f.noticed_by.size()) + (f.noticed_by.size() == 1 ? " test (" : " tests (");
  for (std::size_t i = 0; i < f.noticed_by.size() && i < 4; ++i) s += (i > 0 ? ", " : "") + f.noticed_by[i];
  return s + (f.noticed_by.size() > 4 ? ", ...)" : ")");
}

}  // namespace loco::model::litmus::test
