// What is left of a message that is being sent: for leaving out what only repeats (System::shorten_message).
#pragma once

#include <cstdint>

namespace loco::nic {

struct SpareBytes {
  std::uint32_t bytes = 0;  ///< not sent, and either all read over PCIe or not yet read
  std::uint32_t ahead = 0;  ///< read and not sent
};

}  // namespace loco::nic
