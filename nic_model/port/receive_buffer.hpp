// The receive buffer of a NIC: payload that has come by its link and waits for PCIe.
//
// ConnectX NICs have such a buffer a port, and thresholds in it at which they pause the link and let it go on (NVIDIA,
// "HowTo Tune Receive Buffers on Mellanox Adapter Cards"; Linux, mlx5/core/en/port_buffer.c: xoff leaves room for what
// may still come, xon is a largest packet below). Full, the NIC pauses its link (IEEE 802.1Qbb; the credits of
// InfiniBand come to the same), so that its peer or the switch holds what comes next, and nothing is lost. With
// fabric.flow_control: drop_tail nobody can be paused: what does not fit is dropped, and counted. What a NIC sends to
// itself waits in its send queue while the buffer is full.
//
// Packets are counted, in cells of nic.receive_cell that hold their headers, too (without: bytes of payload), from when
// their write is posted until memory has them; so those that are on PCIe are among them. There is no buffer on the
// ideal network, nor in the flow model, whose packets are messages. It delays, it orders nothing. Private to
// nic_model/.
#pragma once

#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/port/port.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

class ReceiveBuffer {
 public:
  /// It has no limit.
  ReceiveBuffer() = default;
  /// Of so many bytes, `headroom` of them for what comes after a pause has been asked for; packets have `packet` bytes
  /// at most. Precondition: size > 0.
  ReceiveBuffer(std::uint64_t size, std::uint64_t headroom, std::uint64_t packet);

  [[nodiscard]] bool limited() const { return xoff_ != 0; }
  [[nodiscard]] bool full() const { return full_; }  ///< the link is paused
  [[nodiscard]] std::uint64_t used() const { return used_; }

  /// So many bytes more wait; true when the link is to be paused, if it can be.
  bool hold(std::uint64_t bytes);
  /// So many do not wait any more; true when the link may go on.
  bool release(std::uint64_t bytes);
  void set_full(bool full) { full_ = full; }
  /// A queue pair has something to send to this NIC itself, and it is full.
  void wait(const PortWaiter& waiter) { own_.push_back(waiter); }
  void wake_all(Engine& engine);

  /// Throws sim::BrokenInvariant.
  void check(NodeId node, std::uint64_t size, sim::SimTime now) const;
  bool operator==(const ReceiveBuffer&) const = default;

 private:
  std::uint64_t used_ = 0;  // bytes of payload
  std::uint64_t xoff_ = 0;  // above this the link is paused; 0: there is no limit
  std::uint64_t xon_ = 0;   // and from here on it goes on
  bool full_ = false;
  sim::Ring<PortWaiter> own_{};
};

/// The receive buffers of all NICs.
[[nodiscard]] std::vector<ReceiveBuffer> make_receive_buffers(const Kernel& kernel, const fabric::Network& network);
/// Is there room for a packet that has just come? If not, it is counted as dropped: nobody will see it.
[[nodiscard]] bool admit_received(Engine& engine, const fabric::Packet& packet);
/// Payload waits for PCIe from now on.
void hold_received(Engine& engine, PortId port, std::uint32_t bytes);
/// Memory has it.
void release_received(Engine& engine, PortId port, std::uint32_t bytes);
/// Does what a queue pair sends to its own NIC have to wait? It will be told when that is over.
[[nodiscard]] bool wait_for_own_buffer(Engine& engine, QpId qp, bool responder);

}  // namespace loco::nic
