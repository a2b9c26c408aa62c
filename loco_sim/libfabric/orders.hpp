// What LOCO asks of the order of operations between a thread and a peer, and what a provider of libfabric promises.
//
// Asked: what a reliable connection of verbs keeps (IBTA volume 1, section 10.8.3.3): what comes after a put or an
// atomic is done at the target behind it, but that a put after an atomic is not; a get keeps behind gets.
// Promised: fi_endpoint(3), msg_order and max_order_*_size. FI_ORDER_WAW is about writes of all kinds,
// FI_ORDER_RMA_WAW about puts among each other, FI_ORDER_ATOMIC_WAW about atomics; READ after WRITE is named alike. An
// atomic that fetches reads and writes. An order holds for operations up to its size; size 0 promises nothing about
// what is in memory, whatever the flags say.
// What is asked and not promised, the transport waits for.
#pragma once

#include <cstdint>
#include <string>

#include "loco_sim/loco/transport.hpp"

namespace loco::libfabric {

/// Of an operation, as far as its order matters.
enum class Access : std::uint8_t { put, get, atomic };
[[nodiscard]] constexpr Access access_of(Operation operation) {
  if (operation == Operation::put) return Access::put;
  return operation == Operation::get ? Access::get : Access::atomic;
}

struct Promises {
  std::uint64_t flags = 0;             ///< fi_tx_attr::msg_order
  std::uint64_t read_after_write = 0;  ///< bytes
  std::uint64_t write_after_write = 0;
  bool atomics_apart = false;  ///< they go another way than puts and gets: nothing orders the two
};

class Orders {
 public:
  explicit Orders(const Promises& promises);

  /// Must an operation of `bytes` wait until an earlier one of that access, of at most `earlier_bytes`, is done?
  [[nodiscard]] bool must_wait(Access earlier, std::uint64_t earlier_bytes, Access next, std::uint64_t bytes) const;
  /// Does anything ever have to wait for a put? Then its completion has to say that it is in memory.
  [[nodiscard]] bool waits_for_puts() const;
  /// Each pair of accesses that LOCO asks for and the provider does not promise, for people: "put before put".
  [[nodiscard]] std::string missing() const;

 private:
  /// Up to so many bytes of both; 0: never.
  [[nodiscard]] std::uint64_t limit(Access earlier, Access next) const;

  Promises promises_;
};

}  // namespace loco::libfabric
