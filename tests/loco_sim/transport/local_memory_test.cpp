// What a node's CPUs do with its memory: x86-TSO, and no access to the NIC's.
#include <cstdint>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/small_cluster.hpp"

using loco::Schedule;
using loco::SimulatedCluster;
using loco::Transport;
using loco::test::config;

TEST_CASE("store buffering: without a fence both may read 0, with one never") {
  // LOCO paper, Fig. 8a: x86-TSO within a node.
  int both_zero = 0;
  int both_zero_fenced = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const bool fence : {false, true}) {
      SimulatedCluster cluster(config(1, Schedule::random, seed));
      loco::Region memory;
      std::uint64_t read[2] = {9, 9};
      loco::Flag ready = 0;
      const auto side = [&](int me) {
        return [&, me](Transport& node) {
          if (me == 0) {
            memory = node.allocate(128);
            ready = node.make_flag(1);
          }
          while (memory.size == 0) node.compute(1);
          node.store(memory.base + (me == 0 ? 0U : 64U), 1);
          if (fence) node.memory_fence();
          read[me] = node.load(memory.base + (me == 0 ? 64U : 0U));
        };
      };
      cluster.spawn(0, "left", side(0));
      cluster.spawn(0, "right", side(1));
      cluster.run();
      (fence ? both_zero_fenced : both_zero) += read[0] == 0 && read[1] == 0 ? 1 : 0;
    }
  }
  CHECK(both_zero > 0);
  CHECK(both_zero_fenced == 0);
}

TEST_CASE("a local compare-and-swap is atomic among the node's threads") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimulatedCluster cluster(config(1, Schedule::random, seed));
    const loco::Region memory = cluster.node(0).allocate(64);
    const auto increments = [&](Transport& node) {
      for (int i = 0; i < 5; ++i) {
        std::uint64_t old = node.load(memory.base);
        while (true) {
          const std::uint64_t found = node.compare_swap_local(memory.base, old, old + 1);
          if (found == old) break;
          old = found;
        }
      }
    };
    for (int t = 0; t < 3; ++t) cluster.spawn(0, "t" + std::to_string(t), increments);
    cluster.run();
    CHECK(cluster.system().word(0, memory.base) == 15);
  }
}

TEST_CASE("CPUs have no access to the NIC's memory, NICs do") {
  SimulatedCluster cluster(config(1));
  Transport& owner = cluster.node(0);
  const loco::Region before = owner.allocate(64);
  const loco::Region device = owner.allocate_on_device(128);
  const loco::Region between = owner.allocate(64);
  const loco::Region second = owner.allocate_on_device(64);
  const loco::Region behind = owner.allocate(64);
  cluster.spawn(0, "cpu", [&](Transport& node) {
    for (const loco::Region& host : {before, between, behind}) {
      node.store(host.base, 7);
      node.memory_fence();
      CHECK(node.load(host.base) == 7);
    }
    for (const loco::Address address : {device.base, device.base + 120, second.base, second.base + 56}) {
      CHECK_THROWS_AS(node.load(address), loco::ownership_error);
      CHECK_THROWS_AS(node.store(address, 1), loco::ownership_error);
      CHECK_THROWS_AS(node.compare_swap_local(address, 0, 1), loco::ownership_error);
    }
    CHECK_THROWS_WITH(node.load(device.base), loco::test::contains_text("in the NIC's memory"));
    node.put(between.base, second, 0, 8, {});
    node.get(behind.base + 8, second, 0, 8, {});
    while (node.load(behind.base + 8) != 7) node.pause();
  });
  cluster.run();
  CHECK(cluster.system().word(0, second.base) == 7);
}
