// Lookups and changes of a key-value store that is 80 % full (LOCO paper, Section 6.2 and Fig. 17): reads, writes or
// half of each, uniform or Zipfian keys, and a window of operations in flight in every thread. On LOCO's store, one
// over remote procedure calls, a B+ tree, or one over TCP.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "loco_sim/baselines/redis_costs.hpp"
#include "loco_sim/baselines/rpc_store.hpp"
#include "loco_sim/baselines/tree_operation.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/kv_plan.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "sim/budget.hpp"

namespace loco::workloads {

using namespace baselines;  // implementations that LOCO is compared with

namespace {

enum Store : std::int64_t { kLocoStore, kRpcStore, kTreeStore, kTcpStore };

class LocoWindow {
 public:
  LocoWindow(kvstore& store, std::uint32_t size) : window_(store, size) {}

  [[nodiscard]] std::size_t size() const { return window_.size(); }
  [[nodiscard]] bool finished(std::size_t i) { return window_[i].finished(); }
  void start(std::size_t i, kv_operation::Kind kind, std::uint64_t key, std::uint64_t value) {
    window_[i].start(kind, key, value);
  }
  template <typename Ended>
  void poll(const Ended& ended) {
    window_.poll([&ended](std::size_t i, const kv_operation& o) { ended(i, o.kind(), o.result()); });
  }

 private:
  kv_window window_;
};

/// Runs the threads of a node, each with a window of operations on a store that all nodes share.
template <typename Window, typename SharedStore>
void run_clients(Transport& node, const Setup& setup, const KvPlan& plan, SharedStore& store, barrier& bar) {
  run_team(node, plan.threads, [&](std::uint32_t thread) {
    Window window(store, plan.window);
    KvClient client(node, window, plan, setup, thread);
    bar.waiting();
    client.run();
    bar.waiting();
  });
  sim::Counters& counters = setup.results.counters;
  counters.add(counters.id("torn_reads"), store.torn_reads());
}

/// Limits of a run are checked between simulated events. Loading takes no simulated time, so it checks them itself,
/// once every kLookEvery steps.
void keep_limits(const Setup& setup, std::uint64_t step) {
  constexpr std::uint64_t kLookEvery = 1024;
  sim::Budget* const budget = setup.cluster.config().budget;
  if (budget != nullptr && step % kLookEvery == 0) budget->check();
}

/// The i-th entry that is loaded initially.
kvstore::Entry loaded(const Setup& setup, std::uint64_t i) {
  keep_limits(setup, i);
  return {key_of(i), value_of(i, 0)};
}

void kvstore_program(Transport& node, const Setup& setup, const KvPlan& plan) {
  manager mgr(node);
  kvstore store(mgr, "store", plan.options);
  barrier bar(mgr, "bar", {.threads_per_node = plan.threads});
  mgr.wait_for_ready();
  store.load(plan.entries, [&setup](std::uint64_t i) { return loaded(setup, i); });
  run_clients<LocoWindow>(node, setup, plan, store, bar);
}

/// The tree that all nodes load, and by how much it may grow.
struct TreePlan {
  TreePlan(const KvPlan& plan, const Setup& setup)
      : options{.nodes_max = tree_nodes_of(plan.entries),
                .spare = plan.threads * plan.inserts_of_thread() / kInsertsPerSplit + kSpareBesides,
                .fence = plan.options.fence,
                .index_cache = setup.params.get("index_cache") != 0} {
    for (std::uint64_t i = 0; i < plan.entries; ++i) sorted.push_back(loaded(setup, i));
    std::uint64_t compared = 0;
    std::ranges::sort(sorted, [&](const auto& a, const auto& b) {
      keep_limits(setup, ++compared);
      return a < b;
    });
  }

  /// A loaded leaf has room for six more entries; one that was split has room for more.
  static constexpr std::uint64_t kInsertsPerSplit = 6;
  static constexpr std::uint64_t kSpareBesides = 64;  ///< for inner nodes

  tree_options options;
  std::vector<tree_store::Entry> sorted;
};

void tree_program(Transport& node, const Setup& setup, const KvPlan& plan, const TreePlan& tree) {
  manager mgr(node);
  tree_store store(mgr, "store", tree.options);
  barrier bar(mgr, "bar", {.threads_per_node = plan.threads});
  mgr.wait_for_ready();
  store.load(tree.sorted);
  run_clients<tree_window>(node, setup, plan, store, bar);
  sim::Counters& counters = setup.results.counters;
  counters.add(counters.id("splits"), store.splits());
}

/// The servers of each node, and what both sides compute.
struct Service {
  std::uint32_t servers = 1;
  RpcCosts costs = {};
};

/// As many threads as there are clients; over TCP one instance of Redis for four clients (LOCO paper, Section 6.2).
Service service_of(const Params& params, const KvPlan& plan) {
  if (params.get("store") == kRpcStore) return {.servers = plan.threads};
  return {.servers = (plan.threads + kRedisThreads - 1) / kRedisThreads, .costs = redis_costs()};
}

void rpc_program(Transport& node, const Setup& setup, const KvPlan& plan, const Service& service,
                 MessageNetwork& network) {
  manager mgr(node);
  barrier bar(mgr, "bar", {.threads_per_node = plan.threads});
  mgr.wait_for_ready();
  const RpcLayout layout{.nodes = node.num_nodes(), .clients = plan.threads, .servers = service.servers};
  const Flag serving = node.make_flag();
  for (std::uint32_t s = 0; s < layout.servers; ++s)
    node.spawn(
        "server" + std::to_string(s),
        [&node, &setup, &network, &plan, &service, layout, serving, s] {
          rpc_server server(node, network, layout, s, service.costs);
          server.load(plan.entries, [&setup](std::uint64_t i) { return loaded(setup, i); });
          node.flag_fetch_add(serving, 1);
          server.serve();
        },
        true);
  run_team(node, plan.threads, [&](std::uint32_t thread) {
    rpc_window window(node, network, layout, thread, plan.window, service.costs);
    KvClient client(node, window, plan, setup, thread);
    while (node.flag_load(serving) < layout.servers) node.pause();
    bar.waiting();
    client.run();
    setup.results.promise("wrong_answers", window.wrong_answers());
    bar.waiting();
  });
}

}  // namespace

bool kvstore_locks(const Params& params) {
  return params.get("store") == kLocoStore || params.get("store") == kTreeStore;
}

/// A node's inserts must fit beside the initial entries, because LOCO's inserts take slots of their own node.
std::optional<Misfit> kvstore_misfit(const Params& params, std::uint32_t nodes) {
  const KvPlan plan(params, nodes, KvPlan::Draw::nothing);
  const std::uint64_t loaded = (plan.entries + nodes - 1) / nodes;
  const std::uint64_t free = plan.options.slots_per_node - std::min(loaded, plan.options.slots_per_node);
  // An erased key's slot becomes free with a delay.
  const std::uint64_t of_thread = plan.inserts_of_thread() + (plan.mix == KvMix::churn ? plan.window : 0);
  if (plan.inserts() && of_thread * plan.threads > free)
    return Misfit{"key_space", "room for " + std::to_string(of_thread * plan.threads) +
                                   " inserts of each node (20 % of it, 16 bytes each), which has " +
                                   std::to_string(free)};
  return std::nullopt;
}

void start_kvstore(const Setup& setup) {
  const std::uint32_t nodes = setup.cluster.config().nodes;
  const auto plan = std::make_shared<const KvPlan>(setup.params, nodes);
  if (setup.params.get("store") == kLocoStore)
    return setup.cluster.spawn_everywhere([&setup, plan](Transport& node) { kvstore_program(node, setup, *plan); });
  if (setup.params.get("store") == kTreeStore) {
    const auto tree = std::make_shared<const TreePlan>(*plan, setup);
    return setup.cluster.spawn_everywhere(
        [&setup, plan, tree](Transport& node) { tree_program(node, setup, *plan, *tree); });
  }
  const auto service = std::make_shared<const Service>(service_of(setup.params, *plan));
  // Servers always have a receive, even if all clients ask the same one.
  const auto network = std::make_shared<MessageNetwork>(
      setup.cluster.context(), MessageOptions{.ports_per_node = plan->threads + service->servers,
                                              .words_max = kRpcWords,
                                              .inlined = setup.params.get("inline") != 0,
                                              .receives = nodes * plan->threads * plan->window});
  setup.cluster.spawn_everywhere(
      [&setup, plan, service, network](Transport& node) { rpc_program(node, setup, *plan, *service, *network); });
}

}  // namespace loco::workloads
