#include "loco_sim/workloads/flows/size_distribution.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "loco_sim/workloads/flows/table_lines.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::workloads::flows {

namespace {
__extension__ using Wide = unsigned __int128;

/// Converts "30" or "99.95" to units of 1e-9 of all; nothing for text that is no number.
std::optional<std::uint64_t> share_of(std::string_view percent) {
  constexpr std::size_t kDigits = 7;  // after the decimal point: 1e-7 percent
  const std::size_t point = percent.find('.');
  std::string digits(percent.substr(0, point));
  std::string rest(point == std::string_view::npos ? "" : percent.substr(point + 1));
  while (rest.size() > kDigits && rest.ends_with('0')) rest.pop_back();
  // Further digits, as of computed percentages, are dropped.
  if (rest.size() > kDigits) rest.resize(kDigits);
  rest.resize(kDigits, '0');
  digits += rest;
  if (digits.empty() || digits.size() > 12 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  const std::optional<std::int64_t> number = text::parse_integer(digits);
  return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}
}  // namespace

SizeDistribution SizeDistribution::read(const std::string& text, const std::string& file) {
  std::vector<Point> points;
  bool headed = false;
  text::Place last(file, 1, 1);
  for (const TableLine& line : table_lines(text, file, ',')) {
    last = line.place();
    if (!headed) {
      if (line.fields.size() != 2 || line.fields[0].text != "bytes" || line.fields[1].text != "percent")
        throw text::InputError(line.place(), "", "the line bytes,percent", text::in_quotes(line.whole));
      headed = true;
      continue;
    }
    if (line.fields.size() != 2) throw text::InputError(line.place(), "", "bytes,percent", text::in_quotes(line.whole));
    const std::uint64_t bytes = number_of(line.fields[0], "bytes", std::uint64_t{1} << 40U);
    const std::optional<std::uint64_t> share = share_of(line.fields[1].text);
    if (!share || *share > kAll)
      throw text::InputError(line.fields[1].place, "percent", "a percentage from 0 to 100",
                             text::in_quotes(line.fields[1].text));
    if (!points.empty() && (bytes < points.back().bytes || *share < points.back().share))
      throw text::InputError(line.place(), "", "bytes and percentages that do not fall", text::in_quotes(line.whole));
    points.push_back({bytes, *share});
  }
  if (points.empty() || points.back().share != kAll)
    throw text::InputError(last, "percent", "100 at the last point",
                           points.empty() ? "no points" : "a distribution that ends before");
  if (points.front().share != 0) points.insert(points.begin(), {points.front().bytes, 0});
  return SizeDistribution(std::move(points));
}

std::uint64_t SizeDistribution::draw(sim::Stream& stream) const {
  const std::uint64_t share = stream.below(kAll);
  const auto upper = std::ranges::upper_bound(points_, share, {}, &Point::share);
  const Point& high = *upper;
  const Point& low = *std::prev(upper);
  const Wide part = static_cast<Wide>(share - low.share) * (high.bytes - low.bytes) / (high.share - low.share);
  return std::max<std::uint64_t>(1, low.bytes + static_cast<std::uint64_t>(part));
}

std::uint64_t SizeDistribution::mean_thousandths() const {
  Wide twice = 0;  // in 1 / kAll of a byte
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const Point& low = points_[i - 1];
    const Point& high = points_[i];
    twice += static_cast<Wide>(high.share - low.share) * (low.bytes + high.bytes);
  }
  return static_cast<std::uint64_t>(twice * 1000 / 2 / kAll);
}

std::uint64_t negative_log(std::uint64_t u) {
  // u / 2^64 = m * 2^-(zeros + 1) with 1 <= m < 2. Squaring gives the bits of log2(m).
  constexpr unsigned kBits = 40;
  constexpr std::uint64_t kLn2 = 0xb17217f7d1cf79abU;  // ln 2 in units of 2^-64
  const auto zeros = static_cast<unsigned>(std::countl_zero(u));
  std::uint64_t m = u << zeros;  // in units of 2^-63
  std::uint64_t fraction = 0;
  for (unsigned i = 0; i < kBits; ++i) {
    const Wide square = static_cast<Wide>(m) * m;  // in units of 2^-126
    const bool two = (square >> 127U) != 0;
    m = static_cast<std::uint64_t>(square >> (two ? 64U : 63U));
    fraction = fraction << 1U | (two ? 1U : 0U);
  }
  const std::uint64_t log2 = (std::uint64_t{zeros + 1} << kBits) - fraction;  // of 2^64 / u, in units of 2^-kBits
  return static_cast<std::uint64_t>((static_cast<Wide>(log2) * kLn2 >> 64U) >> (kBits - 32U));
}

}  // namespace loco::workloads::flows
