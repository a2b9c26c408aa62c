// Packed sets of outcomes against std::set, and the limits of a search that fills one.
#include "model/litmus/search/outcomes.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"

using namespace loco::model::litmus;

namespace {

/// Writers of one location each, readers of all, each in an order of its own: outcomes by the million.
Program iriw(int writers, int readers) {
  std::string text = "model: rdmawait\nlocations:\n";
  for (int w = 0; w < writers; ++w) text += "  x" + std::to_string(w) + ": {node: 1}\n";
  text += "threads:\n";
  for (int w = 0; w < writers; ++w)
    text += "- {node: " + std::to_string(w + 2) + ", code: \"put(x" + std::to_string(w) + ", 1)\"}\n";
  for (int r = 0; r < readers; ++r) {
    text += "- {node: 1, code: \"";
    for (int w = 0; w < writers; ++w)
      text += "r" + std::to_string(r) + std::to_string(w) + " = x" + std::to_string((r + w) % writers) + "; ";
    text += "\"}\n";
  }
  return parse_text(text, "test").front();
}

}  // namespace

TEST_CASE("a packed set holds what a set holds, in its order", "[litmus]") {
  for (const std::size_t width : {0U, 1U, 3U}) {
    Outcomes packed;
    std::set<Outcome> all;
    std::uint64_t state = width;
    for (int n = 0; n < 20'000; ++n) {
      Outcome o(width);
      for (Value& v : o) v = static_cast<Value>((state = state * 6364136223846793005ULL + 1) >> 60U);
      CHECK(packed.insert(o) == all.insert(o).second);
    }
    CHECK(packed.size() == all.size());
    for (const Outcome& o : all) CHECK(packed.contains(o));
    const std::vector<std::uint32_t> least = packed.least(5);
    std::vector<Outcome> first;
    for (const std::uint32_t place : least) first.push_back(packed[place]);
    CHECK(std::equal(first.begin(), first.end(), all.begin()));
    CHECK(packed.sort());
    CHECK(packed == Outcomes(std::vector<Outcome>(all.begin(), all.end())));
    for (const Outcome& o : all) CHECK(packed[packed.find(o)] == o);
    CHECK_FALSE(packed.contains(Outcome(width, 99)) != (width == 0));
  }
}

TEST_CASE("a set of many outcomes is sorted in pieces, between which it may be stopped", "[litmus]") {
  Outcomes packed;
  for (Value v = 0; v < 100'000; ++v) packed.insert(Outcome{(v * 7919) % 100'000, v});
  int asked = 0;
  CHECK_FALSE(packed.sort([&] { return ++asked > 5; }));
  CHECK(asked == 6);
  CHECK(packed.sort());
  for (std::size_t i = 0; i < packed.size(); ++i) REQUIRE(packed.row(i)[0] == static_cast<Value>(i));
  CHECK(packed.find(Outcome{500, -1}) == packed.size());
}

TEST_CASE("a large set grows in parts, and takes no more than it said before", "[litmus]") {
  Outcomes packed;
  constexpr Value kMany = 300'000;  // more than one table holds (2^16 slots), so that there are parts, which grow
  const auto outcome = [](Value v) { return Outcome{v % 64, v / 64, v << 32}; };
  std::size_t largest_step = 0;
  bool within = true;
  for (Value v = 0; v < kMany; ++v) {
    const std::size_t before = packed.bytes(), allowed = packed.bytes_with_one_more();
    REQUIRE(packed.insert(outcome(v)));
    within = within && (v == 0 || packed.bytes() <= allowed);  // how wide they are, the first one says
    if (v > kMany / 2) largest_step = std::max(largest_step, packed.bytes() - before);
  }
  CHECK(within);
  CHECK(largest_step < packed.bytes() / 16);  // a table of all would be a sixth of it
  for (Value v = 0; v < kMany; ++v) REQUIRE_FALSE(packed.insert(outcome(v)));
  for (Value v = 0; v < kMany; ++v) REQUIRE(packed.find(outcome(v)) == static_cast<std::size_t>(v));
  CHECK_FALSE(packed.contains(Outcome{1, 1, 1}));
}

TEST_CASE("the limit of memory holds, and what it cuts short is not ok", "[litmus]") {
  const Program p = iriw(4, 4);
  Options o;
  o.memory_max = 1U << 18U;
  const Result r = enumerate(p, o);
  CHECK(verdict_of(r) == Verdict::incomplete);
  CHECK(r.outcomes.bytes() <= o.memory_max);
  CHECK(r.outcomes.size() > 500);  // of 16 words, and a table
  CHECK_THAT(r.notes.front(), loco::test::contains_text("limit of memory"));
  CHECK_FALSE(r.complete);
}

TEST_CASE("the limit of time holds in what follows the search, too", "[litmus]") {
  const Program p = iriw(3, 3);
  Result whole = enumerate(p);
  REQUIRE(verdict_of(whole) == Verdict::ok);
  REQUIRE(whole.outcomes.size() > 300);
  // Out of time in the search: what was found is told up to kListedAnyway.
  Options o;
  std::uint64_t left = 3;
  o.out_of_time = [&] { return left == 0 || --left == 0; };
  o.time_limit = "3 s";
  Result cut = enumerate(p, o);
  CHECK(verdict_of(cut) == Verdict::incomplete);
  std::ostringstream text;
  write_herd_text(text, p, cut, o.out_of_time);
  CHECK_THAT(text.str(), loco::test::contains_text("\nIncomplete\n") && loco::test::contains_text("limit of 3 s"));
  // Out of time while the states are written: the rest is left out, and said.
  Result many = whole;
  many.outcomes = {};
  for (Value v = 0; v < 50'000; ++v) many.outcomes.push_back(Outcome(p.observables.size(), v));
  std::ostringstream listing;
  write_herd_text(listing, p, many, [] { return true; });
  CHECK(verdict_of(many) == Verdict::incomplete);
  const std::string listed = listing.str();
  CHECK(std::count(listed.begin(), listed.end(), '\n') < 15'000);
  CHECK_THAT(listed, loco::test::contains_text("of the outcomes found, 50000, only "));
}

TEST_CASE("a limit of executions finds new outcomes first", "[litmus]") {
  const Program p = iriw(3, 2);
  const Result all = enumerate(p);
  REQUIRE(all.executions >= all.outcomes.size());
  Options o;
  o.executions_max = all.outcomes.size() - 1;
  const Result fewer = enumerate(p, o);
  CHECK(verdict_of(fewer) == Verdict::incomplete);
  CHECK(fewer.outcomes.size() == o.executions_max);
  o.executions_max = all.executions + 1;
  CHECK(enumerate(p, o).outcomes == all.outcomes);
  CHECK(enumerate(p, o).executions == all.executions);
}

TEST_CASE("where outcomes are few, a limit of executions between leaves them complete", "[litmus]") {
  const Program p = parse_text(R"(
model: rdmawait
locations: {x: {node: 1}, y: {node: 1}}
threads:
  - {node: 1, code: "a = x; while (a == 7) { a = y }"}
  - {node: 1, code: "x = 1; x = 2; x = 3"}
  - {node: 1, code: "y = x; y = x; y = x"}
)",
                               "test")
                        .front();
  Result all = enumerate(p);
  REQUIRE(all.outcomes.size() == 4);
  Options o;
  o.executions_max = 6;
  const Result counted = enumerate(p, o);
  CHECK(verdict_of(counted) == Verdict::ok);
  CHECK(counted.outcomes == all.outcomes);
  CHECK_THAT(counted.notes.front(),
             loco::test::contains_text("executions were counted up to 6; the outcomes are complete"));
  for (o.executions_max = 1; o.executions_max < 6;
       ++o.executions_max) {  // what may be incomplete is not said to be both
    const Result limited = enumerate(p, o);
    INFO(o.executions_max << " executions, " << limited.outcomes.size() << " outcomes");
    std::string notes;
    for (const std::string& note : limited.notes) notes += note + "\n";
    const bool told = notes.find("the outcomes are complete") != std::string::npos;
    CHECK(told == (notes.find("there may be more outcomes") == std::string::npos));
    if (told) CHECK(limited.outcomes == all.outcomes);
  }
}
