// Lookups and updates of a key-value store that is 80 % full (LOCO paper, Section 6.2 and Fig. 17): reads, writes or
// half of each, keys uniform or Zipfian, a window of operations under way in every thread. LOCO's store, or one over
// remote procedure calls.
#include <memory>
#include <string>

#include "loco_sim/loco/kvstore.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/kv_plan.hpp"
#include "loco_sim/baselines/rpc_store.hpp"
#include "loco_sim/workloads/thread_team.hpp"

namespace loco::workloads {

using namespace baselines;  // what LOCO is compared with

namespace {

enum Store : std::int64_t { kLocoStore, kRpcStore };

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

void kvstore_program(Transport& node, const Setup& setup, const KvPlan& plan) {
  manager mgr(node);
  kvstore store(mgr, "store", plan.options);
  barrier bar(mgr, "bar", {.threads_per_node = plan.threads});
  mgr.wait_for_ready();
  store.load(plan.entries, [](std::uint64_t i) { return kvstore::Entry(key_of(i), value_of(i, 0)); });
  run_team(node, plan.threads, [&](std::uint32_t thread) {
    LocoWindow window(store, plan.window);
    KvClient client(node, window, plan, setup, thread);
    bar.waiting();
    client.run();
    bar.waiting();
  });
  sim::Counters& counters = setup.results.counters;
  counters.add(counters.id("torn_reads"), store.torn_reads());
}

/// As many threads serve on each node as there are clients.
void rpc_program(Transport& node, const Setup& setup, const KvPlan& plan, MessageNetwork& network) {
  manager mgr(node);
  barrier bar(mgr, "bar", {.threads_per_node = plan.threads});
  mgr.wait_for_ready();
  const RpcLayout layout{.nodes = node.num_nodes(), .clients = plan.threads, .servers = plan.threads};
  const Flag serving = node.make_flag();
  for (std::uint32_t s = 0; s < layout.servers; ++s)
    node.spawn(
        "server" + std::to_string(s),
        [&node, &network, &plan, layout, serving, s] {
          rpc_server server(node, network, layout, s);
          server.load(plan.entries, [](std::uint64_t i) { return kvstore::Entry(key_of(i), value_of(i, 0)); });
          node.flag_fetch_add(serving, 1);
          server.serve();
        },
        true);
  run_team(node, plan.threads, [&](std::uint32_t thread) {
    rpc_window window(node, network, layout, thread, plan.window);
    KvClient client(node, window, plan, setup, thread);
    while (node.flag_load(serving) < layout.servers) node.pause();
    bar.waiting();
    client.run();
    setup.results.promise("wrong_answers", window.wrong_answers());
    bar.waiting();
  });
}

}  // namespace

bool kvstore_locks(const Params& params) { return params.get("store") == kLocoStore; }

void start_kvstore(const Setup& setup) {
  const std::uint32_t nodes = setup.cluster.config().nodes;
  const auto plan = std::make_shared<const KvPlan>(setup.params, nodes);
  if (setup.params.get("store") == kLocoStore)
    return setup.cluster.spawn_everywhere([&setup, plan](Transport& node) { kvstore_program(node, setup, *plan); });
  // Servers never lack a receive, even when all clients ask the same one.
  const auto network =
      std::make_shared<MessageNetwork>(setup.cluster.context(), MessageOptions{.ports_per_node = 2 * plan->threads,
                                                                     .words_max = kRpcWords,
                                                                     .inlined = setup.params.get("inline") != 0,
                                                                     .receives = nodes * plan->threads * plan->window});
  setup.cluster.spawn_everywhere(
      [&setup, plan, network](Transport& node) { rpc_program(node, setup, *plan, *network); });
}

}  // namespace loco::workloads
