// The transport of reliable queue pairs and the paths over which they send: the only source of the keys below
// `transport` in a scenario or hardware profile.
#pragma once

#include <cstdint>
#include <span>

#include "options/option.hpp"
#include "sim/time.hpp"

namespace loco::nic {

enum class TransportKind : std::uint8_t {
  rc,   ///< reliable connections with nic.placement and nic.recovery
  srd,  ///< like Amazon's Scalable Reliable Datagram
  uet,  ///< like Ultra Ethernet's transport 1.0
};

/// Modes of Ultra Ethernet's packet delivery.
enum class UetMode : std::uint8_t {
  rod,   ///< reliable, ordered
  rud,   ///< reliable, unordered
  rudi,  ///< reliable, unordered, for requests that may take effect twice
};

/// How a packet's entropy is chosen. Entropy is what ecmp hashes in addition to the flow (a UDP source port).
enum class EntropyChoice : std::uint8_t {
  by_kind,      ///< one if packets are placed in order, learned otherwise
  one,          ///< always the same
  round_robin,  ///< all in turn
  random,       ///< any
  learned,      ///< all in turn, except those whose last packet was marked, trimmed or not answered
};

inline constexpr std::uint32_t kEntropiesMost = 16'384;  ///< UDP source ports from 49152 on

struct TransportOptions {
  TransportKind kind = TransportKind::rc;
  UetMode mode = UetMode::rud;
  std::uint32_t entropies = 64;
  EntropyChoice choice = EntropyChoice::by_kind;
  sim::Duration rto_least{100'000'000};  ///< the shortest time-out of srd and uet

  bool operator==(const TransportOptions&) const = default;
};

[[nodiscard]] std::span<const options::Option> transport_options();

}  // namespace loco::nic
