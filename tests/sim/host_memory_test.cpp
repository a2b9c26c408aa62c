// What is told of this machine's memory moves with what the process takes.
#include "sim/host_memory.hpp"

#include <memory>
#include <vector>

#include "tests/catch.hpp"

using namespace loco::sim;

TEST_CASE("memory that is touched counts as used, and what is free is what it can be") {
  constexpr std::size_t kBytes = std::size_t{64} << 20U;
  const std::uint64_t before = used_memory();
  REQUIRE(before > 0);
  std::vector<char> taken(kBytes, 1);
  const std::uint64_t after = used_memory();
  CHECK(after >= before + kBytes / 2);
  CHECK(taken[kBytes - 1] == 1);
  CHECK(free_memory() > 0);
  CHECK(memory_share() <= free_memory());
}
