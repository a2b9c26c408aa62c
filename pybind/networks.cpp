// coreRMA on simulated networks: the JSON that `loco-sim corerma` and `loco-sim fit` print, which loco_sim.networks
// makes objects and pandas frames of.
#include "loco_sim/networks/networks.hpp"

#include <string>

#include "loco_sim/commands/networks.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "pybind/arguments.hpp"
#include "pybind/interruption.hpp"
#include "yaml/node.hpp"

namespace loco::python {

namespace {

/// Keywords as the rows of commands::Corerma.
std::string corerma(const py::dict& given) {
  auto arguments = taken<commands::Corerma>("corerma", given);
  arguments.options.small = arguments.size == "small";
  return interruptible_apart([&](Interruption& interruption) {
    arguments.options.poll = [&](const networks::CampaignProgress&) { interruption.stop_if_requested(); };
    arguments.options.limits.poll = [&] { interruption.stop_if_requested(); };
    return networks::campaign_json(networks::run_campaign(arguments.options));
  });
}

/// The same of commands::Fit; the hardware is YAML.
std::string fit(const py::dict& given) {
  auto arguments = taken<commands::Fit>("fit", given);
  scenario::Hardware read = scenario::read_hardware(yaml::parse_override(arguments.hardware, "hardware"));
  if (arguments.routing) read.profile = networks::on_network(read.profile, *arguments.routing);
  return interruptible([&](Interruption& interruption) {
    arguments.options.poll = [&](const networks::FitProgress&) { interruption.stop_if_requested(); };
    arguments.options.limits.poll = [&] { interruption.stop_if_requested(); };
    return networks::fit_json(read.name, networks::fit(read.profile, arguments.options));
  });
}

}  // namespace

void bind_networks(py::module_& m) {
  m.def("corerma_json", &corerma);
  m.def("fit_json", &fit);
  m.def("corerma_arguments", [] { return described<commands::Corerma>(); });
  m.def("fit_arguments", [] { return described<commands::Fit>(); });
}

}  // namespace loco::python
