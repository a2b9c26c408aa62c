// What one node's channels share: connections to the peers, one completion queue with its polling thread, network
// memory, set-up (LOCO paper, App. A.2, C).
//
// A program constructs one manager a node, then its channels, then calls wait_for_ready(). The polling thread is a
// service thread: it clears the bits of ack keys as operations complete and answers set-up messages; it ends with the
// manager. A node may have one manager after the other, each with the channels that are made in it. One-sided
// operations go out on the calling thread's own queue pair for the peer.
//
// A peer that stops, or is cut off, is noticed by an operation towards it that its queue pair has repeated in vain;
// from then on it is given up: known as failed, also if it answers again, until both take each other back (reconnect).
// Where the transport asks for it, a keep-alive thread sees to it that there is such an operation. It reads where the
// peer notes whom it has given up: who is given up gives up in its turn, and who is in doubt about a third node hears
// of that.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "loco_sim/loco/completions.hpp"
#include "loco_sim/loco/departures.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/network_memory.hpp"
#include "loco_sim/loco/setup.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class ack_key;
class fence_channel;
class operation_error;

/// What may be left out or put together when an operation is posted.
struct Posting {
  /// Must fences wait until what it writes is in memory? Not for the words of a lock: what another lock protects is not
  /// among them.
  bool fenced = true;
  /// The thread's next operation goes to the same node and follows at once, with the same key if this one has a key:
  /// one list of work requests, one doorbell, one completion (Tell::with_next).
  bool more = false;
  /// Without a key: manager::check() does not tell of its failure. For what concerns the peer alone, such as its turn.
  bool quiet = false;
};

class manager {
 public:
  explicit manager(Transport& transport, std::uint64_t memory_chunk_bytes = network_memory::kDefaultChunk);
  manager(const manager&) = delete;
  manager& operator=(const manager&) = delete;
  ~manager();

  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] NodeId my_node() const { return transport_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const { return transport_.num_nodes(); }

  /// Until every channel of this node is connected. Throws setup_error when endpoints do not fit together.
  void wait_for_ready();

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
  [[nodiscard]] bool failed(NodeId node) const;
  /// Is any, by this node or by one that has said so?
  [[nodiscard]] bool any_failed() const;
  /// A node that is given up, by any node; nothing when none is known.
  [[nodiscard]] std::optional<NodeId> suspect() const;
  /// What an error says of a node that is given up: "which does not answer".
  [[nodiscard]] std::string_view why_failed(NodeId node) const;
  /// One turn of waiting for something that others do: a pause, or operation_error when one of `nodes` does not answer.
  /// Without an operation of its own under way towards a node, this node learns of that from its keep-alive thread.
  void pause_for(std::string_view object, std::span<const NodeId> nodes);
  /// Throws the operation_error of a wait for one of `nodes` that is given up.
  void require_answers(std::string_view object, std::span<const NodeId> nodes) const;

  /// Takes a node back, over new queue pairs, once that node calls this for this one; it is given up first, if it has
  /// not been. When both have returned, operations reach it again, channels that are made from then on have it among
  /// their peers, and failed() says no. What was made before it was given up does not reach it any more, nothing of
  /// what was posted before is done there any more, and check() does not tell of it. Throws operation_error when it
  /// does not answer, or has not called this within `limit_ps` of the clock (by itself: however long it takes); it is
  /// given up then.
  void reconnect(NodeId node, std::optional<std::int64_t> limit_ps = {});
  /// Has that node called reconnect() for this one, and waits?
  [[nodiscard]] bool asked_back(NodeId node) const;

  // For channels.
  /// The connection over which an endpoint of that life reaches a node (Region::connection).
  [[nodiscard]] std::uint32_t connection_of(std::uint32_t life, NodeId node) const;
  /// Was it made before that node was given up and taken back? Before any was?
  [[nodiscard]] bool outdated(std::uint32_t life, NodeId node) const;
  [[nodiscard]] bool outdated(std::uint32_t life) const;
  [[nodiscard]] network_memory& memory();
  [[nodiscard]] setup& setup_service();
  [[nodiscard]] std::shared_ptr<completions> completion_service();
  /// The calling thread's pool of temporary blocks.
  [[nodiscard]] std::shared_ptr<block_pool> blocks() { return mine().blocks; }
  /// The location of a node that global fences read.
  [[nodiscard]] Region fence_location(NodeId node) const;
  /// Where the calling thread's global fence lets the value read from `node` land.
  [[nodiscard]] Address fence_landing(NodeId node);
  /// Has the calling thread operated on its own node since the last global fence there?
  [[nodiscard]] bool& used_loopback();
  /// Nodes that the calling thread has put to, or operated on with atomics, since its last global fence there (those
  /// with Posting::fenced off apart): those whose memory may not have its writes yet. Ascending.
  [[nodiscard]] std::vector<NodeId> unplaced();
  void note_placed(NodeId node);
  /// All that the calling thread has posted towards these nodes is done.
  void note_fenced(std::span<const NodeId> nodes);
  /// Operations through an endpoint that their threads have not fenced.
  [[nodiscard]] std::vector<departures::use> uses_of(std::uint32_t life);

 private:
  struct Services;
  struct PerThread {
    Region landing;
    bool used_loopback = false;
    std::vector<bool> unplaced;  ///< by node
    /// Endpoints that it has posted through, and towards which nodes (use_key), since it has fenced these. Ascending.
    std::vector<std::uint64_t> unfenced;
    std::shared_ptr<block_pool> blocks = std::make_shared<block_pool>();
  };

  /// Those of a transport's node.
  static std::shared_ptr<Services> services_of(Transport& transport);
  void require_words(std::string_view what, Address local, const Region& remote, std::uint64_t offset,
                     std::uint64_t size);
  OperationTag tag(Address local, const Region& remote, Posting posting, ack_key* key);
  PerThread& mine();
  static void note_use(PerThread& thread, const Region& remote);

  /// Two managers of a node would take each other's set-up messages and completions.
  struct OnlyOne {
    explicit OnlyOne(Transport& t);
    OnlyOne(const OnlyOne&) = delete;
    OnlyOne& operator=(const OnlyOne&) = delete;
    ~OnlyOne();
    Transport& transport;
  };

  Transport& transport_;
  OnlyOne only_one_;
  std::shared_ptr<Services> services_;  // they and their threads may outlive the manager
  bool can_fence_;
  std::unique_ptr<fence_channel> fence_;
};

}  // namespace loco
