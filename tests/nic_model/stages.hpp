// A profile whose stages have a cost of their own each (distinct primes), so that a stage counted twice or left out
// shows, and the sums of stages that tests expect: written down from docs/hardware.md, not from a run.
#pragma once

#include "pair.hpp"

namespace loco::test {

inline nic::HardwareProfile primes() {
  nic::HardwareProfile p;
  p.nic_word_order = nic::WordOrder::ascending;
  p.cpu_store_drain = 2_ns;
  p.pcie_rate = {64'000'000'000};  // 8 B/ns
  p.pcie_mps = 256_B;
  p.pcie_read_completion = 256_B;
  p.pcie_upstream = 31_ns;
  p.pcie_downstream = 37_ns;
  p.pcie_read_access = 41_ns;
  p.pcie_write_commit = 43_ns;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.nic_wqe_start = 53_ns;
  p.nic_transmit = 59_ns;
  p.nic_receive = 61_ns;
  p.nic_atomic_modify = 67_ns;
  p.nic_cqe = 71_ns;
  p.nic_inline_max = 220_B;
  p.nic_blueflame = true;
  p.link_ideal = false;
  p.link_rate = 16_Gbps;  // 2 B/ns
  p.link_delay = 73_ns;
  p.link_mtu = 1024_B;
  p.switch_latency = 79_ns;
  return p;
}

/// Time on the PCIe link, and on a network link, in picoseconds.
inline std::int64_t tlp(std::int64_t bytes) { return bytes * 125; }
inline std::int64_t wire(std::int64_t bytes) { return bytes * 500; }
inline constexpr std::int64_t ns(std::int64_t n) { return n * 1000; }

inline constexpr std::int64_t kUp = ns(31), kDown = ns(37), kAccess = ns(41), kCommit = ns(43), kDrain = ns(2);
inline constexpr std::int64_t kStart = ns(53), kTransmit = ns(59), kReceive = ns(61), kModify = ns(67), kCqe = ns(71);

/// A packet's way: NIC, link, and with a switch: cut-through of the first 64 bytes, switch, second link.
inline std::int64_t network(std::int64_t bytes, bool star) {
  return star ? kTransmit + wire(64) + ns(73) + ns(79) + wire(bytes) + ns(73) : kTransmit + wire(bytes) + ns(73);
}
/// A PCIe read: request of 24 bytes up, memory, completion of 20 bytes and the data down.
inline std::int64_t dma_read(std::int64_t bytes) { return tlp(24) + kUp + kAccess + tlp(bytes + 20) + kDown; }
/// A PCIe write until memory has it.
inline std::int64_t dma_write(std::int64_t bytes) { return tlp(bytes + 24) + kUp + kCommit; }
/// Store buffer, doorbell of 8 bytes, fetch of a 64-byte WQE, its start.
inline std::int64_t until_start() { return kDrain + tlp(8 + 24) + kDown + dma_read(64) + kStart; }

inline constexpr std::int64_t kWriteHeaders = 82 + 16, kReadHeaders = 82 + 16, kAckBytes = 82 + 4,
                              kAtomicHeaders = 82 + 28;
inline constexpr std::uint64_t kAligned = 192;  // memory begins at 64: TLPs split at multiples of 256 bytes
inline constexpr std::int64_t kReadResponse = 82 + 4, kAtomicResponse = 82 + 4 + 8;

}  // namespace loco::test
