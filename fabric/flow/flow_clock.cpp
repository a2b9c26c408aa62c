#include "fabric/flow/flow_clock.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <system_error>

#include "sim/own_folders.hpp"

namespace loco::fabric {

namespace {

namespace fs = std::filesystem;

using MakeEngine = FlowClock::Engine*(const Config&);

/// Beside the program, where it is installed to, beside a Python extension, where it was built.
std::optional<fs::path> module_path() {
  std::vector<fs::path> places;
  const auto [program, code, prefix] = sim::own_folders();
  if (program) {
    places.push_back(*program / kFlowModule);
    places.push_back(program->parent_path() / "lib" / "loco-sim" / kFlowModule);
  }
  if (code) places.push_back(*code / kFlowModule);
#ifdef LOCO_SIM_FLOW_MODULE
  places.emplace_back(LOCO_SIM_FLOW_MODULE);
#endif
  if (prefix) places.push_back(*prefix / "lib" / "loco-sim" / kFlowModule);
  std::error_code error;
  for (const fs::path& place : places)
    if (fs::exists(place, error)) return place;
  return std::nullopt;
}

MakeEngine* load() {
  const std::optional<fs::path> path = module_path();
  if (!path) throw FlowError(kNoFlowModel);
  void* module = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: SimGrid stays for good
  void* make = module == nullptr ? nullptr : dlsym(module, "loco_sim_flow_engine");
  if (make == nullptr) throw FlowError(std::string("SimGrid's module cannot be loaded: ") + dlerror());
  return reinterpret_cast<MakeEngine*>(make);
}

}  // namespace

bool has_flow_model() { return module_path().has_value(); }

FlowClock::FlowClock(const Config& config) : engine_(load()(config)) {}
FlowClock::~FlowClock() = default;
const std::vector<std::string>& FlowClock::hosts() const { return engine_->hosts(); }
void FlowClock::run(FlowClient& client) { engine_->run(client); }

}  // namespace loco::fabric
