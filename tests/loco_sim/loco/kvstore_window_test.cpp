// Windows of the key-value store: many operations of one thread under way, which share locks and slots.
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/both.hpp"

using namespace loco::test;  // NOLINT: a test

TEST_CASE("a window of changes under one lock, started in any order, ends: each operation hands the lock to another") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 8, .locks = 1});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) require(store.insert(1, 5), "a new key");
    bar.waiting();
    {
      loco::kv_window window(store, 4);
      for (std::uint32_t i = 4; i-- > 0;) window[i].start(loco::kv_operation::Kind::update, 1, 100 + i);
    }
    {
      loco::kv_window window(store, 3);
      std::uint32_t started = 0;
      for (std::uint32_t done = 0; done < 12;) {
        for (auto* next = window.idle(); next != nullptr && started < 12; next = window.idle(), ++started)
          next->start(loco::kv_operation::Kind::update, 1, 200 + started);
        const std::uint32_t before = done;
        window.poll([&done](std::size_t, const loco::kv_operation&) { ++done; });
        if (done == before) node.pause();
      }
    }
    bar.waiting();
    require(store.lookup(1) >= 200, "the last ones");
    bar.waiting();
  };
  CHECK(on_simulator(2, program, loco::Schedule::timed, 1).consistent());
  on_many_schedules(2, program, 40);
}

TEST_CASE("a window on a full store leaves no lock behind") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 1, .locks = 1});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) {
      loco::kv_window window(store, 3);
      for (std::uint32_t i = 0; i < 3; ++i) window[i].start(loco::kv_operation::Kind::insert, i, 1);
    }
    bar.waiting();
    if (node.my_node() == 1) require(store.insert(9, 1), "the lock is free, and so is a slot here");
    bar.waiting();
  };
  on_many_schedules(2, program, 40);
}

TEST_CASE("a window that goes out of scope waits for its operations: they leave no lock behind") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 4, .locks = 1});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    store.load(4, [](std::uint64_t i) { return std::pair(i, i + 1); });
    bar.waiting();
    if (node.my_node() == 0) {
      loco::kv_window window(store, 2);
      for (std::uint64_t key : {0U, 1U}) window.idle()->start(loco::kv_operation::Kind::update, key, 10 + key);
    }
    bar.waiting();
    if (node.my_node() == 1) require(store.update(0, 20) && store.lookup(1) == 11, "both are updated");
  };
  on_threads(2, program);
  CHECK(on_simulator(2, program, loco::Schedule::timed, 1).consistent());
}

TEST_CASE("a NIC without remote atomics is an error for each operation of a window, also behind one that ended so") {
  loco::ClusterConfig config;
  config.nodes = 1;
  config.profile.nic_atomic_cap = loco::nic::AtomicCap::none;
  config.refuse_unfit = false;  // it is made, and its first atomic fails
  std::uint32_t refused = 0;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&refused](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.locks = 1});
    mgr.wait_for_ready();
    loco::kv_window window(store, 3);
    for (std::uint32_t i = 0; i < 3; ++i) window[i].start(loco::kv_operation::Kind::insert, i, 1);
    for (std::uint32_t i = 0; i < 3; ++i) {
      try {
        while (!window[i].poll()) node.pause();
      } catch (const std::runtime_error&) {
        ++refused;
      }
    }
  });
  cluster.run();
  CHECK(refused == 3);
}
