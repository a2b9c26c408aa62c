// Fabric: links that go down and come back.
#include <algorithm>

#include "fabric/packet_network.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

/// A cut-through switch passes a packet on whose last bytes are still to come. Does the link fail before they have?
bool PacketNetwork::cut_off(sim::SimTime now, topology::LinkId link, std::uint32_t bytes) const {
  const std::vector<LinkChange>& changes = wiring_->changes;
  if (!info(link).cut_through) return false;
  const sim::SimTime whole = now + sim::Duration{info(link).time(bytes) - info(link).headers_ps};
  for (std::size_t i = next_change_; i < changes.size() && changes[i].at <= whole; ++i) {
    if (changes[i].up || changes[i].cable != topology::cable_of(link)) continue;
    LOCO_PROBE(packet_cut_off_by_a_failure);
    return true;
  }
  return false;
}

void PacketNetwork::change_link(sim::EventQueue& events, sim::SimTime now) {
  const std::vector<LinkChange>& changes = wiring_->changes;
  const LinkChange change = changes[next_change_++];
  if (next_change_ < changes.size()) {
    events.push({.at = std::max(now, changes[next_change_].at), .what = kEventLink});
  }
  const topology::LinkId first = 2 * change.cable;
  if (lane_of(first).down == !change.up) return;
  for (const topology::LinkId link : {first, first + 1}) {
    if (!change.up) {
      LOCO_PROBE(link_goes_down);
      go_down(events, now, link);
      continue;
    }
    LOCO_PROBE(link_comes_back);
    lane_of(link).down = false;
    lane_of(link).planned = now;
  }
  if (!config_.options.reroute) return;
  events.push({.at = now + config_.options.reroute_delay, .what = kEventReroute});
}

/// Everything on the link and in the queue for it is lost, pause frames as well: both ends begin afresh.
void PacketNetwork::go_down(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  advance(events, link, now);
  Lane& lane = lane_of(link);
  lane.down = true;
  if (lane.free > now) lane.counters.busy = lane.counters.busy - (lane.free - now);  // what it was sending ends here
  lane.free = std::min(lane.free, now);
  if (lane.pausing) {
    LOCO_PROBE(link_fails_while_paused);
    lane.pausing = false;
    --buffers_[info(link).to].pausing;
  }
  if (lane.armed) events.cancel(lane.arrival);
  if (!lane.pauses.empty()) events.cancel(lane.control);
  lane.armed = false;
  lane.pauses.clear();
  lose_headers(link);
  if (classed_) lose_classes(events, now, link);
  while (!lane.entries.empty()) {
    const Entry entry = lane.entries.front();
    lane.entries.pop_front();
    LOCO_PROBE(packet_lost_with_its_link);
    lose(entry, LossReason::link_down, link);
    if (lane.started > 0) {
      --lane.started;
      continue;
    }
    lane.queued -= entry.bytes;
    if (lane.joined > 0) {
      --lane.joined;
      lane.waiting -= entry.bytes;
    }
    if (entry.from != kNone) release(events, now, entry);
  }
  resume(events, now, link);
}

/// All switches learn at once which links there are.
void PacketNetwork::reroute() {
  std::vector<topology::CableId> failed;
  for (topology::CableId cable = 0; cable < wiring_->graph.cables(); ++cable) {
    if (lane_of(2 * cable).down) failed.push_back(cable);
  }
  rerouted_ = !failed.empty();
  LOCO_PROBE(routes_computed_anew);
  routes_ = Shared<topology::Routes>(failed.empty() ? topology::Routes(wiring_->graph)
                                                    : topology::Routes::search(wiring_->graph, failed));
}

}  // namespace loco::fabric
