// Shared by regions of program memory and of memory on the NIC.
#pragma once

#include "exec/shim/objects.hpp"

namespace loco::shim {

/// Translates rights to the protocol's. Returns false, with errno, if a region may not have them.
[[nodiscard]] bool rights_of(unsigned access, std::uint32_t& rights);
/// Null if there is no room.
[[nodiscard]] ibv_mr* make_mr(ibv_pd* pd, void* address, std::size_t bytes, unsigned access, std::uint32_t key);

/// Is some of it in a region?
[[nodiscard]] bool is_registered(std::uintptr_t address, std::size_t bytes);

}  // namespace loco::shim
