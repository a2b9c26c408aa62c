// The traffic workload over real NICs and the packet fabric: sums of bytes, bounds by the bottleneck, PFC and DCQCN.
#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco;

namespace {

RunResult run_text(const std::string& text, const std::string& nic = {}) {
  // PCIe is made no bottleneck, so that the network alone decides.
  const std::string hardware =
      "hardware: {base: cx5-roce-25g, link: {mtu: 4096}, pcie: {rate: 400Gbps}, nic: {" + nic + "}}\n";
  return run(scenario::parse_scenario(hardware + "check: []\n" + text, "traffic.yaml"));
}

std::uint64_t counter(const RunResult& result, const char* name) { return result.workload_counters.value(name); }

const std::string kLink = "link: {rate: 100Gbps, delay: 1us}";

}  // namespace

TEST_CASE("an incast through PFC ends when the receiver's link has carried it all, and little later") {
  const RunResult result = run_text("topology: {kind: fat_tree, k: 4}\nfabric: {" + kLink +
                                    ", flow_control: pfc, buffer: {size: 2MB}}\n"
                                    "workload: {kind: traffic, pattern: incast, size: 1MiB}\n");
  CHECK(counter(result, "payload_bytes") == 15 * 1'048'576);
  CHECK(counter(result, "fabric_pauses") > 0);
  CHECK(counter(result, "fabric_packets_lost") == 0);
  // 15 messages of 256 packets of 4096 + 82 bytes, RETH once, at 80 ps a byte; then fetches, ways and ACKs: below 20
  // us.
  const std::int64_t least = 15 * (256 * 4178 + 16) * 80;
  CHECK(result.measured_ps > least);
  CHECK(result.measured_ps < least + 20'000'000);
}

TEST_CASE("a permutation of neighbours on a star has every link to itself") {
  const RunResult result = run_text("topology: {kind: star, nodes: 6}\nfabric: {" + kLink +
                                    "}\nworkload: {kind: traffic, pattern: permutation, size: 1MiB}\n");
  const std::int64_t alone = (256 * 4178 + 16) * 80;
  CHECK(result.measured_ps > alone);
  CHECK(result.measured_ps < alone + 10'000'000);
  CHECK(counter(result, "fabric_packets_delivered") >= 6 * 256 + 6);
}

TEST_CASE("PFC blocks a victim at the head of the line") {
  const auto victim = [](const std::string& flow_control) {
    const RunResult result =
        run_text("topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4}\nfabric: {" + kLink +
                 ", flow_control: " + flow_control +
                 ", pfc: {xoff: 40kB}}\nworkload: {kind: traffic, pattern: victim, size: 1MiB, count: 2}\n");
    for (const OperationTimes& o : result.operations) {
      if (o.name == "victim") return o.samples_ps.front();  // while all the others send
    }
    FAIL("no victim");
    return std::int64_t{0};
  };
  // Four flows share the uplink: a quarter each. Beyond that: eight links of 1 us there and back, six times through a
  // switch, and the NICs' and PCIe's few microseconds.
  const std::int64_t quarter = 4 * (256 * 4178 + 16) * 80;
  CHECK(victim("unlimited") < quarter + 15'000'000);
  CHECK(victim("pfc") > quarter * 5 / 4);
}

TEST_CASE("a deadlock of paused links ends in retry_exc and names them") {
  // On a ring of 8 with little buffer, every link waits for the next one (docs/topologies.md, "Deadlock"). No answer
  // comes any more: after 1 + 7 time-outs each queue pair that waits for one gives up.
  const std::string ring = "topology: {kind: ring, nodes: 8}\nfabric: {" + kLink +
                           ", flow_control: pfc, pfc: {xoff: 20kB}}\n"
                           "workload: {kind: traffic, pattern: all_to_all, size: 1MiB}\n";
  const RunResult result = run_text(ring);
  REQUIRE(result.broken.size() == 1);
  CHECK_THAT(result.broken.front(), test::contains_text("failed_messages: "));
  CHECK(result.counters.timeouts > 0);
  CHECK(result.counters.timeouts % 8 == 0);
  CHECK(result.counters.packets_lost == 0);
  REQUIRE_FALSE(result.hints.empty());
  // Messages go the shorter way round: clockwise, or to the one opposite; so one of the two rings, whole.
  CHECK_THAT(result.hints.front(), test::contains_text("PFC deadlock: "));
  CHECK_THAT(result.hints.front(),
             test::contains_text("s0-s1 waits for s1-s2, that for s2-s3, that for s3-s4, that for s4-s5, "
                                 "that for s5-s6, that for s6-s7, that for s7-s0, that for s0-s1"));
  // Where packets can be lost, or take several paths, timers run all the time: those of ports that stand still, too.
  for (const std::string& other : {std::string("loss: 1000"), std::string("routing: adaptive")}) {
    INFO(other);
    std::string network = ring;
    network.insert(network.find("flow_control"), other + ", ");
    const RunResult on_it = run_text(network);
    REQUIRE(on_it.broken.size() == 1);
    CHECK_THAT(on_it.broken.front(), test::contains_text("failed_messages: "));
    CHECK_THAT(on_it.hints.front(), test::contains_text("PFC deadlock: "));
  }
  // Without timers nothing is left to happen.
  try {
    static_cast<void>(run_text(ring, "ack_timeout: 0ns"));
    FAIL("no deadlock");
  } catch (const RunError& error) {
    CHECK_THAT(error.what(), test::contains_text("deadlock: nothing is left to happen"));
    CHECK_THAT(error.what(), test::contains_text("\n  paused links (PFC): "));
    CHECK_THAT(error.what(), test::contains_text("\n  PFC deadlock: "));
  }
}

TEST_CASE("a time-out that is too short fails on every network that holds messages up") {
  // Eight messages of 1 MiB at a time into one port of 100 Gb/s: an answer takes up to 8 * 84 us, and there is 8.2 us.
  for (const std::string control : {"pfc", "unlimited", "drop_tail"}) {
    INFO(control);
    const RunResult result =
        run_text("topology: {kind: star, nodes: 9}\nfabric: {" + kLink + ", flow_control: " + control +
                     "}\nworkload: {kind: traffic, pattern: incast, size: 1MiB, count: 4, outstanding: 2}\n",
                 "ack_timeout: 8192ns, retry_count: 0, lossy_timeout: 0ns");
    REQUIRE(result.broken.size() == 1);
    CHECK_THAT(result.broken.front(), test::contains_text("failed_messages: 32 (first: node "));
    CHECK_THAT(result.broken.front(), test::contains_text(": put to node 0 failed: transport retry counter exceeded)"));
    CHECK(result.counters.timeouts == 8);  // one for each queue pair; the rest is flushed
  }
}

TEST_CASE("DCQCN spares the pauses") {
  const auto pauses = [](const std::string& enabled) {
    return counter(run_text("topology: {kind: star, nodes: 8}\nfabric: {" + kLink +
                            ", flow_control: pfc, buffer: {size: 2MB}, ecn: {enabled: true}, dcqcn: {enabled: " +
                            enabled + "}}\nworkload: {kind: traffic, pattern: incast, size: 1MiB, count: 8}\n"),
                   "fabric_pauses");
  };
  const std::uint64_t without = pauses("false");
  CHECK(without > 0);
  CHECK(pauses("true") < without / 4);
}

TEST_CASE("messages that fail are counted, and break what the workload promises") {
  const std::string traffic = "topology: {nodes: 3}\nworkload: {kind: traffic, size: 4KiB, count: 3}\n";
  const RunResult good = run_text(traffic);
  CHECK(good.consistent());
  CHECK(counter(good, "failed_messages") == 0);
  const RunResult some = run_text(traffic + "fabric: {failures: [{link: [h1, s0], down: 0us}]}\n");
  CHECK(some.operations_done == 3);
  CHECK(some.broken ==
        std::vector<std::string>{
            "failed_messages: 3 (first: node 1: put to node 0 failed: transport retry counter exceeded)"});
  CHECK(!some.consistent());
}

TEST_CASE("as much is under way as the scenario says, also what send queues have no room for by default") {
  // Answers to what is sent at once come together, after four links of 1 ms and some microseconds for all else. READs
  // are sent as nic.max_rd_atomic allows: 16 in a round trip.
  constexpr std::int64_t kRoundTrip = 4'000'000'000;
  const auto [workload, done, trips] = GENERATE(
      std::tuple{"traffic, count: 300, outstanding: 300", 300U, 1},
      std::tuple{"lookup, iterations: 100, outstanding: 100, update_pause_ns: 1000000000", 100U, (3 * 100 + 15) / 16},
      std::tuple{"lookup, iterations: 150, outstanding: 150, update_pause_ns: 1000000000, reads: waited", 150U,
                 (3 * 150 + 15) / 16});
  INFO(workload);
  const RunResult result = run_text(std::string("topology: {nodes: 2}\nfabric: {link: {rate: 100Gbps, delay: 1ms}}\n"
                                                "limits: {events: 1000000}\nworkload: {size: 64B, kind: ") +
                                    workload + "}\n");
  CHECK(result.operations_done == done);
  CHECK(result.measured_ps > trips * kRoundTrip);
  CHECK(result.measured_ps < trips * kRoundTrip + kRoundTrip / 4);
}

TEST_CASE("mistakes in the network are told with their place") {
  const auto wrong = [](const std::string& text) {
    try {
      static_cast<void>(scenario::parse_scenario("workload: {kind: traffic}\n" + text, "s.yaml"));
    } catch (const text::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(wrong("topology: {kind: star, k: 4}\n"),
             test::contains_text("s.yaml:2:24: topology: expected a parameter of star, found \"k\""));
  CHECK_THAT(wrong("topology: {kind: fat_tree, k: 5}\n"), test::contains_text("topology.k: expected an even integer"));
  CHECK_THAT(wrong("topology: {kind: torus, dims: [4, x]}\n"), test::contains_text("s.yaml:2:35: topology.dims"));
  CHECK_THAT(wrong("topology: {kind: custom, hosts: 2, switches: 1, edges: [[h0, s0], [h1, s7]]}\n"),
             test::contains_text("topology.edges[1]: expected one of 2 hosts"));
  CHECK_THAT(wrong("fabric: {failures: [{link: [h0, h1], down: 1ms}]}\n"),
             test::contains_text("no link between h0 and h1"));
  CHECK_THAT(wrong("fabric: {flow_control: pfc, buffer: {size: 10kB}}\n"), test::contains_text("s.yaml:2:9: fabric"));
  CHECK_THAT(wrong("fabric: {routing: shortest}\n"), test::contains_text("fabric.routing: expected one of"));
}

TEST_CASE("custom graphs, tori and dragonflies carry messages") {
  const std::string topology =
      GENERATE("{kind: custom, hosts: 3, switches: 2, edges: [[h0, s0], [h1, s0], [h2, s1], [s0, s1, {rate: 10Gbps}]]}",
               "{kind: torus, dims: [3, 3]}", "{kind: dragonfly, groups: 3}", "{kind: ring, nodes: 5}");
  const RunResult result =
      run_text("topology: " + topology + "\nworkload: {kind: traffic, pattern: all_to_all, size: 8KiB}\n");
  const std::uint64_t n = topology.find("custom") != std::string::npos  ? 3
                          : topology.find("torus") != std::string::npos ? 9
                          : topology.find("ring") != std::string::npos  ? 5
                                                                        : 24;
  CHECK(counter(result, "payload_bytes") == n * (n - 1) * 8192);
}

TEST_CASE("a port sends into its own dead cable at its rate, as into one that is dead further on") {
  const auto lost = [](const std::string& link) {
    const RunResult result =
        run_text("topology: {kind: star, nodes: 2}\nfabric: {link: {rate: 25Gbps}, failures: [{link: " + link +
                 ", down: 100us, up: 300us}]}\nworkload: {kind: traffic, size: 1MiB}\n");
    return counter(result, "fabric_packets_lost");
  };
  // What the sender's port offers in 200 us, at 320 ps a byte, and what is under way when the cable dies.
  constexpr std::uint64_t kOffered = 200'000'000 / (4178 * 320);
  for (const char* link : {"[h1, s0]", "[h0, s0]"}) {
    INFO(link);
    CHECK(lost(link) >= kOffered);
    CHECK(lost(link) <= kOffered + 10);
  }
}

TEST_CASE("DCQCN begins with the rate of the host's own port") {
  const auto took = [](const std::string& dcqcn) {
    return run_text(
               "topology: {kind: custom, hosts: 2, switches: 1, edges: [[h0, s0, {rate: 100Gbps}], [h1, s0, {rate: "
               "100Gbps}]]}\nfabric: {link: {rate: 1Gbps}, ecn: {enabled: true}, dcqcn: {enabled: " +
               dcqcn + "}}\nworkload: {kind: traffic, size: 1MiB}\n")
        .measured_ps;
  };
  CHECK(took("true") == took("false"));  // nothing is marked: there is no congestion
}

TEST_CASE("pause frames keep links busy, and no link is busier than all of the time") {
  const RunResult result = run_text("topology: {kind: star, nodes: 4}\nfabric: {" + kLink +
                                    ", flow_control: pfc, pfc: {xoff: 20kB}}\nseries: {interval: 100ns}\n"
                                    "workload: {kind: traffic, pattern: incast, size: 256KiB}\n");
  REQUIRE(result.series.has_value());
  CHECK(counter(result, "fabric_pauses") > 0);
  const auto busy = result.series->busy_ps();
  const std::size_t links = result.links.size();
  REQUIRE(busy.size() > 100 * links);
  for (std::size_t i = links; i < busy.size(); ++i) {
    REQUIRE(busy[i] >= busy[i - links]);
    REQUIRE(busy[i] - busy[i - links] <= 100'000);
  }
}

TEST_CASE("packets that find no route are lost packets of the network") {
  const RunResult result = run(scenario::parse_scenario(
      "hardware: {base: cx5-roce-25g, nic: {ack_timeout: 100us}}\ncheck: []\ntopology: {nodes: 3}\n"
      "fabric: {reroute: true, reroute_delay: 0ns, failures: [{link: [h0, s0], down: 0ns, up: 100us}]}\n"
      "workload: {kind: traffic, size: 4KiB}\n",
      "traffic.yaml"));
  CHECK(result.counters.packets_lost > 0);
  CHECK(counter(result, "fabric_packets_lost") == result.counters.packets_lost);
  CHECK(counter(result, "fabric_packets_delivered") + counter(result, "fabric_packets_lost") ==
        result.counters.packets_sent);
}

TEST_CASE("the hint about lost packets names what loses them") {
  const auto hint = [](const std::string& fabric) {
    const RunResult result = run_text("topology: {kind: star, nodes: 3}\nfabric: {" + fabric +
                                      "}\nworkload: {kind: traffic, pattern: incast, size: 1MiB, count: 2}\n");
    for (const std::string& line : result.hints) {
      if (line.starts_with("packets_lost: ")) return line.substr(line.rfind(": ") + 2);
    }
    return std::string("none");
  };
  CHECK(hint("loss: 20000") == "fabric.loss");
  CHECK(hint("failures: [{link: [h1, s0], loss: 20000}]") == "fabric.failures");
  CHECK(hint("loss: 20000, failures: [{link: [h1, s0], loss: 20000}]") == "fabric.failures, fabric.loss");
  CHECK(hint("flow_control: drop_tail, buffer: {size: 40kB, alpha: 8000}") ==
        "pfc pauses links in place of dropping; fabric.buffer.size");
  CHECK(hint("flow_control: pfc") == "none");
}

TEST_CASE("hosts with different path MTUs: messages of one packet pass, longer ones are refused") {
  // Host 1 and host 2 both write to host 0, whose MTU is the links' 4096 B; host 1 has another (IBTA volume
  // 1, 9.7.4.1).
  const auto failed = [](const std::string& size) {
    const RunResult result = run_text(
        "topology: {kind: star, nodes: 3}\nfabric: {path_mtu: [{host: h1, mtu: 1KiB}]}\n"
        "workload: {kind: traffic, pattern: incast, size: " +
        size + ", count: 3}\n");
    const std::string told = "path MTUs of 4096 and 1024 B";
    CHECK(result.broken.empty() == (result.hints.empty() || result.hints.front().find(told) != 0));
    return result.broken.empty() ? std::string("none") : result.broken.front();
  };
  CHECK(failed("1KiB") == "none");
  const std::string refused = "failed_messages: 3 (first: node 1: put to node 0 failed: remote invalid request error)";
  CHECK(failed("1025B") == refused);  // those of host 1: the first is refused, the rest flushed
  CHECK(failed("64KiB") == refused);
}

TEST_CASE("selective repeat under a window: what is left of a line, with rates, delays, losses, windows", "[figures]") {
  // Messages complete in order, so that behind a lost packet N packets are sent, those of the messages outstanding,
  // until its repetition is acknowledged, two rounds R after it was sent. That costs 2 R - N w, where w is a packet's
  // time on the wire, once for all losses of the next N packets (docs/queue-pairs.md, "Selective repeat").
  struct Line {
    int gbps;
    int delay_ns;
    int loss;  // packets in a million
    int mtu;
    int packets;  // of a message
    int outstanding;
  };
  const auto gbits = [](const Line& l, int loss) {
    const int count = 4 * l.outstanding + 30'000 / l.packets;
    const RunResult result = run(scenario::parse_scenario(
        "hardware: {base: cx5-roce-100g, nic: {placement: out_of_order, units: 0}, pcie: {rate: 2Tbps}, link: {mtu: " +
            std::to_string(l.mtu) + "}}\ntopology: {kind: back_to_back}\nfabric: {loss: " + std::to_string(loss) +
            ", link: {rate: " + std::to_string(l.gbps) + "Gbps, delay: " + std::to_string(l.delay_ns) +
            "ns}}\nworkload: {kind: traffic, pattern: incast, size: " + std::to_string(l.mtu * l.packets) +
            ", count: " + std::to_string(count) + ", outstanding: " + std::to_string(l.outstanding) + "}\ncheck: []\n",
        "window.yaml"));
    CHECK(result.counters.timeouts == 0);
    return 8e3 * l.mtu * l.packets * count / static_cast<double>(result.measured_ps);
  };
  for (const Line& l : {Line{400, 12'500, 3'000, 1024, 16, 90}, Line{400, 12'500, 1'000, 1024, 64, 32},
                        Line{25, 12'500, 10'000, 4096, 1, 24}, Line{100, 5'000, 1'000, 1024, 16, 10},
                        Line{200, 2'500, 3'000, 2048, 8, 12}, Line{50, 25'000, 3'000, 2048, 4, 80},
                        Line{100, 1'000, 10'000, 1024, 4, 40}, Line{400, 1'000, 1'000, 4096, 4, 30}}) {
    const double p = l.loss * 1e-6;
    const double w = (l.mtu + 98.0) * 8 / l.gbps;  // ns; every packet has a RETH
    // There and back through both NICs; until a new message is on its way a CQE, a poll, a doorbell and two PCIe reads.
    const double round = 2 * l.delay_ns + 2 * (220 + 256) + 2 * w;
    const double window = l.outstanding * l.packets - (l.packets - 1) * 0.5;  // from anywhere in a message
    const double still = std::max(0.0, 2 * round + 1'300 - window * w);
    const double left = (1 - p) / (1 + p * still / (w * (1 + p * window)));
    INFO(l.gbps << " Gb/s, " << l.delay_ns << " ns, " << l.loss << " in a million, MTU " << l.mtu << ", "
                << l.outstanding << " messages of " << l.packets << " packets: " << left);
    CHECK(gbits(l, l.loss) == Approx(gbits(l, 0) * left).epsilon(0.05));
  }
}

TEST_CASE("an incast on a fabric that drops: neither buffers nor MTUs make it collapse", "[figures]") {
  // Published for two senders of 25 Gb/s: 5 Gb/s in sum (linux-rdma/perftest issue 219), with an unknown buffer.
  // Without slow restart and time-outs that adapt: 0.01 to 0.5.
  for (const std::string buffer : {"200kB", "1MB", "12MB"}) {
    for (const std::uint32_t senders : {2U, 8U}) {
      for (const std::string mtu : {"1024B", "4096B"}) {
        const std::string count = std::to_string(800 / senders);
        const RunResult r = run(scenario::parse_scenario(
            "hardware: {base: cx5-roce-25g, link: {mtu: " + mtu + "}}\ntopology: {kind: star, nodes: " +
                std::to_string(senders + 1) + "}\nfabric: {flow_control: drop_tail, buffer: {size: " + buffer +
                ", alpha: 125}}\nworkload: {kind: traffic, pattern: incast, size: 64KiB, outstanding: 128, count: " +
                count + "}\n",
            "lossy.yaml"));
        const double gbps = 800 * 65'536 * 8.0 * 1000 / static_cast<double>(r.measured_ps);
        CAPTURE(buffer, senders, mtu, gbps);
        CHECK(counter(r, "failed_messages") == 0);
        CHECK(counter(r, "fabric_packets_lost") > 0);
        CHECK(gbps > 2.5);
        CHECK(gbps < 20);
      }
    }
  }
}
