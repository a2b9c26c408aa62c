#include "loco_sim/loco/var.hpp"

#include "loco_sim/loco/errors.hpp"

namespace loco {

void require_owner(const channel& variable, NodeId owner, NodeId node) {
  if (owner != node)
    throw ownership_error("variable '" + variable.full_name() + "' is owned by node " + std::to_string(owner) +
                          ": node " + std::to_string(node) + " may not write or push it");
}

}  // namespace loco
