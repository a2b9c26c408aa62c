// Closed forms: what operations take on an unloaded simulated machine, as sums of its stages. Written from the
// docs/hardware.md (what happens after what), not from what the simulator prints; docs/barrier-latency.md derives them.
#pragma once

#include <cstdint>

#include "nic_model/profile.hpp"

namespace loco::test {

using sim::Bytes;
using sim::Duration;

/// A profile with round and mutually distinct costs, a star network, 25 Gb/s links.
inline nic::HardwareProfile round_profile() {
  using namespace sim::literals;
  nic::HardwareProfile p;
  p.cpu_load = 1_ns;
  p.cpu_store = 2_ns;
  p.cpu_fence = 10_ns;
  p.cpu_atomic = 7_ns;
  p.cpu_post_wqe = 40_ns;
  p.cpu_doorbell = 30_ns;
  p.cpu_poll_empty = 5_ns;
  p.cpu_poll_cqe = 20_ns;
  p.cpu_store_drain = 3_ns;
  p.pcie_rate = {57'880'000'000};
  p.pcie_mps = {256};
  p.pcie_read_completion = {64};
  p.pcie_upstream = 110_ns;
  p.pcie_downstream = 130_ns;
  p.pcie_read_access = 150_ns;
  p.pcie_write_commit = 60_ns;
  p.nic_wqe_start = 17_ns;
  p.nic_transmit = 25_ns;
  p.nic_receive = 35_ns;
  p.nic_cqe = 13_ns;
  p.nic_max_rd_atomic = 16;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.link_ideal = false;
  p.link_rate = 25_Gbps;
  p.link_delay = 50_ns;
  p.link_mtu = {1024};
  p.switch_latency = 270_ns;
  return p;
}

/// The stages of one-sided operations of 8 bytes between two hosts of a star.
struct Stages {
  nic::HardwareProfile p;

  static constexpr Bytes kReth{16};  ///< extension headers: of a WRITE or READ request
  static constexpr Bytes kAeth{4};   ///< of an ACK or READ response
  static constexpr Bytes kWord{8};
  static constexpr Bytes kCutThrough{64};  ///< a switch forwards once it has the headers

  [[nodiscard]] Duration pcie(Bytes bytes) const { return sim::transmission_time(bytes, p.pcie_rate); }
  [[nodiscard]] Duration link(Bytes bytes) const { return sim::transmission_time(bytes, p.link_rate); }

  /// From the store of the doorbell until the NIC has it: out of the store buffer, over the link.
  [[nodiscard]] Duration doorbell() const {
    return p.cpu_store_drain + pcie(p.pcie_write_header + kWord) + p.pcie_downstream;
  }
  /// A PCIe read until memory is sampled, and the data's way back.
  [[nodiscard]] Duration read_request() const {
    return pcie(p.pcie_read_header) + p.pcie_upstream + p.pcie_read_access;
  }
  [[nodiscard]] Duration read_data(Bytes bytes) const {
    return pcie(p.pcie_completion_header + bytes) + p.pcie_downstream;
  }
  /// A PCIe write until memory has it.
  [[nodiscard]] Duration write(Bytes bytes) const {
    return pcie(p.pcie_write_header + bytes) + p.pcie_upstream + p.pcie_write_commit;
  }
  /// A packet from one NIC's transmit stage to the other's receive stage, both included.
  [[nodiscard]] Duration packet(Bytes headers, Bytes payload) const {
    const Bytes wire = p.link_overhead + headers + payload;
    return p.nic_transmit + link(kCutThrough) + p.link_delay + p.switch_latency + link(wire) + p.link_delay +
           p.nic_receive;
  }
  /// From the doorbell until the work request may start.
  [[nodiscard]] Duration launch() const {
    return doorbell() + read_request() + read_data(p.nic_wqe_bytes) + p.nic_wqe_start;
  }
  /// A put, from its doorbell until the remote memory has it.
  [[nodiscard]] Duration put_committed() const {
    return launch() + read_request() + read_data(kWord) + packet(kReth, kWord) + write(kWord);
  }
  /// A put, from its doorbell until its CQE is visible.
  [[nodiscard]] Duration put_completed() const {
    return launch() + read_request() + read_data(kWord) + packet(kReth, kWord) + packet(kAeth, {}) + p.nic_cqe +
           write(p.nic_cqe_bytes);
  }
  /// A get, from its doorbell until its CQE is visible: the CQE goes right behind the data.
  [[nodiscard]] Duration get_completed() const {
    return launch() + packet(kReth, {}) + read_request() + read_data(kWord) + packet(kAeth, kWord) +
           pcie(p.pcie_write_header + kWord) + p.nic_cqe + write(p.nic_cqe_bytes);
  }
  /// From the CQE until the polling thread has cleared the bit of the ack key: it takes the CQE, then clears. On the
  /// way it is in the middle of a turn of its loop (a poll and a look at its stop flag), on average half of one.
  [[nodiscard]] Duration acknowledged() const {
    return Duration{(p.cpu_poll_empty + p.cpu_load).ps / 2} + p.cpu_poll_cqe;
  }

  /// A message of one word that is not inline, from its doorbell until its receive CQE is visible, right behind the
  /// data.
  [[nodiscard]] Duration message_arrived() const {
    return launch() + read_request() + read_data(kWord) + packet({}, kWord) + pcie(p.pcie_write_header + kWord) +
           p.nic_cqe + write(p.nic_cqe_bytes);
  }
  /// A round of a barrier over messages, in which every rank sends one and waits for one, from one send to the next.
  [[nodiscard]] Duration message_round(Duration library) const {
    // Store the word, build the work request, ring.
    const Duration send = p.cpu_store + p.cpu_post_wqe;
    // On average half of an empty poll too late; take the CQE, read the word, find the request (two looks), the
    // library's own work, post the receive again (two stores and the doorbell record).
    const Duration receive =
        Duration{p.cpu_poll_empty.ps / 2} + p.cpu_poll_cqe + p.cpu_load * 3 + library + p.cpu_store * 3;
    return send + message_arrived() + receive;
  }

  /// One thread's barrier among n nodes that all come at once, from one return to the next: docs/barrier-latency.md.
  [[nodiscard]] Duration barrier(std::int64_t n) const {
    // The fence: mark each get in the ack key (one atomic; the first also recycles the key's word: one more, and a
    // look, as have the later ones), post it; wait for the last one.
    const Duration gets = (p.cpu_load + p.cpu_atomic + p.cpu_post_wqe + p.cpu_doorbell) * (n - 1) + p.cpu_atomic;
    const Duration fence = gets - p.cpu_doorbell + get_completed() + acknowledged() + p.cpu_load * 3;
    // Store the counter, push it to the others one after the other; the last one's has the longest way.
    const Duration push = p.cpu_store + (p.cpu_post_wqe + p.cpu_doorbell) * (n - 1) - p.cpu_doorbell + put_committed();
    // Look at all counters.
    return fence + push + p.cpu_load * n;
  }
};

}  // namespace loco::test
