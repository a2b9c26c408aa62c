// Kinds of subevent, the accesses to memory and fences that calls are made of: Fig. 10 of the LOCO paper, in its order,
// and aNAR, the read of a remote atomic (Ambal, Stupple, Dongol, Raad, arXiv 2601.14642).
// Trace files hold these numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loco::rdma {

enum class Stamp : std::uint8_t { aCR, aCW, aCAS, aMF, aWT, aNLR, aNRW, aNRR, aNLW, aRF, aGF, aNAR };

inline constexpr std::size_t kStamps = 12;

[[nodiscard]] constexpr std::string_view name(Stamp s) {
  constexpr std::array<std::string_view, kStamps> kNames = {"aCR",  "aCW",  "aCAS", "aMF", "aWT", "aNLR",
                                                            "aNRW", "aNRR", "aNLW", "aRF", "aGF", "aNAR"};
  return kNames[static_cast<std::size_t>(s)];
}

/// Does the stamp name a remote node?
[[nodiscard]] constexpr bool is_family(Stamp s) { return s >= Stamp::aNLR; }

}  // namespace loco::rdma
