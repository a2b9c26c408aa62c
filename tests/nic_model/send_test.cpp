// Channel semantics: SEND and WRITE with immediate data, receive queues, shared receive queues, receivers that are not
// ready (IBTA volume 1, 9.7.5 and 10.8).
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Opcode;
using nic::Status;

TEST_CASE("a SEND lands in the oldest receive buffer, whatever its size, and says how long it was") {
  const auto profile = real();
  for (const std::uint32_t size : {0U, 1U, 8U, 255U, 1024U, 1025U, 5000U}) {
    INFO("size " << size);
    Pair pair(profile);
    const auto content = pair.fill(0, 16, 5000, size);
    REQUIRE(pair.receive(3, 64, 6000));
    REQUIRE(pair.receive(4, 20000, 6000));
    nic::Wqe second = pair.send(16, size);
    second.with_imm = true;
    second.imm = 0xdeadbeefU;
    pair.post({pair.send(16, size), second});
    pair.run();
    const auto received = pair.completions(1);
    REQUIRE(received.size() == 2);
    for (const std::size_t i : {0U, 1U}) {
      CHECK(received[i].wr_id == 3 + i);
      CHECK(received[i].status == Status::success);
      CHECK(received[i].opcode == Opcode::recv);
      CHECK(received[i].length == size);
      CHECK(received[i].with_imm == (i == 1));
      const auto got = pair.bytes(1, i == 0 ? 64 : 20000, size + 8);
      CHECK(std::equal(got.begin(), got.end() - 8, content.begin()));
      CHECK(std::all_of(got.end() - 8, got.end(), [](std::uint8_t b) { return b == 0; }));  // and nothing behind it
    }
    CHECK(received[1].imm == 0xdeadbeefU);
    CHECK(pair.statuses(0) == std::vector{Status::success, Status::success});
  }
}

TEST_CASE("a WRITE with immediate data goes where it says and uses up a receive request without a buffer") {
  Pair pair(real());
  const auto content = pair.fill(0, 0, 3000, 7);
  REQUIRE(pair.receive(9, 0, 0));
  nic::Wqe wqe = pair.write(0, 4096, 3000);
  wqe.with_imm = true;
  wqe.imm = 42;
  pair.post({pair.write(0, 8192, 8), wqe});
  pair.run();
  const auto received = pair.completions(1);
  REQUIRE(received.size() == 1);  // a plain WRITE uses up none
  CHECK(received[0].wr_id == 9);
  CHECK(received[0].opcode == Opcode::recv_rdma_with_imm);
  CHECK(received[0].length == 3000);
  CHECK(received[0].imm == 42);
  CHECK((pair.bytes(1, 4096, 3000) == content));
}

TEST_CASE("who sees a receive's completion sees its data") {
  // The receive CQE is a posted write behind the payload. Random schedules of the weakest machine.
  std::size_t polled_early = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Pair pair(profile_file("model-weak"));
    pair.system.set_word(0, pair.region[0].base, 77);
    pair.system.set_word(0, pair.region[0].base + 4096 - 8, 78);
    REQUIRE(pair.receive(0, 0, 8192));
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    pair.script(1, [&](nic::Cpu& cpu) {
      std::array<nic::Cqe, 1> cqe;
      if (cpu.poll_cq(pair.cq[1], cqe) == 0) {
        ++polled_early;
        return cpu.pause({});
      }
      first = cpu.load(pair.region[1].base);
      last = cpu.load(pair.region[1].base + 4096 - 8);
      cpu.stop();
    });
    pair.post({pair.send(0, 4096)});
    pair.run_random(seed);
    CHECK(first == 77);
    CHECK(last == 78);
  }
  CHECK(polled_early > 0);
}

TEST_CASE("stores before post_recv are in memory before anything is received there") {
  // The doorbell record is a store behind them (x86-TSO): a late store never overwrites a message.
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Pair pair(profile_file("model-weak"));
    pair.system.set_word(0, pair.region[0].base, 77);
    pair.script(1, [&, step = 0](nic::Cpu& cpu) mutable {
      if (step++ == 0) {
        cpu.store(pair.region[1].base, 1);
        return cpu.resume_after({});
      }
      const nic::RecvWqe wqe{.address = pair.region[1].base, .length = 8, .lkey = pair.region[1].lkey};
      CHECK(cpu.post_recv(pair.qp[1], {&wqe, 1}) == nic::PostResult::ok);
      cpu.stop();
    });
    pair.post({pair.send(0, 8)});
    pair.run_random(seed);
    CHECK(pair.system.word(1, pair.region[1].base) == 77);
    CHECK(pair.statuses(0) == std::vector{Status::success});
  }
}

TEST_CASE("a receiver that is not ready is asked again after the time it names") {
  Pair pair(real());
  const auto content = pair.fill(0, 0, 5000, 3);
  pair.post({pair.write(0, 8192, 8), pair.send(0, 5000), pair.write(0, 16384, 5000)});
  const auto late = sim::SimTime{} + 2_ms;
  pair.script(
      1,
      [&](nic::Cpu& cpu) {
        const nic::RecvWqe wqe{.address = pair.region[1].base, .length = 6000, .lkey = pair.region[1].lkey};
        CHECK(cpu.post_recv(pair.qp[1], {&wqe, 1}) == nic::PostResult::ok);
        cpu.stop();
      },
      late);
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  CHECK((pair.bytes(1, 0, 5000) == content));
  CHECK((pair.bytes(1, 16384, 5000) == content));  // behind the SEND, and repeated with it
  CHECK(pair.system.counters().rnr_naks == 4);     // at 0, 0.64, 1.28 and 1.92 ms
  REQUIRE(pair.completions(1).size() == 1);
  const sim::SimTime at = pair.recorder.cqes.back().at;
  CHECK(at > sim::SimTime{} + 640_us * 4);
  CHECK(at < sim::SimTime{} + 640_us * 4 + 100_us);
}

TEST_CASE("rnr_retry counts: none left is rnr_retry_exc_err, and the rest is flushed") {
  nic::HardwareProfile profile = real();
  profile.nic_rnr_retry = 2;
  Pair pair(profile);
  pair.post({pair.write(0, 0, 8), pair.send(0, 8), pair.write(0, 64, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success, Status::rnr_retry_exc_err, Status::wr_flush_err});
  CHECK(pair.system.counters().rnr_naks == 3);
  CHECK(pair.system.qp_state(pair.qp[0]) == nic::QpState::error);
}

TEST_CASE("rnr_retry counts anew for each message, and 7 is for ever") {
  // Each receive is posted 1 ms after the one before it, which is one retry after 0.64 ms and one after 1.28 ms; the
  // last one after ten more.
  nic::HardwareProfile profile = real();
  profile.nic_rnr_retry = GENERATE(2U, 7U);
  Pair pair(profile);
  const bool for_ever = profile.nic_rnr_retry == 7;
  pair.post(std::vector<nic::Wqe>(3, pair.send(0, 8)));
  for (std::int64_t i = 1; i <= 3; ++i) {
    const sim::Duration late = 1_ms * i + (for_ever && i == 3 ? 7_ms : 0_ms);
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          const nic::RecvWqe wqe{.address = pair.region[1].base, .length = 8, .lkey = pair.region[1].lkey};
          CHECK(cpu.post_recv(pair.qp[1], {&wqe, 1}) == nic::PostResult::ok);
          cpu.stop();
        },
        sim::SimTime{} + late);
  }
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  CHECK(pair.system.counters().rnr_naks > (for_ever ? 10U : 2U));
}

TEST_CASE("a message that does not fit, or may not be written, ends both sides with verbs' statuses") {
  struct Case {
    bool bad_key;
    Status receiver, sender;
  };
  // IBTA volume 1, table 65: a local error of the receive queue is a NAK, by its kind.
  for (const Case& c : {Case{false, Status::loc_len_err, Status::rem_inv_req_err},
                        Case{true, Status::loc_prot_err, Status::rem_op_err}}) {
    Pair pair(real());
    if (c.bad_key) {
      REQUIRE(pair.system.post_recv(
          pair.qp[1], {.wr_id = 1, .address = pair.region[1].base, .length = 4000, .lkey = pair.region[1].lkey ^ 1U}));
    } else {
      REQUIRE(pair.receive(1, 0, 2999));
    }
    REQUIRE(pair.receive(2, 0, 4000));
    pair.post({pair.send(0, 3000), pair.send(0, 8)});
    pair.run();
    CHECK(pair.statuses(0) == std::vector{c.sender, Status::wr_flush_err});
    const auto received = pair.completions(1);
    REQUIRE(received.size() == 2);
    CHECK(received[0].wr_id == 1);
    CHECK(received[0].status == c.receiver);
    CHECK(received[1].wr_id == 2);
    CHECK(received[1].status == Status::wr_flush_err);
    CHECK(pair.system.qp_state(pair.qp[1]) == nic::QpState::error);
  }
}

TEST_CASE("queue pairs share a receive queue, which says once when it runs low") {
  nic::HardwareProfile profile = real();
  profile.nic_context_entries = profile.nic_translation_entries = 0;  // else two packets wait, and come at once
  Pair pair(profile);
  const nic::SrqId srq = pair.system.create_srq(1, 8);
  std::array<nic::QpId, 2> sender{};
  nic::QpId receiver = 0;
  for (nic::QpId& qp : sender) {
    qp = pair.system.create_qp(0, pair.cq[0], 16);
    receiver = pair.system.create_qp(1, {.send_cq = pair.cq[1], .srq = srq});
    pair.system.connect(qp, receiver);
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    REQUIRE(pair.system.post_srq_recv(
        srq, {.wr_id = i, .address = pair.region[1].base + 64 * i, .length = 64, .lkey = pair.region[1].lkey}));
  }
  CHECK_FALSE(pair.system.post_srq_recv(srq, {}));
  pair.system.set_srq_limit(srq, 4);
  for (std::uint64_t i = 0; i < 6; ++i) pair.system.set_word(0, pair.region[0].base + 8 * i, 100 + i);
  std::vector<std::uint32_t> limit_events;  // by how many have been taken
  pair.script(1, [&](nic::Cpu& cpu) {
    if (cpu.srq_limit_reached(srq)) limit_events.push_back(pair.system.recv_queue_room(receiver));
    cpu.pause({});
  });
  for (std::uint64_t i = 0; i < 6; ++i) pair.post({pair.send(8 * i, 8)}, sender.at(i % 2));
  pair.run();
  const auto received = pair.completions(1);
  REQUIRE(received.size() == 6);
  std::set<std::uint64_t> values;
  for (std::uint64_t i = 0; i < 6; ++i) {
    CHECK(received[i].wr_id == i);
    values.insert(pair.system.word(1, pair.region[1].base + 64 * i));
  }
  CHECK(values == std::set<std::uint64_t>{100, 101, 102, 103, 104, 105});
  CHECK(limit_events == std::vector{5U});  // three of eight are left: below four for the first time
}

TEST_CASE("linked SENDs have one doorbell, and unsignalled ones no completion at the sender") {
  Pair pair(real());
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 10; ++i) {
    REQUIRE(pair.receive(i, 64 * i, 64));
    wqes.push_back(pair.send(0, 8));
    wqes.back().signaled = i == 9;
  }
  pair.post(wqes);
  pair.run();
  CHECK(pair.completions(1).size() == 10);
  CHECK(pair.completions(0).size() == 1);
  CHECK(pair.system.counters().doorbells == 1);
}

TEST_CASE("a message without bytes needs no address, inline or not") {
  // There is nothing to access (IBTA volume 1, 9.7.4.1.4).
  Pair pair(real());
  for (const bool inline_data : {false, true}) {
    REQUIRE(pair.receive(0, 64, 64));
    pair.post({nic::Wqe{.opcode = nic::Opcode::send, .inline_data = inline_data, .length = 0}});
  }
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
  CHECK(pair.statuses(1) == std::vector<Status>(2, Status::success));
}

TEST_CASE("a message takes at most as many PSNs as may be on their way") {
  // IBTA volume 1, 9.7.1: 2^23. InfiniBand's longest message, 2^31 bytes, has as many of its smallest packets, 256
  // bytes; a network with smaller ones has shorter messages.
  constexpr std::uint32_t kLongest = 64U << 23U;
  nic::HardwareProfile profile = real();
  profile.link_mtu = 64_B;
  for (const std::uint32_t length : {kLongest, kLongest + 1}) {
    Pair pair(profile, {.size = std::uint64_t{kLongest} + 64});
    pair.post({pair.read(0, 0, length)});
    while (pair.recorder.sent.empty() && pair.completions(0).empty()) REQUIRE(pair.step());
    CHECK(pair.recorder.sent.empty() == (length > kLongest));
    CHECK(pair.statuses(0) == (length > kLongest ? std::vector{Status::loc_len_err} : std::vector<Status>{}));
  }
}

TEST_CASE("the trace of a SEND: its payload is read at the sender and written at the receiver, by the same call") {
  Pair pair(real());
  pair.system.set_word(0, pair.region[0].base, 5);
  REQUIRE(pair.receive(0, 64, 64));
  nic::Wqe wqe = pair.send(0, 8);
  wqe.op = 12;
  pair.post({wqe});
  pair.run();
  std::vector<nic::Stamp> stamps;
  for (const nic::Subevent& s : pair.recorder.subevents) {
    stamps.push_back(s.stamp);
    CHECK(s.op == 12);
    CHECK(s.peer == 1);
    CHECK(s.value == 5);
    CHECK(s.home == (s.stamp == nic::Stamp::aNLR ? 0U : 1U));
  }
  CHECK(stamps == std::vector{nic::Stamp::aNLR, nic::Stamp::aNRW});
  CHECK(pair.recorder.subevents[1].address == pair.region[1].base + 64);
}

TEST_CASE("posting receives: limits and misuse") {
  Pair pair(real(), {.recv_entries = 2});
  CHECK(pair.receive(0, 0, 8));
  CHECK(pair.system.recv_queue_room(pair.qp[1]) == 1);
  CHECK(pair.receive(0, 0, 8));
  CHECK_FALSE(pair.receive(0, 0, 8));
  Pair empty(real(), {.recv_entries = 2});
  empty.script(1, [&](nic::Cpu& cpu) {
    const std::array<nic::RecvWqe, 3> wqes{};
    CHECK(cpu.post_recv(empty.qp[1], wqes) == nic::PostResult::queue_full);  // none of them
    CHECK(cpu.post_recv(empty.qp[1], {wqes.data(), 2}) == nic::PostResult::ok);
    CHECK(cpu.post_recv(empty.qp[1], {wqes.data(), 1}) == nic::PostResult::queue_full);
    cpu.stop();
  });
  empty.run();
  const nic::QpId without = pair.system.create_qp(1, {.send_cq = pair.cq[1]});
  CHECK_FALSE(pair.system.post_recv(without, {}));
  CHECK_THROWS_AS(pair.system.create_qp(0, {.send_cq = pair.cq[0], .srq = 99}), std::invalid_argument);
  CHECK_THROWS_AS(pair.system.create_srq(0, 0), std::invalid_argument);
}
