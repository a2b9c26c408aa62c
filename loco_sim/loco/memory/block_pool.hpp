// The blocks of network memory that one thread's mem_refs borrow, and the keys that know what is in flight on them
// (LOCO paper, App. C.2).
//
//   block       given to     operations on it           leaves by
//   free        nobody       none                       take()
//   borrowed    a mem_ref    those that its keys know   give_back(): free, or lost when one is in flight
//   lost        nobody       one in flight, at least    never: it may still be read, or written to
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class network_memory;

/// What knows which operations of its thread are in flight: an ack_key.
class in_flight_record {
 public:
  in_flight_record(const in_flight_record&) = delete;
  in_flight_record& operator=(const in_flight_record&) = delete;
  /// Is one on any of these bytes?
  [[nodiscard]] virtual bool in_flight(const Region& block) const = 0;

 protected:
  in_flight_record() = default;
  ~in_flight_record() = default;
};

/// The blocks of one thread that are free, by size; and the thread's keys, which know what is in flight on the others.
class block_pool {
 public:
  static constexpr std::uint64_t kSmallest = 64;

  /// A block of at least `bytes` bytes; its length is the least power of two that will do.
  Region take(network_memory& memory, std::uint64_t bytes);
  void give_back(const Region& block);
  void add(const in_flight_record& key) { keys_.push_back(&key); }
  void remove(const in_flight_record& key);
  /// An operation towards a node is in flight there, and its key has gone.
  void note_unfollowed(Address address, NodeId node) { unfollowed_.emplace_back(address, node); }
  /// All that the thread has posted towards that node is done.
  void note_fenced(NodeId node);
  /// Throws std::logic_error once for a block that was given back too early.
  void require_none_too_early() {
    if (too_early_) refuse_too_early();
  }
  /// Is that address in a block that has been given back? Looks at all that are free: for debug builds.
  [[nodiscard]] bool is_free(Address address) const;

 private:
  [[nodiscard]] bool in_flight(const Region& block) const;
  [[noreturn]] void refuse_too_early();

  std::map<std::uint64_t, std::vector<Region>> free_;
  std::vector<const in_flight_record*> keys_;
  std::vector<std::pair<Address, NodeId>> unfollowed_;
  bool too_early_ = false;
};

}  // namespace loco
