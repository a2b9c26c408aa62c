// Scatter/gather lists as ranges of addresses (foreign_memory.hpp): where their bytes are and who may access them.
// Private to nic_model/.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nic_model/engine/engine.hpp"
#include "nic_model/foreign_memory.hpp"

namespace loco::nic {

[[nodiscard]] Piece piece_at(const Engine& engine, Address address);

/// Bytes that an access from `address` on can take at once: it stays in one piece of the list and ends at a multiple of
/// `unit` there.
[[nodiscard]] std::uint32_t scattered_step(const Engine& engine, Address address, std::uint32_t left,
                                           std::uint64_t unit);

/// Where the byte at an address is. A byte of a list is elsewhere.
[[nodiscard]] inline Address place_of(const Engine& engine, Address address) {
  return is_scattered(address) ? piece_at(engine, address).address : address;
}

/// As Engine::allowed, where each piece of a list has its own key.
[[nodiscard]] bool may_access(const Engine& engine, std::uint32_t key, NicId node, Address address, std::uint64_t size,
                              std::uint8_t access);

/// Number of elements of [address, address + size); 1 if it is no list.
[[nodiscard]] std::uint32_t elements_of(const Engine& engine, Address address, std::uint64_t size);

}  // namespace loco::nic
