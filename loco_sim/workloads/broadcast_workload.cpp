// One node repeatedly sends a value to all others (LOCO paper, Section 6.1 and Fig. 16), with shared variables or a
// ring buffer, and with several broadcasts outstanding. An outstanding broadcast is one that not all nodes have
// confirmed.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "loco_sim/baselines/message_collectives.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/payload.hpp"

namespace loco::workloads {

using namespace baselines;  // implementations that LOCO is compared with

namespace {

/// Uses `outstanding` shared variables in turn. Each node tells node 0 how many values it has seen.
class over_variables {
 public:
  over_variables(manager& mgr, const Setup& setup, MessageNetwork*)
      : mgr_(mgr),
        torn_(setup.results.counters.id("torn_reads")),
        counters_(setup.results.counters),
        payload_(setup.params.get("size")),
        seen_(mgr, "seen", each_node(mgr.num_nodes())),
        key_(mgr) {
    for (std::uint32_t i = 0; i < setup.params.count("outstanding"); ++i)
      values_.emplace_back(mgr, "value" + std::to_string(i), payload_.bytes());
  }

  void send(std::uint64_t i) {
    shared_bytes& value = values_[i % values_.size()];
    payload_.write(value, i);
    value.push_broadcast(key_);
    if (values_.size() == 1) key_.wait();  // with more, one is written again once all have seen its last value
  }
  bool seen_by_all(std::uint64_t i) {
    for (NodeId n = 1; n < mgr_.num_nodes(); ++n)
      if (seen_[n].load() < i) return false;
    return true;
  }
  void receive(std::uint64_t i) {
    constexpr NodeId kSender = 0;
    while (payload_.read(values_[i % values_.size()]) < i) mgr_.pause_for("value", std::span(&kSender, 1));
    if (!payload_.whole()) counters_.add(torn_);
    seen_[mgr_.my_node()].store(i);
    seen_[mgr_.my_node()].push(0);
  }

 private:
  manager& mgr_;
  sim::CounterId torn_;
  sim::Counters& counters_;
  Payload payload_;
  std::deque<shared_bytes> values_;  // a deque never moves its elements
  var_array<std::uint64_t> seen_;
  ack_key key_;
};

/// Like a program over MPI: non-blocking broadcasts, and a message from each rank to rank 0 for each broadcast
/// received. Rank 0 has a receive posted for each of these messages and waits for any of them, or tests for some. The
/// other ranks wait for the broadcasts one after the other.
class over_tree {
 public:
  over_tree(manager& mgr, const Setup& setup, MessageNetwork* network)
      : mgr_(mgr),
        setup_(setup),
        payload_(setup.params.get("size")),
        others_(mgr.num_nodes() - 1),
        boxes_(mgr.transport(), 1, static_cast<std::uint32_t>(payload_.words.size())),
        rank_(mgr.transport(), *network, boxes_, 0, library_costs(setup.params)),
        broadcast_(rank_, mgr.num_nodes()),
        waits_for_any_(setup.params.get("wait") == 0) {
    if (rank_.rank() != 0) return;
    slots_.resize(setup.params.count("outstanding"));
    requests_.resize(slots_.size() * others_);
    for (std::size_t slot = slots_.size(); slot-- > 0;) free_.push_back(slot);
  }

  void send(std::uint64_t i) {
    payload_.fill(i);
    broadcast_.send(i, payload_.words);
    const std::size_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = {.number = i, .missing = others_, .seen = std::vector<message_rank::Request>(others_)};
    for (std::uint32_t k = 0; k < others_; ++k) {
      rank_.post_receive(k + 1, i | kSeen, slots_[slot].seen[k]);
      requests_[slot * others_ + k] = &slots_[slot].seen[k];
    }
  }
  /// Waits, or tests once. Calls completed(i) for each broadcast that all ranks now have.
  template <typename Completed>
  void take_completed(const Completed& completed) {
    const auto take = [&](std::size_t request) {
      requests_[request] = nullptr;
      Slot& slot = slots_[request / others_];
      if (--slot.missing != 0) return;
      free_.push_back(request / others_);
      completed(slot.number);
    };
    if (waits_for_any_) return take(rank_.wait_any(requests_));
    for (const std::size_t request : rank_.test_some(requests_)) take(request);
  }
  void receive(std::uint64_t i) {
    const auto rounds = setup_.params.amount("iterations");
    const auto outstanding = setup_.params.amount("outstanding");
    auto& under_way = broadcast_.under_way();
    while (under_way.size() < outstanding && expected_ < rounds) broadcast_.expect(++expected_);
    const std::array parent{NodeId{broadcast_.parent()}};  // a parent that has stopped sends nothing
    while (!under_way.front().passed_on)
      if (!broadcast_.progress()) mgr_.pause_for("broadcast", parent);
    const auto& words = under_way.front().request.words;
    payload_.fill(i);
    setup_.results.promise("wrong_messages", words == payload_.words ? 0 : 1);
    rank_.send(0, i | kSeen, {});
    under_way.pop_front();
  }

 private:
  static constexpr Tag kSeen = Tag{1} << 63U;

  /// An outstanding broadcast.
  struct Slot {
    std::uint64_t number = 0;
    std::uint32_t missing = 0;                     ///< ranks that have not confirmed it
    std::vector<message_rank::Request> seen = {};  ///< by rank
  };

  manager& mgr_;
  const Setup& setup_;
  Payload payload_;
  std::uint32_t others_;  ///< number of ranks besides rank 0
  message_boxes boxes_;
  message_rank rank_;
  message_broadcast broadcast_;
  bool waits_for_any_;
  std::vector<Slot> slots_;                       ///< of rank 0
  std::vector<message_rank::Request*> requests_;  ///< of rank 0: the requests of a slot, by rank; null: received
  std::vector<std::size_t> free_;                 ///< slots
  std::uint64_t expected_ = 0;                    ///< of the other ranks: number of the latest broadcast to expect
};

/// Messages of one size in a ring buffer.
class over_ring {
 public:
  over_ring(manager& mgr, const Setup& setup, MessageNetwork*)
      : results_(setup.results),
        payload_(setup.params.get("size")),
        ring_(mgr, "ring", 0,
              options_under(setup.faults,
                            ring_options{.bytes = setup.params.amount("ring"), .heads = setup.params.count("heads")})) {
  }

  void send(std::uint64_t i) {
    payload_.fill(i);
    ring_.send(std::as_bytes(std::span(payload_.words)));
  }
  bool seen_by_all(std::uint64_t i) { return ring_.received_by_all(i * cells()); }
  /// Uses positions, not numbers, because a broken ring may show the same cells as another number of messages.
  void receive(std::uint64_t i) {
    while (ring_.received() < i * cells())
      ring_.receive([&](std::span<const std::byte> text) {
        payload_.fill(i);
        const bool right = std::ranges::equal(text, std::as_bytes(std::span(payload_.words)));
        results_.promise("wrong_messages", right ? 0 : 1);
      });
  }

 private:
  [[nodiscard]] std::uint64_t cells() const { return payload_.words.size() + 1; }

  Results& results_;
  Payload payload_;
  ring_buffer ring_;
};

/// Sends `outstanding` broadcasts, then another one whenever one is confirmed (Section 6.1).
template <typename Carrier>
void send_all(Carrier& carrier, manager& mgr, const Setup& setup) {
  Transport& node = mgr.transport();
  std::vector<NodeId> receivers(mgr.num_nodes() - 1);
  std::iota(receivers.begin(), receivers.end(), NodeId{1});
  const auto rounds = setup.params.amount("iterations");
  const auto outstanding = setup.params.amount("outstanding");
  std::map<std::uint64_t, std::int64_t> begun;  // start times of outstanding broadcasts, by number
  std::uint64_t confirmed = 0;
  const auto completed = [&](std::uint64_t i) {
    ++confirmed;
    const auto at = begun.find(i);
    setup.results.add("broadcast_seen_by_all", at->second, node.now_ps());
    begun.erase(at);
  };
  std::uint64_t sent = 0;
  while (confirmed < rounds) {
    while (sent < rounds && begun.size() < outstanding) {
      const std::int64_t begin = node.now_ps();
      begun.emplace(++sent, begin);
      carrier.send(sent);
      setup.results.add("broadcast", begin, node.now_ps(), kPartOfAnother);  // until all have seen it
    }
    if constexpr (requires { carrier.take_completed(completed); }) {
      carrier.take_completed(completed);
    } else {  // broadcasts are confirmed in order
      const std::uint64_t before = confirmed;
      while (!begun.empty() && carrier.seen_by_all(confirmed + 1)) completed(confirmed + 1);
      if (confirmed == before) mgr.pause_for("broadcast", receivers);
    }
  }
}

template <typename Carrier>
void broadcast_program(Transport& node, const Setup& setup, MessageNetwork* network) {
  manager mgr(node);
  Carrier carrier(mgr, setup, network);
  mgr.wait_for_ready();
  if (node.my_node() == 0) return send_all(carrier, mgr, setup);
  const auto rounds = setup.params.amount("iterations");
  for (std::uint64_t i = 1; i <= rounds; ++i) carrier.receive(i);
}

}  // namespace

ring_options options_under(const LibraryFaults& faults, ring_options options) {
  if (faults.has(LibraryFault::ring_without_wait)) options.wait_for_previous_head = false;
  return options;
}

bool is_collective_broadcast(const Params& params) { return params.get("algorithm") != 0; }

std::uint32_t broadcast_send_queue(const Params& params) {
  return is_collective_broadcast(params) ? collective_send_queue(params) : 1;
}

std::optional<Misfit> broadcast_misfit(const Params& params, std::uint32_t nodes) {
  constexpr std::int64_t kLocoMost = 1 << 20;
  if (is_collective_broadcast(params)) return schedule_misfit<collectives::Collective::broadcast>(params, nodes);
  if (params.get("size") > kLocoMost) return Misfit{"size", "1MiB at most, or another algorithm than loco"};
  for (const std::string_view key : {"channels", "chunk", "warmup"})
    if (params.get(key) != (key == "channels" ? 1 : 0)) return Misfit{key, "another algorithm than loco with it"};
  const std::int64_t cells = params.get("size") / 8 + 1;  // including the one for the length
  if (kCarrierNames.at(params.amount("over")) != "ring_buffer" || params.get("ring") / 8 >= cells) return std::nullopt;
  return Misfit{"ring", "at least " + std::to_string(8 * cells) + " bytes, for a message of " +
                            std::to_string(params.get("size"))};
}

void start_broadcast(const Setup& setup) {
  if (is_collective_broadcast(setup.params)) return start_schedule<collectives::Collective::broadcast>(setup);
  constexpr std::array kPrograms = {broadcast_program<over_variables>, broadcast_program<over_ring>,
                                    broadcast_program<over_tree>};
  const auto program = kPrograms.at(setup.params.amount("over"));
  std::shared_ptr<MessageNetwork> network;
  if (program == &broadcast_program<over_tree>) {
    // Broadcasts and their confirmations: never more at once than there are receives.
    const std::uint32_t receives = setup.params.count("outstanding") * setup.cluster.config().nodes;
    const auto words = static_cast<std::uint32_t>(setup.params.get("size") / 8);
    network = std::make_shared<MessageNetwork>(
        setup.cluster.context(),
        MessageOptions{.words_max = words + 1, .inlined = setup.params.get("inline") != 0, .receives = receives});
  }
  setup.cluster.spawn_everywhere([&setup, network, program](Transport& node) { program(node, setup, network.get()); });
}

}  // namespace loco::workloads
