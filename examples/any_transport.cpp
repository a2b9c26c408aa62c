#include "examples/any_transport.hpp"

#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/core.h>

#include "loco_sim/launch/launch.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"

namespace examples {

namespace {

void simulate(const Run& run, const std::string& hardware, std::uint32_t nodes) {
  loco::ClusterConfig config;
  config.profile = loco::scenario::load_hardware(hardware).profile;
  config.nodes = nodes;
  config.record = true;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere(run.program);
  cluster.run();
  fmt::print("{}\n", loco::model::check(cluster.take_trace(), run.libraries).to_text());
}

}  // namespace

int main(int argc, char** argv, const Run& run) try {
  loco::NetworkOptions network{.transport = "simulated"};
  std::string hardware = "cx5-roce-25g";
  std::uint32_t nodes = run.nodes;
  CLI::App app;
  app.add_option("--transport", network.transport, "simulated, verbs or libfabric");
  app.add_option("--hardware", hardware, "simulated: the hardware profile");
  app.add_option("--nodes", nodes, "simulated: how many")->check(CLI::Range(1, 64));
  app.add_option("--hosts", network.hosts, "verbs, libfabric: all nodes, as node0,node1:18601");
  app.add_option("--rank", network.rank, "verbs, libfabric: which of them this is; else $LOCO_RANK");
  app.add_option("--device", network.device, "verbs: else the first with an active port");
  app.add_option("--gid-index", network.gid_index, "verbs: else that of RoCE v2 and IPv4");
  app.add_option("--provider", network.provider, "libfabric: such as 'tcp;ofi_rxm'");
  app.add_option("--keep-alive-ms", network.keep_alive_ms,
                 "verbs, libfabric: how often nodes ask each other; 0: never");
  for (const Setting& setting : run.settings)
    app.add_option_function<std::string>(
        setting.name,
        [&setting](const std::string& text) {
          if (!setting.take(text)) throw CLI::ValidationError(setting.name, "'" + text + "': expected " + setting.doc);
        },
        setting.doc);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (network.transport == "simulated")
    simulate(run, hardware, nodes);
  else
    loco::run_on_network(network, run.program);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}

}  // namespace examples
