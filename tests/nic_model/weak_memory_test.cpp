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
TEST_CASE("random programs: the NIC model stays within the operational rdmatso machine and covers it") {
  std::size_t seen = 0;
  std::size_t possible = 0;
  std::size_t incomplete = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = test::random_program(seed);
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
