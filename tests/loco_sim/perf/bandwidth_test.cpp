// Bandwidth is that of whatever is slowest: the link, either direction of either PCIe link, or the packets a second
// that a NIC sends; for messages of any size, with any MTU, in one direction or both, of any number of queue pairs.
//
// Counted are the bytes that each of them carries for a message of `size` bytes in `packets` packets:
//   link     size + packets * overhead + what the first and last carry besides (IBTA volume 1, 5.2 and 9.4);
//            the other way an ACK, or the request of a READ
//   PCIe     of who has the data: its completions down, read requests up; of who takes it: its writes up, one TLP for
//            each MPS that a packet touches. Work requests, doorbells and CQEs beside that (docs/hardware.md)
//   packets  nic.packet_gap apart
//   answers  of a queue pair to READs: nic.read_gap behind each, packets a share of a PCIe read apart, those of one
//   packet not (nic.read_packets)
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include "loco_sim/perf/perf.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "tests/catch.hpp"

using namespace loco;
using perf::Test;

namespace {

constexpr double kWriteHeader = 24, kReadHeader = 24, kCompletionHeader = 20;

/// Pieces of [from, from + length) that end at multiples of `step`.
std::uint64_t pieces(std::uint64_t from, std::uint64_t length, std::uint64_t step) {
  return length == 0 ? 0 : (from + length - 1) / step - from / step + 1;
}

/// TLPs of a message's writes: each packet's are posted on their own.
std::uint64_t write_tlps(const perf::Options& o, std::uint64_t from) {
  std::uint64_t tlps = 0;
  for (std::uint64_t done = 0; done < o.size; done += o.profile.link_mtu.count) {
    tlps += pieces(from + done, std::min(o.size - done, o.profile.link_mtu.count), o.profile.pcie_mps.count);
  }
  return tlps;
}

/// Nanoseconds that a message keeps a resource busy, the longest of all.
struct Busy {
  double link = 0;
  double pcie = 0;
  double packets = 0;
  double answers = 0;

  [[nodiscard]] double most() const { return std::max({link, pcie, packets, answers}); }
};

double gbps(sim::BitsPerSecond rate) { return static_cast<double>(rate.value) * 1e-9; }

/// Nanoseconds that the data of a packet takes from being asked for, on an idle link.
double pcie_read(const perf::Options& o) {
  const nic::HardwareProfile& p = o.profile;
  const double completions = static_cast<double>(pieces(0, p.link_mtu.count, p.pcie_read_completion.count));
  const double bytes = kReadHeader + static_cast<double>(p.link_mtu.count) + completions * kCompletionHeader;
  const sim::Duration way = p.pcie_upstream + p.pcie_read_access + p.pcie_downstream;
  return static_cast<double>(way.ps) * 1e-3 + bytes * 8 / gbps(p.pcie_rate);
}

Busy on_link(const perf::Options& o, double packets) {
  const bool read = o.test == Test::read_bw;
  const auto overhead = static_cast<double>(o.profile.link_overhead.count);
  const double extension = read ? (packets == 1 ? 4 : 8) : (o.test == Test::write_bw ? 16 : 0);  // AETHs, RETH
  const double data = static_cast<double>(o.size) + packets * overhead + extension;
  const double other_way = overhead + (read ? 16 : 4);
  const double gap = static_cast<double>(o.profile.nic_packet_gap.ps) * 1e-3;
  const double line = data * 8 / gbps(o.profile.link_rate);
  // A queue pair's packets of READ data are some time apart at least: so many of them are read at a time.
  const double share = o.profile.nic_read_packets == 0 ? 0 : pcie_read(o) / o.profile.nic_read_packets;
  const double packet = (static_cast<double>(o.profile.link_mtu.count) + overhead) * 8 / gbps(o.profile.link_rate);
  const double apart = std::max(share - packet, 0.0);
  const double answer =
      line + (packets > 1 ? packets * apart : 0) + static_cast<double>(o.profile.nic_read_gap.ps) * 1e-3;
  // In both directions each link, and each NIC, carries the data of one and the answers or requests of the other.
  return {.link = (data + (o.bidirectional ? other_way : 0)) * 8 / gbps(o.profile.link_rate),
          .packets = (packets + (o.bidirectional ? 1 : 0)) * gap,
          .answers = read ? answer / o.queue_pairs : 0};
}

double on_pcie(const perf::Options& o) {
  // Queue pairs lie behind each other, at multiples of a cache line: the mean over their alignments.
  const std::uint64_t slot = (o.size + 63) / 64 * 64;
  double completions = 0, writes = 0;
  for (std::uint64_t qp = 0; qp < o.queue_pairs; ++qp) {
    completions += static_cast<double>(pieces(qp * slot, o.size, o.profile.pcie_read_completion.count)) / o.queue_pairs;
    writes += static_cast<double>(write_tlps(o, qp * slot)) / o.queue_pairs;
  }
  const auto size = static_cast<double>(o.size);
  const double requests = static_cast<double>(pieces(0, o.size, o.profile.pcie_mrrs.count));
  const double read_down = size + completions * kCompletionHeader;
  const double read_up = requests * kReadHeader;
  const double write_up = size + writes * kWriteHeader;
  // A work request, fetched with others; a doorbell and a CQE for each list of them.
  const double work_down = 64 + kCompletionHeader / 4 + (8 + kWriteHeader) / o.post_list;
  const double work_up = (64 + kWriteHeader) / o.post_list + kReadHeader / o.post_list;
  const bool read = o.test == Test::read_bw;
  double up = (read ? write_up : read_up) + work_up, down = work_down + (read ? 0 : read_down);
  double other_up = read ? read_up : write_up, other_down = read ? read_down : 0;
  if (o.test == Test::send_bw) other_up += 64 + kWriteHeader;
  if (o.bidirectional) {
    up += other_up;
    down += other_down;
    other_up = other_down = 0;
  }
  return std::max({up, down, other_up, other_down}) * 8 / gbps(o.profile.pcie_rate);
}

Busy busy(const perf::Options& o) {
  const double packets = static_cast<double>(pieces(0, o.size, o.profile.link_mtu.count));
  Busy all = on_link(o, packets);
  all.pcie = on_pcie(o);
  return all;
}

/// CPUs that cost nothing, and NICs whose units and READs under way never limit.
nic::HardwareProfile base(std::string_view name) {
  nic::HardwareProfile p = scenario::load_hardware(std::string(name)).profile;
  p.cpu_post_wqe = p.cpu_doorbell = p.cpu_poll_cqe = p.cpu_poll_empty = p.cpu_mmio_gap = {};
  p.nic_units = 0;
  p.nic_qp_gap = {};
  p.nic_read_state_entries = 0;
  p.nic_max_rd_atomic = 128;  // so many READs cover the way there and back
  return p;
}

template <class T, std::size_t N>
T one_of(std::mt19937_64& random, const std::array<T, N>& values) {
  return values.at(random() % N);
}

/// Around a multiple of the MTU, a power of two, or anything, of 1.5 KB to 100 KB: what a message costs besides its
/// data is small there.
std::uint64_t any_size(std::mt19937_64& random, std::uint64_t mtu) {
  switch (random() % 3) {
    case 0:
      return std::max<std::uint64_t>(1536, mtu * (1 + random() % 16)) +
             one_of<std::uint64_t>(random, std::array<std::uint64_t, 6>{0, 1, 8, 63, 200, mtu - 1});
    case 1:
      return 2048U << (random() % 6);
    default:
      return 1536 + random() % 98'000;
  }
}

perf::Options any_options(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  perf::Options o{
      .test = one_of(random, std::array{Test::write_bw, Test::read_bw, Test::send_bw}),
      .profile = base(one_of<std::string_view>(
          random, std::array<std::string_view, 4>{"cx5-roce-100g", "cx5-roce-25g", "cx6-ib-hdr", "cx3-ib-fdr"})),
      .topology = one_of(random, std::array{perf::Way::back_to_back, perf::Way::star}),
      .queue_pairs = static_cast<std::uint32_t>(1 + random() % 8),
      .post_list = 16,
      .bidirectional = random() % 2 == 0};
  o.threads = o.queue_pairs;  // each has its own: all of them end at about the same time
  o.profile.link_mtu = {one_of(random, std::array<std::uint64_t, 5>{256, 512, 1024, 2048, 4096})};
  o.profile.pcie_mps = {one_of(random, std::array<std::uint64_t, 3>{128, 256, 512})};
  o.profile.pcie_mrrs = {one_of(random, std::array<std::uint64_t, 3>{256, 512, 4096})};
  o.profile.pcie_read_completion = {one_of(random, std::array<std::uint64_t, 3>{64, 128, 256})};
  if (random() % 2 == 0) o.profile.pcie_rate.value = o.profile.link_rate.value / (1 + random() % 4);
  o.profile.nic_packet_gap = {one_of(random, std::array<std::int64_t, 3>{0, 8'100, 2'000'000})};
  // Of several queue pairs some are in their gaps while others wait for the port: no sum of parts.
  o.profile.nic_read_gap = {one_of(random, std::array<std::int64_t, 3>{0, 82'000, 2'000'000})};
  if (o.queue_pairs > 1) o.profile.nic_read_gap = {};
  if (o.bidirectional) o.profile.nic_read_packets = 0;  // reads wait for the link behind writes: below
  o.size = any_size(random, o.profile.link_mtu.count);
  // Long enough for what is under way at either end, receive buffers among it, to be small beside all.
  o.iterations =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(64, (12U << 20U) / o.size / o.queue_pairs)) / 16 * 16;
  return o;
}

}  // namespace

TEST_CASE(
    "bandwidth is the least of link, PCIe, packet rate and answers to READs: random sizes, MTUs, directions, queue "
    "pairs",
    "[figures]") {
  std::map<std::string, int> limited;
  for (std::uint64_t seed = 1; seed <= loco::test::some(60); ++seed) {
    const perf::Options o = any_options(seed);
    INFO("seed " << seed << ": " << perf::name(o.test) << " of " << o.size << " bytes, MTU " << o.profile.link_mtu.count
                 << ", " << o.queue_pairs << " queue pairs, both ways: " << o.bidirectional);
    const Busy message = busy(o);
    INFO("link " << message.link << ", PCIe " << message.pcie << ", packets " << message.packets << ", answers "
                 << message.answers << " ns a message");
    const double least = static_cast<double>(o.size) * 8 / message.most() * (o.bidirectional ? 2 : 1);
    CHECK(perf::run(o).average * 8e-9 == Approx(least).epsilon(0.03));
    ++limited[message.most() == message.link      ? "link"
              : message.most() == message.pcie    ? "PCIe"
              : message.most() == message.packets ? "packets"
                                                  : "answers"];
  }
  CHECK(limited.size() == 4);  // each of them has been the slowest
}

TEST_CASE("READs from a NIC to itself: what reads a packet waits for the link, behind packets that are written") {
  perf::Options o{
      .test = Test::read_bw, .profile = base("cx5-roce-100g"), .topology = perf::Way::loopback, .size = 65536};
  o.iterations = 400;
  const auto mtu = static_cast<double>(o.profile.link_mtu.count);
  const auto at_a_time = static_cast<double>(o.profile.nic_read_packets);
  const double written =
      (mtu + kWriteHeader * mtu / static_cast<double>(o.profile.pcie_mps.count)) * 8 / gbps(o.profile.pcie_rate);
  const auto packet = [&] { return mtu / (perf::run(o).average * 1e-9); };
  // Whatever time lies between a packet's read and its write, so many packets are read at a time, and in front of a
  // request are at most the writes of as many.
  double sum = 0;
  constexpr int kWays = 40;
  for (int way = 0; way < kWays; ++way) {
    o.profile.nic_loopback = sim::Duration{way * 10'000};
    INFO("nic.loopback " << way * 10 << " ns");
    const double apart = packet();
    CHECK(apart > pcie_read(o) / at_a_time);
    CHECK(apart < 1.01 * (pcie_read(o) / at_a_time + written));
    sum += apart;
  }
  // On the mean it is at least what requests would wait that come at any time: the link is busy for written / packet of
  // it, for half of a packet's writes more, so that packet = (read + written^2 / (2 packet)) / at a time.
  const double read = pcie_read(o);
  const double at_random = (read + std::sqrt(read * read + 2 * at_a_time * written * written)) / (2 * at_a_time);
  CHECK(sum / kWays > at_random);
  o.topology = perf::Way::back_to_back;  // there nothing is written by who answers
  CHECK(packet() == Approx(std::max(read / at_a_time, (mtu + static_cast<double>(o.profile.link_overhead.count)) * 8 /
                                                          gbps(o.profile.link_rate)))
                        .epsilon(0.03));
  o.profile.nic_read_packets = 2;
  CHECK(packet() == Approx(read / 2).epsilon(0.03));
}

TEST_CASE(
    "small SENDs in both directions: a host's one thread posts and receives, so the sum is hardly above one way") {
  // Published for a host that sends 4.68 M/s one way: 4.98 M/s in sum. A thread posts a SEND and a receive for each
  // message that it sends and gets.
  for (const char* const name : {"cx5-roce-100g", "cx5-roce-25g"}) {
    perf::Options o{.test = perf::Test::send_bw, .profile = scenario::load_hardware(name).profile, .size = 8};
    o.iterations = 8000;
    const double one = perf::run(o).rate;
    o.bidirectional = true;
    const double both = perf::run(o).rate;
    const nic::HardwareProfile& p = o.profile;
    const sim::Duration each = p.cpu_post_wqe + p.cpu_doorbell + p.cpu_poll_cqe + p.cpu_post_wqe;
    // The last receives are taken when all SENDs are complete: 512 of 8000.
    CHECK(both == Approx(2 / each.seconds()).epsilon(0.05));
    CHECK(both > one);
    CHECK(both < one * 1.35);
    // Of perftest's own 1,000 messages 512 receives are posted before the clock starts, and of them that are taken only
    // those again for which a message is still to come (rcnt + rx_depth <= iters): 488.
    o.iterations = 1000;
    const double times = static_cast<double>(o.iterations);
    CHECK(perf::run(o).rate ==
          Approx(2 * times / (times * each.seconds() - o.rx_depth * p.cpu_post_wqe.seconds())).epsilon(0.05));
    o.iterations = 8000;
    o.threads = o.queue_pairs = 2;  // two threads have twice as much
    CHECK(perf::run(o).rate == Approx(2 * both).epsilon(0.03));
  }
}
