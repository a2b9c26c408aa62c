// What a requester does about losses besides repeating: how much it sends without an answer (nic.tx_window,
// nic.slow_restart), and how long it waits for one on a fabric that drops (nic.lossy_timeout).
//
// ConnectX NICs have such functions for RoCE on lossy fabrics, as fields of the ROCE_ACCL register: a transmit window,
// slow restart, slow restart behind an idle time, adaptive retransmission (NVIDIA, Adaptive Retransmission: Parameters
// Control, 2025). What they do in numbers is not public but for the time-outs' grid (4 us * 2^n) and their end: with
// qp_total_timeout a connection is given up after as long a time as its retries of nic.ack_timeout would take. Ours:
//
//   slow restart   behind a time-out 16 packets may be under way, and one more for each that is acknowledged, until
//                  they are what the port sends in the least round trip that was measured: from then on no window.
//   time-outs      begin at nic.lossy_timeout and double with each one. They are halved by a round trip of which they
//                  are still eight times, so that they stay between four and eight round trips. The same document
//                  says that a time-out may take effect at four times its value.
//
// A round trip is measured from a packet that asks for an answer until that is acknowledged; not of what is repeated
// (Karn, Partridge, SIGCOMM 1987). All this delays, and orders nothing. In runs in the order of time only. Private to
// nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class TransmitWindow {
 public:
  /// Packets that may be under way behind a time-out: our choice.
  static constexpr std::uint32_t kRestart = 16;

  /// 0: no limit.
  [[nodiscard]] std::uint32_t packets() const { return packets_; }
  void restart() { packets_ = kRestart; }
  /// A packet leaves, and nothing is under way: has there been nothing for so long? 0: that does not matter.
  void begins(sim::SimTime now, sim::Duration idle) {
    if (idle.ps > 0 && now - last_ >= idle) restart();
  }

  /// A packet that asks for an answer leaves.
  void sent(fabric::Psn psn, sim::SimTime now) {
    if (timing_) return;
    timing_ = true;
    timed_ = psn;
    sent_ = now;
  }
  /// Something is sent again: what is acknowledged next may be either.
  void forget_sample() { timing_ = false; }
  /// `news` packets more are acknowledged, all before `una`. `per_second`: packets that the port sends.
  void acknowledged(fabric::Psn una, std::uint32_t news, sim::SimTime now, sim::Duration first_time_out,
                    std::uint64_t per_second);

  // --- time-outs -----------------------------------------------------------------------------------------------------
  /// How long an answer may take.
  [[nodiscard]] sim::Duration time_out(sim::Duration first, sim::Duration most) const;
  /// None has come `after` that time. Returns for how long there has been no progress, time-outs together.
  sim::Duration timed_out(sim::Duration after, sim::Duration most);

  bool operator==(const TransmitWindow&) const = default;

 private:
  std::uint32_t packets_ = 0;
  bool timing_ = false;  // a round trip
  fabric::Psn timed_{};
  std::uint8_t doublings_ = 0;  // of the time-out
  sim::SimTime sent_{};
  sim::SimTime last_{};     // something was acknowledged
  sim::Duration least_{};   // of the round trips
  sim::Duration waited_{};  // time-outs without progress, together
};

}  // namespace loco::nic
