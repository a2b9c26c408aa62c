// The parsing events of a YAML text, one by one; trees are built from them (node.hpp).
//
// Nothing recurses, whatever the nesting. A receiver that needs a limit counts the starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/place.hpp"

namespace loco::yaml {

using text::Mark;

/// Thrown if a text is not YAML.
struct Problem {
  Mark at;
  std::string expected;  ///< what is expected there; empty if the parser only says what is wrong
  std::string found;     ///< with `expected`: the rest of the line as written; otherwise what is wrong
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
  Mark at;                  ///< where the value begins, including its anchor and tag
  std::string_view anchor;  ///< of a value, or the one that an alias names; empty if there is none
  std::string_view tag;     ///< of a value, resolved; empty if there is none
  std::string_view text;    ///< of a scalar, decoded
  bool plain = false;       ///< of scalars: neither in quotes, nor a block, nor text by the tag "!"

  /// True for a plain scalar that means no value.
  [[nodiscard]] bool null() const;
};

/// Receives the events.
class Receiver {
 public:
  Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  virtual ~Receiver() = default;

  /// What an event refers to is valid only during the call.
  virtual void take(const Event& event) = 0;
};

/// Passes the events of a text, in UTF-8, in order. Throws Problem, and what the receiver throws.
void read_events(std::string_view text, Receiver& receiver);

/// The text without a byte-order mark at its beginning, as read_events() expects it.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

}  // namespace loco::yaml
