// Memory of a host that is not the simulator's: the memory of a real process that runs as the host's program (exec/).
//
// A host may have it in addition to its own memory (System::set_foreign_memory). Its addresses are the process's
// addresses plus kForeignMemory, so they differ from all that System::allocate returns and keep the low 12 bits, which
// matter to PCIe. It is read and written at the times at which the simulator's own memory would be. It is not part of
// the state, so a System with foreign memory cannot be copied, compared or hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nic_model/verbs.hpp"

namespace loco::nic {

inline constexpr Address kForeignMemory = Address{1} << 48U;

/// A scatter/gather list is also a range of addresses, from kScatteredMemory on. Its bytes lie elsewhere in the foreign
/// memory, one piece after the other. The bits from kScatteredNodeBit on are the node's number. A PCIe access ends at
/// the end of a piece, and each piece has its own key.
inline constexpr Address kScatteredMemory = Address{1} << 62U;
inline constexpr unsigned kScatteredNodeBit = 48;
[[nodiscard]] constexpr bool is_scattered(Address address) { return address >= kScatteredMemory; }
[[nodiscard]] constexpr NodeId node_of_scattered(Address address) {
  return static_cast<NodeId>((address - kScatteredMemory) >> kScatteredNodeBit);
}

/// Where the bytes from an address of a list on lie.
struct Piece {
  Address address = 0;
  std::uint64_t bytes = 0;  ///< this many lie there contiguously
  std::uint32_t key = 0;
};

class ForeignMemory {
 public:
  virtual ~ForeignMemory() = default;
  /// The piece at an address of a list; 0 bytes if there is none.
  [[nodiscard]] virtual Piece piece(Address) const { return {}; }
  /// True if it can be read and written. `address` is at least kForeignMemory, here and below.
  [[nodiscard]] virtual bool contains(Address address, std::uint64_t size) const = 0;
  virtual void read(Address address, std::span<std::byte> out) const = 0;
  virtual void write(Address address, std::span<const std::byte> in) = 0;
};

}  // namespace loco::nic
