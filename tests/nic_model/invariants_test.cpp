// A state that cannot be stops the run: check() of a unit says when, whose it is and what does not hold.
#include "nic_model/connection/connection.hpp"
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
