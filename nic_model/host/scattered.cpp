#include "nic_model/host/scattered.hpp"

#include "nic_model/host/memory.hpp"

namespace loco::nic {

Piece piece_at(const Engine& engine, Address address) {
  return engine.memories[HostId(node_of_scattered(address))].piece(address);
}

std::uint32_t scattered_step(const Engine& engine, Address address, std::uint32_t left, std::uint64_t unit) {
  const Piece piece = piece_at(engine, address);
  const std::uint64_t most = std::min<std::uint64_t>(left, unit - piece.address % unit);
  return static_cast<std::uint32_t>(piece.bytes == 0 ? most : std::min(most, piece.bytes));
}

bool may_access(const Engine& engine, std::uint32_t key, NicId node, Address address, std::uint64_t size,
                std::uint8_t access) {
  if (!is_scattered(address)) return engine.allowed(key, node, address, size, access);
  for (std::uint64_t done = 0; done < size;) {
    const Piece piece = piece_at(engine, address + done);
    const std::uint64_t bytes = std::min(piece.bytes, size - done);
    if (bytes == 0 || !engine.allowed(piece.key, node, piece.address, bytes, access)) return false;
    done += bytes;
  }
  return true;
}

std::uint32_t elements_of(const Engine& engine, Address address, std::uint64_t size) {
  if (!is_scattered(address)) return 1;
  std::uint32_t count = 0;
  for (std::uint64_t done = 0; done < size; ++count) {
    const Piece piece = piece_at(engine, address + done);
    if (piece.bytes == 0) break;
    done += piece.bytes;
  }
  return count;
}

}  // namespace loco::nic
