#include "sim/invariant.hpp"

namespace loco::sim {

BrokenInvariant::BrokenInvariant(SimTime at, std::string_view component, std::string_view condition,
                                 std::string_view message)
    : std::logic_error("broken invariant at " + std::to_string(at.ps) + " ps in " + std::string(component) + ": " +
                       std::string(message) + " [" + std::string(condition) + "]"),
      at_(at),
      component_(component) {}

void broken_invariant(SimTime at, std::string_view component, std::string_view condition, std::string_view message) {
  throw BrokenInvariant(at, component, condition, message);
}

}  // namespace loco::sim
