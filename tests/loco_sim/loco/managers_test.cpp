// One manager of a node after the other: all nodes make theirs anew, or one alone, which the others take back.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using loco::manager;
using loco::NodeId;
using namespace loco::test;  // NOLINT: a test

namespace {

/// What the nodes do in one turn, under a manager of its own; a turn's objects need not be those of the one before.
struct Turn {
  bool ring = false, lock = false, store = false;
  bool helper = false;       ///< a second thread of each node uses the manager, too
  bool left_behind = false;  ///< puts that nobody waits for are on their way when the manager goes
  std::uint64_t words = 1;   ///< of what the turn writes to
};

std::vector<Turn> turns_of(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const auto below = [&draw](std::uint64_t n) { return draw() % n; };
  std::vector<Turn> turns(2 + below(3));
  for (Turn& turn : turns)
    turn = {.ring = below(2) == 0,
            .lock = below(2) == 0,
            .store = below(3) == 0,
            .helper = below(2) == 0,
            .left_behind = below(2) == 0,
            .words = 1 + below(3)};
  return turns;
}

class Turns {
 public:
  explicit Turns(std::vector<Turn> turns) : turns_(std::move(turns)) {}

  void operator()(loco::Transport& node) const {
    for (std::uint64_t i = 0; i < turns_.size(); ++i) take(node, turns_[i], i);
  }

 private:
  static void take(loco::Transport& node, const Turn& turn, std::uint64_t number) {
    manager mgr(node);
    loco::barrier bar(mgr, "bar");
    loco::shared_bytes all(mgr, "all", 8 * turn.words);
    std::optional<loco::ring_buffer> news;
    std::optional<loco::mutex> lock;
    std::optional<loco::kvstore> store;
    const auto writer = static_cast<NodeId>(number % node.num_nodes());
    if (turn.ring) news.emplace(mgr, "news", writer, loco::ring_options{.bytes = 64});
    if (turn.lock) lock.emplace(mgr, "lock", writer);
    if (turn.store) store.emplace(mgr, "kv", loco::kv_options{.slots_per_node = 8, .locks = 1, .ring_bytes = 64});
    mgr.wait_for_ready();
    const loco::Flag ended = node.make_flag();
    if (turn.helper) node.spawn("helper", [&] { help(mgr, all, ended); });
    if (news && node.my_node() == writer)
      for (std::uint64_t i = 0; i < 5; ++i) news->send(std::as_bytes(std::span(&i, 1)));
    else if (news)
      for (std::uint64_t i = 0; i < 5; ++i) require(news->receive().size() == 8, "a message of this turn");
    if (lock) const std::lock_guard held(*lock);
    const NodeId next = (node.my_node() + 1) % node.num_nodes();
    if (store) require(store->insert(node.my_node(), number * 10 + node.my_node() + 1), "the key is new");
    bar.waiting();
    if (store) require(store->lookup(next) == number * 10 + next + 1, "what the next node has inserted");
    while (turn.helper && node.flag_load(ended) == 0) node.pause();
    bar.waiting();
    if (turn.left_behind) push(mgr, all, next);
  }

  static void help(manager& mgr, loco::shared_bytes& all, loco::Flag ended) {
    push(mgr, all, (mgr.my_node() + 1) % mgr.num_nodes());
    loco::global_fence(mgr);
    mgr.transport().flag_fetch_or(ended, 1);
  }
  static void push(manager& mgr, loco::shared_bytes& all, NodeId to) {
    const loco::mem_ref words(mgr, all.copy(to).size);
    mgr.put(words.address(), all.copy(to), 0, all.copy(to).size);
  }

  std::vector<Turn> turns_;
};

void require_turns(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t seed = first; seed <= last; ++seed) {
    const auto schedule =
        std::array{loco::Schedule::random, loco::Schedule::adversarial, loco::Schedule::timed}[seed % 3];
    INFO("turns and schedule of seed " << seed);
    loco::ClusterConfig config;
    config.nodes = 2 + seed % 3;
    config.schedule = schedule;
    config.seed = seed;
    config.record = true;
    config.events_max = 5'000'000;
    loco::SimulatedCluster cluster(config);
    cluster.spawn_everywhere(Turns(turns_of(seed)));
    REQUIRE_NOTHROW(cluster.run());
    const loco::model::Verdict verdict = loco::model::check(cluster.take_trace(), kAllWithStores, {});
    INFO(verdict.to_text());
    REQUIRE(verdict.consistent());
  }
}

}  // namespace

TEST_CASE("nodes have one manager after the other: simulated") { require_turns(1, 60); }

TEST_CASE("nodes have one manager after the other, in many runs", "[.long]") { require_turns(1001, 2000); }

TEST_CASE("nodes have one manager after the other: threads") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("turns of seed " << seed);
    REQUIRE_NOTHROW(on_threads(3, Turns(turns_of(seed))));
  }
}

TEST_CASE("the managers of a node share its registrations") {
  std::array<std::uint32_t, 20> registered{};
  loco::ClusterConfig config;
  config.schedule = loco::Schedule::random;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](loco::Transport& node) {
    for (std::uint32_t& made : registered) {
      manager mgr(node, 1U << 20U);
      loco::barrier bar(mgr, "bar");
      loco::shared_bytes bytes(mgr, "bytes", 1U << 18U);
      mgr.wait_for_ready();
      bytes.push_broadcast();
      bar.waiting();
      if (node.my_node() == 0) made = mgr.memory().registrations();
      CHECK_THROWS_WITH(manager(node), contains_text("has a manager already"));
    }
  });
  cluster.run();
  CHECK(registered.back() == registered[registered.size() / 2]);  // what one leaves behind is soon used again
}

TEST_CASE("a node whose manager is made anew is taken back by those that keep theirs") {
  const auto program = [](loco::Transport& node) {
    const NodeId me = node.my_node();
    auto mgr = std::make_unique<manager>(node);
    {
      loco::barrier bar(*mgr, "bar");
      mgr->wait_for_ready();
      bar.waiting();
      failing::fence_each(*mgr);  // the barrier's puts: others may still be in it
    }
    std::optional<loco::var<std::uint64_t>> kept;
    if (me != 2) {
      kept.emplace(*mgr, "kept", loco::expect_num{1});
      mgr->wait_for_ready();
    } else {
      mgr.reset();
      mgr = std::make_unique<manager>(node);
    }
    for (NodeId peer = 0; peer < 3; ++peer)
      if (peer != me && (peer == 2 || me == 2)) mgr->reconnect(peer);
    loco::barrier bar(*mgr, "bar");
    loco::owned_var<std::uint64_t> v(*mgr, "v", 2);
    mgr->wait_for_ready();
    if (me == 2) {
      v.store(5);
      v.push_broadcast();
    }
    if (me == 0) {
      kept->store(3);
      kept->push(1);
    }
    bar.waiting();
    require(v.load() == 5, "from the new manager");
    require(me != 1 || kept->load() == 3, "two that have not lost each other");
    bar.waiting();
  };
  on_threads(3, program);
  on_many_schedules(3, program, 30);
}
