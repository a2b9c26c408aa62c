// What limits a bandwidth test: the resource that is never idle, and how busy the others are by the bytes that each has
// to carry.
#include <map>
#include <string>

#include "loco_sim/perf/perf.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::sim::literals;
using perf::Test;

namespace {

/// A link of 2 B/ns behind PCIe of 8 B/ns, costs of nothing that could limit besides; header sizes are the defaults.
nic::HardwareProfile profile() {
  nic::HardwareProfile p;
  p.cpu_post_wqe = 41_ns;
  p.cpu_doorbell = 11_ns;
  p.pcie_rate = {64'000'000'000};
  p.pcie_mps = 256_B;
  p.pcie_read_completion = 256_B;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.nic_max_rd_atomic = 16;
  p.link_ideal = false;
  p.link_rate = 16_Gbps;
  p.link_delay = 50_ns;
  p.link_mtu = 1024_B;
  return p;
}

std::map<std::string, double> shares(const perf::Result& result) {
  std::map<std::string, double> out;
  for (const nic::Usage& usage : result.busiest) out[usage.resource] = usage.share;
  return out;
}

// Nanoseconds for a message of 64 KiB: 64 packets of 1024 B with 82 B of headers, the first with 16 B more.
constexpr double kMessage = 65536;
constexpr double kOnLink = (kMessage + 64 * 82 + 16) / 2;
constexpr double kStart = 0.02;  // of a run of so many messages, until all stages are full and after the last is sent

}  // namespace

TEST_CASE("a link that is slower than PCIe limits large writes") {
  const perf::Result r = perf::run({.test = Test::write_bw, .profile = profile(), .size = 65536, .iterations = 400});
  CHECK(r.busiest.front().resource == "link h0 to h1");
  CHECK(r.busiest.front().share == Approx(1).margin(kStart));
  CHECK(nic::limited_by(r.busiest).starts_with("link h0 to h1 ("));
  // The payload comes in completions of 256 B with 20 B of headers; it is written with 24 B.
  const auto busy = shares(r);
  CHECK(busy.at("PCIe downstream of node 0") == Approx(kMessage * 276 / 256 / 8 / kOnLink).margin(kStart));
  CHECK(busy.at("PCIe upstream of node 1") == Approx(kMessage * 280 / 256 / 8 / kOnLink).margin(kStart));
}

TEST_CASE("a PCIe link that is slower than the network limits large writes") {
  nic::HardwareProfile p = profile();
  p.pcie_rate = {8'000'000'000};  // 1 B/ns
  p.pcie_read_completion = 64_B;
  const perf::Result r = perf::run({.test = Test::write_bw, .profile = p, .size = 65536, .iterations = 400});
  const double message = kMessage * 84 / 64;  // more than the 280/256 with which it is written at the other side
  CHECK(r.busiest.front().resource == "PCIe downstream of node 0");
  CHECK(r.busiest.front().share == Approx(1).margin(kStart));
  const auto busy = shares(r);
  CHECK(busy.at("PCIe upstream of node 1") == Approx(kMessage * 280 / 256 / message).margin(kStart));
  CHECK(busy.at("link h0 to h1") == Approx(kOnLink / message).margin(kStart));
}

TEST_CASE("a NIC's packet rate limits small writes of several threads") {
  nic::HardwareProfile p = profile();
  p.nic_packet_gap = 300_ns;
  const perf::Result r =
      perf::run({.test = Test::write_bw, .profile = p, .size = 2, .iterations = 1000, .queue_pairs = 4, .threads = 4});
  // A packet each way: the write and its acknowledgement.
  CHECK(r.busiest.at(0).resource.starts_with("packet pipeline of the NIC of node "));
  CHECK(r.busiest.at(1).resource.starts_with("packet pipeline of the NIC of node "));
  CHECK(r.busiest.at(1).share == Approx(1).margin(kStart));
  CHECK(shares(r).at("link h0 to h1") == Approx(50.0 / 300).margin(kStart));  // 2 + 82 + 16 B
}

TEST_CASE("a thread that posts limits its small writes, however fast its PCIe link is") {
  for (const std::uint64_t rate : {64'000'000'000ULL, 256'000'000'000ULL}) {
    nic::HardwareProfile p = profile();
    p.pcie_rate = {rate};
    p.link_rate = 100_Gbps;
    const perf::Result r = perf::run({.test = Test::write_bw, .profile = p, .size = 2, .iterations = 2000});
    CHECK(r.busiest.front().resource == "CPU thread 0 of node 0");
    CHECK(r.busiest.front().share == Approx(1).margin(kStart));
    CHECK(shares(r).at("link h0 to h1") == Approx(8.0 / 52).margin(kStart));  // 100 B at 12.5 B/ns, every 41 + 11 ns
  }
}

TEST_CASE("where nothing is busy, latency limits") {
  nic::HardwareProfile p = profile();
  p.nic_max_rd_atomic = 1;
  p.link_delay = 5_us;
  const perf::Result r = perf::run({.test = Test::read_bw, .profile = p, .size = 8, .iterations = 100});
  CHECK(r.busiest.front().share < 0.1);
  CHECK(nic::limited_by(r.busiest).starts_with("latency (the busiest: "));
  CHECK(nic::limited_by({}).empty());
}

TEST_CASE("atomics wait for the atomic unit") {
  nic::HardwareProfile p = profile();
  p.nic_atomic_modify = 2_us;
  const perf::Result r = perf::run({.test = Test::atomic_bw, .profile = p, .size = 8, .iterations = 200});
  CHECK(r.busiest.front().resource == "atomic unit of the NIC of node 1");
  CHECK(r.busiest.front().share == Approx(1).margin(kStart));
}
