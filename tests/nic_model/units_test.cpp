// Processing units (nic.units): whose turn it is, how long a unit is busy, and what those who wait cost others.
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::QpState;

namespace {

constexpr sim::Duration kContextRead = 31_ns + 90_ns + 37_ns;
constexpr sim::Duration kUnitTime = 100_ns;

nic::HardwareProfile with_units(std::uint32_t units) {
  nic::HardwareProfile p = plain();
  p.nic_units = units;
  p.nic_unit_time = kUnitTime;
  return p;
}

/// Node 0 has several queue pairs; one thread rings all of them at time zero.
struct Crowd : Rig {
  Crowd(const nic::HardwareProfile& profile, std::size_t pairs, std::size_t each, std::uint32_t bytes = 8)
      : Rig(profile), qps{qp} {
    while (qps.size() < pairs) {
      qps.push_back(system.create_qp(0, cq, 16, 0));
      system.connect(qps.back(), system.create_qp(1, 1, 1));
    }
    system.create_thread(0);
    scripts.steps.emplace_back([this, each, bytes, next = std::size_t{0}](nic::Cpu& cpu) mutable {
      const std::vector<nic::Wqe> wqes(each, write(0, 0, bytes));
      if (cpu.post_send(qps[next], wqes) != nic::PostResult::ok) throw std::logic_error("not posted");
      if (++next == qps.size()) return cpu.stop();
      cpu.resume_when_drained();
    });
  }

  /// Whose work requests have been started, in order.
  [[nodiscard]] std::vector<nic::QpId> served() const {
    std::vector<nic::QpId> order;
    for (const fabric::Packet& packet : recorder.sent) {
      if (packet.opcode == fabric::Opcode::write) order.push_back(packet.source_qp);
    }
    return order;
  }

  /// Between one completion and the next.
  [[nodiscard]] std::vector<sim::Duration> gaps() const {
    std::vector<sim::Duration> between;
    for (std::size_t i = 1; i < recorder.cqes.size(); ++i) {
      between.push_back(recorder.cqes[i].at - recorder.cqes[i - 1].at);
    }
    return between;
  }

  std::vector<nic::QpId> qps;
};

}  // namespace

TEST_CASE("one processing unit serves queue pairs in turn") {
  Crowd crowd(with_units(1), 5, 4);
  crowd.run();
  std::vector<nic::QpId> turns;
  for (int round = 0; round < 4; ++round) turns.insert(turns.end(), crowd.qps.begin(), crowd.qps.end());
  CHECK(crowd.served() == turns);
  CHECK(crowd.gaps() == std::vector<sim::Duration>(19, kUnitTime));
}

TEST_CASE("units: so many work requests in a unit's time, of so many queue pairs") {
  const std::uint32_t units = GENERATE(1U, 2U, 3U, 4U);
  CAPTURE(units);
  constexpr std::size_t kPairs = 12, kEach = 4;
  Crowd crowd(with_units(units), kPairs, kEach);
  crowd.run();
  REQUIRE(crowd.recorder.cqes.size() == kPairs * kEach);
  const auto done = [&](std::size_t i) { return crowd.recorder.cqes[i].at; };
  for (std::size_t i = units; i < kPairs * kEach; ++i) CHECK(done(i) - done(i - units) == kUnitTime);
}

TEST_CASE("a unit reads the contexts that are missing when it is a queue pair's turn") {
  // One unit, so that one context is being read at a time however many may be: a queue pair follows the one before it
  // by the unit's time and the round trip of one read.
  nic::HardwareProfile p = with_units(1);
  p.nic_context_entries = 64;
  p.nic_context_fetches = GENERATE(1U, 2U, 0U);
  CAPTURE(p.nic_context_fetches);
  Crowd crowd(p, 8, 1);
  crowd.run();
  CHECK(crowd.gaps() == std::vector<sim::Duration>(7, kUnitTime + kContextRead));
}

TEST_CASE("who waits for a unit and cannot use it any more leaves it to the next") {
  const QpState to = GENERATE(QpState::error, QpState::reset);
  CAPTURE(to);
  Crowd crowd(with_units(1), 4, 1);
  nic::Context context{crowd.scripts, &crowd.recorder};
  while (crowd.system.counters().work_requests == 0) REQUIRE(crowd.system.step(context));
  const sim::SimTime others_have_asked = crowd.system.now() + 60_ns;
  while (crowd.system.next_time() < others_have_asked) REQUIRE(crowd.system.step(context));
  REQUIRE(crowd.system.modify_qp(crowd.qps[1], to) == nic::ModifyResult::ok);
  crowd.run();
  CHECK(crowd.served() == std::vector{crowd.qps[0], crowd.qps[2], crowd.qps[3]});
  std::vector<sim::SimTime> done;
  for (const Recorder::Completed& c : crowd.recorder.cqes) {
    if (c.cqe.status == nic::Status::success) done.push_back(c.at);
  }
  REQUIRE(done.size() == 3);
  CHECK(done[1] - done[0] == kUnitTime);
  CHECK(done[2] - done[1] == kUnitTime);
}

TEST_CASE("a queue pair has one unit at most, whatever happens at the instant at which that is free") {
  // Payloads, ACKs and work requests come in at some of these instants, too: then it asks for a unit on their account.
  constexpr std::size_t kEach = 6;
  for (std::int64_t ns = 1; ns <= 1000; ++ns) {
    nic::HardwareProfile p = with_units(4);
    p.nic_unit_time = sim::Duration{ns * 1000};
    p.nic_wqe_fetch_max = 1 + static_cast<std::uint32_t>(ns % 2);
    Crowd crowd(p, 1, kEach);
    crowd.run();
    REQUIRE(crowd.recorder.cqes.size() == kEach);
    CAPTURE(ns);
    CHECK(crowd.recorder.cqes.back().at - crowd.recorder.cqes.front().at >= p.nic_unit_time * (kEach - 1));
  }
}

TEST_CASE("a queue pair's own gap: behind what is not inline, and no other queue pair waits for it") {
  // One queue pair: a work request each gap. Two: their units are free meanwhile, so that each keeps its own pace.
  constexpr sim::Duration kGap = 380_ns;
  constexpr std::size_t kEach = 5;
  const std::size_t pairs = GENERATE(1U, 2U, 3U);
  CAPTURE(pairs);
  nic::HardwareProfile p = with_units(4);
  p.nic_qp_gap = kGap;
  Crowd crowd(p, pairs, kEach);
  crowd.run();
  REQUIRE(crowd.recorder.cqes.size() == pairs * kEach);
  const auto done = [&](std::size_t i) { return crowd.recorder.cqes[i].at; };
  for (std::size_t i = pairs; i < pairs * kEach; ++i) CHECK(done(i) - done(i - pairs) == kGap);
}

TEST_CASE("a queue pair's own gap covers the payload of the first packet, and not that of later ones") {
  // The turn (250 ns) goes on beside the unit's work (100 ns) and the first packet's data (1 ns a byte); MTU 1024.
  struct Sent {
    std::uint32_t bytes;
    sim::Duration gap;
  };
  const Sent sent =
      GENERATE(Sent{8, 250_ns}, Sent{150, 250_ns}, Sent{200, 300_ns}, Sent{1'024, 1'124_ns}, Sent{4'096, 1'124_ns});
  CAPTURE(sent.bytes);
  constexpr std::size_t kEach = 5;
  nic::HardwareProfile p = with_units(4);
  p.nic_qp_gap = 250_ns;
  p.nic_qp_gap_rate = {8'000'000'000};
  p.link_mtu = 1024_B;
  p.link_rate = p.pcie_rate = {100'000'000'000};  // four packets take less than a gap
  Crowd crowd(p, 1, kEach, sent.bytes);
  crowd.run();
  REQUIRE(crowd.recorder.cqes.size() == kEach);
  for (std::size_t i = 2; i < kEach; ++i) {
    CHECK(crowd.recorder.cqes[i].at - crowd.recorder.cqes[i - 1].at == sent.gap);
  }
}

TEST_CASE("a queue pair's own gap is not kept behind inline data") {
  nic::HardwareProfile p = with_units(4);
  p.nic_qp_gap = 380_ns;
  p.nic_inline_max = {64};
  Rig rig(p);
  rig.system.create_thread(0);
  rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    nic::Wqe wqe = rig.write(0, 0);
    wqe.inline_data = true;
    const std::vector<nic::Wqe> wqes(4, wqe);
    CHECK(cpu.post_send(rig.qp, wqes) == nic::PostResult::ok);
    cpu.stop();
  });
  rig.run();
  REQUIRE(rig.recorder.cqes.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) CHECK(rig.recorder.cqes[i].at - rig.recorder.cqes[i - 1].at == kUnitTime);
}
