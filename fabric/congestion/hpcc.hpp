// HPCC: a window from in-band telemetry. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section
// 3.3 and algorithm 1.
//
//   u    of a hop, between two answers: min of both queues / (B T) + bytes sent / (time B), B the hop's rate
//   U    smoothed: (1 - tau/T) U + tau/T u of the hop with the largest u, tau <= T being the time between the answers
//   W    = W_c eta / U + W_AI when U >= eta or maxStage additive steps have been made; else W_c + W_AI
//   W_c  := W once a round trip: when the answer is to what was sent behind the last update
//
// Packets are paced at W / T. The first window is the port's rate times T. Bytes are those on the wire, times whole
// picoseconds, U in units of 2^-30. A value.
#pragma once

#include <cstdint>

#include "fabric/congestion/feedback.hpp"
#include "fabric/congestion/options.hpp"

namespace loco::fabric {

class Hpcc {
 public:
  Hpcc() = default;
  explicit Hpcc(const CongestionPath& path)
      : line_(path.line), base_(path.base_rtt), window_(bytes_at_line()), reference_(window_) {}

  void on_ack(sim::SimTime now, const Feedback& feedback, const HpccOptions& options);
  [[nodiscard]] sim::BitsPerSecond rate() const;
  [[nodiscard]] std::uint64_t window() const { return window_; }
  /// In units of 2^-30.
  [[nodiscard]] std::uint64_t utilisation() const { return utilisation_; }
  /// Begins with another window.
  void set_window(std::uint64_t bytes) { window_ = reference_ = bytes; }

  bool operator==(const Hpcc&) const = default;

 private:
  [[nodiscard]] std::uint64_t bytes_at_line() const;
  void measure(const Telemetry& seen);
  void adjust(const HpccOptions& options, bool update);

  sim::BitsPerSecond line_{};
  sim::Duration base_{};
  std::uint64_t window_ = 0;                             // W
  std::uint64_t reference_ = 0;                          // W_c
  std::uint64_t utilisation_ = std::uint64_t{1} << 30U;  // U
  std::uint32_t stage_ = 0;
  bool seen_any_ = false;
  Psn updated_{};  // what is answered from here on was sent behind the last update
  Telemetry last_{};
};

}  // namespace loco::fabric
