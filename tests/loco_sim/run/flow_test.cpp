// The flow model through whole NICs: times against the packet model and against sums, background traffic, platform
// files, what comes back from the process of a run, what is refused.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "fabric/flow/flow_clock.hpp"
#include "fabric/flow/platform_file.hpp"
#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "nic_model/system.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco;

namespace {

const std::string kFlowHardware = "hardware: {base: cx5-roce-25g, link: {mtu: 4096}}\n";

RunResult run_flow_text(const std::string& text) {
  return run(scenario::parse_scenario(kFlowHardware + text, "flow.yaml"));
}

std::string fabric_text(const std::string& model, const std::string& topology, const std::string& workload,
                        const std::string& more = "") {
  return "check: []\ntopology: " + topology + "\nfabric: {model: " + model + ", link: {rate: 25Gbps, delay: 500ns}" +
         more + "}\nworkload: {kind: traffic, " + workload + "}\n";
}

double flow_time(const std::string& text) { return static_cast<double>(run_flow_text(text).measured_ps); }

/// 1 MiB as packets of 4096 + 82 bytes, RETH once, at 25 Gb/s: 320 ps a byte.
constexpr double kMessageTime = (256 * 4178 + 16) * 320.0;
/// What NICs, PCIe and a few links take around it: below 10 us.
constexpr double kOverheads = 10e6;

std::string flow_refusal(const std::string& text) {
  try {
    static_cast<void>(scenario::parse_scenario(kFlowHardware + text, "flow.yaml"));
  } catch (const text::InputError& error) {
    return error.what();
  }
  return "";
}

/// A platform file that is gone at the end.
class PlatformFile {
 public:
  explicit PlatformFile(const std::string& zone)
      : path_(std::filesystem::temp_directory_path() / ("loco-platform-" + std::to_string(getpid()) + ".xml")) {
    std::ofstream(path_) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                         << "<platform version=\"4.1\">\n"
                         << zone << "\n</platform>\n";
  }
  ~PlatformFile() { std::filesystem::remove(path_); }
  PlatformFile(const PlatformFile&) = delete;
  PlatformFile& operator=(const PlatformFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

bool no_flow_model() {
  if (fabric::has_flow_model()) return false;
  CHECK(flow_refusal(fabric_text("flow", "{kind: star}", "size: 64")).find(fabric::kNoFlowModel) != std::string::npos);
  return true;
}

}  // namespace

TEST_CASE("a lone message takes on flows what it takes as packets, within 2 percent", "[figures]") {
  if (no_flow_model()) return;
  for (const char* topology : {"{kind: back_to_back}", "{kind: star, nodes: 2}", "{kind: ring, nodes: 2}",
                               "{kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1}"}) {
    for (const char* size : {"8", "4096", "4104", "10000", "65536", "1048576"}) {
      CAPTURE(topology, size);
      const std::string workload = std::string("pattern: incast, size: ") + size;
      const double packets = flow_time(fabric_text("packet", topology, workload));
      const double flows = flow_time(fabric_text("flow", topology, workload));
      CHECK(flows > 0.98 * packets);
      CHECK(flows < 1.02 * packets);
    }
  }
  const double large = flow_time(fabric_text("flow", "{kind: star, nodes: 2}", "pattern: incast, size: 1MiB"));
  CHECK(large > kMessageTime);
  CHECK(large < kMessageTime + kOverheads);
}

TEST_CASE("a message flows when its first packet is in the NIC, not when memory is read, 3 us earlier") {
  if (no_flow_model()) return;
  // WRITEs, whose payload comes from memory at the requester, and lookups, whose answers come from there at the
  // responder. Flows do not know nic.read_packets (docs/flow-model.md).
  for (const char* workload : {"kind: traffic, size: 10000", "kind: traffic, size: 64KiB",
                               "kind: lookup, iterations: 4, size: 64KiB, outstanding: 1, reads: waited"}) {
    CAPTURE(workload);
    const auto time = [&](const std::string& model) {
      const std::string text =
          "hardware: {base: cx5-roce-25g, nic: {read_packets: 0}, pcie: {downstream: 3us}}\ncheck: []\nfabric: "
          "{model: " +
          model + "}\nworkload: {" + workload + "}\n";
      return static_cast<double>(run(scenario::parse_scenario(text, "flow.yaml")).measured_ps);
    };
    const double packets = time("packet");
    CHECK(time("flow") > 0.98 * packets);
    CHECK(time("flow") < 1.02 * packets);
  }
}

TEST_CASE("a run on flows tells when each operation ended, as one on packets does") {
  if (no_flow_model()) return;
  const RunResult result = run_flow_text(fabric_text("flow", "{kind: star, nodes: 3}", "pattern: incast, size: 64"));
  REQUIRE(result.operations.size() == 1);
  const OperationTimes& messages = result.operations.front();
  REQUIRE(messages.ends_ps.size() == messages.samples_ps.size());
  CHECK(std::is_sorted(messages.ends_ps.begin(), messages.ends_ps.end()));
  CHECK(messages.ends_ps.back() <= result.simulated_ps);
}

TEST_CASE(
    "cables of other rates than fabric.link.rate: a lone message takes what it takes as packets, within 2 percent",
    "[figures]") {
  if (no_flow_model()) return;
  // What the last byte needs is exact (route_time_test.cpp); what is left is NICs and PCIe. 1 Gb/s cables behind a
  // fast one, and cables that are faster or slower than the 25 Gb/s of links in general.
  const auto chain = [](const std::string& first, const std::string& middle, const std::string& last) {
    return "{kind: custom, hosts: 2, switches: 2, edges: [[h0, s0, {rate: " + first + "}], [s0, s1, {rate: " + middle +
           "}], [s1, h1, {rate: " + last + "}]]}";
  };
  const std::string topology = GENERATE_COPY(
      std::string("{kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1, oversubscription: 4}"),
      chain("10Gbps", "40Gbps", "40Gbps"), chain("40Gbps", "10Gbps", "40Gbps"), chain("40Gbps", "40Gbps", "10Gbps"),
      chain("1Gbps", "25Gbps", "100Gbps"), chain("100Gbps", "40Gbps", "1Gbps"), chain("50Gbps", "50Gbps", "50Gbps"));
  const std::string switching = GENERATE("cut_through", "store_and_forward");
  for (const char* size : {"8", "4096", "4104", "10000", "65536"}) {
    CAPTURE(topology, switching, size);
    const auto time = [&](const char* model) {
      return flow_time(
          fabric_text(model, topology, std::string("pattern: incast, size: ") + size, ", switching: " + switching));
    };
    const double packets = time("packet");
    const double flows = time("flow");
    CHECK(flows > 0.98 * packets);
    CHECK(flows < 1.02 * packets);
  }
}

TEST_CASE("what NICs do with a message goes by its own route: cables of 100 Gb/s where links in general have 1",
          "[figures]") {
  if (no_flow_model()) return;
  // Of 4104 bytes the second packet comes 7 ns after the first, too soon to hide what the NIC must look up; of 64 KiB
  // PCIe (63 Gb/s) is behind when the last packet comes.
  for (const char* size : {"4104", "65536", "1048576"}) {
    CAPTURE(size);
    const auto time = [&](const std::string& model) {
      return flow_time(std::string("check: []\ntopology: {kind: custom, hosts: 2, switches: 1, edges: [[h0, s0, {rate: "
                                   "100Gbps}], [h1, s0, {rate: 100Gbps}]]}\nfabric: {model: ") +
                       model + ", link: {rate: 1Gbps}}\nworkload: {kind: traffic, size: " + size + "}\n");
    };
    const double packets = time("packet");
    CHECK(time("flow") > 0.98 * packets);
    CHECK(time("flow") < 1.02 * packets);
  }
}

TEST_CASE(
    "NICs that say more in each packet, or send one a gap only: a lone message takes what it takes as packets, within "
    "3 percent",
    "[figures]") {
  if (no_flow_model()) return;
  for (const char* hardware : {"aries-like", "{base: cx5-roce-25g, nic: {placement: unordered}, link: {mtu: 256}}",
                               "{base: cx6-ib-hdr, link: {mtu: 64}}", "{base: cx5-roce-25g, nic: {packet_gap: 1us}}"}) {
    for (const char* size : {"64", "4096", "65536", "1048576"}) {
      CAPTURE(hardware, size);
      const auto time = [&](const std::string& model) {
        const std::string text = std::string("hardware: ") + hardware + "\ncheck: []\nfabric: {model: " + model +
                                 "}\nworkload: {kind: traffic, size: " + size + "}\n";
        return static_cast<double>(run(scenario::parse_scenario(text, "flow.yaml")).measured_ps);
      };
      const double packets = time("packet");
      const double flows = time("flow");
      CHECK(flows > 0.97 * packets);
      CHECK(flows < 1.03 * packets);
    }
  }
}

TEST_CASE("messages of one NIC share what its packet_gap leaves of the port, as with packets within 5 percent") {
  if (no_flow_model()) return;
  const auto time = [](const std::string& model) {
    const std::string text =
        "hardware: {base: cx5-roce-25g, nic: {packet_gap: 1us}}\ncheck: []\ntopology: {nodes: 4}\nfabric: {model: " +
        model + "}\nworkload: {kind: traffic, pattern: all_to_all, size: 256KiB}\n";
    return static_cast<double>(run(scenario::parse_scenario(text, "flow.yaml")).measured_ps);
  };
  CHECK(time("flow") > 0.95 * time("packet"));
  CHECK(time("flow") < 1.05 * time("packet"));
}

TEST_CASE("a rate of links in general that no cable has changes nothing") {
  if (no_flow_model()) return;
  // Lookups READ: their time ends when all of the data has crossed PCIe (63 Gb/s, between the two rates).
  const auto time = [](const std::string& workload, const std::string& rate) {
    return run_flow_text(
               "check: []\ntopology: {kind: custom, hosts: 2, switches: 1, edges: [[h0, s0, {rate: 100Gbps}], "
               "[h1, s0, {rate: 100Gbps}]]}\nfabric: {model: flow, link: {rate: " +
               rate + "}}\nworkload: {" + workload + "}\n")
        .measured_ps;
  };
  for (const char* workload :
       {"kind: traffic, size: 64KiB, count: 4, outstanding: 2", "kind: lookup, iterations: 4, size: 64KiB"}) {
    CAPTURE(workload);
    CHECK(time(workload, "1Gbps") == time(workload, "100Gbps"));
  }
}

TEST_CASE("two messages to one host share its link: twice the time, as with packets within 5 percent") {
  if (no_flow_model()) return;
  const auto time = [](const char* model) {
    return flow_time(fabric_text(model, "{kind: star, nodes: 3}", "pattern: incast, size: 1MiB"));
  };
  const double flows = time("flow");
  CHECK(flows > 2 * kMessageTime);
  CHECK(flows < 2 * kMessageTime + kOverheads);
  CHECK(flows > 0.95 * time("packet"));
  CHECK(flows < 1.05 * time("packet"));
}

TEST_CASE("an all-reduce takes on flows what it takes as packets, within 2 percent, and has the same sums") {
  if (no_flow_model()) return;
  for (const std::string size : {"1KiB", "64KiB", "1MiB"}) {
    INFO(size);
    const auto time = [&](const std::string& model) {
      const RunResult result = run_flow_text("topology: {kind: star, nodes: 8}\nfabric: {model: " + model +
                                             "}\nworkload: {kind: all_reduce, size: " + size + "}\n");
      CHECK(result.broken.empty());
      CHECK(result.operations_done == 10);
      return static_cast<double>(result.measured_ps);
    };
    const double packets = time("packet");
    CHECK(time("flow") > 0.98 * packets);
    CHECK(time("flow") < 1.02 * packets);
  }
}

TEST_CASE("messages of one queue pair follow each other without a gap and stay in order") {
  if (no_flow_model()) return;
  const auto time = [](const char* model) {
    return flow_time(
        fabric_text(model, "{kind: star, nodes: 2}", "pattern: incast, size: 64KiB, count: 16, outstanding: 4"));
  };
  CHECK(time("flow") > 0.98 * time("packet"));
  CHECK(time("flow") < 1.02 * time("packet"));
}

TEST_CASE("background traffic takes its share: all that is left of a link, or at most its rate") {
  if (no_flow_model()) return;
  const auto time = [](const std::string& cross) {
    return flow_time(fabric_text("flow", "{kind: star, nodes: 3}", "pattern: permutation, size: 1MiB",
                                 ", cross_traffic: [" + cross + "]"));
  };
  // Of 25 Gb/s, 5 are gone: 25 / 20 of the time. Without a rate, half is gone.
  const double fifth = time("{from: h2, to: h1, rate: 5Gbps}");
  CHECK(fifth > kMessageTime * 25 / 20);
  CHECK(fifth < kMessageTime * 25 / 20 + kOverheads);
  const double half = time("{from: h2, to: h1}");
  CHECK(half > 2 * kMessageTime);
  CHECK(half < 2 * kMessageTime + kOverheads);
  // 125,000 bytes in the way, at the half rate that they leave us, cost their own time once.
  const double burst = time("{from: h2, to: h1, size: 125kB, start: 100us}");
  CHECK(burst > kMessageTime + 125'000 * 320.0);
  CHECK(burst < kMessageTime + 125'000 * 320.0 + kOverheads);
}

TEST_CASE("LOCO on flows: consistent, the same bytes each time, many runs in one process") {
  if (no_flow_model()) return;
  const std::string text =
      "topology: {kind: star, nodes: 4}\nfabric: {model: flow}\nworkload: {kind: quickstart}\ncheck: [rdmawait, sv, "
      "bal]\n";
  const RunResult first = run_flow_text(text);
  const RunResult second = run_flow_text(text);
  REQUIRE(first.verdict);
  CHECK(first.verdict->consistent());
  CHECK(first.trace->subevents.size() > 1000);
  CHECK(first.measured_ps == second.measured_ps);
  CHECK(first.counters == second.counters);
  CHECK(first.operations_done == second.operations_done);
  REQUIRE(first.operations.size() == second.operations.size());
  for (std::size_t i = 0; i < first.operations.size(); ++i) {
    CHECK(first.operations[i].name == second.operations[i].name);
    CHECK(first.operations[i].samples_ps == second.operations[i].samples_ps);
  }
}

TEST_CASE("a SimGrid platform with a cluster zone is a network of its hosts") {
  if (no_flow_model()) return;
  const PlatformFile file(
      "<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-11\" speed=\"1Gf\" bw=\"25Gbps\" lat=\"500ns\" "
      "sharing_policy=\"SPLITDUPLEX\"/>");
  const std::vector<std::string> hosts = fabric::platform_hosts(file.path());
  REQUIRE(hosts.size() == 12);
  CHECK(hosts[2] == "n-2");  // in the file's order, not in that of names
  CHECK(hosts[11] == "n-11");
  // Neighbours have every link to themselves; two links of 500 ns.
  const double time =
      flow_time("check: []\nplatform: " + file.path() +
                "\nfabric: {model: flow}\nworkload: {kind: traffic, pattern: permutation, size: 1MiB}\n");
  CHECK(time > kMessageTime + 1e6);
  CHECK(time < kMessageTime + kOverheads);
}

TEST_CASE("a failed run says so through its process, and keeps its trace") {
  if (no_flow_model()) return;
  const std::string text =
      "topology: {kind: star, nodes: 4}\nfabric: {model: flow}\nworkload: {kind: quickstart}\nlimits: {events: 3000}\n";
  try {
    static_cast<void>(run_flow_text(text));
    FAIL("3,000 events are not enough");
  } catch (const RunError& error) {
    CHECK(std::string(error.what()).find("3000 events") != std::string::npos);
    REQUIRE(error.trace());
    CHECK_FALSE(error.trace()->subevents.empty());
  }
  const scenario::Scenario s = scenario::parse_scenario(
      kFlowHardware + fabric_text("flow", "{kind: star, nodes: 2}", "size: 1MiB, count: 100000"), "flow.yaml");
  CHECK_THROWS_AS(run(s, {.interrupted = [] { return true; }}), Interrupted);
}

TEST_CASE("what flows cannot show is refused") {
  if (no_flow_model()) return;
  const auto refused = [](const std::string& more) {
    return flow_refusal(fabric_text("flow", "{kind: star}", "size: 64", more));
  };
  CHECK(refused("").empty());
  CHECK(refused(", routing: adaptive").find("adaptive and spray") != std::string::npos);
  CHECK(refused(", flow_control: pfc").find("no buffers") != std::string::npos);
  CHECK(refused(", ecn: {enabled: true}").find("no queues") != std::string::npos);
  CHECK(refused(", loss: 10").find("flows lose nothing") != std::string::npos);
  CHECK(refused(", cross_traffic: [{from: h0, to: h9}]").find("h0 to h1") != std::string::npos);
  CHECK(flow_refusal(fabric_text("packet", "{kind: star}", "size: 64", ", cross_traffic: [{from: h0, to: h1}]"))
            .find("flow model") != std::string::npos);
  CHECK(flow_refusal("schedule: random\n" + fabric_text("flow", "{kind: star}", "size: 64")).find("schedule") !=
        std::string::npos);
  CHECK(flow_refusal("platform: nowhere.xml\nfabric: {model: flow}\nworkload: {kind: traffic}\n")
            .find("nowhere.xml:1:1: expected a readable file, found none") != std::string::npos);
}

TEST_CASE("a platform file describes a network and does nothing else") {
  const auto told = [](const std::string& text) -> std::string {
    try {
      fabric::check_platform("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"simgrid.dtd\">\n" + text);
    } catch (const fabric::PlatformFileError& error) {
      return error.what();
    }
    return "";
  };
  const auto zone = [&](const std::string& inside) {
    return told("<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n" + inside + "</zone></platform>\n");
  };
  const auto refused = [](const std::string& text, const std::string& place) {
    INFO(text);
    return text.starts_with(place) && text.find('\n') == std::string::npos;
  };
  CHECK(zone("<host id=\"a\" speed=\"1Gf\"/><!-- <config/> -->\n<link id='l' bandwidth='1.5MBps' latency='50us'/>")
            .empty());
  CHECK(zone("<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"10Gbps\" lat=\"0\" "
             "bb_lat=\"\"/>")
            .empty());
  // What would set SimGrid up, start something, or read and write other files.
  for (const std::string name : {"config", "include", "actor", "process", "trace", "random", "CONFIG", "x:config"})
    CHECK(refused(zone("<" + name + " id=\"x\"/>"), "4:1: expected an element that describes a platform"));
  CHECK(refused(zone("<link id=\"l\" bandwidth=\"1Gbps\" latency=\"1us\" latency_file=\"/dev/zero\"/>"), "4:"));
  CHECK(refused(told("<!DOCTYPE platform [<!ENTITY c '<config/>'>]><platform/>"), "3:20: expected a document type"));
  CHECK(refused(told("<config id=\"General\"/>"), "3:1: expected the element <platform>"));
  CHECK(refused(told("no markup at all"), ""));
  CHECK(refused(zone("<link id=\"l\" bandwidth=\"1Gbps"), "4:14: expected an attribute's value in quotes"));
  // Hosts of clusters are counted before SimGrid makes them.
  for (const std::string radical : {"0-999999999", "0-65535,70000", "1,2,0-65533,9", "5-18446744073709551615"})
    CHECK(zone("<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"" + radical + "\" speed=\"1Gf\" bw=\"1GBps\"/>")
              .find("radical: 65536 hosts at most, found \"" + radical) != std::string::npos);
  // Latencies and rates for which there is simulated time.
  for (const std::string latency : {"1e7s", "1e30s", "-1s", "nan", "inf", "0x1s", "5 us", "1000001ms", "1lightyear"})
    CHECK(refused(zone("<link id=\"l\" bandwidth=\"1Gbps\" latency=\"" + latency + "\"/>"), "4:41: "));
  for (const std::string rate : {"0", "-1", "nan", "1e400Gbps", "999Bps", "7999bps", "1Gb", "1Xbps", "inf"})
    CHECK(refused(zone("<link id=\"l\" latency=\"1us\" bandwidth=\"" + rate + "\"/>"), "4:39: "));
  for (const std::string rate : {"1000", "8kbps", "1KiBps", "8Kibps", "100PBps", "12.5GBps", "1e9bps"})
    CHECK(zone("<link id=\"l\" latency=\"1000s\" bandwidth=\"" + rate + "\"/>").empty());
  for (const std::string attribute : {"lat", "bb_lat", "loopback_lat", "bw", "bb_bw", "loopback_bw", "bw_in", "bw_out"})
    CHECK(refused(zone("<cluster " + attribute + "=\"-1\"/>"), "4:"));
}

TEST_CASE("a machine on flows is no value: it refuses to be copied") {
  const scenario::Scenario s = scenario::parse_scenario(
      kFlowHardware + fabric_text("packet", "{kind: star, nodes: 2}", "size: 64"), "flow.yaml");
  nic::SystemConfig config{.profile = s.hardware, .topology = s.topology, .network = s.network, .nodes = s.nodes};
  const nic::System packets(config);
  CHECK_NOTHROW(nic::System(packets));
  config.network.model = fabric::Model::flow;
  const nic::System flows(config);
  CHECK_THROWS_AS(nic::System(flows), std::logic_error);
}
