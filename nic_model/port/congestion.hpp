// Congestion control at a NIC's port (fabric/congestion/, docs/congestion.md): outgoing packets are paced and counted,
// incoming ones report queues and marks, and answers carry these reports back.
//
// With DCQCN the requester and the responder of a queue pair share its rate. Algorithms that act on answers control
// only what requesters of reliable connections send, because the data of READs is not answered. Packets that a NIC
// sends to itself cross no network and are not controlled. Used only in runs in the order of time. Private to
// nic_model/.
#pragma once

#include <cstdint>

#include "fabric/congestion/congestion.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/port/flight.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

/// Congestion control of a queue pair, both as a sender and as a receiver.
struct CongestionControl {
  /// What the network said of a packet that has arrived and is yet to be answered.
  struct Seen {
    fabric::Psn psn{};
    bool marked = false;
    fabric::Telemetry telemetry{};
    bool operator==(const Seen&) const = default;
  };

  fabric::Congestion control{};  // of the packets that it sends
  fabric::CnpPacer cnps{};       // for the packets that it receives
  sim::SimTime next{};           // when the rate allows the next packet, or, with answers, when the last one was sent
  std::uint32_t last = 0;        // with answers: wire bytes of the last packet
  Flight flight{};               // packets sent and not acknowledged
  sim::Ring<Seen> seen{};        // packets received and not answered

  bool operator==(const CongestionControl&) const = default;
};

/// To call before a packet is sent, once its size is known: an answer takes with it what the network has said of the
/// packets that it acknowledges, and data gets room for telemetry.
void carry_feedback(Engine& engine, fabric::Packet& packet);
/// To call when a packet has been sent, whose last bit leaves the port `at`. Returns when its queue pair may send the
/// next one at its rate.
sim::SimTime paced(Engine& engine, const fabric::Packet& packet, sim::SimTime at);
/// The same for algorithms that act on answers, as of now, because each answer may change the rate.
[[nodiscard]] sim::SimTime paced_until(const Engine& engine, QpId id);
/// To call for each packet that has arrived. What the network says of data is kept for its answer; an answer updates
/// the queue pair's congestion control.
void take_feedback(Engine& engine, const fabric::Packet& packet);
/// True if the window has room for a packet of this size on the wire.
[[nodiscard]] bool window_allows(const Engine& engine, QpId id, std::uint32_t wire);

/// Everything before `una` is acknowledged, by an ACK, which take_feedback() has already seen, or by the response to a
/// READ or an atomic, which carries no feedback from the network.
void tell_acknowledged(Engine& engine, QpId id, fabric::Psn una);
/// A timeout, after which everything is sent again; tell_lost(): one packet that is known to be lost, `trimmed` if the
/// answer to its headers says so.
void tell_timeout(Engine& engine, QpId id);
void tell_lost(Engine& engine, QpId id, fabric::Psn psn, bool trimmed);
/// Everything is sent again; `lost` if a packet was lost.
void tell_all_sent_again(Engine& engine, QpId id, bool lost);

/// Answers a packet that was marked on its way with a CNP, if congestion control uses CNPs and one is due.
void answer_mark(Engine& engine, const fabric::Packet& packet);
/// A CNP has come for this queue pair, which lowers its rate.
void slow_down(Engine& engine, QpId qp);

}  // namespace loco::nic
