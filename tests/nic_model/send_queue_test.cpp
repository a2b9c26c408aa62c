// Places in a send queue: taken by a work request until its CQE, or that of a later one, has been polled.
#include "pair.hpp"

using namespace loco;
using namespace loco::test;
using nic::PostResult;
using nic::Status;

namespace {

constexpr std::uint32_t kPlaces = 4;

/// A queue pair of node 0 with four places and a completion queue of its own, and a thread that uses it.
struct Queue {
  Pair pair{real()};
  nic::CqId cq = pair.system.create_cq(0, 2 * kPlaces);
  nic::QpId qp = pair.system.create_qp(0, {.send_cq = cq, .send_entries = kPlaces});
  nic::QpId peer = pair.system.create_qp(1, {.send_cq = pair.cq[1], .send_entries = 1});

  Queue() { pair.system.connect(qp, peer); }

  /// Writes, of which those with a bit in `signaled` ask for a CQE.
  PostResult post(nic::Cpu& cpu, std::size_t count, unsigned signaled) const {
    std::vector<nic::Wqe> wqes(count, pair.write(0, 0));
    for (std::size_t i = 0; i < count; ++i) wqes[i].signaled = (signaled >> i & 1U) != 0;
    return cpu.post_send(qp, wqes);
  }
  std::size_t poll(nic::Cpu& cpu, std::size_t most) const {
    std::array<nic::Cqe, 2 * kPlaces> cqes;
    return cpu.poll_cq(cq, std::span(cqes).first(most));
  }
  /// A thread does this, then all comes to its end.
  void act(const std::function<void(nic::Cpu&)>& action) {
    pair.script(
        0,
        [&action](nic::Cpu& cpu) {
          action(cpu);
          cpu.stop();
        },
        pair.system.now());
    pair.run();
  }
  [[nodiscard]] std::uint32_t room() const { return pair.system.send_queue_room(qp); }
};

}  // namespace

TEST_CASE("a work request keeps its place until its CQE, or a later one's, has been polled") {
  Queue queue;
  queue.act([&](nic::Cpu& cpu) {
    CHECK(queue.post(cpu, kPlaces + 1, 0) == PostResult::queue_full);
    CHECK(queue.post(cpu, 3, 0b010) == PostResult::ok);
  });
  REQUIRE(queue.pair.system.cq_size(queue.cq) == 1);
  queue.act([&](nic::Cpu& cpu) {  // complete, but the program has not seen it
    CHECK(queue.post(cpu, 2, 0b11) == PostResult::queue_full);
    CHECK(queue.poll(cpu, 1) == 1);
    CHECK(queue.room() == kPlaces - 1);  // the third is behind the one that has a CQE
    CHECK(queue.post(cpu, 3, 0b101) == PostResult::ok);
    CHECK(queue.room() == 0);
  });
  queue.act([&](nic::Cpu& cpu) {
    CHECK(queue.poll(cpu, 1) == 1);
    CHECK(queue.room() == 2);
    CHECK(queue.poll(cpu, 1) == 1);
    CHECK(queue.room() == kPlaces);
  });
}

TEST_CASE("a send queue full of requests without CQEs is full for ever, until RESET") {
  Queue queue;
  queue.act([&](nic::Cpu& cpu) { CHECK(queue.post(cpu, kPlaces, 0) == PostResult::ok); });
  CHECK(queue.pair.system.cq_size(queue.cq) == 0);
  CHECK(queue.pair.system.counters().work_requests == kPlaces);  // all are done
  queue.act([&](nic::Cpu& cpu) { CHECK(queue.post(cpu, 1, 1) == PostResult::queue_full); });
  for (const nic::QpId qp : {queue.qp, queue.peer})
    REQUIRE(queue.pair.system.modify_qp(qp, nic::QpState::reset) == nic::ModifyResult::ok);
  CHECK(queue.room() == kPlaces);
}

TEST_CASE("a RESET takes old CQEs along: they free no place of the new connection") {
  Queue queue;
  queue.act([&](nic::Cpu& cpu) { CHECK(queue.post(cpu, kPlaces, 0b1000) == PostResult::ok); });
  for (const nic::QpId qp : {queue.qp, queue.peer})
    REQUIRE(queue.pair.system.modify_qp(qp, nic::QpState::reset) == nic::ModifyResult::ok);
  queue.pair.system.connect(queue.qp, queue.peer);
  queue.act([&](nic::Cpu& cpu) {
    CHECK(queue.post(cpu, kPlaces, 0b1000) == PostResult::ok);
    CHECK(queue.poll(cpu, 1) == 0);
    CHECK(queue.room() == 0);
  });
  queue.act([&](nic::Cpu& cpu) {
    CHECK(queue.poll(cpu, 1) == 1);
    CHECK(queue.room() == kPlaces);
  });
}

TEST_CASE("flushed work requests have a CQE each, signalled or not, and so give back their places") {
  Queue queue;
  REQUIRE(queue.pair.system.modify_qp(queue.qp, nic::QpState::error) == nic::ModifyResult::ok);
  queue.act([&](nic::Cpu& cpu) { CHECK(queue.post(cpu, kPlaces, 0) == PostResult::ok); });
  CHECK(queue.room() == 0);
  queue.act([&](nic::Cpu& cpu) { CHECK(queue.poll(cpu, kPlaces) == kPlaces); });
  CHECK(queue.room() == kPlaces);
}
