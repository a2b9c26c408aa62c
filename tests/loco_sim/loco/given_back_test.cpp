// What a life takes, it gives back: after many lives of an object or a thread there is as much of everything as after
// a few of them, by count. And what is given back is not used again too early.
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/membership/setup.hpp"
#include "loco_sim/loco/memory/departures.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/transport/small_cluster.hpp"

using loco::manager;
using loco::NodeId;
using namespace loco::test;  // NOLINT: a test

namespace {

/// Of one node, and of the machine.
struct Counts {
  std::uint64_t bytes = 0;  ///< of network memory in use: regions, blocks of pools, landings
  std::uint32_t registrations = 0;
  std::size_t endpoints = 0;
  loco::nic::System::Made made{};

  bool operator==(const Counts&) const = default;
};

std::string text(const Counts& c) {
  return std::to_string(c.bytes) + " bytes, " + std::to_string(c.registrations) + " registrations, " +
         std::to_string(c.endpoints) + " endpoints, " + std::to_string(c.made.queue_pairs) + " queue pairs, " +
         std::to_string(c.made.threads) + " threads, " + std::to_string(c.made.flags) + " flags";
}

/// One life of something on every node; its number, from 0.
using OneLife = std::function<void(manager& mgr, std::uint64_t life)>;

/// What there is on node 0 after each of so many lives, barriers between them.
std::vector<Counts> counts_after(std::uint64_t lives, const OneLife& life,
                                 loco::nic::HardwareProfile profile = round_profile()) {
  loco::ClusterConfig config = loco::test::config(3);
  config.profile = std::move(profile);
  std::vector<Counts> counts;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](loco::Transport& node) {
    manager mgr(node);
    loco::barrier between(mgr, "between");
    mgr.wait_for_ready();
    for (std::uint64_t i = 0; i < lives; ++i) {
      life(mgr, i);
      between.waiting();
      node.compute(20'000'000);  // what was on its way then is there
      between.waiting();
      if (node.my_node() == 0)
        counts.push_back({mgr.memory().bytes_in_use(), mgr.memory().registrations(), mgr.setup_service().endpoints(),
                          cluster.system().made()});
      between.waiting();
    }
  });
  cluster.run();
  return counts;
}

/// From the third one on: the first ones take what later ones take again.
void require_flat(const std::string& what, const OneLife& life) {
  const std::vector<Counts> counts = counts_after(20, life);
  for (std::size_t i = 2; i < counts.size(); ++i) {
    INFO(what << ", after life " << i << ": " << text(counts[i]) << "; after life 1: " << text(counts[1]));
    REQUIRE(counts[i] == counts[1]);
  }
}

std::uint64_t number(const loco::ring_buffer::Message& message) {
  std::uint64_t word = 0;
  std::memcpy(&word, message.data(), sizeof word);
  return word;
}

}  // namespace

TEST_CASE("each object gives back what it takes") {
  const std::map<std::string, OneLife> objects = {
      {"ring buffer",
       [](manager& mgr, std::uint64_t life) {
         loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 4096});
         mgr.wait_for_ready();
         const std::vector<std::uint64_t> text(100 + life, life + 1);
         if (mgr.my_node() == 0)
           ring.send(std::as_bytes(std::span(text)));
         else
           require(number(ring.receive()) == life + 1, "this life's message");
       }},
      {"variables",
       [](manager& mgr, std::uint64_t life) {
         loco::owned_var<std::uint64_t> v(mgr, "v", 1);
         loco::var_array<std::uint64_t> sst(mgr, "sst", std::array<NodeId, 3>{0, 1, 2});
         loco::hashed_var<std::array<std::uint64_t, 5>> h(mgr, "h");
         mgr.wait_for_ready();
         require(v.load() == 0 && sst[0].load() == 0, "a variable begins at 0");
         if (mgr.my_node() != 1) return;
         v.store(life + 1);
         v.push_broadcast();
         sst[1].store(life + 1);
         sst[1].push_broadcast();
       }},
      {"barrier",
       [](manager& mgr, std::uint64_t) {
         loco::barrier bar(mgr, "bar");
         mgr.wait_for_ready();
         bar.waiting();
       }},
      {"mutex",
       [](manager& mgr, std::uint64_t) {
         loco::mutex lock(mgr, "lock", 2);
         loco::mutex on_device(mgr, "on_device", 1, {.device_memory = true});
         mgr.wait_for_ready();
         { const std::lock_guard held(lock); }
         { const std::lock_guard held(on_device); }
       }},
      {"remote atomics",
       [](manager& mgr, std::uint64_t) {
         loco::atomic_var<std::uint64_t> sum(mgr, "sum", 1);
         loco::shared_queue<std::uint64_t> queue(mgr, "queue", 8);
         mgr.wait_for_ready();
         require(sum.fetch_add(1) < 3, "it begins at 0");
         queue.push(mgr.my_node());
         require(queue.pop() < 3, "what was pushed in this life");
       }},
      {"store",
       [](manager& mgr, std::uint64_t life) {
         loco::kvstore store(mgr, "store", {.slots_per_node = 16, .locks = 4});
         loco::barrier bar(mgr, "bar");
         mgr.wait_for_ready();
         require(!store.lookup(mgr.my_node()), "it begins empty");
         require(store.insert(mgr.my_node(), life + 1), "a new key");
         bar.waiting();
         require(store.lookup((mgr.my_node() + 1) % 3) == life + 1, "what another node has inserted");
         bar.waiting();
       }},
      {"a name used once, on a region of another size each time",
       [](manager& mgr, std::uint64_t life) {
         loco::ring_buffer ring(mgr, "ring" + std::to_string(life), 0, {.bytes = 1024 + 8 * (life % 3)});
         mgr.wait_for_ready();
         const std::uint64_t text = life;
         if (mgr.my_node() == 0)
           ring.send(std::as_bytes(std::span(&text, 1)));
         else
           require(number(ring.receive()) == life, "this life's message");
       }},
  };
  for (const auto& [what, life] : objects) require_flat(what, life);
}

TEST_CASE("threads that have ended give back their queue pairs, landings and blocks") {
  require_flat("threads", [](manager& mgr, std::uint64_t) {
    loco::Transport& node = mgr.transport();
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    const loco::owned_flag ended(node);
    for (std::uint64_t t = 0; t < 3; ++t)
      node.spawn("worker", [&, t, flag = loco::Flag{ended}] {
        const loco::mem_ref block(mgr, 256 << t);
        loco::ack_key key(mgr);
        mgr.put(block.address(), v.copy((node.my_node() + 1) % 3), 0, 8, &key);
        key.wait();
        if (t != 0) loco::global_fence(mgr);  // worker 0 ends without: the transport knows when its put is done
        node.flag_fetch_add(flag, 1);
      });
    while (node.flag_load(ended) < 3) node.pause();
  });
}

TEST_CASE("the NIC's memory goes back, too, and is zero again") {
  loco::nic::HardwareProfile little = round_profile();
  little.nic_device_memory = {4096};  // each lock of three nodes takes 40 bytes
  const auto locks = [](manager& mgr, std::uint64_t) {
    loco::mutex_array lock(mgr, "lock", 120, {.device_memory = true});
    mgr.wait_for_ready();
    for (std::uint64_t k = 0; k < 120; k += 40) {
      lock.lock(k);
      lock.unlock(k);
    }
  };
  const std::vector<Counts> counts = counts_after(12, locks, little);
  REQUIRE(counts.size() == 12);
  REQUIRE(counts.back().registrations == counts[1].registrations);
}

TEST_CASE("memory that was given back is not written to by an earlier life, under many schedules") {
  // Late cells, heads and tails of a life would be wrong messages of a later one, or memory that does not begin at 0.
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::barrier between(mgr, "between");
    mgr.wait_for_ready();
    for (std::uint64_t life = 0; life < 6; ++life) {
      {
        loco::ring_buffer ring(mgr, "ring", static_cast<NodeId>(life % 2), {.bytes = 64});
        loco::var<std::uint64_t> v(mgr, life % 2 == 0 ? "even" : "odd");
        mgr.wait_for_ready();
        const std::uint64_t text = life + 1;
        if (node.my_node() == life % 2) {
          ring.send(std::as_bytes(std::span(&text, 1)));
          ring.send(std::as_bytes(std::span(&text, 1)));
          v.store(life + 100);
          v.push_broadcast();  // nobody waits for it
        } else {
          require(number(ring.receive()) == text, "the first message of this life");
          require(number(ring.receive()) == text, "the second message of this life");
          const std::uint64_t seen = v.load();
          require(seen == 0 || seen == life + 100, "nothing of another life");
        }
      }
      between.waiting();
    }
  };
  on_threads(3, program);
  on_many_schedules(3, program, 60);
}

TEST_CASE("when memory is given back") {
  on_threads(1, [](loco::Transport& node) {
    loco::network_memory memory(node, 1024);
    const std::uint64_t before = memory.bytes_in_use();
    std::vector<std::tuple<NodeId, std::string, std::uint32_t>> told;
    loco::departures gone(node, memory, [&](NodeId to, const std::string& name, std::uint32_t life) {
      told.emplace_back(to, name, life);
    });
    const auto in_use = [&] { return memory.bytes_in_use() - before; };
    const std::array<NodeId, 1> one = {1};
    const std::array<NodeId, 2> both = {1, 2};

    // Offered to two peers' endpoints; reaches one of node 1, its life 9; a thread has not fenced nodes 1 and 2.
    loco::Region region = memory.allocate(128);
    gone.left(5, "x", 2, {{1, 9}});
    gone.destroyed(5, {{region, false}}, {{0, 1}, {0, 2}});
    gone.settle();
    require(told.empty() && in_use() == 128, "operations may be under way");
    gone.fenced(0, one);
    gone.settle();
    require(told.empty() && in_use() == 128, "towards node 2");
    gone.fenced(1, both);
    gone.settle();
    require(told.empty() && in_use() == 128, "another thread's fence says nothing");
    gone.fenced(0, both);
    gone.settle();
    require(told.size() == 1 && std::get<0>(told[0]) == 1 && std::get<2>(told[0]) == 9, "the peer is told, once");
    require(in_use() == 128 && gone.take_done().size() == 1, "peers may still write");
    gone.peer_gone(5);
    gone.settle();
    require(in_use() == 128, "the other peer");
    gone.peer_gone(5);
    require(gone.any(), "there is something to do");
    gone.settle();
    require(in_use() == 0 && !gone.any() && gone.size() == 0, "now it is free");
    require(memory.allocate(128).base == region.base, "and is used again");

    // A peer that never says so keeps it.
    region = memory.allocate(64);
    gone.left(6, "y", 1, {});
    gone.destroyed(6, {{region, false}}, {});
    gone.settle();
    require(in_use() == 192 && !gone.any(), "nothing that this node could do");

    // An answer that came after the endpoint had gone: the peer is told that it is not used.
    gone.told_too_late(7, "z", {2, 11});
    gone.settle();
    require(told.size() == 2 && std::get<2>(told[1]) == 11, "its endpoint");
  });
}

TEST_CASE("neighbours that are free become one range, of one registration") {
  loco::free_ranges free;
  free.add({.node = 0, .base = 64, .size = 64, .rkey = 1});
  free.add({.node = 0, .base = 192, .size = 64, .rkey = 1});
  free.add({.node = 0, .base = 256, .size = 64, .rkey = 2});
  CHECK_FALSE(free.take(128, 64));
  free.add({.node = 0, .base = 128, .size = 64, .rkey = 1});
  const auto all = free.take(192, 64);
  REQUIRE(all);
  CHECK(all->base == 64);
  CHECK(all->rkey == 1);
  const auto rest = free.take(8, 8);
  REQUIRE(rest);
  CHECK(rest->base == 256);
  const auto behind = free.take(32, 32);  // 264 is no multiple of 32
  REQUIRE(behind);
  CHECK(behind->base == 288);
  CHECK(free.take(24, 8)->base == 264);
  CHECK_FALSE(free.take(8, 8));
}
