// Work requests posted as a list (Tell::with_next), and operations of which nobody waits to hear (Tell::if_failed).
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "loco_sim/transport/cluster.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/small_cluster.hpp"

using loco::Completion;
using loco::Region;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::Status;
using loco::Tell;
using loco::Transport;
using loco::test::config;
using loco::test::contains_text;

namespace {

constexpr std::uint64_t kBytes = 64;

/// Node 0, with memory of its own and of node 1, and a thread that polls.
struct PostingNode {
  Transport& node;
  Region here, there;
  loco::Flag polled;
  std::vector<Completion>& done;

  /// Until so many completions have come; all that have.
  const std::vector<Completion>& completions(std::size_t count) const {
    while (node.flag_load(polled) < count) node.pause();
    return done;
  }
};

/// Runs a program; returns the machine's counters.
loco::nic::Counters run_program(loco::ClusterConfig c, const std::function<void(const PostingNode&)>& program) {
  SimulatedCluster cluster(std::move(c));
  std::optional<Region> there;
  std::vector<Completion> done;
  cluster.spawn(1, "owner", [&](Transport& node) { there = node.allocate(kBytes); });
  cluster.spawn(0, "main", [&](Transport& node) {
    PostingNode m{node, node.allocate(kBytes), {}, node.make_flag(), done};
    while (!there) node.compute(1000);
    m.there = *there;
    const auto poll = [&node, &done, polled = m.polled] {
      std::array<Completion, 4> some;
      while (true) {
        const std::size_t n = node.poll(some);
        done.insert(done.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
        if (n == 0)
          node.pause();
        else
          node.flag_fetch_add(polled, n);
      }
    };
    node.spawn("poller", poll, true);
    program(m);
  });
  cluster.run();
  return cluster.system().counters();
}

}  // namespace

TEST_CASE("a list of work requests has one doorbell, and the completion of its last one stands for all") {
  const auto doorbells = [](Tell tell) {
    return run_program(config(2),
                       [tell](const PostingNode& m) {
                         m.node.store(m.here.base, 42);
                         m.node.put(m.here.base, m.there, 8, 8, {.token = 1, .work_id = 0, .tell = tell});
                         m.node.get(m.here.base + 16, m.there, 8, 8, {.token = 2});
                         const std::size_t expected = tell == Tell::with_next ? 1 : 2;
                         CHECK(m.completions(expected).back().token == 2);
                         CHECK(m.node.load(m.here.base + 16) == 42);  // the put has been done before
                         m.node.compute(100'000'000);
                         CHECK(m.done.size() == expected);
                       })
        .doorbells;
  };
  CHECK(doorbells(Tell::always) == 2);
  CHECK(doorbells(Tell::with_next) == 1);
}

TEST_CASE("lists and operations that nobody waits for go through the shortest send queues") {
  const std::uint32_t entries = GENERATE(1U, 2U, 3U, 5U, 8U);
  const Schedule schedule = GENERATE(Schedule::timed, Schedule::random, Schedule::adversarial);
  CAPTURE(entries, schedule);
  constexpr std::uint64_t kRounds = 40;
  loco::ClusterConfig c = config(2, schedule);
  c.send_queue_entries = entries;
  run_program(c, [&](const PostingNode& m) {
    const auto add = [&m](std::uint64_t token, Tell tell) {
      m.node.fetch_add(m.here.base, m.there, 0, 1, {.token = token, .work_id = 0, .tell = tell});
    };
    for (std::uint64_t i = 1; i <= kRounds; ++i) {  // a list of three, one for itself
      add(7, Tell::with_next);
      add(7, Tell::with_next);
      add(8, Tell::if_failed);
      add(9, Tell::if_failed);
    }
    add(1, Tell::always);
    std::size_t come = 1;
    while (m.completions(come).back().token != 1) come = m.done.size() + 1;
    CHECK(m.node.load(m.here.base) == 4 * kRounds);
  });
}

TEST_CASE("of operations that nobody waits for, one in half a send queue asks for a completion") {
  constexpr std::uint64_t kPuts = 40;
  loco::ClusterConfig c = config(2);
  c.send_queue_entries = 8;
  run_program(c, [](const PostingNode& m) {
    for (std::uint64_t i = 0; i < kPuts; ++i) m.node.put(m.here.base, m.there, 0, 8, {.tell = Tell::if_failed});
    m.node.put(m.here.base, m.there, 0, 8, {.token = 1});
    CHECK(m.completions(kPuts / 4 + 1).back().token == 1);  // they come in the order of their work requests
  });
}

TEST_CASE("what fails in a list says so by itself, and what is behind it is flushed") {
  run_program(config(2), [](const PostingNode& m) {
    Region wrong = m.there;
    wrong.rkey += 1;
    m.node.put(m.here.base, wrong, 0, 8, {.token = 1, .work_id = 0, .tell = Tell::with_next});
    m.node.get(m.here.base, m.there, 0, 8, {.token = 2});
    const std::vector<Completion>& done = m.completions(2);
    CHECK(done[0].token == 1);
    CHECK(done[0].status == Status::rem_access_err);
    CHECK(done[1].token == 2);
    CHECK(done[1].status == Status::wr_flush_err);
  });
}

TEST_CASE("a list goes to one node") {
  const auto to_two = [](const PostingNode& m) {
    m.node.put(m.here.base, m.there, 0, 8, {.tell = Tell::with_next});
    m.node.put(m.here.base, m.here, 0, 8, {});
  };
  CHECK_THROWS_WITH(run_program(config(2), to_two), contains_text("goes on towards another node"));
}
