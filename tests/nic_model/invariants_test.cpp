// A state that cannot be stops the run: check() of a unit says when, whose it is and what does not hold.
#include "nic_model/connection/completion_queue.hpp"
#include "nic_model/connection/connection.hpp"
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/requester/requester.hpp"
#include "sim/invariant.hpp"
#include "tests/catch.hpp"

using namespace loco;

namespace {
constexpr sim::SimTime kNow{7};
}  // namespace

TEST_CASE("a send queue that holds more than its depth is noticed") {
  nic::Requester requester(0, 2, 0);
  for (int i = 0; i < 2; ++i) requester.post({}, fabric::kNoBuffer);
  CHECK_NOTHROW(requester.check(3, kNow));
  requester.post({}, fabric::kNoBuffer);
  CHECK_THROWS_AS(requester.check(3, kNow), sim::BrokenInvariant);
}

TEST_CASE("a completion that was polled before it was written is noticed") {
  nic::Requester requester(0, 2, 0);
  requester.post({}, fabric::kNoBuffer);
  requester.reap(0);
  CHECK_THROWS_AS(requester.check(3, kNow), sim::BrokenInvariant);
}

TEST_CASE("a reliable connection in SQE, or that is its own peer, is noticed, with time and component") {
  nic::Connection connection(0, nic::QpType::rc, 0);
  CHECK_NOTHROW(connection.check(1, kNow));
  connection.set_peer(1, 0);
  CHECK_THROWS_AS(connection.check(1, kNow), sim::BrokenInvariant);
  connection.set_peer(2, 0);
  connection.enter(nic::QpState::sqe);
  try {
    connection.check(1, kNow);
    FAIL("SQE of a reliable connection was not noticed");
  } catch (const sim::BrokenInvariant& broken) {
    CHECK(broken.at() == kNow);
    CHECK(broken.component() == "connection");
  }
}

TEST_CASE("a completion queue that holds more than its entries is noticed") {
  nic::CompletionQueue cq(0, 2);
  REQUIRE(cq.write({}));
  REQUIRE(cq.write({}));
  CHECK_NOTHROW(cq.check(0, kNow));
  CHECK_FALSE(cq.write({}));  // it says so itself, and stays as it is
  CHECK_NOTHROW(cq.check(0, kNow));
  const nic::CompletionQueue none(0, 0);
  CHECK_THROWS_AS(none.check(0, kNow), sim::BrokenInvariant);
}

TEST_CASE("a receive queue that holds more than its depth, or has a limit of its own, is noticed") {
  nic::ReceiveQueue queue(0, 1, 5);
  queue.post({});
  CHECK_NOTHROW(queue.check(0, kNow));
  queue.reveal(7);  // a RESET may have dropped what a doorbell told of
  CHECK_NOTHROW(queue.check(0, kNow));
  queue.set_limit(1);
  CHECK_THROWS_AS(queue.check(0, kNow), sim::BrokenInvariant);
  queue.set_limit(0);
  queue.post({});
  CHECK_THROWS_AS(queue.check(0, kNow), sim::BrokenInvariant);
}

TEST_CASE("a thread that waits for stores that it does not have, or runs between two steps, is noticed") {
  const nic::HardwareProfile profile;
  nic::Thread thread(0);
  CHECK_NOTHROW(thread.check(0, kNow, profile));
  thread.wait_for_drain();
  CHECK_THROWS_AS(thread.check(0, kNow, profile), sim::BrokenInvariant);
  thread.begin_step();
  CHECK_THROWS_AS(thread.check(0, kNow, profile), sim::BrokenInvariant);
  thread.wait_for_room();
  CHECK_NOTHROW(thread.check(0, kNow, profile));
}

TEST_CASE("a node that lists a thread twice is noticed") {
  nic::Process process;
  process.add_thread(3);
  process.add_thread(4);
  CHECK_NOTHROW(process.check(0, kNow));
  process.add_thread(4);
  CHECK_THROWS_AS(process.check(0, kNow), sim::BrokenInvariant);
}
