// Fabric: what the arrival at the end of a lane will touch, fetched into the simulating machine's cache.
#include "sim/prefetch.hpp"

#include "fabric/packet_network.hpp"

namespace loco::fabric {

void PacketNetwork::prefetch_lane(std::uint32_t lane) const {
  sim::prefetch(&lanes_[lane], sizeof(Lane));
  if (wiring_ && lane >= config_.nodes) __builtin_prefetch(&info(lane - config_.nodes));
}

void PacketNetwork::prefetch_entry(std::uint32_t lane) const {
  const sim::Ring<Entry>& entries = lanes_[lane].entries;
  if (!entries.empty()) __builtin_prefetch(&entries.front());
}

void PacketNetwork::prefetch_packet(std::uint32_t lane) const {
  const sim::Ring<Entry>& entries = lanes_[lane].entries;
  if (entries.empty()) return;
  const Entry& entry = entries.front();
  if (!wiring_ || lane < config_.nodes || !info(lane - config_.nodes).to_switch) {
    const auto* packet = reinterpret_cast<const std::byte*>(&packets_[entry.packet]);
    __builtin_prefetch(packet);
    __builtin_prefetch(packet + sizeof(Packet) - 1);
  } else if (config_.options.routing == Routing::deterministic && !rerouted_) {
    const topology::VertexId at = info(lane - config_.nodes).to;
    prefetch_lane(config_.nodes + wiring_->graph.out(at, routes_->deterministic(at, entry.destination)));
  }
}

const Packet* PacketNetwork::arriving(std::uint32_t lane) const {
  const sim::Ring<Entry>& entries = lanes_[lane].entries;
  if (entries.empty()) return nullptr;
  if (wiring_ && lane >= config_.nodes && info(lane - config_.nodes).to_switch) return nullptr;
  return &packets_[entries.front().packet];
}

}  // namespace loco::fabric
