// What the threads of a host share besides its memory: the list of threads, and flags, i.e. words of process memory
// that are sequentially consistent and outside the memory model. It also handles a change of memory: threads that watch
// it wake, and the witness records the writer. Private to nic_model/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/hash.hpp"

namespace loco::nic {

class Process {
 public:
  [[nodiscard]] std::span<const ThreadId> threads() const { return threads_; }
  void add_thread(ThreadId thread) { threads_.push_back(thread); }

  /// Returns the number of the new flag.
  std::uint32_t add_flag(std::uint64_t initial);
  /// Throws std::out_of_range if there is no such flag, as set_flag() does.
  [[nodiscard]] std::uint64_t flag(std::uint32_t flag) const { return flags_.at(flag); }
  [[nodiscard]] std::size_t flags() const { return flags_.size(); }
  void set_flag(std::uint32_t flag, std::uint64_t value) { flags_.at(flag) = value; }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant when an invariant does not hold.
  void check(HostId node, sim::SimTime now) const;
  bool operator==(const Process&) const = default;

 private:
  std::vector<ThreadId> threads_{};
  std::vector<std::uint64_t> flags_{};
};

inline constexpr ThreadId kNobody = 0xffffffffU;
/// Wakes the threads of a node that watch something that has changed, except one.
void touched(Engine& engine, HostId node, std::uint64_t watch_key, ThreadId except = kNobody);
void touched_bytes(Engine& engine, HostId node, Address address, std::uint64_t size, ThreadId except = kNobody);

/// A write of one word has reached memory: gives it its place in the order, records the writer and announces it.
void finish_write(Engine& engine, SubeventId id, HostId home, Address address);
/// A write that takes no time: makes `id` the last writer.
SubeventId instant_write(Engine& engine, Subevent subevent);

/// Prefetches payload that the step of a DMA now being scheduled will copy. With many hosts it would no longer be in
/// any cache by then, and the steps until then leave enough time to fetch it.
void prefetch_copy(const Engine& engine, HostId node, Address address, std::uint32_t buffer, std::uint32_t offset,
                   std::uint32_t bytes);

}  // namespace loco::nic
