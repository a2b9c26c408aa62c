// Fabric: packet trimming (docs/fabric.md, "Trimming"; Cheng et al., "Catch the Whole Lot in an Action: Rapid Precise
// Packet Loss Notification in Data Centers", NSDI 2014; Handley et al., NDP, SIGCOMM 2017).
//
// A request with payload that finds no room in a switch is cut to its headers. These go in front of all queued packets,
// but not inside of one that has begun, on every port from there on: each link has a second FIFO for them, of which, as
// of a lane, only the head has an event. They take the port's time, and no buffer. When too many wait, they are dropped
// as packets are. Where their class is one of the network's, they are packets of that class instead.
#include <algorithm>

#include "fabric/packet_network.hpp"
#include "fabric/tap.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

namespace {
constexpr std::uint32_t kHeadersMax = 65'536;  // bytes of headers that may wait for a port: our choice
}  // namespace

bool PacketNetwork::trims(const Entry& entry) const {
  const Packet& packet = packets_[entry.packet];
  return (packet.opcode == Opcode::write || packet.opcode == Opcode::send) && packet.length > 0 &&
         entry.bytes > config_.options.trim_size.count;
}

void PacketNetwork::trim(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, Entry entry) {
  Packet& packet = packets_[entry.packet];
  LOCO_PROBE(packet_trimmed);
  packet.trimmed = true;
  packet.wire = entry.bytes = static_cast<std::uint32_t>(config_.options.trim_size.count);
  ++packets_trimmed_;
  if (headers_have_class_) {
    LOCO_PROBE(headers_in_a_class_of_their_own);
    packet.traffic_class = static_cast<std::uint8_t>(config_.options.trim_class);
    return forward_class(events, now, {entry.from, out}, entry);
  }
  send_headers(events, now, out, entry);
}

/// Onto a port, at once.
void PacketNetwork::send_headers(sim::EventQueue& events, sim::SimTime now, topology::LinkId out, Entry entry) {
  advance(events, out, now);
  Lane& lane = lane_of(out);
  const LinkInfo& link = info(out);
  if (lane.down) {
    LOCO_PROBE(headers_lost_at_a_link_that_is_down);
    return lose(entry, LossReason::link_down, out);
  }
  if (lane.free > now + sim::Duration{link.time(kHeadersMax)}) {
    LOCO_PROBE(too_many_headers);
    return lose(entry, LossReason::buffer_full, out);
  }
  const sim::SimTime begins = std::max(lane.free, now);
  const sim::Duration time{link.time(entry.bytes)};
  lane.free = begins + time;
  lane.counters.busy += time;
  lane.counters.bytes += entry.bytes;
  ++lane.counters.packets;
  if (config_.tap != nullptr) config_.tap->on_packet(out, begins, packets_[entry.packet]);
  // What it passes in a switch it has passed before it takes the port.
  const sim::Duration latency = info(out).to_switch ? config_.switch_latency : sim::Duration{};
  entry.at = lane.free + sim::Duration{link.delay_ps} + latency;
  if (ranked_) [[unlikely]] {
    if (headers_sent_.empty()) headers_sent_.resize(wiring_->links.size());
    ++headers_sent_[out];
  }
  if (lane.leaves) [[unlikely]] {
    cross_over(out, entry).is_headers = true;
    return;
  }
  queue_headers(events, out, entry);
}

/// On their way over a link.
void PacketNetwork::queue_headers(sim::EventQueue& events, topology::LinkId link, const Entry& entry) {
  if (headers_.empty()) headers_.resize(wiring_->links.size());
  headers_[link].push_back(entry);
  if (headers_[link].size() == 1) push_headers(events, entry.at, link);
}

/// The oldest headers on a link arrive.
std::optional<Packet> PacketNetwork::headers_arrive(sim::EventQueue& events, sim::SimTime now, topology::LinkId link) {
  sim::Ring<Entry>& ring = headers_[link];
  if (ring.empty() || ring.front().at > now) {  // the link has failed; what has come since has an event of its own
    no_step_ = ranked_;
    return std::nullopt;
  }
  const Entry entry = ring.front();
  ring.pop_front();
  if (!ring.empty()) push_headers(events, std::max(now, ring.front().at), link);
  const LinkInfo& in = info(link);
  if (in.loss != 0 && stream_of(in.to).chance(in.loss, 1'000'000)) {
    lose(entry, LossReason::link_error, link);
    return std::nullopt;
  }
  if (in.to_switch) {
    const topology::LinkId out = choose(events, now, in.to, entry);
    if (out == kNone) {
      lose(entry, LossReason::no_route, out);
    } else {
      send_headers(events, now, out, entry);
    }
    return std::nullopt;
  }
  ++packets_delivered_;
  bytes_delivered_ += entry.bytes;
  return take(entry.packet);
}

/// A link fails.
void PacketNetwork::lose_headers(topology::LinkId link) {
  if (headers_.empty()) return;
  for (; !headers_[link].empty(); headers_[link].pop_front()) {
    LOCO_PROBE(headers_lost_with_their_link);
    lose(headers_[link].front(), LossReason::link_down, link);
  }
}

}  // namespace loco::fabric
