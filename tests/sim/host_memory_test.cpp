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

// Where the kernel has no large pages to give, nothing else changes either.
TEST_CASE("a heap that is put into large pages holds what it held") {
  constexpr std::size_t kBlock = 1000;
  constexpr std::size_t kBlocks = 100'000;  // three times as much as is waited for
  HeapInLargePages heap;
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(std::make_unique<std::uint64_t[]>(kBlock / 8));
    blocks.back()[0] = i;
    blocks.back()[kBlock / 8 - 1] = ~i;
    heap.follow();
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kBlocks; ++i) wrong += blocks[i][0] != i || blocks[i][kBlock / 8 - 1] != ~i ? 1U : 0U;
  CHECK(wrong == 0);
  const std::uint64_t before = used_memory();
  heap.follow();  // there is nothing left to do
  CHECK(used_memory() < before + (std::uint64_t{1} << 20U));
}
