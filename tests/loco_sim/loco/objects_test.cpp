// ack keys, shared variables, fences and barriers (LOCO paper, Sections 2.2, 3.4, 4; App. C.1) on a sequentially
// consistent transport with real threads.
#include <array>
#include <atomic>
#include <barrier>
#include <deque>
#include <optional>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/completions.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/loco_sim/loco/both.hpp"

using loco::test::contains_text;
using loco::test::require;
using loco::test::ThreadCluster;

namespace {}  // namespace

TEST_CASE("a broadcast reaches every copy") {
  ThreadCluster cluster(4);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::owned_var<double> v(mgr, "v", 1);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (mgr.my_node() == 1) {
      v.store(2.5);
      loco::ack_key key(mgr);
      v.push_broadcast(key);
      key.wait();
      require(key.poll(), "a key that was waited for is complete");
    }
    bar.waiting();
    require(v.load() == 2.5, "every node has the value after the barrier");
  });
}

TEST_CASE("threads of a node may broadcast a variable for the first time together") {
  constexpr std::uint32_t kThreads = 4;
  constexpr int kVariables = 100;
  ThreadCluster cluster(4);
  cluster.run([&](loco::Transport& transport) {
    loco::manager mgr(transport);
    std::deque<loco::owned_var<std::uint64_t>> variables;
    for (int i = 0; i < kVariables; ++i) variables.emplace_back(mgr, "v" + std::to_string(i), 0);
    mgr.wait_for_ready();
    if (mgr.my_node() != 0) return;
    std::barrier together(kThreads);
    loco::workloads::run_team(transport, kThreads, [&](std::uint32_t) {
      for (auto& v : variables) {
        together.arrive_and_wait();
        v.push_broadcast();
      }
    });
  });
  for (const std::uint32_t thread : {0U, 2U, 3U, 4U})  // 1 is the polling thread
    for (int i = 0; i < kVariables; ++i)
      CHECK(cluster.calls(thread).at(static_cast<std::size_t>(i)) == "sv.bcast(v" + std::to_string(i) + ") 1 2 3");
}

TEST_CASE("only the owner writes an owned variable") {
  ThreadCluster cluster(2);
  CHECK_THROWS_WITH(cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::owned_var<int> v(mgr, "v", 0);
    mgr.wait_for_ready();
    if (mgr.my_node() == 1) v.store(1);
  }),
                    contains_text("'v' is owned by node 0: node 1 may not write"));
}

TEST_CASE("nodes that disagree about the owners of a variable are told so, both of them") {
  const auto both_say = [](const std::function<void(loco::manager&)>& make, const auto& expected) {
    ThreadCluster cluster(2);
    std::array<std::string, 2> text;
    cluster.run([&](loco::Transport& transport) {
      loco::manager mgr(transport);
      try {
        make(mgr);
      } catch (const loco::setup_error& error) {
        text[mgr.my_node()] = error.what();
      }
    });
    for (const std::string& said : text) CHECK_THAT(said, expected);
  };
  both_say(
      [](auto& mgr) {
        loco::owned_var<int> v(mgr, "v", mgr.my_node());
        mgr.wait_for_ready();
      },
      contains_text("channel 'v': node") && contains_text("'owned by node 0'") && contains_text("'owned by node 1'"));
  both_say(
      [](auto& mgr) {
        const std::array<loco::NodeId, 2> owners = {0, mgr.my_node()};
        loco::var_array<int> a(mgr, "a", owners);
        mgr.wait_for_ready();
      },
      contains_text("'owned by nodes 0, 0'") && contains_text("'owned by nodes 0, 1'"));
  both_say(
      [](auto& mgr) {
        std::vector<loco::NodeId> owners(100, 0);
        owners.back() = mgr.my_node();
        loco::var_array<int> a(mgr, "a", owners);
        mgr.wait_for_ready();
      },
      contains_text("owned by 100 nodes, checksum"));
}

TEST_CASE("nodes that do not exist, or do not take part, are named") {
  const auto fails = [](const std::function<void(loco::manager&)>& make) {
    ThreadCluster cluster(2);
    std::string text;
    cluster.run([&](loco::Transport& transport) {
      loco::manager mgr(transport);
      try {
        make(mgr);
      } catch (const std::exception& error) {
        if (mgr.my_node() == 1) text = error.what();
      }
    });
    return text;
  };
  CHECK(fails([](auto& mgr) { loco::owned_var<int>(mgr, "v", 5); }) == "'v': node 5 is the owner, there are 2 nodes");
  const std::array<loco::NodeId, 2> owners = {0, 3};
  CHECK(fails([&](auto& mgr) { loco::var_array<int>(mgr, "a", owners); }) ==
        "'a': node 3 is an owner, there are 2 nodes");
  CHECK(fails([](auto& mgr) {
          loco::barrier(mgr, "b", {.participants = {0, 2}});
        }) == "'b': node 2 is a participant, there are 2 nodes");
  CHECK(fails([](auto& mgr) { loco::barrier(mgr, "b", {.participants = {0}}); }) ==
        "barrier 'b': node 1 is not declared as a participant, as are node(s) 0");
  CHECK(fails([](auto& mgr) { loco::mutex(mgr, "m", 9); }) ==
        "'m': node 9 is to provide region 'words', there are 2 nodes");
}

TEST_CASE("pull fetches the owner's value, wide values too") {
  struct wide {
    std::array<std::uint64_t, 5> words;
  };
  ThreadCluster cluster(2);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::owned_var<wide> v(mgr, "v", 0);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) v.store({{1, 2, 3, 4, 5}});
    bar.waiting();
    loco::ack_key key(mgr);
    v.pull(key);
    key.wait();
    require(v.load().words == std::array<std::uint64_t, 5>{1, 2, 3, 4, 5}, "the owner's value");
  });
}

TEST_CASE("an ack key follows more operations than a word has bits") {
  // 56 operations fit into one word (completions.hpp); 200 need four.
  ThreadCluster cluster(2);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::var<std::uint64_t> v(mgr, "v");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    const loco::NodeId other = 1 - mgr.my_node();
    loco::ack_key key(mgr);
    for (std::uint64_t i = 1; i <= 200; ++i) {
      v.store(i);
      v.push(other, key);
    }
    key.wait();
    bar.waiting();
    require(v.load() == 200, "the last push of the other node");
  });
}

TEST_CASE("an ack key waits for the operations of all its words") {
  // The gets from node 1 fill a word; the one from node 2 has another, and may be done first.
  constexpr std::uint64_t kCount = loco::ack_word::kOperations;
  loco::test::on_many_schedules(
      3,
      [](loco::Transport& node) {
        loco::manager mgr(node);
        loco::var<std::uint64_t> v(mgr, "v");
        loco::barrier bar(mgr, "bar");
        mgr.wait_for_ready();
        v.store(7);
        bar.waiting();
        if (node.my_node() == 0) {
          loco::mem_ref landing(mgr, (kCount + 1) * 8);
          loco::ack_key key(mgr);
          for (std::uint64_t i = 0; i <= kCount; ++i)
            mgr.get(landing.address() + i * 8, v.copy(i < kCount ? 1 : 2), 0, 8, &key);
          key.wait();
          for (std::uint64_t i = 0; i <= kCount; ++i) require(landing.load(i * 8) == 7, "every value has landed");
        }
        bar.waiting();
      },
      20);
}

TEST_CASE("a failed operation surfaces at its key, by status and as an exception") {
  ThreadCluster cluster(2);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (mgr.my_node() == 1) return;
    loco::ack_key good(mgr);
    loco::ack_key bad(mgr);
    v.push(1, good);
    loco::Region wrong = v.copy(1);
    wrong.rkey += 1000;
    mgr.put(v.address(), wrong, 0, 8, &bad);
    try {
      bad.wait();
    } catch (const loco::operation_error& error) {
      require(error.status() == loco::Status::rem_access_err, "the status of verbs");
      require(std::string(error.what()).find("remote access error") != std::string::npos, "its name");
      good.wait();
      require(good.status() == loco::Status::success, "another key is not touched");
      return;
    }
    throw std::logic_error("the failure was not reported");
  });
}

TEST_CASE("remote atomics return the old value") {
  ThreadCluster cluster(3);
  std::atomic<std::uint64_t> sum = 0;
  std::atomic<int> winners = 0;
  cluster.run([&](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::var<std::uint64_t> counter(mgr, "counter");
    loco::var<std::uint64_t> lock(mgr, "lock");
    loco::var<std::uint64_t> old(mgr, "old");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    loco::ack_key key(mgr);
    for (int i = 0; i < 100; ++i) {
      mgr.fetch_add(old.address(), counter.copy(0), 0, 1, &key);
      key.wait();
      sum += old.load();
    }
    mgr.compare_swap(old.address(), lock.copy(2), 0, 0, mgr.my_node() + 1, &key);
    key.wait();
    if (old.load() == 0) ++winners;
    bar.waiting();
  });
  CHECK(sum == 300 * 299 / 2);  // 0, 1, ..., 299 in some order
  CHECK(winners == 1);
}

TEST_CASE("nobody leaves a barrier before everybody has come") {
  constexpr int kRounds = 200;
  for (const std::uint32_t threads : {1U, 3U}) {
    ThreadCluster cluster(3);
    std::atomic<int> arrived = 0;
    std::atomic<int> early = 0;
    cluster.run([&](loco::Transport& transport) {
      loco::manager mgr(transport);
      loco::barrier_options options;
      options.threads_per_node = threads;
      loco::barrier bar(mgr, "bar", options);
      mgr.wait_for_ready();
      const loco::Flag done = transport.make_flag();
      const auto rounds = [&] {
        for (int round = 1; round <= kRounds; ++round) {
          ++arrived;
          bar.waiting();
          if (arrived < round * static_cast<int>(3 * threads)) ++early;
        }
        transport.flag_fetch_add(done, 1);
      };
      for (std::uint32_t t = 1; t < threads; ++t) transport.spawn("worker", rounds);
      rounds();
      while (transport.flag_load(done) != threads) transport.pause();
    });
    CHECK(early == 0);
    CHECK(arrived == kRounds * static_cast<int>(3 * threads));
  }
}

TEST_CASE("more threads than seats is an error") {
  ThreadCluster cluster(1);
  CHECK_THROWS_AS(cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    bar.waiting();
    const loco::Flag done = transport.make_flag();
    transport.spawn("second", [&] { bar.waiting(); });
    while (transport.flag_load(done) == 0) transport.pause();
  }),
                  loco::ownership_error);
}

TEST_CASE("behind a barrier what its participants wrote on any node is there") {
  // Section 4.3: node 2 takes no part in it. Node 1 reads there what node 0 has put.
  loco::test::on_many_schedules(
      3,
      [](loco::Transport& node) {
        loco::manager mgr(node);
        loco::var<std::uint64_t> v(mgr, "v");
        loco::barrier end(mgr, "end");
        std::optional<loco::barrier> two;
        if (node.my_node() != 2) two.emplace(mgr, "two", loco::barrier_options{.participants = {0, 1}});
        mgr.wait_for_ready();
        if (node.my_node() == 0) {
          v.store(7);
          v.push(2);
        }
        if (two) two->waiting();
        if (node.my_node() == 1) {
          loco::mem_ref landing(mgr, 8);
          loco::ack_key key(mgr);
          mgr.get(landing.address(), v.copy(2), 0, 8, &key);
          key.wait();
          require(landing.load() == 7, "the value is on node 2");
        }
        end.waiting();
      },
      60);
}

TEST_CASE("a barrier of some of the nodes leaves the others alone") {
  ThreadCluster cluster(4);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) return;
    loco::barrier_options options;
    options.participants = {1, 2, 3};
    options.fence = loco::barrier_options::Fence::participants;
    loco::barrier bar(mgr, "bar", options);
    mgr.wait_for_ready();
    for (int i = 0; i < 20; ++i) bar.waiting();
  });
}

TEST_CASE("the calls of a barrier are those of Fig. 7 and Fig. 11") {
  // fence every node, store the own counter, broadcast it to the other nodes (never to oneself), read the counters.
  ThreadCluster cluster(2);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    bar.waiting();
  });
  auto calls = cluster.calls(0);
  REQUIRE(calls.size() > 7);
  CHECK(calls[0] == "bal.barrier(bar) 0 1");
  CHECK(calls[1] == "  sv.gf 0 1");
  CHECK(calls[2] == "    rdmawait.wait");
  CHECK(calls[3] == "      aWT");
  CHECK(calls[4] == "  sv.write(bar/sst/ov0)");
  CHECK(calls[5] == "  sv.bcast(bar/sst/ov0) 1");
  CHECK(calls[6] == "  sv.read(bar/sst/ov0)");
  for (std::size_t i = 7; i < calls.size(); ++i) CHECK(calls[i].starts_with("  sv.read(bar/sst/ov"));
  CHECK(calls.back() == "  sv.read(bar/sst/ov1)");
}

TEST_CASE("an array of owned variables has one owner an element") {
  ThreadCluster cluster(3);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    const std::array<loco::NodeId, 3> owners = {0, 1, 2};
    loco::var_array<std::uint32_t> table(mgr, "table", owners);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    require(table[2].full_name() == "table/ov2", "names of elements");
    table[mgr.my_node()].store(10 + mgr.my_node());
    table[mgr.my_node()].push_broadcast();
    bar.waiting();
    std::uint32_t sum = 0;
    for (auto& element : table) sum += element.load();
    require(sum == 33, "10 + 11 + 12");
  });
}

TEST_CASE("a node may have its own elements of an array alone") {
  struct table : loco::channel {
    table(loco::manager& mgr, std::span<const loco::NodeId> owners)
        : channel(mgr, "t", loco::expect_num{mgr.num_nodes() - 1}),
          words(*this, full_name(), "words", 8 * owners.size()),
          of(mgr.my_node() == 0 ? Parts(words, "t/of", owners) : Parts(words, "t/of", 1, 2, 3)) {
      join();
    }
    using Parts = loco::owned_parts<std::uint64_t>;
    loco::shared_region words;
    Parts of;
  };
  ThreadCluster cluster(2);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    const std::array<loco::NodeId, 6> owners = {0, 0, 1, 1, 1, 0};
    const bool sees_all = mgr.my_node() == 0;
    table t(mgr, owners);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    require(t.of.size() == (sees_all ? 6 : 3), "how many elements the node has");
    for (const std::size_t i : {2U, 3U, 4U}) {
      require(t.of[i].full_name() == "t/of/ov" + std::to_string(i), "the name is that of the whole array");
      if (sees_all) continue;
      t.of[i].store(10 * i);
      t.of[i].push_broadcast();
    }
    for (const std::size_t i : {1U, 5U}) {
      bool missing = false;
      try {
        (void)t.of[i];
      } catch (const std::out_of_range&) {
        missing = true;
      }
      require(missing != sees_all, "another node's element");
    }
    bar.waiting();
    for (const std::size_t i : {2U, 3U, 4U})
      if (sees_all) require(t.of[i].load() == 10 * i, "it is where the other node put it");
  });
}
