// Fabric: a network that simulates a part of a graph, and how graphs are parted.
#include "fabric/share.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "fabric/packet_network.hpp"
#include "fabric/wiring.hpp"

namespace loco::fabric {

std::string_view not_parted_because(const Config& c) {
  if (c.model != Model::packet) return "the flow model shares links among flows of all hosts";
  if (c.topology == Topology::ideal) return "hardware without a network has no cables whose delay parts could use";
  return {};
}

namespace {

/// Hosts of one first switch go together, in their order, and fill one part after the other.
std::vector<std::uint8_t> parts_of_hosts(const topology::Topology& graph, std::uint32_t parts) {
  constexpr std::uint8_t kNobody = 0xff;
  std::vector<std::uint8_t> part_of(graph.vertices(), kNobody);
  std::uint32_t placed = 0;
  for (topology::VertexId host = 0; host < graph.hosts(); ++host) {
    const topology::VertexId first = graph.link(graph.ports(host).front()).to;
    const auto part = static_cast<std::uint8_t>(std::uint64_t{placed++} * parts / graph.hosts());
    const bool alone = graph.is_host(first);
    if (!alone && part_of[first] == kNobody) part_of[first] = part;
    part_of[host] = alone ? part : part_of[first];
  }
  return part_of;
}

/// Machines fill one part after the other, in their order, each with all its NICs.
std::vector<std::uint8_t> parts_of_machines(const topology::Topology& graph, std::uint32_t parts,
                                            const std::vector<std::uint32_t>& machine_of) {
  constexpr std::uint8_t kNobody = 0xff;
  std::vector<std::uint8_t> part_of(graph.vertices(), kNobody);
  const std::uint64_t machines = std::uint64_t{*std::ranges::max_element(machine_of)} + 1;
  for (topology::VertexId nic = 0; nic < graph.hosts(); ++nic)
    part_of[nic] = static_cast<std::uint8_t>(machine_of[nic] * std::uint64_t{parts} / machines);
  return part_of;
}

/// Without numbers that no vertex has.
std::vector<std::uint8_t> numbered(std::vector<std::uint8_t> part_of) {
  std::array<bool, 256> used{};
  for (const std::uint8_t part : part_of) used.at(part) = true;
  for (std::uint8_t& part : part_of)
    part = static_cast<std::uint8_t>(std::count(used.begin(), used.begin() + part, true));
  return part_of;
}

}  // namespace

std::vector<std::uint8_t> make_parts(const Config& config, std::uint32_t parts,
                                     const std::vector<std::uint32_t>& machine_of) {
  constexpr std::uint8_t kNobody = 0xff;
  const Wiring wiring = make_wiring(config);
  const topology::Topology& graph = wiring.graph;
  parts = std::clamp<std::uint32_t>(parts, 1, std::min<std::uint32_t>(kNobody, graph.hosts()));
  std::vector<std::uint8_t> part_of =
      machine_of.empty() ? parts_of_hosts(graph, parts) : parts_of_machines(graph, parts, machine_of);
  std::vector<std::uint32_t> switches(parts);
  // Those next to what has a part, then those next to these: of parts with as many neighbours, the one with the fewest.
  for (bool more = true; more;) {
    more = false;
    std::vector<std::uint8_t> next = part_of;
    for (topology::VertexId v = graph.hosts(); v < graph.vertices(); ++v) {
      if (part_of[v] != kNobody) continue;
      std::vector<std::uint32_t> neighbours(parts);
      for (const topology::LinkId link : graph.ports(v))
        if (const std::uint8_t part = part_of[graph.link(link).to]; part != kNobody) ++neighbours[part];
      const std::uint32_t most = *std::ranges::max_element(neighbours);
      if (most == 0) continue;
      std::uint32_t best = parts;
      for (std::uint32_t p = 0; p < parts; ++p)
        if (neighbours[p] == most && (best == parts || switches[p] < switches[best])) best = p;
      next[v] = static_cast<std::uint8_t>(best);
      ++switches[best];
      more = true;
    }
    part_of = std::move(next);
  }
  std::ranges::replace(part_of, kNobody, std::uint8_t{0});  // no host reaches them
  return numbered(std::move(part_of));
}

sim::Duration lookahead(const Config& config, const std::vector<std::uint8_t>& part_of, std::uint32_t packet_least) {
  const Wiring wiring = make_wiring(config);
  if (config.options.trim)
    packet_least = std::min(packet_least, static_cast<std::uint32_t>(config.options.trim_size.count));
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (topology::LinkId id = 0; id < wiring.links.size(); ++id) {
    const LinkInfo& link = wiring.links[id];
    if (part_of[link.from] == part_of[link.to]) continue;
    const sim::Duration packet = link.crossing(packet_least, sim::Duration{link.time(packet_least)});
    const std::int64_t pause = link.time(kPauseBytes) + wiring.graph.link(id).spec.delay.ps;
    least = std::min({least, packet.ps, pause});
  }
  return {least};
}

// --- a network that is a part ----------------------------------------------------------------------------------------

/// It is one of several, or has their order of events.
void PacketNetwork::divide() {
  if (const std::string_view why = not_parted_because(config_); !why.empty())
    throw std::invalid_argument("a network that cannot be parted: " + std::string(why));
  constexpr std::size_t kMost = std::size_t{1} << 26U;  // three ranks a lane
  if (lanes_.size() > kMost) throw std::invalid_argument("a parted network has at most 2^26 links");
  ranked_ = true;
  const topology::Topology& graph = wiring_->graph;
  for (topology::VertexId v = 0; v < graph.vertices(); ++v)
    streams_.emplace_back(config_.seed, "fabric." + std::to_string(v));
  if (config_.share.part_of.empty()) return;
  if (config_.share.part_of.size() != graph.vertices())
    throw std::invalid_argument("each vertex of a parted network has a part");
  for (topology::LinkId link = 0; link < links(); ++link)
    lane_of(link).leaves = config_.share.has(info(link).from) && !config_.share.has(info(link).to);
}

sim::EventHandle PacketNetwork::push_arrival(sim::EventQueue& events, sim::SimTime at, std::uint32_t lane) {
  return events.push_ranked({.at = at, .what = kEventLane, .priority = sim::kRanked, .where = lane}, 3 * lane);
}

sim::EventHandle PacketNetwork::push_ranked_pause(sim::EventQueue& events, sim::SimTime at, std::uint32_t lane) {
  return events.push_ranked({.at = at, .what = kEventPause, .priority = sim::kRanked, .where = lane}, 3 * lane + 1);
}

void PacketNetwork::push_headers(sim::EventQueue& events, sim::SimTime at, topology::LinkId link) {
  const sim::Event event{.at = at, .what = kEventHeaders, .priority = sim::kRanked, .where = config_.nodes + link};
  if (ranked_) [[unlikely]]
    return static_cast<void>(events.push_ranked(event, 3 * event.where + 2));
  events.push({.at = at, .what = kEventHeaders, .where = event.where});
}

/// What has started on a link to another part is there from now on.
void PacketNetwork::leave(std::uint32_t index) {
  Lane& lane = lanes_[index];
  for (; lane.started != 0; --lane.started) {
    const Entry entry = lane.entries.front();
    lane.entries.pop_front();
    cross_over(index - config_.nodes, entry).is_headers = false;
  }
}

Crossing& PacketNetwork::cross_over(topology::LinkId link, const Entry& entry) {
  ++packets_left_;
  Crossing& crossing = crossings_.emplace_back();
  crossing.at = entry.at;
  crossing.link = link;
  crossing.changes = static_cast<std::uint32_t>(next_change_);
  crossing.entry = entry;
  crossing.packet = take(entry.packet);
  if (const std::uint32_t name = telemetry_name(crossing.packet); writes_ && name != 0)
    crossing.telemetry.push_back(take_telemetry(name));
  return crossing;
}

void PacketNetwork::take_crossings(std::vector<Crossing>& out) {
  out.insert(out.end(), crossings_.begin(), crossings_.end());
  crossings_.clear();
}

/// Has its link failed here since it left? Where that is still to come, it is on the link until then, as any other.
bool PacketNetwork::failed_on_its_way(const Crossing& crossing) const {
  const std::vector<LinkChange>& changes = wiring_->changes;
  for (std::size_t i = crossing.changes; i < next_change_; ++i)
    if (!changes[i].up && changes[i].cable == topology::cable_of(crossing.link)) return true;
  return false;
}

void PacketNetwork::cross(sim::EventQueue& events, const Crossing& crossing) {
  const std::uint32_t index = config_.nodes + crossing.link;
  Lane& lane = lanes_[index];
  const bool failed = failed_on_its_way(crossing);
  if (crossing.is_pause) {
    if (failed) return;
    lane.pauses.push_back(crossing.pause);
    if (lane.pauses.size() == 1) lane.control = push_pause(events, crossing.at, crossing.link);
    return;
  }
  Entry entry = crossing.entry;
  entry.packet = packets_.acquire();
  packets_[entry.packet] = crossing.packet;
  for (const Telemetry& telemetry : crossing.telemetry) packets_[entry.packet].b = keep_telemetry(telemetry);
  entry.from = kNone;
  ++packets_came_;
  if (!crossing.is_headers) ++lane.counters.packets;  // by its number it is taken sooner or later (variation.hpp)
  if (failed) return lose(entry, LossReason::link_down, crossing.link);
  if (crossing.is_headers) return queue_headers(events, crossing.link, entry);
  lane.entries.push_back(entry);
  ++lane.started;
  arm(events, crossing.at, index);
}

/// The port of a link counts what it sends; the far end losses on the way, and pauses that it asks for.
void PacketNetwork::absorb(const Network& part) {
  const auto& other = dynamic_cast<const PacketNetwork&>(part);
  for (topology::LinkId link = 0; link < links(); ++link) {
    LinkCounters& mine = lane_of(link).counters;
    const LinkCounters& theirs = other.lane_of(link).counters;
    LinkCounters both = other.config_.share.has(info(link).from) ? theirs : mine;
    both.drops = mine.drops + theirs.drops;
    both.pauses = mine.pauses + theirs.pauses;
    mine = both;
  }
  packets_trimmed_ += other.packets_trimmed_;
  watchdog_actions_ += other.watchdog_actions_;
  packets_sent_ += other.packets_sent_;
  packets_delivered_ += other.packets_delivered_;
  bytes_delivered_ += other.bytes_delivered_;
  for (std::size_t reason = 0; reason < packets_lost_.size(); ++reason)
    packets_lost_.at(reason) += other.packets_lost_.at(reason);
}

}  // namespace loco::fabric
