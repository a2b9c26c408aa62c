// A command's options: a table of rows, one a member of the struct that the command takes. The command line, the Python
// call and the checks of both are made of it. Names, texts and choices of a row have static storage duration.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "options/option.hpp"

namespace loco::options {

/// A member that is a whole number, a quantity, the index of a choice, or none of these yet (std::optional).
struct Number {
  void* member = nullptr;
  std::optional<std::uint64_t> (*get)(const void* member) = nullptr;
  void (*set)(void* member, std::uint64_t value) = nullptr;
};

/// Where a row's value is kept: lists take one value after another.
using Slot = std::variant<Number, bool*, double*, std::string*, std::optional<std::string>*, std::vector<std::string>*,
                          std::vector<std::uint64_t>*>;

[[nodiscard]] inline bool is_list(const Slot& slot) {
  return std::holds_alternative<std::vector<std::string>*>(slot) ||
         std::holds_alternative<std::vector<std::uint64_t>*>(slot);
}

/// Seconds stand for themselves (double); a duration is picoseconds, and as perftest has it a bare number is seconds.
enum class Kind : std::uint8_t { of_member, flag, integer, choice, size, duration, seconds, text };

struct Row {
  std::string_view keyword = {};  ///< of Python; empty: the command line's alone
  std::string_view names = {};    ///< `-t,--tx-depth`, or a positional's name; empty: Python's alone
  std::string_view doc = {};
  std::string_view value = {};  ///< the value's name in `--help`; empty: by its type
  Kind kind = Kind::of_member;
  std::uint64_t least = 0;  ///< inclusive range, in the unit of the member
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::span<const std::string_view> choices = {};  ///< of a number: its values' names in order; of text: all texts
  std::uint64_t unit = 1;                          ///< the command line counts in so many of the member's
  bool required = false;
  bool shows_default = false;   ///< in `--help`
  bool one_a_time = false;      ///< a list: each `--option` takes one value
  std::string_view needs = {};  ///< another option of the command line
  Slot (*slot)(void* owner) = nullptr;
};

/// Puts a value that is written as text where it belongs; of the command line in the row's unit. False, and nothing
/// changed, when it is none.
[[nodiscard]] bool assign(const Row& row, void* owner, const std::string& text, std::uint64_t unit = 1);

/// `an integer from 1 to 1024`, `one of a, b, c`; of the command line in the row's unit.
[[nodiscard]] std::string expectation(const Row& row, std::uint64_t unit = 1);

/// The owner's value as the command line writes it; empty where there is none, or where a number below the range stands
/// for none.
[[nodiscard]] std::string held(const Row& row, void* owner, std::uint64_t unit = 1);

// --- Rows of members -------------------------------------------------------------------------------------------------

namespace detail {

template <typename T>
struct Bare {
  using Type = T;
};
template <typename T>
struct Bare<std::optional<T>> {
  using Type = T;
};

template <typename Member>
Slot slot_of(Member& member) {
  if constexpr (std::is_same_v<Member, bool> || std::is_same_v<Member, double> || std::is_same_v<Member, std::string> ||
                std::is_same_v<Member, std::optional<std::string>> ||
                std::is_same_v<Member, std::vector<std::string>> ||
                std::is_same_v<Member, std::vector<std::uint64_t>>) {
    return Slot(std::in_place_type<Member*>, &member);
  } else {
    return Number{&member,
                  [](const void* from) -> std::optional<std::uint64_t> {
                    const auto& value = *static_cast<const Member*>(from);
                    if constexpr (!std::is_same_v<typename Bare<Member>::Type, Member>) {
                      if (!value) return {};
                      return static_cast<std::uint64_t>(number(*value));
                    } else {
                      return static_cast<std::uint64_t>(number(value));
                    }
                  },
                  [](void* to, std::uint64_t value) {
                    typename Bare<Member>::Type bare{};
                    assign(bare, static_cast<std::int64_t>(value));
                    *static_cast<Member*>(to) = bare;
                  }};
  }
}

template <typename Member>
constexpr void complete(Row& row) {
  using T = typename Bare<Member>::Type;
  std::string_view value = "TEXT";
  Kind kind = row.choices.empty() ? Kind::text : Kind::choice;
  if constexpr (std::is_same_v<T, bool>) kind = Kind::flag;
  if constexpr (std::is_same_v<T, sim::Duration>) kind = Kind::duration;
  if constexpr (std::is_same_v<T, sim::Bytes> || std::is_same_v<T, std::vector<std::uint64_t>>) kind = Kind::size;
  if constexpr (std::is_same_v<T, double>) {
    kind = Kind::seconds;
    value = "FLOAT";
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (row.most > kMost) row.most = kMost;
    if (kind == Kind::text) kind = Kind::integer;
    if (row.kind == Kind::of_member && kind == Kind::integer) value = std::is_signed_v<T> ? "INT" : "UINT";
  }
  if (row.kind == Kind::of_member) row.kind = kind;
  if (row.value.empty()) row.value = value;
}

}  // namespace detail

/// The row of a member of the command's struct, or by several pointers of a member of a member.
template <auto First, auto... Rest>
constexpr Row row(std::string_view keyword, std::string_view names, std::string_view doc, Row of = {}) {
  of.keyword = keyword;
  of.names = names;
  of.doc = doc;
  using Owner = decltype(detail::owner_of(First));
  using Member = std::remove_cvref_t<decltype(detail::reach(std::declval<Owner&>(), First, Rest...))>;
  detail::complete<Member>(of);
  of.slot = [](void* owner) { return detail::slot_of(detail::reach(*static_cast<Owner*>(owner), First, Rest...)); };
  return of;
}

/// The same of the command line alone.
template <auto First, auto... Rest>
constexpr Row row(std::string_view names, std::string_view doc, Row of = {}) {
  return row<First, Rest...>({}, names, doc, of);
}

}  // namespace loco::options
