// Checks of the units' invariants: each unit has a check() of the conditions that hold between two steps. Debug builds
// call it after every step (LOCO_SIM_CHECK_STEPS). Private to nic_model/.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/id.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// The check of one unit at one time. Throws sim::BrokenInvariant for a condition that does not hold.
class Check {
 public:
  /// `unit`: what is checked ("requester"); `of`: whose it is ("queue pair", "node"), with its index.
  Check(sim::SimTime now, std::string_view unit, std::string_view of, std::uint32_t index)
      : now_(now), unit_(unit), of_(of), index_(index) {}
  template <class Kind>
  Check(sim::SimTime now, std::string_view unit, std::string_view of, sim::Id<Kind> id)
      : Check(now, unit, of, id.index()) {}

  /// `what`: the condition in words.
  void holds(bool condition, std::string_view what) const {
    if (!condition) [[unlikely]]
      fail(what);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const;

  sim::SimTime now_;
  std::string_view unit_;
  std::string_view of_;
  std::uint32_t index_;
};

}  // namespace loco::nic
