// A user's mistake in a scenario, a hardware profile or an override: where it is, what was expected, what was found.
//
// The one line that what() gives is the product's error format: `file:line:column: key: expected E, found F`,
// with a suggestion for a misspelt word. Programs print it unchanged and exit with 2.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace loco::scenario {

/// Where a value was written. Lines and columns count from 1; line 0 means that `file` names no file but an
/// argument such as `--set topology.nodes=4`.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  [[nodiscard]] std::string text() const;
};

class InputError : public std::runtime_error {
 public:
  /// `key` is the dotted path of the key concerned, or empty. `hint` follows the message, e.g. `did you mean "nodes"?`.
  InputError(Place place, std::string key, std::string expected, std::string found, std::string hint = {});

  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::string& expected() const { return expected_; }
  [[nodiscard]] const std::string& found() const { return found_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }

 private:
  Place place_;
  std::string key_;
  std::string expected_;
  std::string found_;
  std::string hint_;
};

/// `did you mean "X"?` with the known word nearest to `word`, or nothing when none is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string> known);

/// `a`, `a or b`, `one of a, b, c`.
[[nodiscard]] std::string one_of(std::span<const std::string> words);

/// `text` on one line, in UTF-8: control characters and bytes that are no UTF-8 escaped (model/shown.hpp).
[[nodiscard]] std::string printable(std::string_view text);

/// The same, cut where it is long.
[[nodiscard]] std::string shortened(std::string_view text);

/// The same in double quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace loco::scenario
