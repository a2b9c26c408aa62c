// How a requester adapts to losses besides repeating: how much it sends without an answer (nic.tx_window,
// nic.slow_restart), and how long it waits for one on a lossy fabric (nic.lossy_timeout).
//
// ConnectX NICs have such functions for RoCE on lossy fabrics, as fields of the ROCE_ACCL register: a transmit window,
// slow restart, slow restart after idle, adaptive retransmission (NVIDIA, Adaptive Retransmission: Parameters Control,
// 2025). What the fields do in numbers is not public but for timeouts: they lie on a grid (4 us * 2^n), may fall back
// to the least one with progress, and with qp_total_timeout a connection is given up after the time that its retries of
// nic.ack_timeout would take. The rules:
//
//   slow restart   after a timeout 16 packets may be in flight, and one more for each acknowledged one, until they
//                  cover what the port sends in the least measured round trip; then the window ends (ours)
//   timeouts       begin at nic.lossy_timeout, double with each one, and begin anew with progress, however long a round
//                  trip is: a ConnectX-5 behind a delay of 40 ms sends each request again after 2, 4, 8 and 16 ms
//                  (linux-rdma/perftest issue 251)
//
// A round trip is measured from a packet that requests an answer until it is acknowledged, never for a retransmission
// (Karn, Partridge, SIGCOMM 1987). All this only delays, and orders nothing. Used in timed runs only. Private to
// nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class TransmitWindow {
 public:
  /// Packets that may be in flight after a timeout: our choice.
  static constexpr std::uint32_t kRestart = 16;

  /// 0: no limit.
  [[nodiscard]] std::uint32_t packets() const { return packets_; }
  void restart() { packets_ = kRestart; }
  /// A packet leaves while nothing else is in flight. Restarts slowly if the last acknowledgement is `idle` or longer
  /// ago; 0: never.
  void begins(sim::SimTime now, sim::Duration idle) {
    if (idle.ps > 0 && now - last_ >= idle) restart();
  }

  /// A packet that requests an answer leaves.
  void sent(fabric::Psn psn, sim::SimTime now) {
    if (timing_) return;
    timing_ = true;
    timed_ = psn;
    sent_ = now;
  }
  /// Something is retransmitted, so the next answer may belong to either transmission: drops the measurement.
  void forget_sample() { timing_ = false; }
  /// `news` more packets are acknowledged, all before `una`. `per_second`: packets per second that the port sends.
  void acknowledged(fabric::Psn una, std::uint32_t news, sim::SimTime now, std::uint64_t per_second);

  // --- time-outs -----------------------------------------------------------------------------------------------------
  /// The current timeout.
  [[nodiscard]] sim::Duration time_out(sim::Duration first, sim::Duration most) const;
  /// A timeout of length `after` has passed. Returns the sum of timeouts since the last progress.
  sim::Duration timed_out(sim::Duration after, sim::Duration most);

  bool operator==(const TransmitWindow&) const = default;

 private:
  std::uint32_t packets_ = 0;
  bool timing_ = false;  // a round trip is being measured
  fabric::Psn timed_{};
  std::uint8_t doublings_ = 0;  // number of doublings of the timeout
  sim::SimTime sent_{};
  sim::SimTime last_{};     // time of the last acknowledgement
  sim::Duration least_{};   // the least round trip
  sim::Duration waited_{};  // sum of timeouts without progress
};

}  // namespace loco::nic
