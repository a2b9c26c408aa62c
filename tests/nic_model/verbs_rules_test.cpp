// Rules of verbs that programs rely on: what is refused when posting, what a shared receive queue outlives, what waits
// for what. Sources: IBTA volume 1, chapters 9 and 10, and libibverbs' manual pages.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::PostResult;
using nic::QpState;
using nic::QpType;
using nic::Status;

namespace {

/// Two queue pairs of node 0, each connected with one of node 1; those share a receive queue of four.
struct Sharing {
  Pair pair{real()};
  nic::SrqId srq = pair.system.create_srq(1, 4);
  std::array<nic::QpId, 2> sender{}, receiver{};

  Sharing() {
    for (const std::size_t i : {0U, 1U}) {
      sender.at(i) = pair.system.create_qp(0, pair.cq[0], 16);
      receiver.at(i) = pair.system.create_qp(1, {.send_cq = pair.cq[1], .srq = srq});
      pair.system.connect(sender.at(i), receiver.at(i));
    }
    for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(pair.system.post_srq_recv(srq, buffer(i)));
  }
  [[nodiscard]] nic::RecvWqe buffer(std::uint64_t id) const {
    return {.wr_id = id, .address = pair.region[1].base + 64 * id, .length = 64, .lkey = pair.region[1].lkey};
  }
};

/// What both nodes sent, in the order of sending.
std::vector<fabric::Opcode> sent_packets(const Pair& pair) {
  std::vector<fabric::Opcode> out;
  for (const fabric::Packet& packet : pair.recorder.sent) out.push_back(packet.opcode);
  return out;
}

}  // namespace

TEST_CASE("a queue pair with a shared receive queue takes no receives of its own: ibv_post_recv(3)") {
  Sharing s;
  CHECK_FALSE(s.pair.system.post_recv(s.receiver[0], s.buffer(3)));
  PostResult result = PostResult::ok;
  s.pair.script(1, [&](nic::Cpu& cpu) {
    const nic::RecvWqe wqe = s.buffer(3);
    result = cpu.post_recv(s.receiver[0], {&wqe, 1});
    cpu.stop();
  });
  s.pair.run();
  CHECK(result == PostResult::bad_request);
  CHECK(s.pair.system.recv_queue_room(s.receiver[0]) == 1);  // three of four, as before
  CHECK(s.pair.system.post_srq_recv(s.srq, s.buffer(3)));
}

TEST_CASE("the limit of a shared receive queue is at most what it holds: ibv_modify_srq says EINVAL") {
  Sharing s;
  CHECK_THROWS_AS(s.pair.system.set_srq_limit(s.srq, 5), std::invalid_argument);
  CHECK_NOTHROW(s.pair.system.set_srq_limit(s.srq, 4));
  CHECK_NOTHROW(s.pair.system.set_srq_limit(s.srq, 0));
}

TEST_CASE("a shared receive queue outlives its queue pairs: neither ERROR nor RESET takes its receives") {
  // IBTA volume 1, 10.2.9.5: only what a queue pair has taken already is its own.
  for (const QpState end : {QpState::error, QpState::reset}) {
    Sharing s;
    REQUIRE(s.pair.system.modify_qp(s.receiver[0], end) == ModifyResult::ok);
    s.pair.run();
    CHECK(s.pair.completions(1).empty());
    CHECK(s.pair.system.recv_queue_room(s.receiver[1]) == 1);
    s.pair.post({s.pair.send(0, 8)}, s.sender[1]);
    s.pair.run();
    const auto received = s.pair.completions(1);
    REQUIRE(received.size() == 1);
    CHECK(received[0].wr_id == 0);
    CHECK(received[0].status == Status::success);
    CHECK(received[0].qp == s.receiver[1]);
  }
}

TEST_CASE("READs and atomics have no immediate data: verbs have no such opcode") {
  Pair pair(real());
  std::vector<PostResult> results;
  pair.script(0, [&](nic::Cpu& cpu) {
    for (nic::Wqe wqe : {pair.read(0, 0), pair.fetch_add(0, 0, 1)}) {
      wqe.with_imm = true;
      results.push_back(cpu.post_send(pair.qp[0], {&wqe, 1}));
    }
    cpu.stop();
  });
  pair.run();
  CHECK(results == std::vector(2, PostResult::bad_request));
  CHECK(pair.recorder.sent.empty());
}

TEST_CASE("inline data needs no key: ibv_post_send(3) does not check it") {
  Pair pair(real());
  pair.system.set_word(0, pair.region[0].base, 6);
  nic::Wqe wqe = pair.write(0, 64);
  wqe.inline_data = true;
  wqe.lkey ^= 1U;
  pair.post({wqe});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  CHECK(pair.system.word(1, pair.region[1].base + 64) == 6);
}

TEST_CASE("a fence waits for earlier READs and atomics, not for WRITEs") {
  // IBTA volume 1, 10.8.3.3 and table 76: after a WRITE or SEND a fence has nothing to wait for.
  const auto last_completion = [](bool fence, bool after_read) {
    Pair pair(real());
    nic::Wqe second = pair.write(0, 64);
    second.fence = fence;
    pair.post({after_read ? pair.read(0, 0) : pair.write(0, 0), second});
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
    return pair.recorder.cqes.back().at;
  };
  CHECK(last_completion(true, false) == last_completion(false, false));
  CHECK(last_completion(true, true) > last_completion(false, true));
}

TEST_CASE("a READ beyond max_rd_atomic holds up what is behind it: a send queue starts its requests in order") {
  using Op = fabric::Opcode;
  Pair pair(real(), unconnected());
  pair.bring_up({.max_rd_atomic = 1});
  pair.post({pair.read(0, 0), pair.read(8, 8), pair.write(0, 64)});
  pair.run();
  std::vector<Op> order = sent_packets(pair);
  std::erase(order, Op::ack);
  CHECK(order == std::vector{Op::read_request, Op::read_response, Op::read_request, Op::write, Op::read_response});
}

TEST_CASE("each right is one of its own: atomics need theirs, and neither the one to write nor the one to read") {
  Pair pair(real());
  const nic::MemoryRegion only_atomic =
      pair.system.register_memory(1, pair.region[1].base, 64, nic::kLocalWrite | nic::kRemoteAtomic);
  nic::Wqe atomic = pair.fetch_add(0, 0, 3);
  nic::Wqe write = pair.write(0, 8);
  atomic.rkey = write.rkey = only_atomic.rkey;
  pair.post({atomic, write});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success, Status::rem_access_err});
  CHECK(pair.system.word(1, pair.region[1].base) == 3);
}

TEST_CASE("a WRITE of no bytes with immediate data needs no key, and uses up a receive") {
  Pair pair(real());  // IBTA volume 1, 9.7.4.1.5: the key of a request without bytes is not checked
  REQUIRE(pair.receive(4, 0, 0));
  nic::Wqe wqe = pair.write(0, 0, 0);
  wqe.rkey = wqe.lkey = 0xffffff00U;
  wqe.with_imm = true;
  wqe.imm = 11;
  pair.post({wqe});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  const auto received = pair.completions(1);
  REQUIRE(received.size() == 1);
  CHECK(received[0].length == 0);
  CHECK(received[0].imm == 11);
}

TEST_CASE("behind a message whose receiver is not ready nothing is executed") {
  Pair pair(real());  // IBTA volume 1, 9.7.5.2.8: what follows an RNR NAK is dropped until it comes again
  pair.system.set_word(0, pair.region[0].base, 9);
  pair.post({pair.send(0, 8), pair.write(0, 64)});
  std::uint64_t before = 1;
  pair.script(
      1,
      [&](nic::Cpu& cpu) {
        before = pair.system.word(1, pair.region[1].base + 64);
        const nic::RecvWqe wqe{.address = pair.region[1].base, .length = 8, .lkey = pair.region[1].lkey};
        CHECK(cpu.post_recv(pair.qp[1], {&wqe, 1}) == PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 300_us);
  pair.run();
  CHECK(before == 0);
  CHECK(pair.system.word(1, pair.region[1].base + 64) == 9);
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
  CHECK(pair.system.qp_state(pair.qp[1]) == QpState::rts);  // not ready is no error
}

TEST_CASE("a responder that refuses a request is in ERROR: its receives are flushed") {
  Pair pair(real());
  REQUIRE(pair.receive(5, 0, 8));
  REQUIRE(pair.receive(6, 0, 8));
  nic::Wqe bad = pair.write(0, 0);
  bad.rkey ^= 1U;
  pair.post({bad});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::rem_access_err});
  const auto flushed = pair.completions(1);
  REQUIRE(flushed.size() == 2);
  for (const std::size_t i : {0U, 1U}) {
    CHECK(flushed[i].wr_id == 5 + i);
    CHECK(flushed[i].status == Status::wr_flush_err);
  }
}

TEST_CASE("in RTR a queue pair receives and answers, and sends nothing") {
  Pair pair(real(), unconnected());
  bring_up(pair.system, pair.qp[0], {.dest_qp = pair.qp[1]});
  for (const QpState to : {QpState::init, QpState::rtr}) {
    REQUIRE(pair.system.modify_qp(pair.qp[1], to, {.dest_qp = pair.qp[0]}) == ModifyResult::ok);
  }
  REQUIRE(pair.receive(1, 128, 8));
  pair.system.set_word(1, pair.region[1].base + 8, 4);
  PostResult posted = PostResult::ok;
  pair.script(1, [&](nic::Cpu& cpu) {
    const nic::Wqe wqe = towards(pair.region[0], pair.write(0, 0));
    posted = cpu.post_send(pair.qp[1], {&wqe, 1});
    cpu.stop();
  });
  pair.post({pair.write(0, 0), pair.read(64, 8), pair.send(0, 8), pair.fetch_add(72, 8, 1)});
  pair.run();
  CHECK(posted == PostResult::bad_request);
  CHECK(pair.statuses(0) == std::vector<Status>(4, Status::success));
  CHECK(pair.statuses(1) == std::vector{Status::success});
  CHECK(pair.system.word(0, pair.region[0].base + 64) == 4);
}

TEST_CASE("in SQD a queue pair still receives and answers; what it posts waits") {
  Pair pair(real());
  REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::sqd) == ModifyResult::ok);
  REQUIRE(pair.receive(1, 128, 8));
  PostResult posted = PostResult::bad_request;
  pair.script(1, [&](nic::Cpu& cpu) {
    nic::Wqe wqe = pair.write(0, 256);
    std::swap(wqe.lkey, wqe.rkey);
    std::swap(wqe.local, wqe.remote);
    posted = cpu.post_send(pair.qp[1], {&wqe, 1});
    cpu.stop();
  });
  pair.post({pair.write(0, 0), pair.read(64, 8), pair.send(0, 8)});
  pair.run();
  CHECK(posted == PostResult::ok);
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  CHECK(pair.statuses(1) == std::vector{Status::success});  // the receive
  REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::rts) == ModifyResult::ok);
  pair.run();
  CHECK(pair.statuses(1) == std::vector<Status>(2, Status::success));
}

TEST_CASE("what is posted in SQE is flushed") {
  Pair pair(real(), {.type = QpType::uc});  // IBTA volume 1, 10.3.1.6
  nic::Wqe bad = pair.write(0, 0);
  bad.lkey ^= 1U;
  pair.post({bad});
  pair.run();
  REQUIRE(pair.system.qp_state(pair.qp[0]) == QpState::sqe);
  pair.post({pair.write(0, 64), pair.write(0, 72)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::loc_prot_err, Status::wr_flush_err, Status::wr_flush_err});
  CHECK(pair.recorder.sent.empty());
}

TEST_CASE("a datagram for a queue pair that takes none is lost, and its sender is told success") {
  for (const bool reset : {true, false}) {  // no longer ready, or of another transport
    Pair pair(real(), {.type = QpType::ud});
    const nic::QpId connected = pair.system.create_qp(1, {.send_cq = pair.cq[1], .recv_entries = 4});
    if (reset) REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
    nic::Wqe wqe = pair.send(0, 8);
    wqe.remote_qp = reset ? pair.qp[1] : connected;
    wqe.remote_qkey = 17;
    pair.post({wqe});
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success});
    CHECK(pair.completions(1).empty());
  }
}

TEST_CASE("a time-out of 0 is never; without retries one time-out is enough") {
  for (const bool never : {true, false}) {  // IBTA volume 1, 9.7.6.1.3: local ACK timeout 0 is disabled
    Pair pair(real(), unconnected());       // the peer is in RESET
    bring_up(pair.system, pair.qp[0],
             {.dest_qp = pair.qp[1], .timeout = never ? sim::Duration{} : kTimeout, .retry_count = 0});
    pair.post({pair.write(0, 0)});
    pair.run();
    if (never) {
      CHECK(pair.recorder.cqes.empty());
    } else {
      REQUIRE(pair.statuses(0) == std::vector{Status::retry_exc_err});
      check_gave_up(pair.recorder.cqes.back().at, 0);
    }
  }
}
