// What is left of the flow model in a build without SimGrid: it says so.
#include "fabric/flow/flow_network.hpp"

namespace loco::fabric {

bool has_flow_model() { return false; }

class FlowNetwork::Engine {};

FlowNetwork::FlowNetwork(const Config& /*config*/) { throw FlowError(kNoFlowModel); }
FlowNetwork::~FlowNetwork() = default;
const std::vector<std::string>& FlowNetwork::hosts() const { throw FlowError(kNoFlowModel); }
void FlowNetwork::run(FlowClient& /*client*/) { throw FlowError(kNoFlowModel); }

}  // namespace loco::fabric
