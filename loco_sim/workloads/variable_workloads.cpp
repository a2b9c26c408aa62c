// Shared variables: message passing, and the mix of operations of the quick start.
#include <span>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/payload.hpp"

namespace loco::workloads {

namespace {

/// Fig. 9a of the paper: data, then a flag, to one node. Whoever sees the flag must see the data.
class message_channel {
 public:
  message_channel(manager& mgr, std::int64_t size)
      : mgr_(mgr),
        size_(size),
        data_(mgr, "data", static_cast<std::uint64_t>(size_)),
        flag_(mgr, "flag"),
        reply_(mgr, "reply") {}

  void send(NodeId to, std::uint64_t i) {
    Payload payload(size_);
    payload.write(data_, i);
    data_.push(to);
    flag_.store(i);
    flag_.push(to);
  }
  void wait_for_reply(NodeId from, std::uint64_t i) {
    while (reply_.load() < i) mgr_.pause_for(reply_.full_name(), std::span(&from, 1));
  }
  /// Returns true if the data belongs to the flag.
  bool receive(NodeId from, std::uint64_t i) {
    while (flag_.load() < i) mgr_.pause_for(flag_.full_name(), std::span(&from, 1));
    Payload payload(size_);
    const bool fresh = payload.read(data_) == i && payload.whole();
    reply_.store(i);
    reply_.push(from);
    return fresh;
  }

 private:
  manager& mgr_;
  std::int64_t size_;
  shared_bytes data_;
  var<std::uint64_t> flag_;
  var<std::uint64_t> reply_;
};

/// One round: even nodes send to the next node; a last node without a partner does nothing.
void exchange(message_channel& channel, Transport& node, const Setup& setup, std::uint64_t i) {
  const NodeId me = node.my_node();
  if (me % 2 == 1) {
    setup.results.promise("stale_messages", channel.receive(me - 1, i) ? 0 : 1);
  } else if (me + 1 < node.num_nodes()) {
    const std::int64_t t0 = node.now_ps();
    channel.send(me + 1, i);
    channel.wait_for_reply(me + 1, i);
    setup.results.add("message_round_trip", t0, node.now_ps());
  }
}

void message_program(Transport& node, const Setup& setup) {
  manager mgr(node);
  message_channel channel(mgr, setup.params.get("size"));
  mgr.wait_for_ready();
  const auto rounds = setup.params.amount("iterations");
  for (std::uint64_t i = 1; i <= rounds; ++i) exchange(channel, node, setup, i);
}

void mix_program(Transport& node, const Setup& setup) {
  manager mgr(node);
  var<std::uint64_t> turn(mgr, "turn");
  message_channel channel(mgr, 8);
  barrier bar(mgr, "bar", options_under(setup.faults));
  mgr.wait_for_ready();
  ack_key key(mgr);
  bar.waiting();
  const auto rounds = setup.params.amount("iterations");
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    if (mgr.my_node() == i % mgr.num_nodes()) {  // the nodes take turns
      const std::int64_t t0 = node.now_ps();
      turn.store(i);
      turn.push_broadcast(key);
      key.wait();
      setup.results.add("broadcast", t0, node.now_ps());
    }
    exchange(channel, node, setup, i);
    const std::int64_t t0 = node.now_ps();
    bar.waiting();
    setup.results.add("barrier", t0, node.now_ps(), node.num_nodes());
    setup.results.promise("stale_broadcasts", turn.load() < i ? 1 : 0);
  }
}

}  // namespace

void start_message_passing(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { message_program(node, setup); });
}

void start_mix(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { mix_program(node, setup); });
}

}  // namespace loco::workloads
