#include "loco_sim/workloads/flows/leaps.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "loco_sim/workloads/rounds.hpp"
#include "nic_model/leaving_out.hpp"

namespace loco::workloads::flows {

namespace {

/// A segment has at least this many packets, so that its time is more than that of an exchange or two.
constexpr std::uint64_t kPacketsLeast = 64;
/// PCIe splits accesses at addresses that are multiples of a power of two, up to this (PCI Express base specification:
/// no request crosses 4 KiB).
constexpr std::uint64_t kAligned = 4096;
/// These many segments of a flow's end are never left out.
constexpr std::uint64_t kLast = 2;
/// A message of so many pages is compared from page to page. Shorter ones would end before that.
constexpr std::uint64_t kPagesLeast = 24;
/// So many segments must have passed since a flow began or ended.
constexpr std::int64_t kSinceChange = 2;
/// What is in flight is this share of the segments that were compared, at most.
constexpr std::uint64_t kInFlightShare = 8;
/// So many packets must have been read ahead of those that are sent.
constexpr std::uint32_t kAheadLeast = 16;
/// exact: a period is the longest segment's time or a multiple of it, at most this one.
constexpr std::int64_t kMultipleMost = 16;
/// approximate: segments are alike if their times differ from their mean, and a sender's mean from its receiver's, by
/// one part in this many at most.
constexpr std::int64_t kOneIn = 200;

}  // namespace

Leaps::Leaps(SimulatedCluster& cluster, Options options, Shorten shorten)
    : cluster_(cluster),
      options_(options),
      mode_(options.possible ? allowed(cluster.config()) : FastForward::off),
      shorten_(std::move(shorten)) {}

/// What a configuration lets be left out.
FastForward Leaps::allowed(const ClusterConfig& config) {
  const bool tells =
      nic::times_tell_state(config.network.options, config.profile, config.congestion, config.transports) &&
      config.profile.nic_qp_gap_rate.value == 0;
  return config.fast_forward != FastForward::exact || tells ? config.fast_forward : FastForward::off;
}

void Leaps::begins(std::optional<std::int64_t> expected) {
  if (expected) starts_.erase(starts_.find(*expected));
  ++begun_;
}

void Leaps::posted(std::uint32_t flow, std::uint64_t bytes, const Region& to, QueuePair through) {
  --begun_;
  const bool by_pages =
      has_misses() && options_.one_place && bytes >= kPagesLeast * cluster_.config().profile.nic_translation_page.count;
  under_way_[flow] = {.by_pages = by_pages, .bytes = bytes, .to = to, .through = through};
  queues_[through].push_back(flow);
  changed_ps_ = cluster_.system().now().ps;
}

void Leaps::let_go() {
  --begun_;
  changed_ps_ = cluster_.system().now().ps;
}

/// True if it matters which translations a NIC holds.
bool Leaps::has_misses() const {
  return mode_ == FastForward::exact && cluster_.config().profile.nic_translation_entries != 0;
}

std::uint64_t Leaps::segment_of(const Under& flow) const {
  const nic::HardwareProfile& p = cluster_.config().profile;
  const std::uint64_t acks = std::max<std::uint64_t>(1, p.nic_ack_coalescing);
  std::uint64_t segment = std::lcm(flow.mtu * acks, kAligned);
  if (flow.by_pages) segment = std::lcm(segment, p.nic_translation_page.count);
  const std::uint64_t least = kPacketsLeast * flow.mtu;
  return (least + segment - 1) / segment * segment;
}

void Leaps::sent(std::uint32_t flow, const fabric::Packet& packet) {
  const auto found = under_way_.find(flow);
  if (found == under_way_.end()) return;  // sent again, after its end
  Under& f = found->second;
  if (f.mtu == 0) {
    f.qp = packet.source_qp;
    f.work_request = packet.wqe;
    f.mtu = packet.length;
    if (packet.length > 0) f.segment = segment_of(f);
  }
  if (packet.offset + f.skipped != f.sent.position()) return;  // sent again
  if (f.segment != 0) f.sent.add(packet.length, cluster_.system().now().ps, f.segment);
}

void Leaps::arrived(std::uint32_t flow, const fabric::Packet& packet) {
  const auto found = under_way_.find(flow);
  if (found == under_way_.end() || found->second.segment == 0) return;  // sent again, after its end
  const std::int64_t now = cluster_.system().now().ps;
  found->second.arrived.add(packet.length, now, found->second.segment);
  found->second.way.arrived(now);
}

void Leaps::placed(std::uint32_t flow, std::uint32_t bytes) {
  const auto found = under_way_.find(flow);
  if (found == under_way_.end() || found->second.segment == 0) return;
  Under& f = found->second;
  const std::int64_t now = cluster_.system().now().ps;
  f.way.placed(now);
  if (!f.placed.add(bytes, now, f.segment)) return;
  f.way.end_segment();
  cluster_.context().runtime.before_next_event([this] { look(); });
}

void Leaps::ended(std::uint32_t flow) {
  const auto found = under_way_.find(flow);
  const Under& f = found->second;
  std::uint64_t& touched = touched_[f.to.node];
  touched = std::max(touched, f.bytes);
  std::deque<std::uint32_t>& queue = queues_[f.through];
  std::erase(queue, flow);
  if (queue.empty()) queues_.erase(f.through);
  under_way_.erase(found);
  changed_ps_ = cluster_.system().now().ps;
}

/// Whether a leap may be made now, and if so, makes it.
void Leaps::look() {
  if (begun_ != 0 || queues_.size() < options_.least_under_way) return;
  const std::uint64_t before = std::exchange(disturbances_, disturbances(cluster_.system()));
  if (before != disturbances_) disturbed_ps_ = cluster_.system().now().ps;
  const std::optional<std::vector<std::uint32_t>> flows = steady();
  if (!flows) return;
  if (const std::optional<Plan> plan = mode_ == FastForward::exact ? exactly(*flows) : nearly(*flows)) leap(*plan);
}

std::optional<std::vector<std::uint32_t>> Leaps::steady() const {
  std::vector<std::uint32_t> flows;
  for (const auto& [through, queue] : queues_) {
    if (!steady(under_way_.at(queue.front()))) return std::nullopt;
    for (std::size_t i = 1; i < queue.size(); ++i)
      if (under_way_.at(queue[i]).mtu != 0) return std::nullopt;
    flows.push_back(queue.front());
  }
  return flows;
}

bool Leaps::steady(const Under& f) const {
  if (f.segment == 0 || f.sent.position() - f.placed.position() > SteadyEnd::kWindow * f.segment / kInFlightShare)
    return false;
  const std::int64_t since = f.sent.begun_ps() - kSinceChange * f.sent.mean_ps();
  if (since < changed_ps_) return false;
  if (mode_ == FastForward::approximate)
    return f.sent.repeats_nearly(kOneIn) && f.placed.repeats_nearly(kOneIn) &&
           std::abs(f.sent.mean_ps() - f.placed.mean_ps()) * kOneIn <= f.placed.mean_ps();
  // Payload is read over PCIe faster than it is sent. The state of PCIe differs then, until all is read: either the
  // payload is well ahead, or placing is as even as all else.
  const bool ahead = cluster_.system().spare_bytes(f.qp, f.work_request).ahead >= kAheadLeast * f.mtu;
  return f.sent.repeats() && f.arrived.repeats() && f.sent.took_ps() == f.arrived.took_ps() &&
         (f.placed.repeats() || (ahead && f.way.keeps_up())) &&
         f.sent.begun_ps() - SteadyEnd::kWindow * f.sent.took_ps() >= disturbed_ps_;
}

/// By how many bytes a flow may be shortened: up to some segments before its end, or before its receiver comes to pages
/// that change its pace.
std::uint64_t Leaps::room(const Under& f) const {
  const std::uint64_t spare = cluster_.system().spare_bytes(f.qp, f.work_request).bytes;
  const std::uint64_t kept = (kLast + 1) * f.segment;
  const std::uint64_t most = spare > kept ? spare - kept : 0;
  if (!has_misses()) return most;
  return std::min(most, f.by_pages ? room_by_pages(f) : room_in_page(f));
}

/// Up to the end of the receiver's page, since the next one's translation may be missing.
std::uint64_t Leaps::room_in_page(const Under& f) const {
  const std::uint64_t page = cluster_.config().profile.nic_translation_page.count;
  const std::uint64_t left = page - (f.to.base + f.placed.position()) % page;
  const std::uint64_t kept = f.sent.position() - f.placed.position() + f.segment;
  return left > kept ? left - kept : 0;
}

/// Where each page brings the same: before pages that the NIC's cache has not seen, or before what it has seen is over.
std::uint64_t Leaps::room_by_pages(const Under& f) const {
  const std::uint64_t kept = (kLast + 1) * f.segment;
  const auto found = touched_.find(f.to.node);
  const std::uint64_t border = found == touched_.end() ? 0 : found->second;
  if (border == 0 || border >= f.bytes) return f.bytes;
  const std::uint64_t from = f.placed.position() - std::min(f.placed.position(), (SteadyEnd::kWindow + 1) * f.segment);
  if (from < border && border + f.segment >= f.placed.position()) return 0;
  if (border <= f.placed.position()) return f.bytes;
  const std::uint64_t before = border - f.placed.position();
  return before > kept ? before - kept : 0;
}

/// From now until a flow starts by itself, without the turns of the threads that wait for it.
std::int64_t Leaps::time_left_ps() const {
  if (starts_.empty()) return std::numeric_limits<std::int64_t>::max();
  return *starts_.begin() - left_out_ps_ - cluster_.system().now().ps - kTurnPs;
}

/// How long it sends so many bytes.
std::int64_t Leaps::time_of(const Under& flow, std::uint64_t bytes) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(Wide{flow.sent.took_ps()} * static_cast<Wide>(bytes) /
                                   static_cast<Wide>(flow.segment));
}

/// When each host has the next end of a flow, counted from now.
std::map<NodeId, std::int64_t> Leaps::next_ends_ps() const {
  std::map<NodeId, std::int64_t> ends;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto& [through, queue] : queues_) {
    const Under& f = under_way_.at(queue.front());
    const std::int64_t left = time_of(f, f.bytes - f.sent.position());
    first = std::min(first, left);
    for (const NodeId host : {std::get<0>(through), std::get<1>(through)}) {
      const auto [end, is_new] = ends.try_emplace(host, left);
      if (!is_new) end->second = std::min(end->second, left);
    }
  }
  if (chained_ || options_.least_under_way != 0)  // any host may begin something then
    for (auto& [host, end] : ends) end = first;
  return ends;
}

/// Payload is read over PCIe faster than it is sent, and a leap puts that off: a message is read as far ahead behind it
/// as before. So all must be read, in either run, when a flow of the host ends or another one begins. What is read is
/// sent later, so reading takes no longer than sending does.
bool Leaps::reading_ends_in_time() const {
  const std::map<NodeId, std::int64_t> ends = next_ends_ps();
  for (const auto& [through, queue] : queues_) {
    if (queue.size() > 1) return false;  // the payload of the next one is read behind this one's
    const Under& f = under_way_.at(queue.front());
    const std::uint64_t unread = cluster_.system().spare_bytes(f.qp, f.work_request).bytes;
    if (unread == f.bytes - f.sent.position()) continue;  // all is read
    const std::int64_t takes = time_of(f, unread);
    if (takes > ends.at(std::get<0>(through)) || takes > time_left_ps()) return false;
  }
  return true;
}

std::optional<Leaps::Plan> Leaps::exactly(const std::vector<std::uint32_t>& flows) const {
  if (!reading_ends_in_time()) return std::nullopt;
  std::int64_t longest = 0;
  for (const std::uint32_t f : flows) longest = std::max(longest, under_way_.at(f).sent.took_ps());
  std::int64_t period = longest;
  const auto fits = [&](std::uint32_t f) { return period % under_way_.at(f).sent.took_ps() == 0; };
  while (!std::ranges::all_of(flows, fits)) {
    period += longest;
    if (period > kMultipleMost * longest) return std::nullopt;
  }
  std::int64_t times = time_left_ps() / period;
  std::map<NodeId, std::uint64_t> at_host;
  for (const std::uint32_t flow : flows) {
    const Under& f = under_way_.at(flow);
    const std::uint64_t bytes = static_cast<std::uint64_t>(period / f.sent.took_ps()) * f.segment;
    times = std::min(times, static_cast<std::int64_t>(room(f) / bytes));
    // Of flows to one host one uses the translations that another one has brought: only if both are as fast for good.
    if (at_host.try_emplace(f.to.node, bytes).first->second != bytes) return std::nullopt;
  }
  if (times <= 0) return std::nullopt;
  Plan plan{.time_ps = times * period, .period_ps = period};
  for (const std::uint32_t flow : flows) {
    const Under& f = under_way_.at(flow);
    plan.leaps.push_back({flow, static_cast<std::uint64_t>(plan.time_ps / f.sent.took_ps()) * f.segment});
  }
  return plan;
}

std::optional<Leaps::Plan> Leaps::nearly(const std::vector<std::uint32_t>& flows) const {
  __extension__ using Wide = __int128;
  std::int64_t time = time_left_ps(), longest = 0;
  for (const std::uint32_t flow : flows) {
    const Under& f = under_way_.at(flow);
    longest = std::max(longest, f.placed.mean_ps());
    const Wide most = static_cast<Wide>(room(f)) * f.placed.mean_ps() / static_cast<Wide>(f.segment);
    time = std::min(time, static_cast<std::int64_t>(std::min<Wide>(most, std::numeric_limits<std::int64_t>::max())));
  }
  if (time < longest) return std::nullopt;
  Plan plan{.time_ps = time, .period_ps = longest};
  for (const std::uint32_t flow : flows) {
    const Under& f = under_way_.at(flow);
    const std::uint64_t unit = std::lcm(std::uint64_t{f.mtu}, kAligned);
    const auto bytes =
        static_cast<std::uint64_t>(static_cast<Wide>(time) * static_cast<Wide>(f.segment) / f.placed.mean_ps());
    plan.leaps.push_back({flow, bytes / unit * unit});
  }
  return plan;
}

void Leaps::leap(const Plan& plan) {
  nic::System& system = cluster_.system();
  for (const Leap& leap : plan.leaps) {
    Under& f = under_way_.at(leap.flow);
    const auto bytes = static_cast<std::uint32_t>(
        leap.bytes + (options_.fault == LeapFault::packet_too_many ? f.mtu : std::uint32_t{0}));
    const std::uint32_t packets = bytes / f.mtu;
    system.shorten_message(f.qp, f.work_request, bytes);
    system.use_translations(f.to.node, f.to.rkey, f.to.base + f.placed.position(), leap.bytes);
    f.sent.skip(bytes);
    f.arrived.skip(bytes);
    f.placed.skip(bytes);
    f.skipped += bytes;
    packets_ += packets;
    shorten_(leap.flow, bytes, packets);
  }
  system.poll_for_longer({plan.time_ps});
  left_out_ps_ += plan.time_ps - (options_.fault == LeapFault::period_too_short ? plan.period_ps : 0);
}

}  // namespace loco::workloads::flows
