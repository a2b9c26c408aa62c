#include "loco_sim/perf/validation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <system_error>
#include <utility>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/settings.hpp"
#include "options/rows.hpp"
#include "text/input_error.hpp"
#include "yaml/node.hpp"

namespace loco::perf {

namespace {

using options::member;
using options::Option;
using options::Range;
using options::Type;
namespace rows = options::rows;
using scenario::Settings;
using text::InputError;
using yaml::Node;

constexpr std::array<std::pair<std::string_view, Metric>, 4> kMetrics = {
    {{"us", Metric::latency_us}, {"gbps", Metric::gbps}, {"mib_s", Metric::mib_per_second}, {"mops", Metric::mops}}};

constexpr std::int64_t kMany = 1 << 30;
constexpr Option of_bytes(Option option) {
  option.type = Type::size;
  return option;
}
const std::array kTestOptions = {
    member<&Options::test>("test", kTestNames),
    member<&Options::connection>("connection", kConnectionNames),
    member<&Options::topology>("topology", kWayNames),
    of_bytes(member<&Options::size>("size", {1, kMany})),
    member<&Options::iterations>("iterations", Range{0, kMany}),
    member<&Options::queue_pairs>("queue_pairs", {1, 65536}),
    member<&Options::threads>("threads", {1, 4096}),
    member<&Options::depth>("depth", {1, 65536}),
    member<&Options::signal_every>("signal_every", Range{0, 65536}),
    member<&Options::post_list>("post_list", {1, 65536}),
    of_bytes(member<&Options::region>("region", Range{0, 1LL << 40})),
    member<&Options::device_memory>("device_memory"),
    member<&Options::copy>("copy"),
};
constexpr auto kRowOptions = std::to_array<Option>({
    rows::text("what", {1, 80}),
    rows::map("hardware"),
    rows::integer("inline", {0, 4096}),
    rows::flag("quick", false),
    rows::flag("stand_in", false),
    rows::text("us", {1, 20}),
    rows::text("gbps", {1, 20}),
    rows::text("mib_s", {1, 20}),
    rows::text("mops", {1, 20}),
});

constexpr auto kGroupOptions = std::to_array<Option>({
    rows::text("title", {1, 120}),
    rows::text("source", {1, 400}),
    rows::text("note", {0, 4096}),
    rows::map("hardware"),
    rows::flag("model", false),
    rows::flag("held_out", false),
    rows::flag("stand_in", false),
    rows::list("rows"),
});

const Node& required(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  if (node == nullptr) throw InputError(map.place, "", fmt::format("the key {}", key), map.description());
  return *node;
}

double number(const scenario::Value& value, std::string_view key) {
  double number = 0;
  const std::string& text = value.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !(number > 0)) {
    throw InputError(value.place, std::string(key), "a number above 0", fmt::format("\"{}\"", text));
  }
  return number;
}

Row read_row(const Node& node, const Node& hardware) {
  const Settings s = scenario::read_settings(node, "", {{"", kTestOptions}, {"", kRowOptions}});
  Row row;
  (void)required(node, "what");
  (void)required(node, "test");
  row.what = s.at("what").text;
  const Node* own = node.find("hardware");
  const scenario::Hardware machine = scenario::read_hardware(own != nullptr ? *own : hardware);
  row.hardware = machine.name;
  row.files = machine.files;
  Options& o = row.options;
  o.profile = machine.profile;
  for (const Option& option : kTestOptions) option.set(&o, s.find(option.key)->second.number);
  if (node.find("size") == nullptr) o.size = default_size(o.test, longest(o.connection, o.profile));
  if (s.contains("inline")) o.inline_max = static_cast<std::uint32_t>(s.at("inline").number);
  row.quick = s.at("quick").number != 0;
  row.stand_in = s.at("stand_in").number != 0;
  for (const auto& [key, metric] : kMetrics) {
    if (const auto found = s.find(key); found != s.end()) {
      row.metric = metric;
      row.published = number(found->second, key);
      return row;
    }
  }
  throw InputError(node.place, "", "one of us, gbps, mib_s, mops", "none of them");
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

std::string measured_path() {
  for (const std::string& directory : scenario::hardware_directories()) {
    const std::filesystem::path path = std::filesystem::path(directory) / "measured" / "rows.yaml";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path.string();
  }
  return "hardware/measured/rows.yaml";
}

std::vector<Group> load_measured(const std::string& path) {
  const Node document = yaml::load_document(path);
  std::vector<Group> groups;
  for (const Node& node : document.items) {
    const Settings s = scenario::read_settings(node, "", {{"", kGroupOptions}});
    Group group;
    for (const char* key : {"title", "source", "hardware", "rows"}) (void)required(node, key);
    group.title = s.at("title").text;
    group.source = s.at("source").text;
    group.model = s.at("model").number != 0;
    group.held_out = s.at("held_out").number != 0;
    if (const auto note = s.find("note"); note != s.end()) group.note = one_line(note->second.text);
    for (const Node& row : required(node, "rows").items) {
      group.rows.push_back(read_row(row, required(node, "hardware")));
      group.rows.back().stand_in |= s.at("stand_in").number != 0;
    }
    groups.push_back(std::move(group));
  }
  if (groups.empty()) throw InputError(document.place, "", "a list of groups of rows", document.description());
  return groups;
}

double simulate(const Row& row) {
  const Result result = run(row.options);
  constexpr double kMebi = 1024.0 * 1024.0;
  switch (row.metric) {
    case Metric::latency_us:
      return result.t_typical;
    case Metric::gbps:
      return result.average * 8e-9;
    case Metric::mib_per_second:
      return result.average / kMebi;
    case Metric::mops:
      return result.rate * 1e-6;
  }
  return 0;
}

Summary summarise(const std::vector<Outcome>& outcomes) {
  Summary s{.rows = outcomes.size()};
  for (const Outcome& o : outcomes) {
    const double error = std::abs(o.error());
    if (error <= 0.15) ++s.within_15;
    s.mean_absolute_error += error / static_cast<double>(outcomes.size());
    s.worst = std::max(s.worst, error);
  }
  return s;
}

std::vector<Outcome> without_stand_ins(const std::vector<Outcome>& outcomes) {
  std::vector<Outcome> named;
  std::ranges::copy_if(outcomes, std::back_inserter(named), [](const Outcome& o) { return !o.row->stand_in; });
  return named;
}

std::vector<Outcome> measured(const std::vector<Group>& groups, const std::vector<Outcome>& outcomes, bool held_out) {
  std::vector<Outcome> of_measurements;
  std::size_t next = 0;
  for (const Group& group : groups) {
    for (std::size_t i = 0; i < group.rows.size(); ++i, ++next) {
      if (!group.model && group.held_out == held_out) of_measurements.push_back(outcomes.at(next));
    }
  }
  return of_measurements;
}

std::string_view unit(Metric metric) {
  return std::ranges::find(kMetrics, metric, &std::pair<std::string_view, Metric>::second)->first;
}

std::string figure(double value, Metric metric) {
  switch (metric) {
    case Metric::latency_us:
      return fmt::format("{:.3g} us", value);
    case Metric::gbps:
      return fmt::format("{:.2f} Gb/s", value);
    case Metric::mib_per_second:
      return fmt::format("{:.0f} MiB/s", value);
    case Metric::mops:
      return fmt::format("{:.4g} Mop/s", value);
  }
  return {};
}

namespace {

std::string held_out_text(const std::vector<Outcome>& outcomes) {
  const Summary h = summarise(outcomes);
  if (h.rows == 0) return {};
  std::string text = fmt::format(
      "\n**Of {} others, found when all values had been set and marked below as held out, {} lie within 15 %; their "
      "mean\nabsolute error is {:.1f} %, the largest {:.1f} %.**",
      h.rows, h.within_15, 100 * h.mean_absolute_error, 100 * h.worst);
  if (const Summary named = summarise(without_stand_ins(outcomes)); named.rows < h.rows)
    text += fmt::format(
        " Of {} of them the source does not name the NIC, or names one that has no\nprofile, and the nearest one "
        "stands in. Of the other {}, {} lie within 15 %; their mean absolute error is {:.1f} %,\nthe largest {:.1f} %.",
        h.rows - named.rows, named.rows, named.within_15, 100 * named.mean_absolute_error, 100 * named.worst);
  return text + "\n";
}

}  // namespace

std::string validation_page(const std::vector<Group>& groups, const std::vector<Outcome>& outcomes) {
  const Summary s = summarise(measured(groups, outcomes));
  std::string page = fmt::format(
      "# Validation\n\n"
      "Published measurements, and what the simulator gives for the same test: written by `./dev validate` from\n"
      "`hardware/measured/rows.yaml`. Each row runs as perftest (or pcie-bench) would, with the profile's CPU, PCIe,\n"
      "NIC and network; nothing is scaled afterwards.\n\n"
      "**{} of {} measured rows lie within 15 %; the mean absolute error is {:.1f} %, the largest {:.1f} %.**\n",
      s.within_15, s.rows, 100 * s.mean_absolute_error, 100 * s.worst);
  page += held_out_text(measured(groups, outcomes, true));
  std::size_t next = 0;
  for (const Group& group : groups) {
    page += fmt::format("\n## {}\n\nSource: {}{}\n\n", group.title, one_line(group.source),
                        group.held_out ? " (held out)" : "");
    page += "| measurement | profile | published | simulated | error |\n|---|---|---|---|---|\n";
    for (const Row& row : group.rows) {
      const Outcome& o = outcomes.at(next++);
      page += fmt::format("| {} | {} | {} | {} | {:+.1f} % |\n", row.what, row.hardware,
                          figure(row.published, row.metric), figure(o.simulated, row.metric), 100 * o.error());
    }
    if (!group.note.empty()) page += fmt::format("\n{}\n", group.note);
  }
  return page;
}

}  // namespace loco::perf
