// What limits a bandwidth test: the resource that is never idle, and how busy the others are by the bytes that each has
// to carry.
#include <map>
#include <string>
#include <vector>

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

/// A resource that limits a run, and what makes it faster.
struct Limit {
  std::string resource;
  perf::Options options;
  void (*faster)(nic::HardwareProfile&);
};

/// PCIe with ways of 200 ns, and a receive buffer, so that who sends feels what writes wait for.
nic::HardwareProfile far_memory() {
  nic::HardwareProfile p = profile();
  p.pcie_upstream = p.pcie_downstream = p.pcie_read_access = p.pcie_write_commit = 200_ns;
  p.nic_receive_buffer = 16_KiB;
  p.nic_receive_cell = 128_B;
  return p;
}

template <class Change>
perf::Options changed(Test test, std::uint64_t size, std::uint32_t iterations, Change change) {
  perf::Options o{.test = test, .profile = far_memory(), .size = size, .iterations = iterations};
  change(o);
  return o;
}

/// Each limits by far.
std::vector<Limit> limits() {
  using O = perf::Options;
  using P = nic::HardwareProfile;
  const auto iommu = [](O& o) {
    o.profile.pcie_iommu = true;
    o.profile.pcie_iommu_window = 4_KiB;
    o.profile.pcie_iommu_penalty = 400_ns;
    o.profile.pcie_iommu_walks = 1;
    o.region = 16 << 20;
  };
  const auto walks = [](P& p) { p.pcie_iommu_walks = 8; };
  std::vector<Limit> all;
  all.push_back(
      {"table walks of the IOMMU (pcie.iommu_walks) of node 1", changed(Test::read_bw, 64, 2000, iommu), walks});
  all.push_back(
      {"table walks of the IOMMU (pcie.iommu_walks) of node 1", changed(Test::write_bw, 64, 4000, iommu), walks});
  all.push_back({"commits of PCIe writes in order (pcie.write_interval) of node 1",
                 changed(Test::write_bw, 64, 4000, [](O& o) { o.profile.pcie_write_interval = 200_ns; }),
                 [](P& p) { p.pcie_write_interval = 50_ns; }});
  all.push_back({"DMA engine (pcie.read_interval) of node 0",
                 changed(Test::write_bw, 4096, 400, [](O& o) { o.profile.pcie_read_interval = 500_ns; }),
                 [](P& p) { p.pcie_read_interval = 100_ns; }});
  all.push_back({"PCIe tags (pcie.tags) of node 0",
                 changed(Test::write_bw, 4096, 400, [](O& o) { o.profile.pcie_tags = 1; }),
                 [](P& p) { p.pcie_tags = 2; }});
  all.push_back({"PCIe credits for reads (pcie.nonposted_credits) of node 0",
                 changed(Test::write_bw, 4096, 400, [](O& o) { o.profile.pcie_nonposted_credits = 1; }),
                 [](P& p) { p.pcie_nonposted_credits = 2; }});
  all.push_back({"PCIe credits for read data (pcie.completion_credits) of node 0",
                 changed(Test::write_bw, 4096, 400, [](O& o) { o.profile.pcie_completion_credits = 512_B; }),
                 [](P& p) { p.pcie_completion_credits = 1_KiB; }});
  all.push_back({"PCIe credits for writes (pcie.posted_credits) of node 1",
                 changed(Test::write_bw, 4096, 400, [](O& o) { o.profile.pcie_posted_credits = 256_B; }),
                 [](P& p) { p.pcie_posted_credits = 512_B; }});
  all.push_back({"READs and atomics outstanding (nic.max_rd_atomic) of queue pair 0 of node 0",
                 changed(Test::read_bw, 8, 400, [](O& o) { o.profile.nic_max_rd_atomic = 1; }),
                 [](P& p) { p.nic_max_rd_atomic = 2; }});
  const auto units = [](O& o) {
    o.profile.nic_units = 1;
    o.profile.nic_unit_time = 500_ns;
    o.queue_pairs = o.threads = 4;
  };
  all.push_back(
      {"processing units of the NIC of node 0", changed(Test::write_bw, 8, 400, units), [](P& p) { p.nic_units = 2; }});
  const auto one_unit = [](O& o) {
    o.profile.nic_units = 16;
    o.profile.nic_unit_time = 500_ns;
  };
  all.push_back({"processing unit (nic.unit_time) of queue pair 0 of node 0", changed(Test::write_bw, 8, 400, one_unit),
                 [](P& p) { p.nic_unit_time = 250_ns; }});
  const auto gap = [](O& o) {
    o.profile.nic_units = 16;
    o.profile.nic_qp_gap = 200_ns;
    o.profile.nic_qp_gap_rate = {8'000'000'000};  // 1 B/ns
  };
  all.push_back({"start gap of queue pair 0 of node 0", changed(Test::write_bw, 256, 400, gap),
                 [](P& p) { p.nic_qp_gap_rate = {16'000'000'000}; }});
  all.push_back({"READ answers of queue pair 1 of node 1",
                 changed(Test::read_bw, 65536, 100,
                         [](O& o) {
                           o.profile.pcie_read_access = 2_us;
                           o.profile.nic_read_packets = 1;
                         }),
                 [](P& p) { p.nic_read_packets = 2; }});
  return all;
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

TEST_CASE("what limits is what, made faster, makes the run faster") {
  for (const Limit& limit : limits()) {
    const perf::Result r = perf::run(limit.options);
    CAPTURE(limit.resource, nic::limited_by(r.busiest));
    REQUIRE_FALSE(r.busiest.empty());
    CHECK(r.busiest.front().resource == limit.resource);
    CHECK(nic::something_limits(r.busiest));
    perf::Options faster = limit.options;
    limit.faster(faster.profile);
    CHECK(perf::run(faster).rate > 1.15 * r.rate);
  }
}

TEST_CASE("a packet buffer delays and limits nothing") {
  nic::HardwareProfile p = profile();
  p.nic_buffer_rate = 16_Gbps;  // as fast as the link
  const perf::Result r = perf::run({.test = Test::write_bw, .profile = p, .size = 65536, .iterations = 200});
  CHECK(r.busiest.front().resource == "link h0 to h1");
}

TEST_CASE("where nothing is busy, latency limits") {
  nic::HardwareProfile p = profile();
  p.link_delay = 5_us;
  const perf::Result r = perf::run({.test = Test::write_bw, .profile = p, .size = 8, .iterations = 100, .depth = 1});
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
