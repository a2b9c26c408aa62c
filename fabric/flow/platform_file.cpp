#include "fabric/flow/platform_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "fabric/topology/kinds.hpp"

namespace loco::fabric {

namespace {

constexpr std::uint64_t kHostsMax = topology::kHostsMax;
constexpr std::size_t kFileBytesMax = std::size_t{64} << 20U;

constexpr std::array<std::string_view, 24> kElements = {
    "platform",      "zone",    "AS",         "host",    "disk",         "link",
    "link_ctn",      "cluster", "cabinet",    "peer",    "router",       "backbone",
    "host_link",     "route",   "zoneRoute",  "ASroute", "bypassRoute",  "bypassZoneRoute",
    "bypassASroute", "prop",    "model_prop", "storage", "storage_type", "mount"};

enum class Kind : std::uint8_t { latency, rate };
struct Checked {
  std::string_view attribute;
  Kind kind;
};
constexpr std::array kChecked = {Checked{"latency", Kind::latency}, Checked{"lat", Kind::latency},
                                 Checked{"bb_lat", Kind::latency},  Checked{"loopback_lat", Kind::latency},
                                 Checked{"bandwidth", Kind::rate},  Checked{"bw", Kind::rate},
                                 Checked{"bb_bw", Kind::rate},      Checked{"loopback_bw", Kind::rate},
                                 Checked{"bw_in", Kind::rate},      Checked{"bw_out", Kind::rate}};

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array kTimes = {Unit{"", 1},       Unit{"s", 1},  Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9},
                               Unit{"ps", 1e-12}, Unit{"m", 60}, Unit{"h", 3600},  Unit{"d", 86400}, Unit{"w", 604800}};

/// Bytes a second in a unit such as "", "Bps", "kbps", "MiBps".
std::optional<double> rate_unit(std::string_view unit) {
  if (unit.empty()) return 1;
  constexpr double kBits = 8;
  double factor = 1;
  if (unit.ends_with("bps"))
    factor = 1 / kBits;
  else if (!unit.ends_with("Bps"))
    return std::nullopt;
  const std::string_view prefix = unit.substr(0, unit.size() - 3);
  if (prefix.empty()) return factor;
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  const std::size_t power = kPrefixes.find(prefix.front() == 'K' ? 'k' : prefix.front());
  const bool binary = prefix.size() == 2 && prefix.back() == 'i';
  if (power == std::string_view::npos || (prefix.size() != 1 && !binary)) return std::nullopt;
  return factor * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power) + 1);
}

std::optional<double> time_unit(std::string_view unit) {
  const auto* const found = std::ranges::find(kTimes, unit, &Unit::name);
  return found == kTimes.end() ? std::nullopt : std::optional(found->factor);
}

/// In seconds, or bytes a second.
std::optional<double> quantity(std::string_view text, Kind kind) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::optional<double> factor = kind == Kind::latency ? time_unit(unit) : rate_unit(unit);
  return factor ? std::optional(number * *factor) : std::nullopt;
}

/// Looks through the text from tag to tag.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void run() {
    bool any = false;
    while (skip_to('<')) {
      if (skipped("<!--", "-->") || skipped("<?", "?>") || skipped("<![CDATA[", "]]>") || skipped("</", ">")) continue;
      if (text_.substr(at_).starts_with("<!")) {
        document_type();
        continue;
      }
      const std::size_t begin = at_++;
      const std::string_view name = word();
      if (!any && name != "platform") fail(begin, "the element <platform>", quoted(fmt::format("<{}>", name)));
      any = true;
      element(begin, name);
    }
    if (!any) fail(0, "the element <platform>", "none");
  }

 private:
  [[noreturn]] void fail(std::size_t at, std::string expected, std::string found) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t line_begin = before.rfind('\n') + 1;
    throw PlatformFileError(1 + static_cast<int>(std::ranges::count(before, '\n')),
                            1 + static_cast<int>(at - line_begin), std::move(expected), std::move(found));
  }

  static std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

  bool skip_to(char c) {
    at_ = text_.find(c, at_);
    return at_ != std::string_view::npos;
  }

  /// Something that begins here, as far as its end.
  bool skipped(std::string_view begin, std::string_view end) {
    if (!text_.substr(at_).starts_with(begin)) return false;
    const std::size_t last = text_.find(end, at_ + begin.size());
    if (last == std::string_view::npos) fail(at_, quoted(end), "the end of the file");
    at_ = last + end.size();
    return true;
  }

  void document_type() {
    const std::size_t begin = at_;
    const std::size_t end = text_.find_first_of("[>", begin);
    if (end == std::string_view::npos) fail(begin, "\">\"", "the end of the file");
    if (text_[end] == '[') fail(end, "a document type without declarations of its own", "\"[\"");
    at_ = end + 1;
  }

  static bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !space(text_[at_]) &&
           std::string_view("=/><\"'").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void spaces() {
    while (at_ < text_.size() && space(text_[at_])) ++at_;
  }

  /// What comes after an element's name.
  void element(std::size_t begin, std::string_view name) {
    if (std::ranges::find(kElements, name) == kElements.end())
      fail(begin, "an element that describes a platform: it configures nothing, starts nothing and reads no other file",
           quoted(fmt::format("<{}>", name)));
    while (true) {
      spaces();
      if (at_ >= text_.size()) fail(begin, "an element with an end", quoted(fmt::format("<{}", name)));
      if (text_[at_] == '>' || text_[at_] == '/') return;
      attribute();
    }
  }

  void attribute() {
    const std::size_t begin = at_;
    const std::string_view name = word();
    spaces();
    if (name.empty() || at_ >= text_.size() || text_[at_] != '=') fail(begin, "an attribute, such as id=\"x\"", "none");
    ++at_;
    spaces();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '"' && quote != '\'') fail(begin, "an attribute's value in quotes", "none");
    const std::size_t first = ++at_;
    if (!skip_to(quote)) fail(begin, "an attribute's value in quotes", "no end of it");
    const std::string_view value = text_.substr(first, at_ - first);
    ++at_;
    if (name.ends_with("_file")) fail(begin, "values that are in this file", quoted(name));
    check(first, name, value);
  }

  /// "0-15,20": so many hosts of a cluster, before SimGrid makes them.
  void count_hosts(std::size_t at, std::string_view radical) {
    for (std::size_t begin = 0; begin <= radical.size();) {
      const std::size_t end = std::min(radical.find(',', begin), radical.size());
      const std::string_view part = radical.substr(begin, end - begin);
      const std::size_t dash = std::min(part.find('-'), part.size());
      std::uint64_t first = 0;
      std::uint64_t last = 0;
      const bool is_range = dash != part.size();
      if (number(part.substr(0, dash), first) && (!is_range || number(part.substr(dash + 1), last)))
        hosts_ += is_range && last > first ? std::min<std::uint64_t>(last - first, kHostsMax) + 1 : 1;
      if (hosts_ > kHostsMax) fail(at, fmt::format("radical: {} hosts at most", kHostsMax), quoted(radical));
      begin = end + 1;
    }
  }

  static bool number(std::string_view text, std::uint64_t& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  }

  void check(std::size_t at, std::string_view name, std::string_view value) {
    if (name == "radical") return count_hosts(at, value);
    const auto* const checked = std::ranges::find(kChecked, name, &Checked::attribute);
    if (checked == kChecked.end() || (value.empty() && name.size() > 3)) return;  // bb_lat="" says that there is none
    const std::optional<double> number = quantity(value, checked->kind);
    constexpr double kLatencyMax = 1000;
    constexpr double kRateMin = 1000;  // 1 GiB then takes less than there is of simulated time
    constexpr double kRateMax = 1e17;
    if (checked->kind == Kind::latency && (!number || *number < 0 || *number > kLatencyMax))
      fail(at, fmt::format("{}: a time from 0s to 1000s, such as 50ns", name), quoted(value));
    if (checked->kind == Kind::rate && (!number || *number < kRateMin || *number > kRateMax))
      fail(at, fmt::format("{}: a rate from 1kBps to 100PBps, such as 25Gbps", name), quoted(value));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t hosts_ = 0;  // of clusters
};

}  // namespace

PlatformFileError::PlatformFileError(int line, int column, std::string expected, std::string found)
    : std::runtime_error(fmt::format("{}:{}: expected {}, found {}", line, column, expected, found)),
      line_(line),
      column_(column),
      expected_(std::move(expected)),
      found_(std::move(found)) {}

void check_platform(const std::string& text) { Reader(text).run(); }

void check_platform_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (!in && !in.eof())) throw PlatformFileError(1, 1, "a readable file", "none");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kFileBytesMax)
    throw PlatformFileError(1, 1, fmt::format("at most {} bytes", kFileBytesMax), "more");
  check_platform(text);
}

}  // namespace loco::fabric
