// Lookups and updates of a key-value store that is 80 % full (LOCO paper, Section 6.2 and Fig. 17): reads, writes or
// half of each, keys uniform or Zipfian, a window of operations under way in every thread.
#include <memory>
#include <string>

#include "loco_sim/loco/kvstore.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "loco_sim/workloads/zipfian.hpp"
#include "sim/rng.hpp"

namespace loco::workloads {

namespace {

constexpr std::uint64_t kEntryBytes = 16;  ///< a key and a value
constexpr std::uint64_t kIndexBits = 32;

/// The key of entry i: SplitMix64's output function is a bijection, so keys differ.
std::uint64_t key_of(std::uint64_t i) {
  std::uint64_t state = i;
  return sim::splitmix64(state);
}
/// A value tells whose it is, and no two are the same.
std::uint64_t value_of(std::uint64_t i, std::uint64_t serial) { return serial << kIndexBits | (i + 1); }
bool belongs(std::uint64_t value, std::uint64_t i) { return (value & 0xffffffffU) == i + 1; }

struct KvPlan {
  explicit KvPlan(const Params& params, std::uint32_t nodes)
      : slots(static_cast<std::uint64_t>(params.get("key_space")) / kEntryBytes),
        entries(std::max<std::uint64_t>(slots * 8 / 10, 1)),
        threads(params.count("threads_per_node")),
        operations(static_cast<std::uint64_t>(params.get("iterations"))),
        window(params.count("window")),
        writes_percent(static_cast<std::uint64_t>(params.get("mix")) * 50),
        zipfian(params.get("keys") != 0 ? std::make_unique<Zipfian>(entries) : nullptr),
        options{.slots_per_node = (slots + nodes - 1) / nodes,
                .locks = static_cast<std::uint64_t>(params.get("locks")),
                .hand_overs_max = params.count("hand_overs"),
                .fence = params.get("fence") != 0} {}

  std::uint64_t slots;
  std::uint64_t entries;
  std::uint32_t threads;
  std::uint64_t operations;  ///< of each thread
  std::uint32_t window;
  std::uint64_t writes_percent;
  std::unique_ptr<Zipfian> zipfian;
  kv_options options;
};

/// One thread's operations.
class KvClient {
 public:
  KvClient(Transport& node, kvstore& store, const KvPlan& plan, const Setup& setup, std::uint32_t thread)
      : node_(node),
        plan_(plan),
        setup_(setup),
        number_(node.my_node() * plan.threads + thread),
        stream_(setup.cluster.config().seed, "kvstore/" + std::to_string(number_)),
        window_(store, plan.window),
        under_way_(plan.window) {}

  void run() {
    while (ended_ < plan_.operations) {
      for (std::size_t lane = 0; lane < window_.size() && started_ < plan_.operations; ++lane)
        if (window_[lane].finished()) start(lane);
      const std::uint64_t before = ended_;
      window_.poll([this](std::size_t lane, const kv_operation& operation) { end(lane, operation); });
      if (ended_ == before) node_.pause();
    }
  }

 private:
  struct KvUnderWay {
    std::uint64_t entry = 0;
    std::int64_t since_ps = 0;
  };

  void start(std::size_t lane) {
    const bool write = stream_.chance(plan_.writes_percent, 100);
    const std::uint64_t entry = plan_.zipfian ? plan_.zipfian->item(stream_) : stream_.below(plan_.entries);
    under_way_[lane] = {entry, node_.now_ps()};
    const std::uint64_t threads = std::uint64_t{node_.num_nodes()} * plan_.threads;
    ++started_;
    if (write)
      window_[lane].start(kv_operation::Kind::update, key_of(entry), value_of(entry, started_ * threads + number_));
    else
      window_[lane].start(kv_operation::Kind::lookup, key_of(entry));
  }

  void end(std::size_t lane, const kv_operation& operation) {
    ++ended_;
    const KvUnderWay& u = under_way_[lane];
    const bool lookup = operation.kind() == kv_operation::Kind::lookup;
    setup_.results.add(lookup ? "lookup" : "update", u.since_ps, node_.now_ps());
    const bool good = lookup ? belongs(operation.result(), u.entry) : operation.result() == 1;
    setup_.results.promise("wrong_results", good ? 0 : 1);
  }

  Transport& node_;
  const KvPlan& plan_;
  const Setup& setup_;
  std::uint64_t number_;  ///< among all threads
  sim::Stream stream_;
  kv_window window_;
  std::vector<KvUnderWay> under_way_;
  std::uint64_t started_ = 0;
  std::uint64_t ended_ = 0;
};

void kvstore_program(Transport& node, const Setup& setup, const KvPlan& plan) {
  manager mgr(node);
  kvstore store(mgr, "store", plan.options);
  barrier bar(mgr, "bar", {.threads_per_node = plan.threads});
  mgr.wait_for_ready();
  store.load(plan.entries, [](std::uint64_t i) { return kvstore::Entry(key_of(i), value_of(i, 0)); });
  run_team(node, plan.threads, [&](std::uint32_t thread) {
    KvClient client(node, store, plan, setup, thread);
    bar.waiting();
    client.run();
    bar.waiting();
  });
  sim::Counters& counters = setup.results.counters;
  counters.add(counters.id("torn_reads"), store.torn_reads());
}

}  // namespace

void start_kvstore(const Setup& setup) {
  const auto plan = std::make_shared<const KvPlan>(setup.params, setup.cluster.config().nodes);
  setup.cluster.spawn_everywhere([&setup, plan](Transport& node) { kvstore_program(node, setup, *plan); });
}

}  // namespace loco::workloads
