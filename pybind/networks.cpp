// coreRMA on simulated networks: the JSON that `loco-sim corerma` and `loco-sim fit` print, which loco_sim.networks
// makes objects and pandas frames of.
#include "loco_sim/networks/networks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fabric/fabric_options.hpp"
#include "loco_sim/networks/campaign.hpp"
#include "loco_sim/networks/fit.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"
#include "yaml/node.hpp"

namespace loco::python {

namespace {

std::string corerma(bool small, unsigned jobs, std::uint64_t tests) {
  return interruptible_apart([&](Interruption& interruption) {
    networks::CampaignOptions options;
    options.small = small;
    options.jobs = jobs;
    options.tests = tests;
    options.poll = [&](const networks::CampaignProgress&) { interruption.stop_if_requested(); };
    options.limits.poll = [&] { interruption.stop_if_requested(); };
    return networks::campaign_json(networks::run_campaign(options));
  });
}

/// `hardware`: a profile as YAML; `routing`: of the network, or empty.
std::string fit(const std::string& hardware, const std::string& routing, std::uint64_t tests) {
  scenario::Hardware read = scenario::read_hardware(yaml::parse_override(hardware, "hardware"));
  if (!routing.empty()) {
    const auto& known = fabric::kRoutingNames;
    const auto* const found = std::find(known.begin(), known.end(), routing);
    if (found == known.end())
      throw std::invalid_argument("routing: expected deterministic, ecmp, adaptive or spray, found '" + routing + "'");
    read.profile = networks::on_network(read.profile, static_cast<fabric::Routing>(found - known.begin()));
  }
  return interruptible([&](Interruption& interruption) {
    networks::FitOptions options;
    options.tests = tests;
    options.poll = [&](const networks::FitProgress&) { interruption.stop_if_requested(); };
    options.limits.poll = [&] { interruption.stop_if_requested(); };
    return networks::fit_json(read.name, networks::fit(read.profile, options));
  });
}

}  // namespace

void bind_networks(py::module_& m) {
  m.def("corerma_json", &corerma);
  m.def("fit_json", &fit);
}

}  // namespace loco::python
