// The engines of this build, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/engine.hpp"

namespace loco::verify {

struct EngineKind {
  std::string name;
  std::unique_ptr<Engine> (*make)() = nullptr;  ///< null: not in this build
  std::string missing;                          ///< then: what it needs and how to get it
};

/// `auto` first.
[[nodiscard]] const std::vector<EngineKind>& engine_kinds();

/// Throws std::invalid_argument when this build has no engine of that name.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name);

}  // namespace loco::verify
