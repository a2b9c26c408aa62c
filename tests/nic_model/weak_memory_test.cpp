// The machine of profile model-weak shows what the declarative model allows, and nothing else (models page, section 3;
// docs/hardware.md, "Which mechanism gives which cell").
#include "program.hpp"
#include "tests/catch.hpp"

using namespace loco;
using test::Outcomes;
using test::Program;

namespace {
// Sanitizers make a run about ten times slower and look for other things.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kPrograms = 30;
#else
constexpr std::uint64_t kPrograms = 150;
#endif
}  // namespace

// Each random program runs on the operational machine exhaustively and on the NIC model under random schedules. To
// replay one: test_nic_weak_memory "random programs*", with the printed seed as the only one in the loop.
namespace {
void compare_random_programs(std::uint64_t programs, bool wide) {
  std::size_t seen = 0;
  std::size_t possible = 0;
  std::size_t incomplete = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Program program = test::random_program(seed, wide);
    const Outcomes all = test::explore_operational(program);
    // Few outcomes are found soon; the rarest of many need more runs.
    Outcomes sampled;
    for (std::uint64_t batch = 0; batch < 16 && sampled.size() < all.size(); ++batch) {
      sampled.merge(test::sample_hardware(program, nic::HardwareProfile{}, 100 * seed + batch, 1000));
    }
    INFO("seed " << seed << ": " << program.text());
    for (const test::Outcome& outcome : sampled) {
      INFO("outcome" << test::text(outcome) << "\nallowed\n" << test::text(all));
      CHECK(all.count(outcome) == 1);
    }
    seen += sampled.size();
    possible += all.size();
    if (sampled.size() != all.size()) {
      ++incomplete;
      UNSCOPED_INFO("seed " << seed << ": " << sampled.size() << " of " << all.size() << ": " << program.text());
    }
  }
  INFO(seen << " of " << possible << " outcomes, " << incomplete << " programs incomplete");
  CHECK(seen * 100 >= possible * 97);
}
}  // namespace

TEST_CASE("random programs: the NIC model stays within the operational rdmatso machine and covers it") {
  compare_random_programs(test::some(kPrograms), false);
}

// The words of one put or get are in no order, neither where they are read nor where they are written: each is a
// subevent of its own (docs/checking.md).
TEST_CASE("random programs with accesses of two words") { compare_random_programs(test::some(kPrograms / 5), true); }

TEST_CASE("two words of one operation: each order, on either side") {
  const auto both = [](const char* a, const char* b, std::uint64_t zero, std::uint64_t one) {
    Outcomes all;
    for (const std::uint64_t x : {zero, one})
      for (const std::uint64_t y : {zero, one}) all.insert({{a, x}, {b, y}});
    return all;
  };
  Program placed;  // a reader that polls the last word, and one that polls the first
  placed.location("x", 1, 1).location("y", 1, 1).location("u", 2).location("v", 2);
  placed.thread(1, "put(u, x, 2)").thread(2, "a = v; b = u");
  Program placed_back;
  placed_back.location("x", 1, 1).location("y", 1, 1).location("u", 2).location("v", 2);
  placed_back.thread(1, "put(u, x, 2)").thread(2, "a = u; b = v");
  Program sampled;  // of memory that changes word by word
  sampled.location("x", 1).location("y", 1).location("u", 2).location("v", 2).observe("u").observe("v");
  sampled.thread(1, "x = 1; y = 1; put(u, x, 2)").thread(1, "x = 2; y = 2");
  Program fetched;
  fetched.location("u", 1).location("v", 1).location("x", 2).location("y", 2).observe("u").observe("v");
  fetched.thread(1, "get(u, x, 2)").thread(2, "x = 1; y = 1");
  // Who sees one word changes the other one before that is read: a word travels alone.
  Program chased;
  chased.location("x", 1, 1).location("y", 1, 1).location("u", 2).location("v", 2).observe("v");
  chased.thread(1, "put(u, x, 2)").thread(2, "a = u; put(y, 7)");
  Program chased_back;
  chased_back.location("x", 1, 1).location("y", 1, 1).location("u", 2).location("v", 2).observe("u");
  chased_back.thread(1, "put(u, x, 2)").thread(2, "a = v; put(x, 7)");
  CHECK(test::sample_hardware(placed, {}, 1, 2000) == both("a", "b", 0, 1));
  CHECK(test::sample_hardware(placed_back, {}, 1, 2000) == both("a", "b", 0, 1));
  CHECK(test::sample_hardware(fetched, {}, 1, 2000) == both("u", "v", 0, 1));
  for (const Program& p : {placed, placed_back, sampled, fetched, chased, chased_back}) {
    INFO(p.text());
    CHECK(test::text(test::sample_hardware(p, {}, 1, 6000)) == test::text(test::explore_operational(p)));
  }
  // a=1 v=7: the first word has been seen before the second was read; and the other way round
  CHECK(test::explore_operational(chased).count({{"a", 1}, {"v", 7}}) == 1);
  CHECK(test::explore_operational(chased_back).count({{"a", 1}, {"u", 7}}) == 1);
}

TEST_CASE("with nic.word_order: ascending a reader of the last word has seen the first") {
  nic::HardwareProfile profile;
  profile.nic_word_order = nic::WordOrder::ascending;
  Program placed;
  placed.location("x", 1, 1).location("y", 1, 1).location("u", 2).location("v", 2);
  placed.thread(1, "put(u, x, 2)").thread(2, "a = v; b = u");
  CHECK(test::text(test::sample_hardware(placed, profile, 1, 2000)) ==
        test::text(Outcomes{{{"a", 0}, {"b", 0}}, {{"a", 0}, {"b", 1}}, {{"a", 1}, {"b", 1}}}));
}
