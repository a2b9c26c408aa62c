// Small random programs, the same for the same seed: two or three processes, a few statements each, bounded loops among
// them.
#pragma once

#include <cstdint>
#include <string>

namespace loco::test {

[[nodiscard]] std::string random_program(std::uint32_t seed);

}  // namespace loco::test
