// Set-up of channels (LOCO paper, App. A.2): names, regions, joining, mismatches, nodes that stay away.
#include <set>

#include "loco_sim/loco/barrier.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/setup_message.hpp"
#include "loco_sim/loco/var.hpp"
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
  [[nodiscard]] loco::Region region_of(loco::NodeId node) const { return remote(remote_region, node); }

  RegionIndex remote_region;
  std::set<loco::NodeId> joined;
  std::set<loco::NodeId> connected;
};

}  // namespace

TEST_CASE("set-up messages survive encoding") {
  loco::setup_message join{loco::setup_message::Kind::join, "bar/sst/ov0", {{"val", 8}, {"other", 64}}, {}, {}};
  const auto back = loco::decode(loco::encode(join));
  CHECK(back.kind == join.kind);
  CHECK(back.channel == "bar/sst/ov0");
  REQUIRE(back.requests.size() == 2);
  CHECK(back.requests[1].name == "other");
  CHECK(back.requests[1].size == 64);

  loco::setup_message connect{loco::setup_message::Kind::connect, "q", {}, {{"val", {0, 4096, 16, 7}}}, {}};
  const auto offer = loco::decode(loco::encode(connect)).offers.at(0);
  CHECK(offer.region.base == 4096);
  CHECK(offer.region.size == 16);
  CHECK(offer.region.rkey == 7);

  loco::setup_message refuse{loco::setup_message::Kind::refuse, "q", {}, {}, "node 1 has 8 bytes"};
  CHECK(loco::decode(loco::encode(refuse)).reason == "node 1 has 8 bytes");
  CHECK_THROWS_AS(loco::decode("greet q\n"), loco::setup_error);
  CHECK_THROWS_AS(loco::decode("join q\nval eight\n"), loco::setup_error);
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
