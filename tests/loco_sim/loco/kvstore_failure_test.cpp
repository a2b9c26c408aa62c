// A node stops: the key-value store of those that go on.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test

namespace trace = loco::trace;

namespace {

constexpr std::uint64_t kKeys = 60;

/// What became of a survivor's operations.
struct Updates {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
};

/// Updates keys of its own, before node 2 stops and after; a failed update may or may not have been done.
Updates update_all(loco::Transport& node, loco::kvstore& store, std::vector<std::optional<std::uint64_t>>& known) {
  Updates outcome;
  for (std::uint64_t round = 1; round <= 40; ++round) {
    for (std::uint64_t key = node.my_node(); key < kKeys; key += 2) {
      const std::uint64_t value = (round << 32U) + key + 1;
      try {
        require(store.update(key, value), "a loaded key is updated");
        known[key] = value;
        ++outcome.done;
      } catch (const loco::operation_error& error) {
        require(error.peer() == kDead, "only the node that stopped fails");
        known[key].reset();
        ++outcome.failed;
      }
    }
    if (round == 20) wait_until(node, kAfter);
  }
  return outcome;
}

/// Looks up all keys; those on the node that stopped are an error.
void look_at_all(loco::kvstore& store, const std::vector<std::optional<std::uint64_t>>& known, std::uint64_t mine) {
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const bool there = key % 3 != kDead;  // entry i is on node i modulo nodes
    try {
      const std::optional<std::uint64_t> value = store.lookup(key);
      require(there && value.has_value(), "a survivor's key is found");
      require((*value & 0xffffffffU) == key + 1, "with a value of its own");
      if (key % 2 == mine && known[key]) require(value == known[key], "the one that was written last");
    } catch (const loco::operation_error& error) {
      require(!there && error.peer() == kDead, "a key on a node that answers is not lost");
    }
  }
}

}  // namespace

TEST_CASE("a key-value store goes on without a node that stopped") {
  std::array<Updates, 2> outcomes;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 64, .locks = 30});
    loco::barrier everybody(mgr, "everybody");
    std::optional<loco::barrier> rest;
    if (node.my_node() != kDead) rest.emplace(mgr, "rest", survivors());
    mgr.wait_for_ready();
    store.load(kKeys, [](std::uint64_t i) { return std::pair(i, i + 1); });
    everybody.waiting();
    if (node.my_node() == kDead) {
      // Other values than the survivors', whose rounds are 1 to 40: linearisability is decided by them.
      for (std::uint64_t i = 0;; ++i) static_cast<void>(store.update(i % kKeys, ((i + 1000) << 32U) + i % kKeys + 1));
    }
    std::vector<std::optional<std::uint64_t>> known(kKeys);
    Updates& outcome = outcomes.at(node.my_node());
    // Node 2 writes all keys until it stops: only afterwards what a survivor has written stays.
    outcome = update_all(node, store, known);
    rest->waiting();
    look_at_all(store, known, node.my_node());
    rest->waiting();
    // New keys come and go among the survivors; the store needs nobody's acknowledgement but theirs. Of any three keys
    // in a row not all can have their lock on node 2.
    std::vector<std::uint64_t> inserted;
    for (std::uint64_t key = 1000 + 100 * node.my_node(); key < 1030 + 100 * node.my_node(); ++key) {
      try {
        if (store.insert(key, key)) inserted.push_back(key);
      } catch (const loco::operation_error&) {
        require(!store.lookup(key), "an insert without its lock has done nothing");
      }
    }
    require(!inserted.empty(), "some inserts succeed");
    rest->waiting();
    for (std::uint64_t key = 1000; key < 1030; ++key)
      for (const std::uint64_t k : {key, key + 100})
        if (const auto value = store.lookup(k)) require(*value == k, "what was inserted is found on both nodes");
    for (const std::uint64_t key : inserted) {
      require(store.lookup(key) == key, "what was inserted is found");
      require(store.erase(key), "and erased");
      require(!store.lookup(key), "and gone");
    }
    rest->waiting();
  });
  for (const Updates& outcome : outcomes) {
    CHECK(outcome.done > 0);
    CHECK(outcome.failed > 0);
  }
  require_consistent(trace,
                     {trace::Library::rdmawait, trace::Library::rbl, trace::Library::lock, trace::Library::kvstore});
}

TEST_CASE("a kvstore call that finds no free slot lets go of its lock") {
  on_threads(2, [](loco::Transport& node) {
    loco::manager mgr(node);
    loco::kvstore store(mgr, "store", {.slots_per_node = 1, .locks = 1});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == 0) {
      require(store.insert(1, 1), "the first key has room");
      bool thrown = false;
      try {
        store.insert(2, 1);
      } catch (const loco::size_error&) {
        thrown = true;
      }
      require(thrown, "the second one has not");
      require(store.update(1, 2), "the one lock is free again");
    }
    bar.waiting();
    require(store.update(1, 3), "for other nodes, too");
    bar.waiting();
  });
}
