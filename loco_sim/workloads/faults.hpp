// Deliberate faults of the library: known bugs, to prove that the checkers find them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace loco::workloads {

enum class LibraryFault : std::uint8_t {
  /// Barriers do not fence: the first bug of the LOCO paper's Appendix D.
  barrier_without_fence,
};
inline constexpr std::array<std::string_view, 1> kLibraryFaultNames = {"barrier_without_fence"};

/// A set of faults.
class LibraryFaults {
 public:
  [[nodiscard]] constexpr bool has(LibraryFault f) const { return ((bits_ >> static_cast<unsigned>(f)) & 1U) != 0; }
  constexpr LibraryFaults& add(LibraryFault f) {
    bits_ |= 1U << static_cast<unsigned>(f);
    return *this;
  }

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace loco::workloads
