// What holds in a packet network between two events: conservation of packets and of buffers' bytes. nic_model checks it
// now and then in debug and sanitizer builds.
#include <array>
#include <numeric>
#include <string>

#include "fabric/packet_network.hpp"
#include "sim/invariant.hpp"

namespace loco::fabric {

/// Its parts in order: what is on the wire, what waits for the port, what is still in the switch's pipeline. With
/// classes all of it is on the wire.
void PacketNetwork::check_lane(std::size_t index, sim::SimTime now) const {
  const Lane& lane = lanes_[index];
  const auto of_lane = [index] { return "lane " + std::to_string(index); };
  LOCO_INVARIANT(lane.started + lane.joined <= lane.entries.size(), now, "fabric", of_lane());
  if (classed_ && is_link(static_cast<std::uint32_t>(index))) {
    LOCO_INVARIANT(lane.started == lane.entries.size(), now, "fabric", of_lane() + ": its classes hold what waits");
    return;
  }
  std::uint64_t waiting = 0, queued = 0;
  for (std::size_t i = lane.started; i < lane.entries.size(); ++i) {
    queued += lane.entries[i].bytes;
    if (i < lane.started + lane.joined) waiting += lane.entries[i].bytes;
  }
  LOCO_INVARIANT(lane.waiting == waiting, now, "fabric", of_lane() + ": bytes of the port's queue");
  LOCO_INVARIANT(lane.queued == queued, now, "fabric", of_lane() + ": bytes that have not started");
}

/// The queues of a port's classes, oldest first: what waits, then what is still in the pipeline.
void PacketNetwork::check_classes(topology::LinkId link, sim::SimTime now) const {
  const auto of_link = [link] { return "link " + std::to_string(link); };
  std::uint64_t queued = 0;
  for (const ClassQueue& queue : class_ports_[link].queues) {
    LOCO_INVARIANT(queue.joined <= queue.entries.size(), now, "fabric", of_link());
    std::uint64_t waiting = 0;
    for (std::size_t i = 0; i < queue.entries.size(); ++i) {
      queued += queue.entries[i].bytes;
      if (i < queue.joined) waiting += queue.entries[i].bytes;
    }
    LOCO_INVARIANT(queue.waiting == waiting, now, "fabric", of_link() + ": bytes of a class's queue");
  }
  LOCO_INVARIANT(lane_of(link).queued == queued, now, "fabric", of_link() + ": bytes that have not started");
}

/// The bytes in a switch's buffer are those of its ports' queues, by the links, and the classes, that they have come
/// by.
void PacketNetwork::check_buffer(topology::VertexId at, sim::SimTime now) const {
  const std::string& name = wiring_->graph.name(at);
  std::uint64_t used = 0;
  std::vector<std::array<std::uint64_t, kClasses>> held(wiring_->graph.ports(at).size());
  const auto count = [&](const Entry& entry) {
    if (entry.from == kNone) return;
    used += entry.bytes;
    held[wiring_->graph.link(entry.from).to_port][classed_ ? class_of(entry) : 0] += entry.bytes;
  };
  for (const topology::LinkId out : wiring_->graph.ports(at)) {
    const Lane& lane = lane_of(out);
    for (std::size_t i = lane.started; i < lane.entries.size(); ++i) count(lane.entries[i]);
    if (!classed_) continue;
    for (const ClassQueue& queue : class_ports_[out].queues)
      for (std::size_t i = 0; i < queue.entries.size(); ++i) count(queue.entries[i]);
  }
  std::uint32_t pausing = 0;
  for (std::size_t port = 0; port < held.size(); ++port) {
    const topology::LinkId link = topology::opposite(wiring_->graph.ports(at)[port]);
    if (lane_of(link).pausing) ++pausing;
    for (std::uint32_t c = 0; c < (classed_ ? kClasses : 1U); ++c) {
      const std::uint64_t bytes = classed_ ? class_ports_[link].queues[c].held : lane_of(link).held;
      LOCO_INVARIANT(bytes == held[port][c], now, "fabric", name + ": bytes that came over a link");
    }
  }
  LOCO_INVARIANT(buffers_[at].used == used, now, "fabric", name + ": bytes in the buffer");
  LOCO_INVARIANT(classed_ || buffers_[at].pausing == pausing + (config_.eager ? 1U : 0U), now, "fabric",
                 name + ": links that it pauses");
}

void PacketNetwork::check(sim::SimTime now) const {
  std::size_t inside = 0;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    check_lane(lane, now);
    inside += lanes_[lane].entries.size();
  }
  for (const sim::Ring<Entry>& headers : headers_) inside += headers.size();
  for (std::size_t link = 0; link < class_ports_.size(); ++link) {
    check_classes(static_cast<topology::LinkId>(link), now);
    for (const ClassQueue& queue : class_ports_[link].queues) inside += queue.entries.size();
  }
  LOCO_INVARIANT(inside == packets_.in_use(), now, "fabric", "a packet inside is in one queue");
  const std::uint64_t lost = std::accumulate(packets_lost_.begin(), packets_lost_.end(), std::uint64_t{0});
  LOCO_INVARIANT(packets_sent_ + packets_came_ == packets_delivered_ + lost + packets_left_ + inside, now, "fabric",
                 "what was sent or came from another part is delivered, lost, under way or in another part");
  if (!wiring_) return;
  for (topology::VertexId at = wiring_->graph.hosts(); at < wiring_->graph.vertices(); ++at) check_buffer(at, now);
}

}  // namespace loco::fabric
