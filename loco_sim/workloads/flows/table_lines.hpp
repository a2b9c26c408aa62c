// Lines of words or values, as in flow lists and distributions, each with its place for error messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/place.hpp"

namespace loco::workloads::flows {

struct Field {
  std::string text;
  text::Place place;
};

struct TableLine {
  std::string whole;
  std::vector<Field> fields;  ///< at least one

  [[nodiscard]] const text::Place& place() const { return fields.front().place; }
};

/// The lines of a text that are neither empty nor begin with `#`, split at `separator`. Blanks around fields are
/// removed; if the separator is a blank, several count as one.
[[nodiscard]] std::vector<TableLine> table_lines(const std::string& text, const std::string& file, char separator);

/// A whole number from 0 to `most`. Throws text::InputError, which names it `what`.
[[nodiscard]] std::uint64_t number_of(const Field& field, const std::string& what, std::uint64_t most);

}  // namespace loco::workloads::flows
