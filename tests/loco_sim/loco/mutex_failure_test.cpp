// A node stops: the locks of those that go on.
#include <array>
#include <cstdint>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/acquisition.hpp"
#include "loco_sim/loco/locks/handover.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test

namespace trace = loco::trace;

TEST_CASE("a lock that a stopped node holds is an error for those who wait, and no other lock suffers") {
  std::array<std::string, 2> what;
  std::uint64_t counted = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
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
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::lock});
}

TEST_CASE("a lock whose holder waits for the retries towards a stopped node is not lost, nor with it handed on") {
  // Node 1's threads hold it one after the other, each until its put to node 2 has failed: all retries, as each has a
  // queue pair of its own. Node 0, which knows that node 2 does not answer, has half of that time beyond it: it waits
  // for one of them, and would not for two in a row.
  constexpr std::uint32_t kThreads = 3;
  constexpr std::int64_t kPatience = kNoticed / 2;
  std::uint64_t held = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::mutex lock(mgr, "lock", 0, {.patience_ps = kPatience});
    loco::var<std::uint64_t> value(mgr, "value");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    const bool holds_long = node.my_node() == 1;
    wait_until(node, kAfter + (holds_long ? 0 : kRoundTrip));
    loco::workloads::run_team(node, holds_long ? kThreads : 1, [&](std::uint32_t) {
      lock.lock();
      ++held;
      if (holds_long) value.push(kDead);
      lock.unlock();
    });
    wait_until(node, 2 * kAfter);
    lock.lock();  // it is as good as it was
    ++held;
    lock.unlock();
  });
  CHECK(held == kThreads + 1 + 2);
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::lock});
}

namespace {

constexpr std::int64_t kPatience = kNoticed / 2;
constexpr std::int64_t kLimit = kNoticed + kPatience;  // of a wait for a lock that nobody lets go

/// Takes a lock like a task that never waits, and lets go of it.
void take_in_steps(loco::Transport& node, loco::mutex_array& locks) {
  loco::acquisition lock(locks);
  lock.start(0, 1);
  while (!lock.poll()) node.pause();
  loco::handover passing(locks, false);
  passing.start(0, 1);
  while (!passing.poll()) node.pause();
}

void take(loco::mutex_array& locks) {
  locks.lock(0);
  locks.unlock(0);
}

}  // namespace

TEST_CASE("a lock that a node which answers holds for long is not lost to those who gave it up") {
  // Node 1 has the lock for twice as long as the others wait once a node has stopped. Each gives its ticket back, the
  // latest first; it is as good as before when node 1 lets go of it.
  constexpr std::uint32_t kNodes = 5;
  for (const bool in_steps : {false, true}) {
    INFO((in_steps ? "in steps" : "waiting"));
    std::array<std::string, kNodes> what;
    std::uint32_t taken = 0;
    const auto program = [&](loco::Transport& node) {
      loco::manager mgr(node);
      loco::mutex_array locks(mgr, "locks", 1, {.patience_ps = kPatience});
      mgr.wait_for_ready();
      if (node.my_node() == kDead) return live(node);
      const auto attempt = [&] { in_steps ? take_in_steps(node, locks) : take(locks); };
      wait_until(node, kAfter + node.my_node() * kRoundTrip);
      if (node.my_node() == 0) {
        locks.lock(0);
        node.compute(2 * kLimit);
        locks.unlock(0);
      } else {
        what.at(node.my_node()) = error_of(attempt).what();
      }
      wait_until(node, kAfter + 4 * kLimit);
      attempt();
      ++taken;
    };
    const trace::Trace trace = run(program, kNodes);
    for (const loco::NodeId node : {1U, 3U, 4U}) CHECK_THAT(what.at(node), contains_text("does not come free; node 2"));
    CHECK(taken == kNodes - 1);
    require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::lock});
  }
}

TEST_CASE("who cannot give its ticket for a lock back goes without") {
  // Node 3 takes the lock, node 0 and node 2 wait for it in this order, then nodes 2 and 3 stop: the ticket behind that
  // of node 0 will never be given back.
  constexpr loco::NodeId kHolder = 3;
  for (const bool in_steps : {false, true}) {
    INFO((in_steps ? "in steps" : "waiting"));
    std::string what;
    std::int64_t ended = 0;
    const auto program = [&](loco::Transport& node) {
      loco::manager mgr(node);
      loco::mutex_array locks(mgr, "locks", 1, {.patience_ps = kPatience});
      mgr.wait_for_ready();
      if (node.my_node() == kHolder) {
        locks.lock(0);
        return live(node);
      }
      if (node.my_node() == 1) return;
      wait_until(node, kStop / 4 * (node.my_node() == 0 ? 1 : 2));
      if (node.my_node() == kDead) return take(locks);
      what = error_of([&] { in_steps ? take_in_steps(node, locks) : take(locks); }).what();
      ended = node.now_ps();
    };
    const trace::Trace trace = run(program, 4, {{kDead, {kStop}}, {kHolder, {kStop}}});
    CHECK_THAT(what, contains_text("lock 0 of 'locks' does not come free; node 2, which does not answer, may have it"));
    CHECK(ended >= kStop + 3 * kLimit);
    CHECK(ended <= kStop + kNoticed + kStop / 2 + 3 * kLimit + kRoundTrip);
    require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::lock});
  }
}
