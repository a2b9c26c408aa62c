// Timeouts that follow round trips: smoothed round trip plus four times its variation (Jacobson, SIGCOMM 1988; RFC
// 6298), doubled with each timeout, for the transports that use them (docs/transports.md). One packet at a time is
// measured, never a retransmitted one (Karn, Partridge, SIGCOMM 1987). Private to nic_model/.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class RoundTrips {
 public:
  /// A packet that requests an answer leaves.
  void sent(fabric::Psn psn, sim::SimTime now) {
    if (measuring_) return;
    measuring_ = true;
    psn_ = psn;
    sent_ = now;
  }
  /// Something is retransmitted, so the next answer may belong to either transmission: drops the measurement.
  void forget() { measuring_ = false; }
  /// This packet is answered, or with `up_to` every packet up to it.
  void answered(fabric::Psn psn, bool up_to, sim::SimTime now) {
    const std::int32_t ahead = psn.distance(psn_);
    if (!measuring_ || (up_to ? ahead < 0 : ahead != 0)) return;
    measuring_ = false;
    const sim::Duration trip = now - sent_;
    if (smoothed_.ps == 0) {
      smoothed_ = trip;
      variation_ = {trip.ps / 2};
      return;
    }
    const std::int64_t off = trip.ps > smoothed_.ps ? trip.ps - smoothed_.ps : smoothed_.ps - trip.ps;
    variation_ = {(3 * variation_.ps + off) / 4};
    smoothed_ = {(7 * smoothed_.ps + trip.ps) / 8};
  }
  [[nodiscard]] sim::Duration time_out(sim::Duration least, int doublings) const {
    return std::max(least, smoothed_ + variation_ * 4) * (std::int64_t{1} << doublings);
  }

  bool operator==(const RoundTrips&) const = default;

 private:
  bool measuring_ = false;
  fabric::Psn psn_{};
  sim::SimTime sent_{};
  sim::Duration smoothed_{};  // 0: not measured yet
  sim::Duration variation_{};
};

}  // namespace loco::nic
