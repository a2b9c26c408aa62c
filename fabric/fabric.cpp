#include "fabric/fabric.hpp"

#include <algorithm>

namespace loco::fabric {

namespace {
/// A cut-through switch decides on the output port once it has the headers: Ethernet to BTH.
constexpr sim::Bytes kCutThroughBytes{64};
}  // namespace

std::string_view Config::validate() const {
  if (nodes < 1 || nodes > 65536) return "a fabric has 1 to 65536 nodes";
  if (topology == Topology::back_to_back && nodes != 2) return "back_to_back connects exactly 2 nodes";
  return {};
}

// Lanes: [0, n) each host's loopback; then for back_to_back and star [n, 2n) the hosts' transmit ports; for a star
// [2n, 3n) the switch's output ports; for an ideal network from n on two lanes a queue pair, requests and responses.
Fabric::Fabric(const Config& config) : config_(config) {
  const std::uint32_t per_node = config.topology == Topology::ideal ? 1 : config.topology == Topology::star ? 3 : 2;
  lanes_.resize(std::size_t{per_node} * config.nodes);
}

void Fabric::add_queue_pair(QpId qp) {
  if (config_.topology != Topology::ideal) return;
  lanes_.resize(std::max(lanes_.size(), std::size_t{config_.nodes} + 2 * (std::size_t{qp} + 1)));
}

std::uint32_t Fabric::first_lane(const Packet& packet) const {
  if (config_.topology == Topology::ideal) {
    return config_.nodes + 2 * packet.source_qp + (is_response(packet.opcode) ? 1 : 0);
  }
  return packet.source == packet.destination ? packet.source : config_.nodes + packet.source;
}

bool Fabric::leads_to_switch(std::uint32_t lane) const {
  return config_.topology == Topology::star && lane >= config_.nodes && lane < 2 * config_.nodes;
}

void Fabric::enter(sim::EventQueue& events, std::uint32_t lane, sim::SimTime ready, const Packet& packet) {
  Lane& l = lanes_[lane];
  l.flights.push_back({ready, packet});
  if (l.flights.size() == 1) events.push({.at = ready, .what = kEventLane, .where = lane});
}

sim::SimTime Fabric::send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet) {
  const std::uint32_t lane = first_lane(packet);
  if (config_.topology == Topology::ideal || lane < config_.nodes) {
    const sim::Duration through = packet.source == packet.destination ? config_.loopback_latency : config_.link_delay;
    enter(events, lane, now + latency + through + config_.delivery_latency, packet);
    return now;
  }
  Lane& port = lanes_[lane];
  const sim::SimTime start = std::max(now, port.free);
  port.free = start + sim::transmission_time({packet.wire}, config_.link_rate);
  const sim::SimTime done =
      leads_to_switch(lane)
          ? start + sim::transmission_time(std::min(kCutThroughBytes, sim::Bytes{packet.wire}), config_.link_rate)
          : port.free;
  const sim::Duration delivery = leads_to_switch(lane) ? sim::Duration{} : config_.delivery_latency;
  enter(events, lane, done + latency + config_.link_delay + delivery, packet);
  return port.free;
}

std::optional<Packet> Fabric::handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) {
  Lane& lane = lanes_[event.where];
  const Packet packet = lane.flights.front().packet;
  lane.flights.pop_front();
  if (!lane.flights.empty()) {
    events.push({.at = std::max(now, lane.flights.front().ready), .what = kEventLane, .where = event.where});
  }
  if (leads_to_switch(event.where)) {
    const std::uint32_t out = 2 * config_.nodes + packet.destination;
    const sim::SimTime start = std::max(now + config_.switch_latency, lanes_[out].free);
    lanes_[out].free = start + sim::transmission_time({packet.wire}, config_.link_rate);
    enter(events, out, lanes_[out].free + config_.link_delay + config_.delivery_latency, packet);
    return std::nullopt;
  }
  ++packets_delivered_;
  bytes_delivered_ += packet.wire;
  return packet;
}

}  // namespace loco::fabric
