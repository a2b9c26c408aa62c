// The parsing events of a YAML text, one by one: what trees are built from (node.hpp).
//
// Nothing recurses, whatever the nesting: a receiver that wants a bound counts the starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/place.hpp"

namespace loco::yaml {

using text::Mark;

/// What is thrown where a text is no YAML.
struct Problem {
  Mark at;
  std::string expected;  ///< what must stand there; empty when the parser only says what is wrong
  std::string found;     ///< with `expected`: the rest of the line as written; else what is wrong
  std::string context;   ///< "while scanning a quoted scalar" that began at `began`; or empty
  Mark began;
};

struct Event {
  enum class Kind : std::uint8_t {
    document_start,
    document_end,
    alias,
    scalar,
    list_start,
    list_end,
    map_start,
    map_end
  };

  Kind kind = Kind::document_start;
  Mark at;                  ///< where the value begins, with its anchor and tag
  std::string_view anchor;  ///< of a value, or the one an alias names; empty without
  std::string_view tag;     ///< of a value, resolved; empty without
  std::string_view text;    ///< of a scalar, decoded
  bool plain = false;       ///< scalars: neither in quotes, nor a block, nor text by the tag "!"

  /// A plain scalar that stands for no value.
  [[nodiscard]] bool null() const;
};

/// Who is told the events.
class Receiver {
 public:
  Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  virtual ~Receiver() = default;

  /// What an event refers to is gone after the call.
  virtual void take(const Event& event) = 0;
};

/// Tells the events of a text, in UTF-8, in their order. Throws Problem, and what the receiver throws.
void read_events(std::string_view text, Receiver& receiver);

/// The text without the byte-order mark that it may begin with, as read_events() takes it.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

}  // namespace loco::yaml
