// What holds in a packet network between two events: conservation of packets and of buffers' bytes. nic_model checks it
// now and then in debug and sanitizer builds.
#include <numeric>
#include <string>

#include "fabric/packet_network.hpp"
#include "sim/invariant.hpp"

namespace loco::fabric {

/// Its parts in order: what is on the wire, what waits for the port, what is still in the switch's pipeline.
void PacketNetwork::check_lane(std::size_t index, sim::SimTime now) const {
  const Lane& lane = lanes_[index];
  const auto of_lane = [index] { return "lane " + std::to_string(index); };
  LOCO_INVARIANT(lane.started + lane.joined <= lane.entries.size(), now, "fabric", of_lane());
  std::uint64_t waiting = 0, queued = 0;
  for (std::size_t i = lane.started; i < lane.entries.size(); ++i) {
    queued += lane.entries[i].bytes;
    if (i < lane.started + lane.joined) waiting += lane.entries[i].bytes;
  }
  LOCO_INVARIANT(lane.waiting == waiting, now, "fabric", of_lane() + ": bytes of the port's queue");
  LOCO_INVARIANT(lane.queued == queued, now, "fabric", of_lane() + ": bytes that have not started");
}

/// The bytes in a switch's buffer are those of its ports' queues, by the links that they have come over.
void PacketNetwork::check_buffer(topology::VertexId at, sim::SimTime now) const {
  std::uint64_t used = 0;
  std::uint32_t pausing = 0;
  const std::string& name = wiring_->graph.name(at);
  std::vector<std::uint64_t> held(wiring_->graph.ports(at).size());
  for (const topology::LinkId out : wiring_->graph.ports(at)) {
    const Lane& lane = lane_of(out);
    for (std::size_t i = lane.started; i < lane.entries.size(); ++i) {
      const Entry& entry = lane.entries[i];
      if (entry.from == kNone) continue;
      used += entry.bytes;
      held[wiring_->graph.link(entry.from).to_port] += entry.bytes;
    }
  }
  for (std::size_t port = 0; port < held.size(); ++port) {
    const Lane& in = lane_of(topology::opposite(wiring_->graph.ports(at)[port]));
    pausing += in.pausing ? 1 : 0;
    LOCO_INVARIANT(in.held == held[port], now, "fabric", name + ": bytes that came over a link");
  }
  LOCO_INVARIANT(buffers_[at].used == used, now, "fabric", name + ": bytes in the buffer");
  LOCO_INVARIANT(buffers_[at].pausing == pausing, now, "fabric", name + ": links that it pauses");
}

void PacketNetwork::check(sim::SimTime now) const {
  std::size_t inside = 0;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    check_lane(lane, now);
    inside += lanes_[lane].entries.size();
  }
  LOCO_INVARIANT(inside == packets_.in_use(), now, "fabric", "a packet inside is in one lane");
  const std::uint64_t lost = std::accumulate(packets_lost_.begin(), packets_lost_.end(), std::uint64_t{0});
  LOCO_INVARIANT(packets_sent_ == packets_delivered_ + lost + inside, now, "fabric",
                 "what was sent is delivered, lost or under way");
  if (!wiring_) return;
  for (topology::VertexId at = wiring_->graph.hosts(); at < wiring_->graph.vertices(); ++at) check_buffer(at, now);
}

}  // namespace loco::fabric
