// Congestion control at a NIC's port (fabric/congestion/, docs/congestion.md): what leaves is paced and counted, what
// comes tells of queues and marks, and answers carry that back.
//
// Requester and responder of a queue pair share its rate under DCQCN. The algorithms that go by answers control what
// requesters of reliable connections send: data of READs has no answers. What a NIC sends to itself passes no network.
// In runs in the order of time only. Private to nic_model/.
#pragma once

#include <cstdint>

#include "fabric/congestion/congestion.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/port/flight.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

/// The state of a queue pair.
struct CongestionControl {
  /// What the network said of a packet that is to be answered.
  struct Seen {
    fabric::Psn psn{};
    bool marked = false;
    fabric::Telemetry telemetry{};
    bool operator==(const Seen&) const = default;
  };

  fabric::Congestion control{};  // of what it sends
  fabric::CnpPacer cnps{};       // for what it receives
  sim::SimTime next{};           // when its rate allows the next packet; by answers, when the last one was sent
  std::uint32_t last = 0;        // by answers: bytes of that one
  Flight flight{};               // what it has sent
  sim::Ring<Seen> seen{};        // what it has received and not answered

  bool operator==(const CongestionControl&) const = default;
};

/// A packet is about to be sent, and has its size: answers take with them what the network has said of the packet that
/// they answer, data gets room for telemetry.
void carry_feedback(Engine& engine, fabric::Packet& packet);
/// A packet has been sent, and its last bit leaves the port `at`: when its queue pair may send the next one, by its
/// rate.
sim::SimTime paced(Engine& engine, const fabric::Packet& packet, sim::SimTime at);
/// The same of an algorithm that goes by answers, as of now: each of them may change it.
[[nodiscard]] sim::SimTime paced_until(const Engine& engine, QpId id);
/// A packet has come: what the network says of it is kept for its answer, or as an answer it tells the queue pair's
/// congestion control.
void take_feedback(Engine& engine, const fabric::Packet& packet);
/// May the queue pair send a packet of so many bytes on the wire, or is its window full?
[[nodiscard]] bool window_allows(const Engine& engine, QpId id, std::uint32_t wire);

/// Everything before `una` is acknowledged: by an ACK, of which take_feedback() knows, or by the answer to a READ or an
/// atomic, with which the network says nothing of what it acknowledges.
void tell_acknowledged(Engine& engine, QpId id, fabric::Psn una);
/// A time-out, behind which everything is sent again; packets that are known to be lost.
void tell_timeout(Engine& engine, QpId id);
void tell_lost(Engine& engine, QpId id, fabric::Psn psn);
/// Everything is sent again; `lost`: because something was.
void tell_all_sent_again(Engine& engine, QpId id, bool lost);

/// Answers a packet that was marked on its way with a CNP, if congestion control goes by them and one is due.
void answer_mark(Engine& engine, const fabric::Packet& packet);
/// A CNP has come for a queue pair: it sends more slowly.
void slow_down(Engine& engine, QpId qp);

}  // namespace loco::nic
