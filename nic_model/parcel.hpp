// What crosses between the parts of a machine (parts.hpp). Private to nic_model/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/share.hpp"
#include "nic_model/engine/payloads.hpp"
#include "sim/event_slot.hpp"

namespace loco::nic {

/// What crosses from one part to another.
struct Parcel {
  std::uint8_t to = 0;
  bool is_event = false;  ///< `event`, for a queue pair there; else `crossing`, on a link that leads there
  bool zero = false;      ///< the packet's payload is zeroes, which `payload` leaves out
  sim::Event event{};
  fabric::Crossing crossing{};
  std::vector<std::byte> payload{};
  std::vector<RepeatedSample> repeated{};
};

}  // namespace loco::nic
