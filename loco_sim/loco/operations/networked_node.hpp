// This node as a part of the network: one-sided operations, what is known of peers, what fences have to wait for. It is
// all that channels, objects and fences know of a manager.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "loco_sim/loco/memory/departures.hpp"
#include "loco_sim/loco/operations/local_node.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class ack_key;
class manager;
class operation_error;
class setup;

/// What may be left out or put together when an operation is posted.
struct Posting {
  /// Must fences wait until what it writes is in memory? Not for the words of a lock: what another lock protects is not
  /// among them.
  bool fenced = true;
  /// The thread's next operation goes to the same node and follows at once, with the same key if this one has a key:
  /// one list of work requests, one doorbell, one completion (Tell::with_next).
  bool more = false;
  /// Without a key: check() does not tell of its failure. For what concerns the peer alone, such as its turn.
  bool quiet = false;
};

class networked_node : public local_node {
 public:
  // One-sided operations between whole words here and whole words inside of a region, else size_error. Without a key
  // nobody is told of the completion; a failure then surfaces at the thread's next global_fence() or at check().
  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key = nullptr,
           Posting posting = {});
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key = nullptr,
           Posting posting = {});
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add, ack_key* key = nullptr,
                 Posting posting = {});
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, ack_key* key = nullptr, Posting posting = {});

  /// Throws setup_error when the network lacks that: "'ring' needs ordered puts ...". `who`: what needs it.
  void require_network(std::string_view who, Capability what) const;
  /// Has the network Capability::reads_push_puts?
  [[nodiscard]] bool can_fence() const { return can_fence_; }

  /// Throws operation_error if an operation without a key has failed; tells of each failure once.
  void check();
  /// For calls that may not throw: the next check() throws it.
  void tell_later(const operation_error& error);

  /// Is this node given up: an operation towards it has failed because it does not answer, or it has given up this one?
  [[nodiscard]] bool failed(NodeId node) const { return state().acks.failed(node); }
  /// Is any, by this node or by one that has said so?
  [[nodiscard]] bool any_failed() const { return state().acks.any_failed(); }
  /// A node that is given up, by any node; nothing when none is known.
  [[nodiscard]] std::optional<NodeId> suspect() const { return state().acks.suspect(); }
  /// What an error says of a node that is given up: "which does not answer".
  [[nodiscard]] std::string_view why_failed(NodeId node) const;
  /// One turn of waiting for something that others do: a pause, or operation_error when one of `nodes` does not answer.
  /// Without an operation of its own under way towards a node, this node learns of that from its keep-alive thread.
  void pause_for(std::string_view object, std::span<const NodeId> nodes);
  /// Throws the operation_error of a wait for one of `nodes` that is given up.
  void require_answers(std::string_view object, std::span<const NodeId> nodes) const;

  // For channels and fences.
  /// The connection over which an endpoint of that life reaches a node (Region::connection).
  [[nodiscard]] std::uint32_t connection_of(std::uint32_t life, NodeId node) const {
    return state().present.of(life, node);
  }
  /// Was it made before that node was given up and taken back? Before any was?
  [[nodiscard]] bool outdated(std::uint32_t life, NodeId node) const { return state().present.outdated(life, node); }
  [[nodiscard]] bool outdated(std::uint32_t life) const { return state().present.outdated(life); }
  /// The manager that this is, for programs.
  [[nodiscard]] virtual manager& as_manager() = 0;
  /// Who joins this node's endpoints with those of the peers.
  [[nodiscard]] virtual setup& setup_service() = 0;
  /// The location of a node that global fences read.
  [[nodiscard]] virtual Region fence_location(NodeId node) const = 0;
  /// Where the calling thread's global fence lets the value read from `node` land.
  [[nodiscard]] Address fence_landing(NodeId node);
  /// Has the calling thread operated on its own node since the last global fence there?
  [[nodiscard]] bool& used_loopback() { return state().threads.mine().used_loopback; }
  /// Nodes that the calling thread has put to, or operated on with atomics, since its last global fence there (those
  /// with Posting::fenced off apart): those whose memory may not have its writes yet. Ascending.
  [[nodiscard]] std::vector<NodeId> unplaced();
  void note_placed(NodeId node);
  /// All that the calling thread has posted towards these nodes is done.
  void note_fenced(std::span<const NodeId> nodes);
  /// Operations through an endpoint that their threads have not fenced.
  [[nodiscard]] std::vector<departures::use> uses_of(std::uint32_t life) { return state().threads.uses_of(life); }

 protected:
  explicit networked_node(std::shared_ptr<node_state> state);
  ~networked_node() = default;

 private:
  void require_words(std::string_view what, Address local, const Region& remote, std::uint64_t offset,
                     std::uint64_t size);
  OperationTag tag(Address local, const Region& remote, Posting posting, ack_key* key);

  /// Endpoints that are gone and whose operations are done, now that the calling thread's towards these nodes are.
  [[nodiscard]] virtual std::vector<std::uint32_t> settled_by_fence(std::span<const NodeId> nodes) = 0;

  bool can_fence_;
};

}  // namespace loco
