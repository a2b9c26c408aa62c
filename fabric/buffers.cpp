// Fabric: switch buffers, drop-tail, ECN marks, PFC.
//
// A packet occupies the buffer from its arrival (its headers', if cut through) until it starts to leave. Dynamic
// thresholds (Choudhury, Hahne, ToN 1998): alpha times what is free of the shared buffer, for each output queue when
// dropping, for each ingress port when pausing. A queue is what waits for its port: a packet joins it when it has
// passed the switch's latency, and takes buffer before that.
//
// `used` and `held` may lag behind departures that nobody has looked at; they are never too small, and thresholds
// worked out from them never too large. So what they let pass, passes; only when they object is the whole switch
// brought up to date.
#include <algorithm>

#include "fabric/packet_network.hpp"
#include "fabric/tap.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

void PacketNetwork::advance_all(sim::EventQueue& events, sim::SimTime now, topology::VertexId at) {
  for (const topology::LinkId link : wiring_->graph.ports(at)) advance(events, link, now);
}

bool PacketNetwork::fits(topology::VertexId at, topology::LinkId out, std::uint32_t bytes) const {
  const std::uint64_t used = buffers_[at].used;
  const std::uint64_t size = config_.options.buffer_size.count;
  if (used + bytes > size) return false;
  if (config_.options.flow_control == FlowControl::pfc) return true;
  __extension__ using Wide = unsigned __int128;
  return Wide{lane_of(out).waiting + bytes} * 1000 <= Wide{size - used} * config_.options.buffer_alpha;
}

bool PacketNetwork::admit(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry) {
  // That PFC loses nothing is a promise, not a matter of when its frames come: it holds under any schedule.
  if (!overflows_) return true;
  const topology::VertexId at = info(out).from;
  if (fits(at, out, entry.bytes)) return true;
  advance_all(events, now, at);
  LOCO_PROBE(buffer_full_at_first_sight);
  return fits(at, out, entry.bytes);
}

/// RED on the length of the queue that the packet finds (Zhu et al., SIGCOMM 2015, figure 5). ACKs, NAKs and CNPs are
/// not ECN-capable transport: nobody would slow down for them.
void PacketNetwork::mark(topology::LinkId out, const Entry& entry) {
  const Options& o = config_.options;
  mark_above(out, entry, lane_of(out).waiting, o.ecn_kmin.count, o.ecn_kmax.count, o.ecn_pmax);
}

void PacketNetwork::mark_above(topology::LinkId out, const Entry& entry, std::uint64_t waiting, std::uint64_t low,
                               std::uint64_t high, std::uint32_t most) {
  if (waiting <= low) return;
  Packet& packet = packets_[entry.packet];
  if (!ecn_capable(packet.opcode)) return;
  if (waiting < high && !stream_of(info(out).from).chance((waiting - low) * most, (high - low) * 1000)) return;
  LOCO_PROBE(ecn_mark);
  packet.marked = true;
  ++lane_of(out).counters.marks;
}

// --- PFC -------------------------------------------------------------------------------------------------------------

std::uint64_t PacketNetwork::pause_threshold(topology::VertexId at) const {
  const Options& o = config_.options;
  return pause_threshold(at, {.alpha = o.buffer_alpha, .xoff = o.pfc_xoff, .reserved = o.pfc_reserved});
}

std::uint64_t PacketNetwork::pause_threshold(topology::VertexId at, const ClassBuffers& buffers) const {
  if (buffers.xoff.count != 0) return buffers.xoff.count;
  const std::uint64_t shared = wiring_->shared[at];
  const std::uint64_t used = buffers_[at].used;
  const std::uint64_t reserved = buffers.reserved.count;
  if (used >= shared) return reserved;
  __extension__ using Wide = unsigned __int128;
  const auto dynamic = static_cast<std::uint64_t>(Wide{shared - used} * buffers.alpha / 1000);
  return std::max(reserved, dynamic);
}

/// A packet has been queued: counts it, and pauses the link it came by if that is too much.
void PacketNetwork::hold(sim::EventQueue& events, sim::SimTime now, const Entry& entry) {
  Lane& in = lane_of(entry.from);
  const topology::VertexId at = info(entry.from).to;
  Buffer& buffer = buffers_[at];
  buffer.used += entry.bytes;
  in.held += entry.bytes;
  if (config_.options.flow_control != FlowControl::pfc || in.pausing || in.held <= pause_threshold(at)) return;
  advance_all(events, now, at);
  if (in.held <= pause_threshold(at)) {
    LOCO_PROBE(pause_not_needed_after_all);
    return;
  }
  in.pausing = true;
  if (++buffer.pausing == 1) {
    // From now on resumes depend on departures.
    for (const topology::LinkId link : wiring_->graph.ports(at)) arm_departure(events, now, link);
  }
  send_pause(events, now, entry.from, true);
}

/// A packet leaves its switch: resumes the links for which there is room again.
void PacketNetwork::release(sim::EventQueue& events, sim::SimTime now, const Entry& entry) {
  const topology::VertexId at = info(entry.from).to;
  Buffer& buffer = buffers_[at];
  buffer.used -= entry.bytes;
  lane_of(entry.from).held -= entry.bytes;
  if (buffer.pausing == 0) return;
  const std::uint64_t threshold = pause_threshold(at);
  const std::uint64_t gap = config_.options.pfc_xon_gap.count;
  for (const topology::LinkId out : wiring_->graph.ports(at)) {
    const topology::LinkId link = topology::opposite(out);
    Lane& lane = lane_of(link);
    // An empty ingress port is always resumed: no departure would ever bring it up again.
    if (!lane.pausing || (lane.held != 0 && lane.held + gap > threshold)) continue;
    lane.pausing = false;
    --buffer.pausing;
    send_pause(events, now, link, false);
  }
}

/// Tells the port that feeds `link` to stop or to go on. The frame is sent in front of all queued packets, but not
/// inside of one.
void PacketNetwork::send_pause(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, bool stop,
                               std::uint8_t classes) {
  const topology::LinkId carrier = topology::opposite(link);
  advance(events, carrier, now);
  Lane& lane = lane_of(carrier);
  const sim::Duration time{info(carrier).time(kPauseBytes)};
  lane.free = std::max(lane.free, now) + time;
  lane.counters.busy += time;
  if (config_.tap != nullptr) config_.tap->on_pause(carrier, lane.free - time, classes, stop);
  const Pause pause{lane.free + wiring_->graph.link(carrier).spec.delay, stop, classes};
  if (stop) {
    LOCO_PROBE(link_paused);
    ++lane_of(link).counters.pauses;
  }
  if (lane.leaves) {
    crossings_.push_back({.at = pause.at,
                          .link = carrier,
                          .changes = static_cast<std::uint32_t>(next_change_),
                          .is_pause = true,
                          .pause = pause});
    return;
  }
  lane.pauses.push_back(pause);
  if (lane.pauses.size() > 1) return;
  lane.control = push_pause(events, pause.at, carrier);
}

void PacketNetwork::pause_arrives(sim::EventQueue& events, sim::SimTime now, topology::LinkId carrier) {
  Lane& lane = lane_of(carrier);
  const Pause pause = lane.pauses.front();
  lane.pauses.pop_front();
  if (!lane.pauses.empty()) {
    LOCO_PROBE(two_pause_frames_on_a_link);
    const sim::SimTime at = std::max(now, lane.pauses.front().at);
    lane.control = push_pause(events, at, carrier);
  }
  const topology::LinkId link = topology::opposite(carrier);
  if (classed_) return pause_classes(events, now, link, pause);
  advance(events, link, now);
  if (!pause.stop) return resume(events, now, link);
  lane_of(link).paused = true;
  lane_of(link).paused_since = now;
}

void PacketNetwork::resume(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  Lane& lane = lane_of(link);
  if (!lane.paused) return;
  const LinkInfo& i = info(link);
  lane.paused = false;
  lane.due = now;
  lane.counters.paused += now - lane.paused_since;
  lane.free = std::max(lane.free, now);
  lane.planned = lane.free + sim::transmission_time({lane.queued}, i.rate);
  arm(events, now, config_.nodes + link);
  if (buffers_[i.from].pausing != 0) arm_departure(events, now, link);
  if (!lane.awaited) return;
  lane.awaited = false;
  events.push({.at = now, .what = kEventResumed, .where = i.from});
}

void PacketNetwork::pause_host(sim::EventQueue& events, sim::SimTime now, PortId host, bool stop) {
  if (!wiring_) return;
  std::uint8_t classes = 0xff;
  if (!storms_.empty()) {
    pausing_hosts_[host.index()] = stop;
    classes = static_cast<std::uint8_t>(classes & ~storms_[host.index()]);
  }
  pause_links(events, now, host.index(), stop, classes);
}

/// Without classes, any of them stands for all.
void PacketNetwork::pause_links(sim::EventQueue& events, sim::SimTime now, NodeId host, bool stop,
                                std::uint8_t classes) {
  if (classes == 0) return;
  for (const topology::LinkId out : wiring_->graph.ports(host)) {
    const topology::LinkId in = topology::opposite(out);
    if (!lane_of(in).down) send_pause(events, now, in, stop, classed_ ? classes : 1);
  }
}

/// The NIC of a host begins, or ceases, to pause whatever it is sent.
void PacketNetwork::storm(sim::EventQueue& events, sim::SimTime now, const PauseStorm& storm, bool stop) {
  if (storms_.empty()) {
    storms_.resize(config_.nodes);
    pausing_hosts_.resize(config_.nodes);
  }
  std::uint8_t& own = storms_[storm.host];
  if (stop) {
    LOCO_PROBE(pause_storm);
    own = static_cast<std::uint8_t>(own | storm.classes);
    if (storm.until != sim::SimTime::max())
      events.push({.at = storm.until,
                   .what = kEventStorm,
                   .where = static_cast<std::uint32_t>(&storm - config_.storms.data()),
                   .a = 1});
  } else {
    own = static_cast<std::uint8_t>(own & ~storm.classes);
    if (pausing_hosts_[storm.host]) {
      LOCO_PROBE(storm_ends_at_a_full_host);
      return;
    }
  }
  pause_links(events, now, storm.host, stop, storm.classes);
}

std::uint64_t PacketNetwork::host_headroom(PortId host) const {
  std::uint64_t bytes = 0;
  if (!wiring_) return bytes;
  for (const topology::LinkId out : wiring_->graph.ports(host.index())) bytes += info(topology::opposite(out)).headroom;
  return bytes;
}

bool PacketNetwork::paused(PortId port, PortId destination, std::uint32_t traffic_class) const {
  if (!wiring_) return false;
  const NodeId host = port.index();
  const NodeId to = destination.index();
  if (classed_) {
    const auto ports = wiring_->graph.ports(host);
    return std::any_of(ports.begin(), ports.end(), [&](auto link) { return class_is_full(link, traffic_class); });
  }
  if (const topology::LinkId only = wiring_->host_link[host]; only != kNone) return lane_of(only).paused;
  if (has_planes() && to < config_.nodes) {
    const std::span<const topology::PortId> ports = ports_to(host, to);
    return !ports.empty() && lane_of(first_free(host, ports)).paused;
  }
  const auto ports = wiring_->graph.ports(host);
  return std::any_of(ports.begin(), ports.end(), [&](topology::LinkId link) { return lane_of(link).paused; });
}

void PacketNetwork::await_resume(PortId host) {
  for (const topology::LinkId link : wiring_->graph.ports(host.index())) {
    if (classed_ || lane_of(link).paused) lane_of(link).awaited = true;
  }
}

}  // namespace loco::fabric
