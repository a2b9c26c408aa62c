// A value of an outcome as JSON: numbers, true, false, lists; `empty`, `bottom` and `undefined` as text.
#pragma once

#include <nlohmann/json.hpp>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

[[nodiscard]] nlohmann::ordered_json value_json(const Program& p, Value v);

}  // namespace loco::model::litmus
