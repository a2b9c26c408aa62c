// What the clients of any key-value store do: the plan of a run, and one thread's operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/loco/store/kvstore.hpp"
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
/// A value identifies its entry, and no two values are equal.
inline std::uint64_t value_of(std::uint64_t i, std::uint64_t serial) { return serial << kIndexBits | (i + 1); }
inline bool belongs(std::uint64_t value, std::uint64_t i) { return (value & 0xffffffffU) == i + 1; }

/// In the order of the parameter's names.
enum class KvMix : std::int64_t { read, mixed, write, insert, mixed_insert, churn };

struct KvPlan {
  /// Checking parameters needs no draws, and setting up the generator takes a while.
  enum class Draw : std::uint8_t { keys, nothing };

  KvPlan(const Params& params, std::uint32_t nodes, Draw draw = Draw::keys)
      : slots(params.amount("key_space") / kEntryBytes),
        entries(std::max<std::uint64_t>(slots * 8 / 10, 1)),
        threads(params.count("threads_per_node")),
        operations(params.amount("iterations")),
        window(params.count("window")),
        mix(static_cast<KvMix>(params.get("mix"))),
        zipfian(params.get("keys") != 0 && draw == Draw::keys ? std::make_unique<Zipfian>(entries) : nullptr),
        options{.slots_per_node = (slots + nodes - 1) / nodes,
                .locks = params.amount("locks"),
                .hand_overs_max = params.count("hand_overs"),
                .device_locks = params.get("device_locks") != 0,
                .fence = params.get("fence") != 0} {}

  /// Out of a hundred operations.
  [[nodiscard]] std::uint64_t writes_percent() const {
    return mix == KvMix::read ? 0 : mix == KvMix::mixed || mix == KvMix::mixed_insert ? 50 : 100;
  }
  [[nodiscard]] bool inserts() const { return mix >= KvMix::insert; }
  /// Upper bound on the entries that a thread adds to the initial ones.
  [[nodiscard]] std::uint64_t inserts_of_thread() const {
    if (!inserts()) return 0;
    return mix == KvMix::churn ? std::min(operations, churned()) : operations;
  }
  /// Number of a thread's keys that are inserted and erased.
  [[nodiscard]] std::uint64_t churned() const { return 2 * std::uint64_t{window}; }

  std::uint64_t slots;
  std::uint64_t entries;
  std::uint32_t threads;
  std::uint64_t operations;  ///< by each thread
  std::uint32_t window;
  KvMix mix;
  std::unique_ptr<Zipfian> zipfian;
  kv_options options;
};

/// A client's next operation.
struct KvChoice {
  kv_operation::Kind kind = kv_operation::Kind::lookup;
  std::uint64_t entry = 0;
};

/// The keys that only this thread inserts and erases. They follow the initial keys.
class KvOwnKeys {
 public:
  KvOwnKeys(const KvPlan& plan, std::uint64_t threads, std::uint64_t number)
      : first_(plan.entries + number), step_(threads) {
    if (plan.mix != KvMix::churn) return;
    bounded_ = true;
    for (std::uint64_t i = 0; i < plan.churned(); ++i) absent_.push_back(first_ + i * step_);
  }

  /// An insert if one is wanted and possible, otherwise an erase if possible. One of them always is, because at least
  /// half of the keys have no operation in flight.
  [[nodiscard]] KvChoice next(bool insert) {
    if (!bounded_) return {kv_operation::Kind::insert, first_ + step_ * inserted_++};
    std::deque<std::uint64_t>& from = (insert ? !absent_.empty() : present_.empty()) ? absent_ : present_;
    const KvChoice choice{&from == &absent_ ? kv_operation::Kind::insert : kv_operation::Kind::erase, from.front()};
    from.pop_front();
    return choice;
  }
  void ended(const KvChoice& choice) {
    if (!bounded_) return;
    if (choice.kind == kv_operation::Kind::insert) present_.push_back(choice.entry);
    if (choice.kind == kv_operation::Kind::erase) absent_.push_back(choice.entry);
  }

 private:
  std::uint64_t first_;
  std::uint64_t step_;
  std::uint64_t inserted_ = 0;
  bool bounded_ = false;
  std::deque<std::uint64_t> absent_;
  std::deque<std::uint64_t> present_;
};

/// One thread's operations. A `Window` holds its operations in flight: size(), finished(i), start(i, kind, key, value),
/// and poll(ended), which calls ended(i, kind, result) for each operation that has ended, with the result of
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
        under_way_(plan.window),
        own_(plan, threads(), number_) {}

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
    KvChoice choice;
    std::int64_t since_ps = 0;
  };

  [[nodiscard]] std::uint64_t threads() const { return std::uint64_t{node_.num_nodes()} * plan_.threads; }

  KvChoice choose() {
    const bool write = stream_.chance(plan_.writes_percent(), 100);
    if (write && plan_.inserts()) return own_.next(plan_.mix != KvMix::churn || stream_.chance(50, 100));
    const std::uint64_t entry = plan_.zipfian ? plan_.zipfian->item(stream_) : stream_.below(plan_.entries);
    return {write ? kv_operation::Kind::update : kv_operation::Kind::lookup, entry};
  }

  void start(std::size_t lane) {
    const KvChoice choice = choose();
    under_way_[lane] = {choice, node_.now_ps()};
    ++started_;
    const bool has_value = choice.kind == kv_operation::Kind::update || choice.kind == kv_operation::Kind::insert;
    const std::uint64_t value = has_value ? value_of(choice.entry, started_ * threads() + number_) : 0;
    window_.start(lane, choice.kind, key_of(choice.entry), value);
  }

  void end(std::size_t lane, kv_operation::Kind kind, std::uint64_t result) {
    constexpr std::array<std::string_view, 4> kNames = {"lookup", "insert", "update", "erase"};
    ++ended_;
    const KvUnderWay& u = under_way_[lane];
    const bool lookup = kind == kv_operation::Kind::lookup;
    own_.ended(u.choice);
    setup_.results.add(kNames.at(static_cast<std::size_t>(kind)), u.since_ps, node_.now_ps());
    setup_.results.promise("wrong_results", (lookup ? belongs(result, u.choice.entry) : result == 1) ? 0 : 1);
  }

  Transport& node_;
  const KvPlan& plan_;
  const Setup& setup_;
  std::uint64_t number_;  ///< among all threads
  sim::Stream stream_;
  Window& window_;
  std::vector<KvUnderWay> under_way_;
  KvOwnKeys own_;
  std::uint64_t started_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace loco::workloads
