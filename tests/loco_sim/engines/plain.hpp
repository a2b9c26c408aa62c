// Words of ordinary memory on every node that any node puts to and gets from: the data that locks and barriers protect.
#pragma once

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "tests/loco_sim/engines/engine_transport.hpp"

namespace loco::test {

class plain_words {
 public:
  /// Before the node's manager: the first region of every node, so that each knows where the others' is.
  plain_words(EngineTransport& node, std::uint64_t words) : node_(node), mine_(node.allocate_plain(words * kWord)) {}

  /// Returns when it is complete, which does not say that it is there.
  void put(manager& mgr, NodeId to, std::uint64_t word, std::uint64_t value) {
    mem_ref source(mgr, kWord);
    ack_key key(mgr);
    source.store(value);
    mgr.put(source.address(), on(to), word * kWord, kWord, &key);
    key.wait();
  }
  [[nodiscard]] std::uint64_t get(manager& mgr, NodeId from, std::uint64_t word) {
    mem_ref landing(mgr, kWord);
    ack_key key(mgr);
    mgr.get(landing.address(), on(from), word * kWord, kWord, &key);
    key.wait();
    return landing.load();
  }
  /// This node's own.
  [[nodiscard]] std::uint64_t load(std::uint64_t word) { return node_.load(mine_.base + word * kWord); }

 private:
  [[nodiscard]] Region on(NodeId node) const {
    Region region = mine_;
    region.node = node;
    return region;
  }

  EngineTransport& node_;
  Region mine_;
};

}  // namespace loco::test
