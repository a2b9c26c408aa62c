// The receive buffer of a NIC: payload that has arrived on its link and waits for PCIe.
//
// ConnectX NICs have such a buffer for each port, with thresholds at which they pause and resume the link (NVIDIA,
// "HowTo Tune Receive Buffers on Mellanox Adapter Cards"; Linux, mlx5/core/en/port_buffer.c: xoff leaves room for what
// may still arrive, xon is one packet of the greatest size below it). When the buffer is full, the NIC pauses its link
// (IEEE 802.1Qbb; InfiniBand's credits have the same effect), so its peer or the switch holds the packets and nothing
// is lost. With fabric.flow_control: drop_tail nothing can be paused, so packets that do not fit are dropped and
// counted. Packets that a NIC sends to itself wait in the send queue while the buffer is full.
//
// A packet counts from when its write is posted until memory has it, so packets crossing PCIe are included. It counts
// in cells of nic.receive_cell, including its headers, or, without that key, in bytes of payload. The ideal network and
// the flow model, whose packets are messages, have no receive buffer. The buffer delays packets and never reorders
// them. Private to nic_model/.
#pragma once

#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/port/port.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

class ReceiveBuffer {
 public:
  /// Without a limit.
  ReceiveBuffer() = default;
  /// With `size` bytes, of which `headroom` are for what arrives after a pause was requested; a packet has at most
  /// `packet` bytes. Precondition: size > 0.
  ReceiveBuffer(std::uint64_t size, std::uint64_t headroom, std::uint64_t packet);

  [[nodiscard]] bool limited() const { return xoff_ != 0; }
  [[nodiscard]] bool full() const { return full_; }  ///< the link is paused
  [[nodiscard]] std::uint64_t used() const { return used_; }

  /// Adds this many bytes. Returns true if the link should be paused.
  bool hold(std::uint64_t bytes);
  /// Removes this many bytes. Returns true if the link may resume.
  bool release(std::uint64_t bytes);
  void set_full(bool full) { full_ = full; }
  /// A queue pair has something to send to its own NIC, whose buffer is full.
  void wait(const PortWaiter& waiter) { own_.push_back(waiter); }
  void wake_all(Engine& engine);

  /// Throws sim::BrokenInvariant when an invariant does not hold.
  void check(PortId port, std::uint64_t size, sim::SimTime now) const;
  bool operator==(const ReceiveBuffer&) const = default;

 private:
  std::uint64_t used_ = 0;  // payload, or cells
  std::uint64_t xoff_ = 0;  // the link is paused above this; 0: no limit
  std::uint64_t xon_ = 0;   // and resumed from here on
  bool full_ = false;
  sim::Ring<PortWaiter> own_{};
};

/// The receive buffers of all NICs.
[[nodiscard]] sim::IdVector<PortId, ReceiveBuffer> make_receive_buffers(const Kernel& kernel,
                                                                        const fabric::Network& network);
/// True if the buffer has room for a packet that has just arrived. If not, the packet is counted as dropped.
[[nodiscard]] bool admit_received(Engine& engine, const fabric::Packet& packet);
/// These bytes of payload now wait for PCIe.
void hold_received(Engine& engine, PortId port, std::uint32_t bytes);
/// These bytes have reached memory.
void release_received(Engine& engine, PortId port, std::uint32_t bytes);
/// True if what a queue pair sends to its own NIC must wait. It will be woken.
[[nodiscard]] bool wait_for_own_buffer(Engine& engine, QpId qp, bool responder);

}  // namespace loco::nic
