#include "loco_sim/perf/perf.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

#include "loco_sim/perf/bench.hpp"
#include "nic_model/engine/hash.hpp"

namespace loco::perf {

namespace {

constexpr std::uint64_t kSizeMax = 1ULL << 30U;
constexpr std::uint32_t kQkey = 0x11111111;  // perftest's

nic::SystemConfig machine(const Options& o) {
  const bool star = o.topology == Way::star;
  return {.profile = o.profile,
          .topology = star ? fabric::Topology::star : fabric::Topology::back_to_back,
          .nodes = 2,
          .timed = true};
}

void require(bool holds, std::string_view what) {
  if (!holds) throw std::invalid_argument(std::string(what));
}

void require_option(bool holds, std::string_view option, const std::string& problem) {
  if (!holds) throw OptionError(option, problem);
}

void require_connection(const Options& o) {
  if (o.connection == nic::QpType::rc) return;
  const bool sends = o.test == Test::send_lat || o.test == Test::send_bw;
  const bool writes = o.test == Test::write_lat || o.test == Test::write_bw;
  const std::string_view found = kConnectionNames.at(static_cast<std::size_t>(o.connection));
  require_option(sends || writes, "connection",
                 fmt::format("expected RC, since UC and UD have no READs, atomics or bare DMA, found {}", found));
  require_option(sends || o.connection == nic::QpType::uc, "connection",
                 fmt::format("expected RC or UC, since UD has SENDs only, found {}", found));
  const std::uint64_t most = longest(o.connection, o.profile);
  require_option(o.connection == nic::QpType::uc || o.size <= most, "size",
                 fmt::format("expected at most {}, what a datagram has, found {}", most, o.size));
}

/// Refuses options that would have no effect in this test, because a result must be what was asked for.
void require_used(const Options& o) {
  const bool ping_pong = o.test == Test::write_lat || o.test == Test::send_lat;
  const bool sends = o.test == Test::send_lat || o.test == Test::send_bw;
  require_option(o.region == 0 || !(ping_pong || sends), "region",
                 "expected none, since the receiver waits at one place, found one");
  require_option(o.seed == Options{}.seed || o.region != 0, "seed",
                 fmt::format("expected {}, since places are drawn in a region only, found {}", Options{}.seed, o.seed));
  require_option(o.topology == Options{}.topology || !is_dma(o.test), "topology",
                 fmt::format("expected back_to_back, since bare DMA has no network, found {}",
                             kWayNames.at(static_cast<std::size_t>(o.topology))));
  require_option(!o.device_memory || !(ping_pong || is_dma(o.test)), "device_memory",
                 fmt::format("expected off, since {} the memory of the host, found on",
                             ping_pong ? "the receiver looks into" : "bare DMA is to"));
  require_option(!is_atomic(o.test) || o.size == 8, "size",
                 fmt::format("expected 8, what an atomic has, found {}", o.size));
  require_option(!o.copy || ping_pong, "copy", "expected off, since only write_lat and send_lat have copies, found on");
  require_option(o.post_list == 1 || (is_bandwidth(o.test) && !is_dma(o.test)), "post_list",
                 fmt::format("expected 1, since work requests are posted one by one, found {}", o.post_list));
  require_option(
      o.depth == Options{}.depth || is_bandwidth(o.test), "depth",
      fmt::format("expected {}, since latency tests have one message under way, found {}", Options{}.depth, o.depth));
  require_option(
      o.rx_depth == Options{}.rx_depth || o.test == Test::send_bw, "rx_depth",
      fmt::format("expected {}, since only send_bw has a queue of receives, found {}", Options{}.rx_depth, o.rx_depth));
  const bool loads = is_bandwidth(o.test) && !is_dma(o.test);
  require_option(!o.relaxed_ordering || (loads && !is_atomic(o.test)), "relaxed_ordering",
                 "expected off, since only bandwidth tests over the network register memory so, found on");
  require_option(!o.bidirectional || loads, "bidirectional",
                 "expected off, since only bandwidth tests over the network have two directions, found on");
  require_option(o.duration.ps == 0 || loads, "duration",
                 "expected none, since only bandwidth tests over the network post for a time, found one");
  require_option(o.duration.ps == 0 || o.iterations == 0, "duration",
                 fmt::format("expected no number of messages beside it, found {}", o.iterations));
  require_option(
      o.signal_every == 0 || loads, "signal_every",
      fmt::format("expected none, since only bandwidth tests over the network leave completions out, found {}",
                  o.signal_every));
  require_option(o.signal_every <= o.depth, "signal_every",
                 fmt::format("expected at most the depth of {}, found {}", o.depth, o.signal_every));
  require_option(!o.inline_max || ping_pong || sends || o.test == Test::write_bw, "inline_max",
                 fmt::format("expected none, since only writes and sends can carry their data, found {}",
                             o.inline_max.value_or(0)));
}

/// Receives are posted before the first message, sends as fast as a thread can: their memory is taken. Completion
/// queues, which have an entry for each, are far below 2^32 entries then.
void require_queues(const Options& o) {
  const std::uint32_t most = kQueueEntriesMax / o.queue_pairs;
  const auto require_room = [&](std::string_view option, std::uint32_t entries) {
    require_option(entries <= most, option,
                   fmt::format("expected at most {} with {} queue pair(s), {} work requests in all, found {}", most,
                               o.queue_pairs, kQueueEntriesMax, entries));
  };
  require_room("depth", o.depth);
  require_room("rx_depth", o.rx_depth);
}

Options checked(const Options& given) {
  Options o = given;
  require_connection(o);
  require(!is_atomic(o.test) || o.profile.nic_atomic_cap != nic::AtomicCap::none,
          "expected a NIC with remote atomics, found one without (nic.atomic_cap: none)");
  require_option(o.size >= 1 && o.size <= kSizeMax, "size",
                 fmt::format("expected 1 to {} bytes, found {}", kSizeMax, o.size));
  require_option(o.threads >= 1 && o.queue_pairs >= o.threads, "queue_pairs",
                 fmt::format("expected one for each of {} threads, found {}", o.threads, o.queue_pairs));
  require_option(o.depth >= 1 && o.post_list >= 1 && o.post_list <= o.depth, "post_list",
                 fmt::format("expected 1 to the depth of {}, found {}", o.depth, o.post_list));
  require_option(is_bandwidth(o.test) || o.queue_pairs == 1, "queue_pairs",
                 fmt::format("expected 1, what latency tests have, found {}", o.queue_pairs));
  require_option(o.queue_pairs <= kQueuePairsMax, "queue_pairs",
                 fmt::format("expected at most {}, perftest's MAX_QP_NUM, found {}", kQueuePairsMax, o.queue_pairs));
  require_queues(o);
  require_option(!is_dma(o.test) || o.queue_pairs == 1, "queue_pairs",
                 fmt::format("expected 1, since bare DMA has no queue pairs, found {}", o.queue_pairs));
  require_used(o);
  require_option(o.region == 0 || o.region >= o.size, "region",
                 fmt::format("expected at least a message's {} bytes, found {}", o.size, o.region));
  if (o.duration.ps != 0) o.iterations = std::numeric_limits<std::uint32_t>::max();
  if (o.iterations == 0) o.iterations = default_iterations(o.test, o.size);
  if (!o.inline_max) o.inline_max = default_inline(o.test, o.profile);
  require_option(
      *o.inline_max <= o.profile.nic_inline_max.count, "inline_max",
      fmt::format("expected at most {}, what the NIC takes, found {}", o.profile.nic_inline_max.count, *o.inline_max));
  return o;
}

}  // namespace

std::uint32_t default_iterations(Test test, std::uint64_t size) {
  constexpr std::uint64_t kBytesMax = 256ULL << 20U;
  const std::uint64_t most = test == Test::write_bw ? 5000 : 1000;
  const std::uint64_t least = 16;
  return static_cast<std::uint32_t>(std::clamp(kBytesMax / std::max<std::uint64_t>(size, 1), least, most));
}

std::uint32_t default_inline(Test test, const nic::HardwareProfile& profile) {
  std::uint64_t limit = 0;
  if (test == Test::write_lat) limit = 220;
  if (test == Test::send_lat) limit = 236;
  return static_cast<std::uint32_t>(std::min(limit, profile.nic_inline_max.count));
}

std::uint64_t longest(nic::QpType connection, const nic::HardwareProfile& profile) {
  constexpr std::uint64_t kLongest = 8U << 20U;
  return connection == nic::QpType::ud ? static_cast<std::uint64_t>(profile.link_mtu.count) : kLongest;
}

std::uint64_t default_size(Test test, std::uint64_t most) {
  if (is_atomic(test)) return 8;
  return std::min<std::uint64_t>(most, is_bandwidth(test) ? 65536 : (is_dma(test) ? 64 : 2));
}

std::vector<std::uint64_t> all_sizes(Test test, std::uint64_t most) {
  if (is_atomic(test)) return {8};
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 2; size <= most; size *= 2) sizes.push_back(size);
  return sizes;
}

Result run(const Options& given) {
  const Options o = checked(given);
  switch (o.test) {
    case Test::write_lat:
      return one_sided_ping_pong(o);
    case Test::send_lat:
      return send_ping_pong(o);
    case Test::read_lat:
    case Test::atomic_lat:
      return round_trips(o);
    case Test::write_bw:
    case Test::read_bw:
    case Test::send_bw:
    case Test::atomic_bw:
      return bandwidth(o);
    case Test::dma_read_lat:
    case Test::dma_write_read_lat:
      return dma_latency(o);
    case Test::dma_read_bw:
    case Test::dma_write_bw:
      return dma_bandwidth(o);
  }
  throw std::logic_error("a test without a name");
}

std::vector<Column> columns(Test test, const Result& r) {
  constexpr double kMebi = 1024.0 * 1024.0;
  std::vector<Column> out{{"bytes", r.size}, {"iterations", r.iterations}};
  if (is_bandwidth(test)) {
    out.insert(out.end(), {{"bw_peak_mib_s", r.peak / kMebi},
                           {"bw_average_mib_s", r.average / kMebi},
                           {"bw_average_gbps", r.average * 8e-9},
                           {"msg_rate_mpps", r.rate * 1e-6}});
    if (r.sent[1] > 0) {
      out.insert(out.end(), {{"bw_from_0_mib_s", r.sent[0] / kMebi}, {"bw_from_1_mib_s", r.sent[1] / kMebi}});
    }
  } else {
    out.insert(out.end(), {{"t_min_us", r.t_min},
                           {"t_max_us", r.t_max},
                           {"t_typical_us", r.t_typical},
                           {"t_avg_us", r.t_avg},
                           {"t_stdev_us", r.t_stdev},
                           {"t_99_us", r.t_99},
                           {"t_999_us", r.t_999}});
  }
  out.push_back({"cache_misses", r.cache_misses});
  return out;
}

Bench::Bench(const Options& options) : options_(options), system_(machine(options)) {}

nic::NodeId Bench::host(Side side) const { return options_.topology == Way::loopback ? 0 : side; }

nic::CqId Bench::create_cq(Side side, std::uint32_t entries) {
  return cqs_.emplace_back(system_.create_cq(host(side), entries));
}

nic::MemoryRegion Bench::memory(Side side, std::uint64_t size, nic::RegionKind kind) {
  // On a page boundary, like perftest's buffers, because messages are split at multiples of the MPS.
  const nic::NodeId node = host(side);
  const nic::Address base = (system_.allocate(node, size + kPage) + kPage - 1) / kPage * kPage;
  return system_.register_memory(node, base, size, nic::kAllAccess, kind);
}

std::array<Endpoint, 2> Bench::connect(std::uint32_t depth, nic::CqId send_cq, nic::CqId recv_cq, Side from,
                                       std::uint32_t receives) {
  const auto end = [&](Side side, nic::CqId sends, nic::CqId received) {
    const nic::QpId qp = system_.create_qp(host(side), {.type = options_.connection,
                                                        .send_cq = sends,
                                                        .recv_cq = received,
                                                        .send_entries = depth,
                                                        .recv_entries = receives == 0 ? depth : receives});
    return Endpoint{.qp = qp, .send_cq = sends, .recv_cq = received};
  };
  const Side to = 1 - from;
  std::array<Endpoint, 2> ends = {
      end(from, send_cq, create_cq(from, depth + 1)),
      end(to, create_cq(to, depth + 1), recv_cq),
  };
  ends[0].peer = ends[1].qp;
  ends[1].peer = ends[0].qp;
  if (options_.connection != nic::QpType::ud) {
    system_.connect(ends[0].qp, ends[1].qp);
  } else {
    for (const Endpoint& one : ends) system_.activate(one.qp, kQkey);
  }
  return ends;
}

void Bench::thread(Side side, Step step) { steps_.add(system_, host(side), std::move(step)); }

bool Bench::step() {
  constexpr std::uint64_t kAskEvery = 4096;
  if (++events_ % kAskEvery == 0 && options_.interrupted && options_.interrupted()) throw Interrupted();
  try {
    return system_.step(context_);
  } catch (const WorkFailed& failed) {
    tell(failed.cqe);
  }
}

namespace {
/// Why the message is invalid, if the profile says so.
std::string reason(const Options& o, nic::Status status) {
  if (status != nic::Status::loc_len_err) return {};
  const nic::HardwareProfile& p = o.profile;
  const bool one_packet = !p.nic_send_segments && message(o, 0).opcode == nic::Opcode::send;
  return one_packet ? fmt::format(": a SEND of {} bytes, where this NIC's have at most the MTU of {} (link.mtu)",
                                  o.size, p.link_mtu.count)
                    : fmt::format(": {} bytes, where this NIC's messages have at most {} (nic.max_message)", o.size,
                                  p.nic_max_message.count);
}
}  // namespace

/// Names the work request that failed first. Later ones, including receives, are flushed, and the first one's
/// completion may be in a queue that nobody polls now.
void Bench::tell(const nic::Cqe& taken) const {
  nic::Status status = taken.status;
  for (const nic::CqId cq : cqs_) {
    for (const nic::Cqe& other : system_.failed_cqes(cq)) {
      if (status == nic::Status::wr_flush_err) status = other.status;
    }
  }
  throw std::runtime_error(fmt::format("a work request failed: {}{}", nic::name(status), reason(options_, status)));
}

void Bench::run() {
  while (step()) {
  }
}

std::uint64_t received_bytes(const Options& o) {
  constexpr std::uint64_t kGrh = 40;  // precedes a datagram (IBTA volume 1, 11.4.1.2)
  return o.size + (o.connection == nic::QpType::ud ? kGrh : 0);
}

nic::Wqe message(const Options& o, nic::QpId peer) {
  nic::Wqe wqe;
  if (o.connection == nic::QpType::ud) {
    wqe.remote_qp = peer;
    wqe.remote_qkey = kQkey;
  }
  wqe.length = static_cast<std::uint32_t>(o.size);
  wqe.compare_add = 1;
  switch (o.test) {
    case Test::read_lat:
    case Test::read_bw:
      wqe.opcode = nic::Opcode::rdma_read;
      break;
    case Test::atomic_lat:
    case Test::atomic_bw:
      wqe.opcode = nic::Opcode::fetch_add;
      break;
    case Test::send_lat:
    case Test::send_bw:
      wqe.opcode = nic::Opcode::send;
      break;
    default:
      wqe.opcode = nic::Opcode::rdma_write;
  }
  const bool can_inline = wqe.opcode == nic::Opcode::rdma_write || wqe.opcode == nic::Opcode::send;
  wqe.inline_data = can_inline && o.size <= o.inline_max.value_or(0);
  return wqe;
}

std::uint64_t slot_size(const Options& o) {
  constexpr std::uint64_t kLine = 64;
  return (received_bytes(o) + kLine - 1) / kLine * kLine;
}

std::uint64_t place_in_region(const Options& o, nic::QpId qp, std::uint64_t message) {
  const std::uint64_t places = std::max<std::uint64_t>(o.region / slot_size(o), 1);
  return nic::mix(nic::mix(o.seed) ^ std::uint64_t{qp} << 32U ^ message) % places * slot_size(o);
}

void post(nic::Cpu& cpu, nic::QpId qp, std::span<const nic::Wqe> wqes) {
  if (cpu.post_send(qp, wqes) != nic::PostResult::ok) throw std::runtime_error("a post was refused");
}

void expect_success(const nic::Cqe& cqe) {
  if (cqe.status != nic::Status::success) throw WorkFailed{cqe};
}

sim::Duration copy_time(const Options& o) {
  return o.copy ? sim::transmission_time({o.size}, o.profile.cpu_copy_rate) : sim::Duration{};
}

void summarise(std::vector<std::int64_t> samples, Result& result) {
  if (samples.empty()) return;
  std::sort(samples.begin(), samples.end());
  constexpr double kMicrosecond = 1e6;
  const auto at = [&](std::size_t index) {
    return static_cast<double>(samples[std::min(index, samples.size() - 1)]) / kMicrosecond;
  };
  // The two largest samples are left out of everything below (perftest: LAT_MEASURE_TAIL); the lesser one is t_max.
  constexpr std::size_t kTail = 2;
  const std::size_t count = samples.size() > kTail ? samples.size() - kTail : samples.size();
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) sum += at(i);
  result.t_avg = sum / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) squares += (at(i) - result.t_avg) * (at(i) - result.t_avg);
  result.t_stdev = std::sqrt(squares / static_cast<double>(count));
  result.t_min = at(0);
  result.t_max = at(count);
  result.t_typical = count % 2 == 0 ? (at(count / 2) + at(count / 2 - 1)) / 2 : at(count / 2);
  const auto rank = [&](double share) {
    return at(static_cast<std::size_t>(std::ceil(share * static_cast<double>(count))));
  };
  result.t_99 = rank(0.99);
  result.t_999 = rank(0.999);
}

}  // namespace loco::perf
