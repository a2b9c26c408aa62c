// Deliberate faults of leaps (leaps.hpp), to show that a comparison with the whole run notices a wrong one. Tests set
// them; no scenario can.
#pragma once

#include <cstdint>

namespace loco::workloads::flows {

enum class LeapFault : std::uint8_t {
  none,
  packet_too_many,   ///< each flow is shortened by one packet more than the time of the leap carries
  period_too_short,  ///< later times are put forward by one period less than flows are shortened by
};

}  // namespace loco::workloads::flows
