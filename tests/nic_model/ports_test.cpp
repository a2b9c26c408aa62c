// NICs with several ports: each has the rate of its cable, and they share PCIe, the order of posted writes, and the
// rest of the NIC. A queue pair is bound to one (verbs' port_num), unless its packets are placed as they come.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fabric/packet_network.hpp"
#include "message.hpp"
#include "stages.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;

namespace nic_ports {  // others of its library have functions of the same names
namespace {

constexpr double kPortRate = 16;                       // Gb/s
constexpr double kFrame = 1024.0 / (1024 + 82);        // payload of a packet
constexpr double kPlaced = 1024.0 / (1024 + 82 + 16);  // where each says where it goes
constexpr double kPcie = 64 * 256.0 / (256 + 24);      // and of a TLP

struct Result {
  std::int64_t end = 0;                  ///< of the last message, in picoseconds
  std::vector<std::uint64_t> packets{};  ///< that host 0's ports have sent
};

/// A queue pair on each of `ports` of host 0's NIC writes `count` messages to host 1, whose NIC has as many.
Result run(std::uint32_t of, const std::vector<std::uint8_t>& ports, std::uint32_t count,
           nic::Placement placement = nic::Placement::in_order) {
  nic::HardwareProfile p = primes();
  p.nic_placement = placement;
  nic::SystemConfig config{.profile = p, .topology = fabric::Topology::star, .nodes = 2, .timed = true};
  config.hosts.of = {{.ports = of}, {.ports = of}};
  nic::System system(config);
  hosts::Steps steps;
  const std::uint64_t size = 1U << 18U;
  const nic::MemoryRegion a = system.register_memory(0, system.allocate(0, size), size);
  const nic::MemoryRegion b = system.register_memory(1, system.allocate(1, size), size);
  const std::vector<nic::Wqe> wqes(
      count,
      {.length = size - 1024, .lkey = a.lkey, .rkey = b.rkey, .local = a.base + kAligned, .remote = b.base + kAligned});
  for (const std::uint8_t port : ports) {
    const nic::QpId qp = system.create_qp(0, {.send_cq = system.create_cq(0, 64), .send_entries = 64, .port = port});
    system.connect(qp, system.create_qp(1, {.send_cq = system.create_cq(1, 1), .port = port}));
    steps.add(system, 0, [&, qp](nic::Cpu& cpu) {
      REQUIRE(cpu.post_send(qp, wqes) == nic::PostResult::ok);
      cpu.stop();
    });
  }
  nic::Context context{steps};
  while (system.step(context)) {
  }
  Result result{.end = system.now().ps};
  const fabric::PacketNetwork& network = *system.network().packet_network();
  for (const nic::PortId port : nic::ports_of(config.hosts, 2, nic::HostId(0)))
    result.packets.push_back(network.counters(network.graph().out(port.index(), 0)).packets);
  return result;
}

/// Gb/s of payload of all queue pairs.
double rate(std::uint32_t of, const std::vector<std::uint8_t>& ports,
            nic::Placement placement = nic::Placement::in_order) {
  const std::int64_t longer = run(of, ports, 16, placement).end;
  const double bytes = ((1U << 18U) - 1024.0) * 8 * static_cast<double>(ports.size());
  return bytes * 8e3 / static_cast<double>(longer - run(of, ports, 8, placement).end);
}

}  // namespace

TEST_CASE("queue pairs on two ports have twice a port's rate, on one of them once, on many what PCIe carries") {
  CHECK(rate(1, {0, 0}) == Approx(kPortRate * kFrame).epsilon(0.01));
  CHECK(rate(2, {1, 1}) == Approx(kPortRate * kFrame).epsilon(0.01));
  CHECK(rate(2, {0, 1}) == Approx(2 * kPortRate * kFrame).epsilon(0.01));
  CHECK(rate(6, {0, 1, 2, 3, 4, 5}) == Approx(std::min(6 * kPortRate * kFrame, kPcie)).epsilon(0.01));
}

TEST_CASE("a queue pair's packets leave by its port, where they are placed as they come by all") {
  const Result bound = run(2, {1}, 1);
  CHECK(bound.packets[0] == 0);
  CHECK(bound.packets[1] == 255);
  const Result any = run(2, {1}, 1, nic::Placement::out_of_order);
  CHECK(any.packets[0] + any.packets[1] == 255);
  CHECK(any.packets[0] >= 127);
  CHECK(any.packets[1] >= 127);
  CHECK(rate(2, {0}, nic::Placement::out_of_order) == Approx(2 * kPortRate * kPlaced).epsilon(0.01));
}

TEST_CASE("ports of one NIC share its order of posted writes, and a NIC has no ports but its own") {
  const nic::HostConfig host{.ports = 2};
  const std::array<std::uint32_t, 2> one_nic = {0, 0};
  CHECK(outcomes_on(host, one_nic, nic::RegionKind{}, Flush::none, std::array<std::uint8_t, 2>{0, 1}) == kOrdered);
  nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 2};
  nic::System system(config);
  const nic::CqId cq = system.create_cq(1, 1);
  CHECK_THROWS_WITH(system.create_qp(1, {.send_cq = cq, .port = 1}), "NIC 0 of host 1 has no port 1: it has 1");
}

}  // namespace nic_ports
