// What a unit needs while it carries out a step: access to the other units, and the observer.
//
// Each unit keeps its fields private; other units ask it or call it. An Engine says where the units are but only names
// their types, so a wing can use only those whose headers it may include (README.md, "Who knows whom"). Private to
// nic_model/.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "fabric/network.hpp"
#include "nic_model/config.hpp"
#include "nic_model/engine/kernel.hpp"
#include "nic_model/engine/payloads.hpp"
#include "nic_model/observer.hpp"

namespace loco::nic {

class AckTimers;
class AtomicUnit;
class CompletionQueue;
class Connection;
class ContextCaches;
class Host;
class HostMemory;
struct HeldRead;
class NicContext;
class PcieLink;
class PciePaths;
class Port;
class PostedDomain;
class Process;
struct QpSettings;
class AnswerTracks;
class ReceiveBuffer;
class ReceiveQueue;
class Requester;
class Responder;
struct StalledPacket;
struct State;
class Thread;
class TreeLink;

/// The state of all units. Indices: hosts (memories, processes), NICs (hosts, links, caches, atomics; ack_timers: one
/// for all, unless Kernel::ranked()), ports (ports, receive_buffers), threads, ordering domains, queue pairs,
/// completion queues, receive queues.
struct Units {
  Kernel& kernel;
  fabric::Network& network;
  Payloads& payloads;
  std::vector<MemoryRegion>& regions;
  sim::IdVector<HostId, HostMemory>& memories;
  sim::IdVector<HostId, Process>& processes;
  std::vector<Thread>& threads;
  sim::IdVector<NicId, Host>& hosts;
  sim::IdVector<NicId, PcieLink>& links;
  const PciePaths& paths;
  std::vector<TreeLink>& tree_links;
  std::vector<PostedDomain>& domains;
  sim::IdVector<PortId, Port>& ports;
  sim::IdVector<PortId, ReceiveBuffer>& receive_buffers;
  sim::IdVector<NicId, ContextCaches>& caches;
  std::vector<Connection>& connections;
  std::vector<QpSettings>& settings;
  std::vector<NicContext>& contexts;
  std::vector<Requester>& requesters;
  std::vector<Responder>& responders;
  sim::IdVector<NicId, AtomicUnit>& atomics;
  std::vector<CompletionQueue>& cqs;
  std::vector<ReceiveQueue>& receive_queues;
  AnswerTracks& tracks;
  std::vector<AckTimers>& ack_timers;
  sim::Pool<StalledPacket>& stalled;
};

class Engine : public Units {
 public:
  Engine(const Units& units, Context* c) : Units(units), context(c) {}

  Context* context;  // null while setting up

  /// The hardware of a NIC, or of a port's, and its host.
  [[nodiscard]] const HardwareProfile& profile(NicId nic) const { return kernel.profile(nic); }
  [[nodiscard]] const HardwareProfile& profile(PortId port) const { return kernel.profile(port); }
  /// That of a host's CPUs: all of its NICs have the same.
  [[nodiscard]] const HardwareProfile& profile(HostId host) const { return profile(first_nic(host)); }
  /// The host whose memory, threads and completion queues a NIC works for.
  [[nodiscard]] HostId host_of(NicId nic) const { return kernel.host_of(nic); }
  /// Its number, for observers.
  [[nodiscard]] NodeId node_of(NicId nic) const { return host_of(nic).index(); }
  [[nodiscard]] bool fault(Fault f) const { return kernel.faults().has(f); }
  [[nodiscard]] sim::SimTime now() const { return kernel.now(); }
  [[nodiscard]] bool witness() const { return kernel.config().witness; }
  [[nodiscard]] Observer* observer() const { return context == nullptr ? nullptr : context->observer; }
  [[nodiscard]] MessageObserver* messages() const { return context == nullptr ? nullptr : context->messages; }

  sim::EventHandle schedule(EventKind what, std::uint32_t where, std::uint64_t a, sim::SimTime at) {
    return kernel.schedule(what, where, a, at);
  }
  bool cancel(sim::EventHandle event) { return kernel.cancel(event); }
  void count(std::uint64_t Counters::*what, std::uint64_t more = 1) { kernel.count(what, more); }

  /// Gives a subevent an id and an order stamp, and announces it as of now or of the later time that it names. With the
  /// witness off it does nothing and returns 0.
  SubeventId begin(Subevent subevent);
  /// Announces that a subevent has been replaced by one with the same id and its own order stamp.
  void repeat(const Subevent& subevent);
  void hold(std::uint32_t buffer) { payloads.hold(buffer); }
  void release(std::uint32_t buffer) { payloads.release(buffer); }

  /// Tells the observer of a packet, as from the first port of the sending host to that of the other.
  void tell(PacketStep step, const fabric::Packet& packet);

  /// True if a NIC may access [address, address + size) of its host's memory with this key and these rights.
  [[nodiscard]] bool allowed(std::uint32_t key, NicId nic, Address address, std::uint64_t size,
                             std::uint8_t access) const;
  /// The greatest payload of a packet between these NICs. In the flow model a packet is a whole message, except one
  /// that a NIC sends to itself.
  [[nodiscard]] std::uint64_t mtu(NicId from, NicId to) const { return network.segment_max(from == to); }
  /// How long a packet's payload takes through a NIC's packet buffer and data path.
  [[nodiscard]] sim::Duration buffer_time(PortId port, std::uint32_t bytes) const {
    const HardwareProfile& p = profile(port);
    const sim::Duration buffered = sim::transmission_time({bytes}, p.nic_buffer_rate);
    return p.nic_path_rate.value == 0 ? buffered : buffered + path_time(p, bytes);
  }
  /// How much longer a NIC's data path takes than PCIe. Both carry the same data at the same time, piece by piece.
  [[nodiscard]] static sim::Duration path_time(const HardwareProfile& p, std::uint32_t bytes);
  /// The region of a key, or null.
  [[nodiscard]] const MemoryRegion* region(std::uint32_t key) const {
    const std::uint32_t index = key >> 8U;
    return index < regions.size() && regions[index].rkey == key ? &regions[index] : nullptr;
  }

  /// True if the region is memory on this NIC, which it reaches without PCIe.
  [[nodiscard]] bool on_device(NicId nic, std::uint32_t key) const {
    const MemoryRegion* r = region(key);
    return r != nullptr && r->kind.device && r->kind.nic == kernel.index_of(nic);
  }
};

/// The address of the word that holds `address`.
[[nodiscard]] constexpr Address word_of(Address address) { return address & ~Address{7}; }
/// Number of words that [address, address + size) touches.
[[nodiscard]] constexpr std::uint32_t words_of(Address address, std::uint64_t size) {
  return size == 0 ? 0 : static_cast<std::uint32_t>((word_of(address + size - 1) - word_of(address)) / 8 + 1);
}

}  // namespace loco::nic
