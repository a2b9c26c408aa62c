#include "fabric/flow/flow_network.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <system_error>

namespace loco::fabric {

namespace {

namespace fs = std::filesystem;

using MakeEngine = FlowNetwork::Engine*(const Config&);

/// Beside the program, where it is installed to, beside the shared library that holds this code (such as a Python
/// extension), where it was built.
std::optional<fs::path> module_path() {
  std::vector<fs::path> places;
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path(); !error) {
    places.push_back(program / kFlowModule);
    places.push_back(program.parent_path() / "lib" / "loco-sim" / kFlowModule);
  }
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&has_flow_model), &self) != 0 && self.dli_fname != nullptr) {
    places.push_back(fs::path(self.dli_fname).parent_path() / kFlowModule);
  }
#ifdef LOCO_SIM_FLOW_MODULE
  places.emplace_back(LOCO_SIM_FLOW_MODULE);
#endif
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

FlowNetwork::FlowNetwork(const Config& config) : engine_(load()(config)) {}
FlowNetwork::~FlowNetwork() = default;
const std::vector<std::string>& FlowNetwork::hosts() const { return engine_->hosts(); }
void FlowNetwork::run(FlowClient& client) { engine_->run(client); }

}  // namespace loco::fabric
