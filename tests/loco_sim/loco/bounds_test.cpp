// Shows: no call reaches beyond its object, whichever kind of access it is, and a call that is refused has done
// nothing, neither to the object nor to the trace.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_bytes.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/both.hpp"

using loco::manager;
using loco::NodeId;
using loco::test::on_simulator;
using loco::test::require;

namespace {

template <typename Error>
void require_refused(const char* what, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error&) {
    return;
  }
  throw std::logic_error(what);
}

void on_both(std::uint32_t nodes, const loco::test::Program& program) {
  loco::test::on_threads(nodes, program);
  CHECK(on_simulator(nodes, program, loco::Schedule::timed, 1).consistent());
}

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("remote atomics are of a word inside of their region") {
  on_both(2, [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    loco::var<std::uint64_t> behind(mgr, "behind");
    mgr.wait_for_ready();
    const loco::Region there = v.copy(1 - node.my_node());
    loco::mem_ref old(mgr, 8);
    loco::ack_key key(mgr);
    for (const std::uint64_t offset : {std::uint64_t{4}, std::uint64_t{8}, std::uint64_t{1} << 40U, kEverything - 7}) {
      require_refused<loco::size_error>("fetch-and-add", [&] { mgr.fetch_add(old.address(), there, offset, 5, &key); });
      require_refused<loco::size_error>("compare-and-swap",
                                        [&] { mgr.compare_swap(old.address(), there, offset, 0, 5, &key); });
    }
    loco::global_fence(mgr);
    require(behind.load() == 0, "the neighbour is as it was");
  });
}

TEST_CASE("remote operations are from and to whole words of the own memory, too") {
  on_both(2, [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::array<std::uint64_t, 2>> v(mgr, "v");
    mgr.wait_for_ready();
    const loco::Region there = v.copy(1 - node.my_node());
    const loco::Address within = v.address() + 4;
    loco::ack_key key(mgr);
    require_refused<loco::size_error>("put", [&] { mgr.put(within, there, 0, 8, &key); });
    require_refused<loco::size_error>("get", [&] { mgr.get(within, there, 0, 8, &key); });
    require_refused<loco::size_error>("fetch-and-add", [&] { mgr.fetch_add(within, there, 0, 5, &key); });
    require_refused<loco::size_error>("compare-and-swap", [&] { mgr.compare_swap(within, there, 0, 0, 5, &key); });
    require(key.poll(), "nothing is under way");
    loco::global_fence(mgr);
    require(v.load() == std::array<std::uint64_t, 2>{}, "nothing was written");
  });
}

TEST_CASE("local accesses stay inside of their object") {
  on_both(1, [](loco::Transport& node) {
    manager mgr(node);
    loco::shared_bytes first(mgr, "first", 12);  // two words
    loco::shared_bytes second(mgr, "second", 16);
    loco::mem_ref block(mgr, 24);  // of 64 bytes
    mgr.wait_for_ready();
    std::vector<std::byte> bytes(128, std::byte{1});
    const auto some = [&bytes](std::size_t size) { return std::span(bytes).first(size); };
    require_refused<loco::size_error>("longer", [&] { first.store_bytes(some(24)); });
    require_refused<loco::size_error>("part of a word", [&] { first.store_bytes(some(12)); });
    require_refused<loco::size_error>("behind", [&] { first.store_part(16, some(8)); });
    require_refused<loco::size_error>("unaligned", [&] { first.store_part(4, some(8)); });
    require_refused<loco::size_error>("far behind", [&] { first.load_part(kEverything - 7, some(8)); });
    require_refused<loco::size_error>("longer block", [&] { block.store_bytes(some(128)); });
    require_refused<loco::size_error>("behind a block", [&] { block.store(7, 64); });
    require_refused<loco::size_error>("unaligned in a block", [&] { static_cast<void>(block.load(4)); });
    first.store_part(8, some(8));
    block.store_bytes(some(64));
    require(second.load_word() == 0, "the neighbour is as it was");
  });
}

TEST_CASE("values of another number of words are refused, and what is beside the variable is as it was") {
  on_both(1, [](loco::Transport& node) {
    manager mgr(node);
    loco::hashed_words hashed(mgr, "hashed", 2);
    loco::guarded_words guarded(mgr, "guarded", 0, 2);
    loco::queue_of_words queue(mgr, "queue", 0, 4, 2);
    loco::var<std::uint64_t> behind(mgr, "behind");
    mgr.wait_for_ready();
    for (const std::size_t words : {std::size_t{1}, std::size_t{9}}) {
      std::vector<std::uint64_t> value(words, 7);
      require_refused<loco::size_error>("hashed", [&] { hashed.store(value); });
      require_refused<loco::size_error>("hashed, read", [&] { static_cast<void>(hashed.try_load(value)); });
      require_refused<loco::size_error>("guarded", [&] { guarded.store(value); });
      require_refused<loco::size_error>("guarded, read", [&] { static_cast<void>(guarded.try_load(value)); });
      require_refused<loco::size_error>("push", [&] { queue.push(value); });
      require_refused<loco::size_error>("try_push", [&] { static_cast<void>(queue.try_push(value)); });
      require_refused<loco::size_error>("pop", [&] { static_cast<void>(queue.pop(value)); });
      require_refused<loco::size_error>("try_pop", [&] { static_cast<void>(queue.try_pop(value)); });
    }
    std::array<std::uint64_t, 2> value{};
    require(!hashed.try_load(value), "a variable that nobody has written");
    require(guarded.try_load(value) && value == std::array<std::uint64_t, 2>{}, "and one that is all zeros");
    require(!queue.try_pop(value), "a queue that nothing is in");
    require(behind.load() == 0, "the neighbour is as it was");
  });
}

TEST_CASE("memory that no process has is refused, and what is made afterwards is in memory of its own") {
  on_both(1, [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> before(mgr, "before");
    for (const std::uint64_t size : {kEverything, kEverything - 63, std::uint64_t{1} << 62U}) {
      require_refused<loco::size_error>("a variable", [&] { const loco::shared_bytes huge(mgr, "huge", size); });
      require_refused<loco::size_error>("a block", [&] { const loco::mem_ref huge(mgr, size); });
    }
    // As many as make 2^64 bytes, which 64 bits have as none.
    for (const std::uint64_t count : {std::uint64_t{1} << 59U, std::uint64_t{1} << 60U, std::uint64_t{1} << 61U}) {
      require_refused<loco::size_error>("a value", [&] { const loco::hashed_words huge(mgr, "huge", count); });
      require_refused<loco::size_error>("a queue", [&] { const loco::queue_of_words huge(mgr, "huge", 0, count, 1); });
      require_refused<loco::size_error>("locks", [&] { const loco::mutex_array huge(mgr, "huge", count); });
      require_refused<loco::size_error>(
          "a store", [&] { const loco::kvstore huge(mgr, "huge", loco::kv_options{.slots_per_node = count}); });
    }
    loco::var<std::uint64_t> behind(mgr, "behind");
    mgr.wait_for_ready();
    require(behind.address() > before.address(), "nothing is given out twice");
  });
}

TEST_CASE("a fence or a push towards a node that does not exist is refused as a whole") {
  // Else the trace would name that node, and the unlock would leave out the fence that the counter needs.
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::uint64_t end = 0;
    const auto program = [&end](loco::Transport& node) {
      manager mgr(node);
      loco::var<std::uint64_t> counter(mgr, "counter");
      loco::mutex lock(mgr, "lock", 0);
      mgr.wait_for_ready();
      const std::array<NodeId, 3> too_many{0, 1, 9};
      for (int i = 0; i < 3; ++i) {
        const bool away = node.my_node() != 0;
        lock.lock();
        loco::ack_key key(mgr);
        if (away) counter.pull(0, key);
        key.wait();
        const std::uint64_t next = counter.load() + 1;
        counter.store(next);
        if (away) counter.push(0, key);
        require_refused<loco::ownership_error>("a push", [&] { counter.push(too_many); });
        require_refused<loco::ownership_error>("a fence", [&] { loco::global_fence(mgr, too_many); });
        end = std::max(end, next);
        lock.unlock();
      }
    };
    CHECK(on_simulator(2, program, loco::Schedule::random, seed).consistent());
    CHECK(end == 6);
  }
}

TEST_CASE("options and calls that cannot be meant are refused where they are made") {
  on_both(2, [](loco::Transport& node) {
    manager mgr(node);
    require_refused<loco::setup_error>("a ring that holds no announcement",
                                       [&] { const loco::kvstore store(mgr, "small", {.ring_bytes = 40}); });
    require_refused<loco::setup_error>(
        "a ring that nobody reads", [&] { const loco::ring_buffer ring(mgr, "unread", 0, {.threads_per_node = 0}); });
    require_refused<loco::setup_error>("a barrier that nobody comes to",
                                       [&] { const loco::barrier none(mgr, "none", {.threads_per_node = 0}); });
    loco::kvstore store(mgr, "store", {.slots_per_node = 4, .ring_bytes = 48});
    mgr.wait_for_ready();
    const auto entry = [](std::uint64_t i) { return std::pair(i, i + 1); };
    store.load(2, entry);
    require_refused<std::logic_error>("loaded twice", [&] { store.load(2, entry); });
    loco::kv_operation operation(store);
    operation.start(loco::kv_operation::Kind::lookup, 0);
    require_refused<std::logic_error>("started twice", [&] { operation.start(loco::kv_operation::Kind::lookup, 1); });
    while (!operation.poll()) node.pause();
    require(operation.result() == 1, "the first one goes on");
    require_refused<loco::setup_error>("a window of no operations", [&] { const loco::kv_window window(store, 0); });
  });
}

TEST_CASE("a mem_ref that is given back while an operation on it is in flight is refused, and nobody gets it") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    const auto refused = [&](const std::function<void()>& next) {
      std::string what;
      try {
        next();
      } catch (const std::logic_error& error) {
        what = error.what();
      }
      return what.starts_with("a mem_ref was given back while an operation on it was in flight");
    };
    loco::ack_key key(mgr);
    loco::Address lost = 0;
    {
      loco::mem_ref block(mgr, 8);
      lost = block.address();
      mgr.get(block.address(), v.copy(0), 0, 8, &key);
    }
    require(refused([&] { const loco::mem_ref next(mgr, 8); }), "the key says that it is in flight");
    require(!refused([&] { mgr.check(); }), "it is told once");
    key.wait();
    require(loco::mem_ref(mgr, 8).address() != lost, "another block");
    {
      loco::mem_ref block(mgr, 8);
      loco::ack_key inner(mgr);
      mgr.put(block.address(), v.copy(0), 0, 8, &inner, {.more = true});
      mgr.get(block.address(), v.copy(0), 0, 8, &inner);
    }
    require(refused([&] { mgr.check(); }), "its key has gone");
    loco::Address kept = 0;
    for (int i = 0; i < 3; ++i) {
      loco::mem_ref block(mgr, 8);
      require(i == 0 || block.address() == kept, "the same block again and again");
      kept = block.address();
      loco::ack_key inner(mgr);
      mgr.get(block.address(), v.copy(0), 0, 8, &inner);
      if (i == 0) inner.wait();
      if (i == 1) {
        while (!inner.poll()) node.pause();
      }
      if (i == 2) loco::global_fence(mgr);  // behind it all is done
    }
    require(!refused([&] { mgr.check(); }), "all three were waited for");
  };
  for (const auto schedule : {loco::Schedule::timed, loco::Schedule::random, loco::Schedule::adversarial})
    REQUIRE(on_simulator(1, program, schedule, 1).consistent());
}

#ifndef NDEBUG
TEST_CASE("a mem_ref that was given back, or moved from, is refused") {
  loco::test::on_threads(2, [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) {
      loco::ack_key key(mgr);
      loco::Address address = 0;
      {
        loco::mem_ref block(mgr, 8);
        address = block.address();
        mgr.get(address, v.copy(1), 0, 8, &key);
        key.wait();
        loco::mem_ref moved(std::move(block));
        require_refused<std::logic_error>("what was moved from", [&] { static_cast<void>(block.load()); });  // NOLINT
        require(moved.load() == 0, "it goes on where it was moved to");
      }
      require_refused<std::logic_error>("a block that is free", [&] { mgr.get(address, v.copy(1), 0, 8, &key); });
      require_refused<std::logic_error>("also as a source", [&] { mgr.put(address, v.copy(1), 0, 8, &key); });
      const loco::mem_ref again(mgr, 8);
      mgr.get(again.address(), v.copy(1), 0, 8, &key);
      key.wait();
    }
    bar.waiting();
  });
}
#endif
