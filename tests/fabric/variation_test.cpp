// Devices that differ: clocks of their own, and switches that take a packet at any moment of its arrival.
#include "fabric/variation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "fabric/report.hpp"
#include "tests/catch.hpp"
#include "traffic.hpp"

using namespace loco;
using namespace loco::fabric;
using namespace loco::sim::literals;

namespace {

Config lossy(std::uint32_t hosts, std::uint64_t seed) {
  Config config = fast_network(topology::Star{hosts});
  config.options.flow_control = FlowControl::drop_tail;
  config.options.buffer_size = sim::Bytes{200'000};
  config.options.buffer_alpha = 1'000'000;
  config.seed = seed;
  return config;
}

/// Packets of each flow that were lost.
std::vector<double> losses(const Traffic& traffic, std::uint64_t bytes) {
  std::vector<double> lost;
  for (const FlowState& flow : traffic.flows()) {
    lost.push_back(static_cast<double>(bytes - flow.delivered) / Traffic::kMtu);
  }
  return lost;
}

}  // namespace

TEST_CASE("one phase decides everything: without variation one of two equal senders loses all that is lost") {
  Config config = lossy(3, 1);
  config.options.variation = Variation::none;
  constexpr std::uint64_t kBytes = 4'096'000;
  Traffic traffic(config, incast(3, 2, kBytes), 0);
  traffic.run();
  const std::vector<double> lost = losses(traffic, kBytes);
  CHECK(std::min(lost[0], lost[1]) == 0);
  CHECK(std::max(lost[0], lost[1]) > 500);
}

TEST_CASE("equal senders share what is lost, whatever the seed, the rate, the switch and their number") {
  // n senders of N packets each into a port that takes one in n and a buffer of b packets: n N - N - b are lost. The
  // moments are drawn anew for each packet, so a sender's part is that over n, give or take a few square roots.
  constexpr std::uint64_t kPackets = 4'000;
  constexpr std::uint64_t kBytes = kPackets * Traffic::kMtu;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const std::uint32_t senders : {2U, 3U, 5U}) {
      Config config = lossy(senders + 1, seed);
      if (seed % 2 == 0) config.options.switching = Switching::store_and_forward;
      if (seed > 2) config.link_rate = 25_Gbps;
      Traffic traffic(config, incast(senders + 1, senders, kBytes), 0);
      traffic.run();
      const std::vector<double> lost = losses(traffic, kBytes);
      const double all = std::accumulate(lost.begin(), lost.end(), 0.0);
      INFO("seed " << seed << ", " << senders << " senders, lost " << all);
      constexpr double kBuffer = 200'000.0 / (Traffic::kMtu + Traffic::kOverhead);
      CHECK(std::abs(all - ((senders - 1) * double{kPackets} - kBuffer)) < 0.01 * kPackets);
      for (const double each : lost) CHECK(std::abs(each - all / senders) < 5 * std::sqrt(all / senders));
    }
  }
}

TEST_CASE("a lone packet leaves a switch when it would without variation") {
  // As long as its own time is not more than the switch's latency: 298 ns of 300.
  for (const Switching switching : {Switching::cut_through, Switching::store_and_forward}) {
    const auto arrival = [&](Variation variation, std::uint64_t seed) {
      Config config = fast_network(topology::LeafSpine{.leaves = 2, .spines = 1, .hosts_per_leaf = 1});
      config.options.switching = switching;
      config.options.variation = variation;
      config.options.clock_skew = 0;
      config.seed = seed;
      Traffic traffic(config, {{.source = 0, .destination = 1, .bytes = 3'600}}, 0);
      traffic.run();
      return traffic.end();
    };
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CHECK(arrival(Variation::natural, seed) == arrival(Variation::none, seed));
    }
  }
}

TEST_CASE("clocks drift apart: the faster host has sent one packet more when the phase has passed through a packet") {
  Config config = fast_network(topology::Star{4});
  config.options.variation = Variation::natural;
  config.options.clock_skew = 1'000;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    config.seed = seed;
    const PacketNetwork network(config);
    const std::vector<std::int64_t> errors = clock_errors(config, network.graph());
    REQUIRE(errors.size() == 5);  // four hosts and the switch
    for (const std::int64_t error : errors) CHECK(std::abs(error) <= 1'000'000);
    // A host's port sends N packets of B bytes in N B / (rate (1 + e)), each rounded up to a picosecond.
    constexpr std::int64_t kCount = 3'000;
    std::vector<std::int64_t> busy;
    Traffic traffic(config,
                    {{.source = 0, .destination = 2, .bytes = kCount * Traffic::kMtu},
                     {.source = 1, .destination = 3, .bytes = kCount * Traffic::kMtu}},
                    0);
    traffic.run();
    for (const NodeId host : {0U, 1U}) {
      const topology::LinkId link = network.graph().ports(host).front();
      const std::int64_t sent = traffic.fabric().counters(link).busy.ps;
      const double exact = 80.0 * (kCount * (Traffic::kMtu + Traffic::kOverhead) + kRethBytes) /
                           (1 + 1e-9 * static_cast<double>(errors[host]));
      CHECK(std::abs(static_cast<double>(sent) - exact) < kCount + 1);
      busy.push_back(sent);
    }
    // So the phase between them has moved by N (e1 - e0) packets.
    const double moved = static_cast<double>(busy[0] - busy[1]) / (80.0 * (Traffic::kMtu + Traffic::kOverhead));
    const double drift = 1e-9 * static_cast<double>(errors[1] - errors[0]) * kCount;
    CHECK(std::abs(moved - drift) < 0.02);
  }
}

TEST_CASE("the moment at which a switch takes a packet is uniform over the packet's time") {
  constexpr std::int64_t kMost = 334'240;
  constexpr std::uint64_t kDraws = 100'000;
  std::vector<std::uint64_t> tenths(10);
  for (std::uint64_t n = 0; n < kDraws; ++n) {
    const std::int64_t at = moment(42, 3, n, kMost);
    REQUIRE(at >= 0);
    REQUIRE(at <= kMost);
    ++tenths[static_cast<std::size_t>(at * 10 / (kMost + 1))];
  }
  // A tenth of the draws each; the standard deviation is 95.
  for (const std::uint64_t count : tenths) CHECK(std::abs(static_cast<double>(count) - kDraws / 10.0) < 500);
}

TEST_CASE("times until a NIC acts: the median stays, the tail halves with each step") {
  constexpr std::int64_t kHalf = 76'000;
  constexpr std::int64_t kReceive = 256'000;
  Config config = fast_network(topology::BackToBack{});
  config.delivery_latency = sim::Duration{kReceive};
  const auto arrivals = [&](sim::Duration jitter, std::uint32_t psns) {
    config.delivery_jitter = jitter;
    PacketNetwork network(config);
    sim::EventQueue events;
    std::vector<std::int64_t> times;  // from when a packet is sent, alone on its way
    sim::SimTime now;
    for (std::uint32_t n = 0; n < psns; ++n) {
      Packet p;
      p.destination = PortId(1);
      p.wire = 100;
      network.send(events, now, {}, p);
      const sim::SimTime start = now;
      while (!events.empty()) {
        const sim::Event e = events.pop_earliest();
        now = e.at;
        if (network.handle(events, now, e)) times.push_back((now - start).ps);
      }
      now += 10_us;
      REQUIRE(events.empty());
    }
    std::ranges::sort(times);
    return times;
  };
  const std::int64_t exact = arrivals({}, 1).front();  // serialisation, propagation, nic.receive
  CHECK(exact == 100 * kByte + 1'000'000 + kReceive);
  constexpr std::uint32_t kCount = 40'000;
  const std::vector<std::int64_t> times = arrivals(sim::Duration{kHalf}, kCount);
  REQUIRE(times.size() == kCount);
  CHECK(times.front() >= exact - kHalf);
  // 2^-k of the packets take k halves or more above the least; five standard deviations of a count.
  for (std::int64_t k = 1; k <= 7; ++k) {
    const auto later = static_cast<double>(
        std::ranges::count_if(times, [&](std::int64_t t) { return t >= exact - kHalf + k * kHalf; }));
    const double expected = kCount * std::pow(0.5, k);
    CHECK(std::abs(later - expected) < 5 * std::sqrt(expected));
  }
  CHECK(std::abs(times[kCount / 2] - exact) < kHalf / 20);
}

TEST_CASE("packets that a NIC takes up at different times stay in order") {
  Config config = fast_network(topology::LeafSpine{.leaves = 2, .spines = 2, .hosts_per_leaf = 2});
  config.delivery_latency = 300_ns;
  config.delivery_jitter = 200_ns;
  config.options.variation = Variation::natural;
  Traffic traffic(config, permutation(4, 3, 2'000'000));
  traffic.run();
  CHECK(traffic.all_delivered());
  for (const FlowState& flow : traffic.flows()) CHECK(flow.out_of_order == 0);
}

TEST_CASE("variation is a function of the seed, and none where no time decides") {
  Config config = lossy(3, 1);
  const auto hash = [](const Config& c) {
    Traffic traffic(c, incast(3, 2, 400'000));
    traffic.run();
    return traffic.hash();
  };
  const std::uint64_t first = hash(config);
  CHECK(hash(config) == first);
  config.seed = 2;
  CHECK(hash(config) != first);
  CHECK(config.varies());  // auto, with drop_tail
  config.options.flow_control = FlowControl::pfc;
  CHECK_FALSE(config.varies());
  config.options.variation = Variation::natural;
  CHECK(config.varies());
  config.topology = Topology::ideal;
  CHECK_FALSE(config.varies());
}
