// A node stops: the queue of those that go on.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test

namespace trace = loco::trace;

TEST_CASE("a queue whose home stops is an error within the retries") {
  std::array<std::string, 2> what;
  std::array<std::int64_t, 2> took{};
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 4, kDead);
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    queue.push(node.my_node());
    wait_until(node, kStop + 1);
    const std::int64_t start = node.now_ps();
    what.at(node.my_node()) = error_of([&] {
                                if (node.my_node() == 0)
                                  queue.push(1);
                                else
                                  static_cast<void>(queue.try_pop());
                              }).what();
    took.at(node.my_node()) = node.now_ps() - start;
  });
  for (const std::string& text : what) CHECK_THAT(text, contains_text("to node 2 failed: transport retry counter exc"));
  for (const std::int64_t ps : took) CHECK(ps <= kNoticed + kRoundTrip);
  require_consistent(trace, {trace::Library::rdmawait});
}

TEST_CASE("a node that stops between two calls leaves a queue as good as it was") {
  constexpr std::uint64_t kCount = 30;
  std::vector<std::uint64_t> popped;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 4, 1);
    mgr.wait_for_ready();
    if (node.my_node() == kDead) {
      queue.push(1);
      return live(node);
    }
    wait_until(node, kAfter);
    for (std::uint64_t i = 2; node.my_node() == 0 && i <= kCount; ++i) queue.push(i);
    for (std::uint64_t i = 1; node.my_node() == 1 && i <= kCount; ++i) popped.push_back(queue.pop());
  });
  REQUIRE(popped.size() == kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) CHECK(popped[i] == i + 1);
  require_consistent(trace, {trace::Library::rdmawait});
}

TEST_CASE("a node that stops with its turn to push is an error for who waits for it, not a deadlock") {
  std::optional<std::string> what;
  std::vector<std::uint64_t> popped;
  std::int64_t took = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 2, 1);
    mgr.wait_for_ready();
    if (node.my_node() == kDead) {  // the third one waits for room, with its ticket
      for (std::uint64_t i = 1; i <= 3; ++i) queue.push(i);
      return;
    }
    if (node.my_node() == 0) return live(node);
    wait_until(node, kAfter);
    popped.push_back(queue.pop());
    popped.push_back(queue.pop());
    require(!queue.try_pop(), "who only tries finds nothing");
    const std::int64_t start = node.now_ps();
    what = error_of([&] { static_cast<void>(queue.pop()); }).what();
    took = node.now_ps() - start;
  });
  CHECK(popped == std::vector<std::uint64_t>{1, 2});
  CHECK_THAT(what.value_or(""),
             contains_text("queue 'queue': the turn to pop does not come; node 2, which does not ans"));
  CHECK(took <= 1'000'000'000 + kNoticed + 10 * kRoundTrip);
  require_consistent(trace, {trace::Library::rdmawait});
}

TEST_CASE("who gives up waiting for a turn that comes later takes nothing out of the queue") {
  // Node 2, which stops, never touches the queue. Both survivors wait in the empty queue until they give up, with two
  // tickets; then one pushes as many elements as there is room for, twice, and the other pops them all.
  constexpr std::uint64_t kRoom = 2;
  std::array<std::string, 2> what;
  std::vector<std::uint64_t> popped;
  std::string full;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", kRoom, 1);
    std::optional<loco::barrier> rest;
    if (node.my_node() != kDead) rest.emplace(mgr, "rest", survivors());
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    wait_until(node, kAfter);
    what.at(node.my_node()) = error_of([&] { static_cast<void>(queue.pop()); }).what();
    rest->waiting();
    for (std::uint64_t i = 1; i <= 2 * kRoom; i += kRoom) {
      for (std::uint64_t k = i; node.my_node() == 0 && k < i + kRoom; ++k) require(queue.try_push(k), "there is room");
      if (node.my_node() == 0) full = error_of([&] { queue.push(0); }).what();
      rest->waiting();
      while (node.my_node() == 1) {
        const auto next = queue.try_pop();
        if (!next) break;
        popped.push_back(*next);
      }
      rest->waiting();
    }
  });
  for (const std::string& text : what) CHECK_THAT(text, contains_text("the turn to pop does not come"));
  CHECK_THAT(full, contains_text("the turn to push does not come"));
  CHECK(popped == std::vector<std::uint64_t>{1, 2, 3, 4});
  require_consistent(trace, {trace::Library::rdmawait});
}

TEST_CASE("who cannot give its turn back, since the node that stopped has the next one, gives up all the same") {
  std::optional<std::string> what;
  std::int64_t took = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::shared_queue<std::uint64_t> queue(mgr, "queue", 2, 1);
    mgr.wait_for_ready();
    if (node.my_node() == 1) return live(node);
    if (node.my_node() == kDead) {
      wait_until(node, kStop / 2);
      static_cast<void>(queue.pop());  // until it stops
    }
    what = error_of([&] { static_cast<void>(queue.pop()); }).what();
    took = node.now_ps() - kStop;
  });
  CHECK_THAT(what.value_or(""), contains_text("the turn to pop does not come; node 2, which does not answer"));
  constexpr std::int64_t kKeepAlive = 100'000'000;
  CHECK(took <= 10'000'000'000 + kKeepAlive + kNoticed + 10 * kRoundTrip);
  require_consistent(trace, {trace::Library::rdmawait});
}
