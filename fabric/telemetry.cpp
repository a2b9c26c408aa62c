// Fabric: in-band telemetry, and what a way takes without queues: what congestion controls go by
// (congestion/feedback.hpp).
#include "fabric/packet_network.hpp"
#include "fabric/route_time.hpp"

namespace loco::fabric {

/// The name of a packet's telemetry; 0: it has none.
std::uint32_t PacketNetwork::telemetry_name(const Packet& packet) {
  const bool may = packet.opcode == Opcode::write || packet.opcode == Opcode::send || packet.opcode == Opcode::ack;
  return may ? static_cast<std::uint32_t>(packet.b) : 0;
}

Network::Way PacketNetwork::way(PortId from, PortId destination, std::uint32_t bytes) const {
  Way way;
  const topology::VertexId to = destination.index();
  if (!wiring_ || from == destination || to >= config_.nodes) return way;
  std::vector<LinkInfo> links;
  topology::VertexId at = from.index();
  while (at != to) {
    if (routes_->candidates(at, to).empty()) return way;
    const topology::LinkId link = wiring_->graph.out(at, routes_->deterministic(at, to));
    links.push_back(info(link));
    at = info(link).to;
    way.switches += at == to ? 0 : 1;
  }
  way.time = burst_time(links, config_.switch_latency, {.packets = 1, .full = bytes, .last = bytes});
  return way;
}

std::uint32_t PacketNetwork::keep_telemetry(const Telemetry& telemetry) {
  const std::uint32_t slot = telemetry_.acquire();
  telemetry_[slot] = telemetry;
  return slot + 1;
}

Telemetry PacketNetwork::take_telemetry(std::uint32_t name) {
  telemetry_.release(name - 1);
  return telemetry_[name - 1];
}

void PacketNetwork::drop_telemetry(const Packet& packet) {
  if (!writes_) return;
  if (const std::uint32_t name = telemetry_name(packet); name != 0) telemetry_.release(name - 1);
}

/// Bytes that the telemetry of a packet takes more on the link that it is queued for.
std::uint32_t PacketNetwork::telemetry_grows(const Entry& entry) const {
  const Packet& packet = packets_[entry.packet];
  const std::uint32_t name = is_response(packet.opcode) ? 0 : telemetry_name(packet);
  return name != 0 && telemetry_[name - 1].hops < kTelemetryHops ? kTelemetryHopBytes : 0;
}

/// A packet starts to leave a switch's port.
[[gnu::noinline]] void PacketNetwork::report(const Lane& lane, const LinkInfo& link, sim::SimTime start,
                                             const Entry& entry) {
  if (wiring_->graph.is_host(link.from)) return;
  const Packet& packet = packets_[entry.packet];
  const std::uint32_t name = is_response(packet.opcode) ? 0 : telemetry_name(packet);
  if (name == 0) return;
  Telemetry& telemetry = telemetry_[name - 1];
  if (telemetry.hops == kTelemetryHops) return;
  telemetry.hop[telemetry.hops++] = {
      .at = start, .sent = lane.counters.bytes + entry.bytes, .queued = lane.waiting, .rate = link.rate};
}

}  // namespace loco::fabric
