// A mistake in a program: one line `file:line:column: expected E, found F`, with a hint for a misspelt name.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "verify/program.hpp"

namespace loco::verify {

class InputError : public std::runtime_error {
 public:
  InputError(const std::string& file, Place place, const std::string& message);

  [[nodiscard]] Place place() const { return place_; }

 private:
  Place place_;
};

/// `; did you mean "x"?` for the nearest of the known words, or nothing when none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& known);

/// `'word'`, shortened when long, with `?` for what is not printable.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace loco::verify
