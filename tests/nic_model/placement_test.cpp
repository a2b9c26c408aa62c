// Out-of-order data placement (docs/machine.md, "Out of order"): which cells of the stamp order it gives up, that the
// others hold, and that all bytes are right in the end.
//
// out_of_order, as on mlx5: WRITEs are placed as they come (G7 is lost); READs and atomics wait for all earlier
// messages (G8, and with it G9, holds). unordered, as on Amazon's SRD: READs do not wait either, so that G8 and G9 are
// lost, too.
#include "pair.hpp"
#include "program.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Placement;
using nic::Stamp;
using nic::Status;

namespace {

nic::HardwareProfile weak(Placement placement) {
  nic::HardwareProfile profile = profile_file("model-weak");
  profile.nic_placement = placement;
  return profile;
}

bool occurs(const Outcomes& outcomes, const Outcome& partial) {
  return std::any_of(outcomes.begin(), outcomes.end(), [&](const Outcome& o) {
    return std::all_of(partial.begin(), partial.end(), [&](const auto& v) { return o.at(v.first) == v.second; });
  });
}

/// The order stamp at which the first subevent of a kind by a call began.
std::uint64_t began(const Recorder& recorder, Stamp stamp, nic::OpId op) {
  for (const nic::Subevent& s : recorder.subevents) {
    if (s.stamp == stamp && s.op == op) return s.seq;
  }
  FAIL("no such subevent");
  return 0;
}

struct Cells {
  bool g7 = true, g8 = true, g9 = true;
};

/// Which cells hold in random runs of: put(z, x); put(y, x); get(c, w).
Cells observed(Placement placement, std::uint64_t runs) {
  Cells cells;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    Pair pair(weak(placement));
    std::vector<nic::Wqe> wqes = {pair.write(0, 0), pair.write(0, 64), pair.read(64, 128)};
    for (nic::OpId i = 0; i < 3; ++i) wqes[i].op = i + 1;
    pair.post(wqes);
    pair.run_random(seed);
    REQUIRE(pair.statuses(0) == std::vector<Status>(3, Status::success));
    const std::uint64_t second = began(pair.recorder, Stamp::aNRW, 2);
    cells.g7 = cells.g7 && began(pair.recorder, Stamp::aNRW, 1) < second;
    cells.g8 = cells.g8 && second < began(pair.recorder, Stamp::aNRR, 3);
    cells.g9 = cells.g9 && second < began(pair.recorder, Stamp::aNLW, 3);
  }
  return cells;
}

}  // namespace

TEST_CASE("in order: G7, G8 and G9 hold") {
  const Cells cells = observed(Placement::in_order, 1'000);
  CHECK(cells.g7);
  CHECK(cells.g8);
  CHECK(cells.g9);
}

TEST_CASE("out of order: G7 is given up; READs are behind earlier WRITEs, so that G8 and G9 hold") {
  const Cells cells = observed(Placement::out_of_order, 1'000);
  CHECK_FALSE(cells.g7);
  CHECK(cells.g8);
  CHECK(cells.g9);
}

TEST_CASE("unordered: G7, G8 and G9 are given up") {
  const Cells cells = observed(Placement::unordered, 1'000);
  CHECK_FALSE(cells.g7);
  CHECK_FALSE(cells.g8);
  CHECK_FALSE(cells.g9);
}

TEST_CASE("message passing by two puts needs in-order placement") {
  const Program program =
      Program().location("x", 2).location("y", 2).thread(1, "put(x, 1); put(y, 1)").thread(2, "a = y; b = x");
  CHECK_FALSE(occurs(sample_hardware(program, weak(Placement::in_order), 1, 5'000), {{"a", 1}, {"b", 0}}));
  CHECK(occurs(sample_hardware(program, weak(Placement::out_of_order), 1, 5'000), {{"a", 1}, {"b", 0}}));
}

TEST_CASE("a get sees its own thread's earlier put, unless READs are unordered") {
  const Program program =
      Program().location("z", 2).location("c", 1, 7).thread(1, "put(z, 1); get(c, z) as d; wait(d); a = c");
  CHECK_FALSE(occurs(sample_hardware(program, weak(Placement::out_of_order), 1, 5'000), {{"a", 0}}));
  CHECK(occurs(sample_hardware(program, weak(Placement::unordered), 1, 5'000), {{"a", 0}}));
}

TEST_CASE("completions stay in order, and atomics see and are seen in order") {
  for (const Placement placement : {Placement::out_of_order, Placement::unordered}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      Pair pair(weak(placement));
      for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.receive(i, 4'096 + 64 * i, 64));
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 4; ++i) {
        wqes.push_back(pair.write(0, 8 * i));
        wqes.push_back(pair.fetch_add(512 + 8 * i, 512, 1));
        wqes.push_back(pair.send(8 * i, 8));
        wqes.push_back(pair.read(1'024 + 8 * i, 8 * i));
      }
      for (std::uint64_t i = 0; i < wqes.size(); ++i) wqes[i].wr_id = i;
      for (std::uint64_t i = 0; i < 4; ++i) pair.system.set_word(0, pair.region[0].base + 8 * i, 100 + i);
      pair.post(wqes);
      pair.run_random(seed);
      const auto sent = pair.completions(0);
      REQUIRE(sent.size() == wqes.size());
      for (std::uint64_t i = 0; i < sent.size(); ++i) CHECK(sent[i].wr_id == i);
      const auto received = pair.completions(1);
      REQUIRE(received.size() == 4);
      for (std::uint64_t i = 0; i < 4; ++i) {
        CHECK(received[i].wr_id == i);
        CHECK(pair.system.word(1, pair.region[1].base + 4'096 + 64 * i) == 100 + i);
        CHECK(pair.system.word(0, pair.region[0].base + 512 + 8 * i) == i);
        CHECK(pair.system.word(1, pair.region[1].base + 8 * i) == 100);
      }
    }
  }
}

TEST_CASE("over paths of different length all bytes are right in the end, faster than by going back") {
  std::array<sim::SimTime, 2> ended;
  for (const Placement placement : {Placement::in_order, Placement::out_of_order, Placement::unordered}) {
    for (const std::uint32_t loss : {0U, 10'000U}) {
      INFO("placement " << static_cast<int>(placement) << " loss " << loss);
      nic::HardwareProfile profile = real();
      profile.nic_placement = placement;
      profile.nic_ack_timeout = nic::timeout_of_code(4);
      PairOptions options = unequal_paths(fabric::Routing::spray, 7);
      options.network.options.loss = loss;
      Pair pair(profile, options);
      const auto content = pair.fill(0, 0, 40'000, 1);
      const auto there = pair.fill(1, 60'000, 20'000, 2);
      for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(pair.receive(i, 100'000 + 4'000 * i, 4'000));
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 4; ++i) {
        wqes.push_back(pair.write(10'000 * i, 10'000 * i, 10'000));
        wqes.push_back(pair.send(4'000 * i, 4'000));
        wqes.push_back(pair.read(60'000 + 5'000 * i, 60'000 + 5'000 * i, 5'000));
        wqes.push_back(pair.fetch_add(90'000 + 8 * i, 90'000, 1));
      }
      pair.post(wqes);
      pair.run();
      CHECK(pair.statuses(0) == std::vector<Status>(16, Status::success));
      CHECK((pair.bytes(1, 0, 40'000) == content));
      CHECK((pair.bytes(0, 60'000, 20'000) == there));
      CHECK((pair.bytes(1, 100'000, 16'000) == std::vector(content.begin(), content.begin() + 16'000)));
      for (std::uint64_t i = 0; i < 4; ++i) CHECK(pair.system.word(0, pair.region[0].base + 90'000 + 8 * i) == i);
      if (loss == 0 && placement != Placement::unordered) {
        ended.at(static_cast<std::size_t>(placement)) = pair.recorder.cqes.back().at;
        CHECK((pair.system.counters().retransmissions == 0) == (placement == Placement::out_of_order));
      }
    }
  }
  CHECK(ended[1] < ended[0]);
}

TEST_CASE("each WRITE is placed once although packets are repeated") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    nic::HardwareProfile profile = real();
    profile.nic_placement = Placement::out_of_order;
    profile.nic_ack_timeout = nic::timeout_of_code(4);
    PairOptions options = unequal_paths(fabric::Routing::spray, seed);
    options.network.options.loss = 20'000;
    Pair pair(profile, options);
    pair.post({pair.write(0, 0, 30'000), pair.write(0, 40'000, 30'000)});
    pair.run();
    std::multiset<nic::Address> placed;
    for (const nic::Subevent& s : pair.recorder.subevents) {
      if (s.stamp == Stamp::aNRW) placed.insert(s.address);
    }
    CHECK(placed.size() == 2 * 30'000 / 8);
    CHECK(std::set<nic::Address>(placed.begin(), placed.end()).size() == placed.size());
  }
}

TEST_CASE("a WRITE whose receiver was not ready is placed once, although its last packet comes again") {
  nic::HardwareProfile profile = real();
  profile.nic_placement = Placement::out_of_order;
  Pair pair(profile);
  pair.fill(0, 0, 3'000, 1);
  nic::Wqe wqe = pair.write(0, 0, 3'000);
  wqe.with_imm = true;
  pair.post({wqe});
  pair.script(
      1,
      [&](nic::Cpu& cpu) {
        const nic::RecvWqe receive{.wr_id = 4};
        CHECK(cpu.post_recv(pair.qp[1], {&receive, 1}) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 100_us);
  pair.run();
  CHECK(pair.statuses(0) == std::vector{Status::success});
  CHECK(pair.statuses(1) == std::vector{Status::success});
  CHECK(pair.system.counters().rnr_naks == 1);
  std::size_t placed = 0;
  for (const nic::Subevent& s : pair.recorder.subevents) placed += s.stamp == Stamp::aNRW ? 1U : 0U;
  CHECK(placed == 3'000 / 8);
}

TEST_CASE("packets that only overtake cost no answers") {
  // Four paths of different length, nothing lost: each message is answered once, as on one path, whatever overtakes.
  nic::HardwareProfile profile = real();
  profile.nic_placement = Placement::out_of_order;
  for (const fabric::Routing routing : {fabric::Routing::spray, fabric::Routing::adaptive}) {
    for (const std::uint32_t length : {8U, 1'000U, 40'000U}) {
      Pair pair(profile, unequal_paths(routing, 4));
      pair.post(std::vector(40, pair.write(0, 0, length)));
      pair.run();
      REQUIRE(pair.statuses(0) == std::vector<Status>(40, Status::success));
      std::size_t answers = 0;
      for (const fabric::Packet& packet : pair.recorder.sent) answers += fabric::is_response(packet.opcode) ? 1U : 0U;
      CHECK(answers == 40);
    }
  }
}
