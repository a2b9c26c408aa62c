// A completion queue (IBTA volume 1, 11.4.2; verbs ibv_create_cq, ibv_poll_cq): holds CQEs in the order in which they
// were written, until threads poll them.
//
// A CQE that finds no room marks the queue as overrun; an overrun queue takes no further CQE. Private to nic_model/.
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
  CompletionQueue(HostId node, std::uint32_t entries) : node_(node), entries_(entries) {}

  [[nodiscard]] HostId node() const { return node_; }
  [[nodiscard]] std::uint32_t entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return cqes_.empty(); }
  [[nodiscard]] std::size_t size() const { return cqes_.size(); }
  [[nodiscard]] bool overrun() const { return overrun_; }
  [[nodiscard]] bool failed() const { return failed_; }  ///< a CQE with an error was written at some time
  /// Unpolled CQEs with an error, oldest first.
  [[nodiscard]] std::vector<Cqe> failed_cqes() const;

  /// True if it holds a CQE of that queue pair.
  [[nodiscard]] bool holds(QpId qp) const;

  /// Adds a CQE that has reached memory. Returns false if there is no room; all later calls return false too.
  [[nodiscard]] bool write(const Cqe& cqe);
  /// Removes and returns the oldest CQE. Precondition: !empty().
  Cqe poll();
  /// Returns false if it holds more CQEs than that.
  [[nodiscard]] bool resize(std::uint32_t entries) {
    if (entries < cqes_.size() || entries == 0) return false;
    entries_ = entries;
    return true;
  }
  /// Drops the CQEs of a queue pair that enters RESET.
  void forget(QpId qp);

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(CqId id, sim::SimTime now) const;
  bool operator==(const CompletionQueue&) const = default;

 private:
  HostId node_;
  std::uint32_t entries_;
  bool overrun_ = false;
  bool failed_ = false;
  sim::Ring<Cqe> cqes_{};
};

}  // namespace loco::nic
