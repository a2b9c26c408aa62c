// Which transport reliable queue pairs have, and over which paths they send: the one source of the keys below
// `transport`, of a scenario or a hardware profile.
#pragma once

#include <cstdint>
#include <span>

#include "options/option.hpp"
#include "sim/time.hpp"

namespace loco::nic {

enum class TransportKind : std::uint8_t {
  rc,   ///< reliable connections, placed and recovered as nic.placement and nic.recovery say
  srd,  ///< like Amazon's Scalable Reliable Datagram
  uet,  ///< like Ultra Ethernet's transport 1.0
};

/// Modes of Ultra Ethernet's packet delivery.
enum class UetMode : std::uint8_t {
  rod,   ///< reliable, ordered
  rud,   ///< reliable, unordered
  rudi,  ///< reliable, unordered, of requests that may take effect again
};

/// Which entropy a packet gets. An entropy is what ecmp hashes beside the flow (a UDP source port).
enum class EntropyChoice : std::uint8_t {
  by_kind,      ///< one where packets are placed in order, learned else
  one,          ///< always the same
  round_robin,  ///< each in turn
  random,       ///< any
  learned,      ///< each in turn, but those whose last answer was marked, trimmed or missing
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
