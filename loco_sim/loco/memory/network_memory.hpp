// Network memory of one node: few big registrations, many small regions (LOCO paper, App. C.2).
//
// Registering memory is slow and many registrations thrash the NIC's translation cache, so memory is registered in
// chunks and handed out in sub-ranges. Freed ranges are merged with free neighbours, reused from the lowest address up,
// and zeroed before reuse. departures.hpp says when a region may be given back. Regions of a word or less are packed;
// regions of a cache line or more start on a cache line. Units: bytes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// Ranges of registered memory that nobody uses.
class free_ranges {
 public:
  /// Frees `range`, which lies in one registration and is not free yet.
  void add(const Region& range);
  /// Takes the first fit: `size` bytes that start at a multiple of `unit`, or nothing if no free range is long enough.
  [[nodiscard]] std::optional<Region> take(std::uint64_t size, std::uint64_t unit);

 private:
  std::map<Address, Region> ranges_;  ///< by first address
};

class network_memory {
 public:
  /// The paper's chunk, a huge page. Untouched pages cost the simulating machine no memory.
  static constexpr std::uint64_t kDefaultChunk = std::uint64_t{1} << 30U;

  explicit network_memory(Transport& transport, std::uint64_t chunk_bytes = kDefaultChunk)
      : transport_(transport), chunk_bytes_(chunk_bytes) {}

  /// Sets the chunk size of later registrations.
  void set_chunk_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    chunk_bytes_ = bytes;
  }
  /// Throws size_error if `size` exceeds the address space of a process.
  static void require_possible(std::uint64_t size);
  /// Hands out a zeroed range of registered memory; `size` is rounded up to a multiple of 8.
  Region allocate(std::uint64_t size);
  struct device_region {
    Region region;
    bool used_before = false;  ///< it may hold old values, which only a NIC can overwrite
  };
  /// Registers a range of the NIC's memory. It is too scarce to be taken in chunks.
  device_region allocate_on_device(std::uint64_t size);
  /// Gives back a region that nobody uses and nothing in flight can reach.
  void give_back(Region region, bool device);

  /// Bytes handed out at present, in host memory and in the NIC's.
  [[nodiscard]] std::uint64_t bytes_in_use() const;
  /// Number of registrations made so far.
  [[nodiscard]] std::uint32_t registrations() const;

 private:
  [[nodiscard]] Region allocate_fresh(std::uint64_t rounded, std::uint64_t unit);

  Transport& transport_;
  std::uint64_t chunk_bytes_;
  mutable std::mutex mutex_;
  Region chunk_;
  std::uint64_t used_ = 0;
  free_ranges free_;
  free_ranges free_on_device_;
  std::uint64_t in_use_ = 0;
  std::uint32_t registrations_ = 0;
};

}  // namespace loco
