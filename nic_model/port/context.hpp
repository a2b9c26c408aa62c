// What a NIC needs before it can work for a queue pair: a processing unit, and in its caches the queue pair's context,
// the memory translation and the state of outstanding reads (docs/machine.md, "NIC, requester side").
//
// Units are a pool. A work request takes a free unit and keeps it busy for nic.unit_time and while its contexts are
// read. A queue pair has one unit at most. It asks for the next one when that unit is free; if all are busy, it waits
// behind the queue pairs that asked before (round robin). Only a queue pair that waits gets an event.
//
// A cache miss costs a PCIe read, and the number of such reads in flight is bounded. A packet whose context is missing
// waits, and so do later packets of its queue pair. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"
#include "nic_model/engine/key_cache.hpp"
#include "nic_model/engine/window.hpp"
#include "nic_model/port/congestion.hpp"
#include "sim/lazy.hpp"
#include "sim/prefetch.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

/// The processing units of a NIC, and its caches of contexts, translations and the state of reads.
class ContextCaches {
 public:
  explicit ContextCaches(const HardwareProfile& profile);

  /// Of a queue pair's context, or of the part of it that says where the data of answers goes.
  [[nodiscard]] static constexpr std::uint32_t context_key(QpId qp, bool data) { return qp << 1U | (data ? 1U : 0U); }
  /// Has the simulating machine's cache fetch what has_context() will look at. Changes nothing.
  void prefetch_context(QpId qp, bool data) const { contexts_.prefetch(context_key(qp, data)); }
  // True if the key was in the cache. It is from now on.
  bool has_context(std::uint32_t key) { return contexts_.touch(key); }
  bool has_translation(std::uint64_t key) { return translations_.touch(key); }
  /// The same, without using it.
  [[nodiscard]] bool holds_translation(std::uint64_t key) const { return translations_.holds(key); }
  bool has_read_state(std::uint32_t key, std::uint32_t slot) { return read_states_.touch(key, slot); }

  [[nodiscard]] sim::SimTime unit_free_since(std::uint32_t units) const { return units_.free_since(units); }
  void take_unit(std::uint32_t units, sim::SimTime now, sim::SimTime until) {
    units_.take(units, until);
    busy_units_ += until - now;
  }
  /// The queue pair that has waited longest for a unit, or kNone.
  [[nodiscard]] QpId first_waiter() const { return waiters_.empty() ? kNone : waiters_.front(); }
  /// Returns true if no other queue pair waits.
  bool wait(QpId qp) {
    waiters_.push_back(qp);
    return waiters_.size() == 1;
  }
  void forget_first_waiter() { waiters_.pop_front(); }

  [[nodiscard]] sim::Duration busy_units() const { return busy_units_; }  ///< of all units together

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant when an invariant does not hold.
  void check(NicId node, const HardwareProfile& p, sim::SimTime now) const;
  bool operator==(const ContextCaches&) const = default;

 private:
  KeyCache<std::uint32_t> contexts_;
  KeyCache<std::uint64_t> translations_;
  KeyCache<std::uint32_t> read_states_;
  UnitPool units_{};
  sim::Ring<QpId> waiters_{};  // queue pairs waiting because all units are busy; the first one gets the event
  sim::Duration busy_units_{};
};

/// A packet that waits for its queue pair's context.
struct StalledPacket {
  sim::SimTime ready{};
  fabric::Packet packet{};
  std::uint32_t next = kNone;  // the packet behind it, or kNone
  std::uint32_t last = kNone;  // of the first one: the last one of its queue pair

  bool operator==(const StalledPacket&) const = default;
};

/// What a NIC's port and context caches keep for a queue pair.
class alignas(sim::kCacheLine / 2) NicContext {
 public:
  // --- its processing unit -------------------------------------------------------------------------------------------
  /// True if it waits for the unit that works for it, or for any unit of the pool.
  [[nodiscard]] bool waits_for_unit() const { return waits_for_unit_; }
  void wait_for_unit(bool waits) { waits_for_unit_ = waits; }
  /// When it may start its next work request.
  [[nodiscard]] sim::SimTime unit_until() const { return unit_until_; }
  void take_unit_until(sim::SimTime until) { unit_until_ = until; }
  void count_gap(sim::Duration gap) { gap_busy_ += gap; }
  [[nodiscard]] sim::Duration gap_busy() const { return gap_busy_; }  ///< time in nic.qp_gap
  void count_unit() { ++units_; }
  [[nodiscard]] std::uint32_t units() const { return units_; }  ///< times nic.unit_time, where that is longer

  // --- READs and atomics that may be outstanding ---------------------------------------------------------------------
  /// A work request waits for the answer to an earlier one.
  void begin_wait(sim::SimTime now) {
    if (seldom_->waits_since.ps == 0) seldom_.edit().waits_since = now;
  }
  void end_wait(sim::SimTime now) {
    if (seldom_->waits_since.ps == 0) return;
    seldom_.edit().waited = waited(now);
    seldom_.edit().waits_since = {};
  }
  [[nodiscard]] sim::Duration waited(sim::SimTime now) const {
    return seldom_->waits_since.ps == 0 ? seldom_->waited : seldom_->waited + (now - seldom_->waits_since);
  }

  // --- its answers to READs ------------------------------------------------------------------------------------------
  void count_answer(sim::Duration time) { seldom_.edit().answers_busy += time; }
  /// Time spent on packets of READ data, each until the next one may leave; only with nic.read_gap.
  [[nodiscard]] sim::Duration answers_busy() const { return seldom_->answers_busy; }

  // --- packets that wait for it --------------------------------------------------------------------------------------
  [[nodiscard]] bool has_stalled() const { return stalled_first_ != kNone; }
  [[nodiscard]] std::uint32_t stalled_first() const { return stalled_first_; }  ///< index into Engine::stalled
  void push_stalled(sim::Pool<StalledPacket>& all, const fabric::Packet& packet, sim::SimTime ready);
  fabric::Packet pop_stalled(sim::Pool<StalledPacket>& all);

  // --- congestion control, when it is on -----------------------------------------------------------------------------
  [[nodiscard]] const CongestionControl& congestion() const { return seldom_->congestion; }
  [[nodiscard]] CongestionControl& edit_congestion() { return seldom_.edit().congestion; }
  /// To call when a new connection begins.
  void forget_congestion() {
    if (!(congestion() == CongestionControl{})) edit_congestion() = {};
  }

  /// Throws sim::BrokenInvariant when an invariant does not hold.
  void check(QpId id, sim::SimTime now) const;
  bool operator==(const NicContext&) const = default;

 private:
  /// What many queue pairs never need.
  struct Seldom {
    sim::SimTime waits_since{};  // 0: nothing waits
    sim::Duration waited{};
    sim::Duration answers_busy{};
    CongestionControl congestion{};
    bool operator==(const Seldom&) const = default;
  };

  sim::SimTime unit_until_{};
  std::uint32_t stalled_first_ = kNone;
  std::uint32_t units_ : 31 = 0;
  bool waits_for_unit_ : 1 = false;
  sim::Duration gap_busy_{};
  sim::Lazy<Seldom> seldom_{};
};

static_assert(sizeof(NicContext) == sim::kCacheLine / 2, "there can be millions");

/// Loads the translations of these pages of a region into the NIC's cache, as any use of them does.
void use_translations(Engine& engine, NicId nic, std::uint32_t key, Address base, std::uint64_t size);
/// How many bytes from `base` on, at most `size`, are in pages whose translations are there.
[[nodiscard]] std::uint64_t translated(const Engine& engine, NicId nic, std::uint32_t key, Address base,
                                       std::uint64_t size);
/// Asks for a processing unit, and for the cache entries that the queue pair's next work request needs. If it returns
/// false, the queue pair waits, and start() is called when a unit is free. If true, `stall` is what the missing
/// contexts cost.
bool take_unit(Engine& engine, QpId qp, const Wqe& wqe, std::uint32_t number, sim::Duration& stall);
/// kEventUnitFree: the queue pair's wait ends, and it is to start a work request. Returns whether the unit is from the
/// pool. Then end_turn() must be called once the request has started, to tell the next queue pair that waits.
[[nodiscard]] bool begin_turn(Engine& engine, QpId qp);
void end_turn(Engine& engine, QpId qp);

/// True if the packet must wait for contexts, or behind packets of its queue pair that do.
bool hold_arrival(Engine& engine, const fabric::Packet& packet);
/// kEventArrival: takes the oldest waiting packet of the queue pair.
fabric::Packet next_arrival(Engine& engine, QpId qp);

}  // namespace loco::nic
