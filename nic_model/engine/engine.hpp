// One step of the machine in the making: the state, who watches, and what every component needs from both.
//
// The components (cpu, pcie, requester, responder) are functions on an Engine. Private to nic_model/.
#pragma once

#include <algorithm>
#include <span>

#include "nic_model/state.hpp"

namespace loco::nic {

/// The time of a pending event that nobody knows yet: another event, pending too, will say it. When any pending event
/// may be next, so may this one.
inline constexpr sim::SimTime kNoTimeYet = sim::SimTime::max();

class Engine {
 public:
  Engine(State& s, Context* c) : state(s), context(c) {}

  State& state;
  Context* context;  // null while setting up

  [[nodiscard]] const HardwareProfile& profile() const { return state.config.profile; }
  [[nodiscard]] bool fault(Fault f) const { return state.config.profile.faults.has(f); }
  [[nodiscard]] sim::SimTime now() const { return state.now; }
  [[nodiscard]] bool witness() const { return state.config.witness; }
  [[nodiscard]] Observer* observer() const { return context == nullptr ? nullptr : context->observer; }

  sim::EventHandle schedule(EventKind what, std::uint32_t where, std::uint64_t a, sim::SimTime at) {
    return state.events.push({.at = at < state.now ? state.now : at, .what = what, .where = where, .a = a});
  }

  /// Gives an id and an order stamp to a subevent and announces it, as of now or of the later instant that it names.
  /// With the witness off: 0, and nothing happens.
  SubeventId begin(Subevent subevent);
  /// Announces that a subevent has been replaced by one with the same id and its own order stamp.
  void repeat(const Subevent& subevent);
  /// A write of one word has reached memory: orders it, remembers the writer, announces it.
  void finish_write(SubeventId id, NodeId home, Address address);
  /// For instants that write: id becomes the last writer.
  SubeventId instant_write(Subevent subevent);

  /// Wakes the threads of a node that watch something that has changed.
  void touched(NodeId node, std::uint64_t key, ThreadId except = kNobody);
  void touched_bytes(NodeId node, Address address, std::uint64_t size, ThreadId except = kNobody);
  static constexpr ThreadId kNobody = 0xffffffffU;

  [[nodiscard]] std::uint32_t new_buffer(std::uint32_t size);
  void hold(std::uint32_t buffer) {
    if (buffer != fabric::kNoBuffer) ++state.buffers[buffer].references;
  }
  void release(std::uint32_t buffer);

  /// Payload that the step of a DMA being scheduled will copy: with many hosts it is in no cache any more by the time
  /// it is needed, and the steps between now and then are enough to fetch it.
  void prefetch(NodeId node, Address address, std::uint32_t buffer, std::uint32_t offset, std::uint32_t bytes) const;

  /// Rings for [address, address + size) on a node with this key and these rights?
  [[nodiscard]] bool allowed(std::uint32_t key, NodeId node, Address address, std::uint64_t size,
                             std::uint8_t access) const;
  /// Payload of a packet at most. With the flow model a packet is a message, but on the way from a NIC to itself.
  [[nodiscard]] std::uint64_t mtu(const QueuePair& qp) const {
    const fabric::FlowOptions& flow = state.fabric.config().flow;
    return flow.enabled && qp.peer_node == qp.node ? flow.mtu.count : profile().link_mtu.count;
  }
  /// Packets that a message of so many bytes takes, and PSNs with them: one at least.
  [[nodiscard]] std::uint32_t packets_of(const QueuePair& qp, std::uint64_t length) const {
    const std::uint64_t bytes = mtu(qp);
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (length + bytes - 1) / bytes));
  }
  /// A packet's payload passes the packet buffer of a NIC.
  [[nodiscard]] sim::Duration buffer_time(std::uint32_t bytes) const {
    return sim::transmission_time({bytes}, profile().nic_buffer_rate);
  }
  /// The region of a key, or null.
  [[nodiscard]] const MemoryRegion* region(std::uint32_t key) const {
    const std::uint32_t index = key >> 8U;
    return index < state.regions.size() && state.regions[index].rkey == key ? &state.regions[index] : nullptr;
  }

  /// Is it memory on the NIC, which is reached without PCIe?
  [[nodiscard]] bool on_device(std::uint32_t key) const {
    const MemoryRegion* r = region(key);
    return r != nullptr && r->kind.device;
  }

 private:
  void wake(ThreadId id, bool completion);
};

/// The address of the word that holds `address`.
[[nodiscard]] constexpr Address word_of(Address address) { return address & ~Address{7}; }
/// Words that [address, address + size) touches.
[[nodiscard]] constexpr std::uint32_t words_of(Address address, std::uint64_t size) {
  return size == 0 ? 0 : static_cast<std::uint32_t>((word_of(address + size - 1) - word_of(address)) / 8 + 1);
}

// cpu.cpp
void drain(Engine& engine, ThreadId thread);

}  // namespace loco::nic
