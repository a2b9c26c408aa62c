#include "fabric/flow_network.hpp"

#include <algorithm>
#include <utility>

#include "fabric/wiring.hpp"

namespace loco::fabric {

namespace {
constexpr sim::Bytes kWholeMessage{std::uint64_t{1} << 31U};  // InfiniBand's longest

/// Extension headers that the first packet alone has are left out of a message of several.
Burst burst_of(const Packet& packet, const PacketFormat& format) {
  const std::uint64_t mtu = format.mtu.count;
  if (packet.length <= mtu) return {.packets = 1, .full = packet.wire, .last = packet.wire};
  const std::uint64_t headers = (packet.opcode == Opcode::write ? format.write_overhead() : format.overhead).count;
  return {.packets = format.count(packet.length),
          .full = static_cast<std::uint32_t>(mtu + headers),
          .last = static_cast<std::uint32_t>((packet.length - 1) % mtu + 1 + headers),
          .gap = format.gap};
}
}  // namespace

FlowNetwork::FlowNetwork(const Config& config) : Network(config, kWholeMessage) {
  lanes_.resize(config.nodes);
  if (config.flow.platform.empty()) static_cast<void>(make_wiring(config));  // only to find what is wrong with it
}

void FlowNetwork::add_queue_pair(QpId qp) {
  lanes_.resize(std::max(lanes_.size(), std::size_t{config_.nodes} + 2 * (std::size_t{qp} + 1)));
}

std::uint32_t FlowNetwork::keep(const Packet& packet) {
  const std::uint32_t slot = packets_.acquire();
  packets_[slot] = packet;
  return slot;
}

// --- in --------------------------------------------------------------------------------------------------------------

void FlowNetwork::announce(sim::SimTime now, sim::Duration latency, const Packet& packet) {
  if (packet.source == packet.destination) return;
  MessageLane& lane = lanes_[lane_of(packet)];
  if (lane.open != kNone) return;
  lane.open = keep(packet);
  append(now + latency, lane_of(packet), lane.open);
}

void FlowNetwork::withdraw(QpId qp, bool response) {
  const std::uint32_t index = lane_of(qp, response);
  MessageLane& lane = lanes_[index];
  if (lane.open == kNone) return;
  const std::uint32_t slot = std::exchange(lane.open, kNone);
  packets_.release(slot);
  // Nothing is behind it: what is sent next would have been taken for it.
  if (!lane.waiting.empty() && lane.waiting.back().packet == slot) {
    if (lane.waiting.size() == 1) starts_.push_back({.lane = index, .withdrawn = true});
    return lane.waiting.pop_back();
  }
  lane.arriving.pop_back();  // its flow has left its source
}

void FlowNetwork::append(sim::SimTime at, std::uint32_t lane, std::uint32_t slot) {
  MessageLane& l = lanes_[lane];
  const Packet& packet = packets_[slot];
  l.waiting.push_back({.at = at, .packet = slot, .bytes = packet.wire, .destination = packet.destination.index()});
  if (l.waiting.size() == 1) start_flow(lane, at);
}

void FlowNetwork::start_flow(std::uint32_t lane, sim::SimTime at) {
  const Entry& entry = lanes_[lane].waiting.front();
  const Packet& packet = packets_[entry.packet];
  PacketFormat format = config_.packets;
  format.gap = config_.gap_of(packet.source.index());
  starts_.push_back({std::max(at, entry.at), lane, packet.source.index(), packet.destination.index(), entry.bytes,
                     burst_of(packet, format)});
}

sim::SimTime FlowNetwork::send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency, const Packet& packet) {
  if (packet.source == packet.destination) {
    lanes_[packet.source.index()].arriving.push_back({.at = now + latency + config_.loopback_of(packet.source.index()),
                                                      .packet = keep(packet),
                                                      .bytes = packet.wire,
                                                      .destination = packet.destination.index()});
    arm(events, now, packet.source.index());
    return now;
  }
  const std::uint32_t index = lane_of(packet);
  MessageLane& lane = lanes_[index];
  const sim::SimTime at = now + latency;
  if (lane.open == kNone) {
    append(at, index, keep(packet));
    return now;
  }
  // It was announced, and is complete now: its last packet still has to follow, even when the rest has gone.
  const std::uint32_t slot = std::exchange(lane.open, kNone);
  packets_[slot] = packet;
  if (!lane.waiting.empty() && lane.waiting.back().packet == slot) {
    lane.waiting.back().at = at;
    return now;
  }
  Entry& last = lane.arriving.back();
  last.at = std::max(last.at, at + lane.end.last);
  arm(events, at, index);
  return now;
}

// --- out -------------------------------------------------------------------------------------------------------------

std::optional<FlowStart> FlowNetwork::take_start() {
  if (starts_.empty()) return std::nullopt;
  const FlowStart flow = starts_.front();
  starts_.pop_front();
  return flow;
}

void FlowNetwork::flow_ended(sim::EventQueue& events, std::uint32_t index, sim::SimTime now, const FlowEnd& end) {
  MessageLane& lane = lanes_[index];
  Entry entry = lane.waiting.front();
  lane.waiting.pop_front();
  lane.end = end;
  entry.at = std::max(now + end.latency, entry.at + end.last);
  lane.arriving.push_back(entry);
  arm(events, now, index);
  if (!lane.waiting.empty()) start_flow(index, now);
}

/// Sees to it that the arrival of a lane's oldest message is pending, once that has been sent.
void FlowNetwork::arm(sim::EventQueue& events, sim::SimTime now, std::uint32_t index) {
  MessageLane& lane = lanes_[index];
  if (lane.armed || lane.arriving.empty() || lane.arriving.front().packet == lane.open) return;
  lane.armed = true;
  events.push({.at = std::max(now, lane.arriving.front().at), .what = kEventLane, .where = index});
}

std::optional<Packet> FlowNetwork::handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) {
  if (event.what != kEventLane) return std::nullopt;
  MessageLane& lane = lanes_[event.where];
  lane.armed = false;
  const std::uint32_t slot = lane.arriving.front().packet;
  lane.arriving.pop_front();
  arm(events, now, event.where);
  packets_.release(slot);
  return packets_[slot];
}

Train FlowNetwork::train(const Packet& packet) const {
  if (packet.source == packet.destination) return {};
  const std::uint64_t first = (config_.packets.mtu + config_.packets.overhead).count;
  if (packet.wire <= first) return {};
  return {.behind = packet.wire - first, .rate = lanes_[lane_of(packet)].end.rate};
}

}  // namespace loco::fabric
