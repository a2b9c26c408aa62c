// loco-sim perf: perftest's tests and columns; loco-sim perf validate: the published measurements.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/outputs.hpp"
#include "loco_sim/cli/rows.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/commands/perf.hpp"
#include "loco_sim/perf/validation.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "options/units.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::cli {

namespace {

using nlohmann::ordered_json;
constexpr double kMebi = 1024.0 * 1024.0;

/// Checks options of the command line alone, and options without effect in this test; perf::run refuses all others.
void require_used(const commands::Perf& a) {
  const auto require = [&](bool holds, std::string_view problem) {
    if (!holds) throw UsageError(fmt::format("loco-sim perf {}: {}", perf::name(a.options.test), problem));
  };
  const perf::Test test = a.options.test;
  require(!a.all || !a.size, "--all: expected no --size beside it, found one");
  require(a.sizes.empty() || (!a.size && !a.all), "--sizes: expected neither --size nor --all beside it, found one");
  require(!a.gbits || perf::is_bandwidth(test),
          "--report_gbits: expected off, since latency tests have no bandwidth, found on");
  require(!a.report_both || a.options.bidirectional, "--report-both: expected --bidirectional with it, found none");
  require(!a.no_peak || perf::is_bandwidth(test), "--noPeak: expected off, since latency tests have no peak, found on");
  require(a.mtu.empty() || !perf::is_dma(test), "--mtu: expected none, since bare DMA has no network, found one");
}

/// One of those that verbs have (enum ibv_mtu); any other is a what-if of the network's.
std::uint64_t path_mtu(const std::string& argument, const std::string& text) {
  constexpr std::array<std::int64_t, 5> kMtus = {256, 512, 1024, 2048, 4096};
  const auto value = options::parse_quantity(text, options::Type::size);
  if (value && std::find(kMtus.begin(), kMtus.end(), *value) != kMtus.end()) return static_cast<std::uint64_t>(*value);
  throw text::InputError(
      {argument, 0, 0}, "",
      fmt::format("an MTU of verbs, {} bytes (any other, as a what-if, with --set link.mtu)", fmt::join(kMtus, ", ")),
      text::in_quotes(text));
}

/// The options, with the hardware that the texts name.
perf::Options options(const commands::Perf& a) {
  require_used(a);
  const std::string command = fmt::format("loco-sim perf {}: ", perf::name(a.options.test));
  perf::Options o = a.options;
  o.profile = named_hardware(command + "--hardware", a.hardware, a.set).profile;
  if (!a.mtu.empty()) o.profile.link_mtu = {path_mtu(command + "--mtu", a.mtu)};
  return o;
}

ordered_json to_json(perf::Test test, const perf::Result& result) {
  ordered_json out = ordered_json::object();
  for (const perf::Column& column : perf::columns(test, result)) {
    std::visit([&](auto value) { out[std::string(column.name)] = value; }, column.value);
  }
  if (!result.busiest.empty()) {
    out["limited_by"] = nic::limited_by(result.busiest);
    out["busiest"] = busiest_json(result.busiest);
  }
  return out;
}

std::string heading(bool is_bandwidth, bool gbits) {
  if (is_bandwidth) {
    const char* unit = gbits ? "Gb/sec" : "MiB/sec";
    return fmt::format(" {:<10} {:<14} {:<18} {:<21} {}\n", "#bytes", "#iterations", fmt::format("BW peak[{}]", unit),
                       fmt::format("BW average[{}]", unit), "MsgRate[Mpps]");
  }
  return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
         "99% percentile[usec]   99.9% percentile[usec]\n";
}

std::string line(const perf::Result& r, bool is_bandwidth, bool gbits) {
  if (is_bandwidth) {
    const double scale = gbits ? 8e-9 : 1 / kMebi;
    return fmt::format(" {:<10} {:<14} {:<18.2f} {:<21.2f} {:.6f}\n", r.size, r.iterations, r.peak * scale,
                       r.average * scale, r.rate * 1e-6);
  }
  return fmt::format(" {:<7} {:<14} {:<14.2f} {:<12.2f} {:<16.2f} {:<14.2f} {:<15.2f} {:<22.2f} {:.2f}\n", r.size,
                     r.iterations, r.t_min, r.t_max, r.t_typical, r.t_avg, r.t_stdev, r.t_99, r.t_999);
}

/// Errors about options that exclude each other name the test.
perf::Result measured(const perf::Options& o) {
  try {
    return perf::run(o);
  } catch (const perf::OptionError& error) {
    const bool one_size = error.option() == "size";  // Python's keyword is that of --sizes
    const std::string option = one_size ? "--size" : option_name(commands::rows<commands::Perf>(), error.option());
    throw UsageError(fmt::format("loco-sim perf {}: {}: {}", perf::name(o.test), option, error.problem()));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("loco-sim perf {}: {}", perf::name(o.test), error.what()));
  }
}

/// As perftest prints it: without a peak as 0, with a line for each direction on request.
std::string lines(const commands::Perf& a, perf::Result result) {
  const bool is_bandwidth = perf::is_bandwidth(a.options.test);
  if (a.no_peak) result.peak = 0;
  std::string text = line(result, is_bandwidth, a.gbits);
  if (!a.report_both) return text;
  for (std::size_t from = 0; from < result.sent.size(); ++from) {
    const double scale = a.gbits ? 8e-9 : 1 / kMebi;
    text += fmt::format(" {:<10} from node {}{:<24} {:.2f}\n", result.size, from, "", result.sent.at(from) * scale);
  }
  return text;
}

void tell_ignored(const commands::Perf& a) {
  if (a.ignored.empty()) return;
  say(fmt::format("loco-sim perf {}: {} {} nothing here: two hosts, one port each, threads that poll\n",
                  perf::name(a.options.test), fmt::join(a.ignored, ", "), a.ignored.size() == 1 ? "means" : "mean"));
}

}  // namespace

int perf_command(const commands::Perf& given) {
  commands::Perf a = given;
  perf::Options& o = a.options;
  o = options(given);
  tell_ignored(a);
  const bool is_bandwidth = perf::is_bandwidth(o.test);
  const std::string_view topology = perf::kWayNames.at(static_cast<std::size_t>(o.topology));
  const std::vector<std::uint64_t> sizes = commands::sizes_of(a);
  ordered_json results = ordered_json::array();
  std::string text = heading(is_bandwidth, a.gbits);
  std::string limits;
  for (const std::uint64_t size : sizes) {
    o.size = size;
    const perf::Result result = measured(o);
    if (a.json) {
      results.push_back(to_json(o.test, result));
    } else {
      text += lines(a, result);
      if (!result.busiest.empty())
        limits += fmt::format("{}limited by: {}\n", sizes.size() == 1 ? "" : fmt::format("{} bytes ", size),
                              nic::limited_by(result.busiest));
    }
  }
  if (!a.json) {
    print(text + limits + (perf::is_dma(o.test) ? "" : fmt::format("topology: {}\n", topology)));
    return kDone;
  }
  print(ordered_json{{"test", perf::name(o.test)},
                     {"connection", perf::kConnectionNames.at(static_cast<std::size_t>(o.connection))},
                     {"hardware", a.hardware},
                     {"topology", topology},
                     {"queue_pairs", o.queue_pairs},
                     {"threads", o.threads},
                     {"seed", o.seed},
                     {"results", std::move(results)}});
  return kDone;
}

namespace {

/// Errors about options that exclude each other name the row.
double simulated(const std::string& file, const perf::Row& row) {
  try {
    return perf::simulate(row);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}: {}", file, text::in_quotes(row.what), error.what()));
  }
}

/// A row's figures: times in picoseconds, others in the unit of the page.
ordered_json to_json(const perf::Row& row, const perf::Outcome& outcome) {
  ordered_json out = {{"what", row.what}, {"test", perf::name(row.options.test)}, {"hardware", row.hardware}};
  constexpr double kPsPerUs = 1e6;
  if (row.metric == perf::Metric::latency_us) {
    out.update({{"unit", "ps"},
                {"published", std::llround(row.published * kPsPerUs)},
                {"simulated", std::llround(outcome.simulated * kPsPerUs)}});
  } else {
    out.update({{"unit", perf::unit(row.metric)}, {"published", row.published}, {"simulated", outcome.simulated}});
  }
  out["error"] = outcome.error();
  return out;
}

ordered_json to_json(const perf::Summary& summary) {
  return {{"rows", summary.rows},
          {"within_15_percent", summary.within_15},
          {"mean_absolute_error", summary.mean_absolute_error},
          {"largest_error", summary.worst}};
}

ordered_json to_json(const std::vector<perf::Group>& groups, const std::vector<perf::Outcome>& outcomes) {
  const perf::Summary s = perf::summarise(perf::measured(groups, outcomes));
  const std::vector<perf::Outcome> others = perf::measured(groups, outcomes, true);
  ordered_json held_out = to_json(perf::summarise(others));
  held_out["nic_named"] = to_json(perf::summarise(perf::without_stand_ins(others)));
  ordered_json all = ordered_json::array();
  std::size_t next = 0;
  for (const perf::Group& group : groups) {
    ordered_json rows = ordered_json::array();
    for (const perf::Row& row : group.rows) rows.push_back(to_json(row, outcomes.at(next++)));
    all.push_back({{"title", group.title},
                   {"source", group.source},
                   {"note", group.note},
                   {"measured", !group.model},
                   {"held_out", group.held_out},
                   {"rows", std::move(rows)}});
  }
  return {
      {"measured_rows", s.rows},  {"within_15_percent", s.within_15}, {"mean_absolute_error", s.mean_absolute_error},
      {"largest_error", s.worst}, {"held_out", std::move(held_out)},  {"groups", std::move(all)}};
}

}  // namespace

int perf_validate_command(const PerfValidateArguments& a) {
  require_place_of(a.page);
  const std::string file = a.rows.empty() ? perf::measured_path() : a.rows;
  const std::vector<perf::Group> groups = perf::load_measured(file);
  std::vector<scenario::InputFile> inputs = {{"rows", file}};
  for (const perf::Group& group : groups)
    for (const perf::Row& row : group.rows)
      for (const std::string& profile : row.files) inputs.push_back({"hardware", profile});
  if (!a.page.empty()) require_apart(a.page, {}, "--page", inputs);
  std::vector<perf::Outcome> outcomes;
  for (const perf::Group& group : groups) {
    for (const perf::Row& row : group.rows) outcomes.push_back({&row, simulated(file, row)});
  }
  if (!a.page.empty()) write_file(a.page, perf::validation_page(groups, outcomes));
  if (a.json) {
    print(to_json(groups, outcomes));
  } else if (a.page.empty()) {
    print(perf::validation_page(groups, outcomes));
  } else {
    const perf::Summary s = perf::summarise(perf::measured(groups, outcomes));
    print(fmt::format("{}: {} of {} measured rows within 15 %, mean absolute error {:.1f} %, largest {:.1f} %", a.page,
                      s.within_15, s.rows, 100 * s.mean_absolute_error, 100 * s.worst));
    const perf::Summary h = perf::summarise(perf::measured(groups, outcomes, true));
    if (h.rows > 0)
      print(fmt::format("held out: {} of {} rows within 15 %, mean absolute error {:.1f} %, largest {:.1f} %",
                        h.within_15, h.rows, 100 * h.mean_absolute_error, 100 * h.worst));
  }
  return kDone;
}

}  // namespace loco::cli
