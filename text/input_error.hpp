// A user's mistake in a file, an argument or a program: where it is, what was expected, what was found.
//
// The one line that what() gives is the product's error format: `file:line:column: key: expected E, found F`, with a
// suggestion for a misspelt word. Programs print it unchanged and exit with 2.
#pragma once

#include <stdexcept>
#include <string>

#include "text/place.hpp"

namespace loco::text {

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

}  // namespace loco::text
