// What the threads of a host share, its memory apart: who they are, and flags, i.e. words of process memory that are
// sequentially consistent and outside the memory model. And what the host notices of a change: the threads that watch
// it wake, and the witness remembers who wrote. Private to nic_model/.
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

  /// Returns its number.
  std::uint32_t add_flag(std::uint64_t initial);
  /// Throws std::out_of_range when there is no such flag, as set_flag() does.
  [[nodiscard]] std::uint64_t flag(std::uint32_t flag) const { return flags_.at(flag); }
  [[nodiscard]] std::size_t flags() const { return flags_.size(); }
  void set_flag(std::uint32_t flag, std::uint64_t value) { flags_.at(flag) = value; }

  void hash(Hasher& h) const;
  /// Throws sim::BrokenInvariant.
  void check(NodeId node, sim::SimTime now) const;
  bool operator==(const Process&) const = default;

 private:
  std::vector<ThreadId> threads_{};
  std::vector<std::uint64_t> flags_{};
};

inline constexpr ThreadId kNobody = 0xffffffffU;
/// Wakes the threads of a node that watch something that has changed, save one.
void touched(Engine& engine, NodeId node, std::uint64_t watch_key, ThreadId except = kNobody);
void touched_bytes(Engine& engine, NodeId node, Address address, std::uint64_t size, ThreadId except = kNobody);

/// A write of one word has reached memory: orders it, remembers the writer, announces it.
void finish_write(Engine& engine, SubeventId id, NodeId home, Address address);
/// For instants that write: id becomes the last writer.
SubeventId instant_write(Engine& engine, Subevent subevent);

/// Payload that the step of a DMA being scheduled will copy: with many hosts it is in no cache any more by the time it
/// is needed, and the steps between now and then are enough to fetch it.
void prefetch_copy(const Engine& engine, NodeId node, Address address, std::uint32_t buffer, std::uint32_t offset,
                   std::uint32_t bytes);

}  // namespace loco::nic
