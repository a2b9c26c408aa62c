#include "loco_sim/loco/objects/var.hpp"

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/node_list.hpp"
#include "loco_sim/loco/memory/checksum.hpp"

namespace loco {

void require_owner(std::string_view variable, NodeId owner, NodeId node) {
  if (owner != node) refuse_writer(variable, owner, node);
}

void refuse_writer(std::string_view variable, NodeId owner, NodeId node) {
  throw ownership_error("variable '" + std::string(variable) + "' is owned by node " + std::to_string(owner) +
                        ": node " + std::to_string(node) + " may not write or push it");
}

std::string nodes_text(std::span<const NodeId> nodes) {
  constexpr std::size_t kListed = 16;
  if (nodes.size() == 1) return "node " + std::to_string(nodes.front());
  if (nodes.size() <= kListed) return "nodes " + list_of(nodes);
  checksum_of_words sum;
  for (const NodeId node : nodes) sum.add(node);
  return std::to_string(nodes.size()) + " nodes, checksum " + std::to_string(sum.value() % 1'000'000);
}

std::string owners_text(std::span<const NodeId> owners) { return "owned by " + nodes_text(owners); }

}  // namespace loco
