#include "loco_sim/loco/transport.hpp"

#include <cstring>
#include <stdexcept>

namespace loco {

void LocalMemory::load_bytes(Address address, std::span<std::byte> out) {
  if (out.size() % kWord != 0) throw std::invalid_argument("wide loads are of whole words");
  for (std::size_t i = 0; i < out.size(); i += kWord) {
    const std::uint64_t value = load(address + i);
    std::memcpy(out.data() + i, &value, kWord);
  }
}

void LocalMemory::store_bytes(Address address, std::span<const std::byte> in) {
  if (in.size() % kWord != 0) throw std::invalid_argument("wide stores are of whole words");
  for (std::size_t i = 0; i < in.size(); i += kWord) {
    std::uint64_t value = 0;
    std::memcpy(&value, in.data() + i, kWord);
    store(address + i, value);
  }
}

void LocalMemory::clear(Address base, std::uint64_t size) {
  for (std::uint64_t at = 0; at < size; at += kWord) store(base + at, 0);
  memory_fence();
}

}  // namespace loco
