// The parsing events of a YAML text, pulled from libyaml one by one: what the readers of scenarios and of litmus tests
// build their trees from.
//
// Nothing recurses, whatever the nesting: a reader that wants a bound counts the starts. Anchors are names only, since
// what an alias may mean is the reader's business.
#pragma once

#include <cstddef>
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
