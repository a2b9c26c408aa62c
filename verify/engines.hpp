// The engines of this build, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/engine.hpp"

namespace loco::verify {

struct EngineKind {
  std::string name;
  /// Null: not in this build. It is given predicates to begin with, over the variables of the program.
  std::unique_ptr<Engine> (*make)(std::vector<Expression> predicates) = nullptr;
  bool takes_predicates = false;
  std::string missing;  ///< of what is not in this build: what it needs and how to get it
};

/// `auto` first.
[[nodiscard]] const std::vector<EngineKind>& engine_kinds();

/// Throws std::invalid_argument when this build has no engine of that name, or it takes no predicates and there are
/// some.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name,
                                                  const std::vector<Expression>& predicates = {});

}  // namespace loco::verify
