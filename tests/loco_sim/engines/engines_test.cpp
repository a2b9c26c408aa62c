// LOCO's objects over real threads that nothing orders but what verbs order. Under the thread sanitizer these programs
// have no race: what one node writes into a plain region another one reads behind a fence, a barrier or a lock.
#include <array>
#include <atomic>
#include <cstring>
#include <set>

#include "examples/replicated_log.hpp"
#include "examples/work_deque.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_bytes.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/engines/plain.hpp"
#include "tests/loco_sim/loco/span_programs.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace

TEST_CASE("engines: what was written before a barrier is there behind it") {
  EngineCluster(3).run([](EngineTransport& node) {
    plain_words words(node, node.num_nodes());
    loco::manager mgr(node);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    for (std::uint64_t round = 1; round <= 30; ++round) {
      words.put(mgr, (node.my_node() + 1) % node.num_nodes(), node.my_node(), round);
      bar.waiting();
      const loco::NodeId before = (node.my_node() + 2) % 3;
      require(words.load(before) == round, "a value that is not there yet");
      const loco::NodeId other = (node.my_node() + 1) % 3;  // what that node has put to the one before
      require(words.get(mgr, before, other) == round, "a value that is not there yet");
      bar.waiting();
    }
  });
}

TEST_CASE("engines: what was written under a mutex is there for who has it next") {
  EngineCluster(3).run([](EngineTransport& node) {
    plain_words words(node, 1);
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock", 2);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    for (int i = 0; i < 30; ++i) {
      lock.lock();
      words.put(mgr, 1, 0, words.get(mgr, 1, 0) + 1);  // on another node than the lock
      lock.unlock();
    }
    bar.waiting();
    require(words.get(mgr, 1, 0) == 90, "an increment is lost");
  });
}

TEST_CASE("engines: a ring buffer delivers every message") {
  EngineCluster(3).run([](EngineTransport& node) {
    loco::manager mgr(node);
    loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 64});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    for (std::uint64_t i = 0; i < 200; ++i) {
      if (node.my_node() == 0) {
        ring.send(std::as_bytes(std::span(&i, 1)));
        continue;
      }
      const auto message = ring.receive();
      require(message.size() == 8 && std::memcmp(message.data(), &i, 8) == 0, "the next message");
    }
    bar.waiting();
  });
}

TEST_CASE("engines: a shared queue hands every element to one thread") {
  std::array<std::atomic<int>, 60> seen{};
  EngineCluster(3).run([&](EngineTransport& node) {
    loco::manager mgr(node);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 4);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    for (std::uint64_t i = 0; i < 20; ++i) {
      queue.push(node.my_node() * 20 + i);
      ++seen.at(queue.pop());
    }
    bar.waiting();
  });
  for (const auto& times : seen) CHECK(times == 1);
}

TEST_CASE("engines: a store does what its calls say") {
  EngineCluster(3).run([](EngineTransport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 16, .locks = 2});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    const std::uint64_t mine = node.my_node();
    require(store.insert(mine, 1), "a new key");
    bar.waiting();
    for (std::uint64_t i = 2; i <= 15; ++i) {
      require(store.update(mine, i), "a key that is there");
      for (std::uint64_t key = 0; key < 3; ++key) require(store.lookup(key).value_or(0) > 0, "all keys are there");
      require(store.lookup(mine) == i, "what was updated is found");
    }
    bar.waiting();
    for (std::uint64_t key = 0; key < 3; ++key) require(store.lookup(key) == 15, "what others have updated is found");
    bar.waiting();
    require(store.erase(mine), "a key that is there");
    bar.waiting();
    for (std::uint64_t key = 0; key < 3; ++key) require(!store.lookup(key), "what was erased is not found");
  });
}

TEST_CASE("engines: tasks are done once, and logs are the same") {
  std::array<std::atomic<int>, 50> done{};
  EngineCluster(3).run([&](EngineTransport& node) {
    loco::manager mgr(node);
    work_deque tasks(mgr, "tasks", 0, 8);
    replicated_log log(mgr, "log", 20);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) {
      const auto work = [&] {
        const auto task = tasks.pop();
        if (task) ++done.at(*task);
        return task.has_value();
      };
      for (std::uint64_t task = 0; task < done.size(); ++task)
        while (!tasks.push(task)) work();
      while (work()) {
      }
    } else {
      for (int i = 0; i < 30; ++i)
        if (const auto task = tasks.steal()) ++done.at(*task);
    }
    for (std::uint32_t i = 0; i < 3; ++i)
      if (log.lead()) static_cast<void>(log.append(10 * node.my_node() + i));
    bar.waiting();
    if (node.my_node() == 0)
      while (!log.lead()) {
      }
    bar.waiting();
  });
  for (const auto& times : done) CHECK(times == 1);
}

TEST_CASE("engines: nodes have one manager after the other") {
  EngineCluster(3).run([](EngineTransport& node) {
    plain_words words(node, node.num_nodes());
    for (std::uint64_t round = 1; round <= 8; ++round) {
      loco::manager mgr(node, 1U << 16U);
      loco::barrier bar(mgr, "bar");
      loco::mutex lock(mgr, "lock", 0);
      mgr.wait_for_ready();
      words.put(mgr, (node.my_node() + 1) % node.num_nodes(), node.my_node(), round);
      { const std::lock_guard held(lock); }
      bar.waiting();
      require(words.load((node.my_node() + 2) % 3) == round, "a value that is not there yet");
      bar.waiting();
    }
  });
}

TEST_CASE("engines: nodes take each other back, and what was on its way before does not come") {
  EngineCluster(2).run([](EngineTransport& node) {
    const loco::NodeId other = 1 - node.my_node();
    loco::manager mgr(node, 1U << 20U);
    for (std::uint64_t round = 1; round <= 10; ++round) {
      loco::barrier bar(mgr, "bar");
      loco::shared_bytes late(mgr, "late" + std::to_string(round), 256);
      loco::ring_buffer news(mgr, "news", 0, {.bytes = 64});
      mgr.wait_for_ready();
      if (node.my_node() == 0)
        news.send(std::as_bytes(std::span(&round, 1)));
      else
        require(news.receive().size() == 8, "a message of this round");
      bar.waiting();
      try {
        loco::global_fence(mgr);                // the barrier's put
      } catch (const loco::operation_error&) {  // the other node begins anew already
      }
      const loco::mem_ref values(mgr, 256);
      for (int i = 0; i < 5; ++i) mgr.put(values.address(), late.copy(other), 0, 256);
      mgr.reconnect(other);
      const std::array<std::uint64_t, 2> mark = {round, 7};
      late.store_part(0, std::as_bytes(std::span(mark)));
      loco::ack_key key(mgr);
      mgr.put(values.address(), late.copy(other), 0, 256, &key);
      bool refused = false;
      try {
        key.wait();
      } catch (const loco::operation_error&) {
        refused = true;
      }
      require(refused, "an operation over the connection of before");
      std::array<std::uint64_t, 2> there{};
      late.load_part(0, std::as_writable_bytes(std::span(there)));
      require(there == mark, "what has been written since");
    }
  });
}

TEST_CASE("engines: a node's own words are reached without a call") {
  EngineCluster(3).run([](EngineTransport& node) {
    require(node.direct(node.allocate(64).base, 64) != nullptr, "memory that is shown");
    require(node.direct(node.allocate_plain(64).base, 64) == nullptr, "memory that the thread sanitizer watches");
    span_rows(node);
  });
}

// Behind a fence the own store is in memory; one of the two was there first, and the other thread's load sees it.
TEST_CASE("engines: two stores, a fence behind each, are not both missed") {
  EngineCluster(1).run([](EngineTransport& node) {
    loco::manager mgr(node);
    for (int i = 0; i < 50; ++i) {
      const Seen seen = store_buffering(node, mgr, true);
      require(seen.first + seen.second > 0, "one of the two reads what the other has written");
    }
  });
}

TEST_CASE("engines: an operation with a wrong key fails, and a program's error ends the run") {
  CHECK_THROWS_WITH(EngineCluster(2).run([](EngineTransport& node) {
    loco::manager mgr(node);
    loco::mem_ref word(mgr, 8);
    loco::ack_key key(mgr);
    mgr.wait_for_ready();
    mgr.put(word.address(), {.node = 1, .base = std::uint64_t{99} << 32U, .size = 8, .rkey = 99}, 0, 8, &key);
    key.wait();
  }),
                    contains_text("remote access error"));
  CHECK_THROWS_WITH(EngineCluster(2).run([](EngineTransport& node) {
    if (node.my_node() == 0) throw std::domain_error("enough");
    while (true) node.pause();
  }),
                    contains_text("enough"));
}
