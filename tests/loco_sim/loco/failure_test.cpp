// A node stops: what the others notice, and that what they share without it stays whole. The hardware repeats a request
// 3 times, 20 us apart; nodes ask each other every 100 us (ClusterConfig::keep_alive).
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/barrier.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/kvstore.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/mutex.hpp"
#include "loco_sim/loco/ring_buffer.hpp"
#include "loco_sim/loco/var.hpp"
#include "loco_sim/run/run.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using namespace loco::test;  // NOLINT: a test
using namespace loco::sim::literals;

namespace model = loco::model;

namespace {

constexpr loco::NodeId kDead = 2;
constexpr std::int64_t kStop = 200'000'000;              // ps
constexpr std::int64_t kAfter = 2 * kStop;               // when a survivor looks
constexpr std::int64_t kNoticed = (3 + 1) * 20'000'000;  // the first attempt and 3 repetitions
constexpr std::int64_t kRoundTrip = 10'000'000;          // more than any operation takes on this idle machine

loco::nic::HardwareProfile impatient() {
  loco::nic::HardwareProfile p = round_profile();
  p.nic_ack_timeout = 20_us;
  p.nic_retry_count = 3;
  return p;
}

/// Node 2 of three stops; the trace of what happened.
model::Trace run(const Program& program) {
  loco::ClusterConfig config;
  config.profile = impatient();
  config.nodes = 3;
  config.record = true;
  config.stops = {{kDead, {kStop}}};
  config.events_max = 20'000'000;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(program);
  cluster.run();
  return cluster.take_trace();
}

void require_consistent(const model::Trace& trace, std::vector<model::Library> libraries) {
  const model::Verdict verdict = model::check(trace, libraries, {});
  INFO(verdict.to_text());
  CHECK(verdict.consistent());
}

/// The error that `f` ends with; fails the test when it does not.
template <typename F>
loco::operation_error error_of(const F& f) {
  try {
    f();
  } catch (const loco::operation_error& error) {
    return error;
  }
  throw std::logic_error("a call that needs the node that stopped has returned");
}

/// A barrier of the nodes that go on.
loco::barrier_options survivors() {
  return {.fence = loco::barrier_options::Fence::participants, .participants = {0, 1}};
}

void wait_until(loco::Transport& node, std::int64_t ps) {
  if (node.now_ps() < ps) node.compute(ps - node.now_ps());
}

/// On the node that stops: it would end much later.
void live(loco::Transport& node) { wait_until(node, 100 * kStop); }

}  // namespace

TEST_CASE("an operation towards a node that stopped fails within the retries, and says what it was and where to") {
  std::optional<std::string> what;
  std::int64_t took = 0;
  const model::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> value(mgr, "value");
    loco::var<std::uint64_t> other(mgr, "other");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    if (node.my_node() == 1) return;
    wait_until(node, kStop + 1);
    const std::int64_t start = node.now_ps();
    loco::ack_key key(mgr);
    const loco::operation_error error = error_of([&] {
      value.push(kDead, key);
      key.wait();
    });
    took = node.now_ps() - start;
    what = error.what();
    require(error.peer() == kDead && error.status() == loco::Status::retry_exc_err, "the error names peer and status");
    require(mgr.failed(kDead) && !mgr.failed(1), "and the node is known as failed, no other one");
    // The key may follow other operations then, and node 1 is as it was.
    key.forget();
    other.store(7);
    other.push(1, key);
    key.wait();
    other.pull(1, key);
    key.wait();
    require(other.load() == 7, "a survivor's variable is written and read");
  });
  CHECK(what == "node 0: put to node 2 failed: transport retry counter exceeded");
  CHECK(took >= kNoticed);
  CHECK(took <= kNoticed + kRoundTrip);
  require_consistent(trace, {model::Library::rdmawait, model::Library::sv});
}

TEST_CASE("an operation that nobody waits for is told of once") {
  std::optional<std::string> what;
  run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> value(mgr, "value");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    if (node.my_node() == 1) return;
    wait_until(node, kStop + 1);
    value.push(kDead);
    node.compute(kNoticed + kRoundTrip);
    what = error_of([&] { mgr.check(); }).what();
    mgr.check();
  });
  CHECK(what ==
        "node 0: an operation that nobody waited for, a put to node 2 failed: transport retry counter exceeded");
}

TEST_CASE("a barrier that a stopped node does not reach is an error, not a deadlock") {
  std::array<std::string, 2> what;
  const model::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::barrier everybody(mgr, "everybody");
    loco::var<std::uint64_t> value(mgr, "value");
    std::optional<loco::barrier> rest;
    if (node.my_node() != kDead) rest.emplace(mgr, "rest", survivors());
    mgr.wait_for_ready();
    everybody.waiting();
    if (node.my_node() == kDead) return live(node);  // has answered all fences, and is silent from then on
    what.at(node.my_node()) = error_of([&] { everybody.waiting(); }).what();
    // What the survivors share works as before.
    for (std::uint64_t i = 1; i <= 5; ++i) {
      if (node.my_node() == 0) {
        value.store(i);
        value.push(1);
      }
      rest->waiting();
      require(value.load() == i, "a value is there behind the barrier");
      rest->waiting();
    }
  });
  CHECK(what[0] == "node 0: 'everybody' waits for node 2, which does not answer");
  CHECK(what[1] == "node 1: 'everybody' waits for node 2, which does not answer");
  require_consistent(trace, {model::Library::rdmawait, model::Library::sv, model::Library::bal});
}

TEST_CASE("the fence of a barrier towards a stopped node is an error") {
  std::optional<std::string> what;
  run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    if (node.my_node() == 1) return;
    wait_until(node, kStop + 1);
    what = error_of([&] { bar.waiting(); }).what();
  });
  CHECK(what == "node 0: get to node 2 failed: transport retry counter exceeded");
}

TEST_CASE("a ring buffer whose writer or reader stops is an error on the other side") {
  std::optional<std::string> receiving;
  std::optional<std::string> sending;
  std::uint64_t received = 0;
  const model::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::ring_buffer from_dead(mgr, "from_dead", kDead);
    loco::ring_buffer to_all(mgr, "to_all", 0, {.bytes = 64});
    std::optional<loco::ring_buffer> to_one;
    if (node.my_node() != kDead) to_one.emplace(mgr, "to_one", 0, loco::ring_options{.bytes = 64, .readers = {1}});
    mgr.wait_for_ready();
    const std::array<std::uint64_t, 2> text = {1, 2};
    if (node.my_node() == kDead) {
      from_dead.send(std::as_bytes(std::span(text)));
      return live(node);
    }
    static_cast<void>(from_dead.receive());
    if (node.my_node() == 1) {
      // All that node 0 has sent to it alone, in order, whatever becomes of the others.
      for (std::uint64_t i = 0; i < 20; ++i) {
        std::uint64_t word = 0;
        to_one->receive([&](std::span<const std::byte> bytes) { std::memcpy(&word, bytes.data(), sizeof word); });
        require(word == i, "messages come in order");
        ++received;
      }
      return;
    }
    receiving = error_of([&] { static_cast<void>(from_dead.receive()); }).what();
    sending = error_of([&] {
                for (int i = 0; i < 100; ++i) to_all.send(std::as_bytes(std::span(text)));
              }).what();
    for (std::uint64_t i = 0; i < 20; ++i) to_one->send(std::as_bytes(std::span(&i, 1)));
  });
  CHECK(receiving == "node 0: 'from_dead' waits for node 2, which does not answer");
  REQUIRE(sending.has_value());
  CHECK_THAT(*sending, contains_text("node 2"));
  CHECK(received == 20);
  require_consistent(trace, {model::Library::rdmawait, model::Library::sv, model::Library::rbl});
}

TEST_CASE("a lock that a stopped node holds is an error for those who wait, and no other lock suffers") {
  std::array<std::string, 2> what;
  std::uint64_t counted = 0;
  const model::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex held(mgr, "held", 1);
    loco::mutex lost(mgr, "lost", kDead);
    loco::mutex good(mgr, "good", 1);
    loco::var<std::uint64_t> counter(mgr, "counter");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) {
      held.lock();
      return live(node);
    }
    wait_until(node, kAfter);
    what.at(node.my_node()) = error_of([&] { held.lock(); }).what();
    CHECK_THAT(std::string(error_of([&] { lost.lock(); }).what()), contains_text("to node 2 failed"));
    // A counter on node 1, under the lock that nobody took away.
    loco::ack_key key(mgr);
    for (int i = 0; i < 10; ++i) {
      good.lock();
      counter.pull(1, key);
      key.wait();
      counter.store(counter.load() + 1);
      counter.push(1, key);
      key.wait();
      if (node.my_node() == 1) counted = counter.load();
      good.unlock();
    }
    if (node.my_node() == 1) {
      node.compute(kAfter);
      counted = counter.load();
    }
  });
  CHECK_THAT(what[0], contains_text("lock 0 of 'held' does not come free; node 2, which does not answer, may have it"));
  CHECK_THAT(what[1], contains_text("lock 0 of 'held' does not come free"));
  CHECK(counted == 20);
  require_consistent(trace, {model::Library::rdmawait, model::Library::sv, model::Library::lock});
}

namespace {

constexpr std::uint64_t kKeys = 60;

/// What became of a survivor's operations.
struct Outcome {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
};

/// Updates keys of its own, before node 2 stops and after; a failed update may or may not have been done.
Outcome update_all(loco::Transport& node, loco::kvstore& store, std::vector<std::optional<std::uint64_t>>& known) {
  Outcome outcome;
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
  std::array<Outcome, 2> outcomes;
  const model::Trace trace = run([&](loco::Transport& node) {
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
    Outcome& outcome = outcomes.at(node.my_node());
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
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.done > 0);
    CHECK(outcome.failed > 0);
  }
  require_consistent(trace,
                     {model::Library::rdmawait, model::Library::rbl, model::Library::lock, model::Library::kvstore});
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

TEST_CASE("a scenario in which a host stops ends with what the others noticed") {
  const std::string text = R"(
hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}
topology: {kind: star, nodes: 4}
fabric: {failures: [{host: h3, stops: 100us}]}
workload: {kind: barrier, iterations: 10000}
check: []
)";
  CHECK_THROWS_WITH(loco::run(loco::scenario::parse_scenario(text, "stops.yaml")), contains_text("node 3"));
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), from.size(), to);
    static_cast<void>(loco::scenario::parse_scenario(wrong, "stops.yaml"));
  };
  CHECK_THROWS_WITH(refused("h3", "s0"), contains_text("expected a host"));
  CHECK_THROWS_WITH(refused("h3", "h4"), contains_text("one of 4 hosts"));
  CHECK_THROWS_WITH(refused("check: []", "schedule: random"), contains_text("so that hosts can stop"));
}

TEST_CASE("a workload that needs a host which stops ends with an error that names it") {
  for (const std::string workload :
       {"{kind: quickstart}", "{kind: barrier}", "{kind: lock}", "{kind: transactions}", "{kind: message_passing}",
        "{kind: broadcast, over: variables, outstanding: 4}", "{kind: broadcast, over: ring_buffer, outstanding: 4}",
        "{kind: kvstore, threads_per_node: 2}", "{kind: dcdc}"}) {
    const std::string text =
        "hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}\n"
        "topology: {kind: star, nodes: 4}\n"
        "fabric: {failures: [{host: h1, stops: 60us}]}\n"
        "limits: {events: 3000000}\n"
        "check: []\nworkload: " +
        workload + "\n";
    INFO(workload);
    CHECK_THROWS_WITH(
        loco::run(loco::scenario::parse_scenario(text, "stops.yaml")),
        contains_text("node 1") && (contains_text("does not answer") || contains_text(" to node 1 failed")));
  }
}
