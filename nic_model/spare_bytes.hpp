// What is left of a message that is being sent: for leaving out what only repeats (System::shorten_message, leave_out).
#pragma once

#include <cstdint>

#include "nic_model/verbs.hpp"

namespace loco::nic {

/// How far a queue pair's payloads have been read over PCIe: all work requests before `number`, and so many bytes of
/// that one, also in the middle of a burst that has been settled.
struct ReadSoFar {
  std::uint32_t number = 0;
  std::uint32_t done = 0;
};

struct SpareBytes {
  std::uint32_t bytes = 0;   ///< not sent, and either all read over PCIe or not yet read
  std::uint32_t unsent = 0;  ///< also what has been read
  std::uint32_t ahead = 0;   ///< read and not sent
  ReadSoFar read{};
  Address from = 0, to = 0;  ///< of the next byte that is sent
};

}  // namespace loco::nic
