// A library call as described by the code that makes it: for the trace, and for reports of what a thread is doing when
// a run is stuck.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace loco::trace {

/// The class of a lock (docs/atomics.md), which the `work_id` of its release gives: what a release guarantees about
/// earlier writes. Strong: all are in memory. A lock to a node: puts to the nodes of `node_set`, and stores by CPUs.
/// Weak: stores by CPUs only.
inline constexpr std::uint64_t kLockStrong = 0, kLockWeak = 1, kLockToNode = 2;

/// The library call that the calling thread is in; see trace.hpp for the meaning of the fields.
struct CallInfo {
  std::string_view library;      ///< "sv", "bal", "rbl", ...
  std::string_view method;       ///< "bcast", "barrier", ...
  std::string_view object = {};  ///< full channel name, or empty
  std::uint64_t work_id = 0;
  std::uint64_t argument = 0;
  std::span<const std::uint32_t> nodes = {};
  /// A thread whose library calls overlap gives each its own lane; calls nest within a lane. Innermost operations are
  /// in lane 0.
  std::uint32_t lane = 0;
};

}  // namespace loco::trace
