// State of units that is still open to all of them, as plain records. Private to nic_model/.
#pragma once

#include <cstdint>

#include "nic_model/verbs.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

struct AtomicRequest {
  QpId qp = 0;
  std::uint64_t response = 0;

  bool operator==(const AtomicRequest&) const = default;
};

/// What is on a host's NIC besides.
struct Host {
  sim::Ring<AtomicRequest> atomics{};  // the head is being executed
  std::uint32_t queue_pairs = 0;
  std::uint64_t device_memory = 0;  // on the NIC, in regions
  sim::SimTime atomic_since{};      // the head of `atomics` has had the atomic unit
  sim::Duration atomics_busy{};     // that unit

  bool operator==(const Host&) const = default;
};

}  // namespace loco::nic
