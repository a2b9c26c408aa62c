// Exclusive locks as in MPI libraries over RDMA, for comparison with LOCO's (LOCO paper, App. B.1 and Fig. 19).
//
// MPI_Win_lock(MPI_LOCK_EXCLUSIVE) of Open MPI (osc/rdma, osc/ucx): a remote compare-and-swap of the target's lock word
// from "unlocked" to "exclusive", repeated at once until it succeeds, without pause and without fairness.
// MPI_Win_unlock completes what the epoch has done at the target (the caller waits for its operations), then clears the
// bit with a remote add. The data that a lock protects is on the lock's node, in the same window. The add follows the
// writes on one queue pair, and a remote atomic pushes earlier writes, so no fence is needed. In LOCO, however, lock
// and data may be on different nodes. Left out: shared locks. The workload decides whether the data of each window is a
// registration of its own (LOCO paper: 341 of them strain the NIC's caches).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco::baselines {

class window_locks : public channel {
 public:
  /// Lock k is on node k modulo nodes.
  window_locks(manager& mgr, std::string_view name, std::uint64_t count)
      : channel(mgr, name, expect_num{mgr.num_nodes() - 1}),
        count_(count),
        words_(symmetric_region("words", (count + num_nodes() - 1) / num_nodes() * kWord)) {
    join();
  }

  [[nodiscard]] std::uint64_t size() const { return count_; }

  void lock(std::uint64_t k) {
    const call_scope call(transport(), {.library = "lock", .method = "acquire", .object = full_name(), .argument = k});
    mem_ref old(mgr(), kWord);
    ack_key key(mgr());
    do {
      mgr().compare_swap(old.address(), remote(words_, home(k)), offset(k), 0, kExclusive, &key);
      key.wait();
      if (old.load() == 0) return;
      require_all_answer();
    } while (true);
  }
  /// Precondition: the caller's operations under the lock are complete.
  void unlock(std::uint64_t k) {
    const call_scope call(transport(), {.library = "lock", .method = "release", .object = full_name(), .argument = k});
    mem_ref old(mgr(), kWord);
    ack_key key(mgr());
    mgr().fetch_add(old.address(), remote(words_, home(k)), offset(k), 0 - kExclusive, &key);
    key.wait();
  }

 private:
  static constexpr std::uint64_t kExclusive = std::uint64_t{1} << 32U;

  /// A window does not name the owner of a lock, which may be any node that does not answer.
  void require_all_answer() const {
    if (const auto lost = patience().lost_with(mgr(), *this, 0, 0))
      throw operation_error(Status::retry_exc_err,
                            "node " + std::to_string(my_node()) + ": '" + full_name() + "' does not come free; node " +
                                std::to_string(*lost) + ", which does not answer, may have it",
                            *lost);
  }
  [[nodiscard]] NodeId home(std::uint64_t k) const { return static_cast<NodeId>(k % num_nodes()); }
  [[nodiscard]] std::uint64_t offset(std::uint64_t k) const { return k / num_nodes() * kWord; }

  std::uint64_t count_;
  RegionIndex words_;
};

}  // namespace loco::baselines
