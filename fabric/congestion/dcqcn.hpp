// DCQCN: rate control of one flow at its sender (reaction point), and pacing of CNPs at its receiver (notification
// point). Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1 and figure 7.
//
// Timers are not events: the rate between two packets has no effect, so they are caught up with when the rate is asked
// for, in the order in which they were due. Times that are given may therefore not run backwards.
// A flow starts at the line rate; alpha and the rates are integers (alpha in units of 2^-30). Values. What mlx5's
// firmware does besides, and with which numbers: mlx5_dcqcn(), docs/congestion.md.
#pragma once

#include <cstdint>

#include "fabric/congestion/options.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

class Dcqcn {
 public:
  Dcqcn() = default;
  explicit Dcqcn(sim::BitsPerSecond line, const DcqcnOptions& options = {});

  /// A CNP has come: cuts the rate.
  void on_cnp(sim::SimTime now, const DcqcnOptions& options);
  /// So many bytes of the flow have been sent.
  void on_bytes(sim::SimTime now, sim::Bytes sent, const DcqcnOptions& options);
  /// Lets the timers run that were due up to now.
  void on_timer(sim::SimTime now, const DcqcnOptions& options);

  [[nodiscard]] sim::BitsPerSecond rate() const { return rate_; }
  [[nodiscard]] sim::BitsPerSecond target() const { return target_; }
  /// In units of 2^-30.
  [[nodiscard]] std::uint32_t alpha() const { return alpha_; }
  static constexpr std::uint32_t kOne = 1U << 30U;

  bool operator==(const Dcqcn&) const = default;

 private:
  [[nodiscard]] bool limited() const { return rate_ < line_; }
  void increase(const DcqcnOptions& options);
  void cut(const DcqcnOptions& options);
  /// The part of alpha's distance that one step covers.
  [[nodiscard]] static std::uint32_t gained(std::uint32_t distance, const DcqcnOptions& options) {
    return static_cast<std::uint32_t>(std::uint64_t{distance} * options.g / options.g_inverse);
  }

  sim::BitsPerSecond line_{};
  sim::BitsPerSecond target_{};  // R_T
  sim::BitsPerSecond rate_{};    // R_C
  std::uint32_t alpha_ = kOne;
  std::uint32_t timed_ = 0;    // increases since the last CNP, by time
  std::uint32_t counted_ = 0;  // and by volume
  std::uint64_t bytes_ = 0;    // since the last increase by volume
  sim::SimTime alpha_due_{};
  sim::SimTime rate_due_{};
  sim::SimTime cut_at_{};
  bool has_cut_ = false;
};

/// When a receiver may send the next CNP of a flow.
class CnpPacer {
 public:
  /// A marked packet has come: is a CNP to be sent? At most one in `interval`.
  [[nodiscard]] bool due(sim::SimTime now, sim::Duration interval) {
    if (sent_ && now < next_) return false;
    sent_ = true;
    next_ = now + interval;
    return true;
  }
  bool operator==(const CnpPacer&) const = default;

 private:
  bool sent_ = false;
  sim::SimTime next_{};
};

}  // namespace loco::fabric
