// Receive work requests of one queue pair, or shared by many of a node (IBTA volume 1, 10.8 and 10.2.9; verbs
// ibv_post_recv, ibv_srq).
//
// Order: receives are used in the order in which the NIC learns of them, which for each thread is its posting order.
// The ring has two parts: the NIC knows the first `visible` entries, whose doorbell record is in memory; the rest are
// only posted. responder/responder.hpp takes and completes them. Private to nic_model/.
#pragma once

#include <cstdint>
#include <vector>

#include "nic_model/engine/hash.hpp"
#include "nic_model/verbs.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class ReceiveQueue {
 public:
  /// `owner` is its queue pair, or kNone if it is shared.
  /// `cq` is where an XRC queue's completions go.
  ReceiveQueue(HostId node, std::uint32_t depth, QpId owner, CqId cq = kNone)
      : node_(node), depth_(depth), owner_(owner), cq_(cq) {}

  [[nodiscard]] HostId node() const { return node_; }
  [[nodiscard]] bool shared() const { return owner_ == kNone; }
  [[nodiscard]] QpId owner() const { return owner_; }
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  [[nodiscard]] CqId cq() const { return cq_; }
  [[nodiscard]] std::uint32_t room() const { return depth_ - static_cast<std::uint32_t>(entries_.size()); }
  /// The entries that the NIC knows, in order of use, then the others in order of posting.
  [[nodiscard]] std::vector<RecvWqe> posted() const;
  /// True if the NIC knows of an entry.
  [[nodiscard]] bool ready() const { return visible_ > 0; }

  /// Precondition: room() > 0.
  void post(const RecvWqe& wqe, ThreadId poster) { entries_.push_back({wqe, poster}); }
  /// The doorbell record of `count` more entries of this poster has reached memory.
  void reveal(ThreadId poster, std::uint32_t count);
  /// Removes and returns the oldest entry. Precondition: ready().
  RecvWqe take();
  /// Drops all entries: the queue pair enters RESET.
  void clear();

  /// Arms the limit of a shared queue; 0 disarms it.
  void set_limit(std::uint32_t limit) { limit_ = limit; }
  /// If fewer entries than an armed limit are left, disarms the limit (IBTA volume 1, 10.2.9.4), keeps the event for
  /// take_limit_event(), and returns true.
  bool reach_limit();
  /// Returns whether the event was pending, and clears it.
  bool take_limit_event();

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(std::uint32_t id, sim::SimTime now) const;
  bool operator==(const ReceiveQueue&) const = default;

 private:
  struct Entry {
    RecvWqe wqe{};
    ThreadId poster = 0;

    bool operator==(const Entry&) const = default;
  };
  HostId node_;
  std::uint32_t depth_;
  QpId owner_;
  CqId cq_;
  std::uint32_t limit_ = 0;
  bool limit_reached_ = false;
  std::uint32_t visible_ = 0;
  sim::Ring<Entry> entries_{};
};

}  // namespace loco::nic
