// loco-sim corerma and loco-sim fit (docs/corerma.md): coreRMA's tests on the paper's networks, and the rules that a
// network keeps, both by loco_sim/networks.
#include <algorithm>
#include <fmt/format.h>

#include "fabric/fabric_options.hpp"
#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/progress.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/commands/networks.hpp"
#include "loco_sim/networks/campaign.hpp"
#include "loco_sim/networks/fit.hpp"
#include "loco_sim/networks/networks.hpp"

namespace loco::cli {

namespace {

enum class Format { text, html, json, csv };

Format format_of(const commands::Corerma& a) {
  const auto ends = [&](std::string_view end) { return a.out.size() > end.size() && a.out.ends_with(end); };
  if (a.out.empty()) return a.json ? Format::json : Format::text;
  if (ends(".html")) return Format::html;
  if (ends(".json")) return Format::json;
  if (ends(".csv")) return Format::csv;
  throw UsageError(
      fmt::format("loco-sim corerma: --out: expected a name that ends in .html, .json or .csv, found \"{}\"", a.out));
}

std::string rendered(const networks::Campaign& campaign, Format format, bool times) {
  switch (format) {
    case Format::html:
      return networks::campaign_html(campaign);
    case Format::json:
      return networks::campaign_json(campaign, times) + "\n";
    case Format::csv:
      return networks::campaign_csv(campaign, times);
    case Format::text:
      break;
  }
  return networks::campaign_text(campaign);
}

fabric::Routing routing_of(const std::string& setting) {
  const auto& known = fabric::kRoutingNames;
  constexpr std::string_view kKey = "routing=";
  const std::string_view value = setting.starts_with(kKey) ? std::string_view(setting).substr(kKey.size()) : "";
  const auto* const found = std::find(known.begin(), known.end(), value);
  if (found == known.end())
    throw UsageError(fmt::format(
        "loco-sim fit: --fabric: expected routing=deterministic, ecmp, adaptive or spray, found \"{}\"", setting));
  return static_cast<fabric::Routing>(found - known.begin());
}

}  // namespace

int corerma_command(const commands::Corerma& arguments) {
  const Format format = format_of(arguments);
  if (!arguments.out.empty()) require_place_of(arguments.out);
  Progress progress;
  networks::CampaignOptions options = arguments.options;
  options.small = arguments.size == "small";
  options.poll = [&](const networks::CampaignProgress& at) {
    if (progress.is_due()) progress.show(fmt::format("rule {} of {}, {} tests run", at.row + 1, at.rows, at.tests));
  };
  const networks::Campaign campaign = networks::run_campaign(options);
  const std::string text = rendered(campaign, format, arguments.times);
  if (arguments.out.empty()) {
    print(text);
  } else {
    write_file(arguments.out, text);
  }
  return kDone;
}

int fit_command(const commands::Fit& arguments) {
  scenario::Hardware hardware = named_hardware("loco-sim fit: --hardware", arguments.hardware, arguments.set);
  if (!arguments.fabric.empty())
    hardware.profile = networks::on_network(hardware.profile, routing_of(arguments.fabric));
  Progress progress;
  networks::FitOptions options = arguments.options;
  options.poll = [&](const networks::FitProgress& at) {
    if (progress.is_due()) progress.show(fmt::format("{} of {} tests run", at.tests, at.of));
  };
  const networks::FitResult result = networks::fit(hardware.profile, options);
  print(arguments.json ? networks::fit_json(hardware.name, result) + "\n" : networks::fit_text(hardware.name, result));
  return kDone;
}

}  // namespace loco::cli
