// CPU costs of the calls of a verbs library; the only place where posting has a price. Every other cost of a core is a
// single field of the profile (cpu.load, cpu.store, cpu.fence, cpu.atomic).
//
// The fields and the sources of their values: nic_model/profile_options.cpp, hardware/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nic_model/profile.hpp"
#include "sim/time.hpp"

namespace loco::hosts {

/// Building `count` work requests in the send queue.
[[nodiscard]] inline sim::Duration build_cost(const nic::HardwareProfile& p, std::size_t count = 1) {
  return p.cpu_post_wqe * static_cast<std::int64_t>(count);
}
/// Ringing the doorbell, once for all of them.
[[nodiscard]] inline sim::Duration ring_cost(const nic::HardwareProfile& p) { return p.cpu_doorbell; }
/// Posting receives from within a message library: two stores each (16 bytes of work request), and one for the doorbell
/// record, which lies in host memory.
[[nodiscard]] inline sim::Duration refill_cost(const nic::HardwareProfile& p, std::size_t count) {
  return p.cpu_store * static_cast<std::int64_t>(2 * count + 1);
}
/// Posting receives with ibv_post_recv or ibv_post_srq_recv, as charged to a verbs program: a store each.
[[nodiscard]] inline sim::Duration receive_cost(const nic::HardwareProfile& p, std::size_t count = 1) {
  return p.cpu_store * static_cast<std::int64_t>(count);
}
/// A poll that takes `taken` completions.
[[nodiscard]] inline sim::Duration poll_cost(const nic::HardwareProfile& p, std::size_t taken) {
  return taken == 0 ? p.cpu_poll_empty : p.cpu_poll_cqe * static_cast<std::int64_t>(taken);
}

}  // namespace loco::hosts
