// Devices that a NIC reaches by peer-to-peer PCIe (PCIe base specification, 1.3 and 2.4): GPUs, whose memory is behind
// their own link.
//
// The way from a NIC to a GPU is a list of links: through a switch that both are behind, else up to the root complex
// and down again. A GPU's link carries one TLP after the other each way; through the root complex at most
// pcie.peer_write and pcie.peer_read. All this delays. What orders is apart: a GPU's memory is a memory of its own,
// with an order of posted writes of its own for each ordering domain (posted_domain.hpp), since TLPs to it and to the
// host part at a switch or at the root complex. Private to nic_model/.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// A GPU's PCIe link.
class PeerDevice {
 public:
  PeerDevice(NodeId host, const GpuConfig& config) : host_(host), switch_(config.pcie_switch), rate_(config.rate) {}

  [[nodiscard]] NodeId host() const { return host_; }
  [[nodiscard]] std::uint32_t pcie_switch() const { return switch_; }
  [[nodiscard]] sim::BitsPerSecond rate() const { return rate_; }

  /// A TLP that could be in its memory at `due`: when it is, behind those before it, each of which takes its time.
  sim::SimTime take(sim::SimTime due, sim::Duration taken) {
    const sim::SimTime at = std::max(due, in_free_);
    in_free_ = at + taken;
    busy_in_ += taken;
    return at;
  }
  /// Data that could leave its memory from `now` on: when its link has carried it.
  sim::SimTime send(sim::SimTime now, sim::Duration taken) {
    out_free_ = std::max(now, out_free_) + taken;
    busy_out_ += taken;
    return out_free_;
  }
  [[nodiscard]] sim::Duration busy_in() const { return busy_in_; }
  [[nodiscard]] sim::Duration busy_out() const { return busy_out_; }

  bool operator==(const PeerDevice&) const = default;

 private:
  NodeId host_;
  std::uint32_t switch_;
  sim::BitsPerSecond rate_;
  sim::SimTime in_free_{};
  sim::SimTime out_free_{};
  sim::Duration busy_in_{};
  sim::Duration busy_out_{};
};

/// The GPU whose memory a region is in; null: none's.
[[nodiscard]] PeerDevice* find_peer(Engine& engine, std::uint32_t key);
[[nodiscard]] inline PeerDevice* peer_of(Engine& engine, std::uint32_t key) {
  return engine.peers.empty() ? nullptr : find_peer(engine, key);
}
/// What a request to a GPU takes longer, from the NIC until memory is reached, than one to the host's memory; and what
/// its data takes longer on the way back.
struct PeerWay {
  sim::Duration there{};
  sim::Duration back{};
};
[[nodiscard]] PeerWay peer_way(const Engine& engine, NicId nic, const PeerDevice& gpu);
/// How long a GPU's link is busy with so many bytes that a NIC writes there, or reads there.
[[nodiscard]] sim::Duration peer_write_time(const Engine& engine, NicId nic, const PeerDevice& gpu,
                                            std::uint64_t bytes);
[[nodiscard]] sim::Duration peer_read_time(const Engine& engine, NicId nic, const PeerDevice& gpu, std::uint64_t bytes);

}  // namespace loco::nic
