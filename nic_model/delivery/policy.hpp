// How a connection delivers messages: the order of placement, execution and completion; what is acknowledged; how
// losses are found and repaired; which paths are taken. A transport is a row of such choices (transports.hpp), and each
// kind of transport has a file in this folder. Requesters and responders ask the policy of their connection, never
// which transport it is.
//
// A system makes its policies once, from its hardware and its network; connections refer to them by number.
#pragma once

#include <cstdint>

#include "nic_model/transport_options.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// With out-of-order placement a responder keeps packets for this many PSNs from the expected one on. Later packets are
/// dropped: the requester sends them again, or, where each packet is answered, does not send them that early.
inline constexpr std::int32_t kReorderWindow = 1 << 14;

/// When a queue pair's requests are placed in memory and executed, and when answers are accepted.
struct DeliveryOrder {
  bool writes_early = false;   ///< packets of WRITEs are placed as they arrive
  bool reads_early = false;    ///< READs are executed as they arrive
  bool atomics_early = false;  ///< so are atomics, unless another one is in progress
  bool one_at_a_time = false;  ///< a request waits until its predecessor has accessed memory
  bool answers_early = false;  ///< answers may overtake each other and are accepted as they arrive
  /// Packets may arrive in any order, whatever the paths: by an option of the network, or because there is no network.
  bool any_packet_next = false;
  bool says_where = false;  ///< every packet of a WRITE has a RETH, not only the first
  /// Requests, SENDs included, are executed and completed as soon as all their packets have arrived, whatever is
  /// missing before them.
  bool when_whole = false;
  bool may_repeat = false;  ///< a repeated request is placed again

  /// True if a request can be executed before one that was sent earlier.
  [[nodiscard]] constexpr bool overtakes() const { return writes_early || reads_early; }
  bool operator==(const DeliveryOrder&) const = default;
};

enum class Acknowledgement : std::uint8_t {
  none,     ///< a request completes once it is sent
  message,  ///< an ACK covers everything up to its PSN as executed
  packet,   ///< each packet is answered: what has arrived, and up to where everything has
};

/// When transport timers run.
enum class TimerUse : std::uint8_t {
  exceptions,  ///< no loss: only for requests that are known to get no answer
  watched,     ///< no loss, but time is watched all the same (requester/ack_timers.hpp)
  always,      ///< packets can be lost or reordered
};

/// How losses in the network are found and repaired.
struct DeliveryRecovery {
  bool naks_gaps = true;   ///< a gap in the PSNs is answered with a NAK
  bool selective = false;  ///< only missing packets are sent again (requester/selective_repeat.hpp)
  TimerUse timer = TimerUse::exceptions;
  sim::Duration tolerance{};  ///< how late a packet on another path may arrive before it counts as lost
  sim::Duration rto_least{};  ///< the shortest timeout, if timeouts follow round trips; 0: they do not

  [[nodiscard]] constexpr bool timer_always_runs() const { return timer == TimerUse::always; }
  [[nodiscard]] constexpr bool watches_time() const { return timer == TimerUse::watched; }
  /// True if a request may arrive again after it was answered.
  [[nodiscard]] constexpr bool repeats_requests() const { return timer != TimerUse::exceptions; }
  bool operator==(const DeliveryRecovery&) const = default;
};

/// The paths that packets take: each packet has an entropy, which switches hash together with the flow.
struct DeliveryPaths {
  std::uint32_t entropies = 1;
  EntropyChoice choice = EntropyChoice::one;

  [[nodiscard]] constexpr bool sprays() const { return entropies > 1 && choice != EntropyChoice::one; }
  bool operator==(const DeliveryPaths&) const = default;
};

/// The operations that the transport offers.
struct DeliveryOperations {
  bool sends = true;
  bool writes = true;
  bool reads = false;
  bool atomics = false;
  bool immediate = true;  ///< WRITE with immediate data

  bool operator==(const DeliveryOperations&) const = default;
};

/// Congestion control is not part of it, but set per connection (Connection::congestion).
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
