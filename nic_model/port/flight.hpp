// Packets of a queue pair that are sent and not answered, by PSN: when each left, and how many bytes are under way, for
// congestion control (docs/congestion.md, "Feedback"). The time stamp that a packet would carry and its answer repeat
// is kept here instead, as NICs do that stamp in hardware. Private to nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class Flight {
 public:
  /// What an answer says.
  struct Answered {
    std::uint64_t bytes = 0;    // on the wire, that no answer has named before
    std::uint32_t packets = 0;  // likewise
    sim::Duration rtt{};        // of the packet that is answered; 0 when it was sent more than once
  };

  /// Bytes on the wire that are sent, and neither answered nor known to be lost.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Behind everything that has been sent.
  [[nodiscard]] fabric::Psn next() const { return base_ + static_cast<std::uint32_t>(packets_.size()); }

  /// A packet begins to leave the NIC `at`, for the first time or again.
  void sent(fabric::Psn psn, std::uint32_t wire, sim::SimTime at);
  /// Everything up to this packet has come.
  Answered answered_up_to(fabric::Psn psn, sim::SimTime now);
  /// This one has, whatever others have.
  Answered answered(fabric::Psn psn, sim::SimTime now);
  /// One is lost, or all that have not been answered; returns the bytes that were thought to be under way.
  std::uint64_t lose(fabric::Psn psn);
  std::uint64_t lose_all();
  void clear();

  bool operator==(const Flight&) const = default;

 private:
  struct Sent {
    sim::SimTime at{};
    std::uint32_t wire = 0;
    bool under_way = false;
    bool done = true;  // answered, or no packet
    bool again = false;

    bool operator==(const Sent&) const = default;
  };

  [[nodiscard]] bool knows(fabric::Psn psn) const;
  Sent& at(fabric::Psn psn) { return packets_[static_cast<std::size_t>(psn.distance(base_))]; }
  void settle(Sent& packet, Answered& answered);

  fabric::Psn base_{};  // of packets_[0]
  sim::Ring<Sent> packets_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace loco::nic
