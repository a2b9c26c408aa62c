// JSON to text and back. The JSON library's writer and parser are thousands of lines of templates, so they are compiled
// here once and not in each file that writes a value.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace loco::text {

/// On one line, or indented by `indent` columns per level. Throws nlohmann::json::type_error if a string is not UTF-8.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
/// The same, with U+FFFD in place of invalid UTF-8.
[[nodiscard]] std::string json_text_replacing(const nlohmann::ordered_json& json, int indent = -1);

/// Throws nlohmann::json::parse_error, whose `byte` says where.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text);

}  // namespace loco::text
