// Memory of a host that is not the simulator's: that of a real process, which runs as the host's program (exec/).
//
// A host may have one beside its own memory (System::set_foreign_memory). Its addresses are the process's plus
// kForeignMemory, so that they are none that System::allocate gives, and the low 12 bits, which PCIe looks at, are the
// process's. What is read and written there is read and written at the instants at which it would be in memory of the
// simulator's own. It is no part of the state: a System that has one can be neither copied, compared nor hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nic_model/verbs.hpp"

namespace loco::nic {

inline constexpr Address kForeignMemory = Address{1} << 48U;

/// A scatter/gather list is a range of addresses as well, from kScatteredMemory on: of bytes that lie elsewhere in the
/// foreign memory, piece behind piece. The node's number is in the bits from kScatteredNodeBit on. What PCIe carries
/// ends at the end of a piece, and each has its own key.
inline constexpr Address kScatteredMemory = Address{1} << 62U;
inline constexpr unsigned kScatteredNodeBit = 48;
[[nodiscard]] constexpr bool is_scattered(Address address) { return address >= kScatteredMemory; }
[[nodiscard]] constexpr NodeId node_of_scattered(Address address) {
  return static_cast<NodeId>((address - kScatteredMemory) >> kScatteredNodeBit);
}

/// Where the bytes from an address of a list on are.
struct Piece {
  Address address = 0;
  std::uint64_t bytes = 0;  ///< so many lie there next to each other
  std::uint32_t key = 0;
};

class ForeignMemory {
 public:
  virtual ~ForeignMemory() = default;
  /// Of an address of a list; without bytes where there is none.
  [[nodiscard]] virtual Piece piece(Address) const { return {}; }
  /// Can it be read and written? `address` is at least kForeignMemory, here and below.
  [[nodiscard]] virtual bool contains(Address address, std::uint64_t size) const = 0;
  virtual void read(Address address, std::span<std::byte> out) const = 0;
  virtual void write(Address address, std::span<const std::byte> in) = 0;
};

}  // namespace loco::nic
