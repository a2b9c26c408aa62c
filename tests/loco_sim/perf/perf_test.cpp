// perf's tests against closed forms, written from the machine's stages: latencies to the picosecond, bandwidths by the
// bytes on the slower link, steps where inline limit, MPS and MTU are.
#include "loco_sim/perf/perf.hpp"

#include <cmath>

#include "loco_sim/perf/bench.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::sim::literals;
using perf::Test;

namespace {

/// Distinct costs, no caches, polling that costs nothing.
nic::HardwareProfile stages() {
  nic::HardwareProfile p;
  p.cpu_store = 3_ns;
  p.cpu_post_wqe = 41_ns;
  p.cpu_doorbell = 11_ns;
  p.cpu_poll_cqe = 19_ns;
  p.cpu_store_drain = 2_ns;
  p.pcie_rate = {64'000'000'000};  // 8 B/ns
  p.pcie_mps = 256_B;
  p.pcie_read_completion = 256_B;
  p.pcie_upstream = 31_ns;
  p.pcie_downstream = 37_ns;
  p.pcie_read_access = 47_ns;
  p.pcie_write_commit = 43_ns;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.nic_wqe_start = 53_ns;
  p.nic_transmit = 59_ns;
  p.nic_receive = 61_ns;
  p.nic_atomic_modify = 67_ns;
  p.nic_cqe = 71_ns;
  p.nic_max_rd_atomic = 16;
  p.nic_inline_max = 220_B;
  p.nic_blueflame = true;
  p.link_ideal = false;
  p.link_rate = 16_Gbps;  // 2 B/ns
  p.link_delay = 73_ns;
  p.link_mtu = 1024_B;
  p.nic_word_order = nic::WordOrder::ascending;  // the last word comes last, with the TLP that it is in
  return p;
}

constexpr double ns(std::int64_t n) { return static_cast<double>(n); }
constexpr double tlp(std::int64_t bytes) { return static_cast<double>(bytes) / 8; }
constexpr double network(std::int64_t bytes) { return ns(59) + static_cast<double>(bytes) / 2 + ns(73) + ns(61); }
constexpr double dma_read(std::int64_t bytes) { return tlp(24) + ns(31) + ns(47) + tlp(bytes + 20) + ns(37); }
constexpr double dma_write(std::int64_t bytes) { return tlp(bytes + 24) + ns(31) + ns(43); }
/// From the end of building a work request until it starts: store buffer, doorbell, fetch.
constexpr double launch() { return ns(2) + tlp(8 + 24) + ns(37) + dma_read(64) + ns(53); }

perf::Result run(Test test, std::uint64_t size, std::optional<std::uint32_t> inline_max = {}) {
  return perf::run({.test = test, .profile = stages(), .size = size, .iterations = 50, .inline_max = inline_max});
}

}  // namespace

TEST_CASE("write latency is half a round trip, inline and not") {
  const double inline_way = ns(3 + 41 + 2) + tlp(64 + 24) + ns(37 + 53) + network(82 + 16 + 8) + dma_write(8);
  CHECK(run(Test::write_lat, 8).t_typical * 1000 == Approx(inline_way).margin(0.001));
  const double fetched = ns(3 + 41) + launch() + dma_read(8) + network(82 + 16 + 8) + dma_write(8);
  CHECK(run(Test::write_lat, 8, 0).t_typical * 1000 == Approx(fetched).margin(0.001));
}

TEST_CASE("send latency is half a round trip, until the receive completion is taken") {
  // No RETH; the CQE is behind the data: on the link, then its own way.
  const double way = ns(41 + 2) + tlp(64 + 24) + ns(37 + 53) + network(82 + 8) + tlp(8 + 24) + ns(71) + dma_write(64);
  CHECK(run(Test::send_lat, 8).t_typical * 1000 == Approx(way + ns(19)).margin(0.001));
}

TEST_CASE("a receive begins at a page: as many TLPs as its size says") {
  // 200 bytes are one TLP of at most 256; right behind the 200 that are sent they would be two.
  const double way = ns(41) + launch() + dma_read(200) + network(82 + 200) + tlp(200 + 24) + ns(71) + dma_write(64);
  CHECK(run(Test::send_lat, 200, 0).t_typical * 1000 == Approx(way + ns(19)).margin(0.001));
}

TEST_CASE("read and atomic latency is a whole round trip, until the completion is taken") {
  const double read = ns(41) + launch() + network(82 + 16) + dma_read(8) + network(82 + 4 + 8) + tlp(8 + 24) + ns(71) +
                      dma_write(64) + ns(19);
  CHECK(run(Test::read_lat, 8).t_typical * 1000 == Approx(read).margin(0.001));
  const double atomic = read - network(82 + 16) + network(82 + 28) + ns(67) - network(82 + 4 + 8) + network(82 + 12);
  CHECK(run(Test::atomic_lat, 8).t_typical * 1000 == Approx(atomic).margin(0.001));
}

TEST_CASE("without reliability a message takes as long; a datagram has 8 bytes of DETH more") {
  const auto over = [](nic::QpType connection, Test test) {
    return perf::run(
        {.test = test, .profile = stages(), .connection = connection, .size = 8, .iterations = 50, .inline_max = {}});
  };
  for (const Test test : {Test::write_lat, Test::send_lat})
    CHECK(over(nic::QpType::uc, test).t_typical == run(test, 8).t_typical);
  // The 40 bytes of a GRH in front of what is received are left as they are (docs/queue-pairs.md): no TLP carries them.
  const double datagram =
      ns(41 + 2) + tlp(64 + 24) + ns(37 + 53) + network(82 + 8 + 8) + tlp(8 + 24) + ns(71) + dma_write(64) + ns(19);
  CHECK(over(nic::QpType::ud, Test::send_lat).t_typical * 1000 == Approx(datagram).margin(0.001));
  // Nobody answers, so nothing but the sender's CPU and the link bound it.
  CHECK(over(nic::QpType::ud, Test::send_bw).rate >= over(nic::QpType::rc, Test::send_bw).rate);
}

TEST_CASE("an unloaded run has no jitter: all columns say the same") {
  const perf::Result r = run(Test::read_lat, 64);
  CHECK(r.iterations == 50);
  CHECK(r.t_min == Approx(r.t_max));
  CHECK(r.t_typical == Approx(r.t_avg));
  CHECK(r.t_stdev == Approx(0).margin(1e-9));
}

TEST_CASE("a store buffer of one entry makes a latency test wait, and no message later") {
  // Entries leave one after the other: what waits for room in front of the buffer leaves when it would have left it.
  const Test test = GENERATE(Test::write_lat, Test::send_lat, Test::read_lat, Test::atomic_lat);
  const auto drain = GENERATE(100_ns, 5_us);  // shorter and longer than a message is on its way
  const auto with_entries = [&](std::uint32_t entries) {
    nic::HardwareProfile p = stages();
    p.cpu_store_drain = drain;
    p.cpu_store_buffer_entries = entries;
    return perf::run({.test = test, .profile = p, .size = 8, .iterations = 50});
  };
  INFO("test " << static_cast<int>(test) << ", drain " << drain.ps << " ps");
  const perf::Result one = with_entries(1);
  const perf::Result many = with_entries(1024);
  CHECK(one.t_typical == many.t_typical);
  CHECK(one.t_max == many.t_max);
}

TEST_CASE("the step at the inline limit is the two PCIe reads less the work request in the doorbell") {
  const double step = (run(Test::write_lat, 221).t_typical - run(Test::write_lat, 220).t_typical) * 1000;
  const double one_byte_more = 1.0 / 2 + 1.0 / 8;  // on the wire and in the write
  CHECK(step == Approx(tlp(8 + 24) - tlp(256 + 24) + dma_read(64) + dma_read(221) + one_byte_more).margin(0.01));
}

TEST_CASE("write bandwidth is what packets leave of the link, with a step at the MTU") {
  for (const std::uint64_t size : {512U, 1024U, 1025U, 2048U, 65536U}) {
    INFO(size);
    const perf::Result r = perf::run({.test = Test::write_bw, .profile = stages(), .size = size, .iterations = 2000});
    const double packets = std::ceil(static_cast<double>(size) / 1024);
    const double wire = static_cast<double>(size) + 82 * packets + 16;
    CHECK(r.average * 8e-9 == Approx(16 * static_cast<double>(size) / wire).epsilon(0.02));
  }
}

TEST_CASE("DMA bandwidth follows the PCIe model, with steps at the MPS") {
  const bool reads = GENERATE(false, true);
  nic::HardwareProfile pcie = scenario::load_hardware("pcie-bench").profile;
  pcie.pcie_tags = 64;                         // the model has as many as keep the link busy
  pcie.pcie_write_interval = sim::Duration{};  // and no pace of its own
  for (const std::uint64_t size : {64U, 128U, 255U, 256U, 257U, 512U, 513U, 1024U, 1500U, 4096U}) {
    INFO(size);
    const perf::Result r = perf::run(
        {.test = reads ? Test::dma_read_bw : Test::dma_write_bw, .profile = pcie, .size = size, .iterations = 12000});
    const double tlps = std::ceil(static_cast<double>(size) / 256);
    const double wire = static_cast<double>(size) + (reads ? 20 : 24) * tlps;
    CHECK(r.average * 8e-9 == Approx(57.88 * static_cast<double>(size) / wire).epsilon(0.015));
  }
}

// A tag is in use from when its request leaves until the last of its data is in the NIC: the request on the link, the
// way up, memory, the data on the link, the way down. So a tag serves one request in that time, T tags serve T, until
// the link is busy with data all the time (pcie-bench, Neugebauer et al., SIGCOMM 2018, has the two ends of this):
//   reads a second = min(1 / data, T / (request + up + memory + data + down)).
TEST_CASE("PCIe tags: each serves one read request in the time from the request to the last of its data") {
  nic::HardwareProfile p = scenario::load_hardware("cx5-roce-25g").profile;
  const std::int64_t lanes = GENERATE(1, 8);
  p.pcie_rate = {7'235'000'000U * static_cast<std::uint64_t>(lanes)};
  const auto on_link = [&](std::uint64_t bytes) { return sim::transmission_time({bytes}, p.pcie_rate).nanoseconds(); };
  const double way = (p.pcie_upstream + p.pcie_read_access + p.pcie_downstream).nanoseconds();
  for (const std::uint64_t size : {64U, 512U}) {
    const double data = on_link(size + 20 * ((size + 255) / 256));
    for (const std::uint32_t tags : {1U, 2U, 4U, 8U, 32U, 256U}) {
      INFO("lanes " << lanes << ", size " << size << ", tags " << tags);
      p.pcie_tags = tags;
      const double expected = std::min(1 / data, tags / (on_link(24) + way + data));
      const auto rate = [&](std::uint64_t bytes) {
        return perf::run({.test = Test::dma_read_bw, .profile = p, .size = bytes, .iterations = 12000}).rate * 1e-9;
      };
      CHECK(rate(size) == Approx(expected).epsilon(0.003));
      // A read of four requests needs a tag for each.
      if (size == p.pcie_mrrs.count) CHECK(rate(4 * size) * 4 == Approx(expected).epsilon(0.003));
    }
  }
}

TEST_CASE("where memory is, and what the IOMMU must look up, is part of the time that a tag is in use") {
  nic::HardwareProfile p = stages();
  p.pcie_tags = 2;
  const auto each = [&](std::uint64_t size, std::uint64_t region) {
    const perf::Options o{.test = Test::dma_read_bw, .profile = p, .size = size, .iterations = 2000, .region = region};
    return 2e9 / perf::run(o).rate;
  };
  const double near = each(512, 0);
  CHECK(near == Approx(dma_read(512) + tlp(20)).epsilon(0.003));
  p.pcie_remote_numa = true;
  p.pcie_numa_penalty = 107_ns;
  CHECK(each(512, 0) == Approx(near + 107).epsilon(0.003));
  CHECK(each(2048, 0) == Approx(4 * (near + 107)).epsilon(0.003));
  p.pcie_remote_numa = false;
  p.pcie_iommu = true;
  p.pcie_iommu_window = 256_KiB;
  p.pcie_iommu_penalty = 280_ns;
  CHECK(each(512, 64 << 20) == Approx(near + 280).epsilon(0.003));
}

// An IOMMU walks so many of its tables at once, each for iommu_penalty. Accesses spread over far more pages than its
// buffer holds miss all but always: 1 / 1024 of them do not here.
//   accesses a second = min(those without the IOMMU, walks / penalty)
TEST_CASE("walks of an IOMMU's tables bound how many accesses miss, whatever their size") {
  nic::HardwareProfile p = scenario::load_hardware("pcie-bench").profile;
  p.pcie_tags = 0;
  p.pcie_iommu_window = 256_KiB;
  for (const auto test : {Test::dma_read_bw, Test::dma_write_bw}) {
    for (const std::uint64_t size : {64U, 256U, 512U, 2048U}) {
      for (const std::uint32_t walks : {1U, 5U, 0U}) {
        INFO(size << " bytes, " << walks << " walks, writes " << (test == Test::dma_write_bw));
        const auto rate = [&](bool iommu) {
          p.pcie_iommu = iommu;
          p.pcie_iommu_walks = walks;
          return perf::run({.test = test, .profile = p, .size = size, .iterations = 12000, .region = 256 << 20}).rate;
        };
        const double most = walks == 0 ? 1e18 : 1e9 * walks / p.pcie_iommu_penalty.nanoseconds();
        CHECK(rate(true) == Approx(std::min(rate(false), most)).epsilon(0.01));
      }
    }
  }
}

// A credit for a read's header is back when memory has been read and an update has returned; the NIC keeps room for the
// data that it has asked for until this is there; a credit for a write's data is back when memory has it and an update
// has returned (PCIe base specification, 2.6.1).
TEST_CASE("PCIe credits: each serves one TLP in the time until it is given back") {
  nic::HardwareProfile p = stages();
  const auto reads = [&](std::uint64_t size) {
    return perf::run({.test = Test::dma_read_bw, .profile = p, .size = size, .iterations = 2000}).rate * 1e-9;
  };
  const auto writes = [&](std::uint64_t size) {
    return perf::run({.test = Test::dma_write_bw, .profile = p, .size = size, .iterations = 2000, .depth = 16}).rate *
           1e-9;
  };
  for (const std::uint32_t n : {1U, 2U, 4U}) {
    INFO(n);
    p.pcie_nonposted_credits = n;
    CHECK(reads(64) == Approx(n / (tlp(24) + ns(31 + 47 + 37))).epsilon(0.003));
    p.pcie_nonposted_credits = 0;
    p.pcie_completion_credits = {n * std::uint64_t{256}};
    CHECK(reads(256) == Approx(n / dma_read(256)).epsilon(0.003));
    p.pcie_completion_credits = {};
    p.pcie_posted_credits = {n * std::uint64_t{256}};
    CHECK(writes(256) == Approx(std::min(1 / tlp(256 + 24), n / (dma_write(256) + ns(37)))).epsilon(0.003));
    CHECK(writes(1024) * 4 == Approx(std::min(1 / tlp(256 + 24), n / (dma_write(256) + ns(37)))).epsilon(0.003));
    p.pcie_posted_credits = {};
  }
}

TEST_CASE(
    "large messages get what PCIe leaves, whatever the tags, unless these are too few: then all queue pairs together",
    "[figures]") {
  nic::HardwareProfile p = scenario::load_hardware("cx3-ib-fdr").profile;
  const auto gbps = [&](Test test, std::uint64_t size, std::uint32_t queue_pairs) {
    const auto messages = static_cast<std::uint32_t>((48ULL << 20U) / size / queue_pairs);
    const perf::Options o{.test = test, .profile = p, .size = size, .iterations = messages, .queue_pairs = queue_pairs};
    return perf::run(o).average * 8e-9;
  };
  // gen3 x8: completions of 256 B with 20 of header at the sender of data, writes of 256 B with 24 at the receiver
  for (const std::uint32_t tags : {0U, 32U}) {
    p.pcie_tags = tags;
    CHECK(gbps(Test::read_bw, 1 << 20, 1) == Approx(57.88 * 256 / 280).epsilon(0.01));
    CHECK(gbps(Test::read_bw, 1 << 16, 1) == Approx(57.88 * 256 / 280).epsilon(0.01));
  }
  p.pcie_tags = 2;
  // the messages are in the CPU's cache
  const sim::Duration way = p.pcie_upstream + p.pcie_read_access - p.pcie_warm_saving + p.pcie_downstream;
  const auto in_use = static_cast<double>((way + sim::transmission_time({24 + 512 + 2 * 20}, p.pcie_rate)).ps);
  for (const Test test : {Test::read_bw, Test::write_bw}) {
    for (const std::uint32_t queue_pairs : {1U, 4U}) {
      CHECK(gbps(test, 1 << 16, queue_pairs) == Approx(2 * 512 * 8e3 / in_use).epsilon(0.005));
    }
  }
}

TEST_CASE("long READs of many queue pairs get all of the link, as WRITEs do", "[figures]") {
  // Each answer's packet has 82 bytes of headers; the first and the last have 4 of AETH.
  const nic::HardwareProfile p = scenario::load_hardware("cx5-roce-25g").profile;
  const double link = 25 * 1048576.0 / (1024 * (1024 + 82) + 8);
  for (const std::uint32_t queue_pairs : {1U, 2U, 3U, 8U}) {
    for (const Test test : {Test::read_bw, Test::write_bw}) {
      INFO(queue_pairs);
      const perf::Options o{.test = test, .profile = p, .size = 1 << 20, .iterations = 16, .queue_pairs = queue_pairs};
      const perf::Result result = perf::run(o);
      CHECK(result.average * 8e-9 == Approx(link).epsilon(0.001));
      CHECK(result.peak * 8e-9 <= link);  // the queue pairs' completions come all at once
    }
  }
}

TEST_CASE("a latency of PCIe is paid some times a message, not with each packet") {
  nic::HardwareProfile p = scenario::load_hardware("cx5-roce-100g").profile;
  p.link_mtu = {256};      // 27 ns on the wire, 19 ns on PCIe: data of the next packets is under way when one may leave
  p.nic_read_packets = 0;  // however many packets that takes
  for (const Test test : {Test::write_lat, Test::send_lat, Test::read_lat}) {
    const auto microseconds = [&](std::int64_t downstream_ns) {
      p.pcie_downstream = {downstream_ns * 1000};
      return perf::run({.test = test, .profile = p, .size = 64 << 10, .iterations = 3}).t_min;
    };
    // A message is 256 packets. Doorbells, work requests and payload come down on one side, read data on the other.
    CHECK(microseconds(300) - microseconds(0) <= Approx(4 * 0.3));
  }
}

TEST_CASE("whatever keeps READs in order, each request takes a tag") {
  nic::HardwareProfile p = scenario::load_hardware("cx6-ib-hdr").profile;
  const auto read = [&](nic::ReadOrdering ordering, std::uint32_t tags) {
    p.pcie_read_ordering = ordering;
    p.pcie_tags = tags;
    return perf::run({.test = Test::read_lat, .profile = p, .size = 32 << 10, .iterations = 3}).t_min;
  };
  const double with_two = read(nic::ReadOrdering::unordered, 2);
  CHECK(with_two > 2 * read(nic::ReadOrdering::unordered, 256));
  for (const auto ordering :
       {nic::ReadOrdering::nic_serialised, nic::ReadOrdering::root_complex, nic::ReadOrdering::speculative})
    CHECK(read(ordering, 2) > 0.99 * with_two);
}

// A DMA engine issues a read request every read_interval; a root complex commits an ordered write TLP every
// write_interval. So of `n` bytes each:
//   reads a second  = 1 / max(data on the link, requests * read_interval)
//   writes a second = 1 / max(TLPs on the link, TLPs * write_interval)
TEST_CASE("a DMA engine that issues reads at its own pace, and a root complex whose strict ordering takes time") {
  nic::HardwareProfile p = scenario::load_hardware("pcie-bench").profile;
  p.pcie_tags = 0;
  for (const bool reads : {true, false}) {
    for (const std::int64_t interval : {0, 18'000, 60'000, 400'000}) {
      p.pcie_read_interval = p.pcie_write_interval = {interval};
      for (const std::uint64_t size : {64U, 256U, 512U, 1024U, 4096U}) {
        INFO("reads: " << reads << ", " << size << " bytes, every " << interval << " ps");
        const perf::Result r = perf::run(
            {.test = reads ? Test::dma_read_bw : Test::dma_write_bw, .profile = p, .size = size, .iterations = 12000});
        const double tlps = std::ceil(static_cast<double>(size) / 256);
        const double link = (static_cast<double>(size) + (reads ? 20 : 24) * tlps) * 8 / 57.88;
        const double paced = ns(interval) / 1000 * (reads ? std::ceil(static_cast<double>(size) / 512) : tlps);
        CHECK(r.rate * 1e-9 == Approx(1 / std::max(link, paced)).epsilon(0.015));
      }
    }
  }
}

// Reported of AMD EPYC: 200 Gb/s with relaxed ordering, 150 without (openucx/ucx, pull request 8062). TLPs of 256 bytes
// every 13.65 ns are 150 Gb/s.
TEST_CASE("a region with relaxed ordering is written as fast as the link, one without as the root complex orders",
          "[figures]") {
  nic::HardwareProfile p = scenario::load_hardware("cx6-ib-hdr").profile;
  p.pcie_write_interval = {13'650};
  for (const Test test : {Test::write_bw, Test::send_bw, Test::read_bw}) {
    const auto gbps = [&](bool relaxed) {
      const perf::Options o{
          .test = test, .profile = p, .size = 1 << 20, .iterations = 64, .queue_pairs = 4, .relaxed_ordering = relaxed};
      return perf::run(o).average * 8e-9;
    };
    CHECK(gbps(false) == Approx(256 * 8 / 13.65).epsilon(0.02));
    CHECK(gbps(true) == Approx(200.0 * 4096 / (4096 + 26)).epsilon(0.02));
  }
}

// An atomic has its bank from the request to its PCIe read until its new value is posted:
//   occupied = upstream + read_access + downstream + atomic_modify      (and TLPs, which take no time here)
// So atomics of a bank are that far apart, whoever sends them, and those of a queue pair as well: nothing passes an
// atomic. Of B banks, Q queue pairs keep min(B, Q) busy.
TEST_CASE("atomics of one bank are one at a time, those of different banks side by side") {
  nic::HardwareProfile p = stages();
  p.cpu_post_wqe = p.cpu_doorbell = {};
  p.pcie_rate = {};
  p.link_rate = 400_Gbps;
  const double occupied = ns(31) + ns(47) + ns(37) + ns(67);
  // Places of queue pairs are 64 bytes apart, 8 words.
  struct Case {
    std::uint32_t banks, queue_pairs;
    std::uint64_t region;  // 64: one place for all
    double busy;
  };
  for (const Case& c : {Case{1, 4, 0, 1}, Case{512, 1, 0, 1}, Case{512, 4, 64, 1}, Case{512, 4, 0, 4},
                        Case{512, 6, 0, 6}, Case{16, 4, 0, 2}, Case{8, 4, 0, 1}, Case{24, 6, 0, 3}}) {
    INFO(c.banks << " banks, " << c.queue_pairs << " queue pairs, region " << c.region);
    p.nic_atomic_banks = c.banks;
    const perf::Result r = perf::run({.test = Test::atomic_bw,
                                      .profile = p,
                                      .size = 8,
                                      .iterations = 2000,
                                      .queue_pairs = c.queue_pairs,
                                      .threads = c.queue_pairs,
                                      .region = c.region});
    CHECK(r.rate * 1e-9 == Approx(c.busy / occupied).epsilon(0.01));
  }
}

TEST_CASE("messages spread over a region, device memory, several threads and linked work requests run") {
  const nic::HardwareProfile p = scenario::load_hardware("cx6-ib-hdr").profile;
  const auto rate = [&](perf::Options o) {
    o.profile = p;
    o.iterations = 200;
    return perf::run(o).rate;
  };
  const double host = rate({.test = Test::atomic_bw, .size = 8, .queue_pairs = 4, .threads = 2, .region = 64});
  const double device =
      rate({.test = Test::atomic_bw, .size = 8, .queue_pairs = 4, .region = 64, .device_memory = true});
  CHECK(device > 3 * host);
  const double one = rate({.test = Test::write_bw, .size = 16, .queue_pairs = 4, .inline_max = 16});
  const double linked = rate({.test = Test::write_bw, .size = 16, .queue_pairs = 4, .post_list = 8, .inline_max = 16});
  CHECK(linked > 1.2 * one);
  CHECK(rate({.test = Test::send_bw, .size = 16, .queue_pairs = 2, .threads = 2}) > 1e6);
}

TEST_CASE("lists behind one doorbell: every message is measured, whatever part of the depth a list is") {
  // perftest signals the last of each list. Were every hundredth message signaled, a queue pair would be full with none
  // of them under way: with lists of 70 in a depth of 128, at once.
  const auto [depth, post_list] =
      GENERATE(std::pair{10U, 8U}, std::pair{64U, 50U}, std::pair{128U, 70U}, std::pair{128U, 128U});
  CAPTURE(depth, post_list);
  const perf::Result result = perf::run({.test = Test::write_bw,
                                         .profile = stages(),
                                         .size = 64,
                                         .iterations = 1005,
                                         .queue_pairs = 2,
                                         .depth = depth,
                                         .post_list = post_list});
  CHECK(result.iterations == 2 * 1005);
  CHECK(result.rate > 0);
}

TEST_CASE("seeds that differ in any bit spread messages differently") {
  const auto average = [](std::uint64_t seed) {
    return perf::run({.test = Test::read_lat,
                      .profile = scenario::load_hardware("cx3-ib-fdr").profile,
                      .size = 8,
                      .iterations = 300,
                      .region = 1 << 30,
                      .seed = seed})
        .t_avg;
  };
  CHECK(average(1) != average(1 + (1ULL << 16U)));
}

TEST_CASE("a run is a function of its options") {
  perf::Options o{
      .test = Test::atomic_bw, .profile = scenario::load_hardware("cx3-ib-fdr").profile, .size = 8, .iterations = 300};
  o.region = 1 << 24;
  const perf::Result a = perf::run(o), b = perf::run(o);
  CHECK(a.rate == b.rate);
  CHECK(a.cache_misses == b.cache_misses);
}

TEST_CASE("reads and atomics of latency tests are spread over the region, too") {
  const auto misses = [](Test test, std::uint64_t region) {
    perf::Options o{
        .test = test, .profile = scenario::load_hardware("cx3-ib-fdr").profile, .size = 8, .iterations = 300};
    o.region = region;
    return perf::run(o).cache_misses;
  };
  for (const Test test : {Test::read_lat, Test::atomic_lat}) CHECK(misses(test, 1 << 30) > misses(test, 0) + 100);
  CHECK(run(Test::write_bw, 8).iterations == 50);
  perf::Options small{.test = Test::write_bw, .profile = stages(), .size = 8, .iterations = 50};
  small.region = 8;  // less than a cache line: one place
  CHECK(perf::run(small).iterations == 50);
}

TEST_CASE("options that do not fit are refused, and those that would do nothing") {
  const auto refused = [](perf::Options o) {
    o.profile = stages();
    CHECK_THROWS_AS(perf::run(o), std::invalid_argument);
  };
  for (const Test test : {Test::write_lat, Test::send_lat, Test::send_bw}) refused({.test = test, .region = 4096});
  for (const Test test : {Test::write_lat, Test::send_lat, Test::dma_read_bw})
    refused({.test = test, .device_memory = true});
  for (const Test test : {Test::read_lat, Test::write_bw, Test::dma_read_lat}) refused({.test = test, .copy = true});
  for (const Test test : {Test::read_lat, Test::dma_write_bw}) refused({.test = test, .depth = 4, .post_list = 2});
  for (const Test test : {Test::write_lat, Test::send_lat, Test::read_lat, Test::atomic_lat, Test::dma_read_lat})
    refused({.test = test, .size = 8, .depth = 7});
  for (const Test test : {Test::read_lat, Test::atomic_bw, Test::dma_write_bw})
    refused({.test = test, .size = 8, .inline_max = 0});
  refused({.test = Test::dma_read_bw, .queue_pairs = 2});
  refused({.test = Test::write_lat, .size = 0});
  refused({.test = Test::write_lat, .queue_pairs = 2});
  refused({.test = Test::write_bw, .queue_pairs = 2, .threads = 3});
  refused({.test = Test::write_bw, .depth = 4, .post_list = 5});
  constexpr std::uint32_t kMost = perf::kQueueEntriesMax;  // beyond it, gigabytes of work requests
  refused({.test = Test::send_bw, .size = 8, .iterations = 1, .rx_depth = kMost + 1});
  refused({.test = Test::send_bw, .size = 8, .iterations = 1, .queue_pairs = 3, .rx_depth = kMost / 3 + 1});
  refused({.test = Test::write_bw, .size = 8, .iterations = 1, .depth = kMost + 1});
  refused({.test = Test::write_bw, .size = 8, .iterations = 1, .queue_pairs = 2, .depth = kMost, .post_list = kMost});
  refused({.test = Test::dma_read_bw, .size = 8, .iterations = 1, .depth = kMost + 1});
  CHECK_NOTHROW(perf::run({.test = Test::write_bw, .profile = stages(), .size = 8, .iterations = 1, .depth = kMost}));
  refused({.test = Test::write_lat, .inline_max = 221});
  refused({.test = Test::atomic_lat, .size = 16});
  refused({.test = Test::read_lat, .connection = nic::QpType::uc});
  refused({.test = Test::dma_read_bw, .connection = nic::QpType::uc});
  refused({.test = Test::write_lat, .connection = nic::QpType::ud});
  refused({.test = Test::send_lat, .connection = nic::QpType::ud, .size = 1025});
  nic::HardwareProfile none = stages();
  none.nic_atomic_cap = nic::AtomicCap::none;
  CHECK_THROWS_AS(perf::run({.test = Test::atomic_lat, .profile = none, .size = 8}), std::invalid_argument);
}

TEST_CASE("latency columns are perftest's: without the two largest samples, the lesser of which is t_max") {
  // Nine samples of 1 to 7, 100 and 200 us: seven are left.
  perf::Result r;
  perf::summarise(
      {200'000'000, 3'000'000, 1'000'000, 2'000'000, 100'000'000, 7'000'000, 4'000'000, 6'000'000, 5'000'000}, r);
  CHECK(r.t_min == 1);
  CHECK(r.t_typical == 4);
  CHECK(r.t_avg == Approx(4));
  CHECK(r.t_stdev == Approx(2));
  CHECK(r.t_max == 100);
  CHECK(r.t_99 == 100);  // the element behind ceil(0.99 * 7)
  perf::Result even;
  perf::summarise({1'000'000, 2'000'000, 4'000'000, 8'000'000, 9'000'000, 9'000'000}, even);
  CHECK(even.t_typical == 3);
}

TEST_CASE("a SEND that the NIC does not have is named, whatever was flushed behind it") {
  for (const Test test : {Test::send_lat, Test::send_bw}) {
    const nic::HardwareProfile p = scenario::load_hardware("efa-srd-like").profile;
    const auto mtu = static_cast<std::uint64_t>(p.link_mtu.count);
    CHECK_NOTHROW(perf::run({.test = test, .profile = p, .size = 8192, .iterations = 10}));
    CHECK_THROWS_WITH(
        perf::run({.test = test, .profile = p, .size = mtu + 1, .iterations = 10}),
        "a work request failed: loc_len_err: a SEND of 8929 bytes, where this NIC's have at most the MTU of "
        "8928 (link.mtu)");
  }
}
