#include "sim/counters.hpp"

#include <algorithm>

namespace loco::sim {

CounterId Counters::id(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    names_.emplace_back(name);
    values_.push_back(0);
    return {static_cast<std::uint32_t>(names_.size() - 1)};
  }
  return {static_cast<std::uint32_t>(found - names_.begin())};
}

std::uint64_t Counters::value(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? 0 : values_[static_cast<std::size_t>(found - names_.begin())];
}

}  // namespace loco::sim
