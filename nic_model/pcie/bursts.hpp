// Bursts: several TLPs of one packet, or of the packets that a payload is read for, that share an event, because
// nothing else can happen between them.
//
// In a timed run most TLPs of a packet access memory that nothing else accesses meanwhile. Then only the last of them
// has an event. The others are carried out lazily, each with its own time and its place on the link: settle...()
// carries out the TLPs that were due before now, and all code that uses a node's link, accesses its memory or reads its
// counters settles first. If a thread watches memory that a burst is still writing, the burst breaks: its remaining
// TLPs get events of their own, since each may wake the thread. Times, values and orders thus equal those of separate
// events, except for accesses at the very same instant, where the one that settles comes first.
//
// There are no bursts in searches, where any pending event may come next (SystemConfig::timed), nor where each TLP is
// observed, waits for credits, or may pass others. Private to nic_model/.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nic_model/engine/engine.hpp"
#include "sim/event_queue.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// A burst of a PCIe read, for the payload of a work request or the data of a READ.
struct ReadBurst {
  EventKind what = kEventReadPayload;  // or kEventReadRemote
  QpId qp = 0;
  std::uint64_t number = 0;  // of the work request or the answer
  Address address = 0;       // start of the whole read
  std::uint32_t buffer = 0;
  std::uint32_t key = 0;
  std::uint32_t length = 0;  // bytes of the whole read
  std::uint32_t done = 0;    // bytes sampled so far
  std::uint32_t stop = 0;    // bytes after the last step, which is the one with the event
  sim::SimTime next{};       // time of the next step
  sim::SimTime there{};      // when the data sampled so far is in the NIC
  sim::EventHandle event{};

  bool operator==(const ReadBurst&) const = default;
};

/// A burst of TLPs of a posted write. The write itself records which of them are in memory.
struct WriteBurst {
  std::uint32_t domain = 0;
  std::uint64_t number = 0;
  Address address = 0;
  std::uint32_t length = 0;
  sim::EventHandle event{};

  bool operator==(const WriteBurst&) const = default;
};

/// A node's bursts: one read at a time, since reads share the link, and a few writes.
class Bursts {
 public:
  [[nodiscard]] bool any() const { return reading_ || writing_ != 0; }
  [[nodiscard]] bool reads() const { return reading_; }
  [[nodiscard]] ReadBurst& read() { return read_; }
  [[nodiscard]] std::span<WriteBurst> writes() { return std::span(writes_).first(writing_); }
  [[nodiscard]] bool takes_write() const { return !stopped_ && writing_ < writes_.size(); }

  void begin(const ReadBurst& burst) {
    read_ = burst;
    reading_ = true;
  }
  void end_read() { reading_ = false; }
  void begin(const WriteBurst& burst) { writes_[writing_++] = burst; }
  void end_write(std::size_t i) { writes_[i] = writes_[--writing_]; }
  /// Forbids or allows bursts of writes. While forbidden, each TLP of a write has an event.
  void stop_writes(bool stop) { stopped_ = stop; }

  bool operator==(const Bursts& other) const;

 private:
  ReadBurst read_{};
  std::array<WriteBurst, 4> writes_{};
  std::uint32_t writing_ = 0;
  bool reading_ = false;
  bool stopped_ = false;
};

// --- reads: for requester and responder ------------------------------------------------------------------------------

/// Turns a read into a burst, with its next step at `plan.next`, and schedules the event of its last step. Returns
/// false if its steps need an event each.
bool begin_burst(Engine& engine, NicId node, ReadBurst plan);
/// Handles a burst's event. Returns true if the last step is due: the burst ends, and the caller makes that step.
/// Returns false if the link was not free in time; another event follows.
bool end_burst(Engine& engine, NicId node, ReadBurst& done);
/// Ends a burst early: its next step gets an event of its own.
void break_read_burst(Engine& engine, NicId node, ReadBurst& done);
/// Ends a burst whose steps somebody else carries out.
void drop_read_burst(Engine& engine, NicId node);

// --- for all code that accesses the link, memory or counters ---------------------------------------------------------

// Implemented in bursts.cpp.
void settle_read_burst(Engine& engine, NicId node);
void settle_write_bursts(Engine& engine, NicId node);
void settle_bursts_at(Engine& engine, NicId node, Address address, std::uint64_t size);
void break_watched_bursts(Engine& engine, ThreadId thread);
/// `allow` is false while packets wait for room in the receive buffer, because each TLP that reaches memory frees some.
void allow_write_bursts(Engine& engine, NicId node, bool allow);

[[nodiscard]] Bursts& bursts_of(Engine& engine, NicId node);

/// Carries out the due TLPs of a NIC's bursts before memory from `address` on is read or written.
inline void settle_memory(Engine& engine, NicId node, Address address, std::uint64_t size) {
  if (engine.kernel.bursting() && bursts_of(engine, node).any()) settle_bursts_at(engine, node, address, size);
}
/// The same for a host's memory: where there are bursts, hosts have one NIC.
inline void settle_memory(Engine& engine, HostId host, Address address, std::uint64_t size) {
  settle_memory(engine, first_nic(host), address, size);
}
/// Does so for all NICs, before counters are read.
void settle_all(Engine& engine);
/// Call this when a thread begins to watch memory: each TLP that changes it needs an event.
inline void settle_watched(Engine& engine, ThreadId thread) {
  if (engine.kernel.bursting()) break_watched_bursts(engine, thread);
}

}  // namespace loco::nic
