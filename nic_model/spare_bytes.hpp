// What is left of a message that is being sent: for leaving out what only repeats (System::shorten_message).
#pragma once

#include <cstdint>

#include "nic_model/verbs.hpp"

namespace loco::nic {

struct SpareBytes {
  std::uint32_t bytes = 0;  ///< not sent, and either all read over PCIe or not yet read
  std::uint32_t ahead = 0;  ///< read and not sent
  std::uint32_t sent = 0;
  std::uint32_t read = 0;    ///< of its payload, also in the middle of a burst that has been settled
  Address from = 0, to = 0;  ///< of the next byte that is sent
  bool all_read = false;     ///< of its own payload
  bool last_read = false;    ///< no payload behind its own is still to be read
};

}  // namespace loco::nic
