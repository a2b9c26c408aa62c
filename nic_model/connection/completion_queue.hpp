// A completion queue (IBTA volume 1, 11.4.2; verbs ibv_create_cq, ibv_poll_cq): CQEs in the order in which they were
// written, until threads poll them.
//
// A CQE without room marks the queue as overrun, and from then on it takes none. Private to nic_model/.
#pragma once

#include <cstdint>
#include <vector>

#include "nic_model/engine/hash.hpp"
#include "nic_model/verbs.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class CompletionQueue {
 public:
  /// Precondition: entries > 0.
  CompletionQueue(NodeId node, std::uint32_t entries) : node_(node), entries_(entries) {}

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] std::uint32_t entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return cqes_.empty(); }
  [[nodiscard]] std::size_t size() const { return cqes_.size(); }
  [[nodiscard]] bool overrun() const { return overrun_; }
  [[nodiscard]] bool failed() const { return failed_; }  ///< a completion with an error has ever been written
  /// CQEs of operations that failed and that nobody has polled, oldest first.
  [[nodiscard]] std::vector<Cqe> failed_cqes() const;

  /// Has it any CQE of a queue pair?
  [[nodiscard]] bool holds(QpId qp) const;

  /// A CQE has reached memory. False: there is no room for it, now and for ever.
  [[nodiscard]] bool write(const Cqe& cqe);
  /// Takes the oldest CQE. Precondition: !empty().
  Cqe poll();
  /// False when more are in it.
  [[nodiscard]] bool resize(std::uint32_t entries) {
    if (entries < cqes_.size() || entries == 0) return false;
    entries_ = entries;
    return true;
  }
  /// Drops what a queue pair has left: it is RESET.
  void forget(QpId qp);

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(CqId id, sim::SimTime now) const;
  bool operator==(const CompletionQueue&) const = default;

 private:
  NodeId node_;
  std::uint32_t entries_;
  bool overrun_ = false;
  bool failed_ = false;
  sim::Ring<Cqe> cqes_{};
};

}  // namespace loco::nic
