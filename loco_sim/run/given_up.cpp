#include "loco_sim/run/given_up.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nic_model/delivery/transports.hpp"
#include "nic_model/profile_options.hpp"

namespace loco {

namespace {

/// True if an edge of one of the verdict's cycles belongs to the cell.
bool goes_against(const model::Verdict& verdict, const GivenUp& promise) {
  const auto is_edge = [&](const std::vector<model::Step>& cycle) {
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const model::Step& from = cycle[i];
      const model::Step& to = cycle[(i + 1) % cycle.size()];
      if (from.rule == model::Rule::ppo && from.stamp == promise.earlier && to.stamp == promise.later &&
          from.peer == to.peer)
        return true;
    }
    return false;
  };
  return std::ranges::any_of(verdict.results, [&](const model::LibraryResult& r) {
    return std::ranges::any_of(r.violations, [&](const model::Violation& v) { return is_edge(v.cycle); });
  });
}

}  // namespace

std::vector<GivenUp> given_up(const nic::HardwareProfile& profile) {
  using trace::Stamp;
  std::vector<GivenUp> all;
  if (profile.nic_device_own_path) {
    const std::string path = "nic.device_own_path: the NIC's memory and the host's are reached on different paths";
    all.push_back(
        {"G7", Stamp::aNRW, Stamp::aNRW, "a put's write before a later put's, one to the NIC's memory", path});
    all.push_back({"G8", Stamp::aNRW, Stamp::aNRR, "a put's write before a later get's read, one of the NIC's", path});
    all.push_back(
        {"I9", Stamp::aNLW, Stamp::aNLW, "a get's own write before a later get's, one to the NIC's memory", path});
    all.push_back(
        {"G11", Stamp::aNRW, Stamp::aGF, "a put's write to the NIC's memory before a later global fence", path});
  }
  const nic::DeliveryOrder order = nic::reliable_order(profile);
  if (!order.overtakes()) return all;
  const bool reads_only = !order.writes_early;
  std::string mechanism = fmt::format("nic.placement: {} {} of a queue pair as they come",
                                      nic::kPlacementNames.at(static_cast<std::size_t>(profile.nic_placement)),
                                      reads_only ? "executes the READs" : "places the packets");
  if (order.when_whole) {
    mechanism = fmt::format(
        "transport {} executes requests as they are whole: a fence, or waiting for the earlier one, restores them",
        nic::reliable_name(profile));
  }
  if (!reads_only)
    all.push_back({"G7", Stamp::aNRW, Stamp::aNRW, "a put's write before a later put's, same node", mechanism});
  // Also for answers to READs and atomics, whose lost packets are repeated after the next answer was placed.
  all.push_back({"H9", Stamp::aNRR, Stamp::aNLW, "a get's read before a later get's own write, same node", mechanism});
  all.push_back({"I9", Stamp::aNLW, Stamp::aNLW, "a get's own write before a later get's, same node", mechanism});
  if (!order.reads_early) return all;
  all.push_back({"G8", Stamp::aNRW, Stamp::aNRR, "a put's write before a later get's read, same node", mechanism});
  all.push_back({"G9", Stamp::aNRW, Stamp::aNLW, "a put's write before a later get's own write, same node", mechanism});
  all.push_back({"G11", Stamp::aNRW, Stamp::aGF, "a put's write before a later global fence", mechanism});
  return all;
}

std::vector<GivenUp> given_up(std::span<const nic::HardwareProfile> in_use) {
  std::vector<GivenUp> all;
  for (const nic::HardwareProfile& profile : in_use)
    for (const GivenUp& one : given_up(profile)) {
      const auto same = [&](const GivenUp& g) { return g.cell == one.cell && g.mechanism == one.mechanism; };
      if (std::ranges::none_of(all, same)) all.push_back(one);
    }
  return all;
}

std::string given_up_text(const model::Verdict& verdict, const std::string& hardware,
                          std::span<const nic::HardwareProfile> in_use, std::optional<bool> keeps_promises) {
  const std::vector<GivenUp> all = given_up(in_use);
  if (all.empty() || !verdict.violated()) return {};
  std::vector<std::string> promises, mechanisms, broken;
  const auto add_once = [](std::vector<std::string>& to, const std::string& what) {
    if (std::ranges::find(to, what) == to.end()) to.push_back(what);
  };
  for (const GivenUp& g : all) {
    add_once(promises, fmt::format("{} ({})", g.cell, g.meaning));
    add_once(mechanisms, g.mechanism);
    if (goes_against(verdict, g)) add_once(broken, g.cell);
  }
  std::string text = fmt::format("{} does not make these promises of the models: {}; {}", hardware,
                                 fmt::join(promises, ", "), fmt::join(mechanisms, "; "));
  if (!broken.empty()) text += fmt::format(". The cycle goes against {}", fmt::join(broken, " and "));
  if (keeps_promises == true) text += ". Everything else is kept: the program needs an order that is not promised";
  if (keeps_promises == false) text += ". Orders are broken that are promised, too";
  return text + "\n";
}

}  // namespace loco
