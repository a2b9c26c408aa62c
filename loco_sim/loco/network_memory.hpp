// Network memory of one node: few big registrations, many small regions (LOCO paper, App. C.2).
//
// Registering memory is slow and many registrations thrash the NIC's caches, so registered memory is taken in
// chunks and handed out in contiguous sub-ranges. Sub-ranges are never given back: channels live as long as the run.
// Regions of a word or less are packed; regions of a cache line or more start on a cache line. Units: bytes.
#pragma once

#include <cstdint>
#include <mutex>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class network_memory {
 public:
  /// The paper's chunk, a huge page. What is not touched takes no memory of the simulating machine.
  static constexpr std::uint64_t kDefaultChunk = std::uint64_t{1} << 30U;

  explicit network_memory(Transport& transport, std::uint64_t chunk_bytes = kDefaultChunk)
      : transport_(transport), chunk_bytes_(chunk_bytes) {}

  /// Throws size_error when no process has so much.
  static void require_possible(std::uint64_t size);
  /// A zeroed sub-range of registered memory; `size` is rounded up to a multiple of 8.
  Region allocate(std::uint64_t size);
  /// The same on the NIC, which has little: a registration of its own.
  Region allocate_on_device(std::uint64_t size);

 private:
  Transport& transport_;
  std::uint64_t chunk_bytes_;
  std::mutex mutex_;
  Region chunk_;
  std::uint64_t used_ = 0;
};

}  // namespace loco
