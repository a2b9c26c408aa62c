// Invariants of the models: a broken one stops the run and names the simulated time and the component.
//
// Checked in every build, at the cost of one predictable branch. Errors that a user can cause are reported otherwise,
// and a simulated failure (a NAK, a timeout) is a value of the model; only a defect of the simulator ends up here. The
// code that runs the simulation catches BrokenInvariant and adds the scenario and the seed.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/time.hpp"

namespace loco::sim {

class BrokenInvariant : public std::logic_error {
 public:
  BrokenInvariant(SimTime at, std::string_view component, std::string_view condition, std::string_view message);

  [[nodiscard]] SimTime at() const { return at_; }
  [[nodiscard]] const std::string& component() const { return component_; }

 private:
  SimTime at_;
  std::string component_;
};

/// Out of line, so that the check costs its caller one branch and one call.
[[noreturn]] void broken_invariant(SimTime at, std::string_view component, std::string_view condition,
                                   std::string_view message);

}  // namespace loco::sim

/// Throws sim::BrokenInvariant unless `cond` holds; `component` and `message` are evaluated only then.
#define LOCO_INVARIANT(cond, time, component, message)                      \
  do {                                                                      \
    if (!(cond)) [[unlikely]]                                               \
      ::loco::sim::broken_invariant((time), (component), #cond, (message)); \
  } while (false)
