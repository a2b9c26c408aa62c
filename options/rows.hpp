// The rows of a table of options, one call each: `rows::size("ring", 64 << 10, {16, 1 << 30}, "bytes of the ring")`. A
// row without a default leaves that argument out. Keys, names and texts have static storage duration.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "options/option.hpp"

namespace loco::options {

/// Of a number, in the base unit of its type; of a text its length. Both ends are valid.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = kUnbounded;
};

namespace rows {

inline constexpr Range kAny{};
constexpr Range at_least(std::int64_t least) { return {.least = least}; }

namespace detail {

constexpr Option row(Type type, std::string_view key, Default fallback, Range range, std::string_view doc) {
  return {.key = key, .type = type, .fallback = fallback, .least = range.least, .most = range.most, .doc = doc};
}

struct Number {
  Type type;
  constexpr Option operator()(std::string_view key, Default fallback, Range range, std::string_view doc) const {
    return row(type, key, fallback, range, doc);
  }
  constexpr Option operator()(std::string_view key, Range range, std::string_view doc = {}) const {
    return row(type, key, {}, range, doc);
  }
};

using Names = std::span<const std::string_view>;

/// One of several names, or some of them.
struct Choice {
  Type type;
  constexpr Option operator()(std::string_view key, Default fallback, Names names, std::string_view doc) const {
    return {.key = key, .type = type, .fallback = fallback, .choices = names, .doc = doc};
  }
  constexpr Option operator()(std::string_view key, Names names, std::string_view doc) const {
    return (*this)(key, {}, names, doc);
  }
};

/// What the table's author reads.
struct Tree {
  Type type;
  constexpr Option operator()(std::string_view key, Default fallback, std::string_view doc) const {
    return row(type, key, fallback, kAny, doc);
  }
  constexpr Option operator()(std::string_view key, std::string_view doc = {}) const {
    return row(type, key, {}, kAny, doc);
  }
};

}  // namespace detail

inline constexpr detail::Number integer{Type::integer}, size{Type::size}, rate{Type::rate}, duration{Type::duration};
inline constexpr detail::Choice choice{Type::choice}, choices{Type::choices};
inline constexpr detail::Tree list{Type::list}, map{Type::map};

constexpr Option flag(std::string_view key, bool fallback, std::string_view doc = {}) {
  return detail::row(Type::boolean, key, fallback ? 1 : 0, kAny, doc);
}
constexpr Option text(std::string_view key, Range length, std::string_view doc = {}) {
  return detail::row(Type::text, key, {}, length, doc);
}
/// The name of a file.
constexpr Option file(std::string_view key, Range length, std::string_view doc) {
  Option option = text(key, length, doc);
  option.file = true;
  return option;
}
/// Of bytes: a multiple of 8.
constexpr Option whole_words(Option option) {
  option.multiple_of = 8;
  return option;
}

}  // namespace rows

// --- Members as options: beside member() of option.hpp --------------------------------------------------------------

template <auto First, auto... Rest>
constexpr Option member(std::string_view key, Range range, std::string_view doc = {}) {
  return member<First, Rest...>({.key = key, .least = range.least, .most = range.most, .doc = doc});
}
template <auto First, auto... Rest>
constexpr Option member(std::string_view key, std::string_view doc = {}) {
  return member<First, Rest...>(key, rows::kAny, doc);
}
/// Of an enumeration, whose values have these names in their order.
template <auto First, auto... Rest>
constexpr Option member(std::string_view key, std::span<const std::string_view> names, std::string_view doc = {}) {
  return member<First, Rest...>({.key = key, .choices = names, .doc = doc});
}

}  // namespace loco::options
