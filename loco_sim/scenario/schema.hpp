// The scenario format described for machines and for people, generated from the tables of keys.
#pragma once

#include <string>

namespace loco::scenario {

/// JSON schema, draft-07, for editors: docs/scenario.schema.json. Units and cross-checks are the loader's business.
[[nodiscard]] std::string json_schema();

/// Markdown tables of every key with its default, what is expected and its meaning: part of docs/scenario.md.
[[nodiscard]] std::string reference();

}  // namespace loco::scenario
