// A cable goes down for longer than requests are repeated, and comes up again: both nodes have given each other up, and
// take each other back. What is made from then on works; what was made before stays without the other node, and nothing
// of what it had posted is done any more.
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test
using loco::manager;
using loco::NodeId;

namespace trace = loco::trace;

namespace {

constexpr std::int64_t kUs = 1'000'000;  // ps
constexpr std::int64_t kDown = 1000 * kUs;
constexpr std::int64_t kUp = 1400 * kUs;  // 80 us of repetitions, 100 us between two questions

/// Three nodes on a star; node 2's cable is down from 1 to 1.4 ms.
loco::ClusterConfig flapping(std::uint32_t nodes = 3) {
  loco::ClusterConfig config;
  config.profile = impatient();
  config.nodes = nodes;
  config.record = true;
  config.events_max = 20'000'000;
  config.network.changes = {{loco::sim::SimTime{kDown}, kDead, false}, {loco::sim::SimTime{kUp}, kDead, true}};
  return config;
}

trace::Trace run(const loco::ClusterConfig& config, const Program& program) {
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(program);
  cluster.run();
  return cluster.take_trace();
}

/// Until the nodes that were cut off from each other know of it.
void wait_for_failures(manager& mgr) {
  for (NodeId node = 0; node < mgr.num_nodes(); ++node)
    if (node != mgr.my_node() && (node == kDead || mgr.my_node() == kDead))
      while (!mgr.failed(node)) mgr.transport().compute(10 * kUs);
}

/// All that have given each other up.
void reconnect_all(manager& mgr) {
  for (NodeId node = 0; node < mgr.num_nodes(); ++node)
    if (mgr.failed(node)) mgr.reconnect(node);
}

/// A barrier, a ring, a lock and a variable, in use on all nodes. `round` tells its values from those of other rounds.
void use_all(manager& mgr, std::uint64_t round) {
  const NodeId me = mgr.my_node();
  loco::barrier bar(mgr, "bar");
  loco::ring_buffer news(mgr, "news", /*writer=*/kDead, {.bytes = 64});
  loco::mutex lock(mgr, "lock", /*home=*/0);
  loco::owned_var<std::uint64_t> counter(mgr, "counter", /*owner=*/1);
  mgr.wait_for_ready();
  for (std::uint64_t i = round; i < round + 5; ++i) {
    if (me == kDead)
      news.send(std::as_bytes(std::span(&i, 1)));
    else
      require(word_of(news.receive()) == i, "a message of the round");
  }
  for (int i = 0; i < 3; ++i) {
    const std::lock_guard held(lock);
    loco::ack_key key(mgr);
    loco::mem_ref value(mgr, 8);
    mgr.get(value.address(), counter.copy(1), 0, 8, &key);
    key.wait();
    value.store(value.load() + 1);
    mgr.put(value.address(), counter.copy(1), 0, 8, &key);
    key.wait();
  }
  bar.waiting();
  if (me == 1) require(counter.load() == 3 * mgr.num_nodes(), "all sections of all nodes");
  bar.waiting();
}

/// A store, likewise.
void use_store(manager& mgr, std::uint64_t round) {
  const NodeId me = mgr.my_node();
  const NodeId next = (me + 1) % mgr.num_nodes();
  loco::barrier bar(mgr, "of_store");
  loco::kvstore store(mgr, "kv", {.slots_per_node = 16, .locks = 2, .ring_bytes = 128});
  mgr.wait_for_ready();
  require(store.insert(round + me, 10 * round + me), "the key is new");
  bar.waiting();
  require(store.lookup(round + next) == 10 * round + next, "what the next node has inserted");
  require(store.update(round + next, round), "it is there");
  bar.waiting();
  require(store.lookup(round + me) == round, "what the one before has made of it");
  require(store.erase(round + me), "it is there");
  bar.waiting();
  require(!store.lookup(round + next), "and now it is not");
  bar.waiting();
}

}  // namespace

TEST_CASE("after a cut the nodes take each other back, and what is made anew works") {
  const auto trace = run(flapping(), [](loco::Transport& node) {
    manager mgr(node);
    mgr.wait_for_ready();
    use_all(mgr, 100);
    use_store(mgr, 100);
    wait_for_failures(mgr);
    wait_until(node, 2 * kUp);
    reconnect_all(mgr);
    for (NodeId peer = 0; peer < 3; ++peer) require(!mgr.failed(peer), "nobody is given up");
    use_store(mgr, 200);
    use_all(mgr, 200);
    require(!mgr.any_failed(), "and nobody is suspected");
    mgr.check();
  });
  require_consistent(trace, {kAllWithStores.begin(), kAllWithStores.end()});
}

namespace {

/// Node 0 puts 5 to node 1 while the cable is down, for less than it repeats; both take each other back meanwhile. What
/// node 1 has then, and later.
std::array<std::uint64_t, 2> late_put(bool connections_end, std::string* error = nullptr) {
  loco::ClusterConfig config = flapping(2);
  config.connections_end = connections_end;
  for (auto& change : config.network.changes) change.cable = 0;
  config.network.changes[1].at = {kDown + 50 * kUs};
  config.profile.nic_retry_count = 7;
  std::array<std::uint64_t, 2> seen{};
  run(config, [&](loco::Transport& node) {
    manager mgr(node);
    loco::owned_var<std::uint64_t> v(mgr, "v", 0);
    mgr.wait_for_ready();
    wait_until(node, kDown + 5 * kUs);
    loco::ack_key key(mgr);
    if (node.my_node() == 0) {
      v.store(5);
      v.push(1, key);
    }
    node.compute(5 * kUs);
    mgr.reconnect(1 - node.my_node());
    if (node.my_node() == 1) seen[0] = v.load();
    wait_until(node, 2 * kUp);
    if (node.my_node() == 1) seen[1] = v.load();
    if (node.my_node() == 0 && error != nullptr) *error = error_of([&] { key.wait(); }).what();
  });
  return seen;
}

}  // namespace

TEST_CASE("what was posted before is not done after nodes have taken each other back") {
  std::string error;
  CHECK(late_put(true, &error) == std::array<std::uint64_t, 2>{0, 0});
  CHECK_THAT(error, contains_text("put to node 1 failed") && contains_text("reconnect"));
  CHECK(late_put(false)[1] == 5);  // the queue pairs of before, left as they are, go on
}

TEST_CASE("what was made before a node was taken back does not reach it") {
  std::array<std::string, 7> told;
  const auto trace = run(flapping(), [&](loco::Transport& node) {
    manager mgr(node);
    loco::barrier bar(mgr, "bar");
    loco::ring_buffer news(mgr, "news", /*writer=*/0, {.bytes = 64});
    loco::ring_buffer few(mgr, "few", /*writer=*/0, {.bytes = 64, .leave_out_failed = true});
    loco::owned_var<std::uint64_t> v(mgr, "v", 0);
    loco::mutex there(mgr, "there", /*home=*/kDead);
    loco::kvstore store(mgr, "kv", {.slots_per_node = 16});
    mgr.wait_for_ready();
    wait_for_failures(mgr);
    wait_until(node, 2 * kUp);
    reconnect_all(mgr);
    loco::barrier again(mgr, "again");
    mgr.wait_for_ready();
    again.waiting();
    loco::ack_key key(mgr);
    const std::uint64_t word = 7;
    if (node.my_node() == 0) {
      require(!mgr.failed(kDead) && bar.lost(kDead) && !bar.lost(1) && !again.lost(kDead), "whom they have lost");
      told[0] = error_of([&] { bar.waiting(); }).what();
      v.store(3);
      v.push(kDead, key);
      told[1] = error_of([&] { key.wait(); }).what();
      told[2] = error_of([&] { there.lock(); }).what();
      told[6] = error_of([&] { loco::global_fence(mgr); }).what();  // the barrier's put
      few.send(std::as_bytes(std::span(&word, 1)));                 // to node 1
    } else if (node.my_node() == 1) {
      require(word_of(few.receive()) == 7, "of two that have not lost each other");
      require(store.insert(1, 10), "a majority goes on");
    } else {
      told[3] = error_of([&] { static_cast<void>(news.receive()); }).what();
      told[4] = error_of([&] { static_cast<void>(few.receive()); }).what();
      told[5] = error_of([&] { static_cast<void>(store.insert(2, 20)); }).what();
    }
    again.waiting();
    if (node.my_node() == kDead) require(v.load() == 0, "nothing has come");
    again.waiting();
  });
  CHECK_THAT(told[0], contains_text("'bar' waits for node 2") && contains_text("taken back"));
  CHECK_THAT(told[1], contains_text("put to node 2 failed") && contains_text("taken back"));
  CHECK_THAT(told[2], contains_text("node 2"));
  CHECK_THAT(told[3], contains_text("'news' waits for node 0") && contains_text("taken back"));
  CHECK_THAT(told[4], contains_text("'few' waits for node 0"));
  CHECK_THAT(told[5], contains_text("is out of 'kv'"));
  CHECK_THAT(told[6],
             contains_text("an operation that nobody waited for, a put to node 2") && contains_text("taken back"));
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::bal, trace::Library::rbl,
                             trace::Library::lock});
}

TEST_CASE("a reconnection that cannot be is an error, and may be tried again") {
  std::array<std::string, 3> told;
  run(flapping(), [&](loco::Transport& node) {
    manager mgr(node);
    mgr.wait_for_ready();
    const NodeId me = node.my_node();
    if (me == 0) {
      CHECK_THROWS_WITH(mgr.reconnect(0), contains_text("expected another one of 3"));
      CHECK_THROWS_WITH(mgr.reconnect(3), contains_text("expected another one of 3"));
    }
    wait_for_failures(mgr);
    if (me == 0) told[0] = error_of([&] { mgr.reconnect(kDead, 50 * kUs); }).what();  // which does not ask
    wait_until(node, kUp - 150 * kUs);
    if (me == 0) told[1] = error_of([&] { mgr.reconnect(kDead); }).what();  // the cable is down
    if (me == kDead) told[2] = error_of([&] { mgr.reconnect(0, 120 * kUs); }).what();
    wait_until(node, 2 * kUp);
    if (me == 1) require(mgr.failed(kDead) && !mgr.failed(0), "as it was");
    if (me == 0) {
      while (!mgr.asked_back(kDead)) node.compute(kUs);
      mgr.reconnect(kDead);
    }
    if (me == kDead) {
      mgr.reconnect(0);
      mgr.reconnect(1);
    }
    if (me == 1) mgr.reconnect(kDead);
    use_all(mgr, 100);
    while (mgr.any_failed()) node.pause();
  });
  CHECK_THAT(told[0], contains_text("node 2 has not taken this one back"));
  CHECK_THAT(told[1], contains_text("get to node 2 failed: transport retry counter exceeded"));
  CHECK_THAT(told[2], contains_text("node 0"));
}
