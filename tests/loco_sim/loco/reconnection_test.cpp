// A cable goes down for longer than requests are repeated, and comes up again: both nodes have given each other up, and
// take each other back. What is made from then on works; what was made before stays without the other node, and nothing
// of what it had posted is done any more.
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "loco_sim/loco/kvstore.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/mutex.hpp"
#include "loco_sim/loco/ring_buffer.hpp"
#include "loco_sim/loco/var.hpp"
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

std::uint64_t word_of(const loco::ring_buffer::Message& message) {
  std::uint64_t word = 0;
  std::memcpy(&word, message.data(), sizeof word);
  return word;
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
  for (const auto use : {use_all, use_store}) {
    const auto trace = run(flapping(), [use](loco::Transport& node) {
      manager mgr(node);
      mgr.wait_for_ready();
      use(mgr, 100);
      wait_for_failures(mgr);
      wait_until(node, 2 * kUp);
      reconnect_all(mgr);
      for (NodeId peer = 0; peer < 3; ++peer) require(!mgr.failed(peer), "nobody is given up");
      use(mgr, 200);
      require(!mgr.any_failed(), "and nobody is suspected");
      mgr.check();
    });
    if (use == use_all)
      require_consistent(trace, {kAllLibraries.begin(), kAllLibraries.end()});
    else
      require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::bal, trace::Library::lock,
                                 trace::Library::kvstore});
  }
}
