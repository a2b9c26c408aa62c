// Fabric: what the arrival at the end of a lane will touch, fetched into the simulating machine's cache.
#include "sim/prefetch.hpp"

#include "fabric/fabric.hpp"

namespace loco::fabric {

void Fabric::prefetch_lane(std::uint32_t lane) const {
  sim::prefetch(&lanes_[lane], sizeof(Lane));
  if (network_ && lane >= config_.nodes) __builtin_prefetch(&info(lane - config_.nodes));
}

void Fabric::prefetch_entry(std::uint32_t lane) const {
  const sim::Ring<Entry>& entries = lanes_[lane].entries;
  if (!entries.empty()) __builtin_prefetch(&entries.front());
}

void Fabric::prefetch_packet(std::uint32_t lane) const {
  const sim::Ring<Entry>& entries = lanes_[lane].entries;
  if (entries.empty()) return;
  const Entry& entry = entries.front();
  if (!network_ || lane < config_.nodes || !info(lane - config_.nodes).to_switch) {
    const auto* packet = reinterpret_cast<const std::byte*>(&packets_[entry.packet]);
    __builtin_prefetch(packet);
    __builtin_prefetch(packet + sizeof(Packet) - 1);
  } else if (config_.options.routing == Routing::deterministic && !rerouted_) {
    const topology::VertexId at = info(lane - config_.nodes).to;
    prefetch_lane(config_.nodes + network_->graph.out(at, routes_->deterministic(at, entry.destination)));
  }
}

const Packet* Fabric::arriving(std::uint32_t lane) const {
  const sim::Ring<Entry>& entries = lanes_[lane].entries;
  if (entries.empty()) return nullptr;
  if (network_ && lane >= config_.nodes && info(lane - config_.nodes).to_switch) return nullptr;
  return &packets_[entries.front().packet];
}

}  // namespace loco::fabric
