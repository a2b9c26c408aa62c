#include "loco_sim/loco/var.hpp"

#include "loco_sim/loco/checksum.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/node_list.hpp"

namespace loco {

void require_owner(std::string_view variable, NodeId owner, NodeId node) {
  if (owner != node)
    throw ownership_error("variable '" + std::string(variable) + "' is owned by node " + std::to_string(owner) +
                          ": node " + std::to_string(node) + " may not write or push it");
}

std::string owners_text(std::span<const NodeId> owners) {
  constexpr std::size_t kListed = 16;
  if (owners.size() == 1) return "owned by node " + std::to_string(owners.front());
  if (owners.size() > kListed) {
    checksum_of_words sum;
    for (const NodeId owner : owners) sum.add(owner);
    return "owned by " + std::to_string(owners.size()) + " nodes, checksum " + std::to_string(sum.value() % 1'000'000);
  }
  return "owned by nodes " + list_of(owners);
}

}  // namespace loco
