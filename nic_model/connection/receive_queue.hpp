// Receive work requests of one queue pair, or shared by many of a node (IBTA volume 1, 10.8 and 10.2.9; verbs
// ibv_post_recv, ibv_srq).
//
// Order: they are used in the order in which the NIC comes to know of them, which of each thread is that of posting.
// Two windows of one ring: the NIC knows of the first ones (`visible`), whose doorbell record is in memory; those
// behind them are posted only. What takes and completes them is responder/responder.hpp. Private to nic_model/.
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
  /// `owner`: its queue pair; kNone: shared.
  /// `cq`: of a queue for XRC, where its completions go.
  ReceiveQueue(NodeId node, std::uint32_t depth, QpId owner, CqId cq = kNone)
      : node_(node), depth_(depth), owner_(owner), cq_(cq) {}

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] bool shared() const { return owner_ == kNone; }
  [[nodiscard]] QpId owner() const { return owner_; }
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  [[nodiscard]] CqId cq() const { return cq_; }
  [[nodiscard]] std::uint32_t room() const { return depth_ - static_cast<std::uint32_t>(entries_.size()); }
  /// In the order of use, as far as the NIC knows of them; then in that of posting.
  [[nodiscard]] std::vector<RecvWqe> posted() const;
  /// Does the NIC know of one?
  [[nodiscard]] bool ready() const { return visible_ > 0; }

  /// Precondition: room() > 0.
  void post(const RecvWqe& wqe, ThreadId poster) { entries_.push_back({wqe, poster}); }
  /// The doorbell record of `count` more of this poster's has reached memory.
  void reveal(ThreadId poster, std::uint32_t count);
  /// Takes the oldest. Precondition: ready().
  RecvWqe take();
  /// Drops all: the queue pair is RESET.
  void clear();

  /// Arms the limit of a shared queue; 0 disarms.
  void set_limit(std::uint32_t limit) { limit_ = limit; }
  /// Does it hold less than an armed limit? Then the limit is disarmed (IBTA volume 1, 10.2.9.4) and the event waits.
  bool reach_limit();
  /// Takes the event.
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
  NodeId node_;
  std::uint32_t depth_;
  QpId owner_;
  CqId cq_;
  std::uint32_t limit_ = 0;
  bool limit_reached_ = false;
  std::uint32_t visible_ = 0;
  sim::Ring<Entry> entries_{};
};

}  // namespace loco::nic
