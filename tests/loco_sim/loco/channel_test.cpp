// Set-up of channels (LOCO paper, App. A.2): names, regions, joining, mismatches, nodes that stay away.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/membership/setup_message.hpp"
#include "loco_sim/loco/memory/network_memory.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/loco/thread_transport.hpp"

using loco::test::contains_text;
using loco::test::Stuck;
using loco::test::ThreadCluster;

namespace {

/// A channel with one region, which remembers who joined and who connected.
class probe : public loco::channel {
 public:
  probe(loco::manager& mgr, std::string_view name, std::uint64_t size, loco::expect_num expected)
      : channel(mgr, name, expected), remote_region(symmetric_region("mine", size)) {
    on_join([this](loco::NodeId peer) { joined.insert(peer); });
    on_connect([this](loco::NodeId peer) { connected.insert(peer); });
    join();
  }
  ~probe() override { leave(); }
  [[nodiscard]] loco::Region region_of(loco::NodeId node) const { return remote(remote_region, node); }

  RegionIndex remote_region;
  std::set<loco::NodeId> joined;
  std::set<loco::NodeId> connected;
};

}  // namespace

TEST_CASE("set-up messages survive encoding") {
  using Kind = loco::setup_message::Kind;
  const loco::setup_message join{.kind = Kind::join,
                                 .channel = "bar/sst/ov0",
                                 .life = 3,
                                 .requests = {{"val", 8}, {"other", 64}},
                                 .terms = "owned by node 2"};
  const auto back = loco::decode(loco::encode(join));
  CHECK(back.kind == join.kind);
  CHECK(back.channel == "bar/sst/ov0");
  CHECK(back.life == 3);
  REQUIRE(back.requests.size() == 2);
  CHECK(back.requests[1].name == "other");
  CHECK(back.requests[1].size == 64);
  CHECK(back.terms == "owned by node 2");

  const loco::setup_message connect{
      .kind = Kind::connect, .channel = "q", .life = 1, .offers = {{"val", {.base = 4096, .size = 16, .rkey = 7}}}};
  const auto offer = loco::decode(loco::encode(connect)).offers.at(0);
  CHECK(offer.region.base == 4096);
  CHECK(offer.region.size == 16);
  CHECK(offer.region.rkey == 7);

  for (const Kind kind : {Kind::refuse, Kind::fail}) {
    const loco::setup_message error{.kind = kind, .channel = "q", .life = 1, .reason = "node 1 has 8 bytes"};
    CHECK(loco::decode(loco::encode(error)).kind == kind);
    CHECK(loco::decode(loco::encode(error)).reason == "node 1 has 8 bytes");
  }
  CHECK_THROWS_AS(loco::decode("greet q 1\n"), loco::setup_error);
  CHECK_THROWS_AS(loco::decode("join q\nval 8\n"), loco::setup_error);
  CHECK_THROWS_AS(loco::decode("join q 1\nval eight\n"), loco::setup_error);
}

TEST_CASE("every endpoint is joined by and connected to every other one") {
  ThreadCluster cluster(3);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    probe p(mgr, "p", 16, {2});
    mgr.wait_for_ready();
    std::set<loco::NodeId> others;
    for (loco::NodeId n = 0; n < 3; ++n)
      if (n != mgr.my_node()) others.insert(n);
    if (p.connected != others) throw std::logic_error("not connected to all");
    for (const auto n : others)
      if (p.region_of(n).size != 16 || p.region_of(n).node != n) throw std::logic_error("wrong region");
    // Nobody leaves before everybody has seen everybody.
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    bar.waiting();
    if (p.joined != others) throw std::logic_error("not joined by all");
  });
}

TEST_CASE("an endpoint with one partner is joined with that one alone") {
  ThreadCluster cluster(4);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    const bool centre = mgr.my_node() == 2;
    probe p(mgr, "p", 16, centre ? loco::expect_num{3} : loco::expect_num{1, 2});
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    bar.waiting();
    const std::set<loco::NodeId> others = centre ? std::set<loco::NodeId>{0, 1, 3} : std::set<loco::NodeId>{2};
    if (p.connected != others || p.joined != others) throw std::logic_error("joined with others than it should be");
    for (const auto n : others)
      if (p.region_of(n).size != 16 || p.region_of(n).node != n) throw std::logic_error("wrong region");
    if (centre) return;
    try {
      (void)p.region_of((mgr.my_node() + 1) % 2);
    } catch (const loco::ownership_error&) {
      return;
    }
    throw std::logic_error("another one's region is out of reach");
  });
}

namespace {
/// Counts for each peer that has joined, in a sub-channel that is made when it does (LOCO paper, App. A.2).
class per_participant : public loco::channel {
 public:
  explicit per_participant(loco::manager& mgr)
      : channel(mgr, "meeting", loco::expect_num{mgr.num_nodes() - 1}), counters(mgr.num_nodes()) {
    on_join([this](loco::NodeId peer) { meet(peer); });
    join();
  }

  std::vector<std::unique_ptr<loco::var<std::uint64_t>>> counters;  ///< by peer

 private:
  /// Both of a pair make a variable of the same name.
  void meet(loco::NodeId peer) {
    if (counters[peer] != nullptr) return;
    const std::string name =
        "pair" + std::to_string(std::min(peer, my_node())) + "_" + std::to_string(std::max(peer, my_node()));
    counters[peer] = std::make_unique<loco::var<std::uint64_t>>(*this, name, loco::expect_num{1});
  }
};
}  // namespace

TEST_CASE("a callback makes a sub-channel for each participant") {
  ThreadCluster cluster(3);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    per_participant meeting(mgr);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    loco::ack_key key(mgr);
    for (loco::NodeId peer = 0; peer < 3; ++peer) {
      if (peer == mgr.my_node()) continue;
      meeting.counters[peer]->wait_for_ready();
      meeting.counters[peer]->store(10 * mgr.my_node() + peer + 1);
    }
    bar.waiting();
    for (loco::NodeId peer = mgr.my_node() + 1; peer < 3; ++peer) {
      meeting.counters[peer]->pull(peer, key);
      key.wait();
      if (meeting.counters[peer]->load() != 10 * peer + mgr.my_node() + 1) throw std::logic_error("the peer's value");
    }
    bar.waiting();
  });
}

TEST_CASE("regions are parts of a few large registrations") {
  ThreadCluster cluster(1);
  cluster.run([](loco::Transport& transport) {
    const auto require = [](bool condition, const char* what) {
      if (!condition) throw std::logic_error(what);
    };
    static_assert(loco::network_memory::kDefaultChunk == 1U << 30U);
    loco::network_memory memory(transport, 4096);
    const loco::Region a = memory.allocate(8);
    const loco::Region b = memory.allocate(100);
    const loco::Region c = memory.allocate(3000);
    require(a.rkey == b.rkey && b.rkey == c.rkey, "one registration");
    require(b.base % 64 == 0 && c.base % 64 == 0, "a region of a line or more starts on a line");
    require(a.base + 8 <= b.base && b.base + 104 <= c.base && c.base + 3000 <= a.base + 4096, "one behind the other");
    const loco::Region d = memory.allocate(2000);
    require(d.rkey != a.rkey, "what does not fit any more is in a new one");
    require(memory.allocate(64).rkey == d.rkey, "and so is what comes next");
    const loco::Region large = memory.allocate(10000);
    require(large.rkey != d.rkey, "what fits into none has one of its own");
    const loco::Region device = memory.allocate_on_device(8).region;
    require(device.rkey != large.rkey, "memory on the NIC is registered by itself");
  });
}

TEST_CASE("a channel connects although one endpoint is constructed long after the other has joined") {
  ThreadCluster cluster(2);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    mgr.wait_for_ready();
    loco::barrier first(mgr, "first");
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) {
      loco::var<std::uint64_t> late(mgr, "late");
      first.waiting();  // node 1 has not constructed its endpoint yet: it ignores this join
      late.wait_for_ready();
      first.waiting();
    } else {
      first.waiting();
      loco::var<std::uint64_t> late(mgr, "late");
      late.wait_for_ready();
      first.waiting();
    }
  });
}

TEST_CASE("an endpoint that expects more peers than it can have is told so") {
  const std::vector<std::pair<loco::expect_num, std::string>> cases = {
      {{3}, "'p' expects 3 peer(s) and can have 2 on node 1"},
      {{2, 0}, "'p' expects 2 peer(s) and can have 1 on node 1"},
      {{1, 1}, "'p' expects 1 peer(s) and can have 0 on node 1"},
      {{1, 3}, "'p': node 3 is the only one that it is joined with, there are 3 nodes"}};
  for (const auto& wrong : cases) {
    ThreadCluster cluster(3);
    CHECK_THROWS_WITH(cluster.run([&](loco::Transport& transport) {
      loco::manager mgr(transport);
      if (mgr.my_node() == 1) probe(mgr, "p", 16, wrong.first);
    }),
                      contains_text(wrong.second));
  }
}

TEST_CASE("a region of another size is an error on both sides that names both") {
  for (const loco::NodeId observed : {0U, 1U}) {
    ThreadCluster cluster(2);
    std::string message;
    cluster.run([&](loco::Transport& transport) {
      loco::manager mgr(transport);
      mgr.wait_for_ready();
      // The variable has 8 bytes on node 0 and 16 on node 1.
      loco::shared_bytes v(mgr, "v", 8 + 8 * mgr.my_node());
      try {
        mgr.wait_for_ready();
      } catch (const loco::setup_error& error) {
        if (mgr.my_node() == observed) message = error.what();
        return;
      }
      throw std::logic_error("node did not see the mismatch");
    });
    CHECK_THAT(message, contains_text("channel 'v'"));
    CHECK_THAT(message, contains_text("v.val"));
    CHECK_THAT(message, contains_text("node 0"));
    CHECK_THAT(message, contains_text("node 1"));
    CHECK_THAT(message, contains_text("8 bytes"));
    CHECK_THAT(message, contains_text("16 bytes"));
  }
}

TEST_CASE("a name used twice is an error, the same name on another node is not") {
  ThreadCluster cluster(2);
  CHECK_THROWS_WITH(cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::var<int> a(mgr, "a");
    mgr.wait_for_ready();
    loco::var<int> again(mgr, "a");
  }),
                    contains_text("'a' is used twice"));
}

TEST_CASE("names may not contain separators") {
  ThreadCluster cluster(1);
  CHECK_THROWS_AS(cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    loco::var<int> a(mgr, "a/b");
  }),
                  loco::setup_error);
}

TEST_CASE("peers need not take part in a channel") {
  ThreadCluster cluster(3);
  cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    if (mgr.my_node() == 2) {
      mgr.wait_for_ready();
      return;
    }
    loco::var<std::uint64_t> pair(mgr, "pair", loco::expect_num{1});
    mgr.wait_for_ready();
    const loco::NodeId other = 1 - mgr.my_node();
    if (pair.copy(other).node != other) throw std::logic_error("not connected");
    try {
      (void)pair.copy(2);
    } catch (const loco::ownership_error&) {
      return;
    }
    throw std::logic_error("node 2 has no copy");
  });
}

TEST_CASE("waiting for a peer that never comes is noticed") {
  ThreadCluster cluster(2);
  CHECK_THROWS_AS(cluster.run([](loco::Transport& transport) {
    loco::manager mgr(transport);
    if (mgr.my_node() == 0) loco::var<int>(mgr, "lonely").wait_for_ready();
    if (mgr.my_node() == 1) mgr.wait_for_ready();
  }),
                  Stuck);
}
