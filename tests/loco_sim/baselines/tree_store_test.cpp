// The B+ tree as a store: it grows from one leaf over several levels while all nodes insert, nothing is lost, whether
// or not nodes remember where leaves are; its histories are linearisable; without its fence they are not.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "loco_sim/baselines/tree_operation.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"

using loco::NodeId;
using loco::SimulatedCluster;
using loco::Transport;
using loco::baselines::tree_operation;
using loco::baselines::tree_options;
using loco::baselines::tree_store;
using Kind = loco::kv_operation::Kind;
using loco::model::Library;

namespace {

loco::ClusterConfig cluster_of(std::uint32_t nodes, loco::Schedule schedule = loco::Schedule::timed,
                               std::uint64_t seed = 1) {
  static const auto profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  loco::ClusterConfig c;
  if (schedule == loco::Schedule::timed) c.profile = profile;
  c.nodes = nodes;
  c.schedule = schedule;
  c.seed = seed;
  c.record = true;
  return c;
}

std::uint64_t wait_for(Transport& node, tree_operation& operation, Kind kind, std::uint64_t key,
                       std::uint64_t value = 0) {
  operation.start(kind, key, value);
  while (!operation.poll()) node.pause();
  return operation.result();
}

std::uint64_t key_of(std::uint64_t i) {
  std::uint64_t state = i;
  return loco::sim::splitmix64(state);
}

/// The keys of a node, inserted, looked up by all, erased in part.
struct Growth {
  std::uint64_t keys_per_node = 0;
  bool index_cache = true;
  bool ascending = false;  ///< keys, not in an order of their own

  [[nodiscard]] std::uint64_t key(NodeId node, std::uint64_t i) const {
    const std::uint64_t number = 1 + node * keys_per_node + i;
    return ascending ? number : key_of(number);
  }

  /// How high the tree has become. A trace of whole leaves is long: without one, the programs' own checks are left.
  std::uint64_t height(std::uint32_t nodes, bool record = true) const {
    std::uint64_t height = 0;
    auto config = cluster_of(nodes);
    config.record = record;
    SimulatedCluster cluster(config);
    cluster.spawn_everywhere([&](Transport& node) { height = std::max(height, program(node)); });
    cluster.run();
    if (!record) return height;
    const auto verdict = loco::model::check(
        cluster.take_trace(), std::array{Library::rdmawait, Library::sv, Library::lock, Library::kvstore});
    INFO(verdict.to_text());
    CHECK(verdict.consistent());
    return height;
  }

  std::uint64_t program(Transport& node) const {
    loco::manager mgr(node);
    tree_store store(mgr, "tree", {.nodes_max = 1, .spare = 300, .index_cache = index_cache});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    store.load({{0, 5}});
    tree_operation operation(store, 1);
    const NodeId mine = node.my_node();
    bar.waiting();
    for (std::uint64_t i = 0; i < keys_per_node; ++i) {
      REQUIRE(wait_for(node, operation, Kind::insert, key(mine, i), 100 + i) == 1);
      if (i % 10 == 0) REQUIRE(wait_for(node, operation, Kind::insert, key(mine, i), 7) == 0);
    }
    bar.waiting();
    for (NodeId other = 0; other < node.num_nodes(); ++other)
      for (std::uint64_t i = 0; i < keys_per_node; ++i)
        REQUIRE(wait_for(node, operation, Kind::lookup, key(other, i)) == 100 + i);
    REQUIRE(wait_for(node, operation, Kind::lookup, 0) == 5);
    REQUIRE(wait_for(node, operation, Kind::lookup, loco::baselines::kKeyMax) == 0);
    bar.waiting();
    for (std::uint64_t i = 0; i < keys_per_node; i += 2) {
      REQUIRE(wait_for(node, operation, Kind::erase, key(mine, i)) == 1);
      REQUIRE(wait_for(node, operation, Kind::update, key(mine, i), 9) == 0);
      if (i + 1 < keys_per_node) REQUIRE(wait_for(node, operation, Kind::update, key(mine, i + 1), 200 + i) == 1);
    }
    bar.waiting();
    const NodeId next = (mine + 1) % node.num_nodes();
    for (std::uint64_t i = 0; i < keys_per_node; ++i)
      REQUIRE(wait_for(node, operation, Kind::lookup, key(next, i)) == (i % 2 == 0 ? 0 : 199 + i));
    bar.waiting();
    return store.height();
  }
};

}  // namespace

TEST_CASE("a tree grows from one leaf while all nodes insert, and nothing is lost") {
  // More than 30 keys take two leaves and an inner node over them.
  CHECK(Growth{.keys_per_node = 60}.height(3) == 1);
  CHECK(Growth{.keys_per_node = 60, .index_cache = false}.height(3) == 1);
  // In ascending order halves stay half full, 15 keys a leaf: 1,000 are more leaves than the 61 of an inner node.
  CHECK(Growth{.keys_per_node = 1'000, .ascending = true}.height(1, false) == 2);
  CHECK(Growth{.keys_per_node = 600, .index_cache = false, .ascending = true}.height(2, false) == 2);
}

TEST_CASE("a loaded tree has all keys, at any size") {
  for (const std::uint64_t keys : {1U, 24U, 25U, 600U, 24U * 49U, 24U * 48U * 2U + 1U})
    for (const bool index_cache : {true, false}) {
      INFO(keys << " keys, cache " << index_cache);
      SimulatedCluster cluster(cluster_of(2));
      cluster.spawn_everywhere([&](Transport& node) {
        loco::manager mgr(node);
        tree_store store(mgr, "tree",
                         {.nodes_max = loco::baselines::tree_nodes_of(keys), .spare = 0, .index_cache = index_cache});
        loco::barrier bar(mgr, "bar");
        mgr.wait_for_ready();
        std::vector<tree_store::Entry> sorted;
        for (std::uint64_t i = 0; i < keys; ++i) sorted.emplace_back(2 * i, i + 1);
        store.load(sorted);
        tree_operation operation(store, 1);
        bar.waiting();
        for (std::uint64_t i = 0; i < keys; i += 1 + keys / 50) {
          REQUIRE(wait_for(node, operation, Kind::lookup, 2 * i) == i + 1);
          REQUIRE(wait_for(node, operation, Kind::lookup, 2 * i + 1) == 0);
        }
        bar.waiting();
      });
      cluster.run();
    }
}

namespace {

/// Two nodes with two threads each, over a few keys of one leaf: changes and lookups as they come.
bool linearisable(loco::Schedule schedule, std::uint64_t seed, bool fence) {
  auto config = cluster_of(2, schedule, seed);
  config.events_max = 5'000'000;
  SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](Transport& node) {
    loco::manager mgr(node);
    tree_store store(mgr, "tree", {.nodes_max = 1, .spare = 30, .fence = fence});
    loco::barrier bar(mgr, "bar", {.threads_per_node = 2});
    mgr.wait_for_ready();
    store.load({{10, 1}, {11, 2}});
    const auto body = [&](std::uint64_t thread) {
      loco::sim::Stream random(seed, "tree/" + std::to_string(node.my_node()) + "/" + std::to_string(thread));
      tree_operation operation(store, static_cast<std::uint32_t>(thread) + 1);
      bar.waiting();
      for (std::uint64_t i = 0; i < 8; ++i) {
        constexpr std::array kKinds = {Kind::lookup, Kind::insert, Kind::update, Kind::erase};
        const std::uint64_t value = 10 + (i * 2 + thread) * 2 + node.my_node();
        static_cast<void>(wait_for(node, operation, kKinds.at(random.below(4)), 10 + random.below(3), value));
      }
      bar.waiting();
    };
    const loco::Flag ended = node.make_flag();
    node.spawn("second", [&] {
      body(1);
      node.flag_fetch_add(ended, 1);
    });
    body(0);
    while (node.flag_load(ended) == 0) node.pause();
  });
  cluster.run();
  const auto verdict =
      loco::model::check(cluster.take_trace(), std::array{Library::rdmawait, Library::lock, Library::kvstore});
  return verdict.consistent();
}

}  // namespace

TEST_CASE("a tree's histories are linearisable under every schedule") {
  for (const auto schedule : {loco::Schedule::random, loco::Schedule::adversarial})
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      INFO("seed " << seed << ", schedule " << static_cast<int>(schedule));
      REQUIRE(linearisable(schedule, seed, true));
    }
}

TEST_CASE("without the fence between the write and the release a tree is not linearisable", "[search]") {
  // The bug that the authors of LOCO found in Sherman and mended (Section 6.2).
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 200 && !found; ++seed)
    found =
        !linearisable(loco::Schedule::random, seed, false) || !linearisable(loco::Schedule::adversarial, seed, false);
  CHECK(found);
}
