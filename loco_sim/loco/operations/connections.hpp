// The present connection with each peer, and which of this node's endpoints are stale.
//
// A program rejoins with a peer over a new connection (manager::reconnect). Endpoints made before can no longer reach
// that peer, because their locks, rings and indices have moved on without it. Each endpoint has an incarnation number
// (`life`), counted on its node in the order of creation.
//
//   incarnation, towards a peer   is reached over
//   present                       the connection with the greatest number
//   stale (outdated)              the previous connection, which has ended: operations on it fail
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class connections {
 public:
  /// Number of the present connection with a node; the first one is 0.
  [[nodiscard]] std::uint32_t number(NodeId node) const;
  /// True if an endpoint with that incarnation number was made before the present connection with `node` began.
  [[nodiscard]] bool outdated(std::uint32_t life, NodeId node) const;
  /// True if it was made before the present connection with some node began.
  [[nodiscard]] bool outdated(std::uint32_t life) const {
    return latest_.load(std::memory_order_acquire) >= life && life != manager_.load(std::memory_order_relaxed);
  }
  /// Number of the connection over which an endpoint with that incarnation number reaches a node: the present one, or
  /// one that has ended.
  [[nodiscard]] std::uint32_t of(std::uint32_t life, NodeId node) const;

  /// Rejoins with a node over connection `number`. Endpoints up to incarnation `life` become stale towards it.
  void renew(NodeId node, std::uint32_t number, std::uint32_t life);
  /// Exempts the manager's own endpoint, which is renewed with each connection.
  void set_manager(std::uint32_t life) { manager_.store(life, std::memory_order_relaxed); }

 private:
  struct connection {
    std::uint32_t number = 0;
    std::uint32_t before = 0;  ///< number of the previous connection
    std::uint32_t life = 0;
  };

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_acquire); }
  [[nodiscard]] connection with(NodeId node) const;

  std::atomic<bool> any_ = false;
  std::atomic<std::uint32_t> latest_ = 0;  ///< the greatest incarnation number that is stale towards any node
  std::atomic<std::uint32_t> manager_ = 0;
  mutable std::mutex mutex_;
  std::map<NodeId, connection> renewed_;
};

}  // namespace loco
