#include "loco_sim/transport/cluster.hpp"

#include <algorithm>
#include <utility>

#include "fabric/disconnect.hpp"
#include "loco_sim/transport/flow_driver.hpp"
#include "loco_sim/transport/virtual_transport.hpp"

namespace loco {

namespace {
ClusterConfig checked(ClusterConfig config) {
  if (!config.stops.empty() && config.schedule != Schedule::timed)
    throw std::invalid_argument("nodes stop at a time, which only the timed schedule has");
  std::ranges::stable_sort(config.stops, {}, &NodeStop::at);
  return config;
}

nic::SystemConfig system_config(const ClusterConfig& config) {
  fabric::Config network = config.network;
  network.nodes = config.nodes;
  network.topology = config.profile.link_ideal ? fabric::Topology::ideal : config.topology;
  if (config.schedule != Schedule::timed)
    network.options.variation = fabric::Variation::none;  // times say nothing there
  for (const NodeStop& stop : config.stops) fabric::disconnect(network, stop.node, stop.at);
  return {.profile = config.profile,
          .topology = config.topology,
          .network = network,
          .nodes = config.nodes,
          .path_mtu = config.path_mtu,
          // A node stops between two events: then each TLP is one.
          .timed = config.schedule == Schedule::timed && config.stops.empty(),
          .timers = config.schedule == Schedule::timed,
          .witness = config.record};
}
}  // namespace

SimulatedCluster::SimulatedCluster(ClusterConfig config)
    : config_(checked(std::move(config))),
      system_(system_config(config_)),
      scheduler_(config_.schedule, config_.seed),
      threads_(system_, config_.profile, config_.schedule == Schedule::timed),
      context_{.config = config_, .system = system_, .threads = threads_, .nodes = nodes_} {
  if (config_.record) {
    context_.recorder = std::make_unique<Recorder>(config_.nodes, config_.record_activities);
    context_.recorder->trace().seed = config_.seed;
  }
  if (config_.series_interval.ps > 0 && config_.schedule == Schedule::timed &&
      system_.network().packet_network() != nullptr) {
    series_.emplace(config_.series_interval);
  }
  for (NodeId n = 0; n < config_.nodes; ++n) nodes_.push_back(std::make_unique<VirtualTransport>(context_, n));
}

SimulatedCluster::~SimulatedCluster() { threads_.unwind(); }

Transport& SimulatedCluster::node(NodeId node) { return *nodes_.at(node); }

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
  nic::Context context{.runner = threads_, .observer = context_.recorder.get()};
  std::uint64_t events = 0;
  std::uint64_t check_at = check_progress(events);
  const bool things_happen_between = series_ || !config_.stops.empty();
  const auto step = [&] {
    if (things_happen_between) before_step();
    if (!scheduler_.step(system_, context)) return false;
    if (threads_.failed()) threads_.throw_failure();
    if (++events == check_at) check_at = check_progress(events);
    return true;
  };
  if (config_.network.model == fabric::Model::flow) {
    run_on_flows(system_, step);
  } else {
    while (step()) {
    }
  }
  if (threads_.unfinished() == 0) return;
  const std::string waiting = waiting_report();
  threads_.unwind();
  if (threads_.failed()) threads_.throw_failure();  // it was on its way, and what it destroyed waited for the others
  throw Deadlock("deadlock: nothing is left to happen" + waiting);
}

void SimulatedCluster::stop_nodes() {
  if (system_.idle()) return;
  std::size_t& stopped = context_.stopped;
  for (; stopped < config_.stops.size() && config_.stops[stopped].at <= system_.next_time(); ++stopped) {
    system_.power_off(config_.stops[stopped].node);
    threads_.halt(config_.stops[stopped].node);
  }
}

void SimulatedCluster::before_step() {
  if (series_ && !system_.idle()) series_->until(*system_.network().packet_network(), system_.next_time());
  if (context_.stopped < config_.stops.size()) stop_nodes();
}

std::uint64_t SimulatedCluster::check_progress(std::uint64_t events) {
  constexpr std::uint64_t kAskEvery = 4096;
  if (events > config_.events_max)
    throw EventLimit("the run has taken " + std::to_string(config_.events_max) + " events and has not ended" +
                     waiting_report());
  if (events != 0 && config_.interrupted && config_.interrupted()) throw RunInterrupted("interrupted");
  if (config_.limits != nullptr) config_.limits->check();
  heap_.follow();
  return std::min(events + kAskEvery, std::max(config_.events_max, events) + 1);
}

trace::Trace SimulatedCluster::take_trace() {
  if (!context_.recorder) return {};
  if (threads_.in_step()) throw std::logic_error("a trace is taken during its cluster's run");
  const std::unique_ptr<Recorder> recorder = std::move(context_.recorder);
  recorder->end_run();
  return std::move(recorder->trace());
}

}  // namespace loco
