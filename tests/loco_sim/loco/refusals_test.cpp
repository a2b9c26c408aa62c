// Shows: what LOCO refuses it says, on both nodes where two disagree, and a refused call leaves nothing behind: neither
// in the object nor in the trace. Fences read the own node only where there is something to wait for.
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/workloads/power_controller.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/loco/both.hpp"

using loco::manager;
using loco::NodeId;
using loco::test::contains_text;
using loco::test::on_simulator;
using loco::test::require;

namespace {

/// What each of two nodes is told about an object that node n makes as make(mgr, n).
template <typename Make>
std::array<std::string, 2> told(Make make) {
  loco::test::ThreadCluster cluster(2);
  std::array<std::string, 2> text;
  cluster.run([&](loco::Transport& transport) {
    manager mgr(transport);
    try {
      const auto object = make(mgr, mgr.my_node());
      mgr.wait_for_ready();
    } catch (const loco::setup_error& error) {
      text[mgr.my_node()] = error.what();
    }
  });
  return text;
}

template <typename Error>
bool refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("nodes that disagree about a home, an owner or a number are told so, both of them") {
  using std::make_unique;
  const auto guarded =
      told([](manager& mgr, NodeId n) { return make_unique<loco::guarded_var<std::array<long, 3>>>(mgr, "g", n); });
  const auto atomic =
      told([](manager& mgr, NodeId n) { return make_unique<loco::atomic_var<std::uint64_t>>(mgr, "a", n); });
  const auto initial =
      told([](manager& mgr, NodeId n) { return make_unique<loco::atomic_var<std::uint64_t>>(mgr, "a", 0, n); });
  const auto lock = told([](manager& mgr, NodeId n) { return make_unique<loco::mutex>(mgr, "m", n); });
  const auto count = told([](manager& mgr, NodeId n) { return make_unique<loco::mutex_array>(mgr, "l", 3 + n); });
  const auto queue =
      told([](manager& mgr, NodeId n) { return make_unique<loco::shared_queue<std::uint64_t>>(mgr, "q", 4, n); });
  for (const NodeId n : {0U, 1U}) {
    CHECK_THAT(guarded[n], contains_text("'owned by node 0'") && contains_text("'owned by node 1'"));
    CHECK_THAT(atomic[n], contains_text("home is node 0") && contains_text("home is node 1"));
    CHECK_THAT(initial[n], contains_text("initially 0") && contains_text("initially 1"));
    CHECK_THAT(lock[n], contains_text("home is node 0") && contains_text("home is node 1"));
    CHECK_THAT(count[n], contains_text("3 lock(s)") && contains_text("4 lock(s)"));
    CHECK_THAT(queue[n], contains_text("home is node 0") && contains_text("home is node 1"));
  }
}

TEST_CASE("calls that are refused are refused each time, and the checkers do not count them") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::barrier bar(mgr, "bar");
    loco::mutex_array locks(mgr, "locks", 2);
    loco::ring_buffer ring(mgr, "ring", 0);
    mgr.wait_for_ready();
    bar.waiting();
    if (node.my_node() == 0) ring.send({});
    const loco::Flag done = node.make_flag();
    node.spawn("intruder", [&] {
      for (int i = 0; i < 2; ++i) {
        require(refused<loco::ownership_error>([&] { bar.waiting(); }), "a thread without a seat may not wait");
        require(refused<loco::ownership_error>([&] { locks.unlock(1); }), "nor unlock what it does not hold");
        require(refused<loco::ownership_error>([&] { locks.unlock(7); }), "nor what does not exist");
        if (node.my_node() == 0)
          require(refused<loco::ownership_error>([&] { ring.send({}); }), "the first thread that sends is the writer");
      }
      node.flag_fetch_add(done, 1);
    });
    while (node.flag_load(done) == 0) node.pause();
    if (node.my_node() == 1) require(ring.receive().empty(), "one message");
    bar.waiting();
  };
  loco::test::on_threads(2, program);
  loco::test::on_many_schedules(2, program, 20);
}

TEST_CASE("a ring without readers has been received by all, and no call says so") {
  std::string told;
  const auto verdict = on_simulator(
      1,
      [&told](loco::Transport& node) {
        manager mgr(node);
        loco::ring_buffer ring(mgr, "ring", 0);
        mgr.wait_for_ready();
        ring.send({});
        require(ring.received_by_all(), "nobody reads");
        try {
          static_cast<void>(ring.try_receive());
        } catch (const loco::ownership_error& error) {
          told = error.what();
        }
      },
      loco::Schedule::timed, 1, true);
  CHECK(verdict.consistent());
  CHECK(told == "ring buffer 'ring': node 0 is not declared as a reader, as is none");
}

TEST_CASE("an object is ready when all that it is made of is, and a push before that is told") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::barrier bar(mgr, "bar");
    loco::ring_buffer ring(mgr, "ring", 0);
    loco::var<std::uint64_t> v(mgr, "v");
    if (!v.ready()) require(refused<loco::setup_error>([&] { v.push_broadcast(); }) || v.ready(), "not ready");
    ring.wait_for_ready();
    require(ring.ready(), "waited for");
    bar.wait_for_ready();
    mgr.wait_for_ready();
    if (node.my_node() == 0) ring.send({});
    if (node.my_node() != 0) static_cast<void>(ring.receive());
    v.store(1);
    v.push_broadcast();
    loco::global_fence(mgr);
    bar.waiting();
    require(v.load() == 1, "pushed");
  };
  loco::test::on_threads(3, program);
  loco::test::on_many_schedules(3, program, 20);
}

TEST_CASE("who uses an object before it is ready is told what to wait for") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::atomic_var<std::uint64_t> count(mgr, "count", 1 - node.my_node());
    count.fetch_add(1);
  };
  CHECK_THROWS_WITH(on_simulator(2, program, loco::Schedule::timed, 1),
                    contains_text("region 'count.word'") && contains_text("wait_for_ready"));
}

TEST_CASE("barriers may be sub-channels") {
  struct pair : loco::channel {
    pair(manager& mgr, std::string_view name) : channel(mgr, name, loco::expect_num{1}), bar(*this, "bar") { join(); }
    loco::barrier bar;
  };
  loco::test::on_threads(2, [](loco::Transport& node) {
    manager mgr(node);
    pair both(mgr, "pair");
    mgr.wait_for_ready();
    require(both.bar.full_name() == "pair/bar", "named after its parent");
    for (int i = 0; i < 10; ++i) both.bar.waiting();
  });
}

TEST_CASE("a fence reads the own node only after operations on it") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    require(!mgr.used_loopback(), "nothing yet");
    v.push(node.my_node());
    require(mgr.used_loopback(), "a put to the own node");
    loco::global_fence(mgr);
    require(!mgr.used_loopback(), "fenced: the fence's own read does not count");
  };
  static_cast<void>(on_simulator(2, program, loco::Schedule::timed, 1));
}

TEST_CASE("a fence towards the own node has the thread's stores in memory, though there is nothing to read") {
  // Store buffering (x86-TSO) with the fence of sv in each thread: aCW is before aGF (Fig. 10), both may not read 0.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::array<std::uint64_t, 2> seen{7, 7};
    const auto program = [&seen](loco::Transport& node) {
      manager mgr(node);
      loco::var<std::uint64_t> x(mgr, "x");
      loco::var<std::uint64_t> y(mgr, "y");
      mgr.wait_for_ready();
      const std::array<loco::var<std::uint64_t>*, 2> words{&x, &y};
      loco::workloads::run_team(node, 2, [&](std::uint32_t thread) {
        words[thread]->store(1);
        loco::global_fence(mgr, node.my_node());
        seen[thread] = words[1 - thread]->load();
      });
    };
    const auto verdict = on_simulator(1, program, loco::Schedule::random, seed, seed % 10 == 0);
    INFO("seed " << seed << "\n" << verdict.to_text());
    CHECK(seen[0] + seen[1] > 0);
    CHECK(verdict.consistent());
  }
}

TEST_CASE("puts and gets are of whole words inside of their region, and sizes of others are rounded up") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    loco::shared_bytes five(mgr, "five", 5);
    mgr.wait_for_ready();
    const NodeId other = 1 - node.my_node();
    const loco::Region there = v.copy(other);
    require(refused<loco::size_error>([&] { mgr.put(v.address(), there, 0, 16); }), "beyond its end");
    require(refused<loco::size_error>([&] { mgr.put(v.address(), there, 0, 5); }), "part of a word");
    require(refused<loco::size_error>([&] { mgr.get(v.address(), there, 4, 8); }), "unaligned");
    five.push(other);
    loco::global_fence(mgr);
  };
  loco::test::on_threads(2, program);
  CHECK(on_simulator(2, program, loco::Schedule::timed, 1).consistent());
}

TEST_CASE("a failed operation that nobody waits for surfaces at the next global fence") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (mgr.my_node() == 1) return;
    loco::Region wrong = v.copy(1);
    wrong.size = std::uint64_t{1} << 41U;  // so that it is the NIC that finds out
    mgr.put(v.address(), wrong, std::uint64_t{1} << 40U, 8);
    loco::global_fence(mgr);
  };
  CHECK_THROWS_AS(loco::test::on_threads(2, program), loco::operation_error);
  // It is the put that is told, not the fence's reads, which fail behind it on the same queue pair.
  CHECK_THROWS_WITH(on_simulator(2, program, loco::Schedule::timed, 1),
                    contains_text("put") && contains_text("remote access error"));
}

TEST_CASE("a key-value store loads no value 0, and no key twice") {
  const auto loads = [](std::uint64_t second_key, std::uint64_t value) {
    loco::test::ThreadCluster cluster(1);
    cluster.run([&](loco::Transport& node) {
      manager mgr(node);
      loco::kvstore store(mgr, "kv");
      mgr.wait_for_ready();
      store.load(2, [&](std::uint64_t i) { return loco::kvstore::Entry{i == 0 ? 7 : second_key, value}; });
    });
  };
  CHECK_NOTHROW(loads(8, 5));
  CHECK_THROWS_AS(loads(8, 0), std::invalid_argument);
  CHECK_THROWS_AS(loads(7, 5), std::invalid_argument);
}

TEST_CASE("a program of several threads that throws what is no std::exception is told as such") {
  loco::ClusterConfig config;
  config.nodes = 1;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](loco::Transport& node) {
    manager mgr(node);
    loco::mutex lock(mgr, "lock");
    mgr.wait_for_ready();
    loco::workloads::run_team(node, 4, [&](std::uint32_t t) {
      for (int i = 0; i < 20; ++i) {
        const std::lock_guard guard(lock);
        if (t == 0 && i == 3) throw 42;
      }
    });
  });
  CHECK_THROWS_WITH(cluster.run(), contains_text("an exception that is not a std::exception"));
}

TEST_CASE("a node has one manager at a time") {
  const auto program = [](loco::Transport& node) {
    { const manager first(node); }
    manager mgr(node);
    std::string text;
    try {
      const manager second(node);
    } catch (const loco::setup_error& error) {
      text = error.what();
    }
    require(text.find("has a manager already") != std::string::npos, text.c_str());
    mgr.wait_for_ready();
  };
  loco::test::on_threads(1, program);
  on_simulator(1, program, loco::Schedule::timed, 1);
}

TEST_CASE("an element that an array does not have is named") {
  loco::test::on_threads(2, [](loco::Transport& node) {
    manager mgr(node);
    loco::power_controller power(mgr, "dcdc");
    mgr.wait_for_ready();
    std::string text;
    try {
      power.regulate(1, 0.5);
    } catch (const std::out_of_range& error) {
      text = error.what();
    }
    require(text.find("'dcdc/duty': node") == 0 && text.find("has no element 1, but 1 element(s)") != std::string::npos,
            text.c_str());
  });
}

TEST_CASE("a mixed-size variable is pushed to all only when all are there") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::ack_key key(mgr);
    if (mgr.my_node() == 0) {
      loco::hashed_var<std::array<std::uint64_t, 3>> hashed(mgr, "h");
      require(refused<loco::setup_error>([&] { hashed.push_broadcast(key); }), "before it is ready");
      mgr.wait_for_ready();
      hashed.push_broadcast(key);
      key.wait();
    } else {
      loco::hashed_var<std::array<std::uint64_t, 3>> hashed(mgr, "h");
      mgr.wait_for_ready();
    }
  };
  loco::test::on_threads(2, program);
  CHECK(on_simulator(2, program, loco::Schedule::timed, 1).consistent());
}

TEST_CASE("a guarded variable that nobody has written is whole, also where its owner has pushed it") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::guarded_var<std::array<std::uint64_t, 3>> guarded(mgr, "g", 0);
    loco::barrier done(mgr, "done");
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) guarded.push_broadcast();
    done.waiting();
    require(guarded.try_load() == std::array<std::uint64_t, 3>{}, "zeros");
  };
  loco::test::on_threads(2, program);
  CHECK(on_simulator(2, program, loco::Schedule::timed, 1).consistent());
}

TEST_CASE("a path MTU that verbs do not have is refused by name") {
  loco::ClusterConfig config;
  config.path_mtu = {0, 100};  // least is 256
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> word(mgr, "word");
    mgr.wait_for_ready();
    word.push_broadcast();
  });
  std::string text;
  try {
    cluster.run();
  } catch (const std::exception& error) {
    text = error.what();
  }
  CHECK_THAT(text, contains_text("a path MTU of 100 bytes: expected 256, 512, 1024, 2048 or 4096"));
}
