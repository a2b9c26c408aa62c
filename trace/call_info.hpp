// A library call as the code that makes it tells it: what begins in a trace, and what a report of a run that cannot go
// on says that a thread is in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace loco::trace {

/// The class of a lock (docs/atomics.md): what its release, whose `work_id` says so, promises of what was written
/// before. Strong: all of it. A lock to a node: what was put to the nodes of `node_set`, and what CPUs stored; weak:
/// that alone.
inline constexpr std::uint64_t kLockStrong = 0, kLockWeak = 1, kLockToNode = 2;

/// Which library call the calling thread is in; see trace.hpp for the meaning of the fields.
struct CallInfo {
  std::string_view library;      ///< "sv", "bal", "rbl", ...
  std::string_view method;       ///< "bcast", "barrier", ...
  std::string_view object = {};  ///< full channel name, or empty
  std::uint64_t work_id = 0;
  std::uint64_t argument = 0;
  std::span<const std::uint32_t> nodes = {};
  /// A thread whose library calls overlap gives each a lane of its own; calls nest within a lane. Innermost operations
  /// are in lane 0.
  std::uint32_t lane = 0;
};

}  // namespace loco::trace
