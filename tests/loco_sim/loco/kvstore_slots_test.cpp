// A slot of the key-value store from key to key: what each step of insert, update and erase must have done before the
// next one, each with a program that sees it when it has not.
#include <atomic>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/shared_bytes.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

constexpr std::uint64_t kKey = 1, kOther = 2;
constexpr std::int64_t kMicrosecond = 1'000'000;  // picoseconds

void insert_when_free(loco::Transport& node, loco::kvstore& store, std::uint64_t key) {
  for (bool done = false; !done;) try {
      done = store.insert(key, 6);
    } catch (const loco::size_error&) {  // the slot is not free yet
      node.compute(kMicrosecond);
    }
}

/// What one thread wrote on its node the other one finds, which does not look into that one's store buffer; and which
/// has the slot next.
void from_thread_to_thread(loco::Transport& node) {
  std::atomic<int> turn = 0;
  loco::manager mgr(node);
  loco::kvstore store(mgr, "store", {.slots_per_node = 1, .locks = 64});
  mgr.wait_for_ready();
  const auto wait_for = [&](int wanted) {
    while (turn != wanted) node.compute(kMicrosecond);
  };
  loco::workloads::run_team(node, 2, [&](std::uint32_t thread) {
    if (thread == 0) {
      require(store.insert(kKey, 5), "a new key");
      turn = 1;
      wait_for(2);
      require(store.erase(kKey), "it is there");
    } else {
      wait_for(1);
      require(store.lookup(kKey) == 5, "it is found at once");
      turn = 2;
      insert_when_free(node, store, kOther);
    }
  });
  require(store.lookup(kOther) == 6, "nobody writes to the slot any more");
}

}  // namespace

TEST_CASE("a slot that has gone to another key is not read for the one before") {
  // Node 1 finds the key in its index. Its read of the slot is behind a long put on their queue pair; meanwhile the
  // slot goes to another key, which the counter says.
  const bool loaded = GENERATE(false, true);
  std::int64_t other_is_there = 0, looked = 0;
  loco::ClusterConfig config;
  config.profile = round_profile();
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 1});
    loco::shared_bytes bulk(mgr, "bulk", 1U << 22U);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (loaded) store.load(1, [](std::uint64_t i) { return std::pair(i + 1, i + 5); });
    if (!loaded && node.my_node() == 0) require(store.insert(kKey, 5), "a new key");
    bar.waiting();
    if (node.my_node() == 0) {
      node.compute(kMicrosecond);
      require(store.erase(kKey) && store.insert(kOther, 6), "the slot is free again");
      other_is_there = node.now_ps();
    } else {
      loco::ack_key key(mgr);
      bulk.push_broadcast(key);
      require(!store.lookup(kKey), "the key is not there any more");
      looked = node.now_ps();
      key.wait();
    }
    bar.waiting();
  });
  cluster.run();
  CHECK(other_is_there < looked);
}

TEST_CASE("what a kvstore call wrote on its own node is in memory when it returns") {
  on_threads(1, from_thread_to_thread);
  on_many_schedules(1, from_thread_to_thread, 100);
}

TEST_CASE("what a kvstore call wrote on its own node is in memory when it returns, under 3,000 schedules", "[.long]") {
  on_many_schedules(1, from_thread_to_thread, 3000);
}

TEST_CASE("an erase from another node is done with the slot before the slot is free") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 1});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) require(store.insert(kKey, 5), "a new key");
    bar.waiting();
    if (node.my_node() == 1) {
      require(store.erase(kKey), "it is there");
    } else {
      insert_when_free(node, store, kOther);
    }
    bar.waiting();  // whatever node 1 has put is in memory now
    require(store.lookup(kOther) == 6, "the new key is whole");
    bar.waiting();
  };
  on_threads(2, program);
  on_many_schedules(2, program, 200);
}

TEST_CASE("a new key that one node has found is there for all") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 1});
    loco::var<std::uint64_t> found(mgr, "found");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) require(store.insert(1, 5), "a new key");
    if (node.my_node() == 1) {
      while (!store.lookup(1)) node.compute(kMicrosecond);
      found.store(1);
      found.push(2);
    }
    if (node.my_node() == 2) {
      while (found.load() == 0) node.pause();
      require(store.lookup(1) == 5, "node 1 has seen it");
    }
    bar.waiting();
  };
  on_threads(3, program);
  on_many_schedules(3, program, 60);
}
