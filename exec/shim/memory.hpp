// What regions of program memory and of memory on the NIC share.
#pragma once

#include "exec/shim/objects.hpp"

namespace loco::shim {

/// Rights as the protocol has them; false, with errno, when they are none that a region may have.
[[nodiscard]] bool rights_of(unsigned access, std::uint32_t& rights);
/// Null when there is no room.
[[nodiscard]] ibv_mr* make_mr(ibv_pd* pd, void* address, std::size_t bytes, unsigned access, std::uint32_t key);

/// Is some of it in a region?
[[nodiscard]] bool is_registered(std::uintptr_t address, std::size_t bytes);

/// Takes an object out of a list.
template <typename T>
void take_out(T*& first, T* object) {
  for (T** at = &first; *at != nullptr; at = &(*at)->next) {
    if (*at != object) continue;
    *at = object->next;
    return;
  }
}

}  // namespace loco::shim
