#include "loco_sim/scenario/units.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <span>

namespace loco::scenario {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// Ascending; format_quantity shows an amount in the last unit that divides it.
constexpr std::array kTimes = {Unit{"ps", 1}, Unit{"ns", 1'000}, Unit{"us", 1'000'000}, Unit{"ms", 1'000'000'000},
                               Unit{"s", 1'000'000'000'000}};
constexpr std::array kSizes = {Unit{"B", 1},          Unit{"kB", 1'000},    Unit{"KiB", 1 << 10},
                               Unit{"MB", 1'000'000}, Unit{"MiB", 1 << 20}, Unit{"GB", 1'000'000'000},
                               Unit{"GiB", 1 << 30}};
constexpr std::array kRates = {Unit{"bps", 1}, Unit{"kbps", 1'000}, Unit{"Mbps", 1'000'000},
                               Unit{"Gbps", 1'000'000'000}, Unit{"Tbps", 1'000'000'000'000}};

std::span<const Unit> units(Quantity quantity) {
  switch (quantity) {
    case Quantity::duration:
      return kTimes;
    case Quantity::size:
      return kSizes;
    case Quantity::rate:
      return kRates;
  }
  return {};
}

constexpr std::size_t kFractionDigitsMax = 18;

bool digit(char c) { return c >= '0' && c <= '9'; }

/// whole.fraction * factor, when it is a whole number below 2^63.
std::optional<std::int64_t> scaled(std::string_view whole, std::string_view fraction, std::int64_t factor) {
  __extension__ using Wide = __int128;
  constexpr Wide kLimit = std::numeric_limits<std::int64_t>::max();
  Wide amount = 0;
  for (const char c : whole) {
    amount = amount * 10 + (c - '0');
    if (amount > kLimit) return {};
  }
  amount *= factor;
  if (fraction.size() > kFractionDigitsMax) return {};
  Wide part = 0;
  Wide denominator = 1;
  for (const char c : fraction) {
    part = part * 10 + (c - '0');
    denominator *= 10;
  }
  if (part * factor % denominator != 0) return {};
  amount += part * factor / denominator;
  if (amount > kLimit) return {};
  return static_cast<std::int64_t>(amount);
}

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text, Quantity quantity) {
  std::size_t end = 0;
  while (end < text.size() && digit(text[end])) ++end;
  const std::string_view whole = text.substr(0, end);
  std::string_view fraction;
  if (end < text.size() && text[end] == '.') {
    const std::size_t begin = ++end;
    while (end < text.size() && digit(text[end])) ++end;
    fraction = text.substr(begin, end - begin);
    if (fraction.empty()) return {};
    while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  }
  if (whole.empty()) return {};
  while (end < text.size() && text[end] == ' ') ++end;
  const std::string_view name = text.substr(end);
  if (name.empty()) {
    const std::optional<std::int64_t> bare = scaled(whole, fraction, 1);
    return quantity == Quantity::size || bare == 0 ? bare : std::nullopt;
  }
  for (const Unit& unit : units(quantity)) {
    if (name == unit.name) return scaled(whole, fraction, unit.factor);
  }
  return {};
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.empty()) return {};
  return value;
}

std::string format_quantity(std::int64_t amount, Quantity quantity) {
  const Unit* best = &units(quantity).front();
  for (const Unit& unit : units(quantity)) {
    if (amount != 0 && amount % unit.factor == 0) best = &unit;
  }
  return fmt::format("{}{}", amount / best->factor, best->name);
}

std::string quantity_words(Quantity quantity) {
  switch (quantity) {
    case Quantity::duration:
      return "a time such as 50ns (ps, ns, us, ms, s)";
    case Quantity::size:
      return "a size such as 64B or 4KiB (B, kB, KiB, MB, MiB, GB, GiB)";
    case Quantity::rate:
      return "a rate such as 25Gbps (bps, kbps, Mbps, Gbps, Tbps)";
  }
  return {};
}

}  // namespace loco::scenario
