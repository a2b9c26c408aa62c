// Variables that hold their initial value for ever, since no other value is ever written to them: reads of them may
// happen at any time.
#pragma once

#include <vector>

#include "verify/program.hpp"

namespace loco::verify {

struct Constants {
  explicit Constants(const Program& program);

  std::vector<bool> shared;  ///< by Program::shared
  std::vector<bool> locals;  ///< by Program::locals
};

}  // namespace loco::verify
