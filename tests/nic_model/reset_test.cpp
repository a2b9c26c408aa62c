// What is left after a RESET: nothing of the old connection.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::QpState;
using nic::Status;

TEST_CASE("a peer that stops for good while it owes answers is found out") {
  // RESET before the READ has been answered: its answer is dropped, and nobody repeats it.
  for (const std::int64_t at : {1'700'000, 1'900'000, 2'100'000, 2'300'000}) {
    Pair pair(impatient(1));
    pair.post({pair.read(0, 0, 512), pair.fetch_add(512, 512, 1), pair.write(0, 0)});
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          CHECK(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
          cpu.stop();
        },
        sim::SimTime{} + sim::Duration{at});
    pair.run();
    REQUIRE(pair.statuses(0).size() == 3);
    CHECK(std::ranges::count(pair.statuses(0), Status::retry_exc_err) == 1);
    CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + kTimeout * 2 + 20_us);
  }
}

TEST_CASE("after a RESET the answers of the old connection are not sent to the new peer") {
  // B is reset and connected to another queue pair of A at every moment of a READ and an atomic; the new connection's
  // PSNs are the same.
  for (int when = 1; when < 60; ++when) {  // the first step posts
    INFO("after step " << when);
    Pair pair(impatient(0));
    const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 16);
    for (std::uint64_t i = 0; i < 128; ++i) {
      pair.system.set_word(1, pair.region[1].base + 8 * i, 0x1111);
      pair.system.set_word(1, pair.region[1].base + 8'192 + 8 * i, 0x2222);
    }
    pair.post({pair.read(0, 0, 512), pair.fetch_add(1'024, 0, 1), pair.read(0, 0, 512)});
    for (int i = 0; i < when; ++i) pair.step();
    pair.reset();
    pair.system.connect(other, pair.qp[1]);
    pair.post({numbered(pair.read(4'096, 8'192, 512), 2), numbered(pair.fetch_add(5'120, 8'192, 1), 3)}, other);
    pair.run();
    std::vector<nic::Cqe> mine;
    for (const nic::Cqe& cqe : pair.completions(0)) {
      if (cqe.qp == other) mine.push_back(cqe);
    }
    REQUIRE(mine.size() == 2);
    CHECK(mine[0].status == Status::success);
    CHECK(mine[1].status == Status::success);
    for (std::uint64_t i = 0; i < 64; ++i) CHECK(pair.system.word(0, pair.region[0].base + 4'096 + 8 * i) == 0x2222);
    CHECK(pair.system.word(0, pair.region[0].base + 5'120) == 0x2222);
    CHECK(pair.system.word(1, pair.region[1].base + 8'192) == 0x2223);
  }
}

TEST_CASE("a NIC's atomic unit goes on after a RESET of the queue pair that it worked for") {
  for (int when = 0; when < 40; ++when) {
    Pair pair(impatient(0));
    const nic::QpId a = pair.system.create_qp(0, pair.cq[0], 16);
    const nic::QpId b = pair.system.create_qp(1, pair.cq[1], 16);
    pair.system.connect(a, b);
    pair.post(std::vector<nic::Wqe>(4, pair.fetch_add(0, 0, 1)));
    pair.post(std::vector<nic::Wqe>(4, pair.fetch_add(8, 64, 1)), a);
    for (int i = 0; i < when; ++i) pair.step();
    REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
    pair.run();
    CHECK(pair.system.word(1, pair.region[1].base + 64) == 4);
    std::size_t good = 0;
    for (const nic::Cqe& cqe : pair.completions(0)) good += cqe.qp == a && cqe.status == Status::success ? 1U : 0U;
    CHECK(good == 4);
  }
}

TEST_CASE("an RNR timer does not outlive its connection") {
  // The old connection's timer would fire at 640 us; the new one, from 500 us on, has one of 2 ms and three
  // repetitions.
  Pair pair(real());
  REQUIRE(pair.system.config().profile.nic_rnr_timer > 500_us);
  pair.post({pair.send(0, 8)});
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        pair.reset();
        pair.bring_up({.timeout = nic::timeout_of_code(14), .rnr_retry = 3, .min_rnr_timer = 2_ms});
        const nic::Wqe wqe = pair.send(0, 8);
        CHECK(cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 500_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rnr_retry_exc_err});
  CHECK(pair.recorder.cqes.back().at > sim::SimTime{} + 6'500_us);
  CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + 6'500_us + 30_us);
}

TEST_CASE("a receive that was being posted at a RESET is gone with the others") {
  // The store to the doorbell record comes later than the RESET, and finds an empty queue.
  Pair pair(real());
  pair.script(1, [&](nic::Cpu& cpu) {
    const nic::RecvWqe receive{.wr_id = 5, .address = pair.region[1].base, .length = 64, .lkey = pair.region[1].lkey};
    CHECK(cpu.post_recv(pair.qp[1], {&receive, 1}) == nic::PostResult::ok);
    pair.reset();
    pair.bring_up({.timeout = kTimeout, .rnr_retry = 2, .min_rnr_timer = 10_us});
    cpu.stop();
  });
  pair.script(
      0,
      [&](nic::Cpu& cpu) {
        const nic::Wqe wqe = pair.send(0, 8);
        CHECK(cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 5_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rnr_retry_exc_err});
  CHECK(pair.statuses(1).empty());
  CHECK(pair.system.recv_queue_room(pair.qp[1]) == 64);
  CHECK(pair.receive(6, 0, 8));
}

TEST_CASE("a PCIe read that a RESET has left behind holds up no payload of the new connection") {
  // The old connection's payload is read at every moment of the new one's start.
  for (int when = 0; when < 60; ++when) {
    INFO("after step " << when);
    Pair pair(impatient(0));
    pair.system.set_word(0, pair.region[0].base, 5);
    pair.post(std::vector<nic::Wqe>(2, pair.write(64, 64, 512)));
    for (int i = 0; i < when; ++i) pair.step();
    pair.reset();
    pair.bring_up({.rq_psn = 1'000, .sq_psn = 1'000, .timeout = kTimeout});
    pair.post({pair.write(0, 1'024)});
    pair.run();
    CHECK(pair.system.word(1, pair.region[1].base + 1'024) == 5);
  }
}

TEST_CASE("an ACK of the old connection acknowledges nothing that the new one has not sent") {
  // The PSNs are the same, and the ACK comes 10 us after the RESET at the latest: at every moment from the new work
  // request's start on. An answer that names no PSN which the requester has sent counts for nothing (IBTA volume 1,
  // 9.7.6.1.1).
  nic::HardwareProfile profile = real();
  profile.link_delay = 10_us;
  for (int when = 0; when < 60; ++when) {
    const sim::SimTime at = sim::SimTime{} + 20_us + 50_ns * when;
    INFO("at " << at.ps << " ps");
    Pair pair(profile);
    nic::Wqe old = pair.write(0, 0);
    old.signaled = false;
    pair.post({old});
    pair.script(
        0,
        [&](nic::Cpu& cpu) {
          pair.reset();
          pair.system.connect(pair.qp[0], pair.qp[1]);
          const std::vector<nic::Wqe> wqes(2, pair.write(0, 0, 1'024));
          CHECK(cpu.post_send(pair.qp[0], wqes) == nic::PostResult::ok);
          cpu.stop();
        },
        at);
    while (pair.step()) {
      const auto sent = std::ranges::count(pair.recorder.sent, fabric::Opcode::write, &fabric::Packet::opcode);
      REQUIRE(std::ssize(pair.recorder.cqes) <= std::max<std::ptrdiff_t>(0, sent - 1));
    }
    CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
  }
}

TEST_CASE("a message whose beginning is taken for a repetition is refused") {
  // The peer was not RESET, too, and its PSNs are used again: of three packets the first has one that has been
  // executed. IBTA volume 1, 9.7.4.1: the OpCode sequence is checked, NAK invalid request.
  for (const nic::Opcode opcode : {nic::Opcode::send, nic::Opcode::rdma_write}) {
    INFO("opcode " << static_cast<int>(opcode));
    Pair pair(impatient(1), unconnected());
    pair.bring_up({.timeout = kTimeout, .retry_count = 1});
    REQUIRE(pair.receive(1, 0, 4'096));
    REQUIRE(pair.receive(2, 8'192, 4'096));
    pair.post({pair.send(0, 8)});
    pair.run();
    const auto before = pair.bytes(1, 0, 16'384);
    REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::reset) == ModifyResult::ok);
    bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1], .timeout = kTimeout, .retry_count = 1});
    pair.fill(0, 0, 3'000, 1);
    nic::Wqe again = pair.write(0, 0, 3'000);
    again.opcode = opcode;
    pair.post({again});
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success, Status::rem_inv_req_err});
    CHECK(pair.statuses(1) == std::vector{Status::success, Status::wr_flush_err});
    CHECK(pair.completions(1).back().wr_id == 2);
    CHECK(pair.bytes(1, 0, 16'384) == before);
  }
}

TEST_CASE("a RESET in the middle of a message: the next one begins with a receive of its own") {
  // Both sides are reset at every moment of a SEND of four packets.
  for (int when = 1; when < 60; ++when) {
    INFO("after step " << when);
    Pair pair(impatient(1));
    REQUIRE(pair.receive(1, 0, 4'096));
    const auto content = pair.fill(0, 0, 4'096, 7);
    pair.post({pair.send(0, 4'096)});
    for (int i = 0; i < when; ++i) pair.step();
    pair.reset();
    pair.recorder.cqes.clear();
    // PSNs of its own: what is still on its way is not taken for the new message.
    pair.bring_up({.rq_psn = 1'000, .sq_psn = 1'000, .timeout = kTimeout});
    REQUIRE(pair.receive(2, 16'384, 4'096));
    pair.post({numbered(pair.send(0, 4'096), 3)});
    pair.run();
    const std::vector<nic::Cqe> received = pair.completions(1);
    REQUIRE(received.size() >= 1);
    CHECK(received.back().wr_id == 2);
    CHECK(received.back().status == Status::success);
    CHECK((pair.bytes(1, 16'384, 4'096) == content));
  }
}

TEST_CASE("a RESET forgets the order of the READs that it drops") {
  for (const auto order :
       {nic::ReadOrdering::nic_serialised, nic::ReadOrdering::root_complex, nic::ReadOrdering::speculative}) {
    for (int when = 1; when < 60; ++when) {
      INFO("after step " << when);
      nic::HardwareProfile profile = impatient(0);
      profile.pcie_read_ordering = order;
      Pair pair(profile);
      pair.post({pair.read(0, 0, 512), pair.read(512, 512, 512)});
      for (int i = 0; i < when; ++i) pair.step();
      pair.reset();
      pair.recorder.cqes.clear();
      pair.bring_up({.rq_psn = 1'000, .sq_psn = 1'000, .timeout = kTimeout});
      pair.post({numbered(pair.read(0, 0, 512), 9)});
      pair.run();
      REQUIRE_FALSE(pair.completions(0).empty());
      CHECK(pair.completions(0).back().wr_id == 9);
      CHECK(pair.completions(0).back().status == Status::success);
    }
  }
}

TEST_CASE("a RESET forgets the results of atomics: one of the new connection has the same PSN") {
  // Eight results, of sixteen that are kept: those of the old connection would still be there.
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    PairOptions options = unconnected(50'000);
    options.network.seed = seed;
    Pair pair(real(), options);
    for (std::uint64_t connection = 0; connection < 2; ++connection) {
      pair.bring_up({.timeout = nic::timeout_of_code(4)});
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 8; ++i) wqes.push_back(pair.fetch_add(64 + 8 * i, 0, 1));
      pair.post(wqes);
      pair.run();
      for (std::uint64_t i = 0; i < 8; ++i)
        CHECK(pair.system.word(0, pair.region[0].base + 64 + 8 * i) == 8 * connection + i);
      pair.reset();
    }
    repeated += pair.system.counters().retransmissions;
  }
  CHECK(repeated > 10);
}

TEST_CASE("a RESET forgets that a gap was told of: the next connection's is told of as well") {
  Pair pair(real(), unconnected());
  for (std::ptrdiff_t connection = 1; connection <= 2; ++connection) {
    // The requester begins behind what is expected; what it repeats is dropped without another NAK.
    bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1], .sq_psn = 5, .timeout = kTimeout, .retry_count = 2});
    bring_up(pair.system, pair.qp[1], {.dest_qp = pair.qp[0], .rq_psn = 0, .timeout = kTimeout});
    pair.post({pair.write(0, 0)});
    pair.run();
    CHECK(std::ranges::count(pair.recorder.sent, fabric::Opcode::nak, &fabric::Packet::opcode) == connection);
    pair.reset();
  }
}
