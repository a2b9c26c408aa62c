// The networks that an RMA program may run on, from weak to strong: each shows all that those after it show.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace loco::verify {

enum class Network : std::uint8_t {
  kUnordered,  ///< NIC operations in any order
  kVerbs,      ///< puts from one process to one other reach it in program order, and so do gets
  kInOrder,    ///< all operations from one process to one other reach it in program order (coreRMA's rule IR)
  kSc,         ///< a remote statement is one step
};

inline constexpr std::array<std::string_view, 4> kNetworkNames = {"unordered", "verbs", "in-order", "sc"};

[[nodiscard]] constexpr std::string_view name(Network network) {
  return kNetworkNames.at(static_cast<std::size_t>(network));
}

}  // namespace loco::verify
