// The conductor's own keys in the watch sets of the machine's threads.
#pragma once

#include <cstdint>

namespace loco::exec {

inline constexpr std::uint64_t kIoKey = 1;             ///< a descriptor may be ready
inline constexpr std::uint64_t kThreadsKey = 2;        ///< another thread of the process has run
inline constexpr std::uint64_t kPauseKey = 1U << 20U;  ///< plus the thread number: its pause has lasted long enough

}  // namespace loco::exec
