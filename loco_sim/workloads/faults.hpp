// Deliberate faults of the library: known bugs, to show that the checkers find them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace loco::workloads {

enum class LibraryFault : std::uint8_t {
  /// Barriers do not fence: the first bug of the LOCO paper's Appendix D.
  barrier_without_fence,
  /// Guards are read from the leading one to the trailing one: the second bug of Appendix D.
  guards_read_forward,
  /// A ring buffer does not wait until its previous head has been read (Section 5.2 explains why it must).
  ring_without_wait,
  // Faults of LOCO's mutexes (lock_array.hpp, lock_fault).
  lock_released_before_data,
  lock_without_home_fence,
  lock_by_get_and_put,
  lock_by_home_cas,
};
inline constexpr std::array<std::string_view, 7> kLibraryFaultNames = {
    "barrier_without_fence",   "guards_read_forward", "ring_without_wait", "lock_released_before_data",
    "lock_without_home_fence", "lock_by_get_and_put", "lock_by_home_cas"};

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
