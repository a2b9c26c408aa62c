// What the clients of a key-value store do, whatever the store: the plan of a run, and one thread's operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loco_sim/loco/kvstore.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "loco_sim/workloads/zipfian.hpp"
#include "sim/rng.hpp"

namespace loco::workloads {

inline constexpr std::uint64_t kEntryBytes = 16;  ///< a key and a value
inline constexpr std::uint64_t kIndexBits = 32;

/// The key of entry i: SplitMix64's output function is a bijection, so keys differ.
inline std::uint64_t key_of(std::uint64_t i) {
  std::uint64_t state = i;
  return sim::splitmix64(state);
}
/// A value tells whose it is, and no two are the same.
inline std::uint64_t value_of(std::uint64_t i, std::uint64_t serial) { return serial << kIndexBits | (i + 1); }
inline bool belongs(std::uint64_t value, std::uint64_t i) { return (value & 0xffffffffU) == i + 1; }

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
                .device_locks = params.get("device_locks") != 0,
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

/// One thread's operations. `Window` is the operations that it may have under way: size(), finished(i), start(i, kind,
/// key, value), and poll(ended), which calls ended(i, kind, result) for each that has ended; a result is that of
/// kv_operation.
template <typename Window>
class KvClient {
 public:
  KvClient(Transport& node, Window& window, const KvPlan& plan, const Setup& setup, std::uint32_t thread)
      : node_(node),
        plan_(plan),
        setup_(setup),
        number_(node.my_node() * plan.threads + thread),
        stream_(setup.cluster.config().seed, "kvstore/" + std::to_string(number_)),
        window_(window),
        under_way_(plan.window) {}

  void run() {
    while (ended_ < plan_.operations) {
      for (std::size_t lane = 0; lane < window_.size() && started_ < plan_.operations; ++lane)
        if (window_.finished(lane)) start(lane);
      const std::uint64_t before = ended_;
      window_.poll(
          [this](std::size_t lane, kv_operation::Kind kind, std::uint64_t result) { end(lane, kind, result); });
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
      window_.start(lane, kv_operation::Kind::update, key_of(entry), value_of(entry, started_ * threads + number_));
    else
      window_.start(lane, kv_operation::Kind::lookup, key_of(entry), 0);
  }

  void end(std::size_t lane, kv_operation::Kind kind, std::uint64_t result) {
    ++ended_;
    const KvUnderWay& u = under_way_[lane];
    const bool lookup = kind == kv_operation::Kind::lookup;
    setup_.results.add(lookup ? "lookup" : "update", u.since_ps, node_.now_ps());
    setup_.results.promise("wrong_results", (lookup ? belongs(result, u.entry) : result == 1) ? 0 : 1);
  }

  Transport& node_;
  const KvPlan& plan_;
  const Setup& setup_;
  std::uint64_t number_;  ///< among all threads
  sim::Stream stream_;
  Window& window_;
  std::vector<KvUnderWay> under_way_;
  std::uint64_t started_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace loco::workloads
