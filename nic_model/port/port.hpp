// A NIC's port: which packets it sends, and when it may (docs/machine.md, "Fabric"; RoCE v2 annex A17.9 for CNPs).
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
  /// From when on a packet could be in the pipeline.
  [[nodiscard]] sim::SimTime pipeline_free(sim::SimTime now) const { return std::max(transmit_free_, now); }
  /// A packet enters the pipeline now, or once that is free; returns when. It takes `gap` there.
  sim::SimTime enter_pipeline(sim::SimTime now, sim::Duration gap) {
    const sim::SimTime enters = pipeline_free(now);
    transmit_free_ = enters + gap;
    busy_pipeline_ += gap;
    return enters;
  }
  /// True when it is the first that waits.
  bool wait(const PortWaiter& waiter) {
    waiters_.push_back(waiter);
    return waiters_.size() == 1;
  }
  /// Lets the queue pairs that have waited try again, in turn.
  void wake_all(Engine& engine);

  [[nodiscard]] sim::Duration busy_pipeline() const { return busy_pipeline_; }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(PortId port, sim::SimTime now) const;
  bool operator==(const Port&) const = default;

 private:
  sim::SimTime next_{};
  sim::SimTime transmit_free_{};
  sim::Duration busy_pipeline_{};
  sim::Ring<PortWaiter> waiters_{};
};

/// Gives a packet to the network: adds headers, counts, announces. Returns when the NIC can send the queue pair's next
/// one, which has `following` bytes of payload at most: a long one takes longer to the port than a short one in front
/// of it, and must not come late.
sim::SimTime send_packet(Engine& engine, fabric::Packet packet, std::uint32_t following = 0);
/// If the port is paused, or for what it sends to itself the NIC's receive buffer is full: has the queue pair's
/// requester, or its responder, wait for it in turn, and returns true. `next`: what it would send.
bool wait_for_port(Engine& engine, QpId id, bool responder, fabric::Opcode next);
/// A port is not paused any more.
void port_resumed(Engine& engine, PortId port);
/// Where whole messages are handed over: of this one the first packet is in the NIC at `there`, and could leave then
/// (fabric::Network::announce).
void announce_message(Engine& engine, fabric::Packet packet, sim::SimTime there);
/// The same: what the queue pair's requester or responder has announced and not sent will not be sent next. Its flow
/// stops.
void withdraw_message(Engine& engine, QpId id, bool responder);
/// Where a message comes all at once, with its last packet: how long ago its first one was there, at the rate of its
/// route. Zero for a single packet.
sim::Duration known_for(const Engine& engine, const fabric::Packet& packet);
/// The same: how many bytes of a message that has just come can have crossed PCIe already, while its last packets
/// were on their way, if PCIe had nothing else to carry.
std::uint32_t crossed_ahead(const Engine& engine, const fabric::Packet& packet);
/// How long a packet's payload is in the receiver's buffer: PCIe has it, and the CQE behind it, so much later.
[[nodiscard]] sim::Duration receive_buffer_time(const Engine& engine, const fabric::Packet& packet);
/// Has this one try again to send.
void wake(Engine& engine, const PortWaiter& waiter);
/// Gives back what the network has lost. Call after everything that may lose packets.
void release_lost(Engine& engine);

}  // namespace loco::nic
