#include "text/input_error.hpp"

#include <fmt/format.h>
#include <utility>

#include "text/words.hpp"

namespace loco::text {

namespace {

std::string message(const Place& place, const std::string& key, const std::string& expected, const std::string& found,
                    const std::string& hint) {
  return fmt::format("{}: {}{}expected {}, found {}{}", place.text(), printable(key), key.empty() ? "" : ": ", expected,
                     found, as_clause(hint));
}

}  // namespace

const std::string& SourceName::str() const {
  static const std::string kNone;
  return name_ == nullptr ? kNone : *name_;
}

std::string Place::text() const {
  return line > 0 ? fmt::format("{}:{}:{}", printable(file.str()), line, column) : printable(file.str());
}

InputError::InputError(Place place, std::string key, std::string expected, std::string found, std::string hint)
    : std::runtime_error(message(place, key, expected, found, hint)),
      place_(std::move(place)),
      key_(std::move(key)),
      expected_(std::move(expected)),
      found_(std::move(found)),
      hint_(std::move(hint)) {}

}  // namespace loco::text
