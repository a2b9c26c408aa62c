// NSCC: network-signalled congestion control of Ultra Ethernet 1.0, as far as it is public: the rules are those of the
// UEC's simulator (htsim, class UecSrc).
//
// Of an answer to n bytes with queueing delay d = rtt - base RTT, and target Q; a = BDP / (100 Gb/s * 12 us), b = Q /
// 12 us, MSS the payload of a packet:
//   unmarked, d < Q    4 MSS a b n (Q - d) / Q is to be added; after a window of delays below 1 us, n a / 4 at once
//   unmarked, d >= Q   5 MSS a n is to be added
//   marked, d >= Q     once a round trip, cwnd * max(1 - 0.8 (avg - Q) / avg, 1/2); avg, the delay, smoothed by 1/80
//   marked, d < Q      nothing
//   each 8 packets or round trip, what is to be added / cwnd is added; each round trip 0.15 MSS a more
//   lost, trimmed      cwnd less its bytes
//   quick adaptation   at the end of a period of RTT + Q in which something was lost, or d > 4 Q, and less than an
//                      eighth of the largest window was acknowledged: cwnd := that, and what is in flight then says
//                      nothing more
// cwnd is from one packet to 1.5 BDP, with which it begins. Bytes on the wire, picoseconds; fractions rounded down. A
// value.
#pragma once

#include <cstdint>

#include "fabric/congestion/feedback.hpp"
#include "fabric/congestion/options.hpp"

namespace loco::fabric {

class Nscc {
 public:
  Nscc() = default;
  Nscc(const CongestionPath& path, const NsccOptions& options);

  void on_ack(sim::SimTime now, const Feedback& feedback, const NsccOptions& options);
  void on_loss(sim::SimTime now, sim::Bytes lost, sim::Bytes in_flight, const NsccOptions& options);
  [[nodiscard]] std::uint64_t window() const { return window_; }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  [[nodiscard]] sim::Duration target() const { return target_; }
  /// What a round trip adds to the window when all of it is acknowledged: far below the target, beyond it, and always.
  [[nodiscard]] std::uint64_t proportional_increase() const;
  [[nodiscard]] std::uint64_t fair_increase() const;
  [[nodiscard]] std::uint64_t eta_increase() const;

  bool operator==(const Nscc&) const = default;

 private:
  bool increases_fast(std::uint64_t bytes, sim::Duration delay);
  void increase(std::uint64_t bytes, sim::Duration delay);
  void decrease(sim::SimTime now, sim::Duration rtt);
  void fulfil(sim::SimTime now, std::uint64_t bytes);
  bool adapt(sim::SimTime now, bool lost, sim::Duration delay, std::uint64_t in_flight);
  /// Are these bytes of those that say nothing?
  bool ignores(std::uint64_t bytes);
  void bound();

  sim::Duration base_{};
  sim::Duration target_{};  // Q
  std::uint64_t bdp_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t packet_ = 0;
  std::uint64_t segment_ = 0;   // MSS
  std::uint64_t window_ = 0;    // cwnd
  std::uint64_t to_add_ = 0;    // times the window
  std::uint64_t answered_ = 0;  // bytes since the last fulfilment
  std::uint64_t achieved_ = 0;  // bytes acknowledged in this period
  std::uint64_t fast_ = 0;      // bytes in a row with hardly a delay
  std::uint64_t ignored_ = 0;   // bytes that still say nothing
  sim::Duration average_{};     // of the queueing delay
  sim::SimTime fulfilled_{};
  sim::SimTime decreased_{};
  sim::SimTime period_end_{};
  bool has_decreased_ = false;
  bool lost_ = false;  // something in this period
};

}  // namespace loco::fabric
