// The packets of a queue pair that are sent and not acknowledged, by PSN: when each left and how many bytes are in
// flight, for congestion control (docs/congestion.md, "Feedback"). NICs stamp packets in hardware and get the stamp
// back with the answer; here the time is kept at the sender instead. Private to nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class Flight {
 public:
  /// What an answer acknowledges.
  struct Answered {
    std::uint64_t bytes = 0;    // wire bytes that no earlier answer has acknowledged
    std::uint32_t packets = 0;  // the same in packets
    sim::Duration rtt{};        // of the acknowledged packet; 0 if it was sent more than once
  };

  /// Wire bytes in flight: sent, not acknowledged, and not known to be lost.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// The PSN after the last one sent.
  [[nodiscard]] fabric::Psn next() const { return base_ + static_cast<std::uint32_t>(packets_.size()); }

  /// A packet starts to leave the NIC `at`, for the first time or again.
  void sent(fabric::Psn psn, std::uint32_t wire, sim::SimTime at);
  /// Everything up to this packet has arrived.
  Answered answered_up_to(fabric::Psn psn, sim::SimTime now);
  /// This packet has arrived, whether or not others have.
  Answered answered(fabric::Psn psn, sim::SimTime now);
  struct Lost {
    std::uint64_t bytes = 0;  // wire bytes that had counted as in flight
    sim::Duration rtt{};      // since it left; 0 if it was sent more than once
  };
  /// One packet, or all that are not acknowledged, are lost. The latter returns the bytes that had counted as in
  /// flight.
  Lost lose(fabric::Psn psn, sim::SimTime now);
  std::uint64_t lose_all();
  void clear();

  bool operator==(const Flight&) const = default;

 private:
  struct Sent {
    sim::SimTime at{};
    std::uint32_t wire = 0;
    bool under_way = false;
    bool done = true;  // acknowledged, or no packet has this PSN
    bool again = false;

    bool operator==(const Sent&) const = default;
  };

  [[nodiscard]] bool knows(fabric::Psn psn) const;
  Sent& at(fabric::Psn psn) { return packets_[static_cast<std::size_t>(psn.distance(base_))]; }
  void settle(Sent& packet, Answered& answered);

  fabric::Psn base_{};  // the PSN of packets_[0]
  sim::Ring<Sent> packets_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace loco::nic
