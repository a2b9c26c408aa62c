#include "fabric/route_time.hpp"

#include <algorithm>

namespace loco::fabric {

namespace {

/// From a packet's begin on a link until it is ready at the next one's port.
std::int64_t to_next_port(const LinkInfo& link, const LinkInfo& next, sim::Duration switch_latency,
                          std::uint32_t bytes) {
  const std::int64_t whole = link.time(bytes);
  const bool cut_through = link.cut_through && bytes > kCutThroughBytes;
  const std::int64_t seen = cut_through ? std::max(link.headers_ps, whole - next.time(bytes)) : whole;
  return seen + link.delay_ps + switch_latency.ps;
}

}  // namespace

sim::Duration burst_time(std::span<const LinkInfo> route, sim::Duration switch_latency, const Burst& burst) {
  std::int64_t first = 0;                                                   // when the first packet begins on the link
  std::int64_t pace = burst.gap.ps;                                         // between two packets on it
  std::int64_t last = static_cast<std::int64_t>(burst.packets - 1) * pace;  // when the last packet begins
  for (std::size_t i = 0; i < route.size(); ++i) {
    const std::int64_t time = route[i].time(burst.full);
    pace = std::max(pace, time);
    if (burst.packets > 1) last = std::max(last, first + static_cast<std::int64_t>(burst.packets - 2) * pace + time);
    if (i + 1 == route.size()) break;
    first += to_next_port(route[i], route[i + 1], switch_latency, burst.full);
    last += to_next_port(route[i], route[i + 1], switch_latency, burst.last);
  }
  return {last + route.back().time(burst.last) + route.back().delay_ps};
}

sim::BitsPerSecond narrowest_rate(std::span<const LinkInfo> route) {
  sim::BitsPerSecond least{};
  for (const LinkInfo& link : route) {
    if (link.rate.value != 0 && (least.value == 0 || link.rate.value < least.value)) least = link.rate;
  }
  return least;
}

}  // namespace loco::fabric
