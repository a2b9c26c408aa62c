#include "options/units.hpp"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <span>

namespace loco::options {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// In ascending order; format_quantity() uses the last unit that divides the amount.
constexpr std::array kTimes = {Unit{"ps", 1}, Unit{"ns", 1'000}, Unit{"us", 1'000'000}, Unit{"ms", 1'000'000'000},
                               Unit{"s", 1'000'000'000'000}};
constexpr std::array kSizes = {Unit{"B", 1},          Unit{"kB", 1'000},    Unit{"KiB", 1 << 10},
                               Unit{"MB", 1'000'000}, Unit{"MiB", 1 << 20}, Unit{"GB", 1'000'000'000},
                               Unit{"GiB", 1 << 30}};
constexpr std::array kRates = {Unit{"bps", 1}, Unit{"kbps", 1'000}, Unit{"Mbps", 1'000'000},
                               Unit{"Gbps", 1'000'000'000}, Unit{"Tbps", 1'000'000'000'000}};

std::span<const Unit> units(Type quantity) {
  switch (quantity) {
    case Type::duration:
      return kTimes;
    case Type::size:
      return kSizes;
    case Type::rate:
      return kRates;
    default:
      return {};
  }
}

/// Other spellings that are unambiguous. k, M, G alone are powers of 1024 for sizes, as in the GNU programs, and powers
/// of 1000 for rates. A rate in bytes (GBps, GB/s) is refused, and so is a size that may be in bits (kb).
constexpr std::array kOtherTimes = {Unit{"psec", 1},
                                    Unit{"nsec", 1'000},
                                    Unit{"usec", 1'000'000},
                                    Unit{"msec", 1'000'000'000},
                                    Unit{"sec", 1'000'000'000'000},
                                    Unit{"\u00b5s", 1'000'000},
                                    Unit{"\u03bcs", 1'000'000},
                                    Unit{"\u00b5sec", 1'000'000},
                                    Unit{"\u03bcsec", 1'000'000}};
constexpr std::array kOtherSizes = {
    Unit{"k", 1 << 10},   Unit{"K", 1 << 10},   Unit{"M", 1 << 20},   Unit{"G", 1 << 30},   Unit{"Ki", 1 << 10},
    Unit{"Mi", 1 << 20},  Unit{"Gi", 1 << 30},  Unit{"KB", 1'000},    Unit{"kiB", 1 << 10}, Unit{"kib", 1 << 10},
    Unit{"mib", 1 << 20}, Unit{"gib", 1 << 30}, Unit{"KIB", 1 << 10}, Unit{"MIB", 1 << 20}, Unit{"GIB", 1 << 30},
    Unit{"byte", 1},      Unit{"bytes", 1}};

/// A rate's prefix, k to T: 1000, ..., 10^12; 1 without prefix. m alone would mean a thousandth.
std::optional<std::int64_t> rate_prefix(std::string_view prefix, bool alone) {
  constexpr std::string_view kPrefixes = "kmgtKMGT";
  if (prefix.empty()) return alone ? std::nullopt : std::optional<std::int64_t>(1);
  const std::size_t at = kPrefixes.find(prefix.front());
  if (prefix.size() > 1 || at == std::string_view::npos || (alone && prefix == "m")) return std::nullopt;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i <= at % 4; ++i) factor *= 1000;
  return factor;
}

/// `100gbps`, `100Gbit/s`, `100 Gb/s`, `100G`.
std::optional<std::int64_t> other_rate(std::string_view name) {
  for (const std::string_view unit : {"bps", "bits/s", "bit/s", "b/s", "bit"}) {
    if (name.ends_with(unit)) return rate_prefix(name.substr(0, name.size() - unit.size()), false);
  }
  return rate_prefix(name, true);
}

std::optional<std::int64_t> factor_of(std::string_view name, Type quantity) {
  const auto in = [name](std::span<const Unit> units) -> std::optional<std::int64_t> {
    for (const Unit& unit : units) {
      if (name == unit.name) return unit.factor;
    }
    return std::nullopt;
  };
  if (const auto known = in(units(quantity))) return known;
  if (quantity == Type::rate) return other_rate(name);
  return quantity == Type::duration ? in(kOtherTimes) : in(kOtherSizes);
}

constexpr std::size_t kFractionDigitsMax = 18;

bool digit(char c) { return c >= '0' && c <= '9'; }

/// whole.fraction * factor, if that is a whole number below 2^63.
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

bool is_quantity(Type type) { return type == Type::duration || type == Type::size || type == Type::rate; }

std::optional<std::int64_t> parse_quantity(std::string_view text, Type quantity) {
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
    return quantity == Type::size || bare == 0 ? bare : std::nullopt;
  }
  const std::optional<std::int64_t> factor = factor_of(name, quantity);
  return factor ? scaled(whole, fraction, *factor) : std::nullopt;
}

std::string format_quantity(std::int64_t amount, Type quantity) {
  const Unit* best = &units(quantity).front();
  for (const Unit& unit : units(quantity)) {
    if (amount != 0 && amount % unit.factor == 0) best = &unit;
  }
  return fmt::format("{}{}", amount / best->factor, best->name);
}

std::string quantity_words(Type quantity) {
  switch (quantity) {
    case Type::duration:
      return "a time such as 50ns (ps, ns, us, ms, s)";
    case Type::size:
      return "a size such as 64B or 4KiB (B, kB, KiB, MB, MiB, GB, GiB)";
    case Type::rate:
      return "a rate such as 25Gbps (bps, kbps, Mbps, Gbps, Tbps)";
    default:
      return {};
  }
}

}  // namespace loco::options
