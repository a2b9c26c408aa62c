// Programs as text, their order, and canonical forms.
#include "model/corerma/program.hpp"

#include <map>

#include "model/corerma/enumerator.hpp"
#include "tests/catch.hpp"
#include "tests/model/corerma/conversion.hpp"

using namespace loco::model::corerma;

TEST_CASE("programs are written and read", "[corerma]") {
  const Program p = parse_program("wa.gab1.pab1.aaba1.f1_rb.cbabb0");
  CHECK(text(p) == "wa.gab1.pab1.aaba1.f1_rb.cbabb0");
  CHECK(p.processes == 2);
}

TEST_CASE("texts that are no programs are refused in one line", "[corerma]") {
  const std::map<std::string, std::string> wrong = {
      {"", "expected a statement (r, w, g, p, a, c, f), found \"\" in \"\""},
      {"xa", "expected a statement (r, w, g, p, a, c, f), found \"xa\" in \"xa\""},
      {"ra.", "expected a statement (r, w, g, p, a, c, f), found \"\" in \"ra.\""},
      {"r", "expected a variable, found \"\" in \"r\""},
      {"gab", "expected a host, found \"\" in \"gab\""},
      {"f9", "expected a host, found \"9\" in \"f9\""},
      {"ra rb", "expected \".\" or \"_\" between statements, found \" rb\" in \"ra rb\""},
      {"rb", "expected variables a, b, ... without a gap, found \"\" in \"rb\""},
      {"gab1.rb", "expected each variable on one host, found \"\" in \"gab1.rb\""},
      {"ra_f0_f0_f0_f0", "expected at most 4 processes, found \"f0\" in \"ra_f0_f0_f0_f0\""},
  };
  for (const auto& [text, message] : wrong) CHECK_THROWS_WITH(parse_program(text), message);
}

TEST_CASE("any text is a program that is written the same, or refused", "[corerma]") {
  const std::string alphabet = "rwgpacf01abc._";
  std::uint64_t state = 1;
  int programs = 0;
  for (int k = 0; k < 100'000 / static_cast<int>(loco::test::kShare); ++k) {
    std::string candidate;
    for (std::uint64_t n = state % 17; n > 0; --n) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      candidate += alphabet[(state >> 33U) % alphabet.size()];
    }
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    state ^= state >> 29U;
    try {
      const Program p = parse_program(candidate);
      ++programs;
      CHECK(text(p) == candidate);
      const Program q = reordered(p, {0, 1, 2, 3});  // renumbered
      CHECK(same(q, reordered(q, {0, 1, 2, 3})));
    } catch (const std::invalid_argument&) {
    }
  }
  CHECK(programs > 100 / static_cast<int>(loco::test::kShare));
}

TEST_CASE("canonical forms are numbered by first appearance, the process with most actions first", "[corerma]") {
  CHECK(is_canonical(parse_program("ra.wa")));
  CHECK_FALSE(is_canonical(parse_program("rb.wa")));
  CHECK(is_canonical(parse_program("ra.wa_f0")));
  CHECK_FALSE(is_canonical(parse_program("f0_ra.wa")));
  CHECK(is_canonical(parse_program("ra_wb")));
  CHECK_FALSE(is_canonical(parse_program("wa_rb")));
  CHECK(text(reordered(parse_program("wa.gab2_rc"), {1, 0})) == "ra_wb.gbc2");
  CHECK(is_canonical(parse_program("gab1.f2")));
  CHECK_FALSE(is_canonical(parse_program("gab2.f1")));
}

TEST_CASE("the enumerator meets each program once, in order, and those only in which writers can be read",
          "[corerma]") {
  for (const auto& [processes, hosts, size] : {std::tuple{1, 1, 6}, {2, 2, 5}, {2, 3, 5}, {3, 3, 5}}) {
    ProgramSpace space;
    space.processes = processes;
    space.hosts = hosts;
    std::set<test::NaiveProgram> found;
    Program last;
    bool ordered = true, once = true;
    (void)ProgramEnumerator(space).run(size, nullptr, [&](const Program& p) {
      ordered = ordered && (found.empty() || before(last, p)) && is_canonical(p) && same(p, parse_program(text(p)));
      once = once && found.insert(test::naive_canonical(test::to_naive(p), hosts)).second;
      last = p;
      return true;
    });
    CHECK(ordered);
    CHECK(once);
    // The others have a variable with more writers than local reads.
    test::NaiveQuestion all;
    all.processes = processes;
    all.hosts = hosts;
    all.statements = "rwgpacf";
    const auto readable = [](const test::NaiveProgram& p) {
      std::map<int, int> balance;
      for (const auto& process : p.processes)
        for (const auto& s : process) {
          if (s.kind == 'r') ++balance[s.operands[0]];
          if (s.kind != 'r' && s.kind != 'f') --balance[s.operands[0]];
          if (s.kind == 'a' || s.kind == 'c') --balance[s.operands[1]];
        }
      return std::all_of(balance.begin(), balance.end(), [](const auto& b) { return b.second >= 0; });
    };
    std::set<test::NaiveProgram> expected = test::naive_programs(all, size);
    std::erase_if(expected, [&](const auto& p) { return p.homes.empty() || !readable(p); });  // nothing but flushes
    CHECK((found == expected));
  }
}
