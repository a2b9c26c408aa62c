// Options that would do nothing are refused by name; what is at its default is no option.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "fabric/fabric_options.hpp"
#include "fabric/flow/flow_clock.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco::scenario;
using loco::test::contains_text;

namespace {

/// What is wrong with the text; nothing when it is good.
std::string wrong(const std::string& text) {
  try {
    static_cast<void>(parse_scenario(text, "s.yaml"));
  } catch (const loco::text::InputError& error) {
    return error.what();
  }
  return {};
}

const std::string kTraffic = "workload: {kind: traffic}\n";
const std::string kWeak = kTraffic + "hardware: model-weak\n";

/// A value of the option that is not its default, as one would write it.
std::string another_value(const Option& option) {
  const std::int64_t usual = loco::options::default_number(option);
  return loco::options::format_number(usual == option.least ? usual + 1 : usual - 1, option);
}

}  // namespace

TEST_CASE("hardware without a network: every option of the fabric is refused by name", "[scenario]") {
  for (const Option& field : loco::fabric::fabric_options()) {
    const std::string key(field.key);
    CAPTURE(key);
    const std::string value = another_value(field);
    const std::size_t dot = key.find('.');
    const std::string option = dot == std::string::npos
                                   ? key + ": " + value
                                   : key.substr(0, dot) + ": {" + key.substr(dot + 1) + ": " + value + "}";
    CHECK_THAT(wrong(kWeak + "fabric: {" + option + "}\n"),
               contains_text("fabric." + key +
                             ": expected hardware with a network, found model-weak, which has none (link.ideal)"));
  }
}

TEST_CASE("hardware without a network: a topology that says more than how many nodes there are", "[scenario]") {
  CHECK(wrong(kWeak + "topology: {kind: star, nodes: 4}\n").empty());
  CHECK(wrong(kWeak + "topology: {kind: back_to_back}\n").empty());
  CHECK(wrong(kWeak + "topology: {kind: ring, nodes: 4}\n") ==
        "s.yaml:3:18: topology.kind: expected hardware with a network, found model-weak, which has none (link.ideal)");
  CHECK(wrong(kWeak + "fabric: {routing: deterministic, flow_control: unlimited, loss: 0}\n").empty());
}

TEST_CASE("flows: options of packets are refused by name", "[scenario]") {
  if (!loco::fabric::has_flow_model()) return;
  const auto refused = [](const std::string& option, const std::string& key) {
    CHECK_THAT(wrong(kTraffic + "fabric: {model: flow, " + option + "}\n"),
               contains_text("fabric." + key + ": expected fabric.model: packet with it: flows "));
  };
  refused("reroute: true", "reroute");
  refused("reroute_delay: 2ms", "reroute_delay");
  refused("buffer: {size: 1MB}", "buffer.size");
  refused("buffer: {alpha: 8}", "buffer.alpha");
  refused("pfc: {xoff: 40kB}", "pfc.xoff");
  refused("flow_control: pfc", "flow_control");
  refused("ecn: {kmin: 1kB}", "ecn.kmin");
  refused("dcqcn: {g_inverse: 16}", "dcqcn.g_inverse");
  refused("loss: 1", "loss");
  CHECK(wrong(kTraffic + "fabric: {model: flow, routing: ecmp, switching: store_and_forward, loss: 0}\n").empty());
}

TEST_CASE("a platform file says topology, links, routing and switching", "[scenario]") {
  if (!loco::fabric::has_flow_model()) return;
  const auto file = std::filesystem::temp_directory_path() / ("loco-idle-" + std::to_string(getpid()) + ".xml");
  std::ofstream(file) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                         "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-1\" "
                         "speed=\"1Gf\" bw=\"25Gbps\" lat=\"500ns\"/></platform>\n";
  const std::string platform = kTraffic + "platform: " + file.string() + "\n";
  const std::string nothing = ": expected nothing: the platform file says it, found ";
  CHECK(wrong(platform + "fabric: {model: flow}\ntopology: {nodes: 2}\n").empty());
  // Defaults, as a dumped configuration has them.
  CHECK(wrong(platform + "fabric: {model: flow, routing: deterministic}\ntopology: {kind: star, nodes: 2}\n").empty());
  CHECK_THAT(wrong(platform + "fabric: {model: flow}\ntopology: {kind: ring}\n"),
             contains_text("topology.kind" + nothing + "\"ring\""));
  CHECK_THAT(wrong(platform + "fabric: {model: flow, link: {rate: 10Gbps}}\n"),
             contains_text("fabric.link.rate" + nothing + "\"10Gbps\""));
  CHECK_THAT(wrong(platform + "fabric: {model: flow, routing: ecmp}\n"),
             contains_text("fabric.routing" + nothing + "\"ecmp\""));
  CHECK_THAT(wrong(platform + "fabric: {model: flow, switching: store_and_forward}\n"),
             contains_text("fabric.switching" + nothing + "\"store_and_forward\""));
  CHECK_THAT(wrong(platform + "fabric: {model: flow}\ntopology: {k: 4}\n"),
             contains_text("topology.k" + nothing + "\"4\""));
  CHECK_THAT(wrong(platform + "fabric: {model: flow}\ntopology: {nodes: 3}\n"),
             contains_text("topology.nodes: expected 2 for this platform file, found \"3\""));
  std::filesystem::remove(file);
}

TEST_CASE("a victim needs a third node: with two it would write to itself", "[scenario]") {
  const std::string victim = "workload: {kind: traffic, pattern: victim}\n";
  CHECK(wrong(victim + "topology: {nodes: 2}\n") ==
        "s.yaml:1:36: workload.pattern: expected incast, permutation or all_to_all (victim needs 3 nodes or more) with "
        "2 nodes, found \"victim\"");
  CHECK(wrong(victim + "topology: {nodes: 3}\n").empty());
}

TEST_CASE("samples of a sweep that draws nothing are refused", "[scenario]") {
  for (const std::string key : {"samples", "sample_seed"}) {
    const std::string sweep = kTraffic + "sweep: {" + key + ": 5, topology.nodes: ";
    CHECK(wrong(sweep + "[2, 4]}\n") == "s.yaml:2:9: sweep." + key +
                                            ": expected a parameter that is drawn with it (uniform, log_uniform or "
                                            "choice), found none");
    CHECK(wrong(sweep + "{choice: [2, 4]}}\n").empty());
  }
}
