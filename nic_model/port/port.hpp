// A NIC's port: which packets it sends, and when (docs/machine.md, "Fabric"; RoCE v2 annex A17.9 for CNPs).
//
// A queue pair is bound to a port (verbs' port_num). Where its packets are placed as they come, each goes by the port
// of its NIC that is free first, to the peer's port of the same number. Order: packets go to the network in the order
// of the calls. A paused port keeps a queue of the queue pairs that want to send. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// A queue pair with something to send while its NIC's port is paused.
struct PortWaiter {
  QpId qp = 0;
  bool responder = false;

  bool operator==(const PortWaiter&) const = default;
};

/// The state of a NIC's port: the queue pairs that wait for it, when it takes the next packet; and of a NIC's first
/// port the packet pipeline that all its ports share (nic.packet_gap).
class Port {
 public:
  /// When it takes another packet without making that wait.
  [[nodiscard]] sim::SimTime next() const { return next_; }
  void set_next(sim::SimTime at) { next_ = at; }
  /// When the pipeline can take the next packet.
  [[nodiscard]] sim::SimTime pipeline_free(sim::SimTime now) const { return std::max(transmit_free_, now); }
  /// A packet enters the pipeline now, or once it is free, and occupies it for `gap`. Returns when it enters.
  sim::SimTime enter_pipeline(sim::SimTime now, sim::Duration gap) {
    const sim::SimTime enters = pipeline_free(now);
    transmit_free_ = enters + gap;
    busy_pipeline_ += gap;
    return enters;
  }
  /// Returns true if no other queue pair waits.
  bool wait(const PortWaiter& waiter) {
    waiters_.push_back(waiter);
    return waiters_.size() == 1;
  }
  /// Lets the waiting queue pairs try again, in turn.
  void wake_all(Engine& engine);

  [[nodiscard]] sim::Duration busy_pipeline() const { return busy_pipeline_; }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant when an invariant does not hold.
  void check(PortId port, sim::SimTime now) const;
  bool operator==(const Port&) const = default;

 private:
  sim::SimTime next_{};
  sim::SimTime transmit_free_{};
  sim::Duration busy_pipeline_{};
  sim::Ring<PortWaiter> waiters_{};
};

/// Gives a packet to the network: adds headers, counts and announces it. Returns when the NIC can send the queue pair's
/// next packet, with at most `following` bytes of payload. That may be before this one has left: a long packet takes
/// longer to reach the port than a short one before it and must not arrive late.
sim::SimTime send_packet(Engine& engine, fabric::Packet packet, std::uint32_t following = 0);
/// True if the port is paused, or, for packets that the NIC sends to itself, its receive buffer is full. The queue
/// pair's requester or responder, which would send `next`, then waits for its turn.
bool wait_for_port(Engine& engine, QpId id, bool responder, fabric::Opcode next);
/// A port is not paused any more.
void port_resumed(Engine& engine, PortId port);
/// In the flow model, which sends whole messages: the first packet of this one is in the NIC at `there` and could leave
/// then (fabric::Network::announce).
void announce_message(Engine& engine, fabric::Packet packet, sim::SimTime there);
/// In the flow model: what the queue pair's requester or responder has announced and not sent will not be sent next.
/// Its flow stops.
void withdraw_message(Engine& engine, QpId id, bool responder);
/// In the flow model a message arrives as a whole, together with its last packet. Returns how long before that its
/// first packet arrived, at the rate of its route; zero for a single packet.
sim::Duration known_for(const Engine& engine, const fabric::Packet& packet);
/// In the flow model: how many bytes of a message that has just arrived can have crossed PCIe already while its last
/// packets were on their way, if PCIe had nothing else to carry.
std::uint32_t crossed_ahead(const Engine& engine, const fabric::Packet& packet);
/// How long a packet's payload stays in the receiver's buffer, which delays its PCIe writes and the CQE after them.
[[nodiscard]] sim::Duration receive_buffer_time(const Engine& engine, const fabric::Packet& packet);
/// Has this queue pair try to send again.
void wake(Engine& engine, const PortWaiter& waiter);
/// Releases the buffers of packets that the network has lost. To call after everything that may lose packets.
void release_lost(Engine& engine);

}  // namespace loco::nic
