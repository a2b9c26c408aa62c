// The pool of network memory blocks that one thread's mem_refs borrow, and the keys that follow the operations in
// flight on them (LOCO paper, App. C.2).
//
//   state of a block   held by     operations on it              ends with
//   free               nobody      none                          take()
//   borrowed           a mem_ref   those that the keys follow    give_back(): free, or lost if one is in flight
//   lost               nobody      at least one in flight        never: the NIC may still read it or write to it
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class network_memory;

/// An ack_key, as the pool sees it: it knows which of its thread's operations are in flight.
class in_flight_record {
 public:
  in_flight_record(const in_flight_record&) = delete;
  in_flight_record& operator=(const in_flight_record&) = delete;
  /// True if an operation in flight reads or writes any byte of `block`.
  [[nodiscard]] virtual bool in_flight(const Region& block) const = 0;

 protected:
  in_flight_record() = default;
  ~in_flight_record() = default;
};

/// One thread's free blocks by size, and the thread's keys, which know what is in flight on the borrowed ones.
class block_pool {
 public:
  static constexpr std::uint64_t kSmallest = 64;

  /// Takes a block of at least `bytes` bytes. Sizes are powers of two, so that a freed block fits the next request.
  Region take(network_memory& memory, std::uint64_t bytes);
  void give_back(const Region& block);
  void add(const in_flight_record& key) { keys_.push_back(&key); }
  void remove(const in_flight_record& key);
  /// Notes an operation towards `node` that is in flight at `address` and whose key has been destroyed.
  void note_unfollowed(Address address, NodeId node) { unfollowed_.emplace_back(address, node); }
  /// Notes that everything which the thread has posted towards `node` is done.
  void note_fenced(NodeId node);
  /// Throws std::logic_error if a block was given back too early; each such mistake is reported once.
  void require_none_too_early() {
    if (too_early_) refuse_too_early();
  }
  /// True if the address lies in a block that has been given back. Searches all free blocks, so only debug builds ask.
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
