// State of units that is still open to all of them, as plain records. Private to nic_model/.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/dcqcn.hpp"
#include "fabric/packet.hpp"
#include "nic_model/engine/key_cache.hpp"
#include "nic_model/engine/window.hpp"
#include "nic_model/observer.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/usage.hpp"
#include "nic_model/verbs.hpp"
#include "sim/lazy.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

// --- a host's PCIe link and NIC ------------------------------------------------------------------------------------

struct Doorbell {
  sim::SimTime ready{};
  QpId qp = 0;
  std::uint32_t posted = 0;
  bool blueflame = false;

  bool operator==(const Doorbell&) const = default;
};

struct AtomicRequest {
  QpId qp = 0;
  std::uint64_t response = 0;

  bool operator==(const AtomicRequest&) const = default;
};

/// A queue pair with something to send while its NIC's port is paused.
struct PortWaiter {
  QpId qp = 0;
  bool responder = false;

  bool operator==(const PortWaiter&) const = default;
};

/// A bare DMA read of the device: System::dma_read.
struct Probe {
  Address address = 0;
  std::uint32_t length = 0;
  std::uint32_t read = 0;
  std::uint32_t key = 0;

  bool operator==(const Probe&) const = default;
};

/// What the NIC has received and has not written to memory yet: see port/receive_buffer.hpp.
struct ReceiveBuffer {
  std::uint64_t used = 0;       // bytes of payload
  std::uint64_t xoff = 0;       // above this the link is paused; 0: there is no limit
  std::uint64_t xon = 0;        // and from here on it goes on
  bool full = false;            // the link is paused
  sim::Ring<PortWaiter> own{};  // queue pairs with something to send to this NIC itself, while it is full

  bool operator==(const ReceiveBuffer&) const = default;
};

struct Host {
  explicit Host(const HardwareProfile& profile);
  sim::Ring<Doorbell> doorbells{};
  sim::Ring<AtomicRequest> atomics{};  // the head is being executed
  sim::SimTime upstream_free{};
  sim::SimTime downstream_free{};
  sim::SimTime asked_until{};    // when the link will have carried the data of all reads that have been asked for
  sim::SimTime transmit_free{};  // of the packet pipeline: see nic.packet_gap
  sim::Ring<PortWaiter> port_waiters{};
  ReceiveBuffer received{};
  Window tags{};
  Window nonposted_credits{};
  Window posted_credits{};
  Window completion_credits{};
  KeyCache<std::uint64_t> translated{};  // pages in the IOMMU's buffer
  // contexts in the NIC: see context.hpp
  KeyCache<std::uint32_t> contexts{};
  KeyCache<std::uint64_t> translations{};
  KeyCache<std::uint32_t> read_states{};
  Window context_fetches{};
  UnitPool units{};
  sim::Ring<QpId> unit_waiters{};  // while all units are busy; the first one is told
  std::uint32_t queue_pairs = 0;
  std::uint64_t device_memory = 0;            // on the NIC, in regions
  std::array<std::uint64_t, 2> words_read{};  // the last two, the newest last: with nic.stale_operands only
  sim::Pool<Probe> probes{};
  std::uint64_t probes_done = 0;
  sim::SimTime atomic_since{};  // the head of `atomics` has had the atomic unit
  HostBusy busy{};

  bool operator==(const Host&) const = default;
};

// --- PCIe posted writes ----------------------------------------------------------------------------------------------

struct PostedWrite {
  bool is_cqe = false;
  bool has_event = false;    // its next step is a pending event
  bool done = false;         // all of it is in memory, and it waits for those in front of it to be forgotten
  bool ends_atomic = false;  // its commit frees the NIC's atomic unit
  bool device = false;       // to memory on the NIC
  bool relaxed = false;      // relaxed ordering: may pass the writes in front of it; then it is one TLP
  bool probe = false;        // System::dma_write
  bool received = false;     // takes receive buffer until it is in memory
  Stamp stamp = Stamp::aNRW;
  std::uint32_t buffer = fabric::kNoBuffer;  // kNoBuffer: the bytes of `value`
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t committed = 0;  // bytes
  std::uint32_t ahead = 0;      // flow model: bytes that crossed PCIe while the rest of the message was on its way
  SubeventId subevent = 0;      // of its first word
  CqId cq = 0;
  Address address = 0;
  std::uint64_t value = 0;
  sim::SimTime ready{};  // when its next TLP is committed, if nothing is in front of it
  sim::Duration way{};   // of a TLP, from the link to memory: what taking credits late is added to
  Cqe cqe{};

  bool operator==(const PostedWrite&) const = default;
};

enum class ReadKind : std::uint8_t { wqe_fetch, payload, remote_read, atomic, probe };

/// A PCIe read, which must wait for posted writes in front of it ("reads push writes").
struct HeldRead {
  ReadKind kind = ReadKind::payload;
  std::uint32_t where = 0;
  std::uint64_t number = 0;
  std::uint64_t behind = 0;  // all posted writes with smaller numbers
  sim::SimTime due{};        // when memory may be read, if there are a tag and credits
  sim::Duration reach{};     // of its request, its time on the link included, until memory is read
  std::uint32_t bytes = 0;   // of the whole read
  std::uint32_t key = 0;     // of the region that is read; kNoKey: a queue

  bool operator==(const HeldRead&) const = default;
};

/// An ordering domain: writes that never pass each other, and that reads never pass.
struct PostedDomain {
  NodeId node = 0;
  std::uint64_t first = 0;  // number of writes[0]: all before it are committed
  sim::Ring<PostedWrite> writes{};
  sim::Ring<HeldRead> held{};

  [[nodiscard]] std::uint64_t issued() const { return first + writes.size(); }
  bool operator==(const PostedDomain&) const = default;
};

// --- NIC -----------------------------------------------------------------------------------------------------------

/// A packet that waits for its queue pair's context.
struct StalledPacket {
  sim::SimTime ready{};
  fabric::Packet packet{};
  std::uint32_t next = kNone;  // behind it, in State::stalled

  bool operator==(const StalledPacket&) const = default;
};

/// Of a queue pair, when it is on.
struct CongestionControl {
  fabric::Dcqcn rate{};     // of what it sends
  fabric::CnpPacer cnps{};  // for what it receives
  sim::SimTime next{};      // when its rate allows the next packet, of its requests or its answers

  bool operator==(const CongestionControl&) const = default;
};

/// What a NIC's port and context caches know of a queue pair.
struct NicContext {
  bool waits_for_unit = false;          // for the processing unit that works for it, or in Host::unit_waiters
  std::uint32_t stalled_first = kNone;  // packets that wait for its context, in Engine::stalled
  std::uint32_t stalled_last = kNone;
  sim::SimTime unit_until{};  // when it may start the next work request: see context.hpp
  sim::Duration gap_busy{};   // in nic.qp_gap
  sim::Lazy<CongestionControl> congestion{};

  bool operator==(const NicContext&) const = default;
};

}  // namespace loco::nic
