// What keys and temporary memory need of this node: the transport, network memory, completions and the calling thread's
// block pool. A manager is a local_node; this header knows no channels.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "loco_sim/loco/memory/block_pool.hpp"
#include "loco_sim/loco/memory/network_memory.hpp"
#include "loco_sim/loco/operations/completions.hpp"
#include "loco_sim/loco/operations/connections.hpp"
#include "loco_sim/loco/operations/thread_records.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

/// State below channels that successive managers of a node share. It outlives a manager, because completions of
/// operations posted under it may come back later.
struct node_state {
  explicit node_state(Transport& t) : transport(t), memory(t), acks(t, present), threads(t) {}

  Transport& transport;
  connections present;
  network_memory memory;
  completions acks;
  thread_records threads;
};

class local_node {
 public:
  local_node(const local_node&) = delete;
  local_node& operator=(const local_node&) = delete;

  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] NodeId my_node() const { return transport_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const { return transport_.num_nodes(); }
  [[nodiscard]] network_memory& memory() { return state_->memory; }
  [[nodiscard]] std::shared_ptr<completions> completion_service() { return {state_, &state_->acks}; }
  /// The calling thread's block pool.
  [[nodiscard]] std::shared_ptr<block_pool> blocks() { return state_->threads.mine().blocks; }
  /// What the calling thread knows of the locks that it has tried for.
  [[nodiscard]] thread_records::backing_off& tried_locks() { return state_->threads.mine().locks; }

 protected:
  explicit local_node(std::shared_ptr<node_state> state) : transport_(state->transport), state_(std::move(state)) {}
  ~local_node() = default;

  [[nodiscard]] node_state& state() const { return *state_; }

 private:
  Transport& transport_;
  std::shared_ptr<node_state> state_;
};

}  // namespace loco
