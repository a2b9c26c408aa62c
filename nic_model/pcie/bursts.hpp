// Bursts: TLPs of one packet that one event stands for, because nothing else can fall between them.
//
// In a timed run most TLPs of a packet access memory that nothing else accesses meanwhile. Then only the last of them
// has an event. The others are carried out lazily, each at its time and in its place on the link: settle...() carries
// out the TLPs that were due before now, and all code that uses a node's link, accesses its memory or reads its
// counters settles first. A thread that watches memory which a burst is still writing breaks the burst: from then on
// its TLPs have events of their own, since they may wake the thread. So times, values and orders are those of separate
// events, but for accesses at the very same instant: the one that settles comes first.
//
// There are no bursts where any pending event may come next (SystemConfig::timed), nor where each TLP is observed,
// waits for credits, or may pass others. Private to nic_model/.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nic_model/engine/engine.hpp"
#include "sim/event_queue.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// Steps of the PCIe read of a payload, or of what a READ asks for.
struct ReadBurst {
  EventKind what = kEventReadPayload;  // or kEventReadRemote
  QpId qp = 0;
  std::uint64_t number = 0;  // of the work request, or of the answer
  Address address = 0;       // of the whole read
  std::uint32_t buffer = 0;
  std::uint32_t key = 0;
  std::uint32_t length = 0;  // of the whole read
  std::uint32_t done = 0;    // bytes that have been sampled
  std::uint32_t stop = 0;    // bytes once the last step has been made, which has the event
  sim::SimTime next{};       // when the next step is made
  sim::SimTime there{};      // when what has been sampled is in the NIC
  sim::EventHandle event{};

  bool operator==(const ReadBurst&) const = default;
};

/// TLPs of a posted write; which of them are in memory is said there.
struct WriteBurst {
  std::uint32_t domain = 0;
  std::uint64_t number = 0;
  Address address = 0;
  std::uint32_t length = 0;
  sim::EventHandle event{};

  bool operator==(const WriteBurst&) const = default;
};

/// Those of a node: one read at a time, since reads share the link, and a few writes.
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
  /// Each TLP of a write has an event from now on, or need not have any more.
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

/// Makes a burst of a read, whose next step would be at `plan.next`; schedules the event of its last one. False: its
/// steps need an event each.
bool begin_burst(Engine& engine, NodeId node, ReadBurst plan);
/// The event of a burst: true when it is time for its last step, which is left to the caller; the burst is over
/// then. False when the link was not free in time: there will be another event.
bool end_burst(Engine& engine, NodeId node, ReadBurst& done);
/// The burst is over before its time: the next step has an event of its own.
void break_read_burst(Engine& engine, NodeId node, ReadBurst& done);

// --- for all code that accesses the link, memory or counters ---------------------------------------------------------

// bursts.cpp
void settle_read_burst(Engine& engine, NodeId node);
void settle_write_bursts(Engine& engine, NodeId node);
void settle_bursts_at(Engine& engine, NodeId node, Address address, std::uint64_t size);
void break_watched_bursts(Engine& engine, ThreadId thread);
/// False where packets wait for room in the receive buffer: each TLP that is in memory makes some.
void allow_write_bursts(Engine& engine, NodeId node, bool allow);

[[nodiscard]] Bursts& bursts_of(Engine& engine, NodeId node);

/// Carries out the TLPs of a node's bursts that are due, before memory from `address` on is read or written.
inline void settle_memory(Engine& engine, NodeId node, Address address, std::uint64_t size) {
  if (engine.kernel.bursting() && bursts_of(engine, node).any()) settle_bursts_at(engine, node, address, size);
}
/// The same for all nodes, before counters are read.
void settle_all(Engine& engine);
/// A thread watches memory from now on: each TLP that changes it needs an event.
inline void settle_watched(Engine& engine, ThreadId thread) {
  if (engine.kernel.bursting()) break_watched_bursts(engine, thread);
}

}  // namespace loco::nic
