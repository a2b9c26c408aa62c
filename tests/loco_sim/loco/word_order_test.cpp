// No object needs an order among the words of one put or get, which the models do not have: each is right on a
// transport that hands them over last first, or in a drawn order (reversing_transport.hpp), under any schedule.
#include <array>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/both.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

using Wide = std::array<std::uint64_t, 4>;

Wide wide(std::uint64_t value) { return {value, value + 1, value + 2, value + 3}; }
/// One that was written, or the zeroes of before.
bool whole(const Wide& value) { return value == wide(value[0]) || value == Wide{}; }

void barriers_and_variables(loco::Transport& node) {
  loco::manager mgr(node);
  std::vector<loco::NodeId> owners;
  for (loco::NodeId n = 0; n < node.num_nodes(); ++n) owners.push_back(n);
  loco::var_array<Wide> table(mgr, "table", owners);
  loco::owned_var<Wide> mine(mgr, "mine", 0);
  loco::var<Wide> any(mgr, "any");
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (std::uint64_t round = 1; round <= 2; ++round) {
    table[node.my_node()].store(wide(100 * round + node.my_node()));
    table[node.my_node()].push_broadcast();
    if (node.my_node() == 0) {
      mine.store(wide(round));
      mine.push_broadcast();
    }
    bar.waiting();
    for (const loco::NodeId n : owners)
      require(table[n].load() == wide(100 * round + n), "behind a barrier all elements are there");
    require(mine.load() == wide(round), "and the owner's value");
    bar.waiting();
  }
  loco::ack_key key(mgr);
  if (node.my_node() == 1) {
    any.store(wide(7));
    any.push(0, key);
    key.wait();
  }
  bar.waiting();
  if (node.my_node() == 0) require(any.load() == wide(7), "a variable that was pushed is there behind a barrier");
}

void mixed_sizes(loco::Transport& node) {
  loco::manager mgr(node);
  loco::hashed_var<Wide> hashed(mgr, "hashed");
  loco::guarded_var<Wide> guarded(mgr, "guarded", 0);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  loco::ack_key key(mgr);
  if (node.my_node() == 0) {
    for (std::uint64_t i = 1; i <= 4; ++i) {
      hashed.store(wide(10 * i));
      hashed.push_broadcast(key);
      guarded.store(wide(10 * i));
      guarded.push_broadcast(key);
      key.wait();
    }
  } else {
    for (int i = 0; i < 12; ++i) {
      if (const auto seen = hashed.try_load()) require(whole(*seen), "a hashed variable is whole, or has no value");
      if (const auto seen = guarded.try_load()) require(whole(*seen), "a guarded variable is whole, or has no value");
      node.compute(1);
    }
  }
  bar.waiting();
  require(hashed.try_load() == wide(40) && guarded.try_load() == wide(40), "the last value is there");
}

void atomics_and_locks(loco::Transport& node) {
  loco::manager mgr(node);
  loco::mutex lock(mgr, "lock", 1);
  loco::mutex_array locks(mgr, "locks", 2);
  loco::atomic_var<std::uint64_t> total(mgr, "total", 0);
  loco::var<std::uint64_t> counter(mgr, "counter");
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  constexpr std::uint64_t kRounds = 3;
  loco::mem_ref value(mgr, 8);
  loco::ack_key key(mgr);
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    total.fetch_add(1);
    const std::lock_guard guard(lock);
    mgr.get(value.address(), counter.copy(0), 0, 8, &key);
    key.wait();
    value.store(value.load() + 1);
    mgr.put(value.address(), counter.copy(0), 0, 8, &key);
    key.wait();
    locks.lock(i % 2);
    locks.unlock(i % 2);
  }
  bar.waiting();
  require(total.load() == node.num_nodes() * kRounds, "nothing that was added is lost");
  if (node.my_node() == 0) require(counter.load() == node.num_nodes() * kRounds, "no increment under the lock is lost");
}

void rings(loco::Transport& node) {
  loco::manager mgr(node);
  loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 96});
  mgr.wait_for_ready();
  for (std::uint64_t i = 0; i < 6; ++i) {
    const Wide text = wide(i);
    if (node.my_node() == 0) {
      ring.send(std::as_bytes(std::span(text)));
    } else {
      const auto message = ring.receive();
      require(std::ranges::equal(message, std::as_bytes(std::span(text))), "messages are whole and in order");
    }
  }
}

void queues(loco::Transport& node) {
  loco::manager mgr(node);
  loco::shared_queue<Wide> queue(mgr, "queue", 9, 1);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (std::uint64_t i = 0; i < 3; ++i) queue.push(wide(10 * node.my_node() + i));
  for (std::uint64_t i = 0; i < 3; ++i) require(whole(queue.pop()), "an element is whole");
  bar.waiting();
  require(!queue.try_pop(), "as many come out as went in");
}

void stores(loco::Transport& node) {
  loco::manager mgr(node);
  loco::kvstore store(mgr, "store", {.slots_per_node = 8, .locks = 2});
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  const std::uint64_t mine = 1 + node.my_node();
  require(store.insert(mine, 5) && !store.insert(mine, 6), "a key is inserted once");
  bar.waiting();
  const std::uint64_t other = 1 + (node.my_node() + 1) % node.num_nodes();
  require(store.lookup(other) == 5, "what another node has inserted is there");
  bar.waiting();
  require(store.update(other, 8), "a key that is there is updated");
  bar.waiting();
  require(store.lookup(mine) == 8, "what another node has updated is there");
  require(store.erase(mine) && !store.lookup(mine), "an erased key is not there");
  bar.waiting();
}

struct Subject {
  const char* name;
  Program program;
};
const std::array kSubjects = {Subject{"barrier, var, owned_var, SST", barriers_and_variables},
                              Subject{"mixed sizes", mixed_sizes},
                              Subject{"mutex, atomic_var", atomics_and_locks},
                              Subject{"ring", rings},
                              Subject{"queue", queues},
                              Subject{"store", stores}};

void every_object(std::uint64_t seeds, std::uint32_t nodes) {
  for (const Subject& subject : kSubjects) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto words = seed % 2 == 0 ? WordOrder::last_first : WordOrder::some;
      const auto schedule = seed / 2 % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
      INFO(subject.name << ", seed " << seed);
      const loco::model::Verdict verdict = on_simulator(nodes, subject.program, schedule, seed, false, words);
      INFO(verdict.to_text());
      REQUIRE(verdict.consistent());
    }
  }
}

}  // namespace

TEST_CASE("every object is right where words are handed over last first") { every_object(12, 3); }

TEST_CASE("every object is right where words are handed over last first, under 1,000 schedules", "[.long]") {
  every_object(1000, 3);
}

TEST_CASE("a lock is passed on where what is served and what comes next are read in any order", "[.long]") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const auto program = [](loco::Transport& node) {
      loco::manager mgr(node);
      loco::mutex lock(mgr, "lock");
      mgr.wait_for_ready();
      for (int i = 0; i < 6; ++i) {
        lock.lock();
        lock.unlock();
      }
    };
    INFO("seed " << seed);
    REQUIRE(on_simulator(4, program, seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial, seed, false,
                         seed % 3 == 0 ? WordOrder::some : WordOrder::last_first)
                .consistent());
  }
}

TEST_CASE("who polls the last word of a put sees the others where words keep their order, and not where they do not") {
  const auto polls = [](loco::nic::WordOrder order, loco::Schedule schedule, std::uint64_t seed) {
    loco::ClusterConfig config;
    config.profile.nic_word_order = order;
    config.profile.pcie_rate = {10'000'000'000};  // so that there is time between words
    config.schedule = schedule;
    config.seed = seed;
    loco::SimulatedCluster cluster(config);
    bool lacks = false, complete = true;
    cluster.spawn_everywhere([&](loco::Transport& node) {
      lacks = !node.lacks(loco::Capability::ascending_words).empty();
      loco::manager mgr(node);
      loco::owned_var<Wide> message(mgr, "message", 0);
      mgr.wait_for_ready();
      if (node.my_node() == 0) {
        message.store(wide(1));
        message.push_broadcast();
      } else {
        while (message.load()[3] == 0) node.pause();
        complete = message.load() == wide(1);
      }
    });
    cluster.run();
    CHECK(lacks == (order == loco::nic::WordOrder::any));
    return complete;
  };
  for (const auto schedule : {loco::Schedule::timed, loco::Schedule::random, loco::Schedule::adversarial}) {
    int kept = 0, broken = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      if (!polls(loco::nic::WordOrder::ascending, schedule, seed)) ++kept;
      if (!polls(loco::nic::WordOrder::any, schedule, seed)) ++broken;
    }
    INFO("schedule " << static_cast<int>(schedule));
    CHECK(kept == 0);
    CHECK(broken > 0);
  }
}
