// This node as a part of the network: one-sided operations, the state of peers, and what fences have to wait for. This
// is all that channels, objects and fences see of a manager.
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

/// Options of posting an operation.
struct Posting {
  /// Fences wait until its remote write is in memory. Off for the words of a lock, since no other lock protects them.
  bool fenced = true;
  /// The thread's next operation follows at once, goes to the same node, and has the same key if this one has a key.
  /// Both form one list of work requests with one doorbell and one completion (Tell::with_next).
  bool more = false;
  /// Only without a key: check() does not report its failure. For operations that matter to the peer alone, such as
  /// handing it the turn.
  bool quiet = false;
};

class networked_node : public local_node {
 public:
  // One-sided operations on whole words, here and inside the region; anything else throws size_error. Without a key the
  // completion is not reported, and a failure surfaces at the thread's next global_fence() or check().
  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key = nullptr,
           Posting posting = {});
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, ack_key* key = nullptr,
           Posting posting = {});
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add, ack_key* key = nullptr,
                 Posting posting = {});
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, ack_key* key = nullptr, Posting posting = {});

  /// Throws setup_error if the network lacks the capability, such as "'ring' needs ordered puts ...", with `who` naming
  /// the object.
  void require_network(std::string_view who, Capability what) const;
  /// True if the network has Capability::reads_push_puts, without which there are no fences.
  [[nodiscard]] bool can_fence() const { return can_fence_; }

  /// Throws operation_error if an operation without a key has failed. Each failure is reported once.
  void check();
  /// Leaves an error to the next check(), for calls that must not throw.
  void tell_later(const operation_error& error);

  /// True if this node has given up `node`: an operation failed because it does not answer, or it has given up this
  /// node.
  [[nodiscard]] bool failed(NodeId node) const { return state().acks.failed(node); }
  /// True if this node, or a node that has said so, has given up any node.
  [[nodiscard]] bool any_failed() const { return state().acks.any_failed(); }
  /// A node that some node has given up; nothing if none is known.
  [[nodiscard]] std::optional<NodeId> suspect() const { return state().acks.suspect(); }
  /// Why a node was given up, as an error says it: "which does not answer".
  [[nodiscard]] std::string_view why_failed(NodeId node) const;
  /// One turn of a loop that waits for other nodes: pauses, or throws operation_error if one of `nodes` is given up. A
  /// node with no operation in flight towards them learns of that from its keep-alive thread.
  void pause_for(std::string_view object, std::span<const NodeId> nodes);
  /// Throws the operation_error of a wait if one of `nodes` is given up.
  void require_answers(std::string_view object, std::span<const NodeId> nodes) const;

  /// For channels: number of the connection over which an endpoint of incarnation `life` reaches a node
  /// (Region::connection).
  [[nodiscard]] std::uint32_t connection_of(std::uint32_t life, NodeId node) const {
    return state().present.of(life, node);
  }
  /// True if the endpoint was made before this node rejoined with `node`; without a node: with any node.
  [[nodiscard]] bool outdated(std::uint32_t life, NodeId node) const { return state().present.outdated(life, node); }
  [[nodiscard]] bool outdated(std::uint32_t life) const { return state().present.outdated(life); }
  /// The manager object that programs use.
  [[nodiscard]] virtual manager& as_manager() = 0;
  /// The service that joins this node's endpoints with those of the peers.
  [[nodiscard]] virtual setup& setup_service() = 0;
  /// The dummy location of a node that global fences read.
  [[nodiscard]] virtual Region fence_location(NodeId node) const = 0;
  /// Local address for the value that the calling thread's global fence reads from `node`.
  [[nodiscard]] Address fence_landing(NodeId node);
  /// True if the calling thread has operated on its own node since its last global fence there.
  [[nodiscard]] bool& used_loopback() { return state().threads.mine().used_loopback; }
  /// Nodes whose memory may still lack writes of the calling thread: those it has put to or used atomics on since its
  /// last global fence there, except with Posting::fenced off. Ascending.
  [[nodiscard]] std::vector<NodeId> unplaced();
  void note_placed(NodeId node);
  /// All operations of the calling thread towards these nodes are done.
  void note_fenced(std::span<const NodeId> nodes);
  /// Operations through an endpoint that their threads have not fenced yet.
  [[nodiscard]] std::vector<departures::use> uses_of(std::uint32_t life) { return state().threads.uses_of(life); }

 protected:
  explicit networked_node(std::shared_ptr<node_state> state);
  ~networked_node() = default;

 private:
  void require_words(std::string_view what, Address local, const Region& remote, std::uint64_t offset,
                     std::uint64_t size);
  OperationTag tag(Address local, const Region& remote, Posting posting, ack_key* key);

  /// The incarnations whose endpoints are gone and whose last operations this fence has completed. The calling thread's
  /// operations towards `nodes` are done.
  [[nodiscard]] virtual std::vector<std::uint32_t> settled_by_fence(std::span<const NodeId> nodes) = 0;

  bool can_fence_;
};

}  // namespace loco
