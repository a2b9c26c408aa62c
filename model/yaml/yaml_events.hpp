// The parsing events of a YAML text, pulled from libyaml one by one: what the readers of scenarios and of litmus tests
// build their trees from.
//
// Nothing recurses, whatever the nesting: a reader that wants a bound counts the starts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <yaml.h>

namespace loco::model::yaml {

/// Line and column of a character, from 1. Columns count bytes.
struct Mark {
  int line = 1;
  int column = 1;
};

/// What is thrown where a text is no YAML.
struct Problem {
  Mark at;
  std::string expected;  ///< what must stand there; empty when libyaml only says what is wrong
  std::string found;     ///< with `expected`: the rest of the line as written; else what is wrong
  std::string context;   ///< "while scanning a quoted scalar" that began at `began`; or empty
  Mark began;
};

struct Event {
  enum class Kind { document_start, document_end, alias, scalar, list_start, list_end, map_start, map_end, stream_end };

  Kind kind = Kind::stream_end;
  Mark at;                  ///< where the value begins, with its anchor and tag
  std::string_view anchor;  ///< of a value, or the one an alias names; empty without
  std::string_view tag;     ///< of a value, resolved; empty without
  std::string_view text;    ///< of a scalar, decoded
  bool plain = false;       ///< scalars: neither in quotes, nor a block, nor text by the tag "!"

  /// A plain scalar that stands for no value.
  [[nodiscard]] bool null() const;
};

/// What the anchors of a document name.
template <typename Value>
class Anchors {
 public:
  static constexpr const char* kExpected = "an alias of a finished value";

  /// From here on the name means a value that is not finished. No name is the empty one, here and below.
  void begin(const std::string& name) {
    if (!name.empty()) values_[name].reset();
  }
  void finish(const std::string& name, const Value& value) {
    if (!name.empty()) values_.insert_or_assign(name, value);
  }
  void clear() { values_.clear(); }
  /// The finished value; nullptr when there is none: then found() says what there is in place of kExpected.
  [[nodiscard]] const Value* find(const std::string& name) const {
    const auto known = values_.find(name);
    return known != values_.end() && known->second ? &*known->second : nullptr;
  }
  [[nodiscard]] std::string found(const std::string& name) const {
    return values_.contains(name) ? "an alias inside the value that it names" : "an alias of nothing";
  }

 private:
  std::map<std::string, std::optional<Value>> values_;
};

/// Calls what an event within a document stands for: alias(event), scalar(event), open(event) for the start of a list
/// or a map, close().
template <typename Builder>
void hand_to(Builder& builder, const Event& event) {
  switch (event.kind) {
    case Event::Kind::alias:
      return builder.alias(event);
    case Event::Kind::scalar:
      return builder.scalar(event);
    case Event::Kind::list_start:
    case Event::Kind::map_start:
      return builder.open(event);
    case Event::Kind::list_end:
    case Event::Kind::map_end:
      return builder.close();
    case Event::Kind::document_start:
    case Event::Kind::document_end:
    case Event::Kind::stream_end:
      return;
  }
}

/// The text without the byte-order mark that it may begin with.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// Refers to the text: UTF-8, without a byte-order mark.
class Events {
 public:
  explicit Events(std::string_view text);
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events();

  /// The next event, until after stream_end; valid until the next call. Throws Problem.
  [[nodiscard]] const Event& next();

 private:
  void describe();
  void describe_value(Event::Kind kind, const yaml_char_t* anchor, const yaml_char_t* tag);
  [[nodiscard]] bool tagged_as_text();
  [[nodiscard]] Problem problem();
  [[nodiscard]] std::string_view rest_of_line(std::size_t offset) const;
  [[nodiscard]] std::size_t offset(const yaml_mark_t& mark);
  [[nodiscard]] Mark place(const yaml_mark_t& mark);
  [[nodiscard]] Mark place_of(std::size_t offset) const;

  std::string_view text_;
  bool ascii_;
  yaml_parser_t parser_{};
  yaml_event_t raw_{};
  Event event_;
  // libyaml counts characters: the last one that was looked for, its byte, and the first byte of the last line
  std::size_t character_ = 0;
  std::size_t byte_ = 0;
  std::size_t line_ = 0;
  std::size_t line_byte_ = 0;
};

}  // namespace loco::model::yaml
