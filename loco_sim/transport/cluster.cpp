#include "loco_sim/transport/cluster.hpp"

#include <utility>

#include "loco_sim/transport/virtual_transport.hpp"

namespace loco {

nic::SystemConfig machine_of(const ClusterConfig& config) { return hosts::system_config(config); }

SimulatedCluster::SimulatedCluster(ClusterConfig config)
    : config_(std::move(config)),
      runtime_(config_),
      context_{.config = config_,
               .system = runtime_.system(),
               .threads = runtime_.threads(),
               .nodes = nodes_,
               .runtime = runtime_,
               .recorder = runtime_.recorder(),
               .services = {config_.service}} {
  for (NodeId n = 0; n < config_.nodes; ++n) nodes_.push_back(std::make_unique<VirtualTransport>(context_, n));
}

SimulatedCluster::~SimulatedCluster() { runtime_.threads().unwind(); }

Transport& SimulatedCluster::node(NodeId node) { return *nodes_.at(node); }

Region SimulatedCluster::allocate_in(NodeId node, std::uint64_t size, const nic::RegionKind& kind) {
  return nodes_.at(node)->allocate_in(size, kind);
}

void SimulatedCluster::spawn(NodeId node, std::string name, Program program) {
  if (node >= config_.nodes)
    throw std::out_of_range("thread '" + name + "' on node " + std::to_string(node) + " of " +
                            std::to_string(config_.nodes));
  Transport& transport = *nodes_[node];
  transport.spawn(
      std::move(name), [&transport, program = std::move(program)] { program(transport); }, false);
}

void SimulatedCluster::spawn_everywhere(const Program& program) {
  for (NodeId n = 0; n < config_.nodes; ++n) spawn(n, "main", program);
}

void SimulatedCluster::run() {
  if (context_.followed.any()) runtime_.set_messages(&context_.followed);
  hosts::Fibers& threads = runtime_.threads();
  runtime_.run([this] { return waiting_report(); });
  if (threads.failed()) threads.throw_failure();
  if (threads.unfinished() == 0) return;
  const std::string waiting = runtime_.refused_text() + waiting_report();
  threads.unwind();
  if (threads.failed()) threads.throw_failure();  // a destructor that the unwinding ran has thrown
  throw Deadlock("deadlock: nothing is left to happen" + waiting);
}

}  // namespace loco
