// Hosts with hardware of their own, several NICs, and GPUs behind PCIe switches: times are the sums of their stages,
// and what is ordered with what follows from which queues writes share (docs/machine.md).
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "hosts/steps.hpp"
#include "message.hpp"
#include "stages.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Stamp;

namespace {

/// Other primes than those of stages.hpp.
nic::HardwareProfile other_primes() {
  nic::HardwareProfile p = primes();
  p.cpu_store_drain = 3_ns;
  p.pcie_rate = {32'000'000'000};  // 4 B/ns
  p.pcie_upstream = 101_ns;
  p.pcie_downstream = 103_ns;
  p.pcie_read_access = 107_ns;
  p.pcie_write_commit = 109_ns;
  p.nic_wqe_start = 113_ns;
  p.nic_transmit = 127_ns;
  p.nic_receive = 131_ns;
  p.nic_cqe = 137_ns;
  p.link_rate = 8_Gbps;  // 1 B/ns
  p.link_mtu = 512_B;    // of no effect: links are the network's
  return p;
}

/// The stages of a host, from its profile.
struct Stages {
  const nic::HardwareProfile& p;

  [[nodiscard]] std::int64_t tlp(std::uint64_t bytes) const { return sim::transmission_time({bytes}, p.pcie_rate).ps; }
  [[nodiscard]] std::int64_t read(std::uint64_t bytes) const {
    return tlp(24) + p.pcie_upstream.ps + p.pcie_read_access.ps + tlp(bytes + 20) + p.pcie_downstream.ps;
  }
  [[nodiscard]] std::int64_t write(std::uint64_t bytes) const {
    return tlp(bytes + 24) + p.pcie_upstream.ps + p.pcie_write_commit.ps;
  }
  [[nodiscard]] std::int64_t until_start() const {
    return p.cpu_store_drain.ps + tlp(8 + 24) + p.pcie_downstream.ps + read(64) + p.nic_wqe_start.ps;
  }
};

nic::SystemConfig two_kinds() {
  return {.profile = primes(),
          .hosts = {.hardware = {other_primes()}, .of = {{}, {.hardware = 1}}},
          .topology = fabric::Topology::back_to_back,
          .nodes = 2,
          .witness = true};
}

/// One thread of `from` posts these on `qp`.
void post(nic::System& system, hosts::Steps& steps, nic::NodeId from, nic::QpId qp, std::vector<nic::Wqe> wqes) {
  steps.add(system, from, [qp, wqes = std::move(wqes)](nic::Cpu& cpu) {
    REQUIRE(cpu.post_send(qp, wqes) == nic::PostResult::ok);
    cpu.stop();
  });
}

void run(nic::System& system, hosts::Steps& steps, nic::Observer* observer) {
  nic::Context context{steps, observer};
  while (system.step(context)) {
  }
}

struct Times {
  std::int64_t placed = 0, completed = 0;
};

/// Of an 8-byte WRITE from one host to the other.
Times write_from(nic::NodeId from) {
  nic::System system(two_kinds());
  hosts::Steps steps;
  Recorder recorder;
  std::array<nic::MemoryRegion, 2> region;
  std::array<nic::QpId, 2> qp{};
  for (nic::NodeId n = 0; n < 2; ++n) {
    region[n] = system.register_memory(n, system.allocate(n, 64), 64);
    qp[n] = system.create_qp(n, system.create_cq(n, 16), 16, 0);
  }
  system.connect(qp[0], qp[1]);
  const nic::NodeId to = 1 - from;
  post(system, steps, from, qp[from],
       {{.length = 8,
         .lkey = region[from].lkey,
         .rkey = region[to].rkey,
         .local = region[from].base,
         .remote = region[to].base}});
  run(system, steps, &recorder);
  return {recorder.finished(Stamp::aNRW).ps, recorder.cqes.at(0).at.ps};
}

}  // namespace

TEST_CASE("between two kinds of hardware each stage is that of the host or NIC it is in, each way") {
  const nic::NodeId from = GENERATE(0U, 1U);
  const std::array profiles = {primes(), other_primes()};
  const Stages mine{profiles[from]};
  const Stages other{profiles[1 - from]};
  const auto cable = [](std::int64_t bytes) { return bytes * 1000 + ns(73); };  // at the slower NIC's rate
  const std::int64_t received =
      mine.until_start() + mine.read(8) + mine.p.nic_transmit.ps + cable(kWriteHeaders + 8) + other.p.nic_receive.ps;
  const Times times = write_from(from);
  CHECK(times.placed == received + other.write(8));
  CHECK(times.completed == received + other.p.nic_transmit.ps + cable(kAckBytes) + mine.p.nic_receive.ps +
                               mine.p.nic_cqe.ps + mine.write(64));
}

TEST_CASE("hosts that are described and alike are those of a machine without a description") {
  const auto trace = [](bool described) {
    nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 2, .witness = true};
    if (described) config.hosts = {.hardware = {primes()}, .of = {{}, {.hardware = 1}}};
    nic::System system(config);
    hosts::Steps steps;
    Recorder recorder;
    const nic::MemoryRegion a = system.register_memory(0, system.allocate(0, 8192), 8192);
    const nic::MemoryRegion b = system.register_memory(1, system.allocate(1, 8192), 8192);
    const nic::QpId qp = system.create_qp(0, system.create_cq(0, 16), 16, 0);
    system.connect(qp, system.create_qp(1, system.create_cq(1, 1), 1));
    post(system, steps, 0, qp, {{.length = 8192, .lkey = a.lkey, .rkey = b.rkey, .local = a.base, .remote = b.base}});
    run(system, steps, &recorder);
    return std::pair(recorder.cqes.at(0).at.ps, recorder.finishes.size());
  };
  CHECK(trace(false) == trace(true));
}

TEST_CASE("hardware that cannot be on one network with the others is refused, and NICs and GPUs that are not there") {
  nic::SystemConfig config = two_kinds();
  config.hosts.hardware[0].nic_placement = nic::Placement::unordered;
  CHECK_THROWS_WITH(nic::System(config), "nic.placement must be the same on all hosts");
  nic::System system(two_kinds());
  const nic::CqId cq = system.create_cq(0, 1);
  CHECK_THROWS_WITH(system.create_qp(0, {.send_cq = cq, .nic = 1}), "host 0 has no NIC 1: it has 1");
  const nic::Address base = system.allocate(0, 64);
  CHECK_THROWS_WITH(system.register_memory(0, base, 64, nic::kAllAccess, {.gpu = 1}), "host 0 has no GPU 0: it has 0");
}

// --- several NICs --------------------------------------------------------------------------------------------------

namespace {

nic::RegionKind on_gpu() { return {.gpu = 1}; }
nic::HostConfig one_switch() { return {.nics = 2, .nic_switches = {0, 0}, .gpus = {{.pcie_switch = 0}}}; }
template <typename... Arguments>
std::set<Seen> outcomes(const std::array<std::uint32_t, 2>& nics, const Arguments&... arguments) {
  return outcomes_on(one_switch(), nics, arguments...);
}

}  // namespace

TEST_CASE("writes through one NIC reach memory in order, those through two NICs do not") {
  CHECK(outcomes({0U, 0U}) == kOrdered);
  CHECK(outcomes({0U, 1U}) == kBoth);
}

TEST_CASE("a read pushes the writes of its own NIC, not those of another one") {
  CHECK(outcomes({0U, 1U}, nic::RegionKind{}, Flush::same_nic) == kOrdered);
  CHECK(outcomes({0U, 1U}, nic::RegionKind{}, Flush::other_nic) == kBoth);
}

TEST_CASE("data in a GPU's memory and a flag in the host's need a read of the GPU's by the NIC that wrote it") {
  CHECK(outcomes({0U, 0U}, on_gpu()) == kBoth);
  CHECK(outcomes({0U, 0U}, on_gpu(), Flush::same_nic) == kOrdered);
  CHECK(outcomes({0U, 0U}, on_gpu(), Flush::other_nic) == kBoth);
}

// --- GPUs ------------------------------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kHop = ns(19);

/// Where NIC and GPU of host 1 are, and the GPU's link.
struct Place {
  std::uint32_t nic = nic::kRootPort, gpu = nic::kRootPort;
  sim::BitsPerSecond rate{};
};

nic::HardwareProfile with_switches() {
  nic::HardwareProfile p = primes();
  p.pcie_switch = {kHop};
  p.pcie_peer_write = 32_Gbps;
  p.pcie_peer_read = 16_Gbps;
  p.link_rate = 128_Gbps;  // more than PCIe carries
  return p;
}

/// A message of `bytes` from host 0 to memory of host 1, or from there.
std::int64_t timed(const Place& place, bool on_gpu, nic::Opcode opcode, std::uint32_t bytes, std::uint32_t count = 1) {
  nic::SystemConfig config{.profile = with_switches(),
                           .topology = fabric::Topology::back_to_back,
                           .nodes = 2,
                           .timed = true,
                           .witness = count == 1};
  config.hosts.of = {{}, {.nic_switches = {place.nic}, .gpus = {{place.gpu, place.rate}}}};
  nic::System system(config);
  hosts::Steps steps;
  Recorder recorder;
  const std::uint64_t size = 1U << 20U;
  const nic::MemoryRegion a = system.register_memory(0, system.allocate(0, size), size);
  const nic::MemoryRegion b = system.register_memory(1, system.allocate(1, size), size, nic::kAllAccess,
                                                     {.gpu = static_cast<std::uint8_t>(on_gpu ? 1 : 0)});
  const nic::QpId qp = system.create_qp(0, system.create_cq(0, 64), 64, 0);
  system.connect(qp, system.create_qp(1, system.create_cq(1, 1), 1));
  const nic::Wqe wqe{.opcode = opcode,
                     .length = bytes,
                     .lkey = a.lkey,
                     .rkey = b.rkey,
                     .local = a.base + kAligned,
                     .remote = b.base + kAligned};
  post(system, steps, 0, qp, std::vector(count, wqe));
  run(system, steps, count == 1 ? &recorder : nullptr);
  if (count > 1) return system.now().ps;
  return opcode == nic::Opcode::rdma_write ? recorder.finished(Stamp::aNRW).ps : recorder.cqes.at(0).at.ps;
}

}  // namespace

TEST_CASE("a switch is a hop each way, near a GPU is as far as the host's memory, far it is through the root complex") {
  const auto write = [](const Place& place, bool gpu) { return timed(place, gpu, nic::Opcode::rdma_write, 8); };
  const auto read = [](const Place& place, bool gpu) { return timed(place, gpu, nic::Opcode::rdma_read, 8); };
  const Place root{}, near{0, 0}, far{0, 1}, gpu_behind{nic::kRootPort, 0};
  const std::int64_t direct = write(root, false);
  CHECK(write(near, false) == direct + kHop);
  CHECK(write(near, true) == direct + kHop);
  CHECK(write(root, true) == direct + kDown);
  CHECK(write(gpu_behind, true) == direct + kDown + kHop);
  CHECK(write(far, true) == direct + kHop + kDown + kHop);
  const std::int64_t read_direct = read(root, false);
  CHECK(read(near, false) == read_direct + 2 * kHop);
  CHECK(read(near, true) == read_direct + 2 * kHop);
  CHECK(read(far, true) >= read_direct + 2 * kHop + kDown + kUp + 2 * kHop);  // and the slower way of its data
  // A completion of 28 bytes leaves at 2 B/ns in place of 8.
  CHECK(read(far, true) == read_direct + 2 * kHop + kDown + kUp + 2 * kHop + 28 * 500 - tlp(28));
}

TEST_CASE("a doorbell goes over the PCIe link of its queue pair's NIC") {
  // NIC 1 is behind a switch, NIC 0 is not: a hop for the doorbell, two for the work request, two for its payload.
  const auto placed = [](std::uint32_t nic) {
    nic::SystemConfig config{
        .profile = with_switches(), .topology = fabric::Topology::star, .nodes = 2, .witness = true};
    config.hosts.of = {{.nics = 2, .nic_switches = {nic::kRootPort, 0}}, {.nics = 2}};
    nic::System system(config);
    hosts::Steps steps;
    Recorder recorder;
    const nic::MemoryRegion a = system.register_memory(0, system.allocate(0, 64), 64);
    const nic::MemoryRegion b = system.register_memory(1, system.allocate(1, 64), 64);
    const nic::QpId qp = system.create_qp(0, {.send_cq = system.create_cq(0, 4), .send_entries = 4, .nic = nic});
    system.connect(qp, system.create_qp(1, {.send_cq = system.create_cq(1, 1), .nic = nic}));
    post(system, steps, 0, qp, {{.length = 8, .lkey = a.lkey, .rkey = b.rkey, .local = a.base, .remote = b.base}});
    run(system, steps, &recorder);
    return recorder.finished(Stamp::aNRW).ps;
  };
  CHECK(placed(1) == placed(0) + 5 * kHop);
}

TEST_CASE("an XRC SEND to any NIC of a host finds the host's shared receive queue") {
  const std::uint32_t nic = GENERATE(0U, 1U);
  nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 2};
  config.hosts.of = {{.nics = 2}, {.nics = 2}};
  nic::System system(config);
  hosts::Steps steps;
  const nic::MemoryRegion a = system.register_memory(0, system.allocate(0, 64), 64);
  const nic::MemoryRegion b = system.register_memory(1, system.allocate(1, 64), 64);
  const nic::CqId received = system.create_cq(1, 4);
  const nic::SrqId queue = system.create_srq(1, 4, received);
  REQUIRE(system.post_srq_recv(queue, {.address = b.base, .length = 8, .lkey = b.lkey}));
  const nic::QpId qp = system.create_qp(0, {.send_cq = system.create_cq(0, 4), .send_entries = 4, .nic = nic});
  system.connect(qp, system.create_qp(1, {.send_cq = system.create_cq(1, 1), .xrc = true, .nic = nic}));
  post(system, steps, 0, qp,
       {{.opcode = nic::Opcode::send, .length = 8, .lkey = a.lkey, .rkey = queue, .local = a.base}});
  run(system, steps, nullptr);
  CHECK(system.cq_size(received) == 1);
}

TEST_CASE("through a switch a GPU gets what its link carries, through the root complex what that carries for peers") {
  constexpr std::uint32_t kBytes = 1U << 17U, kMessages = 16;
  const auto rate = [&](const Place& place, nic::Opcode opcode) {  // Gb/s of TLPs
    const std::int64_t long_run = timed(place, true, opcode, kBytes, kMessages);
    const std::int64_t short_run = timed(place, true, opcode, kBytes, kMessages / 2);
    const double header = opcode == nic::Opcode::rdma_write ? 24 : 20;
    return kBytes * (1 + header / 256) * kMessages / 2 * 8e3 / static_cast<double>(long_run - short_run);
  };
  const Place near{0, 0, 48_Gbps}, far{0, 1, 48_Gbps}, narrow{0, 1, 8_Gbps};
  CHECK(rate(near, nic::Opcode::rdma_write) == Approx(48).epsilon(0.01));
  CHECK(rate(far, nic::Opcode::rdma_write) == Approx(32).epsilon(0.01));
  CHECK(rate(narrow, nic::Opcode::rdma_write) == Approx(8).epsilon(0.01));
  CHECK(rate(near, nic::Opcode::rdma_read) == Approx(48).epsilon(0.01));
  CHECK(rate(far, nic::Opcode::rdma_read) == Approx(16).epsilon(0.01));
}
