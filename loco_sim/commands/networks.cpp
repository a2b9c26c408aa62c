#include "loco_sim/commands/networks.hpp"

#include <array>

#include "fabric/fabric_options.hpp"

namespace loco::commands {

using options::row;

template <>
std::span<const options::Row> rows<Corerma>() {
  using A = Corerma;
  using O = networks::CampaignOptions;
  static constexpr std::array<std::string_view, 2> kSizes = {"paper", "small"};
  static constexpr std::array kRows = {
      row<&A::size>("size", "--size", "paper: the bounds of its Table 6; small: three actions less, and few tests",
                    {.choices = kSizes, .shows_default = true}),
      row<&A::options, &O::tests>(
          "tests", "--tests", "At most so many tests for each row, evenly spread (default 300 or the paper's number)"),
      row<&A::options, &O::jobs>("jobs", "-j,--jobs", "Threads that run tests",
                                 {.least = 1, .most = 256, .shows_default = true}),
      row<&A::out>("-o,--out", "Write to this file: .html, .json or .csv", {.value = "FILE"}),
      row<&A::json>("--json", kJson),
      row<&A::times>("--times", kTimes),
  };
  return kRows;
}

template <>
std::span<const options::Row> rows<Fit>() {
  using A = Fit;
  static constexpr std::array kRows = {
      row<&A::hardware>("hardware", "--hardware", "Hardware profile: a name or a file", {.required = true}),
      row<&A::set>("--set", "Change a field of the profile: nic.placement=unordered", {.value = "KEY=VALUE"}),
      row<&A::fabric>("--fabric", "routing=deterministic or ecmp: one path; adaptive or spray: many (default many)",
                      {.value = "KEY=VALUE"}),
      row<&A::routing>("routing", "", "deterministic or ecmp: one path; adaptive or spray: many (default many)",
                       {.choices = fabric::kRoutingNames}),
      row<&A::options, &networks::FitOptions::tests>("tests", "--tests",
                                                     "Tests for each rule and number of processes, the smallest ones",
                                                     {.least = 1, .shows_default = true}),
      row<&A::json>("--json", kJson),
  };
  return kRows;
}

}  // namespace loco::commands
