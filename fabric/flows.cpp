// Fabric: messages as flows. Who shares what with whom is not known here, only the order in each lane.
#include <algorithm>
#include <utility>

#include "fabric/fabric.hpp"

namespace loco::fabric {

namespace {
/// Extension headers that the first packet alone has are left out of a message of several.
Burst burst_of(const Packet& packet, const FlowOptions& flow) {
  const std::uint64_t mtu = flow.mtu.count;
  if (packet.length <= mtu) return {.packets = 1, .full = packet.wire, .last = packet.wire};
  const std::uint64_t headers = (packet.opcode == Opcode::write ? flow.write_overhead() : flow.overhead).count;
  return {.packets = (packet.length + mtu - 1) / mtu,
          .full = static_cast<std::uint32_t>(mtu + headers),
          .last = static_cast<std::uint32_t>((packet.length - 1) % mtu + 1 + headers),
          .gap = flow.packet_gap};
}
}  // namespace

void Fabric::announce(sim::SimTime now, sim::Duration latency, const Packet& packet) {
  if (packet.source == packet.destination) return;
  FlowLane& flow = flows_[own_lane(packet)];
  if (flow.open != kNone) return;
  flow.open = packets_.acquire();
  packets_[flow.open] = packet;
  append_flow(now + latency, own_lane(packet), flow.open);
}

void Fabric::withdraw(QpId qp, bool response) {
  if (flows_.empty()) return;
  const std::uint32_t index = own_lane(qp, response);
  FlowLane& flow = flows_[index];
  if (flow.open == kNone) return;
  const std::uint32_t slot = std::exchange(flow.open, kNone);
  packets_.release(slot);
  // Nothing is behind it: what is sent next would have been taken for it.
  if (!flow.waiting.empty() && flow.waiting.back().packet == slot) {
    if (flow.waiting.size() == 1) starts_.push_back({.lane = index, .withdrawn = true});
    return flow.waiting.pop_back();
  }
  lanes_[index].entries.pop_back();  // its flow has left its source
  --lanes_[index].started;
}

void Fabric::append_flow(sim::SimTime at, std::uint32_t lane, std::uint32_t slot) {
  FlowLane& flow = flows_[lane];
  const Packet& packet = packets_[slot];
  flow.waiting.push_back({.at = at, .packet = slot, .bytes = packet.wire, .destination = packet.destination});
  if (flow.waiting.size() == 1) start_flow(lane, at);
}

void Fabric::start_flow(std::uint32_t lane, sim::SimTime at) {
  const Entry& entry = flows_[lane].waiting.front();
  const Packet& packet = packets_[entry.packet];
  starts_.push_back(
      {std::max(at, entry.at), lane, packet.source, packet.destination, entry.bytes, burst_of(packet, config_.flow)});
}

/// An announced message is complete: its last packet still has to follow, even when the rest has gone.
void Fabric::send_flow(sim::EventQueue& events, sim::SimTime at, const Packet& packet) {
  const std::uint32_t index = own_lane(packet);
  FlowLane& flow = flows_[index];
  if (flow.open == kNone) {
    const std::uint32_t slot = packets_.acquire();
    packets_[slot] = packet;
    return append_flow(at, index, slot);
  }
  const std::uint32_t slot = std::exchange(flow.open, kNone);
  packets_[slot] = packet;
  if (!flow.waiting.empty()) {
    Entry& last = flow.waiting[flow.waiting.size() - 1];
    if (last.packet == slot) {
      last.at = at;
      return;
    }
  }
  Lane& lane = lanes_[index];
  Entry& last = lane.entries[lane.entries.size() - 1];
  last.at = std::max(last.at, at + flow.end.last);
  arm(events, at, index);
}

std::optional<FlowStart> Fabric::take_start() {
  if (starts_.empty()) return std::nullopt;
  const FlowStart flow = starts_.front();
  starts_.pop_front();
  return flow;
}

void Fabric::flow_ended(sim::EventQueue& events, std::uint32_t index, sim::SimTime now, const FlowEnd& end) {
  FlowLane& flow = flows_[index];
  Entry entry = flow.waiting.front();
  flow.waiting.pop_front();
  flow.end = end;
  entry.at = std::max(now + end.latency, entry.at + end.last);
  Lane& lane = lanes_[index];
  lane.entries.push_back(entry);
  ++lane.started;
  arm(events, now, index);
  if (!flow.waiting.empty()) start_flow(index, now);
}

/// A lane of several messages has one way: only datagrams go to many, and they are one packet each.
sim::BitsPerSecond Fabric::flow_rate(const Packet& packet) const { return flows_[own_lane(packet)].end.rate; }

}  // namespace loco::fabric
