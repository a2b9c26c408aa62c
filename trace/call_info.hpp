// A library call as described by the code that makes it: for the trace, and for reports of what a thread is doing when
// a run is stuck.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace loco::trace {

/// The class of a lock (docs/atomics.md), which the `work_id` of its release gives: what a release guarantees about
/// earlier writes. Strong: all are in memory. A lock to a node: puts to the nodes of `node_set`, and stores by CPUs.
/// Weak: stores by CPUs only.
inline constexpr std::uint64_t kLockStrong = 0, kLockWeak = 1, kLockToNode = 2;

/// CallInfo::element of a call that is about a whole object.
inline constexpr std::uint32_t kWholeObject = 0xffffffffU;

/// The name of an array's element, "table/ov3", or of a whole object.
[[nodiscard]] inline std::string element_name(std::string_view object, std::uint32_t element) {
  return element == kWholeObject ? std::string(object) : std::string(object) + "/ov" + std::to_string(element);
}

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
  /// Of the object, an array whose elements have no name of their own in memory: n arrays of n elements are n^2 names.
  std::uint32_t element = kWholeObject;
};

}  // namespace loco::trace
