// Records for each thread of a node what its next fences have to settle: the nodes that may still lack its writes, and
// the endpoints that it has posted through.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "loco_sim/loco/memory/block_pool.hpp"
#include "loco_sim/loco/memory/departures.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class thread_records {
 public:
  /// How a thread backs off from locks that it finds taken (mutex_array::try_lock).
  struct backing_off {
    std::uint32_t refusals = 0;  ///< tries that failed since one succeeded
    std::int64_t took_ps = 0;    ///< the last of them
    bool refused = false;        ///< the last try failed
    bool let_go = false;         ///< then the thread let go of a lock
  };

  struct record {
    Region landing;                ///< where the values land that the thread's global fences read
    bool used_loopback = false;    ///< it has used loopback since its last global fence of this node
    std::vector<bool> unplaced{};  ///< by node: it may still lack writes of this thread
    /// Endpoints that the thread has posted through, each with the target node packed into the same number, until that
    /// node is fenced. Ascending.
    std::vector<std::uint64_t> unfenced{};
    std::shared_ptr<block_pool> blocks = std::make_shared<block_pool>();
    backing_off locks{};
  };

  explicit thread_records(Transport& transport) : transport_(transport) {}

  /// The record of the calling thread.
  [[nodiscard]] record& mine();
  /// The calling thread posts an operation. `fenced`: fences wait for its remote write. Throws std::logic_error if the
  /// thread has given a block back too early.
  void note_operation(const Region& remote, bool fenced);
  /// All operations of the calling thread towards these nodes are done.
  void note_fenced(std::span<const NodeId> nodes);
  /// The operations of all threads through these endpoints are done.
  void forget(std::span<const std::uint32_t> lives);
  /// Operations through an endpoint that their threads have not fenced yet.
  [[nodiscard]] std::vector<departures::use> uses_of(std::uint32_t life);

 private:
  static void note_use(record& thread, const Region& remote);

  Transport& transport_;
  std::mutex mutex_;
  std::map<std::uint32_t, record> threads_;
};

}  // namespace loco
