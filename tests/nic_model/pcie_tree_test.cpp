// The PCIe tree: a path is a list of links. Its latency is the sum of what these take, its rate that of the slowest,
// and what shares a link shares the rate of that (docs/hardware.md, "The PCIe tree"). Order follows from which memories
// two writes are for, never from which links they take.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "message.hpp"
#include "stages.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Opcode;
using nic::Stamp;

namespace pcie_tree {  // others of its library have functions of the same names
namespace {

constexpr std::int64_t kHop = ns(19), kLongHop = ns(23), kSockets = ns(29), kDevice = ns(13);
constexpr std::uint32_t kTop = 0, kLeft = 1, kRight = 2;  // switches: two below one

nic::HardwareProfile on_wide_network() {
  nic::HardwareProfile p = primes();
  p.pcie_switch = {kHop};
  p.pcie_numa_penalty = {kSockets};
  p.link_rate = 256_Gbps;  // more than PCIe carries
  p.nic_device_access = {kDevice};
  return p;
}

/// A NIC behind `left`, GPU 0 behind it, too, GPU 1 behind `right`, GPU 2 at a root port of socket 1.
nic::HostConfig tree() {
  nic::HostConfig host{.nic_switches = {kLeft},
                       .gpus = {{.pcie_switch = kLeft}, {.pcie_switch = kRight}, {.socket = 1}}};
  host.switches = {{.name = "top", .delay = sim::Duration{kLongHop}}, {.above = kTop}, {.above = kTop}};
  host.sockets.count = 2;
  return host;
}

struct Run {
  nic::HostConfig host = tree();
  nic::RegionKind memory{};
  Opcode opcode = Opcode::rdma_write;
  std::uint32_t bytes = 8;
  std::uint32_t count = 1;           ///< messages of each NIC
  std::uint32_t nics = 1;            ///< of host 1 that are used, each by a NIC of host 0
  bool second_reads = false;         ///< the second NIC answers READs of the host's memory instead
  std::vector<std::int64_t> ends{};  ///< of each NIC's last message
};

/// Messages from host 0 to memory of host 1, or from there: when the last one is in memory.
std::int64_t timed(Run& run) {
  nic::SystemConfig config{.profile = on_wide_network(),
                           .topology = run.host.nics == 1 ? fabric::Topology::back_to_back : fabric::Topology::star,
                           .nodes = 2,
                           .timed = true,
                           .witness = run.count == 1};
  config.hosts.of = {{.nics = run.nics}, run.host};
  nic::System system(config);
  hosts::Steps steps;
  Recorder recorder;
  const std::uint64_t size = 1U << 20U;
  const nic::MemoryRegion a = system.register_memory(0, system.allocate(0, size), size);
  const nic::MemoryRegion b = system.register_memory(1, system.allocate(1, size), size, nic::kAllAccess, run.memory);
  const std::vector<nic::Wqe> wqes(run.count, {.opcode = run.opcode,
                                               .length = run.bytes,
                                               .lkey = a.lkey,
                                               .rkey = b.rkey,
                                               .local = a.base + kAligned,
                                               .remote = b.base + kAligned});
  const nic::MemoryRegion c = system.register_memory(1, b.base, size);
  std::vector<nic::Wqe> reads(run.count, wqes.front());
  for (nic::Wqe& read : reads) read.opcode = Opcode::rdma_read, read.rkey = c.rkey;
  std::vector<nic::CqId> cqs;
  run.ends.assign(run.nics, 0);
  for (std::uint32_t nic = 0; nic < run.nics; ++nic) {
    cqs.push_back(system.create_cq(0, 64));
    const nic::QpId qp = system.create_qp(0, {.send_cq = cqs.back(), .send_entries = 64, .nic = nic});
    system.connect(qp, system.create_qp(1, {.send_cq = system.create_cq(1, 1), .nic = nic}));
    steps.add(system, 0, [&, nic, qp, posted = false, done = std::size_t{0}](nic::Cpu& cpu) mutable {
      if (!posted) REQUIRE(cpu.post_send(qp, nic == 1 && run.second_reads ? reads : wqes) == nic::PostResult::ok);
      posted = true;
      std::array<nic::Cqe, 16> cqes;
      done += cpu.poll_cq(cqs[nic], cqes);
      run.ends[nic] = system.now().ps;
      return done < wqes.size() ? cpu.pause({}) : cpu.stop();
    });
  }
  nic::Context context{steps, run.count == 1 ? &recorder : nullptr};
  while (system.step(context)) {
  }
  if (run.opcode == Opcode::rdma_read) return *std::ranges::max_element(run.ends);
  return run.count == 1 ? recorder.finished(Stamp::aNRW).ps : system.now().ps;  // CQEs are ahead of memory
}
std::int64_t timed(Run&& run) { return timed(run); }

/// Gb/s of payload of all NICs together, in a long run.
double rate(Run run) {
  run.bytes = 1U << 16U;
  run.count = 16;
  const std::int64_t all = timed(run);
  run.count = 8;
  return run.bytes * 8.0 * run.nics * 8e3 / static_cast<double>(all - timed(run));
}
/// The payload's share of what a link carries: TLPs of 256 bytes, headers of 24, of completions 20.
constexpr double kWrites = 256.0 / 280, kReads = 256.0 / 276;

nic::HostConfig with_rates(std::int64_t left, std::int64_t top) {
  nic::HostConfig host = tree();
  host.switches[kLeft].link.rate = {static_cast<std::uint64_t>(left)};
  host.switches[kTop].link.rate = {static_cast<std::uint64_t>(top)};
  return host;
}

}  // namespace

TEST_CASE("a path's latency is the sum of its links' and switches', turning at the lowest common switch") {
  const std::int64_t direct = timed({.host = {}});
  const std::int64_t read_direct = timed({.host = {}, .opcode = Opcode::rdma_read});
  const auto write = [&](nic::RegionKind memory) { return timed({.memory = memory}) - direct; };
  const auto read = [&](nic::RegionKind memory) {
    return timed({.memory = memory, .opcode = Opcode::rdma_read}) - read_direct;
  };
  // A READ fetches and completes at host 0, as direct. A switch is passed once each way.
  CHECK(write({}) == kHop + kLongHop);
  CHECK(read({}) == 2 * (kHop + kLongHop));
  CHECK(write({.gpu = 1}) == kHop);
  CHECK(read({.gpu = 1}) == 2 * kHop);
  CHECK(write({.gpu = 2}) == kHop + kLongHop + kHop);
  CHECK(read({.gpu = 2}) == 2 * (kHop + kLongHop + kHop));
  CHECK(write({.numa = 1}) == kHop + kLongHop + kSockets);
  CHECK(read({.numa = 1}) == 2 * (kHop + kLongHop) + kSockets);
  CHECK(write({.gpu = 3}) == kHop + kLongHop + kSockets + kDown);
  CHECK(read({.gpu = 3}) == 2 * (kHop + kLongHop) + kSockets + kDown + kUp);
}

TEST_CASE("a NIC's own memory is behind no link for itself, and behind its link for the host's other NICs") {
  nic::HostConfig host = tree();
  host.nics = 4;
  host.nic_switches = {kLeft, kLeft, kRight, nic::kRootPort};
  host.nic_sockets = {0, 0, 0, 1};
  const std::int64_t direct = timed({.host = {.nics = 4}});
  const std::int64_t read_direct = timed({.host = {.nics = 4}, .opcode = Opcode::rdma_read});
  const auto write = [&](std::uint8_t nic) {
    return timed({.host = host, .memory = {.device = true, .nic = nic}}) - direct;
  };
  const auto read = [&](std::uint8_t nic) {
    return timed({.host = host, .memory = {.device = true, .nic = nic}, .opcode = Opcode::rdma_read}) - read_direct;
  };
  // Messages are NIC 0's. In place of all of PCIe there is the memory, which takes kDevice.
  CHECK(write(0) == kDevice - dma_write(8));
  CHECK(read(0) == kDevice - dma_read(8));
  // For others it takes so long in place of the root complex, and the way is that to a GPU there.
  CHECK(write(1) == kHop + kDevice - kCommit);
  CHECK(read(1) == 2 * kHop + kDevice - kAccess);
  CHECK(write(2) == kHop + kLongHop + kHop + kDevice - kCommit);
  CHECK(read(2) == 2 * (kHop + kLongHop + kHop) + kDevice - kAccess);
  CHECK(write(3) == kHop + kLongHop + kSockets + kDown + kDevice - kCommit);
  CHECK(read(3) == 2 * (kHop + kLongHop) + kSockets + kDown + kUp + kDevice - kAccess);
}

TEST_CASE("peers that write to a NIC's memory share its link, with each other and with what it reads itself") {
  nic::HostConfig host = tree();
  host.nics = 3;
  host.nic_switches = {kLeft, kLeft, kLeft};
  const nic::RegionKind third{.device = true, .nic = 2};
  CHECK(rate({.host = host, .nics = 2}) == Approx(128 * kWrites).epsilon(0.01));  // to the host's memory
  CHECK(rate({.host = host, .memory = third, .nics = 2}) == Approx(64 * kWrites).epsilon(0.01));
  // As many bytes that are written as that are read, in TLPs of 280 and 276.
  const nic::RegionKind second{.device = true, .nic = 1};
  CHECK(rate({.host = host, .memory = second, .nics = 2, .second_reads = true}) ==
        Approx(64 * 2 * 256.0 / (280 + 276)).epsilon(0.01));
}

TEST_CASE("data in another NIC's memory and a flag in the host's need a read of that memory between them") {
  nic::HostConfig host{.nics = 2, .nic_switches = {0, 0}};
  const auto on = [](std::uint8_t nic) { return nic::RegionKind{.device = true, .nic = nic}; };
  CHECK(outcomes_on(host, std::array{0U, 0U}, on(0)) == kOrdered);  // without nic.device_own_path
  CHECK(outcomes_on(host, std::array{0U, 0U}, on(1)) == kBoth);
  CHECK(outcomes_on(host, std::array{0U, 0U}, on(1), Flush::same_nic) == kOrdered);
  CHECK(outcomes_on(host, std::array{0U, 0U}, on(1), Flush::other_nic) == kBoth);
  CHECK(outcomes_on(host, std::array{1U, 1U}, on(1)) == kOrdered);
}

TEST_CASE("memory on NICs is taken from each, and refused on one that is not there") {
  nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 1};
  config.profile.nic_device_memory = 64_B;
  config.hosts.of = {{.nics = 2}};
  nic::System system(config);
  const nic::Address base = system.allocate(0, 64);
  const auto on = [&](nic::RegionKind kind) { return system.register_memory(0, base, 64, nic::kAllAccess, kind); };
  const nic::MemoryRegion first = on({.device = true, .nic = 1});
  CHECK_NOTHROW(on({.device = true}));
  const char* const full = "node 0: no room for 64 bytes of device memory, 64 of 64 are taken (nic.device_memory)";
  CHECK_THROWS_WITH(on({.device = true, .nic = 1}), full);
  system.deregister_memory(first.rkey);
  CHECK_THROWS_WITH(on({.device = true}), full);
  CHECK_NOTHROW(on({.device = true, .nic = 1}));
  CHECK_THROWS_WITH(on({.device = true, .nic = 2}), "host 0 has no NIC 2: it has 2");
  CHECK_THROWS_WITH(on({.nic = 1}), "a memory region names a NIC that it is on, but is not memory on a NIC");
}

TEST_CASE("switches that store a TLP add its time on the link behind them, those that cut through do not") {
  nic::HostConfig host = with_rates(8'000'000'000, 16'000'000'000);  // 1 and 2 B/ns
  const std::int64_t cut = timed({.host = host});
  CHECK(cut == timed({}));
  host.switches[kLeft].store_and_forward = true;
  CHECK(timed({.host = host}) == cut + (8 + 24) * 1000);
  host.switches[kTop].store_and_forward = true;
  CHECK(timed({.host = host}) == cut + (8 + 24) * 1000 + (8 + 24) * 500);
  // Data of READs: out of the top one over the link above the left one, out of that over the NIC's own.
  const std::int64_t read_cut = timed({.host = with_rates(0, 0), .opcode = Opcode::rdma_read});
  host.switches[kLeft].link.rate = host.switches[kTop].link.rate = {64'000'000'000};  // as the NIC's: nothing waits
  CHECK(timed({.host = host, .opcode = Opcode::rdma_read}) == read_cut + 2 * tlp(8 + 20));
}

TEST_CASE("a path carries what its slowest link carries") {
  CHECK(rate({.host = tree()}) == Approx(64 * kWrites).epsilon(0.01));
  CHECK(rate({.host = with_rates(32'000'000'000, 16'000'000'000)}) == Approx(16 * kWrites).epsilon(0.01));
  CHECK(rate({.host = with_rates(8'000'000'000, 16'000'000'000)}) == Approx(8 * kWrites).epsilon(0.01));
  CHECK(rate({.host = with_rates(8'000'000'000, 16'000'000'000), .opcode = Opcode::rdma_read}) ==
        Approx(8 * kReads).epsilon(0.01));
}

TEST_CASE("peer-to-peer below one switch does not touch the link above it") {
  const nic::HostConfig host = with_rates(4'000'000'000, 4'000'000'000);
  CHECK(rate({.host = host, .memory = {.gpu = 1}}) == Approx(64 * kWrites).epsilon(0.01));
  CHECK(rate({.host = host, .memory = {.gpu = 2}}) == Approx(4 * kWrites).epsilon(0.01));
}

TEST_CASE("two NICs share the link above their switch, and the GPU's that both write to") {
  nic::HostConfig host = with_rates(64'000'000'000, 0);
  host.nics = 2;
  host.nic_switches = {kLeft, kLeft};
  CHECK(rate({.host = host, .nics = 2}) == Approx(64 * kWrites).epsilon(0.01));
  Run reads{.host = host, .opcode = Opcode::rdma_read, .bytes = 1U << 18U, .count = 8, .nics = 2};
  timed(reads);
  CHECK(static_cast<double>(reads.ends[0]) == Approx(static_cast<double>(reads.ends[1])).epsilon(0.02));
  host.switches[kLeft].link.rate = {};
  CHECK(rate({.host = host, .nics = 2}) == Approx(128 * kWrites).epsilon(0.01));
  // What is read is written by host 0: that is a little slower.
  CHECK(rate({.host = host, .opcode = Opcode::rdma_read, .nics = 2}) == Approx(128 * kWrites).epsilon(0.01));
  host.gpus[0].rate = {48'000'000'000};
  CHECK(rate({.host = host, .memory = {.gpu = 1}, .nics = 2}) == Approx(48 * kWrites).epsilon(0.01));
  host.switches[kLeft].link.rate = {32'000'000'000};
  CHECK(rate({.host = host, .opcode = Opcode::rdma_read, .nics = 2}) == Approx(32 * kReads).epsilon(0.01));
}

TEST_CASE("another socket's memory is beyond the link between them") {
  nic::HostConfig host = tree();
  host.sockets.link.rate = {24'000'000'000};
  CHECK(rate({.host = host}) == Approx(64 * kWrites).epsilon(0.01));
  CHECK(rate({.host = host, .memory = {.numa = 1}}) == Approx(24 * kWrites).epsilon(0.01));
  host.nic_switches = {nic::kRootPort};
  host.nic_sockets = {1};
  CHECK(timed({.host = host, .memory = {.numa = 1}}) == timed({.host = {}}));
  CHECK(timed({.host = host}) == timed({.host = {}}) + kSockets);
}

TEST_CASE("credits of a link bound it: so many bytes in the time of a TLP there and a credit back") {
  nic::HostConfig host = with_rates(64'000'000'000, 0);
  host.switches[kLeft].delay = sim::Duration{ns(100)};
  host.switches[kLeft].link.credits = 1024_B;
  // Four TLPs of 256 bytes in 280 B / 8 B/ns + 2 * 100 ns.
  CHECK(rate({.host = host}) == Approx(1024 * 8 / (35.0 + 200)).epsilon(0.01));
  host.switches[kLeft].link.credits = 16384_B;
  CHECK(rate({.host = host}) == Approx(64 * kWrites).epsilon(0.01));
}

TEST_CASE("two memories that end writes for themselves have two orders, one path has one") {
  nic::HostConfig host = tree();
  CHECK(outcomes_on(host, std::array{0U, 0U}) == kOrdered);
  CHECK(outcomes_on(host, std::array{0U, 0U}, nic::RegionKind{.gpu = 2}) == kBoth);
  CHECK(outcomes_on(host, std::array{0U, 0U}, nic::RegionKind{.gpu = 2}, Flush::same_nic) == kOrdered);
  CHECK(outcomes_on(host, std::array{0U, 0U}, nic::RegionKind{.numa = 1}) == kOrdered);
  host.sockets.order = nic::MemoryOrder::each;
  CHECK(outcomes_on(host, std::array{0U, 0U}, nic::RegionKind{.numa = 1}) == kBoth);
  CHECK(outcomes_on(host, std::array{0U, 0U}, nic::RegionKind{.numa = 1}, Flush::same_nic) == kOrdered);
}

TEST_CASE("a tree that is none is refused") {
  const auto says = [](const nic::HostConfig& host, const char* what) {
    nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 1};
    config.hosts.of = {host};
    CHECK_THROWS_WITH(nic::System(config), what);
  };
  says({.switches = {{.above = 1}, {.above = 0}}}, "PCIe switch 0 is behind itself");
  says({.switches = {{.above = 7}}}, "PCIe switch 0 is behind switch 7, which is not there");
  says({.switches = {{.socket = 1}}}, "PCIe switch 0 is at socket 1, which is not there");
  says({.gpus = {{.socket = 1}}}, "a device is at a socket that is not there: the host has 1");
  nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 1};
  nic::System system(config);
  const nic::Address base = system.allocate(0, 64);
  CHECK_THROWS_WITH(system.register_memory(0, base, 64, nic::kAllAccess, {.numa = 1}),
                    "host 0 has no NUMA node 1: it has 1");
}

}  // namespace pcie_tree
