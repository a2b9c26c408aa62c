// atomic_var and what stands on it, the shared queue; temporary buffers and fences.
#include "loco_sim/loco/objects/shared_queue.hpp"

#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/workloads/power_controller.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/loco_sim/loco/both.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

void add_everywhere(loco::Transport& node) {
  loco::manager mgr(node);
  loco::atomic_var<std::int64_t> sum(mgr, "sum", 1, -5);
  loco::atomic_var<std::uint64_t> top(mgr, "top");
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (int i = 0; i < 3; ++i) sum.fetch_add(node.my_node() == 0 ? -1 : 2);
  std::uint64_t expected = top.load();
  while (expected < node.my_node() && !top.compare_exchange(expected, node.my_node())) {
  }
  bar.waiting();
  const std::int64_t others = node.num_nodes() - 1;
  require(sum.load() == -5 - 3 + 6 * others, "no addition is lost, on the home node neither");
  require(top.load() == node.num_nodes() - 1, "the greatest of all");
  bar.waiting();
  if (node.my_node() == 0) {
    sum.store(40);
    require(sum.exchange(7) == 40, "what was there before");
  }
}

struct Element {
  std::uint64_t producer;
  std::uint64_t number;
  std::uint64_t again;  ///< producer + number, to see a torn one
};

/// Every node pushes `count` elements and pops as many; `seen` collects what each popped.
struct Traffic {
  std::uint64_t count = 4;
  std::uint64_t capacity = 3;
  bool blocking = true;
  std::vector<std::vector<Element>>* seen = nullptr;

  void operator()(loco::Transport& node) const {
    loco::manager mgr(node);
    loco::shared_queue<Element> queue(mgr, "queue", capacity);
    mgr.wait_for_ready();
    std::vector<Element>& mine = (*seen).at(node.my_node());
    loco::workloads::run_team(node, 2, [&](std::uint32_t thread) {
      for (std::uint64_t i = 0; i < count; ++i) {
        if (thread == 0)
          push(queue, {node.my_node(), i, node.my_node() + i});
        else
          mine.push_back(pop(queue));
      }
    });
  }

  void push(loco::shared_queue<Element>& queue, const Element& e) const {
    if (blocking) return queue.push(e);
    while (!queue.try_push(e)) {
    }
  }
  [[nodiscard]] Element pop(loco::shared_queue<Element>& queue) const {
    if (blocking) return queue.pop();
    while (true)
      if (const auto e = queue.try_pop()) return *e;
  }
};

/// All elements once; whoever pops two of one producer pops them in order.
void check_traffic(const std::vector<std::vector<Element>>& seen, std::uint64_t count) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> times;
  for (const auto& popped : seen) {
    std::map<std::uint64_t, std::uint64_t> next;
    for (const Element& e : popped) {
      REQUIRE(e.again == e.producer + e.number);
      REQUIRE(e.number >= next[e.producer]);
      next[e.producer] = e.number + 1;
      ++times[{e.producer, e.number}];
    }
  }
  REQUIRE(times.size() == seen.size() * count);
  for (const auto& [element, n] : times) REQUIRE(n == 1);
}

void traffic_on_schedules(std::uint32_t nodes, bool blocking, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds / loco::test::kShare; ++seed) {
    std::vector<std::vector<Element>> seen(nodes);
    const auto schedule = seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
    const auto verdict = on_simulator(nodes, Traffic{.blocking = blocking, .seen = &seen}, schedule, seed);
    INFO("seed " << seed << "\n" << verdict.to_text());
    REQUIRE(verdict.consistent());
    check_traffic(seen, 4);
  }
}

}  // namespace

namespace {

void small_integers(loco::Transport& node) {
  loco::manager mgr(node);
  loco::atomic_var<std::uint8_t> byte(mgr, "byte", 0, 250);
  loco::atomic_var<std::int32_t> number(mgr, "number", 1, -7);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (int i = 0; i < 4; ++i) {
    byte.fetch_add(1);
    number.fetch_add(node.my_node() == 0 ? -2 : 3);
  }
  bar.waiting();
  const auto added = static_cast<std::int32_t>(4 * (node.num_nodes() - 1));
  require(byte.load() == static_cast<std::uint8_t>(250 + 4 * node.num_nodes()), "a byte wraps around");
  require(number.load() == -7 - 8 + 3 * added, "a sum through 0");
  bar.waiting();
  if (node.my_node() != 0) return;
  std::int32_t expected = number.load();
  require(number.compare_exchange(expected, 5), "what has carried into the bytes behind a value is no part of it");
  require(!number.compare_exchange(expected, 6) && expected == 5, "another value");
  require(number.exchange(-1) == 5 && number.fetch_add(2) == -1 && number.load() == 1, "and on from there");
}

}  // namespace

TEST_CASE("atomic variables of small integers are carried in a word") {
  on_threads(3, small_integers);
  on_many_schedules(3, small_integers, 12);
}

namespace {

/// Node 0 closes the queue behind its own last element, the others push until then; all take what there is.
void until_closed(loco::Transport& node, std::uint64_t& pushed, std::uint64_t& popped) {
  loco::manager mgr(node);
  loco::shared_queue<std::uint64_t> queue(mgr, "queue", 3, 1);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  loco::workloads::run_team(node, 2, [&](std::uint32_t thread) {
    if (thread == 1) {
      while (const auto element = queue.next()) popped += *element;
      return;
    }
    try {
      for (std::uint64_t i = 0; node.my_node() != 0 || i < 3; ++i) {
        queue.push(100 + i);
        pushed += 100 + i;
      }
      queue.close();
      queue.close();
      queue.push(1);
    } catch (const loco::queue_closed& error) {
      require(std::string(error.what()).ends_with("push: queue 'queue' is closed"), error.what());
    }
    require(!queue.try_push(1) && queue.closed(), "closed for good");
  });
  bar.waiting();
  require(!queue.try_pop(), "nothing is left");
  bool refused = false;
  try {
    (void)queue.pop();
  } catch (const loco::queue_closed&) {
    refused = true;
  }
  require(refused, "nothing will come");
  bar.waiting();
}

}  // namespace

TEST_CASE("a queue that is closed gives what has been pushed, to somebody, and ends those who wait") {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::uint64_t pushed = 0, popped = 0;
    const auto program = [&](loco::Transport& node) { until_closed(node, pushed, popped); };
    const auto schedule = seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
    INFO("seed " << seed);
    REQUIRE(on_simulator(3, program, schedule, seed).consistent());
    CHECK(pushed >= 3 * 100 + 3);
    CHECK(popped == pushed);
  }
}

TEST_CASE("atomic variables lose nothing") {
  on_threads(4, add_everywhere);
  on_many_schedules(3, add_everywhere, 60);
}

TEST_CASE("a shared queue hands every element to one thread, in order") {
  for (const bool blocking : {false, true}) {
    for (const WordOrder words : {WordOrder::whole, WordOrder::last_first}) {
      std::vector<std::vector<Element>> seen(3);
      on_threads(3, Traffic{.count = 300, .blocking = blocking, .seen = &seen}, words);
      check_traffic(seen, 300);
    }
    traffic_on_schedules(2, blocking, 40);
    traffic_on_schedules(3, blocking, 20);
  }
}

TEST_CASE("a shared queue hands every element to one thread, under 10,000 schedules", "[.long]") {
  traffic_on_schedules(2, true, 5000);
  traffic_on_schedules(2, false, 5000);
}

TEST_CASE("a shared queue is neither full nor empty because others push and pop") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<int> queue(mgr, "queue", 6);
    loco::barrier bar(mgr, "bar", {.threads_per_node = 2});
    mgr.wait_for_ready();
    loco::workloads::run_team(node, 2, [&](std::uint32_t) {
      require(queue.try_push(1), "there is room for all");
      bar.waiting();
      require(queue.try_pop().has_value(), "there is one for each");
    });
  };
  on_threads(3, program);
  on_many_schedules(3, program, 40);
}

TEST_CASE("a shared queue has done with its temporary buffer when a call returns") {
  // A pop gives its slot back by a put from the buffer. The NIC may not read it when it is somebody else's.
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<int> queue(mgr, "queue", 1);
    mgr.wait_for_ready();
    for (int i = 1; i <= 3; ++i) {
      if (node.my_node() == 0) queue.push(i);
      if (node.my_node() == 0) continue;
      require(queue.pop() == i, "in order");
      loco::mem_ref buffer(mgr, 16);
      buffer.store(~std::uint64_t{0});
      buffer.store(~std::uint64_t{0}, 8);
    }
  };
  on_many_schedules(2, program, 60);
}

TEST_CASE("a shared queue is full, and empty") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<int> queue(mgr, "queue", 2, 1);
    mgr.wait_for_ready();
    if (node.my_node() == 1) return;
    require(!queue.try_pop(), "nothing in it");
    require(queue.try_push(1) && queue.try_push(2), "room for two");
    require(!queue.try_push(3), "not for three");
    require(queue.try_pop() == 1 && queue.try_push(3) && queue.pop() == 2 && queue.try_pop() == 3, "in order");
    require(!queue.try_pop(), "nothing in it again");
  };
  on_threads(2, program);
  on_many_schedules(2, program, 20);
}

namespace {
/// Each kind of object as a part of another channel.
class everything : public loco::channel {
 public:
  explicit everything(loco::manager& mgr)
      : channel(mgr, "all", loco::expect_num{mgr.num_nodes() - 1}),
        ring(*this, "ring", 0),
        lock(*this, "lock"),
        locks(*this, "locks", 7),
        sum(*this, "sum", 1, 3),
        queue(*this, "queue", 2),
        hashed(*this, "hashed"),
        guarded(*this, "guarded", 0) {
    join();
  }

  loco::ring_buffer ring;
  loco::mutex lock;
  loco::mutex_array locks;
  loco::atomic_var<std::uint64_t> sum;
  loco::shared_queue<std::uint64_t> queue;
  loco::hashed_var<Element> hashed;
  loco::guarded_var<Element> guarded;
};
}  // namespace

TEST_CASE("every object can be a part of another channel") {
  on_threads(2, [](loco::Transport& node) {
    loco::manager mgr(node);
    everything all(mgr);
    mgr.wait_for_ready();
    require(all.queue.full_name() == "all/queue", "names of sub-channels");
    if (node.my_node() == 0) all.ring.send({});
    if (node.my_node() == 1) require(all.ring.receive().empty(), "the message");
    const std::lock_guard guard(all.lock);
    all.locks.lock(6);
    if (all.sum.fetch_add(1) == 3) all.queue.push(8);
    all.locks.unlock(6);
  });
}

TEST_CASE("nodes may stay away from an object") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    if (node.my_node() == 1) return mgr.wait_for_ready();
    const loco::expect_num one{1};
    loco::ring_buffer ring(mgr, "ring", 0, {.readers = {2}});
    loco::mutex lock(mgr, "lock", 2, {.peers = one});
    loco::atomic_var<std::uint64_t> sum(mgr, "sum", 2, 3, one);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 2, 0, one);
    loco::hashed_var<Element> hashed(mgr, "hashed", one);
    loco::guarded_var<Element> guarded(mgr, "guarded", 0, {.peers = one});
    mgr.wait_for_ready();
    {
      const std::lock_guard guard(lock);
      sum.fetch_add(2);
    }
    if (node.my_node() == 0) {
      loco::ack_key key(mgr);
      hashed.store({1, 2, 3});
      hashed.push_broadcast(key);
      key.wait();
      guarded.store({4, 5, 9});
      guarded.push_broadcast();
      queue.push(6);
      ring.send({});
    } else {
      require(ring.receive().empty(), "the message");
      require(queue.pop() == 6, "the element");
      require(hashed.try_load()->again == 3 && guarded.try_load()->again == 9, "came before the message");
    }
  };
  on_threads(3, program);
  on_many_schedules(3, program, 40);
}

TEST_CASE("temporary buffers come from a thread's pool and go back to it") {
  on_threads(1, [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::Address first = 0;
    {
      loco::mem_ref small(mgr, 8);
      loco::mem_ref other(mgr, 64);
      loco::mem_ref large(mgr, 1000);
      first = small.address();
      require(other.address() >= first + 64 || other.address() + 64 <= first, "blocks do not overlap");
      require(large.size() == 1000, "the size that was asked for");
      large.store(9, 992);
      require(large.load(992) == 9, "all of it is memory");
      loco::mem_ref moved = std::move(small);
      require(moved.address() == first, "moving keeps the block");
    }
    loco::mem_ref again(mgr, 16);
    loco::mem_ref another(mgr, 16);
    require(again.address() == first || another.address() == first, "a block serves again");
    loco::workloads::run_team(node, 2, [&](std::uint32_t thread) {
      if (thread == 0) return;
      loco::mem_ref mine(mgr, 16);
      require(mine.address() != again.address() && mine.address() != another.address(), "a pool a thread");
    });
  });
}

TEST_CASE("a put and a get go from and to temporary buffers of any size without a copy") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_bytes there(mgr, "there", 200);
    mgr.wait_for_ready();
    if (node.my_node() == 1) return;
    loco::mem_ref out(mgr, 200);
    loco::mem_ref in(mgr, 200);
    for (std::uint64_t i = 0; i < 200; i += 8) out.store(i + 1, i);
    loco::ack_key key(mgr);
    mgr.put(out.address(), there.copy(1), 0, 200, &key);
    mgr.get(in.address(), there.copy(1), 0, 200, &key);
    key.wait();
    for (std::uint64_t i = 0; i < 200; i += 8) require(in.load(i) == i + 1, "what was put is got");
  };
  on_threads(2, program);
  on_many_schedules(2, program, 20);
}

TEST_CASE("a write fence covers the nodes that were written to, and those only") {
  on_threads(3, [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (node.my_node() != 0) return;
    using Nodes = std::vector<loco::NodeId>;
    require(mgr.unplaced().empty(), "nothing written yet");
    loco::ack_key key(mgr);
    v.pull(1, key);
    key.wait();
    require(mgr.unplaced().empty(), "a get writes nothing there");
    v.push(2);
    v.push(1);
    require(mgr.unplaced() == Nodes{1, 2}, "two nodes");
    loco::write_fence(mgr, 1);
    require(mgr.unplaced().empty(), "the one that need not be is fenced beside the other");
    v.push(1);
    loco::write_fence(mgr, 1);
    require(mgr.unplaced() == Nodes{1}, "but not alone");
    loco::global_fence(mgr, 1);
    require(mgr.unplaced().empty(), "one node");
  });
}

namespace {
/// Node 0 pushes a value to node 1, fences `fenced`, then tells node 2, which gets the value from node 1. How many of
/// the runs found an old one?
int stale_values(std::vector<loco::NodeId> fenced, std::uint64_t seeds) {
  int stale = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::uint64_t seen = 0;
    const auto verdict = on_simulator(
        3,
        [&](loco::Transport& node) {
          loco::manager mgr(node);
          loco::var<std::uint64_t> value(mgr, "value");
          loco::var<std::uint64_t> told(mgr, "told");
          mgr.wait_for_ready();
          if (node.my_node() == 0) {
            value.store(7);
            value.push(1);
            loco::global_fence(mgr, fenced);
            told.store(1);
            told.push(2);
          }
          if (node.my_node() != 2) return;
          while (told.load() == 0) node.pause();
          loco::ack_key key(mgr);
          value.pull(1, key);
          key.wait();
          seen = value.load();
        },
        loco::Schedule::adversarial, seed);
    REQUIRE(verdict.consistent());
    stale += seen == 7 ? 0 : 1;
  }
  return stale;
}
}  // namespace

TEST_CASE("a global fence covers the peers that it names, one, some or all, and no other ones") {
  constexpr std::uint64_t kSeeds = 150;
  CHECK(stale_values({1}, kSeeds) == 0);
  CHECK(stale_values({0, 1}, kSeeds) == 0);
  CHECK(stale_values({0, 1, 2}, kSeeds) == 0);
  CHECK(stale_values({2}, kSeeds) > 0);
  CHECK(stale_values({}, kSeeds) > 0);
}

TEST_CASE("a power controller carries each converter's newest duty cycle and voltage, and says who may write") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::power_controller power(mgr, "power");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    require(power.converters() == 2, "all nodes but the controller");
    for (int turn = 1; turn <= 3; ++turn) {
      if (node.my_node() == 0)
        for (std::uint32_t c = 0; c < 2; ++c) power.regulate(c, 0.25 * turn + c);
      else
        power.report(node.my_node() - 1, 100.0 * turn + node.my_node());
    }
    bar.waiting();
    if (node.my_node() == 0)
      require(power.voltage(0) == 301 && power.voltage(1) == 302 && power.output() == 603, "the newest voltages");
    else
      require(power.duty(node.my_node() - 1) == 0.75 + node.my_node() - 1, "the newest duty cycle");
  };
  on_threads(3, program);
  on_many_schedules(3, program, 20);
  const auto wrong = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::power_controller power(mgr, "power");
    mgr.wait_for_ready();
    if (node.my_node() == 1) power.regulate(0, 1);
  };
  CHECK_THROWS_WITH(on_threads(2, wrong), contains_text("'power/duty/ov0' is owned by node 0: node 1 may not write"));
}

TEST_CASE("who waits at a queue that stays empty, or full, is named by the limit that ends the run") {
  for (const bool push : {false, true})
    for (const bool by_events : {false, true}) {
      constexpr loco::NodeId waits = 1;
      loco::ClusterConfig config;
      config.record = true;
      config.nodes = 2;
      config.events_max = by_events ? 200'000 : 1'000'000'000;
      loco::sim::Budget budget({.memory = by_events ? 0 : 64ULL << 20U});
      config.budget = &budget;
      loco::SimulatedCluster cluster(config);
      const auto program = [&](loco::Transport& node) {
        loco::manager mgr(node);
        loco::shared_queue<std::uint64_t> queue(mgr, "jobs", 4);
        mgr.wait_for_ready();
        if (node.my_node() != waits) return;
        for (std::uint64_t i = 0; i < 5; ++i) {
          if (push)
            queue.push(i);
          else
            static_cast<void>(queue.pop());
        }
      };
      cluster.spawn_everywhere(program);
      CHECK_THROWS_WITH(cluster.run(), loco::test::contains_text(push ? "waits until queue 'jobs' has room"
                                                                      : "waits until queue 'jobs' has an element"));
    }
}
