// How much memory this machine has to spare, and how much this process has taken: for limits of runs and readers.
// Depends on the machine; nothing that a simulation computes may depend on it.
#pragma once

#include <cstdint>

namespace loco::sim {

/// Bytes that the process may still take without driving others out: what the kernel calls available (MemAvailable),
/// and no more than what the control groups that the process is in have left. Where the system says nothing, 2^62.
[[nodiscard]] std::uint64_t free_memory();

/// Bytes of the process that are in memory (resident); 0 where the system says nothing.
[[nodiscard]] std::uint64_t used_memory();

/// The most that one thing should take which nobody gave a limit: half of what is free.
[[nodiscard]] inline std::uint64_t memory_share() { return free_memory() / 2; }

/// For programs, before they have threads: from here on the process gets no more memory than is free, so that what
/// needs more ends with std::bad_alloc and not with the kernel's choice of a victim. Does nothing where that cannot be
/// said.
void take_free_memory_only();

/// Puts the heap of a process that grows large into large pages, bit by bit, where the kernel can (Linux 6.1): a
/// machine of many nodes looks at something else in each event, and mostly finds no translation of its address. Results
/// do not depend on it.
class HeapInLargePages {
 public:
  /// What the heap is now stays as it is.
  HeapInLargePages();
  /// To be called now and then; costs next to nothing until the heap has grown by `kStep`.
  void follow();

 private:
  static constexpr std::uintptr_t kStep = std::uintptr_t{32} << 20U;  ///< bytes

  std::uintptr_t done_;  ///< an address: what is below is not looked at again
  bool possible_ = true;
};

}  // namespace loco::sim
