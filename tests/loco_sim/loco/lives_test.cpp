// A channel's name has several lives, of other nodes, regions and parts each time: what was said in one is nothing in
// the next. The lives of a property's run are drawn from its seed, which the report of a failure names.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using loco::manager;
using loco::NodeId;
using namespace loco::test;  // NOLINT: a test

namespace {

/// One use of a name: who has an endpoint of it, and how it is made.
struct Life {
  std::string name;
  std::set<NodeId> nodes = {};
  std::uint64_t words = 1;            ///< of its region
  bool nested = false;                ///< it has a sub-channel
  bool paired = false;                ///< and makes one for each participant, when that joins
  std::optional<NodeId> centre = {};  ///< the only one that the others are joined with
  bool waits = true;                  ///< else it goes as soon as it has come
};

/// Between the rounds all endpoints are gone everywhere, and a barrier says so.
using Round = std::vector<Life>;

struct Plan {
  std::uint32_t nodes = 0;
  std::vector<Round> rounds;
};

Plan plan_of(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const auto below = [&draw](std::uint64_t n) { return draw() % n; };
  Plan plan{.nodes = static_cast<std::uint32_t>(3 + below(3)), .rounds = std::vector<Round>(3 + below(4))};
  for (Round& round : plan.rounds)
    for (const char* name : {"x", "y"}) {
      Life life{.name = name};
      while (life.nodes.size() < 2)
        for (NodeId node = 0; node < plan.nodes; ++node)
          if (below(2) == 0) life.nodes.insert(node);
      life.words = 1 + below(3);
      life.nested = below(2) == 0;
      life.paired = below(3) == 0;
      if (!life.paired && below(4) == 0) life.centre = *life.nodes.begin();
      life.waits = below(4) != 0;
      round.push_back(life);
    }
  return plan;
}

/// Where the regions of the endpoints that live are, as those who made them say.
class Addresses {
 public:
  void note(const std::string& region, NodeId node, const loco::Region& where) {
    const std::lock_guard lock(mutex_);
    bases_[{region, node}] = {where.base, where.rkey};
  }
  [[nodiscard]] bool are(const std::string& region, NodeId node, const loco::Region& where) {
    const std::lock_guard lock(mutex_);
    return bases_[{region, node}] == std::tuple(where.base, where.rkey);
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, NodeId>, std::tuple<loco::Address, std::uint32_t>> bases_;
};

class endpoint : public loco::channel {
 public:
  endpoint(manager& mgr, const Life& life, Addresses& addresses) : channel(mgr, life.name, expected(mgr, life)) {
    start(life, addresses);
  }
  endpoint(channel& parent, const Life& life, Addresses& addresses)
      : channel(parent, life.name, expected(parent, life)) {
    start(life, addresses);
  }

  ~endpoint() override { leave(); }

  /// Once it is ready: those of this life, all of them and nobody else, have joined and are where they say.
  void check(const Life& life, Addresses& addresses) {
    for (const auto& [node, pair] : pairs_) pair->wait_for_ready();
    require(joined_ == partners(my_node(), life), "who has joined");
    require(connected_ == joined_, "who is connected");
    for (const NodeId node : joined_)
      require(addresses.are(full_name(), node, remote(region_, node)), "where its region is");
    if (part_) part_->check(part_of(life), addresses);
  }

 private:
  static std::set<NodeId> partners(NodeId me, const Life& life) {
    if (life.centre && me != *life.centre) return {*life.centre};
    std::set<NodeId> others = life.nodes;
    others.erase(me);
    return others;
  }
  template <typename Parent>
  static loco::expect_num expected(const Parent& parent, const Life& life) {
    const NodeId me = parent.my_node();
    const auto only = life.centre && me != *life.centre ? life.centre : std::nullopt;
    return {life.waits ? static_cast<std::uint32_t>(partners(me, life).size()) : 0, only};
  }
  static Life part_of(const Life& life) {
    Life part = life;
    part.name = "part";
    part.nested = part.paired = false;
    part.words = 4 - life.words;
    return part;
  }

  void start(const Life& life, Addresses& addresses) {
    region_ = symmetric_region("mine", 8 * life.words);
    addresses.note(full_name(), my_node(), local(region_));
    set_terms(std::to_string(life.nodes.size()) + " nodes");
    on_connect([this](NodeId peer) { connected_.insert(peer); });
    on_join([this, pairs = life.paired && life.waits](NodeId peer) {
      joined_.insert(peer);
      if (pairs) meet(peer);
    });
    if (life.nested) part_ = std::make_unique<endpoint>(*this, part_of(life), addresses);
    join();
  }
  void meet(NodeId peer) {
    const auto [low, high] = std::minmax({peer, my_node()});
    pairs_[peer] = std::make_unique<loco::var<std::uint64_t>>(
        *this, "pair" + std::to_string(low) + "_" + std::to_string(high), loco::expect_num{1});
  }

  RegionIndex region_ = 0;
  std::set<NodeId> joined_;
  std::set<NodeId> connected_;
  std::unique_ptr<endpoint> part_;
  std::map<NodeId, std::unique_ptr<loco::var<std::uint64_t>>> pairs_;
};

void live(manager& mgr, const Round& round, Addresses& addresses) {
  std::vector<std::pair<const Life*, std::unique_ptr<endpoint>>> endpoints;
  for (const Life& life : round)
    if (life.nodes.contains(mgr.my_node()))
      endpoints.emplace_back(&life, std::make_unique<endpoint>(mgr, life, addresses));
  for (const auto& [life, here] : endpoints) {
    if (!life->waits) continue;
    here->wait_for_ready();
    here->check(*life, addresses);
  }
}

/// All lives of a plan, one round after the other.
struct Lives {
  explicit Lives(std::uint64_t seed) : plan(plan_of(seed)) {}
  void operator()(loco::Transport& node) {
    manager mgr(node);
    loco::barrier between(mgr, "between");
    mgr.wait_for_ready();
    for (const Round& round : plan.rounds) {
      live(mgr, round, addresses);
      between.waiting();
    }
  }
  Plan plan;
  Addresses addresses;
};

void live_on_threads(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("plan of seed " << seed);
    Lives lives(seed);
    REQUIRE_NOTHROW(on_threads(lives.plan.nodes, std::ref(lives)));
  }
}

}  // namespace

TEST_CASE("a name may be used by some nodes, then by others with other regions: threads") { live_on_threads(15); }

TEST_CASE("a name may be used by some nodes, then by others, of many plans: threads", "[.long]") {
  live_on_threads(150);
}

TEST_CASE("a name may be used by some nodes, then by others with other regions: simulated") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Lives lives(seed);
    const auto schedule =
        std::array{loco::Schedule::random, loco::Schedule::adversarial, loco::Schedule::timed}[seed % 3];
    INFO("plan and schedule of seed " << seed);
    loco::model::Verdict verdict;
    REQUIRE_NOTHROW(verdict = on_simulator(lives.plan.nodes, std::ref(lives), schedule, seed));
    INFO(verdict.to_text());
    REQUIRE(verdict.consistent());
  }
}

TEST_CASE("a name that a node which stopped has left behind may be used with other regions") {
  namespace failing = loco::test::failing;
  Addresses addresses;
  const Life before{.name = "x", .nodes = {0, failing::kDead}, .words = 1};
  const Life after{.name = "x", .nodes = {0, 1}, .words = 2};
  failing::run([&](loco::Transport& node) {
    manager mgr(node);
    mgr.wait_for_ready();
    live(mgr, {before}, addresses);
    if (node.my_node() == failing::kDead) return failing::live(node);
    failing::wait_until(node, failing::kAfter);
    live(mgr, {after}, addresses);
  });
}

namespace {

/// Terms of office, each with channels of its own, which go with the barrier that ends it, or before: some nodes are in
/// the next term while others have not left this one.
struct Terms {
  std::uint64_t count = 4;
  bool one_writes = false;       ///< the ring of each term has the same writer
  bool barrier_of_term = false;  ///< the barrier is a channel of the term, too

  void operator()(loco::Transport& node) const {
    manager mgr(node);
    std::optional<loco::barrier> of_all;
    if (!barrier_of_term) of_all.emplace(mgr, "bar");
    mgr.wait_for_ready();
    for (std::uint64_t term = 0; term < count; ++term) {
      const auto writer = static_cast<NodeId>(one_writes ? 0 : term % node.num_nodes());
      std::optional<loco::barrier> of_term;
      if (barrier_of_term) of_term.emplace(mgr, "bar");
      loco::ring_buffer news(mgr, "news", writer, {.bytes = 64});
      loco::owned_var<std::uint64_t> motto(mgr, "motto", writer);
      loco::var<std::uint64_t> few(mgr, "few", loco::expect_num{1});
      loco::mutex lock(mgr, "lock", writer);
      mgr.wait_for_ready();
      if (node.my_node() == writer) {
        motto.store(term + 7);
        motto.push_broadcast();
        for (std::uint64_t i = term * 10; i < term * 10 + 5; ++i) news.send(std::as_bytes(std::span(&i, 1)));
      } else {
        for (std::uint64_t i = 0; i < 5; ++i)
          require(word_of(news.receive()) == term * 10 + i, "a message of this term");
      }
      { const std::lock_guard held(lock); }
      (of_all ? *of_all : *of_term).waiting();
      require(motto.load() == term + 7, "the motto of this term");
    }
  }
};

}  // namespace

TEST_CASE("a name may be used in a loop, by channels and by the barrier that ends a turn") {
  for (const bool one_writes : {false, true})
    for (const bool barrier_of_term : {false, true}) {
      const Terms terms{.one_writes = one_writes, .barrier_of_term = barrier_of_term};
      INFO("one writes: " << one_writes << ", barrier of the term: " << barrier_of_term);
      on_threads(4, terms);
      on_many_schedules(4, terms, 20);
    }
}

TEST_CASE("a name may be used in a loop, under many schedules", "[.long]") {
  for (const bool one_writes : {false, true})
    for (const bool barrier_of_term : {false, true})
      on_many_schedules(4, Terms{.one_writes = one_writes, .barrier_of_term = barrier_of_term}, 300);
}

TEST_CASE("who joins late is sent what is broadcast from then on") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    std::optional<loco::var<std::uint64_t>> v;
    const auto join = [&] {
      v.emplace(mgr, "v", loco::expect_num{1});
      mgr.wait_for_ready();
    };
    if (node.my_node() < 2) join();
    if (node.my_node() == 0) {
      v->store(1);
      v->push_broadcast();
    }
    bar.waiting();
    if (node.my_node() == 3) join();
    bar.waiting();
    if (node.my_node() == 2) join();
    bar.waiting();
    // Each has a peer, but the one that a late one has met need not be node 0: that is told of it in its own time.
    for (std::uint64_t i = 2; v->load() == 0 || node.my_node() == 0; ++i) {
      if (node.my_node() != 0) {
        node.pause();
        continue;
      }
      const bool all = v->peers().size() == 3;
      v->store(i);
      v->push_broadcast();
      if (all) break;
      node.pause();
    }
    bar.waiting();
    require(v->load() >= 2 || node.my_node() == 1, "the late ones have been sent something");
    require(v->load() >= 1, "and the early one");
  };
  on_threads(4, program);
  on_many_schedules(4, program, 20);
}

TEST_CASE("an object with a home is ready once the home has joined, whoever has joined before") {
  const auto program = [](loco::Transport& node) {
    manager mgr(node);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    const bool home = node.my_node() == 0;
    if (home) bar.waiting();
    loco::atomic_var<std::uint64_t> count(mgr, "count", 0, 0, loco::expect_num{1});
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 4, 0, loco::expect_num{1});
    loco::mutex lock(mgr, "lock", 0, {.peers = loco::expect_num{1}});
    loco::var<std::uint64_t> last(mgr, "last", loco::expect_num{1});
    if (!home) {
      last.wait_for_ready();  // messages come in order: nodes 1 and 2 have met in the others, too
      require(!count.ready() && !queue.ready() && !lock.ready(), "nothing can be done without the home");
      bar.waiting();
    }
    mgr.wait_for_ready();
    count.fetch_add(1);
    queue.push(node.my_node());
    { const std::lock_guard held(lock); }
    bar.waiting();
    require(count.load() == 3, "each node has counted");
    bar.waiting();
  };
  on_threads(3, program);
  on_many_schedules(3, program, 20);
}
