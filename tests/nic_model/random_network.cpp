#include "random_network.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "fabric/packet_network.hpp"
#include "fabric/report.hpp"
#include "nic_model/delivery/transports.hpp"
#include "rig.hpp"

namespace loco::test {

namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }
bool one_in(Random& random, std::uint64_t n) { return below(random, n) == 0; }
template <class T>
T pick(Random& random, std::initializer_list<T> from) {
  return *(from.begin() + below(random, from.size()));
}

fabric::topology::Parameters random_shape(Random& random) {
  using namespace fabric::topology;
  const auto small = [&](std::uint32_t least, std::uint32_t most) {
    return static_cast<std::uint32_t>(least + below(random, most - least + 1));
  };
  switch (below(random, 8)) {
    case 0:
      return BackToBack{};
    case 1:
      return LeafSpine{.leaves = small(1, 3), .spines = small(1, 3), .hosts_per_leaf = small(1, 2)};
    case 2:
      return FatTree{.k = 2};
    case 3:
      return Dragonfly{.groups = 3, .routers_per_group = 2, .hosts_per_router = 1, .global_links_per_router = 1};
    case 4:
      return Torus{.dims = {small(2, 3), 2}, .hosts_per_router = 1};
    case 5:
      return Ring{.nodes = small(3, 6)};
    case 6:  // two ways of different length and rate between two switches
      return Custom{.hosts = 4,
                    .switches = 3,
                    .edges = {{0, 4},
                              {1, 4},
                              {2, 5},
                              {3, 5, sim::BitsPerSecond{10'000'000'000}},
                              {4, 5, sim::BitsPerSecond{40'000'000'000}, 3_us},
                              {4, 6},
                              {6, 5},
                              {4, 5}}};
    default:
      return Star{.nodes = small(2, 6)};
  }
}

void draw_options(Random& random, fabric::Options& o) {
  o.routing = static_cast<fabric::Routing>(below(random, 4));
  o.switching = static_cast<fabric::Switching>(below(random, 2));
  o.flow_control = static_cast<fabric::FlowControl>(below(random, 3));
  o.variation = static_cast<fabric::Variation>(below(random, 3));
  o.buffer_alpha = static_cast<std::uint32_t>(50 + below(random, 4'000));
  if (o.flow_control == fabric::FlowControl::drop_tail) o.buffer_size = sim::Bytes{6'000 + below(random, 200'000)};
  if (o.flow_control == fabric::FlowControl::pfc) {
    o.buffer_size = sim::Bytes{600'000 + below(random, 1'000'000)};
    if (!one_in(random, 4)) o.pfc_xoff = sim::Bytes{1'000 + below(random, 12'000)};
    if (one_in(random, 4)) o.pfc_headroom = sim::Bytes{1 + below(random, 30'000)};
  }
  o.ecn = one_in(random, 3);
  o.dcqcn.enabled = o.ecn && one_in(random, 2);
  if (one_in(random, 3)) o.loss = pick<std::uint32_t>(random, {100, 1'000, 10'000, 50'000});
  o.reroute = one_in(random, 2);
  o.reroute_delay = 20_us;
}

/// Of a stream of its own: one of those that go by answers, or what is there already.
void draw_congestion_control(Random& random, nic::SystemConfig& c) {
  using fabric::CongestionAlgorithm;
  fabric::Options& o = c.network.options;
  o.trim = o.flow_control == fabric::FlowControl::drop_tail && one_in(random, 2);
  if (one_in(random, 2)) o.ecn_kmin = o.ecn_kmax = sim::Bytes{1'000};  // the second packet of a queue is marked
  if (one_in(random, 2)) return;
  o.congestion.timely.segment = sim::Bytes{1'000};  // messages are few: each round trip counts
  o.congestion.timely.low = 2_us;
  o.congestion.timely.high = pick(random, {10_us, 500_us});
  o.congestion.algorithm = pick(random, {CongestionAlgorithm::hpcc, CongestionAlgorithm::timely,
                                         CongestionAlgorithm::swift, CongestionAlgorithm::nscc});
  o.dcqcn.enabled = false;
  if (o.congestion.algorithm == CongestionAlgorithm::nscc) o.ecn = true;
  if (one_in(random, 3)) o.congestion.base_rtt = 12_us;
  c.profile.nic_ack_coalescing = static_cast<std::uint32_t>(below(random, 2));
}

/// Of a stream of its own: reliable connections as they are, or another transport.
void draw_transport(Random& random, nic::SystemConfig& c) {
  if (one_in(random, 2)) return;
  nic::TransportOptions& t = c.profile.transport;
  t.kind = one_in(random, 4) ? nic::TransportKind::srd : nic::TransportKind::uet;
  if (t.kind == nic::TransportKind::uet)
    t.mode = pick(random, {nic::UetMode::rod, nic::UetMode::rud, nic::UetMode::rud, nic::UetMode::rudi});
  t.entropies = pick<std::uint32_t>(random, {2, 8, 64});
  if (t.mode != nic::UetMode::rod) t.choice = static_cast<nic::EntropyChoice>(below(random, 5));
  t.rto_least = pick(random, {20_us, 100_us});
  if (one_in(random, 4)) c.network.options.order = fabric::PacketOrder::any;
}

/// Of a stream of its own: every other queue pair may have another transport. Not where NICs have several ports, which
/// all transports take alike.
void draw_own_transport(Random& random, nic::SystemConfig& c) {
  if (!one_in(random, 3)) return;
  nic::TransportOptions own{.kind = pick(random, {nic::TransportKind::rc, nic::TransportKind::srd,
                                                  nic::TransportKind::uet, nic::TransportKind::uet})};
  if (own.kind == nic::TransportKind::uet)
    own.mode = pick(random, {nic::UetMode::rod, nic::UetMode::rud, nic::UetMode::rudi});
  own.entropies = pick<std::uint32_t>(random, {2, 64});
  const auto graph = fabric::topology::build(c.network.shape);
  for (fabric::topology::VertexId host = 0; host < graph.hosts(); ++host)
    if (graph.ports(host).size() > 1) return;
  c.transports.push_back(own);
}

/// Likewise: traffic classes, hosts that pause their links, a watchdog, congestion control of some queue pairs alone.
void draw_classes(Random& random, nic::SystemConfig& c) {
  using fabric::FlowControl;
  fabric::Config& network = c.network;
  if (one_in(random, 3)) {
    for (const std::uint32_t id : {3U, 5U, 6U, 7U}) {  // trimmed packets are of the last one
      if (one_in(random, 2)) continue;
      fabric::TrafficClass of = network.all_classes().at(id);
      of.strict = one_in(random, 3);
      of.weight = static_cast<std::uint32_t>(1 + below(random, 4));
      of.ecn = one_in(random, 2);
      if (network.options.flow_control != FlowControl::unlimited && one_in(random, 2))
        of.buffers->flow_control = pick(random, {FlowControl::pfc, FlowControl::drop_tail});
      network.classes.push_back(of);
    }
  }
  if (network.has(FlowControl::pfc) && one_in(random, 4)) {
    fabric::WatchdogOptions& watchdog = network.options.watchdog;
    watchdog = {.enabled = true, .poll = 20_us, .detect = pick(random, {20_us, 100_us}), .restore = 50_us};
    if (one_in(random, 3)) watchdog.action = fabric::WatchdogAction::forward;
  }
  if (one_in(random, 4)) {
    const sim::SimTime from{static_cast<std::int64_t>(below(random, 150'000'000))};
    network.storms.push_back({.host = static_cast<fabric::NodeId>(below(random, c.nodes)),
                              .from = from,
                              .until = from + sim::Duration{static_cast<std::int64_t>(1 + below(random, 400'000'000))},
                              .classes = static_cast<std::uint8_t>(one_in(random, 2) ? 0xff : 1U << 3U)});
  }
  if (!one_in(random, 4)) return;
  using fabric::CongestionAlgorithm;
  fabric::CongestionSettings own{.others = network.options.congestion};
  own.algorithm = pick(random, {CongestionAlgorithm::none, CongestionAlgorithm::hpcc, CongestionAlgorithm::swift,
                                CongestionAlgorithm::nscc});
  if (own.algorithm == CongestionAlgorithm::nscc) network.options.ecn = true;
  if (own.algorithm != CongestionAlgorithm::none) c.profile.nic_ack_coalescing = 1;
  c.congestion.push_back(own);
}

void draw_failures(Random& random, fabric::Config& network) {
  const auto cables = fabric::topology::build(network.shape).cables();
  for (std::uint64_t n = one_in(random, 2) ? 1 + below(random, 3) : 0; n > 0; --n) {
    const auto cable = static_cast<fabric::topology::CableId>(below(random, cables));
    const sim::SimTime down{static_cast<std::int64_t>(below(random, 150'000'000))};
    network.changes.push_back({.at = down, .cable = cable, .up = false});
    if (one_in(random, 4)) continue;  // for good
    network.changes.push_back({.at = down + sim::Duration{static_cast<std::int64_t>(below(random, 400'000'000))},
                               .cable = cable,
                               .up = true});
  }
}

nic::HardwareProfile random_profile(Random& random) {
  nic::HardwareProfile p = profile_file(
      pick<const char*>(random, {"cx5-roce-100g", "cx5-roce-25g", "cx6-ib-hdr", "cx3-ib-fdr", "cx7-ib-ndr"}));
  p.link_mtu = sim::Bytes{pick<std::uint64_t>(random, {256, 1'024, 4'096})};
  p.link_delay = pick(random, {100_ns, 500_ns, 5_us});
  p.nic_ack_timeout = pick(random, {20_us, 65_us, 262_us});
  p.nic_retry_count = static_cast<std::uint32_t>(below(random, 8));
  p.nic_ack_coalescing = static_cast<std::uint32_t>(below(random, 5));
  p.nic_placement = pick(random, {nic::Placement::in_order, nic::Placement::in_order, nic::Placement::out_of_order});
  if (one_in(random, 3)) p.nic_recovery = pick(random, {nic::Recovery::go_back_n, nic::Recovery::selective_repeat});
  if (one_in(random, 3)) p.pcie_rate = sim::BitsPerSecond{pick<std::uint64_t>(random, {7'000'000'000, 30'000'000'000})};
  if (one_in(random, 2)) p.nic_jitter = pick(random, {20_ns, 200_ns});
  if (one_in(random, 4)) p.nic_receive_buffer = sim::Bytes{20'000 + below(random, 100'000)};
  return p;
}

/// Of a stream of its own: what NICs have little of, each by itself.
void draw_scarcity(Random& random, nic::HardwareProfile& p) {
  if (one_in(random, 4)) p.nic_context_entries = 4;
  if (one_in(random, 4)) p.nic_translation_entries = 8;
  if (one_in(random, 4)) p.nic_receive_buffer = sim::Bytes{6'000};
  if (one_in(random, 4)) p.pcie_tags = static_cast<std::uint32_t>(1 + below(random, 4));
  if (one_in(random, 4)) p.pcie_posted_credits = sim::Bytes{1'024};
  if (one_in(random, 4)) p.nic_max_rd_atomic = static_cast<std::uint32_t>(1 + below(random, 3));
  p.nic_rnr_timer = pick(random, {10_us, 80_us});
  p.nic_rnr_retry = pick<std::uint32_t>(random, {0, 1, 3, 7, 7});
  if (one_in(random, 4))
    p.pcie_read_ordering = pick(
        random, {nic::ReadOrdering::nic_serialised, nic::ReadOrdering::root_complex, nic::ReadOrdering::speculative});
}

/// A work request of the traffic, with places of its own in both hosts' memory.
struct Posted {
  nic::Wqe wqe;
  std::optional<nic::Status> status;
  bool wrong = false;  ///< it must not succeed
};

/// One direction of a connected pair.
struct Stream {
  nic::QpId qp = 0, target = 0;
  nic::NodeId from = 0, to = 0;
  std::uint64_t adds_at = 0;  ///< its word for fetch-adds in the target's memory
  std::vector<Posted> requests;
  std::size_t posted = 0;
  std::vector<std::uint64_t> receives;  ///< where its SENDs go, in the target's memory
  std::size_t receives_posted = 0;      ///< those that are left the target's thread posts late: RNR NAKs
};

constexpr std::uint64_t kRegion = 1 << 20;
constexpr std::uint32_t kRequests = 12;
constexpr std::uint32_t kSendMost = 2'048;  ///< of a SEND, and of each receive

/// Hosts, their memory, and what they will send.
class Traffic {
 public:
  Traffic(const nic::SystemConfig& config, std::uint64_t seed)
      : random_(seed), late_receives_(seed % 3 == 0), mistakes_(seed % 4 == 1), system_(config) {
    for (nic::NodeId node = 0; node < config.nodes; ++node) {
      regions_.push_back(system_.register_memory(node, system_.allocate(node, kRegion), kRegion));
      cqs_.push_back(system_.create_cq(node, 1'024));
      used_.push_back(64 * 64);  // the first words are those of fetch-adds
      content_.push_back(pattern(kRegion, static_cast<std::uint32_t>(seed + node)));
      system_.write_memory(node, regions_[node].base, std::as_bytes(std::span(content_[node])));
    }
    hot_ = one_in(random_, 2);
    hurried_ = one_in(random_, 2);
    const std::uint64_t streams = 1 + below(random_, 2 * config.nodes);
    for (std::uint64_t i = 0; i < streams; ++i) add_stream(static_cast<std::uint32_t>(i));
    for (nic::NodeId node = 0; node < config.nodes; ++node) {
      system_.create_thread(node);
      scripts_.steps.emplace_back([this, node](nic::Cpu& cpu) { step(cpu, node); });
    }
  }

  TrafficOutcome run(nic::Observer* observer) {
    nic::Context context{scripts_, observer};
    constexpr std::uint64_t kEventsMax = 20'000'000;  // a hundred times what they take
    std::uint64_t events = 0;
    while (system_.step(context)) {
      if (++events == kEventsMax) return {.wrong = "it does not end"};
    }
    return judge();
  }

 private:
  /// A range of the host's memory that nothing else uses: of what WRITEs and READs fill, from below.
  std::uint64_t take(nic::NodeId node, std::uint32_t bytes) {
    const std::uint64_t at = used_[node];
    used_[node] += (bytes + 63U) / 64U * 64U;
    return at;
  }

  void add_stream(std::uint32_t index) {
    Stream s;
    const auto nodes = static_cast<nic::NodeId>(regions_.size());
    s.from = static_cast<nic::NodeId>(below(random_, nodes));
    s.to = hot_ ? 0 : static_cast<nic::NodeId>(below(random_, nodes));  // perhaps itself
    s.adds_at = 8 * std::uint64_t{index};
    system_.set_word(s.to, regions_[s.to].base + s.adds_at, 0);
    const std::vector<fabric::TrafficClass> classes = system_.config().network.used_classes();
    nic::QpConfig of{.send_entries = index % 4 == 2 ? 4U : 64U,
                     .traffic_class = static_cast<std::uint8_t>(classes[index % classes.size()].id),
                     .congestion = static_cast<std::uint8_t>(index % (system_.config().congestion.size() + 1)),
                     .transport = own_transport(system_.config(), index)};
    if (index % 3 == 0) of.ack_class = static_cast<std::uint8_t>(classes.back().id);
    const auto end = [&](nic::NodeId node) {
      of.send_cq = cqs_[node];
      return system_.create_qp(node, of);
    };
    s.qp = end(s.from);
    const nic::DeliveryOperations has = operations_of(system_.config(), index);
    const bool sends = has.sends && (!has.atomics || late_receives_);
    if (sends) {
      of.recv_cq = system_.create_cq(s.to, 64);
      of.recv_entries = kRequests;
    }
    s.target = end(s.to);
    system_.connect(s.qp, s.target);
    for (std::uint32_t i = 0; i < kRequests; ++i) {
      const nic::MemoryRegion& local = regions_[s.from];
      const nic::MemoryRegion& remote = regions_[s.to];
      nic::Wqe wqe{.length = static_cast<std::uint32_t>(1 + below(random_, one_in(random_, 3) ? 20'000 : 600)),
                   .lkey = local.lkey,
                   .rkey = remote.rkey,
                   .local = local.base,
                   .remote = remote.base};
      wqe.wr_id = (std::uint64_t{index} << 32U) + i;
      wqe.opcode = pick(
          random_, {nic::Opcode::rdma_write, nic::Opcode::rdma_write, nic::Opcode::rdma_read, nic::Opcode::fetch_add});
      if (wqe.opcode == nic::Opcode::fetch_add && (!has.atomics || (sends && one_in(random_, 2))))
        wqe.opcode = sends ? nic::Opcode::send : nic::Opcode::rdma_write;
      if (wqe.opcode == nic::Opcode::send) {
        if (used_[s.to] > kRegion / 2 - kSendMost) continue;
        wqe.length = std::min(wqe.length, kSendMost);
        wqe.local += kRegion / 2 + below(random_, kRegion / 2 - wqe.length);
        s.receives.push_back(remote.base + take(s.to, kSendMost));
        if (!late_receives_) post_receive(s);
      } else if (wqe.opcode == nic::Opcode::fetch_add) {
        wqe.length = 8;
        wqe.local += take(s.from, 8);
        wqe.remote += s.adds_at;
        wqe.compare_add = 1;
      } else {
        const bool write = wqe.opcode == nic::Opcode::rdma_write;
        const nic::NodeId filled = write ? s.to : s.from;
        const std::uint64_t into = take(filled, wqe.length);
        if (used_[filled] > kRegion / 2) continue;  // full: what is read from is the other half
        const std::uint64_t from = kRegion / 2 + below(random_, kRegion / 2 - wqe.length);
        (write ? wqe.remote : wqe.local) += into;
        (write ? wqe.local : wqe.remote) += from;
      }
      s.requests.push_back({.wqe = wqe, .status = {}});
      if (mistakes_ && one_in(random_, 2 * kRequests)) make_wrong(s.requests.back());
    }
    streams_.push_back(std::move(s));
  }

  /// A key of nobody's, or a place beyond the region: of the own memory, which this end finds, or of the other one's.
  void make_wrong(Posted& p) {
    constexpr std::uint32_t kNobodys = 0xffff'fff0U;
    p.wrong = true;
    switch (below(random_, 3)) {
      case 0:
        p.wqe.lkey = kNobodys;
        break;
      case 1:
        p.wqe.rkey = kNobodys;
        if (p.wqe.opcode == nic::Opcode::send) p.wqe.length = kSendMost + 1;
        break;
      default:
        p.wqe.remote += kRegion;
        if (p.wqe.opcode == nic::Opcode::send) p.wqe.length = kSendMost + 1;
    }
  }

  [[nodiscard]] nic::RecvWqe next_receive(const Stream& s) const {
    return {.address = s.receives[s.receives_posted], .length = kSendMost, .lkey = regions_[s.to].lkey};
  }

  void post_receive(Stream& s) {
    system_.post_recv(s.target, next_receive(s));
    ++s.receives_posted;
  }

  /// One of the receives that SENDs to this host will need, if there is one left: true, also when it has to wait until
  /// stores have drained.
  bool post_late_receive(nic::Cpu& cpu, nic::NodeId node) {
    for (Stream& s : streams_) {
      if (s.to != node || s.receives_posted == s.receives.size()) continue;
      if (cpu.store_buffer_full()) return true;
      const nic::RecvWqe wqe = next_receive(s);
      if (cpu.post_recv(s.target, {&wqe, 1}) != nic::PostResult::ok) wrong_ = "a refused receive";
      ++s.receives_posted;
      return true;
    }
    return false;
  }

  /// A step of a host's thread: takes what is complete, posts a work request or a receive, or waits.
  void step(nic::Cpu& cpu, nic::NodeId node) {
    std::array<nic::Cqe, 16> cqes;
    const std::size_t n = cpu.poll_cq(cqs_[node], cqes);
    for (std::size_t i = 0; i < n; ++i) {
      Posted& p = streams_.at(cqes[i].wr_id >> 32U).requests.at(cqes[i].wr_id & 0xffffffffU);
      if (p.status) wrong_ = "two completions of one work request";
      p.status = cqes[i].status;
    }
    bool done = true;
    for (Stream& s : streams_) {
      if (s.from != node) continue;
      if (s.posted < s.requests.size() && !cpu.store_buffer_full()) {
        const nic::PostResult posted = cpu.post_send(s.qp, {&s.requests[s.posted].wqe, 1});
        if (posted == nic::PostResult::queue_full) {
          done = false;  // until one of them has completed
          continue;
        }
        if (posted != nic::PostResult::ok) wrong_ = "a refused request";
        ++s.posted;
        return cpu.resume_after(
            sim::Duration{static_cast<std::int64_t>(below(random_, hurried_ ? 50'000 : 8'000'000))});
      }
      done = done && s.posted == s.requests.size() &&
             std::ranges::all_of(s.requests, [](const Posted& p) { return p.status.has_value(); });
    }
    if (post_late_receive(cpu, node))
      return cpu.resume_after(sim::Duration{static_cast<std::int64_t>(below(random_, 20'000'000))});
    if (done) return cpu.stop();
    cpu.pause({});
  }

  std::vector<std::uint8_t> bytes(nic::NodeId node, std::uint64_t address, std::uint32_t length) const {
    std::vector<std::uint8_t> out(length);
    system_.read_memory(node, address, std::as_writable_bytes(std::span(out)));
    return out;
  }

  /// Is what was acknowledged where it belongs?
  void check(const Stream& s, const Posted& p) {
    if (p.wqe.opcode == nic::Opcode::fetch_add) return;
    if (p.wqe.opcode == nic::Opcode::send) return check_send(s, p);
    const bool write = p.wqe.opcode == nic::Opcode::rdma_write;
    const auto there = bytes(write ? s.to : s.from, write ? p.wqe.remote : p.wqe.local, p.wqe.length);
    const nic::NodeId source = write ? s.from : s.to;
    const std::uint64_t from = (write ? p.wqe.local : p.wqe.remote) - regions_[source].base;
    if (!std::equal(there.begin(), there.end(), content_[source].begin() + static_cast<std::ptrdiff_t>(from))) {
      wrong_ = fmt::format("{} bytes that were acknowledged are not in place", p.wqe.length);
    }
  }

  /// In one of the receives, whichever.
  void check_send(const Stream& s, const Posted& p) {
    const std::uint64_t from = p.wqe.local - regions_[s.from].base;
    const auto sent = content_[s.from].begin() + static_cast<std::ptrdiff_t>(from);
    const bool there = std::ranges::any_of(s.receives, [&](std::uint64_t at) {
      const auto found = bytes(s.to, at, p.wqe.length);
      return std::equal(found.begin(), found.end(), sent);
    });
    if (!there) wrong_ = fmt::format("a SEND of {} bytes that was acknowledged is in no receive", p.wqe.length);
  }

  TrafficOutcome judge() {
    const fabric::PacketNetwork& network = *system_.network().packet_network();
    TrafficOutcome out;
    out.deadlock = !fabric::pause_cycle(network).empty();
    std::uint64_t added = 0;
    for (const Stream& s : streams_) {
      std::uint64_t adds = 0, adds_done = 0;
      for (const Posted& p : s.requests) {
        // With timers those that links hold up for good give up.
        if (!p.status && (!out.deadlock || system_.config().timers)) wrong_ = "a work request is never completed";
        const bool good = p.status == nic::Status::success;
        good ? ++out.succeeded : ++out.failed;
        if (good && p.wrong) wrong_ = "a request with a wrong key or place has succeeded";
        if (good) check(s, p);
        if (p.wqe.opcode != nic::Opcode::fetch_add) continue;
        ++adds;
        adds_done += good ? 1U : 0U;
      }
      added = system_.word(s.to, regions_[s.to].base + s.adds_at);
      if (added < adds_done || added > adds) {
        wrong_ = fmt::format("{} of {} fetch-adds acknowledged, {} executed", adds_done, adds, added);
      }
    }
    count(network, out);
    out.wrong = wrong_;
    return out;
  }

  void count(const fabric::PacketNetwork& network, TrafficOutcome& out) {
    std::uint64_t lost = 0;
    for (std::size_t reason = 0; reason < fabric::kLossReasonNames.size(); ++reason) {
      lost += network.packets_lost(static_cast<fabric::LossReason>(reason));
    }
    const nic::Counters& c = system_.counters();
    out.lost = lost;
    out.timeouts = c.timeouts;
    out.counters = c;
    out.ended = system_.now();
    out.pauses = fabric::totals(network).pauses;
    const std::uint64_t inside = network.packets_inside();
    if (network.telemetry_inside() != 0 && inside == 0) wrong_ = "telemetry is kept of packets that are gone";
    if (inside != 0 && !out.deadlock) wrong_ = "packets are left in the network";
    if (c.packets_sent != network.packets_delivered() + lost + inside) {
      wrong_ = fmt::format("{} packets sent, {} delivered, {} lost, {} inside", c.packets_sent,
                           network.packets_delivered(), lost, inside);
    }
    if (network.packets_lost(fabric::LossReason::buffer_full) != 0 && !network.config().buffers_overflow()) {
      wrong_ = "a buffer overflows on a network that promises that none does";
    }
  }

  Random random_;
  bool late_receives_;  ///< of a third of the seeds: SENDs come before their receives, reliable connections' too
  bool mistakes_;       ///< of a quarter: some requests are wrong, and must fail
  nic::System system_;
  Scripts scripts_;
  std::vector<nic::MemoryRegion> regions_;
  std::vector<nic::CqId> cqs_;
  std::vector<std::uint64_t> used_;
  std::vector<std::vector<std::uint8_t>> content_;
  std::vector<Stream> streams_;
  bool hot_ = false;      ///< everybody sends to host 0
  bool hurried_ = false;  ///< everything is posted at once
  std::string wrong_;
};

}  // namespace

std::uint8_t own_transport(const nic::SystemConfig& config, std::size_t stream) {
  return static_cast<std::uint8_t>((stream + 1) / 2 % (config.transports.size() + 1));
}

nic::DeliveryOperations operations_of(const nic::SystemConfig& config, std::size_t stream) {
  const std::uint8_t own = own_transport(config, stream);
  if (own == 0) return nic::reliable_policy(config.profile).operations;
  return nic::reliable_policy(nic::with_transport(config.profile, config.transports[own - 1U])).operations;
}

nic::SystemConfig random_network(std::uint64_t seed) {
  Random random(seed);
  Random controls(~seed);
  Random transports(seed * 2 + 1);
  Random classes(seed ^ 0x5555'5555'5555'5555U);
  Random scarcity(seed * 3 + 2);
  Random own_transports(seed * 5 + 3);
  for (int draft = 0; draft < 100; ++draft) {
    nic::SystemConfig c;
    c.profile = random_profile(random);
    c.topology = fabric::Topology::shaped;
    c.network.shape = random_shape(random);
    c.network.seed = random();
    c.nodes = static_cast<std::uint32_t>(fabric::topology::size_of(c.network.shape).hosts);
    c.timed = c.timers = one_in(random, 2);
    draw_options(random, c.network.options);
    draw_failures(random, c.network);
    draw_congestion_control(controls, c);
    draw_transport(transports, c);
    draw_own_transport(own_transports, c);
    draw_classes(classes, c);
    if (one_in(scarcity, 2)) draw_scarcity(scarcity, c.profile);
    try {
      const nic::System probe(c);
      return c;
    } catch (const std::invalid_argument&) {  // headroom that does not fit, and the like
    }
  }
  throw std::runtime_error(fmt::format("seed {}: no draft fits together", seed));
}

TrafficOutcome run_traffic(const nic::SystemConfig& config, std::uint64_t seed, nic::Observer* observer) {
  return std::make_unique<Traffic>(config, seed)->run(observer);
}

}  // namespace loco::test
