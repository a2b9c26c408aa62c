// Flows: lists and distributions as files, arrivals, and what a list comes to on a network.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "loco_sim/workloads/flows/arrivals.hpp"
#include "loco_sim/workloads/flows/flow_files.hpp"
#include "loco_sim/workloads/flows/flow_player.hpp"
#include "loco_sim/workloads/flows/size_distribution.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"
#include "text/input_error.hpp"

using loco::ClusterConfig;
using loco::SimulatedCluster;
namespace nic = loco::nic;
namespace text = loco::text;

using namespace loco::workloads::flows;

namespace {

template <typename Read>
std::string refused(const Read& read) {
  try {
    static_cast<void>(read());
  } catch (const text::InputError& error) {
    return error.what();
  }
  return "taken";
}

std::string refused_csv(const std::string& lines) {
  return refused([&] { return read_flow_csv(lines, "f.csv", 4); });
}
std::string refused_matrix(const std::string& lines) {
  return refused([&] { return read_connection_matrix(lines, "f.cm", 4, 1); });
}
std::string refused_sizes(const std::string& lines) {
  return refused([&] { return SizeDistribution::read(lines, "s.csv"); });
}

ClusterConfig star(const nic::HardwareProfile& profile, std::uint32_t nodes) {
  ClusterConfig config;
  config.profile = profile;
  config.nodes = nodes;
  return config;
}

std::vector<FlowRecord> played(const ClusterConfig& config, FlowList list, Play how = {}) {
  SimulatedCluster cluster(config);
  const auto player = start(cluster, std::move(list), how);
  cluster.run();
  return records(*player);
}

FlowList listed(std::vector<Flow> flows) { return {.flows = std::move(flows), .triggers = {}, .fires = {}}; }

/// Hosts without costs of their own: what is left is the wire.
nic::HardwareProfile wires(std::uint64_t rate) {
  nic::HardwareProfile p;
  p.cpu_post_wqe = p.cpu_doorbell = p.cpu_store = p.cpu_store_drain = p.cpu_mmio_gap = {};
  p.pcie_rate = {};
  p.pcie_upstream = p.pcie_downstream = p.pcie_read_access = p.pcie_write_commit = {};
  p.nic_wqe_start = p.nic_transmit = p.nic_receive = p.nic_packet_gap = p.nic_cqe = {};
  p.link_rate = {rate};
  p.link_mtu = {4096};
  p.link_ideal = false;
  return p;
}

}  // namespace

TEST_CASE("flows as CSV: what is named, and how later ones wait for earlier ones") {
  const FlowList list = read_flow_csv(
      "# a comment\n"
      "id, source,destination,bytes,start,after,delay\n"
      "7,0,1,64KiB,1us,,\n"
      "8,1,2,10,2500,,\n"
      "9,2,3,5,,7;8,3ns\n",
      "f.csv", 4);
  REQUIRE(list.flows.size() == 3);
  CHECK(list.flows[0] == Flow{.source = 0, .destination = 1, .bytes = 65536, .start_ps = 1'000'000, .id = 7});
  CHECK(list.flows[1].start_ps == 2500);
  CHECK(list.flows[2].start_ps == kTriggered);
  CHECK(list.flows[2].delay_ps == 3000);
  REQUIRE(list.triggers.size() == 1);
  CHECK(list.triggers[0].count == 2);
  CHECK(list.fires == std::vector<Fire>{{0, 0, End::received}, {1, 0, End::received}});
}

TEST_CASE("flows as CSV: what is wrong is told with its place") {
  const std::string head = "source,destination,bytes,start\n";
  CHECK(refused_csv("") == "f.csv:1:1: expected a line source,destination,bytes,start, found nothing");
  CHECK(refused_csv("source,destination,byte,start\n0,1,1,0\n").find("1:20") != std::string::npos);
  CHECK(refused_csv(head + "0,4,1,0\n") == "f.csv:2:3: destination: expected a host from 0 to 3, found \"4\"");
  CHECK(refused_csv(head + "0,0,1,0\n") == "f.csv:2:3: destination: expected another host than the source, found 0");
  CHECK(refused_csv(head + "0,1,0,0\n") == "f.csv:2:5: bytes: expected a size from 1B to 1GiB, found \"0\"");
  CHECK(refused_csv(head + "0,1,1\n").find("f.csv:2:1: expected 4 fields, found 3") == 0);
  CHECK(refused_csv(head + "0,1,8,\n") == "f.csv:2:1: start: expected a time, or flows in after, found nothing");
  CHECK(refused_csv(head + "0,1,1,-1\n").find("2:7: start: expected picoseconds") != std::string::npos);
  CHECK(refused_csv("source,destination,bytes,after,id\n0,1,1,2,1\n1,0,1,1,2\n") ==
        "f.csv:1:1: after: expected flows that can begin, found flows that wait for each other in a circle: 1 waits "
        "for 2 waits for 1");
  CHECK(refused_csv("source,destination,bytes,start,after\n0,1,1,0,\n1,0,1,,9\n") ==
        "f.csv:3:8: after: expected the id of a flow, found \"9\"");
}

TEST_CASE("connection matrices of htsim") {
  const FlowList list = read_connection_matrix(
      "Nodes 4\nConnections 3\nTriggers 2\n"
      "0->1 id 1 start 100 size 1000 send_done_trigger 1\n"
      "1->2 id 2 trigger 1 size 2000 prio 3 recv_done_trigger 2\n"
      "2->3 id 3 trigger 2 size 3000\n"
      "trigger id 1 oneshot\n"
      "trigger id 2 barrier count 1\n",
      "f.cm", 4, 1000);
  REQUIRE(list.flows.size() == 3);
  CHECK(list.flows[0].start_ps == 100'000);
  CHECK(list.flows[1].bytes == 2000);
  CHECK(list.fires == std::vector<Fire>{{0, 0, End::completed}, {1, 1, End::received}});
  CHECK(refused_matrix("Connections 2\n0->1 start 0 size 1\n") ==
        "f.cm:1:13: Connections: expected 1, as many as follow, found 2");
  CHECK(refused_matrix("0->1 size 1\n") == "f.cm:1:1: expected a start or a trigger, found neither");
  CHECK(refused_matrix("0->1 id 0 start 0 size 1\n") == "f.cm:1:9: id: expected an id above 0, found 0");
  CHECK(refused_matrix("0->9 start 0 size 1\n") == "f.cm:1:1: expected a host from 0 to 3, found \"9\"");
  // Of the file's own hosts, whether it names their number before or behind them.
  CHECK(refused_matrix("Nodes 3\n0->1 start 0 size 1\n2->3 start 0 size 1\n") ==
        "f.cm:3:1: expected hosts below 3, as Nodes says, found 3");
  CHECK(refused_matrix("0->3 start 0 size 1\nNodes 3\n") == "f.cm:1:1: expected hosts below 3, as Nodes says, found 3");
  CHECK(refused_matrix("0->1 id 1 trigger 5 size 1\n") ==
        "f.cm:1:19: trigger: expected a trigger that is declared, found \"5\"");
  CHECK(
      refused_matrix("0->1 id 1 trigger 1 size 1 send_done_trigger 2\n1->0 id 2 trigger 2 size 1 send_done_trigger 1\n"
                     "trigger id 1 oneshot\ntrigger id 2 oneshot\n")
          .find("circle: 1 waits for 2 waits for 1") != std::string::npos);
  CHECK(refused_matrix("0->1 id 1 start 0 size 1 send_done_trigger 1\n1->0 id 2 trigger 1 size 1\n"
                       "trigger id 1 barrier count 2\n")
            .find("trigger 1 is fired 1 times") != std::string::npos);
}

TEST_CASE("distributions of sizes: uniform between points, up to 100 percent") {
  // 20 % up to 100 B, 80 % from 100 to 1,100 B: the mean is 0.2 * 50 + 0.8 * 600
  const SizeDistribution sizes = SizeDistribution::read("bytes,percent\n0,0\n100,20\n1100,100.0\n", "s.csv");
  CHECK(sizes.mean_thousandths() == 490'000);
  loco::sim::Stream stream(1, "sizes");
  constexpr int kDraws = 100'000;
  double sum = 0;
  int small = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t size = sizes.draw(stream);
    CHECK((size >= 1 && size <= 1100));
    sum += static_cast<double>(size);
    if (size <= 100) ++small;
  }
  CHECK(sum / kDraws == Approx(490).epsilon(0.01));  // its standard error is 0.2 %
  CHECK(small == Approx(kDraws / 5).epsilon(0.02));
  CHECK(refused_sizes("bytes,percent\n0,0\n10,90\n") ==
        "s.csv:3:1: percent: expected 100 at the last point, found a distribution that ends before");
  CHECK(refused_sizes("bytes,percent\n10,50\n5,100\n").find("3:1: expected bytes and percentages that do not fall") !=
        std::string::npos);
  CHECK(refused_sizes("size\n") == "s.csv:1:1: expected the line bytes,percent, found \"size\"");
}

TEST_CASE("the logarithm of exponential gaps, in integers") {
  loco::sim::Stream stream(3, "log");
  std::vector<std::uint64_t> numbers = {1, 2, 3, ~std::uint64_t{0}, std::uint64_t{1} << 63U};
  for (int i = 0; i < 1000; ++i) numbers.push_back(stream() >> stream.below(60) | 1U);
  for (const std::uint64_t u : numbers) {
    const double exact = -std::log(static_cast<double>(u) / 0x1p64);
    CHECK(static_cast<double>(negative_log(u)) / 0x1p32 == Approx(exact).margin(1e-9).epsilon(1e-9));
  }
}

TEST_CASE("Poisson arrivals have the load that is asked for") {
  // 300 thousandths of 32 ports of 100 Gb/s for 100 ms, flows of 1 MB on average: n load B T / (8 mean) flows
  const FlowRule rule{.nodes = 32,
                      .pattern = Pattern::random,
                      .arrivals = Arrivals::poisson,
                      .load_thousandths = 300,
                      .port_rate = 100'000'000'000,
                      .until_ps = 100'000'000'000};
  const FlowList list = generate(rule, SizeDistribution(1'000'000));
  constexpr double kExpected = 32 * 0.3 * 100e9 * 0.1 / 8e6;
  CHECK(static_cast<double>(list.flows.size()) == Approx(kExpected).margin(3 * std::sqrt(kExpected)));
  CHECK(std::ranges::is_sorted(list.flows, {}, &Flow::start_ps));
  CHECK(std::ranges::none_of(list.flows, [](const Flow& f) { return f.source == f.destination; }));
}

TEST_CASE("patterns: who sends to whom") {
  const auto pairs = [](const FlowRule& rule) {
    std::vector<std::pair<NodeId, NodeId>> out;
    for (const Flow& f : generate(rule, SizeDistribution(8)).flows) out.emplace_back(f.source, f.destination);
    return out;
  };
  using Pairs = std::vector<std::pair<NodeId, NodeId>>;
  CHECK(pairs({.nodes = 4, .pattern = Pattern::incast, .senders = 2, .receiver = 3}) == Pairs{{0, 3}, {1, 3}});
  CHECK(pairs({.nodes = 3, .pattern = Pattern::shift, .shift = 2}) == Pairs{{0, 2}, {1, 0}, {2, 1}});
  CHECK(pairs({.nodes = 3, .pattern = Pattern::all_to_all}).size() == 6);
  CHECK(pairs({.nodes = 4, .pattern = Pattern::permutation}).size() == 4);
  const FlowList rounds =
      generate({.nodes = 2, .pattern = Pattern::shift, .arrivals = Arrivals::every, .every_ps = 1000, .until_ps = 2500},
               SizeDistribution(8));
  CHECK(rounds.flows.size() == 6);
  CHECK(rounds.flows.back().start_ps == 2000);
}

TEST_CASE("two flows into one port take twice as long as one") {
  const ClusterConfig config = star(wires(100'000'000'000), 3);
  constexpr std::uint64_t kSize = 1 << 20;
  const auto alone = played(config, listed({{.source = 0, .destination = 2, .bytes = kSize}})).front();
  const auto both = played(config, listed({{.source = 0, .destination = 2, .bytes = kSize},
                                           {.source = 1, .destination = 2, .bytes = kSize}}));
  for (const FlowRecord& flow : both)
    CHECK(static_cast<double>(flow.received_ps) / static_cast<double>(alone.received_ps) == Approx(2).epsilon(0.02));
}

TEST_CASE("a flow begins when the last byte of those before it has come, or its sender has seen the completion") {
  const ClusterConfig config = star(wires(100'000'000'000), 3);
  FlowList list = listed({{.source = 0, .destination = 1, .bytes = 100'000},
                          {.source = 1, .destination = 2, .bytes = 8, .start_ps = kTriggered, .delay_ps = 5'000'000}});
  list.triggers = {{.starts = {1}}};
  for (const Play how : {Play{}, Play{.queue_pairs = QueuePairs::flow}, Play{.means = Means::read}})
    for (const End end : {End::received, End::completed}) {
      list.fires = {{0, 0, end}};
      const std::vector<FlowRecord> flows = played(config, list, how);
      const std::int64_t fired = end == End::received ? flows[0].received_ps : flows[0].completed_ps;
      CHECK(flows[1].start_ps - fired >= 5'000'000);
      CHECK(flows[1].start_ps - fired < 5'100'000);  // a thread has to notice
      CHECK(flows[1].received_ps > flows[1].start_ps);
    }
}

TEST_CASE("flows of one queue pair each share a port, those of one wait for each other") {
  const ClusterConfig config = star(wires(100'000'000'000), 2);
  const FlowList list = listed({{.source = 0, .destination = 1, .bytes = 1 << 20},
                                {.source = 0, .destination = 1, .bytes = 4096, .start_ps = 1'000'000}});
  const auto in_turn = played(config, list);
  const auto shared = played(config, list, {.queue_pairs = QueuePairs::flow});
  CHECK(in_turn[1].received_ps > in_turn[0].received_ps);
  CHECK(shared[1].received_ps < shared[0].received_ps / 10);
}

TEST_CASE("flows that are lost for good have not ended, and none waits for them") {
  nic::HardwareProfile profile = loco::test::round_profile();
  profile.nic_ack_timeout = {10'000'000};
  profile.nic_retry_count = 1;
  ClusterConfig config = star(profile, 3);
  config.network.options.loss = 1'000'000;  // of a million packets
  FlowList list = listed({{.source = 0, .destination = 1, .bytes = 8},
                          {.source = 1, .destination = 2, .bytes = 8, .start_ps = kTriggered}});
  list.triggers = {{.starts = {1}}};
  list.fires = {{0, 0, End::received}};
  SimulatedCluster cluster(config);
  const auto player = start(cluster, list, {});
  cluster.run();
  CHECK(failed(*player) == 2);
  CHECK(records(*player)[0].received_ps == kNever);
  CHECK(records(*player)[1].start_ps == kNever);
  CHECK(records(*player)[0].retransmitted_packets == 1);
}
