// Fabric: traffic classes (docs/fabric.md, "Classes"). Strict ones in the order of their numbers, highest first; then
// deficit round robin (Shreedhar, Varghese, SIGCOMM 1995), quantum weight * largest packet; a packet that has begun is
// finished. PFC by link and class (IEEE 802.1Qbb), ECN by class.
#include <algorithm>

#include "fabric/packet_network.hpp"
#include "fabric/tap.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

namespace {
constexpr std::uint8_t bit(std::uint32_t c) { return static_cast<std::uint8_t>(1U << c); }
constexpr std::size_t kAhead = 2;  // packets of a class that a NIC gives its port
}  // namespace

std::uint32_t PacketNetwork::class_of(const Entry& entry) const { return packets_[entry.packet].traffic_class; }

/// Onto a port.
void PacketNetwork::enqueue_class(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry) {
  ClassQueue& queue = class_ports_[out].queues[class_of(entry)];
  const bool first = queue.entries.empty();
  const sim::SimTime ready = first ? entry.at : std::max(entry.at, queue.entries.back().at);
  queue.entries.push_back(entry).at = ready;
  lane_of(out).queued += entry.bytes;
  arm_class_departure(events, now, out);
  if (!first || !has_watchdog(out)) return;
  queue.stalled = now;
  queue.open = {};
  watch(events, now, out);
}

/// What is ready by `now` waits.
void PacketNetwork::join_class(ClassQueue& queue, sim::SimTime now) {
  while (queue.joined < queue.entries.size() && queue.entries[queue.joined].at <= now) {
    queue.waiting += queue.entries[queue.joined++].bytes;
  }
}

/// Sees to it that the port's next departure is pending, at the right time.
void PacketNetwork::arm_class_departure(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  Lane& lane = lane_of(link);
  ClassPort& port = class_ports_[link];
  sim::SimTime ready = sim::SimTime::max();
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    const ClassQueue& queue = port.queues[c];
    if (!queue.entries.empty() && (held_back(port) & bit(c)) == 0) ready = std::min(ready, queue.entries.front().at);
  }
  if (ready == sim::SimTime::max()) return;
  const sim::SimTime at = std::max({now, ready, lane.free});
  if (lane.departing && port.departs <= at) return;
  if (lane.departing) events.cancel(port.departure);
  lane.departing = true;
  port.departs = at;
  port.departure = events.push({.at = at, .what = kEventDepart, .where = config_.nodes + link});
}

/// The class whose packet leaves now; kClasses: none is ready.
std::uint32_t PacketNetwork::next_class(ClassPort& port, sim::SimTime now) const {
  const auto ready = [&](std::uint32_t c) {
    const ClassQueue& queue = port.queues[c];
    return !queue.entries.empty() && queue.entries.front().at <= now && (held_back(port) & bit(c)) == 0;
  };
  for (std::uint32_t c = kClasses; c-- > 0;)
    if (class_options_[c].strict && ready(c)) {
      LOCO_PROBE(strict_class_first);
      return c;
    }
  for (std::uint32_t tries = 0; tries <= kClasses; ++tries) {
    const std::uint32_t c = port.turn;
    ClassQueue& queue = port.queues[c];
    if (!class_options_[c].strict && ready(c)) {
      if (!std::exchange(port.begun, true)) queue.deficit += class_options_[c].weight * config_.packet_max.count;
      if (queue.entries.front().bytes <= queue.deficit) return c;
    }
    if (queue.entries.empty()) queue.deficit = 0;
    port.turn = static_cast<std::uint8_t>((c + 1) % kClasses);
    port.begun = false;
  }
  return kClasses;
}

/// kEventDepart
void PacketNetwork::depart(sim::EventQueue& events, sim::SimTime now, topology::LinkId id) {
  Lane& lane = lane_of(id);
  ClassPort& port = class_ports_[id];
  const LinkInfo& link = info(id);
  lane.departing = false;
  const std::uint32_t c = lane.free > now ? kClasses : next_class(port, now);
  if (c == kClasses) return arm_class_departure(events, now, id);
  ClassQueue& queue = port.queues[c];
  std::uint64_t waiting = 0;
  for (ClassQueue& q : port.queues) {
    join_class(q, now);
    waiting += q.waiting;
  }
  Entry entry = queue.entries.front();
  if (now > entry.at) lane.counters.queue_max = std::max(lane.counters.queue_max, waiting);
  queue.entries.pop_front();
  --queue.joined;
  queue.waiting -= entry.bytes;
  queue.stalled = now;
  queue.open = {};
  if (!class_options_[c].strict) queue.deficit -= entry.bytes;
  const sim::Duration time{link.time(entry.bytes)};
  lane.free = now + time;
  const sim::SimTime begins = now;
  lane.waiting = waiting - entry.bytes;  // for telemetry, and whoever looks
  const Entry begun = entry;
  entry.at = now + link.crossing(entry.bytes, time);
  if (link.watched) {
    if (link.varies) entry.at += taken_after(id, lane_number(id), entry.bytes);
    if (writes_) report(lane, link, begins, entry);
    if (config_.tap != nullptr) config_.tap->on_packet(id, begins, packets_[entry.packet]);
  }
  if (!lane.entries.empty()) entry.at = std::max(entry.at, lane.entries.back().at);
  lane.entries.push_back(entry);
  ++lane.started;
  lane.queued -= entry.bytes;
  ++lane.counters.packets;
  lane.counters.bytes += entry.bytes;
  lane.counters.busy += time;
  if (begun.from != kNone) release_class(events, now, begun, c);
  if (lane.leaves) [[unlikely]]
    leave(config_.nodes + id);
  arm(events, now, config_.nodes + id);
  arm_class_departure(events, now, id);
  if (lane.awaited) {
    lane.awaited = false;
    events.push({.at = now, .what = kEventResumed, .where = link.from});
  }
}

/// Through a switch, as forward() without classes.
void PacketNetwork::forward_class(sim::EventQueue& events, sim::SimTime now, Hop hop, Entry entry) {
  const std::uint32_t c = class_of(entry);
  const topology::LinkId out = hop.out;
  const TrafficClass& options = class_options_[c];
  const bool bounded = options.buffers->flow_control != FlowControl::unlimited;
  entry.from = bounded ? hop.in : kNone;
  join_class(class_ports_[out].queues[c], now);
  if (drops(out, c)) {
    LOCO_PROBE(packet_for_a_queue_given_up);
    return lose(entry, LossReason::watchdog, out);
  }
  if (bounded && overflows_ && !class_fits(info(out).from, out, c, entry.bytes)) {
    if (config_.options.trim && trims(entry)) return trim(events, now, out, entry);
    LOCO_PROBE(buffer_of_a_class_full);
    return lose(entry, LossReason::buffer_full, out);
  }
  if (options.ecn)
    mark_above(out, entry, class_ports_[out].queues[c].waiting, options.ecn_kmin.count, options.ecn_kmax.count,
               options.ecn_pmax);
  if (writes_) entry.bytes += telemetry_grows(entry);
  enqueue_class(events, now, out, entry);
  if (bounded) hold_class(events, now, entry, c);
}

bool PacketNetwork::class_fits(topology::VertexId at, topology::LinkId out, std::uint32_t c,
                               std::uint32_t bytes) const {
  const std::uint64_t used = buffers_[at].used;
  const ClassBuffers& buffers = *class_options_[c].buffers;
  if (buffers.flow_control == FlowControl::pfc) return used + bytes <= config_.options.buffer_size.count;
  // What is kept for lossless classes is theirs.
  const std::uint64_t shared = wiring_->shared[at];
  if (used + bytes > shared) return false;
  __extension__ using Wide = unsigned __int128;
  return Wide{class_ports_[out].queues[c].waiting + bytes} * 1000 <= Wide{shared - used} * buffers.alpha;
}

void PacketNetwork::hold_class(sim::EventQueue& events, sim::SimTime now, const Entry& entry, std::uint32_t c) {
  ClassPort& in = class_ports_[entry.from];
  const topology::VertexId at = info(entry.from).to;
  buffers_[at].used += entry.bytes;
  in.queues[c].held += entry.bytes;
  const ClassBuffers& buffers = *class_options_[c].buffers;
  const bool pfc = buffers.flow_control == FlowControl::pfc;
  if (!pfc || (in.pausing & bit(c)) != 0 || in.queues[c].held <= pause_threshold(at, buffers)) return;
  LOCO_PROBE(class_paused);
  in.pausing = static_cast<std::uint8_t>(in.pausing | bit(c));
  send_pause(events, now, entry.from, true, bit(c));
}

/// A packet leaves its switch: goes on with the links and classes for which there is room again.
void PacketNetwork::release_class(sim::EventQueue& events, sim::SimTime now, const Entry& entry, std::uint32_t c) {
  const topology::VertexId at = info(entry.from).to;
  buffers_[at].used -= entry.bytes;
  class_ports_[entry.from].queues[c].held -= entry.bytes;
  for (const topology::LinkId out : wiring_->graph.ports(at)) {
    const topology::LinkId link = topology::opposite(out);
    ClassPort& port = class_ports_[link];
    for (std::uint32_t k = 0; port.pausing != 0 && k < kClasses; ++k) {
      if ((port.pausing & bit(k)) == 0) continue;
      const std::uint64_t held = port.queues[k].held;
      const ClassBuffers& buffers = *class_options_[k].buffers;
      if (held != 0 && held + buffers.xon_gap.count > pause_threshold(at, buffers)) continue;
      port.pausing = static_cast<std::uint8_t>(port.pausing & ~bit(k));
      send_pause(events, now, link, false, bit(k));
    }
  }
}

/// A pause frame has come for `link`.
void PacketNetwork::pause_classes(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, Pause pause) {
  ClassPort& port = class_ports_[link];
  Lane& lane = lane_of(link);
  const std::uint8_t before = port.paused;
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    const bool was = (port.paused & bit(c)) != 0;
    if ((pause.classes & bit(c)) == 0 || was == pause.stop) continue;
    port.paused = static_cast<std::uint8_t>(port.paused ^ bit(c));
    ClassQueue& queue = port.queues[c];
    if (pause.stop) {
      // Open for longer than a watchdog overlooks: it begins to look anew.
      queue.open += now - std::max(queue.resumed, std::min(queue.stalled, now));
      if (queue.open * std::int64_t{100} > config_.options.watchdog.detect) {
        LOCO_PROBE(watchdog_looks_anew);
        queue.stalled = now;
        queue.open = {};
      }
    } else {
      queue.resumed = now;
    }
  }
  // The link's time is that in which it was paused for some class.
  if (before == 0 && port.paused != 0) lane.paused_since = now;
  if (before != 0 && port.paused == 0) lane.counters.paused += now - lane.paused_since;
  if (has_watchdog(link)) watch(events, now, link);
  if (pause.stop) return;
  arm_class_departure(events, now, link);
  if (!lane.awaited) return;
  lane.awaited = false;
  events.push({.at = now, .what = kEventResumed, .where = info(link).from});
}

std::uint64_t PacketNetwork::waiting_classes(topology::LinkId link, sim::SimTime now) const {
  std::uint64_t bytes = 0;
  for (const ClassQueue& queue : class_ports_[link].queues) {
    bytes += queue.waiting;
    for (std::size_t i = queue.joined; i < queue.entries.size() && queue.entries[i].at <= now; ++i)
      bytes += queue.entries[i].bytes;
  }
  return bytes;
}

/// May a NIC give the port nothing more of this class?
bool PacketNetwork::class_is_full(topology::LinkId link, std::uint32_t c) const {
  return (class_ports_[link].paused & bit(c)) != 0 || class_ports_[link].queues[c].entries.size() >= kAhead;
}

/// A link fails.
void PacketNetwork::lose_classes(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  ClassPort& port = class_ports_[link];
  if (lane_of(link).departing) events.cancel(port.departure);
  lane_of(link).departing = false;
  for (std::uint32_t c = 0; c < kClasses; ++c) lose_queue(events, now, link, c, LossReason::link_down);
  port.pausing = port.given_up = 0;
  pause_classes(events, now, link, {.stop = false, .classes = 0xff});
}

void PacketNetwork::lose_queue(sim::EventQueue& events, sim::SimTime now, topology::LinkId link, std::uint32_t c,
                               LossReason reason) {
  ClassQueue& queue = class_ports_[link].queues[c];
  queue.joined = 0;
  queue.waiting = queue.deficit = 0;
  while (!queue.entries.empty()) {
    const Entry entry = queue.entries.front();
    queue.entries.pop_front();
    lane_of(link).queued -= entry.bytes;
    lose(entry, reason, link);
    if (entry.from != kNone) release_class(events, now, entry, c);
  }
}

}  // namespace loco::fabric
