// NSCC: network-signalled congestion control of Ultra Ethernet 1.0, as far as it is public: the rules are those of the
// UEC's simulator (htsim, class UecSrc).
//
// The base RTT is the configured one until a shorter one is measured. Of an answer to n bytes with queueing delay d =
// rtt - base RTT, and target Q; a = BDP / (100 Gb/s * 12 us), b = Q / 12 us, both of the configured base RTT, as Q is;
// MSS the payload of a packet:
//   unmarked, d < Q    4 MSS a b n (Q - d) / Q is to be added; after a window of delays below 1 us, n a / 4 at once
//   unmarked, d >= Q   5 MSS a n is to be added
//   marked, d >= Q     once a base RTT, cwnd * max(1 - 0.8 (avg - Q) / avg, 1/2)
//   marked, d < Q      nothing
//   each 8 packets or round trip, what is to be added / cwnd is added; each round trip 0.15 MSS a more
//   lost, trimmed      cwnd less its bytes
//   avg                smoothed by 1/80: of d; of a quarter of the base RTT where d > Q is unmarked; of the configured
//                      base RTT, which is about what a full queue takes, where a packet was lost
//   quick adaptation   at the end of a period of base RTT + Q, if something was lost since the last one (or d > 4 Q)
//                      and less than an eighth of the largest window was acknowledged in it: cwnd := that, and what
//                      is in flight then, as far as it is marked or lost, says nothing more
// cwnd is from one packet to 1.5 BDP of the base RTT, with which it begins. Bytes on the wire, picoseconds; fractions
// rounded down. A value.
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
  void on_loss(sim::SimTime now, const Loss& loss, const NsccOptions& options);
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
  void decrease(sim::SimTime now);
  void fulfil(sim::SimTime now, std::uint64_t bytes);
  /// What ended a period of quick adaptation, if one has ended.
  struct End {
    bool bad = false;  ///< marked, or lost
    sim::Duration delay{};
    std::uint64_t in_flight = 0;
  };
  /// True if quick adaptation leaves the answer nothing to say.
  bool adapt(sim::SimTime now, const End& end);
  /// A round trip, if one was measured.
  void learn(sim::Duration rtt);
  void average(sim::Duration delay, bool marked);
  void bound();

  sim::BitsPerSecond line_{};
  sim::Duration configured_{};  // base RTT
  sim::Duration base_{};
  sim::Duration target_{};     // Q
  std::uint64_t bdp_ = 0;      // of the configured base RTT
  std::uint64_t largest_ = 0;  // window
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
  bool lost_ = false;  // something since the last quick adaptation
};

}  // namespace loco::fabric
