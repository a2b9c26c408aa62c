#include "exec/leaps.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "nic_model/foreign_memory.hpp"
#include "nic_model/leaving_out.hpp"

namespace loco::exec {

namespace {

/// A segment has at least this many packets, which is more than are in flight on a short way.
constexpr std::uint64_t kPacketsLeast = 32;
/// PCIe splits accesses at addresses that are multiples of a power of two, up to this (PCI Express base specification:
/// no request crosses 4 KiB).
constexpr std::uint64_t kAligned = 4096;
/// So many segments in a row must be like the one before.
constexpr std::uint32_t kAlike = 3;
/// So many segments at the end of a message are never left out.
constexpr std::int64_t kLast = 2;
/// So many packets must have been read ahead of those that are sent.
constexpr std::uint64_t kAheadLeast = 16;
/// Shorter messages are not followed: nothing of them would be left out.
constexpr std::uint32_t kBytesLeast = 256U << 10U;

/// What may happen in a segment.
enum What : std::uint64_t { kSent, kArrived, kAnswered, kPlaced };

/// Counters of what goes on in the middle of a message. All others say that something else has happened.
constexpr std::uint64_t nic::Counters::*kOfMessages[] = {
    &nic::Counters::events,    &nic::Counters::packets_sent,  &nic::Counters::wire_bytes_sent, &nic::Counters::tlps_up,
    &nic::Counters::tlps_down, &nic::Counters::pcie_bytes_up, &nic::Counters::pcie_bytes_down};

nic::Counters operator-(const nic::Counters& a, const nic::Counters& b) {
  nic::Counters c;
  for (const nic::NamedCounter& counter : nic::kCounters) c.*counter.member = a.*counter.member - b.*counter.member;
  return c;
}

bool only_of_messages(nic::Counters counted) {
  for (const auto member : kOfMessages) counted.*member = 0;
  return counted == nic::Counters{};
}

}  // namespace

bool may_leap(const nic::SystemConfig& config) {
  const fabric::Config& network = config.network;
  const bool quiet = !network.classed() && !network.buffers_overflow() && network.losses.empty() &&
                     network.changes.empty() && network.storms.empty() && !network.varies() && network.tap == nullptr &&
                     network.model == fabric::Model::packet;
  const nic::HardwareProfile& p = config.profile;
  const bool plain = p.nic_jitter.ps == 0 && !p.pcie_iommu && p.faults.none() && !p.link_ideal &&
                     p.nic_word_order == nic::WordOrder::ascending && p.nic_adaptive_timeout.ps == 0;
  return quiet && plain && config.hosts.of.empty() &&
         nic::times_tell_state(network.options, p, config.congestion, config.transports);
}

/// WRITEs and SENDs from one host's program to another's: their bytes are placed where their packets or a receive say,
/// and nobody is told of them before the end.
void Leaps::name(nic::QpId qp, std::span<nic::Wqe> requests) {
  const auto of_program = [](nic::Address a) { return a >= nic::kForeignMemory && !nic::is_scattered(a); };
  for (nic::Wqe& w : requests) {
    const bool write = w.opcode == nic::Opcode::rdma_write && !w.with_imm && of_program(w.remote);
    if ((!write && w.opcode != nic::Opcode::send) || w.length < kBytesLeast || w.inline_data) continue;
    const bool elsewhere = system_.qp_peer_node(qp) != system_.qp_node(qp);
    if (elsewhere && system_.queue_pair(qp).type == nic::QpType::rc && of_program(w.local)) w.op = ++names_;
  }
}

void Leaps::follow(const fabric::Packet& first) {
  message_ = first.call;
  qp_ = first.source_qp;
  work_request_ = first.wqe;
  translated_ = first.opcode == fabric::Opcode::write;
  key_ = first.rkey;
  sender_ = system_.qp_node(qp_);
  receiver_ = system_.qp_peer_node(qp_);
  mtu_ = first.length;
  const auto acks = std::max<std::uint64_t>(1, system_.profile(sender_).nic_ack_coalescing);
  segment_ = std::lcm(mtu_ * acks, kAligned);
  const std::uint64_t least = kPacketsLeast * mtu_;
  segment_ = (least + segment_ - 1) / segment_ * segment_;
  sent_ = placed_ = 0;
  segments_ = {.begun = system_.now()};
  sample_ = {};
}

void Leaps::packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) {
  const bool sent = step == nic::PacketStep::sent;
  if (fabric::is_response(packet.opcode)) {
    const bool ack = packet.opcode == fabric::Opcode::ack && packet.destination_qp == qp_;
    return ack && message_ != 0 ? happens(kAnswered, sent ? 1 : 0, at) : disturbed();
  }
  if (packet.call == 0) {
    message_ = 0;
    return;
  }
  if (sent && packet.offset == 0) follow(packet);
  if (packet.call != message_) return disturbed();
  if (sent && packet.offset != sent_) {  // sent again
    message_ = 0;
    return;
  }
  if (sent) sent_ += packet.length;
  happens(sent ? kSent : kArrived, packet.length, at);
}

bool Leaps::placed(nic::OpId message, std::uint32_t bytes, sim::SimTime at) {
  if (message != message_) {
    disturbed();
    return used_.bytes != 0;
  }
  placed_ += bytes;
  happens(kPlaced, bytes, at);
  if (placed_ % segment_ != 0) return false;
  end_segment(at);
  return segments_.alike != 0 || used_.bytes != 0;
}

void Leaps::happens(std::uint64_t what, std::uint32_t bytes, sim::SimTime at) {
  segments_.distances.add_all(what, (at - segments_.begun).ps, bytes);
}

void Leaps::end_segment(sim::SimTime at) {
  Segments& s = segments_;
  const std::uint64_t distances = s.distances.value();
  s.alike = !disturbed_ && distances == s.last_distances ? s.alike + 1 : 0;
  s.last_distances = disturbed_ ? 0 : distances;
  s.took = at - s.begun;
  s.begun = at;
  s.distances = {};
  disturbed_ = false;
}

/// True if the last two segments, which were alike, have counted the same.
bool Leaps::counts_alike(const nic::Counters& counters, const nic::SpareBytes& spare) {
  Sample now{.counters = counters, .read = spare.read};
  if (segments_.alike > 1) {  // the last sample was taken where this segment began
    const std::optional<nic::Counters> read = system_.counted_by_reading(qp_, sample_.read, now.read);
    if (read) now.segment = now.counters - sample_.counters - *read;
    now.alike = read && now.segment == sample_.segment;
  }
  sample_ = now;
  return now.alike && only_of_messages(now.segment);
}

std::int64_t Leaps::most_segments(const nic::SpareBytes& spare, sim::SimTime end) const {
  const auto segments = [&](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes / segment_); };
  std::int64_t most = segments(spare.unsent) - kLast - 1;
  if (most <= 0) return 0;
  if (translated_) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(most) * segment_;
    const std::uint64_t translated = system_.translated(receiver_, key_, spare.to, bytes);
    if (translated < bytes) most = segments(translated) - kLast - 1;
  }
  if (const auto look = system_.next_look()) end = std::min(end, *look);
  return std::min(most, ((end - system_.now()).ps - 1) / segments_.took.ps);
}

sim::Duration Leaps::look(sim::SimTime end) {
  // What was in flight when bytes were left out has used its translations before theirs.
  if (used_.bytes != 0) system_.use_translations(used_.host, used_.key, used_.base, used_.bytes);
  used_ = {};
  if (message_ == 0 || disturbed_ || segments_.alike == 0) return {};
  const nic::Counters counters = system_.counters();  // the payload's reading is as far as it is counted
  const nic::SpareBytes spare = system_.spare_bytes(qp_, work_request_);
  if (!counts_alike(counters, spare) || segments_.alike < kAlike || sent_ - placed_ > segment_) return {};
  if (spare.unsent == 0 || spare.to < nic::kForeignMemory || spare.ahead < kAheadLeast * mtu_) return {};
  const std::int64_t segments = most_segments(spare, end);
  if (segments <= 0 || !system_.only_sends(qp_)) return {};
  if (system_.watches(receiver_, spare.to, static_cast<std::uint64_t>(segments) * segment_)) return {};
  return leap(spare, segments);
}

sim::Duration Leaps::leap(const nic::SpareBytes& spare, std::int64_t segments) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(segments) * segment_;
  const sim::Duration time = segments_.took * segments;
  const std::optional<std::uint32_t> placed =
      system_.leave_out({.qp = qp_,
                         .work_request = work_request_,
                         .bytes = static_cast<std::uint32_t>(bytes),
                         .ahead = static_cast<std::uint32_t>(kAheadLeast * mtu_),
                         .time = time});
  if (!placed) return {};
  copy_(sender_, spare.from + *placed, receiver_, spare.to + *placed, bytes - *placed);
  system_.poll_for_longer(time);
  system_.look_sooner(time);
  for (const nic::NamedCounter& counter : nic::kCounters)
    left_out_.*counter.member += static_cast<std::uint64_t>(segments) * sample_.segment.*counter.member;
  sample_ = {};
  segments_.alike = 0;
  if (translated_) used_ = {receiver_, key_, spare.to, bytes};
  return time;
}

}  // namespace loco::exec
