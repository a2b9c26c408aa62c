// The key-value store (LOCO paper, Section 6.2 and App. I): what its calls do, and that they are linearisable under any
// schedule.
#include "loco_sim/loco/store/kvstore.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "sim/rng.hpp"
#include "tests/loco_sim/loco/both.hpp"

using namespace loco::test;  // NOLINT: a test

namespace model = loco::model;
namespace trace = loco::trace;

namespace {

/// Every call, by the rules, on one node after the other; everybody looks in between.
void one_after_the_other(loco::Transport& node) {
  loco::manager mgr(node);
  loco::kvstore store(mgr, "store", {.slots_per_node = 2, .locks = 3});
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  constexpr std::uint64_t kKey = 0;  // any number is a key
  for (std::uint64_t turn = 0; turn < node.num_nodes(); ++turn) {
    const std::uint64_t value = 100 + turn;
    if (node.my_node() == turn) {
      require(!store.lookup(kKey), "there is no key at first");
      require(!store.update(kKey, value), "what is not there is not updated");
      require(!store.erase(kKey), "what is not there is not erased");
      require(store.insert(kKey, value), "a new key is inserted");
      require(!store.insert(kKey, 7), "a key is inserted once");
      require(store.insert(kKey + 1, value + 1000), "keys do not meet");
    }
    bar.waiting();
    require(store.lookup(kKey) == value, "what was inserted is found everywhere");
    bar.waiting();
    const auto next = (turn + 1) % node.num_nodes();
    if (node.my_node() == next) require(store.update(kKey, value + 10), "another node updates it");
    bar.waiting();
    require(store.lookup(kKey) == value + 10, "what was updated is found everywhere");
    require(store.lookup(kKey + 1) == value + 1000, "and nothing else was changed");
    bar.waiting();
    if (node.my_node() == next) {
      require(store.erase(kKey), "another node erases it");
      require(store.erase(kKey + 1), "and the other one");
    }
    bar.waiting();
    require(!store.lookup(kKey), "what was erased is not found");
    bar.waiting();
  }
}

/// Everything at once: a few keys and fewer slots, so that slots go from key to key.
struct Mix {
  std::uint64_t seed = 1;
  std::uint32_t threads = 2;
  std::uint64_t operations = 8;  ///< of a thread
  std::uint64_t keys = 4;
  std::uint32_t window = 1;
  std::uint32_t writes = 60;  ///< percent that are not lookups
  bool loaded = false;
  loco::kv_options options = {.slots_per_node = 64, .locks = 3, .ring_bytes = 192};
  std::atomic<std::uint64_t>* torn = nullptr;

  void operator()(loco::Transport& node) const {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", options);
    loco::barrier bar(mgr, "bar", {.threads_per_node = threads});
    mgr.wait_for_ready();
    loco::workloads::run_team(node, threads, [&](std::uint32_t thread) {
      if (thread == 0 && loaded) store.load(keys, [](std::uint64_t i) { return std::pair(i, i + 1); });
      bar.waiting();
      loco::sim::Stream stream(seed, "mix/" + std::to_string(node.my_node()) + "/" + std::to_string(thread));
      std::uint64_t value = (std::uint64_t{node.my_node()} * threads + thread + 1) << 32U;
      loco::kv_window lanes(store, window);
      std::uint64_t started = 0;
      std::uint64_t ended = 0;
      while (ended < operations) {
        while (started < operations) {
          loco::kv_operation* operation = lanes.idle();
          if (operation == nullptr) break;
          ++started;
          using Kind = loco::kv_operation::Kind;
          constexpr std::array kWrites = {Kind::update, Kind::insert, Kind::erase};
          const Kind kind = stream.chance(writes, 100) ? kWrites.at(loaded ? 0 : stream.below(3)) : Kind::lookup;
          const std::uint64_t key = stream.below(keys);
          operation->start(kind, key, kind == Kind::insert || kind == Kind::update ? ++value : 0);
        }
        const std::uint64_t before = ended;
        lanes.poll([&](std::size_t, const loco::kv_operation&) { ++ended; });
        if (ended == before) node.pause();
      }
      bar.waiting();
    });
    if (torn != nullptr) *torn += store.torn_reads();
  }
};

constexpr std::array kLibraries = {trace::Library::rdmawait, trace::Library::sv,   trace::Library::bal,
                                   trace::Library::rbl,      trace::Library::lock, trace::Library::kvstore};

model::Verdict judge(std::uint32_t nodes, const Mix& mix, loco::Schedule schedule, bool everything = true,
                     std::uint64_t events_max = loco::ClusterConfig{}.events_max) {
  loco::ClusterConfig config;
  config.nodes = nodes;
  config.schedule = schedule;
  config.seed = mix.seed;
  config.record = true;
  config.events_max = events_max;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(mix);
  cluster.run();
  const auto libraries = std::span<const trace::Library>(kLibraries);
  return model::check(cluster.take_trace(), everything ? libraries : libraries.last(2), {});
}

void linearisable(std::uint32_t nodes, Mix mix, std::uint64_t seeds, bool everything = true) {
  for (mix.seed = 1; mix.seed <= seeds; ++mix.seed) {
    const auto schedule = mix.seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
    const model::Verdict verdict = judge(nodes, mix, schedule, everything);
    INFO("seed " << mix.seed << "\n" << verdict.to_text());
    REQUIRE(verdict.consistent());
  }
}

}  // namespace

TEST_CASE("a key-value store does what its calls say") {
  for (const std::uint32_t nodes : {1U, 2U, 4U}) {
    on_threads(nodes, one_after_the_other);
    on_many_schedules(nodes, one_after_the_other, 6);
  }
}

TEST_CASE("a key-value store works on threads") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    on_threads(3, Mix{.seed = seed, .threads = 2, .operations = 100, .options = {.slots_per_node = 512, .locks = 5}});
    on_threads(2, Mix{.seed = seed, .operations = 100, .window = 5, .options = {.slots_per_node = 512, .locks = 5}});
  }
}

TEST_CASE("a key-value store is linearisable under any schedule") {
  linearisable(3, Mix{}, 30);
  linearisable(2, Mix{.window = 4}, 30);
  linearisable(2, Mix{.threads = 3, .keys = 2, .options = {.slots_per_node = 32, .locks = 1, .ring_bytes = 64}}, 20);
}

TEST_CASE("a key-value store of 8 nodes with 4 threads each is linearisable") {
  Mix mix{.threads = 4, .operations = 6, .keys = 24, .writes = 50, .loaded = true};
  linearisable(8, mix, 6);
  mix.window = 3;
  linearisable(8, mix, 4);
}

namespace {

/// `operations` of each of 32 threads. The orders of memory are checked at every tenth seed.
void eight_by_four(std::uint64_t operations, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Mix mix{.seed = seed,
                  .threads = 4,
                  .operations = operations,
                  .keys = 400,
                  .writes = 50,
                  .loaded = seed % 4 < 2,
                  .options = {.slots_per_node = 128, .locks = 64}};
    const model::Verdict verdict =
        judge(8, mix, seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial, seed % 10 == 0);
    INFO("seed " << seed << "\n" << verdict.to_text());
    REQUIRE(verdict.consistent());
  }
}

}  // namespace

TEST_CASE("a small store under 3,000 weak schedules: judged by its atomics, too, consistent", "[.long]") {
  linearisable(3, Mix{.threads = 1, .operations = 5}, 1500);
  linearisable(2, Mix{.operations = 4, .window = 2}, 1500);
}

TEST_CASE("5,000 operations of 32 threads are linearisable, under 200 schedules", "[.long]") {
  eight_by_four(156, 200);
}

TEST_CASE("100,000 operations of 32 threads are linearisable, under 200 schedules", "[.hours]") {
  eight_by_four(3125, 200);
}

TEST_CASE("torn reads happen, are noticed and made again") {
  // A slot is three words, read and written one by one: sooner or later a read falls into a write. Every run is
  // linearisable all the same, so none of them was believed.
  std::atomic<std::uint64_t> torn = 0;
  Mix mix{.operations = 20, .keys = 1, .writes = 50, .loaded = true};
  mix.torn = &torn;
  linearisable(3, mix, 40);
  CHECK(torn > 0);
}

TEST_CASE("without the fence before the release the checker finds stale values") {
  // Section 6.2: an update returns, and its write is still on its way; or the next holder's write overtakes it.
  Mix mix{.operations = 10, .keys = 2, .writes = 50, .loaded = true};
  mix.options.fence = false;
  constexpr std::uint64_t kEventsMax = 2'000'000;  // many times what a run takes that ends
  bool found = false;
  while (!found && mix.seed <= 1000) {
    try {
      const model::Verdict verdict = judge(3, mix, loco::Schedule::adversarial, true, kEventsMax);
      found = !verdict.consistent();
      if (found) CHECK_THAT(verdict.to_text(), contains_text("linearisability"));
    } catch (const loco::EventLimit&) {  // words of two writers are left in a slot, and its readers try for ever
    }
    mix.seed += found ? 0 : 1;
  }
  INFO("seeds tried: " << mix.seed);
  CHECK(found);
}

TEST_CASE("wrong use of a key-value store is an error that says so") {
  const auto with = [](const auto& wrong, loco::kv_options options = {.slots_per_node = 1}) {
    return [wrong, options](loco::Transport& node) {
      loco::manager mgr(node);
      loco::kvstore store(mgr, "store", options);
      loco::barrier bar(mgr, "bar");
      mgr.wait_for_ready();
      if (node.my_node() == 0) wrong(store);
      bar.waiting();
    };
  };
  CHECK_THROWS_WITH(on_threads(1, with([](loco::kvstore& store) { store.insert(1, 0); })),
                    contains_text("the value 0 stands for none"));
  CHECK_THROWS_WITH(on_threads(1, with([](loco::kvstore& store) {
                                 store.insert(1, 1);
                                 store.insert(2, 1);
                               })),
                    contains_text("'store': node 0 has no free slot of 1"));
  CHECK_THROWS_WITH(on_threads(1, with([](loco::kvstore& store) {
                                 store.load(2, [](std::uint64_t i) { return std::pair(i, i + 1); });
                               })),
                    contains_text("'store': 2 entries in 1 slots"));
  CHECK_THROWS_WITH(on_threads(1, with([](loco::kvstore&) {}, {.slots_per_node = 0})),
                    contains_text("'store' has no slots"));
}

TEST_CASE("a store is used to make another channel ready") {
  const auto program = [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 1});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    std::optional<loco::barrier> late;
    if (node.my_node() == 0) {
      late.emplace(mgr, "late");  // node 1 has it when it has seen the key
      require(store.insert(1, 5), "a new key");
    } else {
      while (!store.lookup(1)) node.compute(1'000'000);
      late.emplace(mgr, "late");
    }
    late->wait_for_ready();
    bar.waiting();
  };
  on_threads(2, program);
  on_many_schedules(2, program, 10);
}

TEST_CASE("a store that goes before it is ready does not wait for the others") {
  // Node 1 has no store until node 0's has gone, and waits in turns that end by themselves: no deadlock comes to help.
  const auto program = [](std::atomic<bool>& gone) {
    return [&gone](loco::Transport& node) {
      loco::manager mgr(node);
      if (node.my_node() == 0) {
        try {
          const loco::kvstore store(mgr, "store");
          throw std::domain_error("while the store is not ready");
        } catch (const std::domain_error&) {
          gone = true;
        }
      }
      while (!gone) node.compute(1'000'000);
      const loco::kvstore store(mgr, "store");
      mgr.wait_for_ready();
    };
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::atomic<bool> gone = false;
    for (const WordOrder words : {WordOrder::whole, WordOrder::last_first}) {
      gone = false;
      on_threads(2, program(gone), words);
    }
    gone = false;
    CHECK(on_simulator(2, program(gone), loco::Schedule::random, seed).consistent());
  }
}
