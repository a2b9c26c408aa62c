#include "loco_sim/loco/operations/connections.hpp"

#include <algorithm>

namespace loco {

connections::connection connections::with(NodeId node) const {
  if (!any()) return {};
  const std::lock_guard lock(mutex_);
  const auto found = renewed_.find(node);
  return found == renewed_.end() ? connection{} : found->second;
}

std::uint32_t connections::number(NodeId node) const { return with(node).number; }

bool connections::outdated(std::uint32_t life, NodeId node) const { return outdated(life) && with(node).life >= life; }

std::uint32_t connections::of(std::uint32_t life, NodeId node) const {
  const connection now = with(node);
  return outdated(life) && now.life >= life ? now.before : now.number;
}

void connections::renew(NodeId node, std::uint32_t number, std::uint32_t life) {
  const std::lock_guard lock(mutex_);
  connection& now = renewed_[node];
  now = {.number = number, .before = now.number, .life = life};
  latest_ = std::max(latest_.load(), life);
  any_.store(true, std::memory_order_release);
}

}  // namespace loco
