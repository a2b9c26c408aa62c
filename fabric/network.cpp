#include "fabric/network.hpp"

#include "fabric/flow_network.hpp"
#include "fabric/packet_network.hpp"

namespace loco::fabric {

NetworkValue make_network(const Config& config) {
  if (config.model == Model::flow) return NetworkValue(std::make_unique<FlowNetwork>(config));
  return NetworkValue(std::make_unique<PacketNetwork>(config));
}

}  // namespace loco::fabric
