// Robustness: the examples of docs/robustness.md, and verdicts against enumerations of all traces written apart.
#include "model/litmus/answers/robust.hpp"

#include <algorithm>
#include <set>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/answers/robust_text.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/random_program.hpp"
#include "tests/model/litmus/reference.hpp"

using namespace loco::model::litmus;

namespace {

Program parsed(const std::string& threads, const std::string& final_words = "", const std::string& model = "rdmawait") {
  const std::string document = "name: t\nmodel: " + model +
                               "\nlocations: {x: {node: 2}, y: {node: 2}, x1: {node: 1}, y1: {node: 1}, u1: {node: 1}, "
                               "v1: {node: 1}, z1: {node: "
                               "1}, z: {node: 2}, y3: {node: 3}, l3: {node: 3}, w3: {node: 3}}\nthreads: [" +
                               threads + "]\n" + (final_words.empty() ? "" : "final: [" + final_words + "]\n");
  return parse_text(document, "test").front();
}
std::string on(int node, const std::string& code) {
  return "{node: " + std::to_string(node) + ", code: '" + code + "'}";
}

/// The smallest repairs, a set a string: `0.1 mfence, 1.1 mfence`.
std::vector<std::string> sets(const Repair& repair) {
  std::vector<std::string> all;
  for (const auto& set : repair.sets) {
    std::string s;
    for (const Insertion& i : set)
      s += (s.empty() ? "" : ", ") + std::to_string(i.thread) + "." + std::to_string(i.before) + " " + i.text();
    all.push_back(s);
  }
  return all;
}

Robustness mended(const Program& p) {
  RobustOptions options;
  options.repair = true;
  return robustness(p, options);
}

void check_robust(const Program& p, bool outcomes = true) {
  const Robustness r = mended(p);
  CHECK(r.robust == true);
  CHECK(r.robust_outcomes == outcomes);
  CHECK(r.cycle.empty());
}

Repair check_not_robust(const Program& p, bool outcomes) {
  const Robustness r = mended(p);
  REQUIRE(r.robust == false);
  CHECK(r.robust_outcomes == outcomes);
  CHECK(r.cycle.size() >= 2);
  REQUIRE(r.repair.has_value());
  return *r.repair;
}

}  // namespace

TEST_CASE("store buffering needs a fence in each thread", "[robust]") {
  const Program p = parsed(on(1, "x1 = 1; a = y1") + ", " + on(1, "y1 = 1; b = x1"));
  const Robustness r = mended(p);
  REQUIRE(r.robust == false);
  CHECK(r.robust_outcomes == false);
  REQUIRE(r.outcome.has_value());
  CHECK(p.text(*r.outcome) == "a=0 b=0");
  REQUIRE(r.cycle.size() == 4);
  std::set<std::string> accesses;
  for (const Robustness::Step& s : r.cycle) accesses.insert(s.access + " " + s.edge);
  CHECK(accesses == std::set<std::string>{"write x1 po", "read y1 rb", "write y1 po", "read x1 rb"});
  CHECK(r.repair->size == 2);
  CHECK(sets(*r.repair) == std::vector<std::string>{"0.1 mfence, 1.1 mfence"});
}

TEST_CASE("a put whose source is overwritten needs a wait", "[robust]") {
  const std::string code = on(1, "put(z, x1) as d; x1 = 1");
  const Repair r = check_not_robust(parsed(code, "z"), false);
  CHECK(r.size == 1);
  CHECK(sets(r) == std::vector<std::string>{"0.1 wait(d)", "0.1 flush(2)"});
  (void)check_not_robust(parsed(code), true);
}

TEST_CASE("message passing over one queue pair is robust, with a put or an atomic as its flag", "[robust]") {
  check_robust(parsed(on(1, "put(x, 1); put(y, 1)") + ", " + on(2, "a = y; b = x")));
  check_robust(parsed(on(1, "put(x, 1); rfaa(_, y, 1)") + ", " + on(2, "a = y; b = x")));
}

TEST_CASE("two gets need an order", "[robust]") {
  const Repair r = check_not_robust(parsed(on(1, "get(u1, y) as d; get(v1, x)") + ", " + on(2, "x = 1; y = 1")), true);
  CHECK(r.size == 1);
  CHECK(sets(r) == std::vector<std::string>{"0.1 rfence(2)", "0.1 wait(d)", "0.1 flush(2)"});
}

TEST_CASE("store buffering by puts needs flushes, waits do not help", "[robust]") {
  const Repair r = check_not_robust(parsed(on(1, "put(x, 1); a = y1") + ", " + on(2, "put(y1, 1); b = x")), false);
  CHECK(r.size == 2);
  CHECK(sets(r) == std::vector<std::string>{"0.1 flush(2), 1.1 flush(1)"});
}

TEST_CASE("a flag on another node needs a flush before it", "[robust]") {
  const Repair r = check_not_robust(parsed(on(1, "put(x, 1); put(y3, 1)") + ", " + on(3, "a = y3; get(l3, x)")), true);
  CHECK(sets(r) == std::vector<std::string>{"0.1 flush(2)"});
}

TEST_CASE("nothing keeps a CPU out of an atomic", "[robust]") {
  const Repair r = check_not_robust(parsed(on(1, "rfaa(z1, x, 1)") + ", " + on(2, "x = 5")), true);
  CHECK(r.reason == Repair::Reason::none);
}

TEST_CASE("the result of an atomic needs a wait", "[robust]") {
  const Repair r = check_not_robust(
      parsed(on(1, "rfaa(z1, x, 1) as d; a = z1") + ", " + on(3, "rfaa(w3, x, 1) as e; wait(e); b = w3")), false);
  CHECK(r.size == 1);
  CHECK(sets(r).front() == "0.1 wait(d)");
}

TEST_CASE("more insertions than are looked for, loops that were cut", "[robust]") {
  const Program p = parsed(on(1, "x1 = 1; a = y1") + ", " + on(1, "y1 = 1; b = x1"));
  RobustOptions options;
  options.repair = true;
  options.repair_max = 1;
  CHECK(robustness(p, options).repair->reason == Repair::Reason::limit);
  const Program loop = parsed(on(1, "while (a == 0) { a = y1 }") + ", " + on(1, "y1 = 1"));
  const Robustness r = robustness(loop);
  CHECK_FALSE(r.robust.has_value());
  CHECK_THAT(r.why_unknown, loco::test::contains_text("loops were cut"));
}

TEST_CASE("insertions land before their statement, loops and branches keep their targets", "[robust]") {
  const Program p =
      parsed(on(1, "put(x, 1)\n\nif (a == 0) { a = y1 } else { put(y, 2) }\n\nwhile (b < 2) { b = b + 1 }"));
  std::vector<Insertion> all = possible_insertions(p, 0);
  CHECK(std::count_if(all.begin(), all.end(), [](const Insertion& i) { return i.kind == Insertion::Kind::mfence; }) ==
        5);
  const Program q = with_insertions(p, all);
  CHECK(enumerate(q).outcomes == enumerate(p).outcomes);
}

namespace {

test::RandomShape small(const std::string& model, bool atomics, int total) {
  test::RandomShape shape;
  shape.model = model;
  shape.threads_max = 3;
  shape.operations_max = 3;
  shape.total_max = total;
  shape.atomics = atomics;
  return shape;
}

struct Compared {
  int all = 0, not_robust = 0;
};

/// The verdict by the definition, by one weak thread at a time, and by all traces enumerated naively.
void compare(const std::string& model, bool atomics, int total, std::uint64_t first, std::uint64_t last,
             std::uint64_t limit, Compared& counts) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string document = test::random_document(seed, small(model, atomics, total));
    const Program p = parse_text(document, "random").front();
    INFO("seed " << seed << " " << model << "\n" << document);
    const TraceVerdict whole = search_traces(p, {});
    REQUIRE(whole.robust.has_value());
    bool weak = true;
    for (int t = 0; t < len(p.threads); ++t) weak = weak && search_traces(p, {}, t).robust == true;
    CHECK(weak == *whole.robust);
    const test::ReferenceResult expected = test::reference(p, model, limit);
    if (expected.gave_up) continue;
    ++counts.all;
    counts.not_robust += expected.robust ? 0 : 1;
    CHECK(*whole.robust == expected.robust);
    const Robustness r = robustness(p);
    if (r.robust == true) CHECK(r.robust_outcomes == true);
    Options sc;
    sc.model = "sc";
    const std::vector<Outcome> strong = enumerate(p, sc).outcomes;
    CHECK(strong == test::strong(p, 200'000).outcomes);
    const std::vector<Outcome> all = enumerate(p).outcomes;
    CHECK(std::includes(all.begin(), all.end(), strong.begin(), strong.end()));
    CHECK(r.robust_outcomes == (all == strong));
  }
}

}  // namespace

TEST_CASE("robustness: verdicts agree with all traces enumerated, on random programs", "[robust]") {
  Compared counts;
  for (const char* model : {"rdmatso", "rdmawait"})
    for (const bool atomics : {false, true}) compare(model, atomics, 4, 1, 80 / loco::test::kShare + 1, 20'000, counts);
  CHECK(counts.all > 0);
  CHECK(counts.not_robust > 0);
}

TEST_CASE("robustness: verdicts agree with all traces enumerated, on many more random programs", "[.long]") {
  Compared counts;
  for (const char* model : {"rdmatso", "rdmawait"})
    for (const bool atomics : {false, true}) compare(model, atomics, 6, 1000, 2000, 100'000, counts);
  INFO(counts.not_robust << " of " << counts.all << " are not robust");
  CHECK(counts.all > 1'000);
  CHECK(counts.not_robust > 300);
}

namespace {

/// All smallest sets, the whole program searched for each.
std::vector<std::string> repairs_by_force(const Program& p, int most) {
  std::vector<Insertion> all;
  for (int t = 0; t < len(p.threads); ++t)
    for (Insertion& i : possible_insertions(p, t)) all.push_back(std::move(i));
  std::vector<std::string> found;
  std::vector<Insertion> set;
  const auto choose = [&](const auto& self, std::size_t next, int left) -> void {
    if (left == 0) {
      if (search_traces(with_insertions(p, set), {}).robust == true) {
        Repair one;
        one.sets = {set};
        found.push_back(sets(one).front());
      }
      return;
    }
    for (std::size_t i = next; i < all.size(); ++i) {
      set.push_back(all[i]);
      self(self, i + 1, left - 1);
      set.pop_back();
    }
  };
  for (int size = 0; size <= most && found.empty(); ++size) choose(choose, 0, size);
  std::sort(found.begin(), found.end());
  return found;
}

void compare_repairs(std::uint64_t first, std::uint64_t last, int total, int& repaired) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string document = test::random_document(seed, small("rdmawait", seed % 2 == 0, total));
    const Program p = parse_text(document, "random").front();
    RobustOptions options;
    options.repair_max = 2;
    if (search_traces(p, options).robust == true) continue;
    INFO("seed " << seed << "\n" << document);
    const Repair r = smallest_repairs(p, options);
    std::vector<std::string> mine = sets(r);
    std::sort(mine.begin(), mine.end());
    CHECK(mine == repairs_by_force(p, 2));
    repaired += r.reason == Repair::Reason::found ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("robustness: the smallest repairs are those that trying all sets finds", "[robust]") {
  int repaired = 0;
  compare_repairs(1, 60 / loco::test::kShare + 1, 4, repaired);
  CHECK((repaired > 0 || loco::test::kShare > 1));
}

TEST_CASE("robustness: the smallest repairs of many more programs", "[.long]") {
  int repaired = 0;
  compare_repairs(1000, 1400, 6, repaired);
  CHECK(repaired > 37);
}
