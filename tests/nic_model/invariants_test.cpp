// A state that cannot be stops the run: check() of a unit says when, whose it is and what does not hold.
#include "nic_model/connection/completion_queue.hpp"
#include "nic_model/connection/connection.hpp"
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/posted_domain.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/atomics.hpp"
#include "nic_model/state.hpp"
#include "sim/invariant.hpp"
#include "tests/catch.hpp"

using namespace loco;

namespace {
constexpr sim::SimTime kNow{7};
constexpr auto kRc = static_cast<std::uint8_t>(nic::Transport::rc);  // its policy
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
  requester.reap(0, false);
  CHECK_THROWS_AS(requester.check(3, kNow), sim::BrokenInvariant);
}

TEST_CASE("a reliable connection in SQE, or that is its own peer, is noticed, with time and component") {
  nic::Connection connection(nic::NicId(0), {.type = nic::QpType::rc}, kRc);
  CHECK_NOTHROW(connection.check(1, {}, kNow));
  connection.set_peer(1, connection);
  CHECK_THROWS_AS(connection.check(1, {}, kNow), sim::BrokenInvariant);
  connection.set_peer(2, connection);
  connection.enter(nic::QpState::sqe);
  try {
    connection.check(1, {}, kNow);
    FAIL("SQE of a reliable connection was not noticed");
  } catch (const sim::BrokenInvariant& broken) {
    CHECK(broken.at() == kNow);
    CHECK(broken.component() == "connection");
  }
}

TEST_CASE("a completion queue that holds more than its entries is noticed") {
  nic::CompletionQueue cq(nic::HostId(0), 2);
  REQUIRE(cq.write({}));
  REQUIRE(cq.write({}));
  CHECK_NOTHROW(cq.check(0, kNow));
  CHECK_FALSE(cq.write({}));  // it says so itself, and stays as it is
  CHECK_NOTHROW(cq.check(0, kNow));
  const nic::CompletionQueue none(nic::HostId(0), 0);
  CHECK_THROWS_AS(none.check(0, kNow), sim::BrokenInvariant);
}

TEST_CASE("a receive queue that holds more than its depth, or has a limit of its own, is noticed") {
  nic::ReceiveQueue queue(nic::HostId(0), 1, 5);
  queue.post({}, 0);
  CHECK_NOTHROW(queue.check(0, kNow));
  queue.reveal(0, 7);  // a RESET may have dropped what a doorbell told of
  CHECK_NOTHROW(queue.check(0, kNow));
  queue.set_limit(1);
  CHECK_THROWS_AS(queue.check(0, kNow), sim::BrokenInvariant);
  queue.set_limit(0);
  queue.post({}, 0);
  CHECK_THROWS_AS(queue.check(0, kNow), sim::BrokenInvariant);
}

TEST_CASE("a thread that waits for stores that it does not have, or runs between two steps, is noticed") {
  const nic::HardwareProfile profile;
  nic::Thread thread(nic::HostId(0));
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
  CHECK_NOTHROW(process.check(nic::HostId(0), kNow));
  process.add_thread(4);
  CHECK_THROWS_AS(process.check(nic::HostId(0), kNow), sim::BrokenInvariant);
}

namespace {
/// A responder that has an answer to send: to a WRITE without payload that asks for an ACK.
struct Answering {
  nic::State state;

  explicit Answering(nic::QpType type = nic::QpType::rc) : state(two_nodes()) {
    state.settings.emplace_back();
    for (const nic::QpId id : {0U, 1U}) {
      state.domains.emplace_back(nic::NicId(id));
      const nic::Connection peer(nic::NicId(1 - id), {.type = nic::QpType::rc}, kRc);
      state.connections.emplace_back(nic::NicId(id), nic::QpConfig{.type = nic::QpType::rc}, kRc)
          .set_peer(1 - id, peer);
      state.connections.back().enter(nic::QpState::rts);
      state.contexts.emplace_back();
      state.requesters.emplace_back(0, 1, id);
      state.responders.emplace_back(id, 0, nic::kNone);
    }
    fabric::Packet write;
    write.opcode = fabric::Opcode::write;
    write.destination = nic::PortId(1);
    write.destination_qp = 1;
    write.ack_request = true;
    nic::Engine engine(state.units(), nullptr);
    state.responders[1].request_arrived(engine, write);
    if (type == nic::QpType::rc) return;
    state.connections[1] =
        nic::Connection(nic::NicId(1), {.type = type}, static_cast<std::uint8_t>(nic::transport_of(type, {})));
    state.connections[1].enter(nic::QpState::rts);
  }
  static nic::SystemConfig two_nodes() {
    nic::SystemConfig config;
    config.nodes = 2;
    return config;
  }
  void check() const { state.responders[1].check(state.connections[1], 1, kNow); }
};
}  // namespace

TEST_CASE("an answer that a RESET has left, or that an unreliable queue pair has, is noticed") {
  Answering answering;
  CHECK_NOTHROW(answering.check());
  answering.state.connections[1].enter(nic::QpState::reset);
  CHECK_THROWS_AS(answering.check(), sim::BrokenInvariant);
  CHECK_THROWS_AS(Answering(nic::QpType::uc).check(), sim::BrokenInvariant);
}

TEST_CASE("a posted write with more in memory than was posted, or that nothing moves on, is noticed") {
  const auto domain_with = [](std::uint32_t committed, bool has_event) {
    nic::PostedDomain domain(nic::NicId(0));
    nic::PostedWrite& write = domain.push({});
    write.length = 8;
    write.committed = committed;
    write.has_event = has_event;
    return domain;
  };
  CHECK_NOTHROW(domain_with(0, true).check(0, kNow));
  CHECK_THROWS_AS(domain_with(16, true).check(0, kNow), sim::BrokenInvariant);
  CHECK_THROWS_AS(domain_with(0, false).check(0, kNow), sim::BrokenInvariant);
}

TEST_CASE("a read that waits for writes that nobody has posted is noticed") {
  nic::PostedDomain domain(nic::NicId(0));
  nic::HeldRead read{.behind = 1};
  domain.push({}).has_event = true;
  domain.hold(read);
  CHECK_NOTHROW(domain.check(0, kNow));
  read.behind = 2;
  domain.hold(read);
  CHECK_THROWS_AS(domain.check(0, kNow), sim::BrokenInvariant);
}

TEST_CASE("more tags than a PCIe link has, and a doorbell that says nothing new, are noticed") {
  nic::HardwareProfile p;
  p.pcie_tags = 2;
  p.pcie_rate = {64'000'000'000};
  nic::PcieLink link(p);
  for (int i = 0; i < 2; ++i) link.take_request(p, kNow, 8, kNow, {}, {});
  CHECK_NOTHROW(link.check(nic::NicId(0), p, kNow));
  nic::HardwareProfile fewer = p;
  fewer.pcie_tags = 1;
  CHECK_THROWS_AS(link.check(nic::NicId(0), fewer, kNow), sim::BrokenInvariant);
  for (int i = 0; i < 2; ++i) link.push_doorbell({.qp = 1, .posted = 3});
  CHECK_THROWS_AS(link.check(nic::NicId(0), p, kNow), sim::BrokenInvariant);
}

TEST_CASE("a queue pair that waits for a port, or for a processing unit, twice is noticed") {
  nic::Port port;
  port.wait({.qp = 1, .responder = false});
  port.wait({.qp = 1, .responder = true});
  CHECK_NOTHROW(port.check(nic::PortId(0), kNow));
  port.wait({.qp = 1, .responder = true});
  CHECK_THROWS_AS(port.check(nic::PortId(0), kNow), sim::BrokenInvariant);

  nic::HardwareProfile p;
  nic::ContextCaches caches(p);
  caches.wait(4);
  CHECK_THROWS_AS(caches.check(nic::NicId(0), p, kNow), sim::BrokenInvariant);  // units are not counted
  p.nic_units = 1;
  CHECK_NOTHROW(caches.check(nic::NicId(0), p, kNow));
  caches.wait(4);
  CHECK_THROWS_AS(caches.check(nic::NicId(0), p, kNow), sim::BrokenInvariant);
}

TEST_CASE("a receive buffer that stays full once there is room, or that somebody waits for in vain, is noticed") {
  nic::ReceiveBuffer buffer(4096, 1024, 512);  // full above 3072, until 2560
  CHECK_FALSE(buffer.hold(3072));
  CHECK(buffer.hold(1));
  buffer.set_full(true);
  CHECK_NOTHROW(buffer.check(nic::PortId(0), 4096, kNow));
  CHECK(buffer.release(513));
  CHECK_THROWS_AS(buffer.check(nic::PortId(0), 4096, kNow), sim::BrokenInvariant);
  buffer.set_full(false);
  CHECK_NOTHROW(buffer.check(nic::PortId(0), 4096, kNow));
  buffer.wait({});
  CHECK_THROWS_AS(buffer.check(nic::PortId(0), 4096, kNow), sim::BrokenInvariant);
}

TEST_CASE("an atomic in a bank that there is not, or that waits twice, is noticed") {
  nic::AtomicUnit unit;
  unit.push({.bank = 1, .qp = 4, .response = 7});
  unit.push({.bank = 1, .qp = 5, .response = 7});
  CHECK_NOTHROW(unit.check(nic::NicId(0), kNow, 2));
  CHECK_THROWS_AS(unit.check(nic::NicId(0), kNow, 1), sim::BrokenInvariant);
  unit.push({.bank = 0, .qp = 4, .response = 7});
  CHECK_THROWS_AS(unit.check(nic::NicId(0), kNow, 2), sim::BrokenInvariant);
}
