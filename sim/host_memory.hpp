// How much memory this machine has to spare and this process has taken, for limits of runs and readers. Depends on the
// machine, so no result of a simulation may depend on it.
#pragma once

#include <cstdint>

namespace loco::sim {

/// Bytes that the process may still take without displacing others: what the kernel calls available (MemAvailable), and
/// at most what the process's control groups have left. 2^62 if the system does not say.
[[nodiscard]] std::uint64_t free_memory();

/// Bytes of the process that are in memory (resident); 0 if the system does not say.
[[nodiscard]] std::uint64_t used_memory();

/// Default limit for anything without a limit of its own: half of the free memory.
[[nodiscard]] inline std::uint64_t memory_share() { return free_memory() / 2; }

/// For programs, before they have threads: limits the process to the memory that is now free, so that a greater need
/// ends in std::bad_alloc and not in the kernel killing some process. Does nothing where that limit cannot be set.
void take_free_memory_only();

/// Moves the heap of a process that grows large into large pages step by step, if the kernel can (Linux 6.1). A machine
/// of many nodes accesses other memory in each event and mostly misses the TLB. Results do not depend on it.
class HeapInLargePages {
 public:
  /// The present heap is left as it is.
  HeapInLargePages();
  /// To call now and then; costs next to nothing until the heap has grown by `kStep`.
  void follow();

 private:
  static constexpr std::uintptr_t kStep = std::uintptr_t{32} << 20U;  ///< bytes

  std::uintptr_t done_;  ///< an address below which nothing remains to be done
  bool possible_ = true;
};

}  // namespace loco::sim
