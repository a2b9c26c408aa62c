// What a message takes on a route that nobody else uses, in closed form: the sum that the packet model comes to event
// by event (docs/fabric.md, "A hop"). The flow model adds it to what sharing takes.
//
// Link i sends a packet of b bytes in t_i(b). The packet is ready at the next port w_i(b) after it has begun to leave:
//   store and forward   w_i = t_i(b) + delay_i + latency of the switch
//   cut through         w_i = max(t_i(64), t_i(b) - t_i+1(b)) + delay_i + latency: its last byte has to have come
// With n equal packets, the first begins on link i at A_i = w_1 + ... + w_i-1, and the k-th (k - 1) T_i later, T_i
// being the longest of t_1, ..., t_i: packets leave a link at the pace of the slowest so far. The last packet, which
// may be shorter, begins when it is ready and the port has sent the one before: that is worked out link by link.
#pragma once

#include <cstdint>
#include <span>

#include "fabric/wiring.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// The packets of a message, in bytes on the wire: all of them `full`, but the last. They come to the first port `gap`
/// apart; zero: all at once.
struct Burst {
  std::uint64_t packets = 1;
  std::uint32_t full = 0;
  std::uint32_t last = 0;
  sim::Duration gap{};
  [[nodiscard]] std::uint64_t bytes() const { return (packets - 1) * full + last; }
  bool operator==(const Burst&) const = default;
};

/// From when the first packet is at the first port until the last packet is handed over. `route`: one link or more.
[[nodiscard]] sim::Duration burst_time(std::span<const LinkInfo> route, sim::Duration switch_latency,
                                       const Burst& burst);

/// The rate of the narrowest link; 0 when none has a limit.
[[nodiscard]] sim::BitsPerSecond narrowest_rate(std::span<const LinkInfo> route);

}  // namespace loco::fabric
