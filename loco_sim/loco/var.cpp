#include "loco_sim/loco/var.hpp"

#include "loco_sim/loco/errors.hpp"

namespace loco {

void require_owner(std::string_view variable, NodeId owner, NodeId node) {
  if (owner != node)
    throw ownership_error("variable '" + std::string(variable) + "' is owned by node " + std::to_string(owner) +
                          ": node " + std::to_string(node) + " may not write or push it");
}

}  // namespace loco
