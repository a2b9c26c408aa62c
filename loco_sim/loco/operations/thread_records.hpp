// What a node notes of each of its threads' operations, until a fence: which nodes may not have its writes yet, which
// endpoints it has posted through.
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
  struct record {
    Region landing;                ///< where the thread's global fences let the values land that they read
    bool used_loopback = false;    ///< it has operated on its own node since the last global fence there
    std::vector<bool> unplaced{};  ///< by node: it may not have all that the thread has written there
    /// Endpoints that it has posted through, and towards which nodes (one number for both), since it has fenced these.
    /// Ascending.
    std::vector<std::uint64_t> unfenced{};
    std::shared_ptr<block_pool> blocks = std::make_shared<block_pool>();
  };

  explicit thread_records(Transport& transport) : transport_(transport) {}

  /// The calling thread's.
  [[nodiscard]] record& mine();
  /// The calling thread posts an operation. `fenced`: a fence has to wait until what it writes is there. Throws
  /// std::logic_error when the thread has given a block back too early.
  void note_operation(const Region& remote, bool fenced);
  /// All that the calling thread has posted towards these nodes is done.
  void note_fenced(std::span<const NodeId> nodes);
  /// Operations through these endpoints are done, whoever has posted them.
  void forget(std::span<const std::uint32_t> lives);
  /// Operations through an endpoint that their threads have not fenced.
  [[nodiscard]] std::vector<departures::use> uses_of(std::uint32_t life);

 private:
  static void note_use(record& thread, const Region& remote);

  Transport& transport_;
  std::mutex mutex_;
  std::map<std::uint32_t, record> threads_;
};

}  // namespace loco
