// State of units that is still open to all of them, as plain records. Private to nic_model/.
#pragma once

#include <cstdint>

namespace loco::nic {

/// What is on a host's NIC besides.
struct Host {
  std::uint32_t queue_pairs = 0;
  std::uint64_t device_memory = 0;  // on the NIC, in regions

  bool operator==(const Host&) const = default;
};

}  // namespace loco::nic
