// Load on the network: messages written by RDMA from host to host, without LOCO objects. Each sender posts the next
// message when one is complete, or keeps several in flight. Measured is the time from a message's post to its
// completion. Messages that fail are counted, and the load continues.
#include <array>
#include <memory>
#include <vector>

#include "fabric/topology/reports.hpp"
#include "loco_sim/workloads/kinds.hpp"

namespace loco::workloads {

namespace {

enum class Flow : std::uint8_t { incast, permutation, all_to_all, victim };

struct Plan {
  std::vector<std::vector<std::uint32_t>> receivers;  // by rank
  std::vector<Region> memory;                         // by rank: what it sends and what it receives
};

Plan make_plan(const Setup& setup) {
  const std::uint32_t nodes = setup.hosts.count();
  const auto pattern = static_cast<Flow>(setup.params.get("pattern"));
  Plan plan;
  plan.receivers.resize(nodes);
  switch (pattern) {
    case Flow::incast:
      for (NodeId n = 1; n < nodes; ++n) plan.receivers[n] = {0};
      break;
    case Flow::permutation:
      for (const auto& flow : fabric::topology::permutation_pattern(nodes, setup.cluster.config().seed)) {
        plan.receivers[flow.source] = {flow.destination};
      }
      break;
    case Flow::all_to_all:
      for (NodeId n = 0; n < nodes; ++n) {
        for (NodeId k = 1; k < nodes; ++k) plan.receivers[n].push_back((n + k) % nodes);
      }
      break;
    case Flow::victim:
      for (NodeId n = 2; n + 1 < nodes; ++n) plan.receivers[n] = {0};
      plan.receivers[nodes - 1] = {1};
      break;
  }
  const auto size = setup.params.amount("size");
  const nic::RegionKind kind = memory_of_name(setup.params.get("memory"));
  WorkloadHosts& hosts = setup.hosts;
  for (NodeId n = 0; n < nodes; ++n) {
    plan.memory.push_back(kind == nic::RegionKind{} ? hosts.transport(n).allocate(size)
                                                    : hosts.cluster().allocate_in(hosts.node(n), size, kind));
  }
  return plan;
}

void sender(Transport& node, const Setup& setup, const Plan& plan, std::uint32_t rank) {
  const std::vector<std::uint32_t>& receivers = plan.receivers[rank];
  const auto size = setup.params.amount("size");
  const auto messages = setup.params.amount("count") * receivers.size();
  const auto window = setup.params.amount("outstanding");
  const bool victim = static_cast<Flow>(setup.params.get("pattern")) == Flow::victim && rank + 1 == setup.hosts.count();
  const Address local = plan.memory[rank].base;
  const sim::CounterId bytes = setup.results.counters.id("payload_bytes");
  std::vector<std::int64_t> posted(messages);
  std::array<Completion, 16> done;
  std::uint64_t next = 0;
  for (std::uint64_t complete = 0; complete < messages;) {
    for (; next < messages && next - complete < window; ++next) {
      posted[next] = node.now_ps();
      node.put(local, plan.memory[receivers[next % receivers.size()]], 0, size,
               setup.hosts.tag({.token = next, .work_id = next + 1}));
    }
    const std::size_t n = setup.hosts.poll(node, done);
    if (n == 0) node.pause();
    for (std::size_t i = 0; i < n; ++i, ++complete) {
      const bool arrived = done[i].status == Status::success;
      setup.results.promise("failed_messages", arrived ? 0 : 1);
      if (!arrived) {
        setup.results.note_failure("failed_messages", node.my_node(), done[i]);
        continue;
      }
      setup.results.add(victim ? "victim" : "message", posted[done[i].token], node.now_ps());
      setup.results.counters.add(bytes, size);
    }
  }
}

}  // namespace

std::optional<Misfit> traffic_misfit(const Params& params, std::uint32_t nodes) {
  constexpr std::uint32_t kVictimNodes = 3;  // the victim, its receiver, and node 0, which the others write to
  if (static_cast<Flow>(params.get("pattern")) != Flow::victim || nodes >= kVictimNodes) return std::nullopt;
  return Misfit{"pattern", "incast, permutation or all_to_all (victim needs 3 nodes or more) with " +
                               std::to_string(nodes) + " nodes"};
}

std::uint32_t traffic_send_queue(const Params& params) { return params.count("outstanding"); }

void start_traffic(const Setup& setup) {
  const auto plan = std::make_shared<const Plan>(make_plan(setup));
  for (std::uint32_t r = 0; r < setup.hosts.count(); ++r) {
    if (plan->receivers[r].empty()) continue;
    setup.hosts.spawn(r, "main", [&setup, plan, r](Transport& node) { sender(node, setup, *plan, r); });
    for (const std::uint32_t to : plan->receivers[r]) setup.hosts.connect_ahead(r, 0, to);
  }
}

}  // namespace loco::workloads
