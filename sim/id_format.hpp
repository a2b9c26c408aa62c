// Numbers of things (id.hpp) in messages: as integers.
#pragma once

#include <cstdint>
#include <fmt/format.h>

#include "sim/id.hpp"

template <class Kind>
struct fmt::formatter<loco::sim::Id<Kind>> : fmt::formatter<std::uint32_t> {
  template <class Context>
  auto format(loco::sim::Id<Kind> id, Context& context) const {
    return fmt::formatter<std::uint32_t>::format(id.index(), context);
  }
};
