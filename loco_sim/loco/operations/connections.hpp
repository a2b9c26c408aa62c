// Which connection with each peer is the present one, and which endpoints of this node are of before.
//
// A program takes a peer back over a new connection (manager::reconnect). What it made before reaches that peer no
// more: locks, rings and indices have moved on without it. Endpoints are told apart by their lives, which are numbered
// in the order of their making on each node.
//
//   a life, towards a peer   is reached over
//   present                  the connection with the greatest number
//   outdated                 the one before, which has ended: nothing goes there any more
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class connections {
 public:
  /// Of the present connection with a node; the first one's is 0.
  [[nodiscard]] std::uint32_t number(NodeId node) const;
  /// Was an endpoint of that life made before the present connection with a node began?
  [[nodiscard]] bool outdated(std::uint32_t life, NodeId node) const;
  /// The same for any node.
  [[nodiscard]] bool outdated(std::uint32_t life) const {
    return latest_.load(std::memory_order_acquire) >= life && life != manager_.load(std::memory_order_relaxed);
  }
  /// The connection over which an endpoint of that life reaches a node: the present one, or one that has ended.
  [[nodiscard]] std::uint32_t of(std::uint32_t life, NodeId node) const;

  /// A node is taken back over the connection of that number; endpoints up to that life are of before.
  void renew(NodeId node, std::uint32_t number, std::uint32_t life);
  /// The manager's own endpoint is renewed with each connection.
  void set_manager(std::uint32_t life) { manager_.store(life, std::memory_order_relaxed); }

 private:
  struct connection {
    std::uint32_t number = 0;
    std::uint32_t before = 0;  ///< the one before
    std::uint32_t life = 0;
  };

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_acquire); }
  [[nodiscard]] connection with(NodeId node) const;

  std::atomic<bool> any_ = false;
  std::atomic<std::uint32_t> latest_ = 0;  ///< the greatest life of before
  std::atomic<std::uint32_t> manager_ = 0;
  mutable std::mutex mutex_;
  std::map<NodeId, connection> renewed_;
};

}  // namespace loco
