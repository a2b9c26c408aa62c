#include "loco_sim/run/ideal_times.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "fabric/topology/reports.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/flows/flow_player.hpp"

namespace loco {

namespace {

namespace flows = workloads::flows;
__extension__ using Wide = __int128;

/// Number of links from host to host.
class PathLengths {
 public:
  explicit PathLengths(const ClusterConfig& config) : topology_(config.topology) {
    if (config.profile.link_ideal) topology_ = fabric::Topology::ideal;
    if (topology_ != fabric::Topology::shaped) return;
    graph_ = fabric::topology::build(config.network.shape);
    routes_.emplace(*graph_);
  }

  [[nodiscard]] std::uint32_t operator()(NodeId from, NodeId to) const {
    if (routes_) return fabric::topology::hop_count(*graph_, *routes_, from, to);
    return topology_ == fabric::Topology::star ? 2 : topology_ == fabric::Topology::back_to_back ? 1 : 0;
  }

 private:
  fabric::Topology topology_;
  std::optional<fabric::topology::Topology> graph_;
  std::optional<fabric::topology::Routes> routes_;
};

/// The first flow of each size, for one length of path and one traffic class.
using BySize = std::map<std::uint64_t, const flows::FlowRecord*>;

flows::Play how(const workloads::Params& params) {
  return {.queue_pairs = static_cast<flows::QueuePairs>(params.get("queue_pairs")),
          .means = static_cast<flows::Means>(params.get("operation"))};
}

bool until_completed(const workloads::Params& params) { return params.get("flows_end") != 0; }

/// kNever if it does not arrive even alone.
std::int64_t time_alone(const workloads::Params& params, const ClusterConfig& config, const flows::FlowRecord& flow) {
  SimulatedCluster cluster(config);
  const auto player = flows::start(workloads::WorkloadHosts(cluster),
                                   {.flows = {{.source = flow.source,
                                               .destination = flow.destination,
                                               .traffic_class = static_cast<std::uint8_t>(flow.traffic_class),
                                               .bytes = flow.bytes,
                                               .start_ps = flow.start_ps,
                                               .id = flow.id}},
                                    .triggers = {},
                                    .fires = {}},
                                   how(params));
  cluster.run();
  const flows::FlowRecord alone = flows::records(*player).front();
  const std::int64_t end = until_completed(params) ? alone.completed_ps : alone.received_ps;
  return end == flows::kNever ? flows::kNever : end - alone.start_ps;
}

/// Evenly spaced ones, including the first and the last.
std::vector<const flows::FlowRecord*> chosen(const BySize& all, std::size_t most) {
  std::vector<const flows::FlowRecord*> in_order;
  for (const auto& [size, flow] : all) in_order.push_back(flow);
  if (in_order.size() <= most) return in_order;
  std::vector<const flows::FlowRecord*> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(in_order[i * (in_order.size() - 1) / (most - 1)]);
  return some;
}

/// Linear interpolation between the two neighbouring sizes that were run.
std::int64_t between(const std::map<std::uint64_t, std::int64_t>& times, std::uint64_t bytes) {
  const auto above = times.lower_bound(bytes);
  if (above->first == bytes) return above->second;
  const auto below = std::prev(above);
  if (below->second == flows::kNever || above->second == flows::kNever) return flows::kNever;
  return below->second + static_cast<std::int64_t>(static_cast<Wide>(above->second - below->second) *
                                                   static_cast<Wide>(bytes - below->first) /
                                                   static_cast<Wide>(above->first - below->first));
}

void fill_alone(const workloads::Params& params, const ClusterConfig& config, const PathLengths& length,
                std::span<flows::FlowRecord> all) {
  const auto alike = [&](const flows::FlowRecord& flow) {
    return std::pair(length(flow.source, flow.destination), flow.traffic_class);
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, BySize> by_length;
  for (const flows::FlowRecord& flow : all)
    if (flow.start_ps != flows::kNever) by_length[alike(flow)].try_emplace(flow.bytes, &flow);
  const std::size_t most = std::max<std::size_t>(2, kAloneMost / std::max<std::size_t>(1, by_length.size()));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint64_t, std::int64_t>> times;
  for (const auto& [kind, by_size] : by_length)
    for (const flows::FlowRecord* flow : chosen(by_size, most))
      times[kind][flow->bytes] = time_alone(params, config, *flow);
  for (flows::FlowRecord& flow : all)
    if (flow.start_ps != flows::kNever) flow.ideal_ps = between(times[alike(flow)], flow.bytes);
}

void fill_base_rtt(const nic::HardwareProfile& p, const PathLengths& length, std::span<flows::FlowRecord> all) {
  const std::uint64_t header = p.link_overhead.count;
  for (flows::FlowRecord& flow : all) {
    const std::int64_t links = length(flow.source, flow.destination);
    const auto at_port = [&](std::uint64_t bytes) { return sim::transmission_time({bytes}, p.link_rate); };
    const std::uint64_t packets = (flow.bytes + p.link_mtu.count - 1) / p.link_mtu.count;
    const sim::Duration round_trip = p.link_delay * (2 * links) + p.switch_latency * (2 * (links - 1)) +
                                     (at_port(p.link_mtu.count + header) + at_port(header)) * links;
    flow.ideal_ps = (round_trip + at_port(flow.bytes + packets * header)).ps;
  }
}

}  // namespace

void fill_ideal_times(const workloads::Params& params, const nic::HardwareProfile& hardware, ClusterConfig config,
                      std::span<flows::FlowRecord> all) {
  if (all.empty()) return;
  const PathLengths length(config);
  // SimGrid can run only once in a process.
  if (params.get("ideal") != 0 || config.network.model == fabric::Model::flow)
    return fill_base_rtt(hardware, length, all);
  config.record = false;
  config.series_interval = {};
  fill_alone(params, config, length, all);
}

}  // namespace loco
