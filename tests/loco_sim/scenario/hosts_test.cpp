// `hosts` of a scenario: what hosts have, and every mistake with its place.
#include <string>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco::scenario;
using loco::test::contains_text;
namespace nic = loco::nic;
namespace topology = loco::fabric::topology;

namespace {

Scenario parse_hosts(const std::string& hosts, const std::string& topology = "{kind: star, nodes: 4}",
                     const std::string& more = {}) {
  return parse_scenario("workload: {kind: barrier}\ntopology: " + topology + "\nhosts: " + hosts + "\n" + more,
                        "s.yaml");
}

void refused(const std::string& hosts, const std::string& message,
             const std::string& topology = "{kind: star, nodes: 4}") {
  CHECK_THROWS_WITH(parse_hosts(hosts, topology), contains_text(message));
}

}  // namespace

TEST_CASE("single hosts and ranges have other hardware, several NICs, devices", "[scenario]") {
  const Scenario s = parse_hosts(
      "[{nodes: [0, 2-3], hardware: cx5-roce-100g, nics: 2}, {nodes: 1, devices: [{kind: gpu, count: 2, switch: 3}]}]");
  REQUIRE(s.hosts.of.size() == 4);
  REQUIRE(s.hosts.hardware.size() == 1);
  CHECK(s.hosts.hardware[0] == load_hardware("cx5-roce-100g").profile);
  CHECK(s.hosts.of[nic::HostId(0)] == nic::HostConfig{.hardware = 1, .nics = 2});
  CHECK(s.hosts.of[nic::HostId(3)] == s.hosts.of[nic::HostId(0)]);
  CHECK(s.hosts.of[nic::HostId(1)].hardware == 0);
  CHECK(s.hosts.of[nic::HostId(1)].gpus == std::vector<nic::GpuConfig>(2, {3, s.hardware.pcie_rate}));
  CHECK(s.nodes == 4);
  CHECK(std::get<topology::Star>(s.network.shape).nodes == 7);  // an end for each NIC
}

TEST_CASE("hosts that are as the others are no description", "[scenario]") {
  CHECK(parse_hosts("[{nodes: [0-3], hardware: cx5-roce-25g, nics: 1}]").hosts == nic::HostsConfig{});
}

TEST_CASE("devices say where NICs are, and how wide a GPU's link is", "[scenario]") {
  const Scenario s = parse_hosts(
      "[{devices: [{kind: nic, count: 2, switch: 0}, {kind: gpu, switch: 0, pcie: {generation: 5, lanes: 8}}]}]");
  CHECK(s.hosts.of[nic::HostId(2)].nics == 2);
  CHECK(s.hosts.of[nic::HostId(2)].nic_switches == std::vector<std::uint32_t>{0, 0});
  CHECK(s.hosts.of[nic::HostId(2)].gpus[0].rate.value == 227'400'000'000);  // generation 4 x16 (docs/hardware.md)
}

TEST_CASE("rails: a NIC for each", "[scenario]") {
  const Scenario s = parse_hosts("[{nodes: 1, hardware: cx5-roce-100g}]", "{kind: rails, hosts: 3, rails: 2}");
  CHECK(s.nodes == 3);
  CHECK(s.hosts.of[nic::HostId(0)].nics == 2);
  CHECK(s.hosts.of[nic::HostId(1)] == nic::HostConfig{.hardware = 1, .nics = 2});
  refused("[{nodes: 1, nics: 3}]", "hosts[0].nics: expected 2, a NIC for each of topology.rails, found 3",
          "{kind: rails, hosts: 3, rails: 2}");
}

TEST_CASE("edges and failures name NICs", "[scenario]") {
  const std::string edges =
      "{kind: custom, hosts: 2, switches: 2, edges: [[h0, s0], [h0.1, s1], [h1.0, s0], [h1.1, s1], [s0, s1]]}";
  const Scenario s = parse_hosts("[{nics: 2}]", edges, "fabric: {failures: [{link: [h1.1, s1], down: 1ms}]}\n");
  const auto& custom = std::get<topology::Custom>(s.network.shape);
  CHECK(custom.hosts == 4);
  CHECK(custom.edges[1].a == 2);  // second NICs come behind all first ones
  CHECK(custom.edges[1].b == 5);
  CHECK(s.network.changes.at(0).cable == 3);
  refused("[{nodes: 0, nics: 2}]", "2: topology.edges[3]: expected one of 2 hosts (h0, h1, ...), NIC k of one (h0.k)",
          edges);
}

TEST_CASE("a PCIe tree: switches behind switches, sockets, where devices are", "[scenario]") {
  const Scenario s = parse_hosts(
      "[{nodes: 0, pcie: {sockets: 2, socket_link: {rate: 160Gbps, delay: 90ns, credits: 8KiB}, memory_order: each, "
      "switches: [{name: leaf, switch: top, rate: 64Gbps, delay: 105ns, credits: 4KiB, forwarding: store_and_forward}, "
      "{name: top, socket: 1, generation: 5, lanes: 8}]}, "
      "devices: [{kind: nic, switch: leaf}, {kind: nic, socket: 1}, {kind: gpu, switch: top}, {kind: gpu}]}]");
  const nic::HostConfig& host = s.hosts.of[nic::HostId(0)];
  REQUIRE(host.switches.size() == 2);
  CHECK(host.switches[0] == nic::PcieSwitchConfig{.name = "leaf",
                                                  .above = 1,
                                                  .link = {{64'000'000'000}, {4096}},
                                                  .delay = loco::sim::Duration{105'000},
                                                  .store_and_forward = true});
  CHECK(host.switches[1] ==
        nic::PcieSwitchConfig{.name = "top", .socket = 1, .link = {.rate = {227'400'000'000}}});  // as generation 4 x16
  CHECK(host.sockets ==
        nic::SocketsConfig{2, {{160'000'000'000}, {8192}}, loco::sim::Duration{90'000}, nic::MemoryOrder::each});
  CHECK(host.nics == 2);
  CHECK(host.nic_switches == std::vector<std::uint32_t>{0, nic::kRootPort});
  CHECK(host.nic_sockets == std::vector<std::uint32_t>{0, 1});
  CHECK(host.gpus[0].pcie_switch == 1);
  CHECK(host.gpus[1] == nic::GpuConfig{nic::kRootPort, s.hardware.pcie_rate});
}

TEST_CASE("mistakes in a PCIe tree have one line with their place", "[scenario]") {
  const auto in_tree = [](const std::string& pcie, const std::string& devices, const std::string& message) {
    refused("[{nodes: 0, pcie: {" + pcie + "}, devices: [" + devices + "]}]", message);
  };
  in_tree("switches: [{name: a}, {name: a}]", "",
          "s.yaml:3:56: hosts[0].pcie.switches[1].name: expected a name that no other switch has, found \"a\"");
  in_tree("switches: [{name: a, switch: b}, {name: b, switch: a}]", "",
          "s.yaml:3:56: hosts[0].pcie.switches[0].switch: expected a switch that is not behind this one in turn, found "
          "\"b\"");
  in_tree("switches: [{name: a, switch: c}, {name: b}]", "",
          "hosts[0].pcie.switches[0].switch: expected a switch of pcie.switches: a, b, found \"c\"");
  in_tree("switches: [{lanes: 4}]", "", "hosts[0].pcie.switches[0]: expected a map with the key name");
  in_tree("switches: [{name: a, lanes: 5}]", "", "hosts[0].pcie.switches[0].lanes: expected 1, 2, 4, 8 or 16");
  in_tree("switches: [{name: a}]", "{kind: gpu, switch: 0}",
          "hosts[0].devices[0].switch: expected a switch of pcie.switches: a, found \"0\"");
  in_tree("sockets: 2", "{kind: gpu, socket: 2}",
          "hosts[0].devices[0].socket: expected a socket from 0 to 1 (pcie.sockets), found 2");
  in_tree("sockets: 2", "{kind: nic, socket: 1, switch: 0}",
          "hosts[0].devices[0].socket: expected a switch or a socket, not both, found 1");
  in_tree("memory_order: each", "", "hosts[0].pcie.memory_order: expected pcie.sockets: 2 or more, found one socket");
  refused(
      "[{nodes: 0, hardware: {base: cx5-roce-25g, pcie: {remote_numa: true}}, pcie: {sockets: 2}}]",
      "hosts[0].pcie.sockets: expected hardware without pcie.remote_numa, which is of hosts with one socket, found 2");
  CHECK_THROWS_WITH(parse_scenario("workload: {kind: traffic, memory: numa1}\ntopology: {kind: star, nodes: 2}\n"
                                   "hosts: [{nodes: 0, pcie: {sockets: 2}}]\n",
                                   "s.yaml"),
                    contains_text("s.yaml:1:35: workload.memory: expected the memory of a socket that every host has "
                                  "(hosts: pcie.sockets): host 1 has 1, found \"numa1\""));
}

TEST_CASE("ports: a cable each", "[scenario]") {
  const Scenario s = parse_hosts("[{nodes: [0-1], nics: 2, ports: 2}]");
  CHECK(s.hosts.of[nic::HostId(1)].ports == 2);
  CHECK(std::get<topology::Star>(s.network.shape).nodes == 4 + 2 + 4);  // NICs' first ports, then the second ones
  const std::string edges =
      "{kind: custom, hosts: 2, switches: 2, edges: [[h0, s0], [h0.0.1, s1], [h1.0.0, s0], [h1.0.1, s1], [s0, s1]]}";
  const Scenario custom = parse_hosts("[{ports: 2}]", edges, "fabric: {failures: [{link: [h1.0.1, s1], down: 1ms}]}\n");
  CHECK(std::get<topology::Custom>(custom.network.shape).edges[1].a == 2);
  CHECK(custom.network.changes.at(0).cable == 3);
  refused("[{nodes: 0, ports: 2}]", "topology.edges[3]: expected one of 2 hosts", edges);
  refused("[{ports: 9}]", "hosts[0].ports: expected an integer from 1 to 8");
  refused("[{ports: 2}]", "hosts[0].ports: expected 1: NICs with several ports are in topologies star and custom",
          "{kind: fat_tree, k: 2}");
}

TEST_CASE("mistakes in hosts have one line with their place", "[scenario]") {
  refused("[{nodes: [0-4]}]", "s.yaml:3:18: hosts[0].nodes: expected hosts from 0 to 3");
  refused("[{nodes: [2-1]}]", "hosts[0].nodes: expected hosts from 0 to 3");
  refused("[{nodes: [0-2]}, {nodes: [2]}]",
          "s.yaml:3:34: hosts[1].nodes: expected hosts that no other entry has, found host 2, which is in hosts[0]");
  refused("[{nics: 2}, {nodes: 1}]", "hosts[1].nodes: expected hosts that no other entry has, found host 1");
  refused("[{nodes: 0, nics: 0}]", "hosts[0].nics: expected");
  refused("[{nodes: 0, nic: 2}]", "nics");
  refused("[{nodes: 0, hardware: cx9}]", "found \"cx9\"");
  refused("[{nodes: 0, hardware: efa-srd-like}]",
          "hosts[0].hardware: expected hardware with the nic.placement of cx5-roce-25g, as all NICs of a network have");
  refused("[{nodes: 0, nics: 2}]",
          "hosts[0].nics: expected 1: hosts with several NICs are in topologies star, rails and custom",
          "{kind: fat_tree, k: 2}");
  refused("[{nodes: 0, devices: [{kind: tpu}]}]", "hosts[0].devices[0].kind: expected");
  refused("[{nodes: 0, devices: [{count: 2}]}]", "hosts[0].devices[0]: expected a map with the key kind");
  refused("[{nodes: 0, nics: 1, devices: [{kind: nic, count: 2}]}]",
          "hosts[0].devices: expected at most the 1 NICs of the host, found 2");
  refused("[{nodes: 0, devices: [{kind: gpu, pcie: {lanes: 3}}]}]",
          "hosts[0].devices[0].pcie.lanes: expected 1, 2, 4, 8 or 16");
  refused("{nodes: 0}", "s.yaml:3:8: hosts: expected a list of hosts and what they have");
}
