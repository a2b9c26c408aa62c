#include "fabric/packet_network.hpp"

#include <algorithm>

#include "fabric/tap.hpp"
#include "fabric/variation.hpp"
#include "probe/probe.hpp"
#include "sim/prefetch.hpp"
#include "sim/rng.hpp"

namespace loco::fabric {

namespace {
constexpr std::size_t kManyPackets = 256;  // so many do not stay in the simulating machine's cache
constexpr std::size_t kCacheLine = 64;

/// 0 for 0: the hash by itself.
std::uint64_t hash_seed(std::uint64_t seed) { return seed == 0 ? 0 : sim::splitmix64(seed); }
}  // namespace

// Lanes: [0, n) each host's loopback; then one for each link of the graph; for an ideal network from n on two lanes a
// queue pair, requests and responses.
PacketNetwork::PacketNetwork(const Config& config)
    : Network(config, config.packets.mtu), stream_(config.seed, "fabric") {
  writes_ = config.writes_telemetry();
  signals_ = config.options.ecn || writes_ || config.classed();
  overflows_ = config.buffers_overflow();
  lanes_.resize(config.nodes);
  if (config.topology == Topology::ideal) return;
  wiring_ = Shared<Wiring>(make_wiring(config));
  routes_ = Shared<topology::Routes>(topology::Routes(wiring_->graph));
  lanes_.resize(config.nodes + wiring_->links.size());
  classed_ = config.classed();
  if (classed_) {
    class_options_ = config.all_classes();
    headers_have_class_ =
        std::ranges::find(config.classes, config.options.trim_class, &TrafficClass::id) != config.classes.end();
    class_ports_.resize(wiring_->links.size());
  }
  buffers_.resize(wiring_->graph.vertices(), {.used = 0, .pausing = config.eager ? 1U : 0U});
  if (config.share.ranked) divide();
}

void PacketNetwork::add_queue_pair(QpId qp) {
  if (config().topology != Topology::ideal) return;
  lanes_.resize(std::max(lanes_.size(), std::size_t{config().nodes} + 2 * (std::size_t{qp} + 1)));
}

void PacketNetwork::start(sim::EventQueue& events) {
  if (!wiring_) return;
  for (std::uint32_t i = 0; i < config_.storms.size(); ++i)
    if (config_.share.has(config_.storms[i].host))
      events.push({.at = config_.storms[i].from, .what = kEventStorm, .where = i});
  if (!wiring_->changes.empty()) events.push({.at = wiring_->changes.front().at, .what = kEventLink});
}

// --- in and out ------------------------------------------------------------------------------------------------------

sim::SimTime PacketNetwork::send(sim::EventQueue& events, sim::SimTime now, sim::Duration latency,
                                 const Packet& packet) {
  ++packets_sent_;
  const bool loopback = packet.source == packet.destination;
  if (loopback || config_.topology == Topology::ideal) {
    pass(events, config_.topology == Topology::ideal ? own_lane(packet) : packet.source.index(),
         now + latency +
             (loopback ? config_.loopback_of(packet.source.index())
                       : config_.link_delay + config_.delivery_to(packet.destination.index())),
         packet);
    return now;
  }
  Entry entry{.at = now + latency, .bytes = packet.wire, .destination = packet.destination.index()};
  if (config_.options.routing != Routing::deterministic) {
    entry.flow = topology::flow_hash(packet.source.index(), packet.destination.index(),
                                     packet.source_qp | std::uint64_t{packet.entropy} << 32U) ^
                 hash_seed(config_.options.ecmp_seed);
  }
  entry.packet = packets_.acquire();
  packets_[entry.packet] = packet;
  topology::LinkId out = wiring_->host_link[packet.source.index()];
  const bool planes = out == kNone && has_planes();
  if (out == kNone) out = choose(events, now, packet.source.index(), entry);
  if (out == kNone) {
    lose(entry, LossReason::no_route, out);
    return now;
  }
  Lane& lane = lane_of(out);
  lane.planned = std::max(lane.planned, entry.at) + sim::Duration{info(out).time(entry.bytes)};
  if (lane.down) {  // the port sends it all the same
    lose(entry, LossReason::link_down, out);
  } else if (classed_) {
    lane.planned = now + latency;  // paused() says when not
    enqueue_class(events, now, out, entry);
  } else {
    enqueue(events, now, out, entry);
  }
  if (!planes) return lane.planned - latency;
  const NodeId from = packet.source.index();
  return lane_of(first_free(from, ports_to(from, packet.destination.index()))).planned - latency;
}

/// Onto a lane that is no link: all it does is keep the order.
void PacketNetwork::pass(sim::EventQueue& events, std::uint32_t lane, sim::SimTime arrival, const Packet& packet) {
  const std::uint32_t slot = packets_.acquire();
  packets_[slot] = packet;
  Lane& l = lanes_[lane];
  l.entries.push_back({.at = arrival, .packet = slot, .bytes = packet.wire, .destination = packet.destination.index()});
  ++l.started;
  arm(events, arrival, lane);
}

std::optional<Packet> PacketNetwork::handle(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) {
  if (event.what == kEventLane) return arrive(events, now, event.where);
  if (event.what == kEventHeaders) return headers_arrive(events, now, event.where - config_.nodes);
  change(events, now, event);
  return std::nullopt;
}

/// What is no arrival.
void PacketNetwork::change(sim::EventQueue& events, sim::SimTime now, const sim::Event& event) {
  const topology::LinkId link = event.where - config_.nodes;
  switch (event.what) {
    case kEventDepart:
      if (classed_) return depart(events, now, link);
      lane_of(link).departing = false;
      advance(events, link, now);
      if (buffers_[info(link).from].pausing != 0) arm_departure(events, now, link);
      break;
    case kEventPause:
      pause_arrives(events, now, link);
      break;
    case kEventLink:
      no_step_ = config_.share.part != 0;  // one for all parts
      change_link(events, now);
      break;
    case kEventReroute:
      no_step_ = config_.share.part != 0;
      reroute();
      break;
    case kEventWatch:
      look_at(events, now, link);
      break;
    case kEventStorm:
      storm(events, now, config_.storms[event.where], event.a == 0);
      break;
    default:
      break;
  }
}

Packet PacketNetwork::take(std::uint32_t packet) {
  packets_.release(packet);
  return packets_[packet];
}

void PacketNetwork::lose(const Entry& entry, LossReason reason, topology::LinkId link) {
  ++packets_lost_[static_cast<std::size_t>(reason)];
  if (link != kNone) ++lane_of(link).counters.drops;
  const Packet packet = take(entry.packet);
  drop_telemetry(packet);
  lost_.push_back({packet, reason, link});
}

std::optional<Lost> PacketNetwork::take_lost() {
  if (lost_.empty()) return std::nullopt;
  const Lost lost = lost_.front();
  lost_.pop_front();
  return lost;
}

// --- lanes -----------------------------------------------------------------------------------------------------------

/// The head of a lane is due: delivers it, or gives it to the next port.
std::optional<Packet> PacketNetwork::arrive(sim::EventQueue& events, sim::SimTime now, std::uint32_t index) {
  Lane& lane = lanes_[index];
  lane.armed = false;
  const topology::LinkId link = index - config_.nodes;
  const bool is_link = this->is_link(index);
  if (is_link) advance(events, link, now);
  if (lane.leaves) [[unlikely]] {
    no_step_ = true;
    leave(index);
    arm(events, now, index);
    return std::nullopt;
  }
  if (lane.started == 0 || lane.entries.front().at > now) {  // held up by a pause
    LOCO_PROBE(arrival_held_up_by_a_pause);
    no_step_ = ranked_;
    arm(events, now, index);
    return std::nullopt;
  }
  const Entry entry = lane.entries.front();
  lane.entries.pop_front();
  --lane.started;
  const bool goes_on = is_link && info(link).to_switch;
  const bool fixed = goes_on && has_fixed_ports();
  topology::LinkId out = kNone;
  if (fixed) {  // its state can be fetched meanwhile
    out = choose(events, now, info(link).to, entry);
    if (out != kNone) sim::prefetch(&lane_of(out), 2 * kCacheLine);
  }
  arm(events, now, index);
  if (is_link) {
    const LinkInfo& in = info(link);
    sim::SimTime came = now;
    if (in.varies) came = now - taken_after(link, lane_number(link) - lane.started - 1, entry.bytes);
    if (in.loss != 0 && stream_of(in.to).chance(in.loss, 1'000'000)) {
      LOCO_PROBE(packet_lost_on_a_link);
      lose(entry, LossReason::link_error, link);
      return std::nullopt;
    }
    if (links_will_change() && cut_off(came, link, entry.bytes)) {
      lose(entry, LossReason::link_down, link);
      return std::nullopt;
    }
    if (goes_on) {
      forward(events, now, came, {link, fixed ? out : choose(events, now, in.to, entry)}, entry);
      return std::nullopt;
    }
  }
  ++packets_delivered_;
  bytes_delivered_ += entry.bytes;
  return take(entry.packet);
}

/// How long after it could, the link's far end takes the packet of this number (variation.hpp).
[[gnu::noinline]] sim::Duration PacketNetwork::taken_after(topology::LinkId link, std::uint64_t number,
                                                           std::uint32_t bytes) const {
  const LinkInfo& to = info(link);
  if (!to.to_switch) return {halving(wiring_->variation, link, number, to.jitter_ps)};
  return {moment(wiring_->variation, link, number, to.time(bytes))};
}

/// A packet that `came` to a switch is taken into it now.
void PacketNetwork::forward(sim::EventQueue& events, sim::SimTime now, sim::SimTime came, Hop hop, Entry entry) {
  const auto [in, out] = hop;
  const LinkInfo& from = info(in);
  if (out == kNone) {
    LOCO_PROBE(no_route);
    return lose(entry, LossReason::no_route, kNone);
  }
  if (lane_of(out).down) {
    LOCO_PROBE(next_link_is_down);
    return lose(entry, LossReason::link_down, out);
  }
  const LinkInfo& to = info(out);
  entry.at = std::max(now, came + config_.switch_latency);
  if (from.cut_through && from.rate != to.rate) {
    // Its last byte may not leave before it has come.
    const std::int64_t behind = from.time(entry.bytes) - from.headers_ps - to.time(entry.bytes);
    if (behind > 0) entry.at += sim::Duration{behind};
  }
  if (signals_ && classed_) return forward_class(events, now, {in, out}, entry);
  const bool bounded = config_.options.flow_control != FlowControl::unlimited;
  entry.from = bounded ? in : kNone;
  advance(events, out, now);
  if (bounded && !admit(events, now, out, entry)) {
    if (config_.options.trim && trims(entry)) return trim(events, now, out, entry);
    LOCO_PROBE(buffer_full);
    return lose(entry, LossReason::buffer_full, out);
  }
  if (signals_) {
    if (config_.options.ecn) mark(out, entry);
    if (writes_) entry.bytes += telemetry_grows(entry);
  }
  enqueue(events, now, out, entry);
  if (bounded) hold(events, now, entry);
}

void PacketNetwork::enqueue(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, const Entry& entry) {
  Lane& lane = lane_of(out);
  const LinkInfo& link = info(out);
  // What is behind another packet is not ready before it.
  const bool behind = lane.started != lane.entries.size();
  const sim::SimTime ready = behind ? std::max(entry.at, lane.entries.back().at) : entry.at;
  lane.due = behind ? std::min(lane.due, ready) : ready;
  lane.entries.push_back(entry).at = ready;
  lane.queued += entry.bytes;
  arm(events, now, config_.nodes + out);
  if (buffers_[link.from].pausing != 0) arm_departure(events, now, out);
}

/// What is ready by `now` waits in the port's queue, which is longest before something leaves it.
void PacketNetwork::join_queue(Lane& lane, sim::SimTime now) {
  std::size_t i = lane.started + lane.joined;
  for (; i < lane.entries.size() && lane.entries[i].at <= now; ++i) lane.waiting += lane.entries[i].bytes;
  lane.joined = static_cast<std::uint32_t>(i - lane.started);
}

/// Starts what would have started by now. Precondition: something has not started.
void PacketNetwork::advance_queue(sim::EventQueue& events, topology::LinkId id, sim::SimTime now) {
  Lane& lane = lane_of(id);
  const LinkInfo& link = info(id);
  while (!lane.paused) {
    Entry& entry = lane.entries[lane.started];
    const sim::SimTime start = std::max(entry.at, lane.free);
    if (start > now) break;
    if (start > entry.at || lane.joined != 0) {
      join_queue(lane, start);
      if (start > entry.at) lane.counters.queue_max = std::max(lane.counters.queue_max, lane.waiting);
      lane.waiting -= entry.bytes;
      --lane.joined;
    }
    const sim::Duration time{link.time(entry.bytes)};
    lane.free = start + time;
    entry.at = start + link.crossing(entry.bytes, time);
    if (link.watched) {
      if (link.varies) entry.at += taken_after(id, lane_number(id), entry.bytes);
      if (writes_) report(lane, link, start, entry);
      if (config_.tap != nullptr) config_.tap->on_packet(id, start, packets_[entry.packet]);
    }
    lane.queued -= entry.bytes;
    ++lane.started;
    ++lane.counters.packets;
    lane.counters.bytes += entry.bytes;
    lane.counters.busy += time;
    if (entry.from != kNone) release(events, start, entry);  // last: it may come back here
    if (lane.started == lane.entries.size()) return;
  }
  join_queue(lane, now);
  lane.counters.queue_max = std::max(lane.counters.queue_max, lane.waiting);
  const std::size_t next = lane.started + lane.joined;
  lane.due = next < lane.entries.size() ? lane.entries[next].at : sim::SimTime::max();
  if (!lane.paused) lane.due = std::min(lane.due, std::max(lane.entries[lane.started].at, lane.free));
}

/// Sees to it that the arrival of a lane's head is pending.
void PacketNetwork::arm(sim::EventQueue& events, sim::SimTime now, std::uint32_t index) {
  Lane& lane = lanes_[index];
  if (lane.armed || lane.entries.empty()) return;
  const Entry& head = lane.entries.front();
  sim::SimTime at = head.at;
  if (lane.started == 0) {
    if (lane.paused) return;
    const LinkInfo& link = info(index - config_.nodes);
    at = std::max(at, lane.free);
    if (!lane.leaves) [[likely]] {
      at += link.crossing(head.bytes, sim::Duration{link.time(head.bytes)});
      if (link.varies) at += taken_after(index - config_.nodes, lane_number(index - config_.nodes), head.bytes);
    }
  }
  if (packets_.in_use() > kManyPackets) {
    // By then what is needed may have left the simulating machine's cache: queues can be long, packets lie anywhere.
    sim::prefetch(&lane.entries[lane.started + 2], 1);
    if (delivers(index)) sim::prefetch(&packets_[head.packet], sizeof(Packet));
  }
  lane.armed = true;
  if (ranked_) [[unlikely]] {
    lane.arrival = push_arrival(events, std::max(now, at), index);
    return;
  }
  lane.arrival = events.push({.at = std::max(now, at), .what = kEventLane, .where = index});
}

/// Sees to it that the next departure of a link's port is pending.
void PacketNetwork::arm_departure(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  Lane& lane = lane_of(link);
  if (lane.departing || lane.paused || lane.started == lane.entries.size()) return;
  lane.departing = true;
  const sim::SimTime at = std::max({now, lane.entries[lane.started].at, lane.free});
  events.push({.at = at, .what = kEventDepart, .where = config_.nodes + link});
}

PacketNetwork::Look PacketNetwork::look(topology::LinkId link, sim::SimTime now) const {
  const Lane& lane = lane_of(link);
  Look out{.queued = lane.waiting, .busy = lane.counters.busy};
  sim::SimTime free = lane.free;
  const std::size_t joined = lane.started + lane.joined;
  std::size_t i = lane.started;
  for (; i < lane.entries.size() && !lane.paused; ++i) {
    const sim::SimTime start = std::max(lane.entries[i].at, free);
    if (start > now) break;
    const sim::Duration time{info(link).time(lane.entries[i].bytes)};
    free = start + time;
    out.busy += time;
    if (i < joined) out.queued -= lane.entries[i].bytes;
  }
  for (i = std::max(i, joined); i < lane.entries.size() && lane.entries[i].at <= now; ++i) {
    out.queued += lane.entries[i].bytes;
  }
  if (classed_) out.queued = waiting_classes(link, now);
  if (free > now) out.busy = out.busy - (free - now);  // the packet that is being sent
  return out;
}

sim::BitsPerSecond PacketNetwork::port_rate(PortId host) const {
  if (!wiring_) return config_.link_rate;
  sim::BitsPerSecond most{};
  for (const topology::LinkId link : wiring_->graph.ports(host.index())) {
    const std::uint64_t rate = wiring_->graph.link(link).spec.rate.value;
    most.value = has_planes() ? most.value + rate : std::max(most.value, rate);
  }
  return most;
}

std::vector<topology::LinkId> PacketNetwork::paused_links() const {
  std::vector<topology::LinkId> paused;
  for (topology::LinkId link = 0; link < links(); ++link) {
    const bool some = classed_ && class_ports_[link].paused != 0;
    if (some || lane_of(link).paused) paused.push_back(link);
  }
  return paused;
}

std::vector<topology::LinkId> PacketNetwork::waits_for(topology::LinkId link) const {
  std::vector<topology::LinkId> links;
  const auto is_paused = [this](topology::LinkId l) {
    return lane_of(l).paused || (classed_ && class_ports_[l].paused != 0);
  };
  if (!is_paused(link) || !info(link).to_switch) return links;
  for (const topology::LinkId out : wiring_->graph.ports(info(link).to)) {
    const Lane& lane = lane_of(out);
    bool holds = false;
    for (std::size_t i = lane.started; lane.paused && !holds && i < lane.entries.size(); ++i) {
      holds = lane.entries[i].from == link;
    }
    for (std::uint32_t c = 0; classed_ && !holds && c < kClasses; ++c) {
      const sim::Ring<Entry>& queue = class_ports_[out].queues[c].entries;
      const bool stands = (std::uint32_t{held_back(class_ports_[out])} >> c & 1U) != 0;
      for (std::size_t i = 0; stands && !holds && i < queue.size(); ++i) holds = queue[i].from == link;
    }
    if (holds) links.push_back(out);
  }
  return links;
}

}  // namespace loco::fabric
