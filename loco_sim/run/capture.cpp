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

/// What is before the bytes of a packet in a spool.
struct SpooledHead {
  std::int64_t at_ps = 0;
  std::uint32_t interface = 0;
  std::uint32_t length = 0;
  std::uint64_t bytes = 0;
};
}  // namespace

bool LinkRecorder::captures(fabric::topology::LinkId link) const {
  return link < interfaces_.size() && interfaces_[link] != fabric::kNone;
}

void LinkRecorder::watch(const nic::System& system, std::vector<std::uint32_t> interfaces) {
  system_ = &system;
  interfaces_ = std::move(interfaces);
  identifications_.assign(interfaces_.size(), 0);
  const fabric::PacketNetwork& network = *system.network().packet_network();
  const std::uint64_t largest = network.config().packet_max.count;
  for (fabric::topology::LinkId id = 0; id < network.links(); ++id) {
    const fabric::topology::LinkSpec& link = network.graph().link(id).spec;
    const sim::Duration whole = sim::transmission_time({2 * largest}, link.rate);
    behind_ = std::max(behind_, link.delay + whole + network.config().delivery_latency);
  }
}

void LinkRecorder::keep(fabric::topology::LinkId link, sim::SimTime begins, std::vector<std::byte> bytes,
                        std::uint32_t length) {
  kept_.push_back({begins, interfaces_[link], length, std::move(bytes)});
  if (kept_.size() < kKeptMost) return;
  const sim::SimTime now = system_->now();
  if (now.ps > behind_.ps) hand_over_until(now - behind_);
}

void LinkRecorder::on_packet(fabric::topology::LinkId link, sim::SimTime begins, const fabric::Packet& packet) {
  if (!captures(link)) return;
  const std::span<const std::byte> payload = system_->payload(packet);
  const std::uint32_t snap = looks_like_ethertype(payload) ? 0 : options_.payload;
  const std::uint16_t identification = identifications_[link]++;
  fabric::Frame frame = fabric::roce_frame(packet, transport_of(*system_, packet), payload, snap, identification);
  keep(link, begins, std::move(frame.bytes), frame.length);
}

void LinkRecorder::on_pause(fabric::topology::LinkId link, sim::SimTime begins, std::uint8_t classes, bool stop) {
  if (!captures(link)) return;
  const auto device = system_->network().packet_network()->graph().link(link).from;
  fabric::Frame frame = fabric::pause_frame(device, classes, stop);
  keep(link, begins, std::move(frame.bytes), frame.length);
}

void LinkRecorder::hand_over_until(sim::SimTime end) {
  std::ranges::stable_sort(kept_, &CapturedPacket::before);
  const auto first_left = std::ranges::find_if(kept_, [&](const CapturedPacket& p) { return p.at >= end; });
  for (auto packet = kept_.begin(); packet != first_left; ++packet) sink_(*packet);
  kept_.erase(kept_.begin(), first_left);
}

PacketSpool::PacketSpool() : file_(std::tmpfile()) {
  if (!file_) throw cannot_write("a temporary file");
}

void PacketSpool::put(const CapturedPacket& packet) {
  const SpooledHead head{packet.at.ps, packet.interface, packet.length, packet.bytes.size()};
  static_cast<void>(std::fwrite(&head, sizeof head, 1, file_.get()));  // next() looks for errors
  static_cast<void>(std::fwrite(packet.bytes.data(), 1, packet.bytes.size(), file_.get()));
}

void PacketSpool::rewind() {
  errno = 0;
  if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0) throw cannot_write("a temporary file");
  std::rewind(file_.get());
}

std::optional<CapturedPacket> PacketSpool::next() {
  SpooledHead head{};
  if (std::fread(&head, sizeof head, 1, file_.get()) != 1) return std::nullopt;
  CapturedPacket packet{{head.at_ps}, head.interface, head.length, std::vector<std::byte>(head.bytes)};
  if (std::fread(packet.bytes.data(), 1, head.bytes, file_.get()) != head.bytes) throw cannot_write("a temporary file");
  return packet;
}

Capture::Capture(const scenario::CaptureOptions& options) : options_(options) {
  errno = 0;
  out_.open(options_.path, std::ios::binary | std::ios::trunc);
  if (!out_) throw cannot_write(options_.path);
}

Capture::~Capture() {
  if (!writer_ || !out_.is_open()) return;
  try {
    write_rest();
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the run's own error is told
  }
}

void Capture::be_parted(std::size_t parts) {
  spools_ = std::vector<PacketSpool>(parts > 1 ? parts : 0);
  recorders_.clear();
  for (std::size_t part = 0; part < parts; ++part)
    recorders_.push_back(std::make_unique<LinkRecorder>(options_, [this, part](const CapturedPacket& packet) {
      if (spools_.empty())
        write(packet);
      else
        spools_[part].put(packet);
    }));
}

void Capture::watch(std::size_t part, const nic::System& system) {
  const fabric::PacketNetwork& network = *system.network().packet_network();
  const fabric::topology::Topology& graph = network.graph();
  if (part == 0) writer_.emplace(out_, options_.nanoseconds ? 9 : 12);
  std::vector<std::uint32_t> interfaces;
  std::uint32_t count = 0;
  for (fabric::topology::LinkId id = 0; id < network.links(); ++id) {
    const fabric::topology::Link& link = graph.link(id);
    const std::string name = fmt::format("{}-{}", graph.name(link.from), graph.name(link.to));
    const bool wanted = options_.links.empty() || std::ranges::find(options_.links, name) != options_.links.end();
    interfaces.push_back(wanted ? count++ : fabric::kNone);
    if (wanted && part == 0) writer_->interface(name);
  }
  recorders_.at(part)->watch(system, std::move(interfaces));
}

void Capture::write(const CapturedPacket& packet) {
  writer_->packet(packet.interface, packet.at.ps, packet.bytes, packet.length);
}

/// A link's packets are all of one part.
void Capture::write_rest() {
  for (const auto& recorder : recorders_) recorder->hand_over_rest();
  std::vector<std::optional<CapturedPacket>> heads;
  for (PacketSpool& spool : spools_) {
    spool.rewind();
    heads.push_back(spool.next());
  }
  for (;;) {
    std::size_t first = heads.size();
    for (std::size_t part = 0; part < heads.size(); ++part)
      if (heads[part] && (first == heads.size() || heads[part]->before(*heads[first]))) first = part;
    if (first == heads.size()) return;
    write(*heads[first]);
    heads[first] = spools_[first].next();
  }
}

void Capture::finish() {
  errno = 0;
  write_rest();
  out_.close();
  if (!out_) throw cannot_write(options_.path);
}

}  // namespace loco
