// The state machine of a queue pair (IBTA volume 1, 10.3.1, figure 125; ibv_modify_qp(3)).
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::QpAttributes;
using nic::QpState;
using nic::QpType;
using nic::Status;

namespace {

constexpr std::array kStates = {QpState::reset, QpState::init, QpState::rtr,  QpState::rts,
                                QpState::sqd,   QpState::sqe,  QpState::error};

/// Brings a fresh queue pair into a state by legal steps.
void bring(Pair& pair, nic::QpId qp, QpState to) {
  const nic::QpAttributes attributes{.dest_qp = qp == pair.qp[0] ? pair.qp[1] : pair.qp[0]};
  const auto step = [&](QpState s) { REQUIRE(pair.system.modify_qp(qp, s, attributes) == ModifyResult::ok); };
  if (to == QpState::reset) return;
  if (to == QpState::error) return step(to);
  for (const QpState s : {QpState::init, QpState::rtr, QpState::rts}) {
    step(s);
    if (s == to) return;
  }
  step(to);
}

}  // namespace

TEST_CASE("modify_qp follows the specification's state diagram and no other arrow") {
  const auto has_arrow = [](QpType type, QpState from, QpState to) {
    if (to == QpState::reset || to == QpState::error) return true;
    const std::set<std::pair<QpState, QpState>> arrows = {
        {QpState::reset, QpState::init}, {QpState::init, QpState::init}, {QpState::init, QpState::rtr},
        {QpState::rtr, QpState::rts},    {QpState::rts, QpState::rts},   {QpState::rts, QpState::sqd},
        {QpState::sqd, QpState::sqd},    {QpState::sqd, QpState::rts}};
    return arrows.contains({from, to}) || (type != QpType::rc && from == QpState::sqe && to == QpState::rts);
  };
  for (const QpType type : {QpType::rc, QpType::uc, QpType::ud}) {
    for (const QpState from : kStates) {
      if (from == QpState::sqe) continue;  // only a failed send leads there: unreliable_test.cpp
      for (const QpState to : kStates) {
        INFO("type " << static_cast<int>(type) << " from " << static_cast<int>(from) << " to " << static_cast<int>(to));
        Pair pair(real(), unconnected(0, type));
        bring(pair, pair.qp[0], from);
        const auto result = pair.system.modify_qp(pair.qp[0], to, {.dest_qp = pair.qp[1]});
        CHECK((result == ModifyResult::ok) == has_arrow(type, from, to));
        CHECK((result == ModifyResult::invalid_transition) == !has_arrow(type, from, to));
        CHECK(pair.system.qp_state(pair.qp[0]) == (has_arrow(type, from, to) ? to : from));
      }
    }
  }
}

TEST_CASE("attributes that do not make sense are refused, and the state stays") {
  Pair pair(real(), unconnected());
  const nic::QpId uc = pair.system.create_qp(1, {.type = QpType::uc, .send_cq = pair.cq[1]});
  bring(pair, pair.qp[0], QpState::init);
  for (const nic::QpId peer : {uc, nic::kNone}) {
    CHECK(pair.system.modify_qp(pair.qp[0], QpState::rtr, {.dest_qp = peer}) == ModifyResult::invalid_attribute);
    CHECK(pair.system.qp_state(pair.qp[0]) == QpState::init);
  }
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::rtr, {.dest_qp = pair.qp[1]}) == ModifyResult::ok);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::rts, {.max_rd_atomic = 129}) == ModifyResult::invalid_attribute);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::rts, {.retry_count = 8}) == ModifyResult::invalid_attribute);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::rts, {.max_rd_atomic = 1}) == ModifyResult::ok);
}

TEST_CASE("posting: sends from RTS on, receives from INIT on; ERROR flushes both") {
  for (const QpState state : kStates) {
    if (state == QpState::sqe) continue;
    INFO("state " << static_cast<int>(state));
    Pair pair(real(), unconnected());
    bring(pair, pair.qp[0], state);
    nic::PostResult sent{};
    nic::PostResult received{};
    pair.script(0, [&](nic::Cpu& cpu) {
      const nic::Wqe wqe = pair.write(0, 0, 8);
      const nic::RecvWqe receive{.wr_id = 7, .address = pair.region[0].base, .length = 8, .lkey = pair.region[0].lkey};
      sent = cpu.post_send(pair.qp[0], {&wqe, 1});
      received = cpu.post_recv(pair.qp[0], {&receive, 1});
      cpu.stop();
    });
    for (int i = 0; i < 10 && pair.step(); ++i) {
    }
    CHECK((sent == nic::PostResult::ok) == (state >= QpState::rts));
    CHECK((received == nic::PostResult::ok) == (state != QpState::reset));
    if (state == QpState::error) {
      pair.run();
      CHECK(pair.statuses(0) == std::vector<Status>(2, Status::wr_flush_err));
    }
  }
}

TEST_CASE("SQD: what has started finishes, nothing else starts until RTS") {
  Pair pair(real());
  pair.system.set_word(0, pair.region[0].base, 5);
  pair.post({pair.write(0, 64, 8)});
  pair.run();
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::sqd) == ModifyResult::ok);
  pair.post({pair.write(0, 128, 8)});
  pair.run();
  CHECK(pair.system.word(1, pair.region[1].base + 64) == 5);
  CHECK(pair.system.word(1, pair.region[1].base + 128) == 0);
  CHECK(pair.statuses(0).size() == 1);
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::rts) == ModifyResult::ok);
  pair.run();
  CHECK(pair.system.word(1, pair.region[1].base + 128) == 5);
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
}

TEST_CASE("a queue pair moved to ERROR flushes what it knows; after RESET it can be connected anew") {
  Pair pair(real());
  pair.system.set_word(0, pair.region[0].base, 5);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(pair.receive(i, 0, 64));
  pair.post({pair.read(0, 0, 8), pair.write(0, 64, 8)});
  for (int i = 0; i < 6; ++i) pair.step();  // posted, not answered
  REQUIRE(pair.completions(0).empty());
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::error) == ModifyResult::ok);
  REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::error) == ModifyResult::ok);
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::wr_flush_err));
  CHECK(pair.statuses(1) == std::vector<Status>(3, Status::wr_flush_err));
  for (const nic::QpId qp : pair.qp) REQUIRE(pair.system.modify_qp(qp, QpState::reset) == ModifyResult::ok);
  CHECK(pair.system.send_queue_room(pair.qp[0]) == 1024);
  CHECK(pair.system.recv_queue_room(pair.qp[1]) == 64);
  pair.system.connect(pair.qp[0], pair.qp[1]);
  REQUIRE(pair.receive(9, 256, 64));
  pair.system.set_word(0, pair.region[0].base, 6);
  pair.post({pair.write(0, 128, 8), pair.send(0, 8), pair.read(8, 128, 8)});
  pair.run();
  CHECK(pair.system.word(1, pair.region[1].base + 128) == 6);
  CHECK(pair.system.word(1, pair.region[1].base + 256) == 6);
  CHECK(pair.system.word(0, pair.region[0].base + 8) == 6);
  CHECK(pair.statuses(0).back() == Status::success);
}

TEST_CASE("a requester whose peer was never readied gives up after its retries") {
  Pair pair(real(), unconnected());
  const nic::QpAttributes attributes{.dest_qp = pair.qp[1], .timeout = nic::timeout_of_code(8), .retry_count = 1};
  for (const QpState s : {QpState::init, QpState::rtr, QpState::rts}) {
    REQUIRE(pair.system.modify_qp(pair.qp[0], s, attributes) == ModifyResult::ok);
  }
  pair.post({pair.write(0, 0, 8)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
  const sim::SimTime at = pair.recorder.cqes.back().at;
  CHECK(at > sim::SimTime{} + nic::timeout_of_code(8) * 2);
  CHECK(at < sim::SimTime{} + nic::timeout_of_code(8) * 2 + 20_us);
}

TEST_CASE("max_rd_atomic of the queue pair bounds what is outstanding") {
  for (const std::uint32_t most : {1U, 4U}) {
    Pair pair(real(), unconnected());
    for (const std::size_t i : {0U, 1U}) {
      for (const QpState s : {QpState::init, QpState::rtr, QpState::rts}) {
        REQUIRE(pair.system.modify_qp(pair.qp[i], s, {.dest_qp = pair.qp[1 - i], .max_rd_atomic = most}) ==
                ModifyResult::ok);
      }
    }
    pair.post(std::vector<nic::Wqe>(8, pair.read(0, 0, 8)));
    std::size_t outstanding = 0;
    std::size_t greatest = 0;
    std::size_t seen = 0;
    while (pair.step()) {
      for (; seen < pair.recorder.sent.size(); ++seen) {
        const auto opcode = pair.recorder.sent[seen].opcode;
        if (opcode == fabric::Opcode::read_request) ++outstanding;
        greatest = std::max(greatest, outstanding);
        if (opcode == fabric::Opcode::read_response) --outstanding;
      }
    }
    CHECK(greatest == most);
    CHECK(pair.statuses(0) == std::vector<Status>(8, Status::success));
  }
}

TEST_CASE("attributes are taken where ibv_modify_qp takes them, and refused elsewhere") {
  const auto state = [](Pair& pair, QpState to, const QpAttributes& a) {
    return pair.system.modify_qp(pair.qp[1], to, a);
  };
  // RTS -> RTS and SQD -> RTS take the RNR timer of an RC queue pair and no limit of retries.
  for (const QpState from : {QpState::rts, QpState::sqd}) {
    Pair pair(real());
    if (from == QpState::sqd) REQUIRE(state(pair, QpState::sqd, {}) == ModifyResult::ok);
    const QpAttributes refused[] = {
        {.max_rd_atomic = 1}, {.timeout = 3_us}, {.retry_count = 1}, {.rnr_retry = 1}, {.max_dest_rd_atomic = 1}};
    for (const QpAttributes& a : refused) {
      CHECK(state(pair, QpState::rts, a) == ModifyResult::invalid_attribute);
      CHECK(pair.system.qp_state(pair.qp[1]) == from);
    }
    CHECK(state(pair, QpState::rts, {.dest_qp = pair.qp[0], .min_rnr_timer = 50_us}) == ModifyResult::ok);
    // The receiver says how long to wait: 50 us now, and not the profile's 640.
    pair.post({pair.send(0, 8)});
    pair.script(
        1,
        [&](nic::Cpu& cpu) {
          const nic::RecvWqe receive{
              .wr_id = 5, .address = pair.region[1].base, .length = 64, .lkey = pair.region[1].lkey};
          CHECK(cpu.post_recv(pair.qp[1], {&receive, 1}) == nic::PostResult::ok);
          cpu.stop();
        },
        sim::SimTime{} + 20_us);
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success});
    CHECK(pair.recorder.cqes.back().at > sim::SimTime{} + 50_us);
    CHECK(pair.recorder.cqes.back().at < sim::SimTime{} + 70_us);
  }
  // SQD -> SQD takes the limits: one retry instead of seven.
  Pair pair(impatient(7));
  REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::sqd) == ModifyResult::ok);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::sqd, {.retry_count = 1}) == ModifyResult::ok);
  CHECK(pair.system.modify_qp(pair.qp[0], QpState::rts) == ModifyResult::ok);
  REQUIRE(pair.system.modify_qp(pair.qp[1], QpState::reset) == ModifyResult::ok);
  pair.post({pair.write(0, 0)});
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::retry_exc_err});
  check_gave_up(pair.recorder.cqes.back().at, 1);
}

TEST_CASE("behind a work request that has failed nothing starts, whatever states are passed through meanwhile") {
  // What is behind the error is flushed (IBTA volume 1, 10.3.1). The READ in front of it is on its way.
  for (const bool drained : {false, true}) {
    INFO("through SQD " << drained);
    Pair pair(real());
    pair.system.set_word(0, pair.region[0].base, 5);
    nic::Wqe bad = pair.write(0, 64);
    bad.lkey ^= 1;
    pair.post({pair.read(4'096, 0, 32'768), bad, pair.write(0, 128)});
    const auto answered = [&] {
      return std::ranges::count(pair.recorder.sent, fabric::Opcode::read_response, &fabric::Packet::opcode) != 0;
    };
    while (!answered()) REQUIRE(pair.step());
    REQUIRE(pair.completions(0).empty());
    if (drained) REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::sqd) == ModifyResult::ok);
    REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::rts) == ModifyResult::ok);
    pair.run();
    CHECK(pair.statuses(0) == std::vector{Status::success, Status::loc_prot_err, Status::wr_flush_err});
    CHECK(pair.system.word(1, pair.region[1].base + 128) == 0);
  }
}
