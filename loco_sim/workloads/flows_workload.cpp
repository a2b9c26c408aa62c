// Flows from a list or by rule: docs/flows.md. Measured is the time from a flow's start until its last byte is in the
// receiver's memory.
#include <filesystem>
#include <limits>
#include <memory>
#include <set>

#include "loco_sim/workloads/flows/arrivals.hpp"
#include "loco_sim/workloads/flows/flow_files.hpp"
#include "loco_sim/workloads/flows/flow_player.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "sim/rng.hpp"

namespace loco::workloads {

namespace {

/// In the order of kStartUnitNames.
constexpr std::array<std::int64_t, 4> kStartUnits = {1, 1'000, 1'000'000, 1'000'000'000};

bool is_matrix(const std::string& path) { return std::filesystem::path(path).extension() == ".cm"; }

flows::FlowList listed(const Params& params, std::uint32_t nodes) {
  const LoadedFile& file = *params.file("flows");
  if (!is_matrix(file.path)) return flows::read_flow_csv(file.text, file.path, nodes);
  return flows::read_connection_matrix(file.text, file.path, nodes, kStartUnits.at(params.amount("start_unit")));
}

flows::SizeDistribution sizes_of(const Params& params) {
  const LoadedFile* const file = params.file("sizes");
  return file != nullptr ? flows::SizeDistribution::read(file->text, file->path)
                         : flows::SizeDistribution(params.amount("size"));
}

/// A workload's name seeds its draws, so other workloads do not change them.
std::uint64_t seed_of(const WorkloadHosts& hosts) {
  const std::string& name = hosts.part().name;
  return name.empty() ? hosts.config().seed : sim::Stream(hosts.config().seed, "traffic." + name)();
}

flows::FlowList by_rule(const Params& params, const WorkloadHosts& hosts) {
  const ClusterConfig& config = hosts.config();
  flows::FlowRule rule{.nodes = hosts.count(),
                       .pattern = static_cast<flows::Pattern>(params.get("pattern")),
                       .senders = params.count("senders"),
                       .receiver = params.count("receiver"),
                       .shift = params.count("shift"),
                       .arrivals = static_cast<flows::Arrivals>(params.get("arrivals")),
                       .every_ps = params.get("every"),
                       .load_thousandths = params.count("load"),
                       .port_rate = config.profile.link_rate.value,
                       .count = params.amount("count"),
                       .seed = seed_of(hosts)};
  if (params.get("until") != 0) rule.until_ps = params.get("until");
  return flows::generate(rule, sizes_of(params));
}

/// Converts ranks to nodes, and times since the start of the workload to times of the run.
void place(const WorkloadHosts& hosts, flows::FlowList& list) {
  for (flows::Flow& flow : list.flows) {
    flow.source = hosts.node(flow.source);
    flow.destination = hosts.node(flow.destination);
    if (flow.start_ps != flows::kTriggered) flow.start_ps += hosts.part().start_ps;
  }
}

/// Measures the flows that began at or after `from`.
void measure(const std::vector<flows::FlowRecord>& all, std::int64_t from, std::uint64_t failed, Results& results) {
  const sim::CounterId bytes = results.counters.id("payload_bytes");
  for (const flows::FlowRecord& flow : all) {
    if (flow.start_ps < from) continue;
    results.flows.push_back(flow);
    if (flow.received_ps == flows::kNever) continue;
    results.add("flow", flow.start_ps, flow.received_ps);
    results.counters.add(bytes, flow.bytes);
  }
  results.promise("failed_flows", failed);
}

/// Takes the player's results when the run has ended. The spawned programs refer to the player until then.
void take(const Setup& setup, const flows::Player& player) {
  const std::int64_t from = setup.params.get("measure.from") + setup.hosts.part().start_ps;
  measure(flows::records(player), from, flows::failed(player), setup.results);
  if (const std::uint64_t packets = flows::packets_left_out(player); packets > 0)
    setup.results.leave_out("packets_left_out", packets, flows::time_left_out_ps(player));
  for (const auto& [node, failed] : flows::failures(player)) setup.results.note_failure("failed_flows", node, failed);
}

}  // namespace

std::optional<Misfit> flows_misfit(const Params& params, std::uint32_t nodes) {
  if (params.file("flows") != nullptr) {
    static_cast<void>(listed(params, nodes));
    return std::nullopt;
  }
  const flows::SizeDistribution sizes = sizes_of(params);
  if (sizes.largest() > kFlowBytesMost) return Misfit{"sizes", "a distribution up to 1GiB"};
  const auto pattern = static_cast<flows::Pattern>(params.get("pattern"));
  const auto arrivals = static_cast<flows::Arrivals>(params.get("arrivals"));
  const std::string hosts = " of " + std::to_string(nodes) + " nodes";
  if (params.get("receiver") >= nodes) return Misfit{"receiver", "a node" + hosts};
  if (params.get("senders") >= nodes) return Misfit{"senders", "fewer than all" + hosts};
  if (pattern == flows::Pattern::shift && params.get("shift") % nodes == 0)
    return Misfit{"shift", "no multiple of the number" + hosts};
  if (pattern == flows::Pattern::victim && nodes < 3)
    return Misfit{"pattern", "incast, permutation, shift, all_to_all or random (victim needs 3 nodes or more) with " +
                                 std::to_string(nodes) + " nodes"};
  if (arrivals == flows::Arrivals::every && params.get("every") == 0) return Misfit{"every", "a time above 0s"};
  if (arrivals != flows::Arrivals::poisson) return std::nullopt;
  if (params.get("load") == 0) return Misfit{"load", "thousandths of the port's rate, above 0"};
  if (params.get("count") == 0 && params.get("until") == 0) return Misfit{"arrivals", "count or until beside it"};
  return std::nullopt;
}

std::vector<std::uint8_t> classes_of_flows(const Params& params, std::uint32_t nodes) {
  std::set<std::uint8_t> classes;
  for (const flows::Flow& flow : listed(params, nodes).flows)
    if (flow.traffic_class != flows::kWorkloadClass) classes.insert(flow.traffic_class);
  return {classes.begin(), classes.end()};
}

std::string_view flows_not_in_parts(const Params& params) {
  const bool they_do = params.file("flows") == nullptr &&
                       params.get("queue_pairs") == static_cast<int>(flows::QueuePairs::pair) &&
                       params.get("operation") != static_cast<int>(flows::Means::send);
  return they_do ? "" : "flows of a list, SENDs, and a queue pair a flow run in one part";
}

std::optional<Results> merge_flows(const std::vector<Results>& parts, const std::vector<std::uint8_t>& part_of,
                                   const Params& params) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::min();  // the parts have left out the others
  const bool reads = params.get("operation") == static_cast<int>(flows::Means::read);
  std::vector<flows::FlowRecord> all;
  for (const Results& part : parts)
    if (!part.failures.empty() || part.flows.size() != parts.front().flows.size()) return std::nullopt;
  for (std::size_t i = 0; i < parts.front().flows.size(); ++i) {
    const flows::FlowRecord& any = parts.front().flows[i];
    const Results& receiver = parts.at(part_of.at(any.destination));
    const Results& poster = reads ? receiver : parts.at(part_of.at(any.source));
    const Results& other = reads ? parts.at(part_of.at(any.source)) : receiver;
    flows::FlowRecord& flow = all.emplace_back(poster.flows[i]);
    flow.received_ps = receiver.flows[i].received_ps;
    flow.marked_packets = other.flows[i].marked_packets;
  }
  Results merged;
  measure(all, kAll, 0, merged);
  return merged;
}

void start_flows(const Setup& setup) {
  flows::FlowList list = setup.params.file("flows") != nullptr ? listed(setup.params, setup.hosts.count())
                                                               : by_rule(setup.params, setup.hosts);
  place(setup.hosts, list);
  const flows::Play how{.queue_pairs = static_cast<flows::QueuePairs>(setup.params.get("queue_pairs")),
                        .means = static_cast<flows::Means>(setup.params.get("operation"))};
  const std::shared_ptr<flows::Player> player = flows::start(setup.hosts, std::move(list), how);
  if (setup.at_end != nullptr) *setup.at_end = [&setup, player] { take(setup, *player); };
}

}  // namespace loco::workloads
