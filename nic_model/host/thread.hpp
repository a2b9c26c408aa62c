// A simulated thread of a host: its store buffer (x86-TSO), its watch set, and the time of its next step. verbs/cpu.hpp
// has what it may do in a step. Private to nic_model/.
//
// Stores and doorbells leave the store buffer in the order in which they entered it, and only the oldest entry has a
// pending event. A thread has at most one pending step.
#pragma once

#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/host/watch_set.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

struct StoreEntry {
  bool doorbell = false;
  bool blueflame = false;  // the doorbell carries the work request
  bool receive = false;    // a doorbell record in memory, of receive queue `value`
  Address address = 0;
  std::uint64_t value = 0;  // of a store its value, of a doorbell the bytes of its TLP
  SubeventId subevent = 0;
  QpId qp = 0;
  std::uint32_t posted = 0;  // doorbell: the send queue's producer index; doorbell record: number of new entries
  sim::SimTime issued{};     // of a thread ahead of the clock: the entry leaves the store buffer no earlier

  /// True for a store to the NIC itself.
  [[nodiscard]] bool mmio() const { return doorbell && !receive; }
  bool operator==(const StoreEntry&) const = default;
};

enum class ThreadState : std::uint8_t { running, scheduled, paused, draining, waiting_room, stopped };

class Thread {
 public:
  explicit Thread(HostId node) : node_(node) {}

  [[nodiscard]] HostId node() const { return node_; }
  [[nodiscard]] ThreadState state() const { return state_; }
  [[nodiscard]] sim::Duration busy() const { return busy_; }  ///< time spent on anything but polling

  // --- store buffer ------------------------------------------------------------------------------------------------
  [[nodiscard]] bool stores_pending() const { return !buffer_.empty(); }
  /// True if one of the entries is a store to [base, base + size).
  [[nodiscard]] bool stores_pending(Address base, std::uint64_t size) const {
    for (std::size_t i = 0; i < buffer_.size(); ++i)
      if (!buffer_[i].doorbell && buffer_[i].address - base < size) return true;
    return false;
  }
  [[nodiscard]] bool store_buffer_full(const HardwareProfile& p) const {
    return buffer_.size() >= p.cpu_store_buffer_entries;
  }
  /// The entry that leaves next. Precondition: stores_pending().
  [[nodiscard]] const StoreEntry& oldest_store() const { return buffer_.front(); }
  /// The newest store to this word that is not in memory yet, or null.
  [[nodiscard]] const StoreEntry* forwarded(Address address) const {
    for (std::size_t i = buffer_.size(); i-- > 0;)
      if (!buffer_[i].doorbell && buffer_[i].address == address) return &buffer_[i];
    return nullptr;
  }
  /// Throws std::logic_error if the store buffer is full.
  void push(Engine& engine, ThreadId id, const StoreEntry& entry);
  /// Removes the oldest entry (kEventDrain) and schedules the next one. Precondition: stores_pending(). The caller
  /// carries out the entry and then calls drained().
  StoreEntry pop(Engine& engine, ThreadId id);
  /// Resumes a thread that waited for room in the store buffer, or for its last store to leave.
  void drained(Engine& engine, ThreadId id);

  // --- what it watches ---------------------------------------------------------------------------------------------
  void watch(std::uint64_t key) { watched_.add(key); }
  void watch_all_words() { watched_.add_all_words(); }
  [[nodiscard]] const WatchSet& watched() const { return watched_; }
  [[nodiscard]] bool noticed() const { return changed_; }  ///< something watched has changed since it was looked at
  void notice() { changed_ = true; }
  void forget_watched() {
    watched_.clear();
    changed_ = false;
  }
  /// Something watched has changed: a paused thread resumes with the turn of its loop that sees it.
  void wake(Engine& engine, ThreadId id, bool completion);

  // --- its steps: see Cpu --------------------------------------------------------------------------------------------
  void begin_step() { state_ = ThreadState::running; }
  void work(sim::Duration time) { busy_ += time; }
  void resume_at(Engine& engine, ThreadId id, sim::SimTime at);
  void pause_from(Engine& engine, ThreadId id, sim::Duration ahead, sim::Duration turn, sim::Duration take);
  /// If it is paused: its polling loop has made turns for this much longer, so they begin at other instants.
  void poll_for_longer(sim::SimTime now, sim::Duration time) {
    if (state_ == ThreadState::paused && paused_at_ <= now) paused_at_ = sim::SimTime{paused_at_.ps - time.ps};
  }
  [[nodiscard]] sim::Duration taken() const { return take_; }
  void wait_for_drain() { state_ = ThreadState::draining; }
  void wait_for_room() { state_ = ThreadState::waiting_room; }
  void stop() { state_ = ThreadState::stopped; }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant when an invariant does not hold.
  void check(ThreadId id, sim::SimTime now, const HardwareProfile& p) const;
  bool operator==(const Thread&) const = default;

 private:
  void schedule_drain(Engine& engine, ThreadId id) const;

  HostId node_;
  ThreadState state_ = ThreadState::scheduled;
  bool changed_ = false;
  sim::Ring<StoreEntry> buffer_{};
  WatchSet watched_{};
  sim::SimTime paused_at_{};  // when its polling loop would begin the next turn
  sim::Duration turn_{};      // how long a turn of that loop takes
  sim::Duration take_{};      // how long a turn that finds a completion takes to poll it
  sim::SimTime mmio_free_{};  // when the next store to the NIC may leave
  sim::Duration busy_{};
};

/// Bytes that a CPU writes to the NIC with one TLP (write combining). A work request takes several TLPs, a doorbell
/// only a part of one.
inline constexpr std::uint64_t kMmioBurst = 64;
[[nodiscard]] constexpr std::int64_t mmio_bursts(std::uint64_t bytes) {
  return static_cast<std::int64_t>((bytes + kMmioBurst - 1) / kMmioBurst);
}

}  // namespace loco::nic
