// PCIe's ordering table (base specification, 2.4.1, table 2-40), entry by entry, at a responder whose NIC writes and
// reads memory for two queue pairs: what may pass does under random schedules, what may not never does. ID-based
// ordering, relaxed ordering, and that tags and credits, which delay, order nothing.
#include "nic_model/profile_options.hpp"
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Opcode;

namespace {

constexpr int kRuns = 2000;

/// Which requests came to node 1 in which order: by queue pair, one request each.
struct Arrivals : nic::Observer {
  std::vector<nic::QpId> from;
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime) override {
    if (step == nic::PacketStep::received && !fabric::is_response(packet.opcode)) from.push_back(packet.source_qp);
  }
};

nic::HardwareProfile with(std::uint32_t functions, bool id_ordering) {
  nic::HardwareProfile p;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.pcie_functions = functions;
  p.pcie_id_ordering = id_ordering;
  return p;
}

struct Passed {
  int writes = 0;  ///< a later write was in memory before an earlier one
  int reads = 0;   ///< a later READ did not see an earlier write
};

/// A WRITE of one queue pair, and a WRITE and a READ of another; counts those that passed a WRITE whose packet had come
/// to the responder before theirs.
Passed two_queue_pairs(const nic::HardwareProfile& profile) {
  Passed passed;
  for (int run = 0; run < kRuns; ++run) {
    Rig rig(profile);
    const nic::QpId second = rig.system.create_qp(0, rig.cq, 16, 0);
    rig.system.connect(second, rig.system.create_qp(1, rig.system.create_cq(1, 1), 1));
    rig.fill(0, 0, {1});
    rig.system.create_thread(0);
    const bool reads = run % 2 == 0;
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const std::array<nic::Wqe, 2> wqes = {rig.write(0, 0), reads ? rig.read(8, 0) : rig.write(0, 64)};
      CHECK(cpu.post_send(rig.qp, {&wqes[0], 1}) == nic::PostResult::ok);
      CHECK(cpu.post_send(second, {&wqes[1], 1}) == nic::PostResult::ok);
      cpu.stop();
    });
    Arrivals arrivals;
    bool early = false;
    rig.run_random(static_cast<std::uint64_t>(run), &arrivals, [&] {
      early |= rig.system.word(1, rig.remote.base + 64) == 1 && rig.system.word(1, rig.remote.base) == 0;
    });
    if (arrivals.from.front() != rig.qp) continue;
    passed.writes += early;
    passed.reads += reads && rig.system.word(0, rig.local.base + 8) == 0;
  }
  return passed;
}

/// One queue pair: does a READ take effect after a later WRITE (posted passes non-posted), do READs pass READs?
struct Order {
  int write_passed_read = 0;
  int read_passed_read = 0;
};
Order one_queue_pair(const nic::HardwareProfile& profile) {
  Order order;
  for (int run = 0; run < kRuns; ++run) {
    Rig rig(profile);
    rig.fill(0, 0, {1});
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      const std::array<nic::Wqe, 3> wqes = {rig.read(8, 0), rig.read(16, 0), rig.write(0, 0)};
      CHECK(cpu.post_send(rig.qp, wqes) == nic::PostResult::ok);
      cpu.stop();
    });
    rig.run_random(static_cast<std::uint64_t>(run));
    const bool first_late = rig.system.word(0, rig.local.base + 8) == 1;
    const bool second_late = rig.system.word(0, rig.local.base + 16) == 1;
    order.write_passed_read += first_late;
    order.read_passed_read += first_late && !second_late;
  }
  return order;
}

}  // namespace

TEST_CASE("one order a NIC: no write and no read passes an earlier write, of whatever queue pair") {
  for (const auto& profile : {with(1, false), with(2, false), with(1, true)}) {
    const Passed passed = two_queue_pairs(profile);
    CHECK(passed.writes == 0);
    CHECK(passed.reads == 0);
  }
}

TEST_CASE("a read is behind all writes that were issued before it, not only behind the first of them") {
  for (const auto domain : {nic::OrderingDomain::nic, nic::OrderingDomain::qp}) {
    nic::HardwareProfile profile = with(1, false);
    profile.pcie_ordering_domain = domain;
    for (int run = 0; run < kRuns; ++run) {
      Rig rig(profile);
      rig.fill(0, 0, {1});
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 4; ++i) wqes.push_back(rig.write(0, 8 * i));
      wqes.push_back(rig.read(8, 24));
      rig.post(wqes);
      rig.run_random(static_cast<std::uint64_t>(run));
      REQUIRE(rig.system.word(0, rig.local.base + 8) == 1);
    }
  }
}

TEST_CASE("ID-based ordering: writes and reads of one function pass the writes of another") {
  const Passed passed = two_queue_pairs(with(2, true));
  CHECK(passed.writes > 0);
  CHECK(passed.reads > 0);
}

TEST_CASE("an ordering domain a queue pair lets the same pass") {
  nic::HardwareProfile profile = with(1, false);
  profile.pcie_ordering_domain = nic::OrderingDomain::qp;
  const Passed passed = two_queue_pairs(profile);
  CHECK(passed.writes > 0);
  CHECK(passed.reads > 0);
}

TEST_CASE("atomics of two functions lose no update with ID-based ordering") {
  for (int run = 0; run < kRuns; ++run) {
    Rig rig(with(2, true));
    const nic::QpId second = rig.system.create_qp(0, rig.cq, 16, 0);
    rig.system.connect(second, rig.system.create_qp(1, rig.system.create_cq(1, 1), 1));
    rig.system.create_thread(0);
    rig.scripts.steps.emplace_back([&](nic::Cpu& cpu) {
      for (const nic::QpId qp : {rig.qp, second}) {
        const std::array<nic::Wqe, 2> wqes = {rig.fetch_add(0, 0, 1), rig.fetch_add(8, 0, 1)};
        CHECK(cpu.post_send(qp, wqes) == nic::PostResult::ok);
      }
      cpu.stop();
    });
    rig.run_random(static_cast<std::uint64_t>(run));
    REQUIRE(rig.system.word(1, rig.remote.base) == 4);
  }
}

TEST_CASE("one tag and one credit of each kind delay, and take away no reordering that the table permits") {
  nic::HardwareProfile profile = with(1, false);
  profile.pcie_upstream = profile.pcie_downstream = profile.pcie_read_access = profile.pcie_write_commit = 50_ns;
  const Order free = one_queue_pair(profile);
  profile.pcie_tags = profile.pcie_nonposted_credits = 1;
  profile.pcie_posted_credits = profile.pcie_completion_credits = 8_B;
  const Order scarce = one_queue_pair(profile);
  for (const Order& order : {free, scarce}) {
    CHECK(order.write_passed_read > 0);
    CHECK(order.read_passed_read > 0);
  }
  const Passed passed = two_queue_pairs(profile);
  CHECK(passed.writes == 0);
  CHECK(passed.reads == 0);
}

TEST_CASE("a read is split at the MRRS, its data at the RCB's multiple, a write at the MPS") {
  nic::HardwareProfile profile = with(1, false);
  profile.link_mtu = 4096_B;
  const auto count = [&](std::uint64_t mrrs, std::uint64_t completion, std::uint64_t mps) {
    profile.pcie_mrrs = {mrrs};
    profile.pcie_read_completion = {completion};
    profile.pcie_mps = {mps};
    Rig rig(profile);
    const auto aligned = [](nic::Address base) { return (4096 - base % 4096) % 4096; };
    rig.post_and_run({rig.write(aligned(rig.local.base), aligned(rig.remote.base), 4096)});
    return rig.system.counters();
  };
  const nic::Counters base = count(4096, 256, 256);
  CHECK(count(512, 256, 256).tlps_up - base.tlps_up == 7);       // requests: 8 in place of 1
  CHECK(count(4096, 64, 256).tlps_down - base.tlps_down == 48);  // completions: 64 in place of 16
  CHECK(count(4096, 256, 128).tlps_up - base.tlps_up == 16);     // writes: 32 in place of 16
}

TEST_CASE("TLPs and completions end at multiples of the MPS and the RCB's multiple, wherever the memory begins") {
  const auto count = [](std::uint64_t from, std::uint64_t to) {
    nic::HardwareProfile profile = with(1, false);
    profile.pcie_mrrs = 4096_B;
    profile.pcie_read_completion = 256_B;
    profile.pcie_mps = 256_B;
    Rig rig(profile);
    const auto at = [](nic::Address base, std::uint64_t offset) { return 4096 - base % 4096 + offset; };
    rig.post_and_run({rig.write(at(rig.local.base, from), at(rig.remote.base, to), 1024)});
    return rig.system.counters();
  };
  const nic::Counters aligned = count(0, 0);  // four of each; else one more, the first and the last not full
  CHECK(count(64, 0).tlps_down == aligned.tlps_down + 1);
  CHECK(count(64, 0).tlps_up == aligned.tlps_up);
  CHECK(count(0, 64).tlps_down == aligned.tlps_down);
  CHECK(count(0, 64).tlps_up == aligned.tlps_up + 1);
}

TEST_CASE("generation and width give pcie-bench's bandwidths") {
  const auto rate = [](int generation, int lanes) {
    nic::HardwareProfile profile;
    for (const options::Option& field : nic::profile_options()) {
      if (field.key == "pcie.generation") nic::set_value(profile, field, generation);
      if (field.key == "pcie.lanes") nic::set_value(profile, field, lanes);
    }
    return static_cast<double>(profile.pcie_rate.value) * 1e-9;
  };
  CHECK(rate(3, 8) == Approx(57.88));
  CHECK(rate(3, 16) == Approx(113.7).epsilon(0.001));
  CHECK(rate(4, 8) == Approx(113.7).epsilon(0.001));
  CHECK(rate(4, 16) == Approx(227.4).epsilon(0.001));
  CHECK(rate(5, 16) == Approx(2 * 227.4).epsilon(0.001));
}
