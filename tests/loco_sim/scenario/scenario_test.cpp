// Scenarios: defaults, hardware with changes, faults, cross-checks, sweeps.
#include "loco_sim/scenario/scenario.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/schema.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco::scenario;
using loco::test::contains_text;
using loco::trace::Library;

namespace {

Scenario parse(const std::string& text, const std::vector<Override>& overrides = {}) {
  return parse_scenario(text, "s.yaml", overrides);
}

const std::string kBarrier = "workload: {kind: barrier}\n";

}  // namespace

TEST_CASE("what is left out has a default", "[scenario]") {
  const Scenario s = parse(kBarrier);
  CHECK(s.name == "s");
  CHECK(s.seed == 1);
  CHECK(s.nodes == 2);
  CHECK(s.topology == loco::fabric::Topology::star);
  CHECK(s.schedule == loco::Schedule::timed);
  CHECK(s.hardware_name == "cx5-roce-25g");
  CHECK(s.hardware == load_hardware("cx5-roce-25g").profile);
  CHECK(s.parameters.get("iterations") == 1000);
  CHECK(s.check == std::vector<Library>{Library::rdmawait, Library::sv, Library::bal});
  CHECK(s.trace_path.empty());
  CHECK(parse(kBarrier + "schedule: random\n").schedule == loco::Schedule::random);
  CHECK(parse(kBarrier + "schedule: adversarial\n").schedule == loco::Schedule::adversarial);
}

TEST_CASE("a profile can be changed in place", "[scenario]") {
  const Scenario s = parse(kBarrier + "hardware: {base: cx5-roce-25g, nic: {max_rd_atomic: 4}, link: {delay: 1us}}\n");
  loco::nic::HardwareProfile expected = load_hardware("cx5-roce-25g").profile;
  expected.nic_max_rd_atomic = 4;
  expected.link_delay = {1'000'000};
  CHECK(s.hardware == expected);
  CHECK(s.hardware_name == "cx5-roce-25g (changed)");
  const Scenario by_link = parse(kBarrier + "fabric: {link: {delay: 1us, rate: 100Gbps}}\n");
  CHECK(by_link.hardware.link_delay.ps == 1'000'000);
  CHECK(by_link.hardware.link_rate.value == 100'000'000'000);
  // The longest RNR timer that a NAK has a code for (IBTA volume 1, table 45).
  CHECK(parse(kBarrier + "hardware: {nic: {rnr_timer: 655.36ms}}\n").hardware.nic_rnr_timer.ps == 655'360'000'000);
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: {nic: {rnr_timer: 656ms}}\n"),
                    contains_text("hardware.nic.rnr_timer: expected a time"));
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: {nic: {max_rd_atomic: 0}}\n"),
                    contains_text("s.yaml:2:33: hardware.nic.max_rd_atomic: expected an integer from 1 to 128"));
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: {base: cx5-roce-25g, pcie: {mps: 100B}}\n"),
                    contains_text("powers of two"));
}

TEST_CASE("a workload that needs remote atomics needs a NIC that has them", "[scenario]") {
  CHECK_THROWS_WITH(parse("hardware: efa-srd-like\nworkload: {kind: lock}\n"),
                    "s.yaml:1:11: hardware: expected a NIC with remote atomics for the workload lock, found "
                    "efa-srd-like, which has none (nic.atomic_cap)");
  CHECK(parse("hardware: efa-srd-like\n" + kBarrier).hardware.nic_atomic_cap == loco::nic::AtomicCap::none);
  CHECK_NOTHROW(parse("hardware: {base: efa-srd-like, nic: {atomic_cap: hca}}\nworkload: {kind: lock}\n"));
  const std::string without = "hardware: {base: cx5-roce-25g, nic: {atomic_cap: none}}\n";
  CHECK_THROWS_WITH(parse(without + "workload: {kind: kvstore}\n"),
                    contains_text("expected a NIC with remote atomics"));
  CHECK_NOTHROW(parse(without + "workload: {kind: kvstore, store: rpc}\n"));
  CHECK_THROWS_WITH(parse(without + "topology: {nodes: 3}\nworkload: {kind: pattern, pattern: fetch_add}\n"),
                    contains_text("expected a NIC with remote atomics for the workload pattern"));
  CHECK_NOTHROW(parse(without + "topology: {nodes: 3}\nworkload: {kind: pattern, pattern: put_put}\n"));
}

TEST_CASE("hosts that stop are a network that loses: what needs one that does not is refused with its place",
          "[scenario]") {
  const std::string text =
      "workload: {kind: message_passing}\nfaults: [early_write_completion]\n"
      "fabric: {failures: [{host: h0, stops: 3us}]}\n";
  CHECK_THROWS_WITH(parse(text), contains_text("s.yaml:3:9: fabric: expected a network that can be built, found the "
                                               "faults responder_reorders and early_write_completion need"));
}

TEST_CASE("parameters that do not go together are told with their place", "[scenario]") {
  const std::string ring = "workload: {kind: broadcast, over: ring_buffer, size: 1KiB, ring: ";
  CHECK_THROWS_WITH(parse(ring + "64B}\n"),
                    "s.yaml:1:66: workload.ring: expected at least 1032 bytes, for a message of 1024, found 64");
  CHECK_NOTHROW(parse(ring + "1032B}\n"));
  // 65,536 bytes are 4,096 entries of 16, of which 3,276 are there: 2,048 places and 1,638 of them on each of two
  // nodes.
  const std::string inserts = "workload: {kind: kvstore, mix: insert, threads_per_node: 2, iterations: ";
  CHECK_NOTHROW(parse(inserts + "205}\n"));
  CHECK_THROWS_WITH(parse(inserts + "206, key_space: 64KiB}\n"),
                    "s.yaml:1:89: workload.key_space: expected room for 412 inserts of each node (20 % of it, 16 bytes "
                    "each), which has 410, found 65536");
  CHECK_NOTHROW(parse("workload: {kind: broadcast, over: tree, size: 1KiB, ring: 64B}\n"));
}

TEST_CASE("every profile reads", "[scenario]") {
  for (const std::string& name : hardware_names()) {
    CAPTURE(name);
    CHECK(load_hardware(name).name == name);
    CHECK_FALSE(load_hardware(name).description.empty());
  }
}

TEST_CASE("overrides win over the file and are told as what they are", "[scenario]") {
  const Scenario s =
      parse(kBarrier + "topology: {nodes: 4}\n",
            {{"topology.nodes", "8"}, {"hardware.switch.latency", "1us"}, {"check", "[sv]"}, {"seed", "7"}});
  CHECK(s.nodes == 8);
  CHECK(s.hardware.switch_latency.ps == 1'000'000);
  CHECK(s.check == std::vector<Library>{Library::sv});
  CHECK(s.seed == 7);
  CHECK_FALSE(s.check_tower);
  CHECK(parse(kBarrier + "check: [sv, tower]\n").check_tower);
  CHECK(parse(kBarrier + "check: [sv, tower]\n").check == std::vector<Library>{Library::sv});
  CHECK_THROWS_WITH(
      parse(kBarrier + "check: [tower]\n"),
      loco::test::contains_text("expected at least one library for the tower to stand on, found only \"tower\""));
  CHECK_THROWS_WITH(parse(kBarrier, {{"topology.nodes", "many"}}),
                    "--set topology.nodes=many: topology.nodes: expected an integer from 2 to 1024, found \"many\"");
  CHECK_THROWS_WITH(parse(kBarrier, {{"topology", "[1"}}),
                    contains_text("--set topology=[1: expected well-formed YAML"));
  CHECK(parse_set("a.b=c=d").key == "a.b");
  CHECK(parse_set("a.b=c=d").value == "c=d");
  CHECK_THROWS_AS(parse_set("a.b"), loco::text::InputError);
}

TEST_CASE("faults go to the hardware or to the library", "[scenario]") {
  const Scenario s = parse(kBarrier + "faults: [read_does_not_flush, barrier_without_fence]\n");
  CHECK(s.hardware.faults.has(loco::nic::Fault::read_does_not_flush));
  CHECK_FALSE(s.hardware.faults.has(loco::nic::Fault::fence_ignored));
  CHECK(s.library_faults.has(loco::workloads::LibraryFault::barrier_without_fence));
  CHECK(parse(kBarrier).hardware.faults.none());
}

TEST_CASE("keys that do not fit together are refused", "[scenario]") {
  CHECK_THROWS_WITH(parse(kBarrier + "topology: {kind: back_to_back, nodes: 3}\n"),
                    contains_text("s.yaml:2:39: topology.nodes"));
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: model-weak\nfabric: {link: {rate: 1Gbps}}\n"),
                    contains_text("s.yaml:3:23: fabric.link: expected hardware with a network"));
  CHECK_THROWS_WITH(parse("workload: {kind: pattern}\ntopology: {nodes: 2}\n"),
                    contains_text("s.yaml:2:19: topology.nodes: expected 3 to"));
  CHECK_THROWS_WITH(parse("workload: {kind: barrier, threads_per_node: 256}\ntopology: {nodes: 1024}\n"),
                    contains_text("at most 4096 threads on all nodes together"));
  CHECK_THROWS_WITH(parse(kBarrier + "trace: {level: none, path: t}\n"), contains_text("since trace.path is given"));
  CHECK(parse(kBarrier + "trace: {level: none}\n").check.empty());
  CHECK_THROWS_WITH(parse(kBarrier + "check: [rdmawait]\ntrace: {level: none}\n"),
                    contains_text("subevents, since the run is checked"));
  for (const auto& [level, activities] : {std::pair{"subevents", false}, {"packets", true}}) {
    const Scenario traced = parse(kBarrier + "trace: {level: " + level + "}\n");
    CHECK(traced.trace_subevents);
    CHECK(traced.trace_activities == activities);
  }
}

TEST_CASE("links go down before they come back, each time", "[scenario]") {
  const auto wrong = [](const std::string& failures, const std::string& message) {
    CAPTURE(failures);
    CHECK_THROWS_WITH(parse(kBarrier + "fabric: {failures: [" + failures + "]}\n"), Catch::Matchers::Equals(message));
  };
  wrong("{link: [h0, s0], down: 2ms, up: 1ms}",
        "s.yaml:2:53: fabric.failures[0].up: expected a time after the link went down, found 1ms");
  wrong("{link: [h0, s0], up: 1ms}",
        "s.yaml:2:42: fabric.failures[0].up: expected a time after the link went down, found 1ms");
  wrong("{link: [h0, s0], down: 1ms, up: 3ms}, {link: [s0, h0], down: 2ms, up: 4ms}",
        "s.yaml:2:82: fabric.failures[1].down: expected a time at which the link is up again, found 2ms");
  wrong("{link: [h0, s0], down: 1ms, up: 1ms}",
        "s.yaml:2:53: fabric.failures[0].up: expected a time of its own for each change of a link, found 1ms again");
  wrong(
      "{link: [h0, s0]}",
      "s.yaml:2:21: fabric.failures[0]: expected a map with the key link and one of down, up, loss, found {link: [h0, "
      "s0]}");
  wrong("{host: h0}", "s.yaml:2:21: fabric.failures[0]: expected a map with the keys host and stops, found {host: h0}");
  CHECK(parse(kBarrier +
              "fabric: {failures: [{link: [h1, s0], down: 3ms}, {link: [h0, s0], down: 1ms, up: 2ms}, {link: "
              "[h0, s0], down: 3ms}]}\n")
            .network.changes.size() == 4);
}

TEST_CASE("path MTUs of hosts: those that verbs have, and that the links carry") {
  const auto read = [](const std::string& mtus, const std::string& more = {}) {
    return parse(kBarrier + "fabric: {path_mtu: [" + mtus + "]" + more + "}\n");
  };
  CHECK(read("{host: h1, mtu: 512B}").path_mtu == std::vector<std::uint32_t>{0, 512});
  CHECK(read("{host: h1, mtu: 256B}, {host: h0, mtu: 1KiB}").path_mtu == std::vector<std::uint32_t>{1024, 256});
  CHECK(parse(kBarrier).path_mtu.empty());
  const auto wrong = [&](const std::string& mtus, const std::string& message, const std::string& more = {}) {
    CAPTURE(mtus);
    CHECK_THROWS_WITH(read(mtus, more), Catch::Matchers::Equals("s.yaml:2:" + message));
  };
  wrong("{host: h1, mtu: 500B}", "37: fabric.path_mtu[0].mtu: expected 256, 512, 1024, 2048 or 4096 B, found 500 B");
  wrong("{host: h1, mtu: 2KiB}",
        "37: fabric.path_mtu[0].mtu: expected at most the 1024 B of the links (hardware.link.mtu), found 2048 B");
  wrong("{host: h1}", "21: fabric.path_mtu[0]: expected a map with the keys host and mtu, found {host: h1}");
  wrong("{host: h1, mtu: 512B}, {host: h1, mtu: 512B}",
        "51: fabric.path_mtu[1].host: expected each host once, found \"h1\"");
  wrong("{host: h1, mtu: 512B}",
        "20: fabric.path_mtu: expected fabric.model: packet and hardware with a network, found fabric.model: flow",
        ", model: flow");
}

TEST_CASE("a default that does not fit is told where the file could say otherwise", "[scenario]") {
  CHECK_THROWS_WITH(parse("name: n\nworkload: {kind: broadcast, over: ring_buffer, size: 1MiB}\n"),
                    contains_text("s.yaml:2:18: workload.ring: expected at least"));
  CHECK_THROWS_WITH(
      parse(kBarrier + "topology: {kind: fat_tree, k: 64}\n"),
      Catch::Matchers::Equals("s.yaml:2:18: topology.nodes: expected 1 to 1024 nodes for the workload barrier, found "
                              "65536"));
}

TEST_CASE("a sweep is validated value by value", "[scenario]") {
  const Scenario s = parse(kBarrier + "sweep: {topology.nodes: [2, 4], fabric.link.delay: [50ns, 1us]}\n");
  REQUIRE(s.sweep.axes.size() == 2);
  CHECK(s.sweep.axes[0].key == "topology.nodes");
  CHECK(s.sweep.axes[1].values == std::vector<std::string>{"50ns", "1us"});
  CHECK_THROWS_WITH(parse(kBarrier + "sweep: {topology.nodes: [2, x]}\n"),
                    contains_text("s.yaml:2:29: topology.nodes: expected"));
  CHECK_THROWS_WITH(parse(kBarrier + "sweep: {topology.ndoes: [2]}\n"), contains_text("did you mean \"nodes\"?"));
  CHECK_THROWS_WITH(parse(kBarrier + "sweep: {topology.nodes: 2}\n"),
                    contains_text("sweep.topology.nodes: expected a list of values"));
  CHECK_THROWS_WITH(parse(kBarrier + "sweep: {topology.nodes: []}\n"), contains_text("expected a list of values"));
  std::string many = "[1";
  for (int i = 2; i < 1002; ++i) many += ", " + std::to_string(i);
  CHECK_THROWS_WITH(parse(kBarrier + "sweep: {seed: " + many + "]}\n"), contains_text("at most 1000 values"));
}

TEST_CASE("sweeps: ranges are written out, random axes are left to be drawn", "[scenario]") {
  const Scenario s = parse(kBarrier +
                           "sweep:\n  samples: 10\n  sample_seed: 7\n  topology.nodes: {range: [2, 9, 3]}\n"
                           "  fabric.link.delay: {log_range: [50ns, 50us, 4]}\n"
                           "  workload.iterations: {uniform: [5, 10]}\n"
                           "  fabric.link.rate: {choice: [25Gbps, 100Gbps]}\n");
  REQUIRE(s.sweep.axes.size() == 4);
  // 2, 2 + 3, 2 + 6; the next, 11, lies beyond 9
  CHECK(s.sweep.axes[0].values == std::vector<std::string>{"2", "5", "8"});
  // factors of 10
  CHECK(s.sweep.axes[1].values == std::vector<std::string>{"50ns", "500ns", "5us", "50us"});
  CHECK(s.sweep.axes[2].kind == SweepAxis::Kind::uniform);
  CHECK(s.sweep.axes[2].values == std::vector<std::string>{"5", "10"});
  CHECK(s.sweep.axes[3].kind == SweepAxis::Kind::choice);
  CHECK(s.sweep.samples == 10);
  CHECK(s.sweep.sample_seed == 7);
  CHECK(s.sweep.runs() == 3 * 4 * 10);
  CHECK(parse(kBarrier + "sweep: {fabric.link.delay: {range: [0, 1us, 500ns]}}\n").sweep.axes[0].values.size() == 3);
  CHECK(parse(kBarrier + "sweep: {fabric.link.delay: {range: [0, '1us', '500ns']}}\n").sweep.axes[0].values.size() ==
        3);
  CHECK(parse(kBarrier + "sweep: {fabric.link.delay: ['50ns', '1us']}\n").sweep.axes[0].values ==
        std::vector<std::string>{"50ns", "1us"});
  // by equal factors, but whole nodes, each once: 2, 2.52, 3.17, 4
  CHECK(parse(kBarrier + "sweep: {topology.nodes: {log_range: [2, 4, 4]}}\n").sweep.axes[0].values ==
        std::vector<std::string>{"2", "3", "4"});
  CHECK(parse(kBarrier + "sweep: {topology.nodes: {range: [3, 3, 1]}}\n").sweep.axes[0].values ==
        std::vector<std::string>{"3"});
  // Both ends as they are given: 2^53 + 1 is no double.
  CHECK(parse(kBarrier + "sweep: {seed: {log_range: [1, 9007199254740993, 2]}}\n").sweep.axes[0].values ==
        std::vector<std::string>{"1", "9007199254740993"});
}

TEST_CASE("sweeps: what is wrong with a range", "[scenario]") {
  const auto wrong = [](const std::string& axis, const std::string& message) {
    CAPTURE(axis);
    CHECK_THROWS_WITH(parse(kBarrier + "sweep: {topology.nodes: " + axis + "}\n"), contains_text(message));
  };
  wrong("{range: [2, 8]}", "sweep.topology.nodes.range: expected [FROM, TO, STEP]");
  wrong("{range: [2, 8, 0]}", "expected a positive step");
  wrong("{range: ['2', 8, 1]}", "expected a whole number");
  wrong("{range: [2, 8, 1us]}", "expected a positive step of the same kind");
  wrong("{range: [8, 2, 1]}", "expected what is no less than \"8\"");
  wrong("{range: [2, 8us, 1]}", "expected the same kind of quantity, with a unit or without, as \"2\", found \"8us\"");
  wrong("{uniform: [1, 2], choice: [1]}", "or {choice: [VALUE, ...]}, found {uniform: [1, 2], choice: [1]}");
  wrong("{range: [2, 9000000000000000000, 1]}", "at most 1000 values");
  wrong("{range: [2, 4096, 1024]}", "topology.nodes: expected an integer from 2 to 1024");
  wrong("{log_range: [0, 8, 3]}", "expected more than 0");
  wrong("{log_range: [2, 8, 1]}", "2 or more");
  wrong("{uniform: [2, x]}", "expected a whole number");
  wrong("{uniform: [1, 4]}", "topology.nodes: expected an integer from 2 to 1024");
  wrong("{choice: []}", "expected a list of values");
  wrong("{rnage: [2, 8, 1]}", "did you mean \"range\"?");
  CHECK_THROWS_WITH(parse(kBarrier + "sweep: {samples: 0}\n"),
                    contains_text("sweep.samples: expected an integer from 1"));
  CHECK_THROWS_WITH(
      parse(kBarrier + "sweep: {samples: 1000000, topology.nodes: {range: [2, 3, 1]}, seed: {uniform: [1, 9]}}\n"),
      contains_text("at most 1000 values and 1000000 runs"));
  CHECK_THROWS_WITH(
      parse(kBarrier + "sweep: {topology.nodes: {range: [2, 3, 1]}, seed: {uniform: [1, 9]}, samples: 1000000}\n"),
      contains_text("at most 1000 values and 1000000 runs"));
}

TEST_CASE("a size that its workload cannot have is told where it was given", "[scenario]") {
  CHECK_THROWS_WITH(parse("workload: {kind: message_passing, size: 12B}\n"),
                    contains_text("s.yaml:1:41: workload.size: expected a multiple of 8, found 12"));
}

TEST_CASE("fields of hardware that do not fit are told where they were given", "[scenario]") {
  CHECK_THROWS_WITH(
      parse(kBarrier + "hardware:\n  link:\n    mtu: 100\n"),
      contains_text("s.yaml:4:10: hardware.link.mtu: expected fields that fit together, found link.mtu must "
                    "be a multiple of 8"));
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: cx5-roce-25g\n", {{"hardware.link.mtu", "100"}}),
                    contains_text("--set hardware.link.mtu=100: hardware.link.mtu: expected fields that fit"));
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: {pcie: {iommu: true, iommu_window: 2KiB}}\n"),
                    contains_text("pcie.iommu needs pcie.iommu_window of a page (4 KiB) or more"));
  CHECK_THROWS_WITH(parse(kBarrier + "hardware: {link: {rate: 1bps}}\n"),
                    contains_text("s.yaml:2:25: hardware.link.rate: expected fields that fit together, found link.rate "
                                  "must be at least 1 Mb/s, or 0: infinitely fast"));
  CHECK(parse(kBarrier + "hardware: {link: {rate: 1Mbps}}\n").hardware.link_rate.value == 1'000'000);
  // Two that do not go together, one of the file, one of the command line: the latter was the last straw.
  CHECK_THROWS_WITH(
      parse(kBarrier + "hardware: {pcie: {mrrs: 512B}}\n", {{"hardware.pcie.read_completion", "1024B"}}),
      contains_text("--set hardware.pcie.read_completion=1024B: hardware.pcie.read_completion: expected"));
}

TEST_CASE("the schema has every key", "[scenario]") {
  const auto schema = nlohmann::json::parse(json_schema());
  for_each(scenario_table(), [&](const std::string& path, const Option& key) {
    CAPTURE(path);
    const auto* node = &schema;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      if (node->contains("anyOf")) node = &node->at("anyOf").back();  // a word, or a map of keys
      REQUIRE(node->at("properties").contains(path.substr(begin, end - begin)));
      node = &node->at("properties").at(path.substr(begin, end - begin));
      begin = end + 1;
    }
    CHECK(node->at("description") == key.doc);
  });
  CHECK(schema.at("properties").at("workload").at("oneOf").size() == workload_kinds().size() + 1);  // and programs
}

TEST_CASE("a NIC of one profile in the host of another", "[scenario]") {
  const auto hardware = [](const std::string& map) { return parse("hardware: " + map + "\n" + kBarrier).hardware; };
  const loco::nic::HardwareProfile nic = hardware("cx6-ib-hdr-metal");
  const loco::nic::HardwareProfile host = hardware("cx5-roce-100g-direct");
  const loco::nic::HardwareProfile both = hardware("{nic: cx6-ib-hdr-metal, host: cx5-roce-100g-direct}");
  CHECK(both.cpu_post_wqe == host.cpu_post_wqe);
  CHECK(both.pcie_rate == host.pcie_rate);
  CHECK(both.pcie_mps == host.pcie_mps);
  CHECK(both.nic_qp_gap == nic.nic_qp_gap);
  CHECK(both.link_rate == nic.link_rate);
  CHECK(both.switch_latency == nic.switch_latency);
  const auto changed =
      hardware("{nic: cx6-ib-hdr-metal, host: cx5-roce-100g-direct, pcie: {generation: 4, lanes: 16}}");
  CHECK(changed.pcie_rate == nic.pcie_rate);
  CHECK(changed.cpu_post_wqe == host.cpu_post_wqe);
  CHECK(hardware("{nic: cx6-ib-hdr-metal}") == nic);
  CHECK(hardware("{nic: {qp_gap: 7ns}}").nic_qp_gap.ps == 7000);  // a map is still the NIC's fields
  CHECK_THROWS_WITH(hardware("{host: cx9}"), contains_text("hardware.host: expected"));
  CHECK_THROWS_WITH(hardware("{base: cx6-ib-hdr, host: cx5-roce-25g}"), contains_text("hardware.base: expected none"));
}
