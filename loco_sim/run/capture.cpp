#include "loco_sim/run/capture.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <system_error>
#include <utility>

#include "fabric/frame.hpp"
#include "fabric/lane.hpp"
#include "fabric/packet_network.hpp"

namespace loco {

namespace {
constexpr std::size_t kKeptMost = 1 << 15;  // packets, before those that none can precede are written

std::system_error cannot_write(const std::string& path) {
  return {errno == 0 ? EIO : errno, std::generic_category(), fmt::format("cannot write {}", path)};
}

/// Wireshark interprets a payload whose third and fourth bytes are zero by the Ethertype in its first two bytes, so
/// 64-bit numbers from 6 on would be shown as malformed packets of other protocols.
bool looks_like_ethertype(std::span<const std::byte> payload) {
  constexpr unsigned kLeast = 6;  // Ethertypes start at 0x0600
  return payload.size() >= 4 && payload[2] == std::byte{0} && payload[3] == std::byte{0} &&
         std::to_integer<unsigned>(payload[0]) >= kLeast;
}

fabric::Transport transport_of(const nic::System& system, const fabric::Packet& packet) {
  switch (system.queue_pair(packet.source_qp).type) {
    case nic::QpType::uc:
      return fabric::Transport::uc;
    case nic::QpType::ud:
      return fabric::Transport::ud;
    default:
      return fabric::Transport::rc;
  }
}
}  // namespace

Capture::Capture(const scenario::CaptureOptions& options) : options_(options) {
  errno = 0;
  out_.open(options_.path, std::ios::binary | std::ios::trunc);
  if (!out_) throw cannot_write(options_.path);
}

Capture::~Capture() {
  if (writer_ && out_.is_open()) write_until(sim::SimTime::max());
}

void Capture::watch(const nic::System& system) {
  system_ = &system;
  const fabric::PacketNetwork& network = *system.network().packet_network();
  const fabric::topology::Topology& graph = network.graph();
  const std::uint64_t largest = network.config().packet_max.count;
  writer_.emplace(out_, options_.nanoseconds ? 9 : 12);
  std::uint32_t interfaces = 0;
  for (fabric::topology::LinkId id = 0; id < network.links(); ++id) {
    const fabric::topology::Link& link = graph.link(id);
    const std::string name = fmt::format("{}-{}", graph.name(link.from), graph.name(link.to));
    const bool wanted = options_.links.empty() || std::ranges::find(options_.links, name) != options_.links.end();
    interfaces_.push_back(wanted ? interfaces++ : fabric::kNone);
    if (wanted) writer_->interface(name);
    const sim::Duration whole = sim::transmission_time({2 * largest}, link.spec.rate);
    behind_ = std::max(behind_, link.spec.delay + whole + network.config().delivery_latency);
  }
}

void Capture::keep(fabric::topology::LinkId link, sim::SimTime begins, std::vector<std::byte> bytes,
                   std::uint32_t length) {
  kept_.push_back({begins, number_++, interfaces_[link], length, std::move(bytes)});
  if (kept_.size() < kKeptMost) return;
  const sim::SimTime now = system_->now();
  if (now.ps > behind_.ps) write_until(now - behind_);
}

void Capture::on_packet(fabric::topology::LinkId link, sim::SimTime begins, const fabric::Packet& packet) {
  if (link >= interfaces_.size() || interfaces_[link] == fabric::kNone) return;
  const std::span<const std::byte> payload = system_->payload(packet);
  const std::uint32_t snap = looks_like_ethertype(payload) ? 0 : options_.payload;
  fabric::Frame frame = fabric::roce_frame(packet, transport_of(*system_, packet), payload, snap, identification_++);
  keep(link, begins, std::move(frame.bytes), frame.length);
}

void Capture::on_pause(fabric::topology::LinkId link, sim::SimTime begins, std::uint8_t classes, bool stop) {
  if (link >= interfaces_.size() || interfaces_[link] == fabric::kNone) return;
  const auto device = system_->network().packet_network()->graph().link(link).from;
  fabric::Frame frame = fabric::pause_frame(device, classes, stop);
  keep(link, begins, std::move(frame.bytes), frame.length);
}

void Capture::write_until(sim::SimTime end) {
  std::ranges::sort(kept_, [](const Record& a, const Record& b) {
    return a.at != b.at ? a.at < b.at : std::pair{a.interface, a.number} < std::pair{b.interface, b.number};
  });
  const auto first_left = std::ranges::find_if(kept_, [&](const Record& r) { return r.at >= end; });
  for (auto r = kept_.begin(); r != first_left; ++r) writer_->packet(r->interface, r->at.ps, r->bytes, r->length);
  kept_.erase(kept_.begin(), first_left);
}

void Capture::finish() {
  errno = 0;
  write_until(sim::SimTime::max());
  out_.close();
  if (!out_) throw cannot_write(options_.path);
}

}  // namespace loco
