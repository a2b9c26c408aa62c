// How a connection delivers messages: in which order they are placed, executed and completed; what is acknowledged;
// what finds and repeats what is lost; which paths are taken. A transport is a row of such choices
// (transports.hpp), each kind of transport a file of this folder. Requesters and responders ask the policy of their
// connection, never which transport it is.
//
// A policy is made once for a system, from its hardware and its network; connections name it by number.
#pragma once

#include <cstdint>

#include "nic_model/transport_options.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// Out of order, what comes for so many PSNs from the expected one on is kept; what comes for later ones is dropped,
/// and the requester has it sent again, or where each packet is answered does not send it yet.
inline constexpr std::int32_t kReorderWindow = 1 << 14;

/// When what has come of a queue pair's requests is placed in memory and executed, and answers are taken.
struct DeliveryOrder {
  bool writes_early = false;   ///< the packets of WRITEs are placed as they come
  bool reads_early = false;    ///< READs are executed as they come
  bool atomics_early = false;  ///< so are atomics, unless one is under way
  bool one_at_a_time = false;  ///< a request waits until the one before it has accessed memory
  bool answers_early = false;  ///< answers may overtake each other, and are taken as they come
  /// Packets come in any order, whatever paths there are: by the network's options, or because there is no network.
  bool any_packet_next = false;
  bool says_where = false;  ///< each packet of a WRITE has a RETH, not only the first
  /// Requests are executed, SENDs with them, and completed when all of their packets have come, whatever comes before.
  bool when_whole = false;
  bool may_repeat = false;  ///< what comes again is placed again

  /// Can a request be executed before one that was sent earlier?
  [[nodiscard]] constexpr bool overtakes() const { return writes_early || reads_early; }
  bool operator==(const DeliveryOrder&) const = default;
};

enum class Acknowledgement : std::uint8_t {
  none,     ///< sent is done
  message,  ///< an ACK says that everything up to its PSN has been executed
  packet,   ///< each packet has an answer: what has come, and up to where everything has
};

/// Where transport timers run.
enum class TimerUse : std::uint8_t {
  exceptions,  ///< nothing is lost: only for requests that are known to get no answer
  watched,     ///< nothing is lost, and time is watched all the same (requester/ack_timers.hpp)
  always,      ///< packets can be lost, or come in another order
};

/// What finds and repeats what the network has lost.
struct DeliveryRecovery {
  bool naks_gaps = true;   ///< a gap in the PSNs is answered with a NAK
  bool selective = false;  ///< what is missing is sent again, and nothing else (requester/selective_repeat.hpp)
  TimerUse timer = TimerUse::exceptions;
  sim::Duration tolerance{};  ///< how much later than others a packet may come that has taken another path
  sim::Duration rto_least{};  ///< the shortest time-out, where they follow round trips; 0: they do not

  [[nodiscard]] constexpr bool timer_always_runs() const { return timer == TimerUse::always; }
  [[nodiscard]] constexpr bool watches_time() const { return timer == TimerUse::watched; }
  /// A request may come again although it has been answered.
  [[nodiscard]] constexpr bool repeats_requests() const { return timer != TimerUse::exceptions; }
  bool operator==(const DeliveryRecovery&) const = default;
};

/// Which paths packets take: each has an entropy, which switches hash beside the flow.
struct DeliveryPaths {
  std::uint32_t entropies = 1;
  EntropyChoice choice = EntropyChoice::one;

  [[nodiscard]] constexpr bool sprays() const { return entropies > 1 && choice != EntropyChoice::one; }
  bool operator==(const DeliveryPaths&) const = default;
};

/// What may be asked for.
struct DeliveryOperations {
  bool sends = true;
  bool writes = true;
  bool reads = false;
  bool atomics = false;
  bool immediate = true;  ///< WRITEs with immediate data

  bool operator==(const DeliveryOperations&) const = default;
};

/// Which congestion control it has is said for each connection (Connection::congestion).
struct DeliveryPolicy {
  DeliveryOperations operations{};
  DeliveryOrder order{};
  Acknowledgement acknowledgement = Acknowledgement::none;
  DeliveryRecovery recovery{};
  DeliveryPaths paths{};

  [[nodiscard]] constexpr bool acknowledges() const { return acknowledgement != Acknowledgement::none; }
  [[nodiscard]] constexpr bool answers_each_packet() const { return acknowledgement == Acknowledgement::packet; }
  bool operator==(const DeliveryPolicy&) const = default;
};

}  // namespace loco::nic
