// What never changes while a packet fabric runs: the graph, its routes and each link's figures. Shared, read-only, by
// all copies of a simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/config.hpp"
#include "fabric/topology/routes.hpp"
#include "fabric/topology/topology.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// A const value that copies share; compared by what it holds.
template <typename T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  explicit operator bool() const { return value_ != nullptr; }
  bool operator==(const Shared& o) const { return value_ == o.value_ || (value_ && o.value_ && *value_ == *o.value_); }

 private:
  std::shared_ptr<const T> value_;
};

/// One direction of a cable, as the event path needs it.
struct alignas(64) LinkInfo {
  topology::VertexId from = 0;
  topology::VertexId to = 0;
  sim::BitsPerSecond rate{};
  std::int64_t byte_ps = 0;     ///< picoseconds a byte, when that is a whole number; else 0
  std::int64_t delay_ps = 0;    ///< propagation, and at a host, until the packet is handed over
  std::int64_t jitter_ps = 0;   ///< at a host: the spread of the time until the packet is handed over
  std::int64_t headers_ps = 0;  ///< time of the bytes that a cut-through switch must have seen
  std::uint64_t headroom = 0;   ///< bytes that may come after a pause was decided
  std::uint32_t loss = 0;       ///< packets in a million
  bool to_switch = false;
  bool varies = false;       ///< its far end takes packets sooner or later (variation.hpp)
  bool cut_through = false;  ///< the far end goes on once the headers are in
  bool watched = false;      ///< `varies`, or who sends writes telemetry into packets, or is seen

  bool operator==(const LinkInfo&) const = default;

  /// Time that `bytes` take on the link, rounded up to a picosecond.
  [[nodiscard]] std::int64_t time(std::uint32_t bytes) const {
    if (byte_ps != 0 || rate.value == 0) [[likely]]
      return byte_ps * bytes;
    return divided(bytes);
  }
  /// From the start of a packet, which takes `time` on the link, until its far end may go on with it.
  [[nodiscard]] sim::Duration crossing(std::uint32_t bytes, sim::Duration time) const;

 private:
  [[nodiscard]] std::int64_t divided(std::uint32_t bytes) const;
};

static_assert(sizeof(LinkInfo) == 64, "a cache line");

/// A cut-through switch decides on the output port once it has the headers: Ethernet to BTH.
inline constexpr std::uint32_t kCutThroughBytes = 64;
/// A PFC frame: 64 bytes, preamble and gap (IEEE 802.1Qbb, 802.3).
inline constexpr std::uint32_t kPauseBytes = 84;

inline sim::Duration LinkInfo::crossing(std::uint32_t bytes, sim::Duration time) const {
  return sim::Duration{(cut_through && bytes > kCutThroughBytes ? headers_ps : time.ps) + delay_ps};
}

struct Wiring {
  topology::Topology graph;
  std::vector<LinkInfo> links;
  std::vector<std::uint32_t> host_link;  ///< a host's only outgoing link; kNone when it has several
  std::vector<std::uint64_t> shared;     ///< per vertex: buffer that is not kept for single ports
  std::vector<LinkChange> changes;       ///< ascending in time
  std::uint64_t variation = 0;           ///< seed of what varies from packet to packet

  bool operator==(const Wiring&) const = default;
};

/// Throws std::invalid_argument when the configuration cannot be built.
[[nodiscard]] Wiring make_wiring(const Config& config);

}  // namespace loco::fabric
