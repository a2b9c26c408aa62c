// One node tells all others, again and again (LOCO paper, Section 6.1 and Fig. 16): over shared variables or over a
// ring buffer, with some broadcasts outstanding. An outstanding broadcast is one that not every node has confirmed.
#include <algorithm>
#include <array>
#include <deque>
#include <memory>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/ring_buffer.hpp"
#include "loco_sim/workloads/baselines.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/payload.hpp"

namespace loco::workloads {

namespace {

/// `outstanding` shared variables in turn; each node tells node 0 how many it has seen.
class over_variables {
 public:
  over_variables(manager& mgr, const Setup& setup)
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
    if (values_.size() == 1) key_.wait();  // with more, a variable's turn comes when all have seen its last value
  }
  bool seen_by_all(std::uint64_t i) {
    for (NodeId n = 1; n < mgr_.num_nodes(); ++n)
      if (seen_[n].load() < i) return false;
    return true;
  }
  void receive(std::uint64_t i) {
    while (payload_.read(values_[i % values_.size()]) < i) mgr_.transport().pause();
    if (!payload_.whole()) counters_.add(torn_);
    seen_[mgr_.my_node()].store(i);
    seen_[mgr_.my_node()].push(0);
  }

 private:
  manager& mgr_;
  sim::CounterId torn_;
  sim::Counters& counters_;
  Payload payload_;
  std::deque<shared_bytes> values_;  // a deque never moves what it holds
  var_array<std::uint64_t> seen_;
  ack_key key_;
};

/// Messages of one size down a tree; each node tells node 0 how many it has seen.
class over_tree {
 public:
  over_tree(manager& mgr, const Setup& setup)
      : mgr_(mgr),
        results_(setup.results),
        payload_(setup.params.get("size")),
        tree_(mgr, "tree", payload_.words.size(), setup.params.count("outstanding")),
        seen_(mgr, "seen", each_node(mgr.num_nodes())) {}

  void send(std::uint64_t i) {
    payload_.fill(i);
    tree_.send(i, payload_.words);
  }
  bool seen_by_all(std::uint64_t i) {
    for (NodeId n = 1; n < mgr_.num_nodes(); ++n)
      if (seen_[n].load() < i) return false;
    return true;
  }
  void receive(std::uint64_t i) {
    tree_.receive(i, payload_.words);
    results_.promise("wrong_messages", payload_.words.front() == i && payload_.whole() ? 0 : 1);
    seen_[mgr_.my_node()].store(i);
    seen_[mgr_.my_node()].push(0);
  }

 private:
  manager& mgr_;
  Results& results_;
  Payload payload_;
  message_tree tree_;
  var_array<std::uint64_t> seen_;
};

/// Messages of one size in a ring buffer.
class over_ring {
 public:
  over_ring(manager& mgr, const Setup& setup)
      : results_(setup.results),
        payload_(setup.params.get("size")),
        ring_(mgr, "ring", 0,
              options_under(setup.faults,
                            ring_options{.bytes = static_cast<std::uint64_t>(setup.params.get("ring")) / 8 * 8})) {}

  void send(std::uint64_t i) {
    payload_.fill(i);
    ring_.send(std::as_bytes(std::span(payload_.words)));
  }
  bool seen_by_all(std::uint64_t i) { return ring_.received_by_all(i * cells()); }
  /// By position, not by number: a broken ring may show the same cells as another number of messages.
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

/// Sends as soon as fewer than `outstanding` broadcasts wait to be confirmed.
template <typename Carrier>
void send_all(Carrier& carrier, Transport& node, const Setup& setup) {
  const auto rounds = static_cast<std::uint64_t>(setup.params.get("iterations"));
  const auto outstanding = static_cast<std::uint64_t>(setup.params.get("outstanding"));
  std::deque<std::int64_t> begun;  // of those that are outstanding
  std::uint64_t confirmed = 0;
  for (std::uint64_t sent = 0; confirmed < rounds;) {
    if (sent < rounds && begun.size() < outstanding) {
      begun.push_back(node.now_ps());
      carrier.send(++sent);
      setup.results.add("broadcast", begun.back(), node.now_ps());
    }
    bool progress = sent < rounds && begun.size() < outstanding;
    while (!begun.empty() && carrier.seen_by_all(confirmed + 1)) {
      ++confirmed;
      setup.results.add("broadcast_seen_by_all", begun.front(), node.now_ps());
      begun.pop_front();
      progress = true;
    }
    if (!progress) node.pause();
  }
}

template <typename Carrier>
void broadcast_program(Transport& node, const Setup& setup) {
  manager mgr(node);
  Carrier carrier(mgr, setup);
  mgr.wait_for_ready();
  if (node.my_node() == 0) return send_all(carrier, node, setup);
  const auto rounds = static_cast<std::uint64_t>(setup.params.get("iterations"));
  for (std::uint64_t i = 1; i <= rounds; ++i) carrier.receive(i);
}

}  // namespace

ring_options options_under(const LibraryFaults& faults, ring_options options) {
  if (faults.has(LibraryFault::ring_without_wait)) options.wait_for_previous_head = false;
  return options;
}

void start_broadcast(const Setup& setup) {
  constexpr std::array kPrograms = {broadcast_program<over_variables>, broadcast_program<over_ring>,
                                    broadcast_program<over_tree>};
  const auto program = kPrograms.at(static_cast<std::size_t>(setup.params.get("over")));
  setup.cluster.spawn_everywhere([&setup, program](Transport& node) { program(node, setup); });
}

}  // namespace loco::workloads
