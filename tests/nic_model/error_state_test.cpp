// Queue pairs that come into ERROR: who is to blame, and what is flushed.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::QpState;
using nic::QpType;
using nic::Status;

TEST_CASE("ERROR while a receiver is not ready: both are flushed, and nothing is pending") {
  Pair pair(real());
  pair.post({pair.send(0, 8), pair.write(0, 0)});
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        CHECK(pair.system.modify_qp(pair.qp[0], QpState::error) == ModifyResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 100_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::wr_flush_err));
  CHECK(pair.system.now() < sim::SimTime{} + 110_us);
}

TEST_CASE("out of order: the request that is refused gets the error, not the READ whose answer is behind the NAK") {
  std::uint64_t overtaken = 0;
  for (const nic::Placement placement : {nic::Placement::out_of_order, nic::Placement::unordered}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      INFO("placement " << static_cast<int>(placement) << " seed " << seed);
      nic::HardwareProfile profile = impatient(7);
      profile.nic_placement = placement;
      Pair pair(profile, unequal_paths(fabric::Routing::spray, seed));
      nic::Wqe bad = pair.write(0, 0);
      bad.rkey ^= 1;
      pair.system.set_word(1, pair.region[1].base + 64, 7);
      pair.post({pair.read(64, 64), bad, pair.write(0, 0)});
      pair.run();
      CHECK(pair.statuses(0) == std::vector{Status::success, Status::rem_access_err, Status::wr_flush_err});
      CHECK(pair.system.word(0, pair.region[0].base + 64) == 7);
      overtaken += pair.recorder.cqes.back().at > sim::SimTime{} + 5_us ? 1U : 0U;
    }
  }
  CHECK(overtaken > 0);
}

TEST_CASE("a refused request leaves nothing pending, and its NAK is the answer to what comes behind it") {
  for (const std::uint32_t length : {8U, 3'000U}) {
    Pair pair(real());
    nic::Wqe bad = pair.write(0, 0, length);
    bad.rkey ^= 1;
    pair.post({bad, pair.write(0, 0)});
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::rem_access_err, Status::wr_flush_err});
    CHECK(pair.system.now() < sim::SimTime{} + 20_us);
  }
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {  // any event may be next: there is none for a timeout
    INFO("seed " << seed);
    Pair pair(real());
    nic::Wqe bad = pair.write(0, 0, 3'000);
    bad.rkey ^= 1;
    pair.post({bad, pair.fetch_add(0, 0, 1)});
    pair.run_random(seed);
    CHECK(pair.statuses(0) == std::vector{Status::rem_access_err, Status::wr_flush_err});
  }
  // But a requester that begins anew is not answered: the responder is still in ERROR.
  Pair pair(impatient(1));
  nic::Wqe bad = pair.write(0, 0);
  bad.rkey ^= 1;
  pair.post({bad});
  pair.run();
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::reset) == ModifyResult::ok);
  bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1], .timeout = kTimeout, .retry_count = 1});
  pair.post({pair.write(0, 0)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rem_access_err, Status::retry_exc_err});
}

TEST_CASE("ERROR while an atomic holds up what came behind it: that gets no answer, and its requester finds out") {
  for (const nic::Placement placement :
       {nic::Placement::in_order, nic::Placement::out_of_order, nic::Placement::unordered}) {
    INFO("placement " << static_cast<int>(placement));
    nic::HardwareProfile profile = plain();
    profile.nic_ack_timeout = kTimeout;
    profile.nic_retry_count = 1;
    profile.nic_placement = placement;
    profile.pcie_read_access = 20_us;  // so long takes the atomic
    Pair pair(profile);
    nic::Wqe behind = pair.write(0, 8);
    behind.inline_data = true;
    pair.post({pair.fetch_add(0, 0, 1), behind});
    while (pair.recorder.sent.size() < 2) REQUIRE(pair.step());
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          CHECK(pair.recorder.sent.size() == 2);  // the atomic is not answered yet
          CHECK(pair.system.modify_qp(pair.qp[1], QpState::error) == ModifyResult::ok);
          cpu.stop();
        },
        pair.system.now() + 10_us);
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success, Status::retry_exc_err});
  }
}

TEST_CASE("a completion queue that overruns ends its queue pairs: all is flushed, nothing more is written") {
  // 13 sends and 3 receives, a queue of 4: four CQEs, then the queue pair is in ERROR and its queues are empty.
  Pair pair(real());
  const nic::CqId cq = pair.system.create_cq(0, 4);
  const nic::QpId qp =
      pair.system.create_qp(0, {.type = QpType::rc, .send_cq = cq, .send_entries = 64, .recv_entries = 8});
  const nic::QpId other = pair.system.create_qp(0, cq, 64);
  pair.system.connect(qp, pair.system.create_qp(1, pair.cq[1], 8));
  pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 8));
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(pair.system.post_recv(
        qp, {.wr_id = 100 + i, .address = pair.region[0].base, .length = 64, .lkey = pair.region[0].lkey}));
  }
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 12; ++i) wqes.push_back(numbered(pair.write(0, 0, i == 11 ? 100'000 : 8), i));
  wqes.push_back(pair.write(0, 0));
  pair.post(wqes, qp);
  std::vector<nic::Cqe> polled;
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        std::array<nic::Cqe, 16> cqes;
        const std::size_t n = cpu.poll_cq(cq, cqes);
        polled.insert(polled.end(), cqes.begin(), cqes.begin() + static_cast<std::ptrdiff_t>(n));
        cpu.pause({});
      },
      sim::SimTime{} + 20_us);
  pair.run();
  CHECK(pair.system.cq_overrun(cq));
  CHECK(pair.system.qp_state(qp) == QpState::error);
  CHECK(pair.system.send_queue_room(qp) == 64 - (13 - 4));  // what has no CQE keeps its place
  CHECK(pair.system.recv_queue_room(qp) == 8);
  CHECK(polled.size() == 4);
  CHECK(pair.system.qp_state(other) == QpState::rts);  // until it has something to complete
  pair.post({pair.write(0, 0)}, other);
  pair.run();
  CHECK(pair.system.qp_state(other) == QpState::error);
  CHECK(polled.size() == 4);
}
