#include "nic_model/requester/transmit_window.hpp"

#include <algorithm>

#include "probe/probe.hpp"

namespace loco::nic {

void TransmitWindow::acknowledged(fabric::Psn una, std::uint32_t news, sim::SimTime now, std::uint64_t per_second) {
  waited_ = {};
  doublings_ = 0;
  last_ = now;
  if (timing_ && una.distance(timed_) > 0) {
    timing_ = false;
    const sim::Duration round_trip = now - sent_;
    if (least_.ps == 0 || round_trip < least_) least_ = round_trip;
  }
  if (packets_ == 0) return;
  packets_ += news;
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kSecond = 1'000'000'000'000;
  const auto covers = static_cast<std::uint64_t>(Wide{per_second} * static_cast<std::uint64_t>(least_.ps) / kSecond);
  if (least_.ps == 0 || packets_ < covers) return;
  LOCO_PROBE(slow_restart_ends);
  packets_ = 0;
}

sim::Duration TransmitWindow::time_out(sim::Duration first, sim::Duration most) const {
  return std::min(most, first * (std::int64_t{1} << doublings_));
}

sim::Duration TransmitWindow::timed_out(sim::Duration after, sim::Duration most) {
  timing_ = false;
  if (after < most) ++doublings_;
  return waited_ += after;
}

}  // namespace loco::nic
