// The order between operations of a thread and a peer that LOCO requires, and the order that a libfabric provider
// guarantees.
//
// Required is what a reliable connection of verbs guarantees (IBTA volume 1, section 10.8.3.3): operations after a put
// or an atomic take effect at the target after it, except for a put after an atomic; gets stay in order. Guaranteed is
// what fi_endpoint(3) says about msg_order and max_order_*_size. FI_ORDER_WAW covers all kinds of writes,
// FI_ORDER_RMA_WAW puts among each other, FI_ORDER_ATOMIC_WAW atomics; the names for READ after WRITE are similar. A
// fetching atomic both reads and writes. An order holds for operations up to its size; size 0 guarantees nothing about
// memory, whatever the flags say. The transport waits where order is required but not guaranteed.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/loco/transport.hpp"

namespace loco::libfabric {

/// The kind of an operation, as far as its order matters.
enum class Access : std::uint8_t { put, get, atomic };
[[nodiscard]] constexpr Access access_of(Operation operation) {
  if (operation == Operation::put) return Access::put;
  return operation == Operation::get ? Access::get : Access::atomic;
}

struct Promises {
  std::uint64_t flags = 0;             ///< fi_tx_attr::msg_order
  std::uint64_t read_after_write = 0;  ///< bytes
  std::uint64_t write_after_write = 0;
  bool atomics_apart = false;  ///< they take another way than puts and gets, so nothing orders the two
};

class Orders {
 public:
  explicit Orders(const Promises& promises);

  /// True if an operation of `bytes` must wait until an earlier one of that kind, with at most `earlier_bytes`, is
  /// done.
  [[nodiscard]] bool must_wait(Access earlier, std::uint64_t earlier_bytes, Access next, std::uint64_t bytes) const;
  /// True if anything ever has to wait for a put. Completions of puts must then mean that the put is in memory.
  [[nodiscard]] bool waits_for_puts() const;
  /// Readable list of the pairs that LOCO requires and the provider does not guarantee: "put before put".
  [[nodiscard]] std::string missing() const;

 private:
  /// Greatest size of both for which the order holds; 0: never.
  [[nodiscard]] std::uint64_t limit(Access earlier, Access next) const;

  Promises promises_;
};

}  // namespace loco::libfabric
