// Scatter/gather lists, as ranges of addresses (foreign_memory.hpp): where their bytes are, and who may access them.
// Private to nic_model/.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "nic_model/foreign_memory.hpp"

namespace loco::nic {

[[nodiscard]] Piece piece_at(const Engine& engine, Address address);

/// Bytes of an access from `address` on that stays in its piece, and ends at multiples of `unit` there.
[[nodiscard]] std::uint32_t scattered_step(const Engine& engine, Address address, std::uint32_t left,
                                           std::uint64_t unit);

/// Where the byte at an address is: that of a list is elsewhere.
[[nodiscard]] inline Address place_of(const Engine& engine, Address address) {
  return is_scattered(address) ? piece_at(engine, address).address : address;
}

/// As Engine::allowed; each piece of a list has its own key.
[[nodiscard]] bool may_access(const Engine& engine, std::uint32_t key, NodeId node, Address address, std::uint64_t size,
                              std::uint8_t access);

/// Elements of [address, address + size): 1 where it is no list.
[[nodiscard]] std::uint32_t elements_of(const Engine& engine, Address address, std::uint64_t size);

}  // namespace loco::nic
