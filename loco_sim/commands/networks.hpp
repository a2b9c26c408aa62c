// The arguments of `loco-sim corerma` and `fit`, and of Python's corerma() and fit().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/routes.hpp"
#include "loco_sim/commands/rows.hpp"
#include "loco_sim/networks/campaign.hpp"
#include "loco_sim/networks/fit.hpp"

namespace loco::commands {

struct Corerma {
  networks::CampaignOptions options{};  ///< without `small`
  std::string size = "paper";
  // of the command line alone
  std::string out;  ///< file, or empty for stdout
  bool json = false;
  bool times = false;  ///< in JSON: how long it took
};

struct Fit {
  networks::FitOptions options{};
  std::string hardware;                    ///< a name or a file; of Python YAML
  std::optional<fabric::Routing> routing;  ///< of the network; none: as the profile has it
  // of the command line alone
  std::string fabric;            ///< routing=..., or empty
  std::vector<std::string> set;  ///< key=value, keys of the profile
  bool json = false;
};

template <>
[[nodiscard]] std::span<const options::Row> rows<Corerma>();
template <>
[[nodiscard]] std::span<const options::Row> rows<Fit>();

}  // namespace loco::commands
