// Bounds the wait for a turn that other nodes pass on. Once some node does not answer, the turn may have been lost with
// it.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

class patience {
 public:
  /// `state` is the present state of the wait. Returns a node that does not answer, if there is one and the state has
  /// not changed for `limit_ps`.
  [[nodiscard]] std::optional<NodeId> lost_with(const networked_node& mgr, const channel& endpoint, std::uint64_t state,
                                                std::int64_t limit_ps) {
    if (!endpoint.any_lost()) return std::nullopt;
    const std::int64_t now = mgr.transport().now_ps();
    if (state != seen_) {
      seen_ = state;
      since_ps_ = now;
    }
    if (now - since_ps_ < limit_ps) return std::nullopt;
    for (NodeId node = 0; node < mgr.num_nodes(); ++node)
      if (endpoint.lost(node)) return node;
    return mgr.suspect();
  }

 private:
  std::uint64_t seen_ = ~std::uint64_t{0};
  std::int64_t since_ps_ = 0;
};

}  // namespace loco
