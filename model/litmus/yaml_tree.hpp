// YAML documents as trees of values with places.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/litmus/program.hpp"

namespace loco::model::litmus {

struct YamlValue {
  enum class Kind : std::uint8_t { null, scalar, list, map } kind = Kind::null;
  std::string text;  ///< of a scalar
  SourcePos at;
  std::vector<const YamlValue*> items;                                 ///< of a list
  std::vector<std::pair<const YamlValue*, const YamlValue*>> entries;  ///< of a map
};

/// A value of a document, or nothing (an absent key). Refers to the documents it came from.
class YamlNode {
 public:
  explicit YamlNode(const YamlValue* value = nullptr) : value_(value) {}

  [[nodiscard]] bool defined() const { return value_ != nullptr; }
  [[nodiscard]] bool null() const { return is(YamlValue::Kind::null); }
  [[nodiscard]] bool scalar() const { return is(YamlValue::Kind::scalar); }
  [[nodiscard]] bool list() const { return is(YamlValue::Kind::list); }
  [[nodiscard]] bool map() const { return is(YamlValue::Kind::map); }
  [[nodiscard]] const std::string& text() const { return value_->text; }
  [[nodiscard]] SourcePos at() const { return value_->at; }
  [[nodiscard]] const std::vector<const YamlValue*>& items() const { return value_->items; }
  [[nodiscard]] const auto& entries() const { return value_->entries; }
  /// The value of a key of a map; nothing if there is none.
  [[nodiscard]] YamlNode operator[](std::string_view key) const;

 private:
  [[nodiscard]] bool is(YamlValue::Kind kind) const { return defined() && value_->kind == kind; }
  const YamlValue* value_;
};

/// The documents of a text.
struct YamlDocuments {
  std::vector<YamlNode> documents;
  std::deque<YamlValue> values;  ///< what the nodes refer to
};

/// Throws ParseError, naming `file`, for what is no YAML, aliases of unknown or unfinished values and too deep nesting.
[[nodiscard]] YamlDocuments read_yaml(std::string_view text, const std::string& file);

}  // namespace loco::model::litmus
