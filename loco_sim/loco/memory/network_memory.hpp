// Network memory of one node: few big registrations, many small regions (LOCO paper, App. C.2).
//
// Registering memory is slow and many registrations thrash the NIC's caches, so registered memory is taken in
// chunks and handed out in contiguous sub-ranges. What is given back serves later ones, neighbours together, the lowest
// address first; it is made zero again before. When a region may be given back: departures.hpp.
// Regions of a word or less are packed; regions of a cache line or more start on a cache line. Units: bytes.
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
  /// Of one registration, and not free.
  void add(const Region& range);
  /// The first part of a free range that starts at a multiple of `unit` and is long enough; nothing when there is none.
  [[nodiscard]] std::optional<Region> take(std::uint64_t size, std::uint64_t unit);

 private:
  std::map<Address, Region> ranges_;  ///< by first address
};

class network_memory {
 public:
  /// The paper's chunk, a huge page. What is not touched takes no memory of the simulating machine.
  static constexpr std::uint64_t kDefaultChunk = std::uint64_t{1} << 30U;

  explicit network_memory(Transport& transport, std::uint64_t chunk_bytes = kDefaultChunk)
      : transport_(transport), chunk_bytes_(chunk_bytes) {}

  /// Of registrations to come.
  void set_chunk_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    chunk_bytes_ = bytes;
  }
  /// Throws size_error when no process has so much.
  static void require_possible(std::uint64_t size);
  /// A zeroed sub-range of registered memory; `size` is rounded up to a multiple of 8.
  Region allocate(std::uint64_t size);
  struct device_region {
    Region region;
    bool used_before = false;  ///< it is not zero, and only a NIC can change that
  };
  /// The same on the NIC, which has little: a registration of its own.
  device_region allocate_on_device(std::uint64_t size);
  /// A region that nobody uses any more and nothing is on its way to.
  void give_back(Region region, bool device);

  /// What is handed out now, from hosts' memory and the NIC's.
  [[nodiscard]] std::uint64_t bytes_in_use() const;
  /// Registrations so far.
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
