// The receive buffer of a NIC (nic_model/port/receive_buffer.hpp): what a slow PCIe link makes of a fast port.
//
// What is sent lies in memory on the sending NIC, so that only the receiver's PCIe counts. A link that carries R bits a
// second of TLPs writes payload at R * MPS / (MPS + 24) of them (pcie-bench), the port brings L * M / (M + 82) at an
// MTU of M: memory is filled at the lesser of the two.
#include <cmath>

#include "fabric/packet_network.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

namespace {

constexpr std::uint32_t kMessage = 256U << 10U;
constexpr std::size_t kMessages = 10;

struct Slow {
  double pcie_gbps = 10;
  std::uint64_t mps = 256;
  std::uint64_t mtu = 1024;
  fabric::FlowControl flow_control = fabric::FlowControl::unlimited;
  fabric::Topology topology = fabric::Topology::back_to_back;
  nic::WordOrder word_order = nic::WordOrder::ascending;
};

nic::HardwareProfile slow_profile(const Slow& slow) {
  nic::HardwareProfile profile = real();
  profile.pcie_generation = 0;
  profile.pcie_rate = {static_cast<std::uint64_t>(slow.pcie_gbps * 1e9)};
  profile.pcie_mps = {slow.mps};
  profile.link_mtu = {slow.mtu};
  profile.nic_device_memory = {};
  profile.nic_ack_timeout = 1_ms;
  profile.nic_word_order = slow.word_order;
  return profile;
}

PairOptions slow_options(const Slow& slow) {
  PairOptions options;
  options.topology = slow.topology;
  options.size = 3 * kMessage;
  options.network.options.flow_control = slow.flow_control;
  return options;
}

/// The part of the buffer that is payload: packets fill cells of 128 bytes, with 82 of headers.
double payload_part(std::uint64_t mtu) {
  return static_cast<double>(mtu) / static_cast<double>((mtu + 82 + 127) / 128 * 128);
}

/// Where a region has an address at which a TLP of any MPS begins.
std::uint64_t aligned(const nic::MemoryRegion& region) { return (512 - region.base % 512) % 512; }

/// Two hosts, each with a region in memory on its NIC besides that of Pair.
struct SlowPair : Pair {
  explicit SlowPair(const Slow& slow, const PairOptions& options) : Pair(slow_profile(slow), options) {
    for (nic::NodeId node = 0; node < 2; ++node) {
      device[node] =
          system.register_memory(node, system.allocate(node, kMessage), kMessage, nic::kAllAccess, {.device = true});
    }
  }
  explicit SlowPair(const Slow& slow) : SlowPair(slow, slow_options(slow)) {}

  /// From the memory of this host's NIC.
  [[nodiscard]] nic::Wqe push() const {
    nic::Wqe wqe = write(0, aligned(region[1]), kMessage);
    wqe.lkey = device[0].lkey;
    wqe.local = device[0].base;
    return wqe;
  }
  /// From the memory of the other NIC.
  [[nodiscard]] nic::Wqe pull() const {
    nic::Wqe wqe = read(aligned(region[0]), 0, kMessage);
    wqe.rkey = device[1].rkey;
    wqe.remote = device[1].base;
    return wqe;
  }

  std::array<nic::MemoryRegion, 2> device{};
};

double pcie_goodput(const Slow& slow) {
  const auto mps = static_cast<double>(slow.mps);
  return slow.pcie_gbps * mps / (mps + 24);
}

double port_goodput(const Slow& slow) {
  const auto mtu = static_cast<double>(slow.mtu);
  return 25 * mtu / (mtu + 82);
}

/// Gb/s of kMessages that were over at `end`.
double goodput(sim::SimTime end) {
  return 8.0 * static_cast<double>(kMessage) * kMessages / static_cast<double>(end.ps) * 1e3;
}

/// When the last byte was written to memory.
sim::SimTime last_byte(const Pair& pair) {
  sim::SimTime last;
  for (const nic::SubeventFinish& f : pair.recorder.finishes) last = std::max(last, f.at);
  return last;
}

}  // namespace

TEST_CASE("memory is filled at the lesser of the port's rate and that of PCIe") {
  unsigned turn = 0;
  for (const auto topology : {fabric::Topology::back_to_back, fabric::Topology::star}) {
    for (const auto flow_control : {fabric::FlowControl::unlimited, fabric::FlowControl::pfc}) {
      for (const std::uint64_t mps : {128U, 256U, 512U}) {
        for (const auto& [gbps, mtu] : {std::pair{3.0, 1024U}, std::pair{12.5, 4096U}, std::pair{60.0, 1024U}}) {
          if (turn++ % kShare != 0) continue;
          INFO("MPS " << mps << ", PCIe " << gbps << " Gb/s, MTU " << mtu);
          const Slow slow{gbps, mps, mtu, flow_control, topology};
          SlowPair pair(slow);
          pair.post(std::vector<nic::Wqe>(kMessages, pair.push()));
          pair.run();
          CHECK(pair.statuses(0) == std::vector<Status>(kMessages, Status::success));
          const double expected = std::min(pcie_goodput(slow), port_goodput(slow));
          CHECK(goodput(last_byte(pair)) <= expected);
          CHECK(goodput(last_byte(pair)) > 0.99 * expected);
          const nic::Counters& counters = pair.system.counters();
          CHECK(counters.packets_lost + counters.rx_discards + counters.timeouts == 0);
          CHECK((counters.tx_pauses > 0) == (pcie_goodput(slow) < port_goodput(slow)));
        }
      }
    }
  }
}

TEST_CASE("a packet that is written in any order leaves no part of its cells behind") {
  // A packet of 1024 bytes fills 9 cells of 128, 1152 bytes; a message is 256 of them. If the 128 that are no payload
  // stayed, 10 messages would leave 327'680 in a buffer of 262'016, and the port would be paused for ever.
  SlowPair pair({.flow_control = fabric::FlowControl::pfc, .word_order = nic::WordOrder::any});
  const bool reads = GENERATE(false, true);
  pair.post(std::vector<nic::Wqe>(kMessages, reads ? pair.pull() : pair.push()));
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(kMessages, Status::success));
  CHECK(pair.system.counters().timeouts == 0);
}

TEST_CASE("the data of READs and of SENDs waits for PCIe as that of WRITEs does") {
  for (const bool reads : {false, true}) {
    const Slow slow{.pcie_gbps = 6};
    SlowPair pair(slow);
    if (!reads) {
      for (std::size_t i = 0; i < kMessages; ++i) REQUIRE(pair.receive(i, aligned(pair.region[1]), kMessage));
    }
    nic::Wqe wqe = reads ? pair.pull() : pair.push();
    if (!reads) wqe.opcode = nic::Opcode::send;
    pair.post(std::vector<nic::Wqe>(kMessages, wqe));
    pair.run();
    CHECK(pair.statuses(0) == std::vector<Status>(kMessages, Status::success));
    CHECK(goodput(last_byte(pair)) <= pcie_goodput(slow));
    CHECK(goodput(last_byte(pair)) > 0.99 * pcie_goodput(slow));
    CHECK(pair.system.counters().tx_pauses > 0);
  }
}

TEST_CASE("an ACK is ahead of its data by what the buffer holds at most") {
  for (const std::uint64_t size : {64U << 10U, 256U << 10U, 1U << 20U}) {
    const Slow slow{.pcie_gbps = 6};
    nic::HardwareProfile profile = slow_profile(slow);
    profile.nic_receive_buffer = {size};
    Pair pair(profile, slow_options(slow));
    const auto device =
        pair.system.register_memory(0, pair.system.allocate(0, kMessage), kMessage, nic::kAllAccess, {.device = true});
    nic::Wqe wqe = pair.write(0, aligned(pair.region[1]), kMessage);
    wqe.lkey = device.lkey;
    wqe.local = device.base;
    pair.post(std::vector<nic::Wqe>(kMessages, wqe));
    pair.run();
    // What is full is written in size / rate; the sender's CQE itself takes less than 2 us.
    const double lead = static_cast<double>((last_byte(pair) - pair.recorder.cqes.back().at).ps) * 1e-3;
    const double full = static_cast<double>(size) * payload_part(slow.mtu) * 8 / pcie_goodput(slow);
    CHECK(lead <= full);
    CHECK(lead > full - 10'000);  // of the headroom, 3 packets and more, and the CQE
  }
}

TEST_CASE("the first pause comes when the buffer has filled by what PCIe takes less than the port brings") {
  const Slow slow{.pcie_gbps = 10, .mtu = 4096};
  SlowPair pair(slow);
  pair.post(std::vector<nic::Wqe>(kMessages, pair.push()));
  sim::SimTime first_packet;
  while (pair.system.counters().tx_pauses == 0 && pair.step()) {
    if (first_packet.ps == 0 && pair.system.counters().tlps_up > 1) first_packet = pair.system.now();
  }
  // xoff: the buffer less the headroom (docs/fabric.md): 2 * 10 ns of link, 3 largest packets, a pause frame.
  const double packet_max = 4096 + 82 + 28;
  const double xoff = 262'016 - (2 * 10e-9 * 25e9 / 8 + 3 * packet_max + 84);
  const double seconds = xoff * payload_part(slow.mtu) * 8 / ((port_goodput(slow) - pcie_goodput(slow)) * 1e9);
  const double measured = static_cast<double>((pair.system.now() - first_packet).ps) * 1e-12;
  CHECK(std::abs(measured / seconds - 1) < 0.02);  // a packet is 1.6 % of the buffer
}

TEST_CASE("with drop_tail a full buffer drops, and what is dropped is sent again") {
  const Slow slow{.pcie_gbps = 10, .flow_control = fabric::FlowControl::drop_tail};
  SlowPair pair(slow);
  const auto content = pair.fill(0, 0, kMessage, 7);
  std::vector<nic::Wqe> wqes(4, pair.push());
  wqes.push_back(pair.write(0, kMessage, kMessage));
  pair.post(wqes);
  pair.run();
  CHECK(pair.statuses(0) == std::vector<Status>(5, Status::success));
  CHECK((pair.bytes(1, kMessage, kMessage) == content));
  const nic::Counters& counters = pair.system.counters();
  CHECK(counters.rx_discards > 0);
  CHECK(counters.tx_pauses == 0);
  CHECK(counters.packets_sent == pair.system.network().packet_network()->packets_delivered() + counters.packets_lost);
  CHECK(goodput(last_byte(pair)) * 5 / kMessages <= pcie_goodput(slow));
}

TEST_CASE("what a NIC sends to itself waits for its own PCIe") {
  const Slow slow{.pcie_gbps = 6};
  nic::System system({.profile = slow_profile(slow), .topology = fabric::Topology::star, .nodes = 2, .witness = true});
  const auto source =
      system.register_memory(0, system.allocate(0, kMessage), kMessage, nic::kAllAccess, {.device = true});
  const auto target = system.register_memory(0, system.allocate(0, 2 * kMessage), 2 * kMessage);
  const nic::CqId cq = system.create_cq(0, 256);
  const nic::QpId qp = system.create_qp(0, cq, 64);
  system.connect(qp, system.create_qp(0, cq, 64));
  Scripts scripts;
  scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    const std::vector<nic::Wqe> wqes(kMessages, {.opcode = nic::Opcode::rdma_write,
                                                 .length = kMessage,
                                                 .lkey = source.lkey,
                                                 .rkey = target.rkey,
                                                 .local = source.base,
                                                 .remote = target.base + aligned(target)});
    CHECK(cpu.post_send(qp, wqes) == nic::PostResult::ok);
    cpu.stop();
  });
  system.create_thread(0);
  Recorder recorder;
  nic::Context context{scripts, &recorder};
  while (system.step(context)) {
  }
  REQUIRE(recorder.cqes.size() == kMessages);
  CHECK(recorder.cqes.back().cqe.status == Status::success);
  const double lead = static_cast<double>((system.now() - recorder.cqes.back().at).ps) * 1e-3;
  CHECK(lead <= 262'016 * 8 / pcie_goodput(slow));
  CHECK(goodput(system.now()) <= pcie_goodput(slow));
  CHECK(goodput(system.now()) > 0.99 * pcie_goodput(slow));
}

TEST_CASE("datagrams that find no receive request are counted") {
  Pair pair(real(), {.type = nic::QpType::ud});
  nic::Wqe wqe = pair.send(0, 64);
  wqe.remote_qp = pair.qp[1];
  wqe.remote_qkey = 17;
  REQUIRE(pair.receive(0, 4'096, 512));
  pair.post(std::vector<nic::Wqe>(3, wqe));
  pair.run();
  CHECK(pair.statuses(1) == std::vector{Status::success});
  CHECK(pair.system.counters().out_of_buffer == 2);
}

TEST_CASE(
    "the receive buffer counts cells, which headers fill, too: small packets do not wait in it by the ten thousand") {
  // An IOMMU that walks one table in 400 ns holds back WRITEs of 8 B all over a region. Each takes a cell of 128 B, so
  // that 64 KiB hold 512 of them at most: completions are ahead of memory by as many.
  nic::HardwareProfile profile = real();
  profile.pcie_iommu = true;
  profile.pcie_iommu_window = 4_KiB;
  profile.pcie_iommu_penalty = 400_ns;
  profile.pcie_iommu_walks = 1;
  profile.nic_receive_buffer = 64_KiB;
  for (const std::uint64_t cell : {128U, 256U}) {
    profile.nic_receive_cell = {cell};
    PairOptions options;
    options.size = 8U << 20U;
    Pair pair(profile, options);
    constexpr std::uint64_t kCount = 1000;
    std::vector<nic::Wqe> wqes;
    for (std::uint64_t i = 0; i < kCount; ++i) wqes.push_back(pair.write(0, i * 8192 % options.size, 8));
    pair.post(wqes);
    pair.run();
    const sim::SimTime last = pair.recorder.cqes.back().at;
    const std::uint64_t waiting = (64U << 10U) / cell;
    // What has been committed when the last completion comes has taken 400 ns each.
    CHECK(last - sim::SimTime{} > 400_ns * static_cast<std::int64_t>(kCount - waiting));
    CHECK(pair.system.counters().tx_pauses > 0);
  }
}
