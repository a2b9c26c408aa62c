// Descriptions of the scenario format for programs and people, generated from the tables of keys.
#pragma once

#include <string>

namespace loco::scenario {

/// JSON schema, draft-07, for editors: docs/scenario.schema.json. Units and checks across keys are left to the loader.
[[nodiscard]] std::string json_schema();

/// Markdown tables of all keys with default, expected values and meaning: part of docs/scenario.md.
[[nodiscard]] std::string reference();

}  // namespace loco::scenario
