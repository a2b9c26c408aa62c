#include "loco_sim/loco/operations/fence.hpp"

#include <algorithm>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

void global_fence(networked_node& mgr, std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) static_cast<void>(mgr.fence_location(node));  // throws before anything is posted
  if (!mgr.can_fence()) mgr.require_network("a global fence", Capability::reads_push_puts);
  const call_scope call(mgr.transport(), {.library = "sv", .method = "gf", .nodes = nodes});
  ack_key key(mgr);
  bool reads = false;
  for (const NodeId node : nodes) {
    mgr.note_placed(node);
    const bool own = node == mgr.my_node();
    if (own && !mgr.used_loopback()) continue;
    mgr.get(mgr.fence_landing(node), mgr.fence_location(node), 0, sizeof(std::uint64_t), &key);
    if (own) mgr.used_loopback() = false;  // the fence's own read is waited for below
    reads = true;
  }
  // A read is posted after the thread's stores and pushes them. Without a read only the stores remain to be waited for.
  if (!reads) mgr.transport().memory_fence();
  try {
    key.wait_innermost();
  } catch (const operation_error&) {
    mgr.check();  // an earlier failure is the cause and makes the better error
    throw;
  }
  mgr.note_fenced(nodes);
  mgr.check();
}

void global_fence(networked_node& mgr) {
  std::vector<NodeId> nodes(mgr.num_nodes());
  for (NodeId n = 0; n < mgr.num_nodes(); ++n) nodes[n] = n;
  global_fence(mgr, nodes);
}

void global_fence(networked_node& mgr, NodeId node) { global_fence(mgr, std::span(&node, 1)); }

void write_fence(networked_node& mgr, std::optional<NodeId> except) {
  const std::vector<NodeId> nodes = mgr.unplaced();
  const bool others = std::ranges::any_of(nodes, [&](NodeId node) { return node != except; });
  if (others) global_fence(mgr, nodes);
}

}  // namespace loco
