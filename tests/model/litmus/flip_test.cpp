// The corpus pins every cell of the stamp order (Fig. 10, row L and column 12) that can be noticed.
#include "tests/model/litmus/flip.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/models/variants.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/corpus.hpp"
#include "tests/model/litmus/random_program.hpp"

using namespace loco::model;
using namespace loco::model::litmus;

namespace {

/// Cells that no program can tell from "not ordered", and why. (From "not ordered" or "same node" to "ordered" every
/// cell is noticed.)
const std::map<std::string, std::string>& unnoticeable() {
  // A subevent before aMF is, by the same row, before all that aMF is before: the row is all Y.
  const std::string row = "the row orders everything, so what the later stamp orders is ordered already";
  // An aNLW is always preceded by its own get's aNRR, or by its own atomic's aNAR, whose column is the same.
  const std::string get = "a get reads before it writes (iso), and the row has the cell of aNRR";
  // An aNLR, aNRR or aNAR is always followed by its own operation's write, whose row has the cell.
  const std::string own = "the operation's own write follows (iso) and its row has the cell, or starts it in ib";
  // Whatever is before an aMF (rows A-E, K) is before all but aCR and aWT directly.
  const std::string fence = "all that is before aMF is ordered with the later stamp already";
  const std::string nic = "all that aRF orders is ordered with the earlier stamp already";
  // aRF is not before aCR, aGF is. But rows A-F, H and K have column 11 as they have 10; what only starts before aRF
  // (ib: aNRW, aNLW) is before aGF by G11, I11.
  const std::string before = "all that is before aRF is before aGF already";
  static const std::map<std::string, std::string> kCells = {
      {"A4", row},    {"A9", get},    {"A10", row},   {"B9", get},     {"B10", nic},  {"C4", row},   {"C9", get},
      {"C10", row},   {"D2", fence},  {"D3", fence},  {"D4", fence},   {"D6", fence}, {"D7", fence}, {"D8", fence},
      {"D9", fence},  {"D10", fence}, {"D11", fence}, {"E4", row},     {"E9", get},   {"E10", row},  {"F7", own},
      {"F8", own},    {"F9", own},    {"F10", own},   {"F11", own},    {"G9", get},   {"H9", own},   {"H10", own},
      {"H11", own},   {"J9", get},    {"J10", nic},   {"J11", before}, {"K4", row},   {"K9", get},   {"K10", row},
      {"D12", fence}, {"F12", own},   {"L9", own},    {"L10", own},    {"L11", own}};
  return kCells;
}

}  // namespace

TEST_CASE("every cell of the stamp order that can be noticed is noticed by a test", "[litmus][search]") {
  int noticed = 0;
  for (const test::Flip& f : test::flip_all(test::corpus())) {
    const bool expected = f.to == Cell::yes || unnoticeable().count(f.cell) == 0;
    INFO(test::describe(f));
    CHECK(f.noticed_by.empty() != expected);
    noticed += expected ? 1 : 0;
  }
  // 144 cells; 30 of them `same node` (two flips each), so 174 flips, of which 40 cannot be noticed.
  CHECK(noticed == 134);
}

TEST_CASE("random programs do not notice the cells that cannot be noticed", "[litmus]") {
  test::RandomShape shape;
  shape.model = "loco";
  shape.atomics = true;
  std::vector<Program> programs;
  std::vector<std::vector<Outcome>> plain;
  Options options;
  options.outcomes_only = true;
  for (std::uint64_t seed = 1; seed <= loco::test::some(150); seed += 3)
    for (Program& p : parse_text(test::random_document(seed, shape), "seed " + std::to_string(seed))) {
      plain.push_back(enumerate(p, options).outcomes);
      programs.push_back(std::move(p));
    }
  for (const auto& [cell, why] : unnoticeable()) {
    Options flipped = options;
    const auto row = static_cast<std::size_t>(cell[0] - 'A');
    const auto column = static_cast<std::size_t>(std::stoi(cell.substr(1)) - 1);
    flipped.model_options.order.cells[row][column] = Cell::no;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      INFO(cell << " (" << why << "), " << programs[i].file);
      CHECK(enumerate(programs[i], flipped).outcomes == plain[i]);
    }
  }
}

TEST_CASE("remote atomics: a flip of its cell turns a test's verdict round, and no other new cell's does", "[litmus]") {
  std::vector<std::string> cells;
  for (const char row : std::string("ABCDEFGHIJKL")) cells.push_back(row + std::string("12"));
  for (int column = 1; column <= 11; ++column) cells.push_back("L" + std::to_string(column));
  // What happens later than a get's read happens later than its write; what waits for the read of an atomic before a
  // fence or a wait does waits for it after that.
  const std::map<std::string, std::string> also = {{"cell-h12", "I12"}, {"cell-l4", "L2"}, {"cell-l5", "L2"}};
  int tests = 0;
  for (const Program& p : test::corpus()) {
    if (p.name.rfind("cell-", 0) != 0) continue;
    ++tests;
    std::vector<std::string> noticed, expected = {p.name.substr(5)};
    expected[0][0] = static_cast<char>(std::toupper(expected[0][0]));
    if (also.count(p.name) > 0) expected.push_back(also.at(p.name));
    for (const std::string& cell : cells) {
      Options options;
      flip_cell(cell, options.model_options.order);
      if (!enumerate(p, options).ok) noticed.push_back(cell);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(noticed.begin(), noticed.end());
    INFO(p.name);
    CHECK(noticed == expected);
  }
  CHECK(tests == 18);
}
