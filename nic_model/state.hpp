// The state behind System: plain records and indices, one struct a component. Private to nic_model/.
//
// Every guaranteed order is a ring, and only the element that may happen next has a pending event (machine page,
// law 1). Running numbers (32 or 64 bits, never reused) name elements of rings; a ring's first element has the
// number kept beside it. All structs are values, compared member by member.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/dcqcn.hpp"
#include "fabric/fabric.hpp"
#include "nic_model/key_cache.hpp"
#include "nic_model/memory.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/system.hpp"
#include "nic_model/verbs.hpp"
#include "nic_model/window.hpp"
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
  kEventRetryExceeded,       ///< qp, WQE number: no response came
  kEventTimeout,             ///< qp: its transport timer
  kEventRnrTimer,            ///< qp: the receiver may be ready now
  kEventUnitFree = 0x240,    ///< qp: the processing unit that works for it is free
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

/// Keys of watch sets: the kind in the upper bits.
enum class WatchKind : std::uint8_t { word, cq, flag, user, srq };
[[nodiscard]] constexpr std::uint64_t watch_key(WatchKind kind, std::uint64_t key) {
  return (static_cast<std::uint64_t>(kind) << 60U) | key;
}

[[nodiscard]] constexpr WatchKind kind_of(std::uint64_t watch_key) { return static_cast<WatchKind>(watch_key >> 60U); }

/// The bit of a key, or of the keys of memory next to each other.
[[nodiscard]] constexpr std::uint64_t watch_bit(std::uint64_t key) {
  return std::uint64_t{1} << ((key ^ key >> 6U ^ key >> 57U) & 63U);
}

struct Thread {
  NodeId node = 0;
  ThreadState state = ThreadState::scheduled;
  bool changed = false;    // something watched has changed since it was looked at
  bool watch_all = false;  // the watch set has overflowed: every change on the node counts
  sim::Ring<StoreEntry> buffer{};
  std::vector<std::uint64_t> watched{};
  std::uint64_t watch_bits = 0;  // a bit for each key of it, by a hash: most changes concern nobody
  sim::SimTime paused_at{};
  sim::Duration turn{};
  sim::Duration take{};      // of a polling loop that finds an entry in its completion queue: until it has taken it
  sim::SimTime mmio_free{};  // its next store to the NIC

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
  std::uint32_t units_busy = 0;
  sim::Ring<QpId> unit_waiters{};
  std::uint32_t queue_pairs = 0;
  sim::Pool<Probe> probes{};
  std::uint64_t probes_done = 0;

  bool operator==(const Host&) const = default;
};

// --- payload -------------------------------------------------------------------------------------------------------

/// Payload bytes inside NICs and on the wire; counted by those that hold it.
struct Buffer {
  std::uint32_t references = 0;
  std::uint32_t size = 0;
  std::array<std::byte, 32> small{};
  std::vector<std::byte> large{};

  [[nodiscard]] std::byte* data() { return size <= small.size() ? small.data() : large.data(); }
  [[nodiscard]] const std::byte* data() const { return size <= small.size() ? small.data() : large.data(); }
  bool operator==(const Buffer&) const = default;
};

// --- PCIe posted writes ----------------------------------------------------------------------------------------------

struct PostedWrite {
  bool is_cqe = false;
  bool has_event = false;  // its next step is a pending event
  bool done = false;
  bool ends_atomic = false;  // its commit frees the NIC's atomic unit
  bool device = false;       // to memory on the NIC
  bool relaxed = false;      // relaxed ordering: may pass the writes in front of it
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
  Cqe cqe{};

  bool operator==(const PostedWrite&) const = default;
};

enum class ReadKind : std::uint8_t { wqe_fetch, payload, remote_read, atomic, probe };

/// A PCIe read that must wait for posted writes in front of it ("reads push writes").
struct HeldRead {
  ReadKind kind = ReadKind::payload;
  std::uint32_t where = 0;
  std::uint64_t number = 0;
  std::uint64_t behind = 0;  // all posted writes with smaller numbers
  sim::SimTime due{};

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

struct SendEntry {
  Wqe wqe{};
  Status status = Status::success;
  bool done = false;        // its response has come (or an error was found)
  bool read_ready = false;  // its payload read is not held back any more
  bool transmit_done = false;
  bool acknowledged = false;  // with early_write_completion: its ACK has come, too
  fabric::Psn psn{};
  std::uint32_t packets = 0;  // PSNs that it takes
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t payload_read = 0;  // bytes
  std::uint32_t sent = 0;          // bytes
  std::uint32_t received = 0;      // bytes of a READ's response
  std::uint32_t track = kNone;     // of a READ, in State::tracks, where packets can be lost
  sim::SimTime ready{};            // payload so far is in the NIC; else, may be sent; while held: due

  bool operator==(const SendEntry&) const = default;
};

/// A word as a repeated READ has found it.
struct Sample {
  std::uint64_t value = 0;
  SubeventId source = 0;
  std::uint64_t seq = 0;
  sim::SimTime at{};

  bool operator==(const Sample&) const = default;
};

/// What must be known of a READ that may be executed again. With the witness, the trace names one aNRR a word: that of
/// the execution whose answer is taken in the end.
struct ReadTrack {
  std::vector<SubeventId> sampled{};         // the aNRR of each word, once there is one
  std::vector<std::vector<Sample>> again{};  // by execution, from the second on, then by word
  std::uint32_t executions = 0;
  std::vector<std::uint64_t> placed{};  // out of order: one bit a packet of the response

  bool operator==(const ReadTrack&) const = default;
};

/// The send queue and requester of a queue pair. rung <= posted, fetched <= rung, started <= fetched, ...
struct Requester {
  CqId cq = 0;
  std::uint32_t depth = 0;
  std::uint32_t domain = 0;
  std::uint32_t first = 0;  // number of queue[0]
  sim::SparseRing<SendEntry> queue{};
  std::uint32_t rung = 0;
  std::uint32_t fetched = 0;
  std::uint32_t started = 0;
  std::uint32_t payload_next = 0;   // oldest whose payload is not read completely
  std::uint32_t transmit_next = 0;  // oldest that is not sent completely
  std::uint32_t completed = 0;
  std::uint32_t outstanding = 0;  // READs and atomics
  bool fetching = false;
  bool payload_event = false;
  bool transmit_event = false;
  bool halted = false;           // a local error was found: nothing more starts
  bool fetch_cancelled = false;  // what is being fetched is not wanted any more
  bool rnr_wait = false;         // the receiver was not ready: nothing is sent until the RNR timer fires
  bool recovering = false;       // has gone back, and nothing has been acknowledged since
  bool timer_pending = false;    // a kEventTimeout is
  std::uint8_t retries = 0;      // left until retry_exc_err
  std::uint8_t rnr_retries = 0;  // left until rnr_retry_exc_err
  fabric::Psn next_psn{};
  fabric::Psn una{};  // oldest that is not acknowledged
  sim::SimTime transmit_free{};
  sim::SimTime deadline{};  // of the transport timer
  sim::EventHandle timer{};

  [[nodiscard]] std::uint32_t posted() const { return first + static_cast<std::uint32_t>(queue.size()); }
  [[nodiscard]] bool holds(std::uint32_t number) const { return number - first < queue.size(); }
  [[nodiscard]] SendEntry& entry(std::uint32_t number) { return queue[number - first]; }
  [[nodiscard]] const SendEntry& entry(std::uint32_t number) const { return queue[number - first]; }
  bool operator==(const Requester&) const = default;
};

struct Response {
  fabric::Opcode opcode = fabric::Opcode::ack;
  fabric::NakCode nak = fabric::NakCode::none;
  bool ready = false;  // has data to send (an ACK has none to wait for)
  fabric::Psn psn{};
  std::uint32_t wqe = 0;  // number of the request in the requester's send queue
  std::uint32_t buffer = fabric::kNoBuffer;
  std::uint32_t length = 0;     // of a READ
  std::uint32_t read = 0;       // bytes
  std::uint32_t sent = 0;       // bytes
  std::uint32_t execution = 0;  // of a READ: how often it had been executed before
  Address address = 0;
  std::uint64_t value = 0;  // an atomic's old value; before that, its operands
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  fabric::Opcode request = fabric::Opcode::read_request;
  ThreadId thread = 0;  // whose subevents they are
  OpId op = 0;
  std::uint32_t rkey = 0;
  bool may_execute = false;  // of a READ in an ordered stream: see read_order.cpp
  sim::SimTime available{};

  bool operator==(const Response&) const = default;
};

/// What is to be done about a request packet, by its PSN.
enum class Fate : std::uint8_t {
  fresh,      // the next one: execute it
  duplicate,  // executed before: answer again
  gap,        // something before it is missing: say so (its payload is gone)
  dropped,    // nothing
};

struct Arrival {
  fabric::Packet packet{};
  Fate fate = Fate::fresh;

  bool operator==(const Arrival&) const = default;
};

/// Out of order: what has come for one PSN, from the expected one on. A READ takes several, the first of them stands
/// for it.
struct Early {
  bool present = false;   // its packet has come
  bool executed = false;  // a WRITE: memory has been given its payload; a READ: it is being answered
  fabric::Packet packet{};

  bool operator==(const Early&) const = default;
};

/// The result of an atomic, for a request that comes again (IBTA volume 1, 9.4.5).
struct Replay {
  fabric::Psn psn{};
  std::uint64_t value = 0;

  bool operator==(const Replay&) const = default;
};

/// What a responder needs when packets are lost, wait or overtake each other, and for atomics that may come again.
struct Disorder {
  sim::Ring<Arrival> waiting{};
  sim::Ring<Replay> replays{};  // oldest first, at most max_rd_atomic; only where packets can be lost
  sim::Ring<Early> early{};
  sim::Pool<fabric::Packet> strays{};
  sim::Ring<std::uint64_t> read_stream{};  // numbers of READs that have not taken effect, when these are ordered

  bool operator==(const Disorder&) const = default;
};

/// The responder of a queue pair.
struct Responder {
  std::uint32_t domain = 0;
  CqId cq = 0;
  std::uint32_t queue = kNone;  // receive queue, its own or shared
  bool blocked = false;         // an atomic has not posted its write yet: later requests wait
  bool respond_event = false;
  bool write_valid = false;  // of the message being received
  bool nak_sent = false;     // for what is expected: nothing more is said until it comes
  bool receiving = false;    // `receive` has been taken from the queue
  bool in_message = false;   // UC: its earlier packets have all come
  std::uint32_t received = 0;
  fabric::Psn expected_psn{};
  fabric::Psn done_psn{};                 // first that has not been executed
  std::uint64_t first = 0;                // number of responses[0]
  sim::SparseRing<Response> responses{};  // in PSN order
  sim::Lazy<RecvWqe> receive{};           // what the message being received goes to
  sim::Lazy<Disorder> disorder{};
  sim::SimTime reads_until{};  // when the data of all READs so far could have crossed PCIe
  sim::SimTime transmit_free{};

  [[nodiscard]] Response& response(std::uint64_t number) { return responses[number - first]; }
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first < responses.size(); }
  bool operator==(const Responder&) const = default;
};

/// Does a queue pair have a processing unit? See context.hpp.
enum class UnitState : std::uint8_t { none, waiting, granted, busy };

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

  bool operator==(const CongestionControl&) const = default;
};

/// Of QpAttributes, what is needed all the time.
struct QpSettings {
  sim::Duration timeout{};
  sim::Duration min_rnr_timer{};
  std::uint32_t max_rd_atomic = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;

  bool operator==(const QpSettings&) const = default;
};

/// There can be millions, and in a large network each is in no cache when its next event comes: a few lines of memory.
struct alignas(64) QueuePair {
  NodeId node = 0;
  QpId peer = kNone;
  NodeId peer_node = kNone;
  ThreadId thread = 0;
  QpType type = QpType::rc;
  UnitState unit = UnitState::none;
  QpState state = QpState::reset;
  std::uint32_t qkey = 0;               // UD
  std::uint32_t stalled_first = kNone;  // packets that wait for its context, in State::stalled
  std::uint32_t stalled_last = kNone;
  QpSettings settings{};
  sim::Lazy<CongestionControl> congestion{};
  Requester requester;
  Responder responder;

  bool operator==(const QueuePair&) const = default;
};

static_assert(sizeof(QueuePair) <= 256);

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

}  // namespace loco::nic
