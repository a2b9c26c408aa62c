// TIMELY: a rate from the gradient of round trips. Mittal et al., "TIMELY: RTT-based Congestion Control for the
// Datacenter", SIGCOMM 2015, algorithm 1; with `patched` as Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of
// DCQCN and TIMELY", CoNEXT 2016, algorithm 2 has it.
//
// Packets are paced one by one. Of each segment that has been acknowledged:
// diff := (1 - gain) diff + gain (rtt - last one), gradient = diff / least RTT, and
//   rtt < T_low        rate + delta
//   rtt > T_high       rate (1 - beta (1 - T_high / rtt))
//   gradient <= 0      rate + delta, from the fifth time in a row on + 5 delta
//   else               rate (1 - beta gradient)
// patched, between T_low and T_high: (1 - w) delta + rate (1 - w beta (rtt - T_low) / T_low), where w goes from 0 to 1
// as the gradient goes from -1/4 to 1/4.
//
// Rates are whole bits a second, times whole picoseconds. A value.
#pragma once

#include <cstdint>

#include "fabric/congestion/feedback.hpp"
#include "fabric/congestion/options.hpp"

namespace loco::fabric {

class Timely {
 public:
  Timely() = default;
  Timely(const CongestionPath& path, const TimelyOptions& options)
      : line_(path.line), rate_(options.rate_first.value == 0 ? path.line : options.rate_first) {}

  void on_ack(sim::SimTime now, const Feedback& feedback, const TimelyOptions& options);
  [[nodiscard]] sim::BitsPerSecond rate() const { return rate_; }

  bool operator==(const Timely&) const = default;

 private:
  void completed(sim::Duration rtt, const TimelyOptions& options);
  [[nodiscard]] std::int64_t patched(sim::Duration rtt, std::int64_t gradient, const TimelyOptions& options) const;
  [[nodiscard]] std::int64_t next_rate(sim::Duration rtt, const TimelyOptions& options);

  sim::BitsPerSecond line_{};
  sim::BitsPerSecond rate_{};
  sim::Duration last_{};            // RTT
  std::int64_t difference_ = 0;     // smoothed, picoseconds
  std::uint32_t increases_ = 0;     // in a row, with a gradient that was not positive
  std::uint64_t acknowledged_ = 0;  // of this segment
};

}  // namespace loco::fabric
