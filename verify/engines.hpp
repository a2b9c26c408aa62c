// The engines of this build, by name.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "verify/engine.hpp"

namespace loco::verify {

inline constexpr std::array<std::string_view, 4> kEngineNames = {"auto", "explicit", "predicates", "extrapolate"};

struct EngineKind {
  std::string_view name;
  /// Null: not in this build. It is given predicates to begin with, over the variables of the program.
  std::unique_ptr<Engine> (*make)(std::vector<Expression> predicates) = nullptr;
  bool takes_predicates = false;
  std::string missing;  ///< of an engine that is not in this build: the library that it needs and how to get it
};

/// In the order of their names.
[[nodiscard]] const std::vector<EngineKind>& engine_kinds();

/// Throws std::invalid_argument when this build has no engine of that name, or it takes no predicates and there are
/// some.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name,
                                                  const std::vector<Expression>& predicates = {});

}  // namespace loco::verify
