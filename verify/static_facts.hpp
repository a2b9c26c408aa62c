// What can be said about a program without running it: what each process may still read and write from each of its
// locations, which locals are dead, where its loops are, which steps a property can see.
//
// Sets of shared variables are masks of 64 bits; with more variables, several share a bit. All uses err on the safe
// side when two variables are taken for one.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/network.hpp"
#include "verify/program.hpp"

namespace loco::verify {

using Mask = std::uint64_t;

[[nodiscard]] constexpr Mask mask_of(std::uint32_t shared) { return Mask{1} << (shared % 64); }

/// The accesses that a process may still make from a location on, without its own pending operations.
struct Future {
  Mask reads = 0;   ///< loads, and all that its remote statements read
  Mask writes = 0;  ///< stores, and all that its remote statements write
  bool asserts = false;
  friend bool operator==(const Future&, const Future&) = default;
};

struct StaticEdge {
  Mask reads = 0;  ///< of the step itself: a remote statement that only becomes pending reads and writes nothing
  Mask writes = 0;
  bool visible = false;                   ///< changes a local or a place that an `always` property mentions
  std::vector<std::uint32_t> dead_after;  ///< locals whose values do not matter any more once it is taken
};

struct StaticProcess {
  std::vector<Future> futures;  ///< by location
  /// By location: shared variables whose values may be read from here on before the process itself writes over them,
  /// with a store or with the result of a remote statement that it flushes before it reads.
  std::vector<Mask> live;
  /// By target and location: what may be read before the process passes a flush to that target.
  std::vector<std::vector<Mask>> read_before_flush;
  /// By location: its locals that may be read from here on before they are written, and those that properties look at;
  /// ascending.
  std::vector<std::vector<std::uint32_t>> live_locals;
  std::vector<bool> loop_heads;  ///< every cycle of the graph has one
  std::vector<StaticEdge> edges;
  std::vector<bool> in_loop;  ///< by location: it can be reached from itself
};

/// By location: whether an edge leads back to it in a depth-first walk.
[[nodiscard]] std::vector<bool> loop_heads(const Process& process);

struct StaticFacts {
  StaticFacts(const Program& program, const FlushMask& flushes, Network network);

  std::vector<StaticProcess> processes;
  Mask property_shared = 0;  ///< mentioned in any property
};

}  // namespace loco::verify
