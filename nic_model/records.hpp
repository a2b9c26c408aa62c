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
#include "sim/event_queue.hpp"
#include "sim/lazy.hpp"
#include "sim/ring.hpp"
#include "sim/sparse_ring.hpp"

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

// --- NIC: see queue_pair_state.hpp, too -----------------------------------------------------------------------------

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
  std::uint64_t value = 0;        // an atomic's old value; of an RNR NAK, how long to wait, in ps
  std::uint64_t compare_add = 0;  // operands of an atomic
  std::uint64_t swap = 0;
  fabric::Opcode request = fabric::Opcode::read_request;
  ThreadId thread = 0;  // whose subevents they are
  OpId op = 0;
  std::uint32_t rkey = 0;
  bool again = false;  // to a request that has come before
  bool held = false;  // of a READ in an ordered stream: by the root complex, until it is the oldest
  // Of a READ whose turn on the link is behind long ones (read_order.cpp):
  std::uint32_t long_reads_before = 0;  // those asked for before it
  sim::EventHandle turn{};              // its event, while it waits for them
  sim::Duration reach{};                // see HeldRead
  // When memory may be read; once some of its data has been read, when what has been is in the NIC.
  sim::SimTime available{};

  bool operator==(const Response&) const = default;
};

/// What is to be done about a request packet, by its PSN.
enum class Fate : std::uint8_t {
  fresh,      // the next one: execute it
  duplicate,  // executed before: answer again
  gap,        // something before it is missing: say so (its payload is gone, its PSN is that of what is missing)
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
  sim::Ring<Replay> replays{};  // oldest first, at most max_dest_rd_atomic; only where packets can be lost
  sim::Ring<Early> early{};
  sim::Pool<fabric::Packet> strays{};
  sim::Ring<std::uint32_t> in_line{};      // of strays, those that keep their order: only the first has an event
  sim::Ring<std::uint64_t> read_stream{};  // numbers of READs that have not taken effect, when these are ordered
  std::uint32_t refused = kNone;           // the work request whose NAK led to ERROR

  bool operator==(const Disorder&) const = default;
};

/// The responder of a queue pair.
struct Responder {
  std::uint32_t domain = 0;
  CqId cq = 0;
  std::uint32_t queue = kNone;  // receive queue, its own or shared
  bool blocked = false;         // an atomic has not posted its write yet: later requests wait
  bool respond_event = false;
  bool write_valid = false;    // of the message being received: key and bounds were checked with its first packet
  bool nak_sent = false;       // for what is expected: nothing more is said until it comes
  bool receiving = false;      // `receive` has been taken from the queue
  bool in_message = false;     // between a message's packets; UC: and the earlier ones have all come
  std::uint32_t received = 0;  // bytes of a SEND that are in its buffer
  fabric::Psn expected_psn{};  // of the next packet that is new
  fabric::Psn done_psn{};      // first that has not been executed: behind, while requests wait for an atomic
  std::uint64_t first = 0;     // number of responses[0]
  sim::SparseRing<Response> responses{};  // in PSN order
  sim::Lazy<RecvWqe> receive{};           // what the message being received goes to
  sim::Lazy<Disorder> disorder{};
  std::uint32_t long_reads = 0;       // that it has asked its PCIe for: see read_order.cpp
  std::uint32_t long_reads_done = 0;  // of these, those that have been read
  sim::SimTime transmit_free{};

  [[nodiscard]] Response& response(std::uint64_t number) { return responses[number - first]; }
  [[nodiscard]] bool holds(std::uint64_t number) const { return number - first < responses.size(); }
  bool operator==(const Responder&) const = default;
};

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
