// Swift: a window that holds the delay at a target. Kumar et al., "Swift: Delay is Simple and Effective for Congestion
// Control in the Datacenter", SIGCOMM 2020, algorithm 1 and section 3.5. What the paper leaves open is as htsim has it.
//
//   target   base + switches * hop + clamp(A / sqrt(cwnd) + b, 0, range), where A and b make that `range` at the least
//            window and 0 at the largest
//   delay < target   cwnd + ai acked / cwnd, below one packet + ai acked
//   else             once a round trip, cwnd * max(1 - beta (delay - target) / delay, 1 - max_mdf)
//   loss             once a round trip, cwnd (1 - max_mdf); five time-outs in a row: the least window
//
// Below one packet, one goes each rtt / cwnd. The delay is the round trip between NICs. The window of the receiving
// host's delay is not there: a NIC answers when it has a packet, and hosts are not asked. Windows in units of 2^-20
// packets, times whole picoseconds. A value.
#pragma once

#include <cstdint>

#include "fabric/congestion/feedback.hpp"
#include "fabric/congestion/options.hpp"

namespace loco::fabric {

class Swift {
 public:
  Swift() = default;
  Swift(const CongestionPath& path, const SwiftOptions& options);

  void on_ack(sim::SimTime now, const Feedback& feedback, const SwiftOptions& options);
  void on_loss(sim::SimTime now, const SwiftOptions& options);
  void on_timeout(sim::SimTime now, const SwiftOptions& options);
  /// 0: packets are not paced.
  [[nodiscard]] sim::BitsPerSecond rate() const;
  /// Bytes; one packet at least.
  [[nodiscard]] std::uint64_t window() const;
  /// In units of 2^-20 packets.
  [[nodiscard]] std::uint64_t packets() const { return window_; }
  [[nodiscard]] sim::Duration target(const SwiftOptions& options) const;

  bool operator==(const Swift&) const = default;

 private:
  /// Is it a round trip since the last cut? Then this is one.
  bool may_cut(sim::SimTime now);
  void bound(const SwiftOptions& options);

  std::uint32_t switches_ = 0;
  sim::Bytes packet_{};
  std::uint64_t window_ = 0;
  sim::Duration rtt_{};
  sim::SimTime cut_{};
  bool has_cut_ = false;
  std::uint32_t timeouts_ = 0;  // in a row
};

}  // namespace loco::fabric
