#include "text/json.hpp"

#include <nlohmann/json.hpp>

namespace loco::text {

using nlohmann::ordered_json;

std::string json_text(const ordered_json& json, int indent) { return json.dump(indent); }

std::string json_text_replacing(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json parse_json(std::string_view text) { return ordered_json::parse(text.data(), text.data() + text.size()); }

}  // namespace loco::text
