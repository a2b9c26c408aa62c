// Unreliable transports (IBTA volume 1, 9.8.2 and 9.8.3): what arrives is placed, what does not is forgotten.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Opcode;
using nic::QpType;
using nic::Status;

namespace {

PairOptions of_type(QpType type, std::uint32_t loss = 0, std::uint64_t seed = 1) {
  PairOptions options;
  options.type = type;
  options.network.options.loss = loss;
  options.network.seed = seed;
  return options;
}

/// A datagram from node 0 to node 1's queue pair.
nic::Wqe datagram(const Pair& pair, std::uint64_t from, std::uint32_t length, std::uint32_t qkey = 17) {
  nic::Wqe wqe = pair.send(from, length);
  wqe.remote_qp = pair.qp[1];
  wqe.remote_qkey = qkey;
  return wqe;
}

std::size_t answers(const Pair& pair) {
  std::size_t n = 0;
  for (const fabric::Packet& packet : pair.recorder.sent) n += fabric::is_response(packet.opcode) ? 1U : 0U;
  return n;
}

}  // namespace

TEST_CASE("UC: WRITEs and SENDs arrive without answers, and complete when they are sent") {
  Pair pair(real(), of_type(QpType::uc));
  const auto content = pair.fill(0, 0, 5'000, 1);
  REQUIRE(pair.receive(1, 20'000, 5'000));
  REQUIRE(pair.receive(2, 0, 0));
  nic::Wqe with_imm = pair.write(0, 30'000, 5'000);
  with_imm.with_imm = true;
  with_imm.imm = 6;
  pair.post({pair.write(0, 0, 5'000), pair.send(0, 5'000), with_imm});
  pair.run();
  CHECK(answers(pair) == 0);
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  for (const std::uint64_t at : {0U, 20'000U, 30'000U}) CHECK((pair.bytes(1, at, 5'000) == content));
  const auto received = pair.completions(1);
  REQUIRE(received.size() == 2);
  CHECK(received[0].length == 5'000);
  CHECK(received[1].opcode == Opcode::recv_rdma_with_imm);
  CHECK(received[1].imm == 6);
}

TEST_CASE("UC: a message with a gap is given up as a whole, and its receive serves the next one") {
  std::size_t given_up = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    Pair pair(real(), of_type(QpType::uc, 30'000, seed));
    std::vector<nic::Wqe> wqes;
    for (std::uint32_t i = 0; i < 30; ++i) {
      pair.system.set_word(0, pair.region[0].base + 4'096 * i, i);
      pair.system.set_word(0, pair.region[0].base + 4'096 * i + 4'088, i);
      REQUIRE(pair.receive(i, 4'096 * i, 4'096));
      wqes.push_back(pair.send(4'096 * i, 4'096));
      wqes.back().with_imm = true;
      wqes.back().imm = i;
    }
    pair.post(wqes);
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(30, Status::success));  // sent is all that the sender knows
    const auto received = pair.completions(1);
    given_up += 30 - received.size();
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < received.size(); ++i) {
      CHECK(received[i].wr_id == i);  // receives are used in order, none is lost
      CHECK(received[i].status == Status::success);
      CHECK(received[i].length == 4'096);
      CHECK(received[i].imm >= next);  // messages stay in order
      next = received[i].imm + 1;
      CHECK(pair.system.word(1, pair.region[1].base + 4'096 * i) == received[i].imm);
      CHECK(pair.system.word(1, pair.region[1].base + 4'096 * i + 4'088) == received[i].imm);
    }
  }
  CHECK(given_up > 10);
}

TEST_CASE("UC: nothing to receive with, or no right to write: dropped without a word") {
  Pair pair(real(), of_type(QpType::uc));
  pair.system.set_word(0, pair.region[0].base, 1);
  nic::Wqe refused = pair.write(0, 64, 8);
  refused.rkey ^= 1U;
  nic::Wqe immediate = pair.write(0, 192, 8);
  immediate.with_imm = true;
  pair.post({pair.send(0, 8), refused, pair.write(0, 128, 8), immediate});
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(4, Status::success));
  CHECK(pair.completions(1).empty());
  CHECK(pair.system.word(1, pair.region[1].base + 64) == 0);
  CHECK(pair.system.word(1, pair.region[1].base + 128) == 1);
  CHECK(pair.system.qp_state(pair.qp[1]) == nic::QpState::rts);
}

TEST_CASE("UC: a send that fails locally leads to SQE: it still receives, and goes on after RTS") {
  Pair pair(real(), of_type(QpType::uc));
  pair.system.set_word(0, pair.region[0].base, 1);
  nic::Wqe bad = pair.write(0, 0, 8);
  bad.lkey ^= 1U;
  pair.post({bad, pair.write(0, 64, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::loc_prot_err, Status::wr_flush_err});
  CHECK(pair.system.qp_state(pair.qp[0]) == nic::QpState::sqe);
  CHECK(pair.system.modify_qp(pair.qp[0], nic::QpState::rts) == nic::ModifyResult::ok);
  pair.post({pair.write(0, 128, 8)});
  pair.run();
  CHECK(pair.statuses(0).back() == Status::success);
  CHECK(pair.system.word(1, pair.region[1].base + 64) == 0);
  CHECK(pair.system.word(1, pair.region[1].base + 128) == 1);
}

TEST_CASE("UD: one packet a message, behind 40 bytes, with the sender's name; the key must fit") {
  Pair pair(real(), of_type(QpType::ud));
  const auto content = pair.fill(0, 0, 1'024, 1);
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.receive(i, 2'048 * i, 1'064));
  nic::Wqe with_imm = datagram(pair, 0, 1'024);
  with_imm.with_imm = true;
  with_imm.imm = 99;
  pair.post({datagram(pair, 0, 100), datagram(pair, 0, 8, 18), with_imm});
  pair.run();
  CHECK(answers(pair) == 0);
  CHECK(pair.statuses(0) == std::vector<Status>(3, Status::success));
  const auto received = pair.completions(1);
  REQUIRE(received.size() == 2);  // the one with the wrong Q_Key is dropped
  CHECK(received[0].length == 140);
  CHECK(received[0].source_qp == pair.qp[0]);
  CHECK(received[1].length == 1'064);
  CHECK(received[1].imm == 99);
  CHECK((pair.bytes(1, 2'048 + 40, 1'024) == content));
  CHECK((pair.bytes(1, 2'048, 40) == std::vector<std::uint8_t>(40)));
}

TEST_CASE(
    "UD: what nobody receives is dropped; what is longer than a packet is refused; what does not fit is an error") {
  Pair pair(real(), of_type(QpType::ud));
  pair.post({datagram(pair, 0, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  CHECK(pair.completions(1).empty());

  REQUIRE(pair.receive(1, 0, 47));  // 40 and 8 do not fit
  pair.post({datagram(pair, 0, 8)});
  pair.run();
  CHECK(pair.statuses(1) == std::vector{Status::loc_len_err});
  CHECK(pair.system.qp_state(pair.qp[1]) == nic::QpState::error);

  pair.post({datagram(pair, 0, 1'025)});
  pair.run();
  CHECK(pair.statuses(0).back() == Status::loc_len_err);
  CHECK(pair.system.qp_state(pair.qp[0]) == nic::QpState::sqe);
}

TEST_CASE("UD: one queue pair sends to many, and receives from many") {
  Pair pair(real(), of_type(QpType::ud));
  const nic::QpId other = pair.system.create_qp(0, {.type = QpType::ud, .send_cq = pair.cq[0], .send_entries = 4});
  pair.system.activate(other, 17);
  const nic::QpId second = pair.system.create_qp(1, {.type = QpType::ud, .send_cq = pair.cq[1], .recv_entries = 4});
  pair.system.activate(second, 17);
  for (std::uint64_t i = 0; i < 2; ++i) REQUIRE(pair.receive(i, 64 * i, 64));
  REQUIRE(
      pair.system.post_recv(second, {.address = pair.region[1].base + 512, .length = 64, .lkey = pair.region[1].lkey}));
  nic::Wqe to_second = datagram(pair, 0, 8);
  to_second.remote_qp = second;
  pair.post({datagram(pair, 0, 8), to_second});
  pair.post({datagram(pair, 0, 8)}, other);
  pair.run();
  std::multiset<nic::QpId> sources;
  for (const nic::Cqe& c : pair.completions(1)) sources.insert(c.source_qp);
  CHECK(sources == std::multiset<nic::QpId>{pair.qp[0], pair.qp[0], other});
}

TEST_CASE("operations that a transport does not have are refused when posted") {
  for (const QpType type : {QpType::uc, QpType::ud}) {
    Pair pair(real(), of_type(type));
    pair.script(0, [&](nic::Cpu& cpu) {
      for (nic::Wqe wqe : {pair.read(0, 0), pair.fetch_add(0, 0, 1), pair.write(0, 0), pair.send(0, 8)}) {
        const bool has = wqe.opcode == Opcode::rdma_write && type == QpType::uc;
        // A datagram without an address handle goes nowhere.
        const bool accepted = has || (wqe.opcode == Opcode::send && type == QpType::uc);
        CHECK((cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok) == accepted);
      }
      cpu.stop();
    });
    pair.run();
  }
}

TEST_CASE("UD: a Q_Key with the high bit set means the queue pair's own") {
  // IBTA volume 1, 10.2.5. The pair's Q_Key is 17.
  for (const std::uint32_t qkey : {17U, 18U, 0x80000000U, 0x80000012U}) {
    Pair pair(real(), of_type(QpType::ud));
    REQUIRE(pair.receive(1, 0, 64));
    nic::Wqe wqe = pair.send(0, 8);
    wqe.remote_qp = pair.qp[1];
    wqe.remote_qkey = qkey;
    pair.post({wqe});
    pair.run();
    CHECK(pair.statuses(1).size() == (qkey == 18 ? 0U : 1U));
  }
}

TEST_CASE("UD: INIT to INIT keeps the Q_Key that it does not name; RESET does not") {
  // ibv_modify_qp(3): the Q_Key is required from RESET to INIT, optional from INIT to INIT.
  struct Step {
    nic::QpState to;
    std::uint32_t qkey;  // 0: left out
  };
  using nic::QpState;
  const auto taken = [](const std::vector<Step>& steps, std::uint32_t qkey) {
    Pair pair(real(), unconnected(0, QpType::ud));
    for (const Step& s : steps)
      REQUIRE(pair.system.modify_qp(pair.qp[1], s.to, {.qkey = s.qkey}) == nic::ModifyResult::ok);
    pair.system.activate(pair.qp[0]);
    bring_up(pair.system, pair.qp[1], {});
    REQUIRE(pair.receive(1, 0, 64));
    pair.post({datagram(pair, 0, 8, qkey)});
    pair.run();
    return !pair.statuses(1).empty();
  };
  const std::vector<Step> named = {{QpState::init, 17}};  // bring_up() goes to INIT again, with none
  CHECK(taken(named, 17));
  CHECK_FALSE(taken(named, 0));
  CHECK(taken({{QpState::init, 17}, {QpState::init, 18}}, 18));
  CHECK(taken({{QpState::init, 17}, {QpState::reset, 0}}, 0));
}
