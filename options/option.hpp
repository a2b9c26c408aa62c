// An option: a row of a table of settings, independent of who sets it and in which text.
//
// Numbers are int64 in the base unit of the type: picoseconds, bytes, bits per second, a plain count, 0 or 1, or the
// index of a choice. Everything that a row refers to must have static storage duration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/time.hpp"

namespace loco::options {

enum class Type : std::uint8_t {
  text,
  integer,
  boolean,
  duration,  ///< picoseconds
  size,      ///< bytes
  rate,      ///< bits per second
  choice,    ///< one of Option::choices
  choices,   ///< a list of different ones of Option::choices; a single one needs no brackets
  list,      ///< the table's author reads its items
  map,       ///< the same for its entries
};

inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

/// The value of an option that is not given: nothing, a number, or a text as a user would write it.
class Default {
 public:
  constexpr Default() = default;
  constexpr Default(std::int64_t number) : number_(number), kind_(Kind::number) {}
  template <std::size_t Size>
  constexpr Default(const char (&text)[Size]) : text_(text, Size - 1), kind_(Kind::text) {}

  [[nodiscard]] constexpr bool none() const { return kind_ == Kind::none; }
  [[nodiscard]] constexpr bool is_number() const { return kind_ == Kind::number; }
  [[nodiscard]] constexpr std::int64_t number() const { return number_; }
  [[nodiscard]] constexpr std::string_view text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { none, number, text };
  std::string_view text_;
  std::int64_t number_ = 0;
  Kind kind_ = Kind::none;
};

struct Option {
  std::string_view key;  ///< with dots for maps within maps
  Type type = Type::text;
  Default fallback = {};
  std::int64_t least = 0;  ///< numbers: inclusive range; texts: length
  std::int64_t most = kUnbounded;
  std::span<const std::string_view> choices = {};  ///< names by number
  std::string_view doc = {};
  std::int64_t multiple_of = 1;
  bool file = false;  ///< texts: the name of a file, which must not contain NUL
  /// Access to the member of the table's struct: see member(). Null: the table's author reads and writes it.
  std::int64_t (*get)(const void* owner) = nullptr;
  void (*set)(void* owner, std::int64_t number) = nullptr;
};

/// The greatest valid number.
[[nodiscard]] std::int64_t largest(const Option& option);

/// True if the number is valid: within the range and a required multiple.
[[nodiscard]] bool in_range(const Option& option, std::int64_t number);

/// The number of a choice's name, or the number of choices if there is no such name.
[[nodiscard]] std::int64_t choice_number(const Option& option, std::string_view name);

/// The default as a number, for a number or choice with a default.
[[nodiscard]] std::int64_t default_number(const Option& option);

/// The default as a user would write it; empty if there is none.
[[nodiscard]] std::string default_text(const Option& option);

/// `an integer from 1 to 1024`, as in messages and on the reference page.
[[nodiscard]] std::string expectation(const Option& option);

/// A number as a user would write it: 1500ns, true, or the name of a choice.
[[nodiscard]] std::string format_number(std::int64_t number, const Option& option);
[[nodiscard]] std::string format_number(std::int64_t number, Type type);

// --- Members as options --------------------------------------------------------------------------------------------

namespace detail {

constexpr std::int64_t number(sim::Duration d) { return d.ps; }
constexpr std::int64_t number(sim::Bytes b) { return static_cast<std::int64_t>(b.count); }
constexpr std::int64_t number(sim::BitsPerSecond r) { return static_cast<std::int64_t>(r.value); }
template <typename T>
constexpr std::int64_t number(T value) {
  return static_cast<std::int64_t>(value);
}
constexpr void assign(sim::Duration& d, std::int64_t v) { d = {v}; }
constexpr void assign(sim::Bytes& b, std::int64_t v) { b = {static_cast<std::uint64_t>(v)}; }
constexpr void assign(sim::BitsPerSecond& r, std::int64_t v) { r = {static_cast<std::uint64_t>(v)}; }
template <typename T>
constexpr void assign(T& value, std::int64_t v) {
  value = static_cast<T>(v);
}

template <typename T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, sim::Duration>) return Type::duration;
  if constexpr (std::is_same_v<T, sim::Bytes>) return Type::size;
  if constexpr (std::is_same_v<T, sim::BitsPerSecond>) return Type::rate;
  if constexpr (std::is_same_v<T, bool>) return Type::boolean;
  return std::is_enum_v<T> ? Type::choice : Type::integer;
}

template <typename Owner, typename Member>
Owner owner_of(Member Owner::*);

/// A member, or with several pointers a member of a member.
template <typename Owner>
constexpr auto& reach(Owner& owner) {
  return owner;
}
template <typename Owner, typename First, typename... Rest>
constexpr auto& reach(Owner& owner, First first, Rest... rest) {
  return reach(owner.*first, rest...);
}

}  // namespace detail

/// The row of a member: its type is the option's type, its initialiser the default. A table has only members of one
/// struct.
template <auto First, auto... Rest>
constexpr Option member(Option option) {
  using Owner = decltype(detail::owner_of(First));
  const Owner defaults{};
  using Member = std::remove_cvref_t<decltype(detail::reach(defaults, First, Rest...))>;
  option.type = detail::type_of<Member>();
  option.fallback = Default(detail::number(detail::reach(defaults, First, Rest...)));
  option.get = [](const void* owner) {
    return detail::number(detail::reach(*static_cast<const Owner*>(owner), First, Rest...));
  };
  option.set = [](void* owner, std::int64_t v) {
    detail::assign(detail::reach(*static_cast<Owner*>(owner), First, Rest...), v);
  };
  return option;
}

}  // namespace loco::options
