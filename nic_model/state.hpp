// The state behind System: plain records and indices, one struct a component. Private to nic_model/.
//
// Every guaranteed order is a ring, and only the element that may happen next has a pending event (docs/machine.md,
// law 1). Running numbers (32 or 64 bits, never reused) name elements of rings; a ring's first element has the
// number kept beside it. All structs are values, compared member by member.
//
// What is under way keeps two kinds of times. Instants (`ready`, `due`, `available`): the earliest one at which its
// next step may happen, if nothing is in front of it. Durations (`way`, `reach`): what a TLP needs from the link to
// memory; with them an instant can be worked out anew when tags or credits made it wait.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/dcqcn.hpp"
#include "fabric/fabric.hpp"
#include "nic_model/connection/queue_pair_state.hpp"
#include "nic_model/engine/key_cache.hpp"
#include "nic_model/engine/window.hpp"
#include "nic_model/engine/zeroed.hpp"
#include "nic_model/host/memory.hpp"
#include "nic_model/host/watch_set.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/system.hpp"
#include "nic_model/usage.hpp"
#include "nic_model/verbs.hpp"
#include "sim/event_queue.hpp"
#include "sim/lazy.hpp"
#include "sim/ring.hpp"
#include "sim/sparse_ring.hpp"

namespace loco::nic {

/// Event kinds of the NIC model: what `where` and `a` mean.
enum EventKind : std::uint16_t {
  kEventThreadStep = 0x200,  ///< thread
  kEventDrain,               ///< thread: the head of its store buffer
  kEventDoorbell,            ///< node: the oldest doorbell on its way to the NIC
  kEventFetchWqe,            ///< qp: a PCIe read of `a` work requests has returned
  kEventReadPayload,         ///< qp, WQE number: next step of the PCIe read of its payload
  kEventTransmit,            ///< qp: next packet of its send queue
  kEventReadRemote,          ///< qp, response number: next step of the PCIe read for a READ
  kEventAtomic,              ///< node: the atomic unit's PCIe read
  kEventAtomicDone,          ///< node: the atomic unit is free (when no write had to be committed)
  kEventRespond,             ///< qp: next packet of its responses
  kEventCommit,              ///< ordering domain, write number: next TLP of a posted write reaches memory
  kEventStrayRequest,        ///< qp, stray slot: a request that the fault responder_reorders let loose
  kEventTimeout,             ///< qp: its transport timer
  kEventRnrTimer,            ///< qp: the receiver may be ready now
  kEventUnitFree = 0x240,    ///< qp: the processing unit that it waits for is free
  kEventArrival,             ///< qp: the oldest packet that waits for the queue pair's context
  kEventProbe,               ///< node, probe: next step of a bare DMA read
  kEventProbeDone,           ///< node: the data of a bare DMA read is in the device
};

// --- host ----------------------------------------------------------------------------------------------------------

struct StoreEntry {
  bool doorbell = false;
  bool blueflame = false;  // the doorbell carries the work request
  bool receive = false;    // a doorbell record in memory: of receive queue `value`
  Address address = 0;
  std::uint64_t value = 0;  // of a store; of a doorbell: the bytes of its TLP
  SubeventId subevent = 0;
  QpId qp = 0;
  std::uint32_t posted = 0;  // of a doorbell: the send queue's producer index; of a doorbell record: new entries
  sim::SimTime issued{};     // when that is later than its place in the queue says: by a thread ahead of the clock

  bool operator==(const StoreEntry&) const = default;
};

enum class ThreadState : std::uint8_t { running, scheduled, paused, draining, waiting_room, stopped };

struct Thread {
  NodeId node = 0;
  ThreadState state = ThreadState::scheduled;
  bool changed = false;  // something watched has changed since it was looked at
  sim::Ring<StoreEntry> buffer{};
  WatchSet watched{};
  sim::SimTime paused_at{};  // when its polling loop would begin the next turn
  sim::Duration turn{};      // what a turn of that loop takes
  sim::Duration take{};      // of a polling loop that finds an entry in its completion queue: until it has taken it
  sim::SimTime mmio_free{};  // its next store to the NIC
  sim::Duration busy{};      // with anything but polling

  bool operator==(const Thread&) const = default;
};

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

struct Host {
  Host(bool witness, const HardwareProfile& profile);
  HostMemory memory;
  std::vector<ThreadId> threads{};
  std::vector<std::uint64_t> flags{};
  // its PCIe link and NIC
  sim::Ring<Doorbell> doorbells{};
  sim::Ring<AtomicRequest> atomics{};  // the head is being executed
  sim::SimTime upstream_free{};
  sim::SimTime downstream_free{};
  sim::SimTime asked_until{};    // when the link will have carried the data of all reads that have been asked for
  sim::SimTime transmit_free{};  // of the packet pipeline: see nic.packet_gap
  sim::Ring<PortWaiter> port_waiters{};
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

// --- payload -------------------------------------------------------------------------------------------------------

/// Payload bytes inside NICs and on the wire; counted by those that hold it.
struct Buffer {
  std::uint32_t references = 0;
  std::uint32_t size = 0;
  std::array<std::byte, 32> small{};
  ZeroedBytes large{};

  [[nodiscard]] std::byte* data() { return size <= small.size() ? small.data() : large.data(); }
  [[nodiscard]] const std::byte* data() const { return size <= small.size() ? small.data() : large.data(); }
  bool operator==(const Buffer&) const = default;
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

// --- NIC: see queue_pair_state.hpp, too -----------------------------------------------------------------------------

/// Receive work requests of one queue pair, or shared by many.
struct ReceiveQueue {
  NodeId node = 0;
  std::uint32_t depth = 0;
  QpId owner = kNone;  // kNone: shared
  std::uint32_t limit = 0;
  bool limit_reached = false;
  std::uint32_t visible = 0;  // of `entries`, those that the NIC knows of
  sim::Ring<RecvWqe> entries{};

  bool operator==(const ReceiveQueue&) const = default;
};

struct CompletionQueue {
  NodeId node = 0;
  std::uint32_t entries = 0;
  bool overrun = false;
  bool failed = false;  // a completion with an error has been written
  sim::Ring<Cqe> cqes{};

  bool operator==(const CompletionQueue&) const = default;
};

struct State {
  explicit State(const SystemConfig& c);

  SystemConfig config;
  bool lossy = false;  // packets can be lost or come out of order: transport timers run
  bool loose = false;  // answers, too, can come in another order, and are taken as they come (nic.placement)
  sim::EventQueue events;
  fabric::Fabric fabric;
  std::vector<Host> hosts{};
  std::vector<Thread> threads{};
  std::vector<PostedDomain> domains{};
  std::vector<QueuePair> qps{};
  std::vector<sim::Duration> gap_busy{};  // by queue pair: in nic.qp_gap; as far as one has been
  std::vector<CompletionQueue> cqs{};
  std::vector<ReceiveQueue> receive_queues{};
  std::vector<MemoryRegion> regions{};
  sim::Pool<Buffer> buffers{};
  sim::Pool<ReadTrack> tracks{};
  sim::Pool<StalledPacket> stalled{};  // lists: a queue each for many queue pairs, few of them in use
  Counters counters;
  sim::SimTime now{};
  std::uint64_t seq = 0;
  SubeventId subevents = 0;

  [[nodiscard]] bool operator==(const State& other) const;
};

/// Throws std::invalid_argument when there is no such node.
void check_node(const State& s, NodeId node);

}  // namespace loco::nic
