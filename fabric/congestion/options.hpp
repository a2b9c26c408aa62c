// What can be chosen about congestion control: which algorithm, and its parameters. Plain values; the table of keys is
// in fabric_options.cpp, sources and formulas of each algorithm in its header and in docs/congestion.md.
//
// Fractions are thousandths. The defaults are those of the papers, where they say them, else of the authors' code.
#pragma once

#include <cstdint>

#include "sim/time.hpp"

namespace loco::fabric {

enum class CongestionAlgorithm : std::uint8_t { none, dcqcn, hpcc, timely, swift, nscc };

/// Whose parameters DCQCN has where none are given.
enum class DcqcnProfile : std::uint8_t { paper, mlx5 };

/// DCQCN's reaction point (at the sender) and notification point (at the receiver): dcqcn.hpp.
struct DcqcnOptions {
  bool enabled = false;
  DcqcnProfile profile = DcqcnProfile::paper;
  std::uint32_t g = 1;  ///< the gain of alpha is g / g_inverse
  std::uint32_t g_inverse = 256;
  std::uint32_t alpha_first = 1'024;          ///< alpha when a flow begins, in 1/1024
  sim::Duration alpha_timer{55'000'000};      ///< without a CNP for so long, alpha decays
  sim::Duration rate_timer{55'000'000};       ///< between two timed increases
  sim::Bytes byte_counter{10'000'000};        ///< sent between two counted increases
  std::uint32_t fast_recovery = 5;            ///< F: increases before the rate grows beyond the target
  sim::BitsPerSecond additive{40'000'000};    ///< R_AI
  sim::BitsPerSecond hyper{400'000'000};      ///< R_HAI
  sim::BitsPerSecond rate_least{40'000'000};  ///< the rate never falls below
  sim::BitsPerSecond rate_most{0};            ///< nor rises above; 0: the port's
  sim::BitsPerSecond rate_first{0};           ///< set by the first CNP; 0: that cuts as others do
  std::uint32_t cut_shift = 11;               ///< a cut takes alpha / 2^(cut_shift - 10) of the rate
  std::uint32_t cut_keeps = 0;                ///< percent of the rate that one cut leaves at least
  sim::Duration cut_interval{0};              ///< at most one cut in this time
  bool clamp_target = true;                   ///< a cut sets the target to the rate; else only behind a timed increase
  sim::Duration cnp_interval{50'000'000};     ///< at most one CNP for a flow in this time

  bool operator==(const DcqcnOptions&) const = default;
};

/// The defaults of mlx5's firmware (mlxconfig, mlnx_qos: ROCE_CC parameters; docs/congestion.md).
[[nodiscard]] DcqcnOptions mlx5_dcqcn();

struct HpccOptions {
  std::uint32_t eta = 950;                     ///< the utilisation that it aims at
  std::uint32_t max_stage = 5;                 ///< additive increases in a row
  sim::Bytes additive{80};                     ///< W_AI
  sim::BitsPerSecond rate_least{100'000'000};  ///< the window is never less than what this sends in T
  bool operator==(const HpccOptions&) const = default;
};

struct TimelyOptions {
  std::uint32_t gain = 875;                 ///< of the smoothed difference of round trips
  std::uint32_t beta = 800;                 ///< multiplicative decrease
  sim::BitsPerSecond additive{10'000'000};  ///< delta
  sim::Duration low{50'000'000};            ///< T_low
  sim::Duration high{500'000'000};          ///< T_high
  sim::Duration least_rtt{20'000'000};      ///< what a gradient is a fraction of
  sim::Bytes segment{16'384};               ///< acknowledged for one measurement
  sim::BitsPerSecond rate_first{0};         ///< 0: the port's
  sim::BitsPerSecond rate_least{10'000'000};
  bool patched = false;            ///< as "ECN or Delay" (CoNEXT 2016) has it
  std::uint32_t patched_beta = 8;  ///< beta of that
  bool operator==(const TimelyOptions&) const = default;
};

struct SwiftOptions {
  sim::Duration target{20'000'000};  ///< base of the target delay
  sim::Duration hop{3'053'000};      ///< more for each switch
  sim::Duration range{100'000'000};  ///< more for the smallest windows
  std::uint32_t first = 10'000;      ///< window that a flow begins with, thousandths of a packet
  std::uint32_t least = 100;         ///< windows, thousandths of a packet
  std::uint32_t most = 100'000;
  std::uint32_t additive = 1'000;  ///< ai, thousandths of a packet
  std::uint32_t beta = 800;
  std::uint32_t cut_most = 500;  ///< max_mdf: what one cut takes at most
  bool operator==(const SwiftOptions&) const = default;
};

struct NsccOptions {
  sim::Duration target{0};  ///< of the queueing delay; 0: RTT, or three quarters of it with fabric.trim
  sim::Bytes segment{0};    ///< MSS; 0: the links' MTU
  bool quick_adapt = true;
  bool operator==(const NsccOptions&) const = default;
};

struct CongestionOptions {
  CongestionAlgorithm algorithm = CongestionAlgorithm::none;
  sim::Duration base_rtt{0};  ///< T; 0: worked out
  HpccOptions hpcc{};
  TimelyOptions timely{};
  SwiftOptions swift{};
  NsccOptions nscc{};
  bool operator==(const CongestionOptions&) const = default;
};

/// Does it go by what answers say, one for each packet?
[[nodiscard]] constexpr bool needs_answers(CongestionAlgorithm a) { return a >= CongestionAlgorithm::hpcc; }
/// By what switches write into packets (feedback.hpp)?
[[nodiscard]] constexpr bool needs_telemetry(CongestionAlgorithm a) { return a == CongestionAlgorithm::hpcc; }
/// By marks, which answers repeat?
[[nodiscard]] constexpr bool needs_marks(CongestionAlgorithm a) { return a == CongestionAlgorithm::nscc; }

}  // namespace loco::fabric
