// Tells every node of a key-value store where keys are stored and when they are erased (LOCO paper, App. I).
//
// Each node has a ring buffer that it alone writes and all others read. A service thread of its own, the tracker, sends
// the changes that the node's other threads request, and applies what arrives in the others' rings to the local index,
// which acknowledges it. A change counts as announced once every node that may still answer for the store has
// acknowledged it.
//
// A node that does not answer may be alive and answer again, and must then not use an index that misses a change. A
// node that has given it up therefore expels it: it tells the others on its ring. Each of them sets a word for the
// expelled node, in memory, before it handles the next message, `noted`, which exists only to be acknowledged. (It is a
// message of its own because a receive may touch nothing but the ring.) A change may be announced without a node once a
// majority of all nodes has noted the expulsion. A node trusts that a key is absent from its index once it has read the
// words for it on a majority of the nodes, itself included, and none is set. Two majorities share a node, and words are
// never cleared, so no clock is needed. A node without a majority can neither announce nor report a key as absent: it
// is out of the store, like an expelled one. If the transport says that no node stops (Transport::keep_alive_ps),
// nobody asks, and nobody may be left out: a node that gives up another one is then out of the store.
//
// Threads: any thread may call announce().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/store/kv_index.hpp"

namespace loco {

struct kv_change {
  /// noted: follows `expelled`; its acknowledgement proves that the expulsion has been noted.
  enum class Kind : std::uint64_t { inserted, erased, expelled, noted };
  Kind kind = Kind::inserted;
  std::uint64_t key = 0;  ///< expelled, noted: the node
  kv_location where;

  /// True if the change concerns a key, false if a node.
  [[nodiscard]] bool of_key() const { return kind == Kind::inserted || kind == Kind::erased; }
};

class kv_tracker : public channel {
 public:
  /// Called for every change on this node's tracker thread, after the index has it and before it is acknowledged.
  using Told = std::function<void(const kv_change&)>;

  kv_tracker(channel& parent, std::string_view name, std::uint64_t ring_bytes, kv_index& index, Told told);
  /// Ends the tracker thread. No node may announce anything from then on.
  ~kv_tracker() override;

  /// The value of the Flag once a change is announced, or once it is refused because this node is out of the store.
  static constexpr std::uint64_t kDone = 1, kRefused = 2;
  /// Begins to announce a change. `done` becomes kDone when every index has it, or kRefused.
  void announce(const kv_change& change, Flag done);

  /// True if nodes may be left out, so that a key absent from the index must be confirmed by others.
  [[nodiscard]] bool asks() const { return asks_; }
  /// How many other nodes to ask; together with this node they are a majority.
  [[nodiscard]] std::uint32_t others_asked() const { return num_nodes() / 2; }
  /// The words of the peers to ask. This node is expelled if the word at expelled_offset() is not 0. Throws
  /// operation_error if too few nodes answer.
  [[nodiscard]] std::vector<Region> to_ask() const;
  [[nodiscard]] std::uint64_t expelled_offset() const { return my_node() * kWord; }

  /// Throws operation_error if this node is out of the store.
  void require_member() const;
  /// A node says that this one is expelled.
  void note_expelled(NodeId says) { leave_store(says, true); }

 private:
  struct Request {
    kv_change change;
    Flag done;
    std::uint64_t until = 0;  ///< the ring's position after it, once it is sent
  };

  /// Body of the tracker thread.
  void serve();
  [[nodiscard]] bool rings_are_ready();
  void track();
  bool receive();
  bool receive_from(ring_buffer& ring);
  bool send();
  bool finish();
  void apply(const kv_change& change);
  [[nodiscard]] ring_buffer& mine() { return rings_[my_node()]; }
  /// Expels the nodes that this one has given up, or leaves the store if they are too many.
  bool expel_failed();
  /// Notes an expulsion, if the change is one.
  void expel(const kv_change& change);
  /// True if every node has the changes up to `until`, or is known to be expelled.
  [[nodiscard]] bool known_to_all(std::uint64_t until);
  [[nodiscard]] bool is_expelled(NodeId node);
  bool refuse_all();
  /// Leaves the store because `node` says so (expelled), or because too few nodes answer; `node` is then the last of
  /// those that do not.
  void leave_store(NodeId node, bool expelled);
  [[nodiscard]] std::string store_name() const { return full_name().substr(0, full_name().rfind('/')); }

  kv_index& index_;
  Told told_;
  std::deque<ring_buffer> rings_;  ///< by writer; a deque, because addresses must be stable
  owned_flag asked_;               ///< counts requests, so that the tracker thread wakes up
  owned_flag stop_;
  owned_flag stopped_;
  mutable std::mutex mutex_;
  std::deque<Request> requests_;  ///< not sent yet
  std::deque<Request> sent_;      ///< not acknowledged yet; used by the tracker thread only

  bool asks_;
  RegionIndex expelled_ = 0;  ///< one word per node
  std::vector<std::optional<std::uint64_t>>
      expels_;                  ///< by node: the position in this node's ring that proves the note
  std::vector<bool> to_expel_;  ///< by node: its expulsion has been requested
  std::atomic<bool> out_ = false;
  std::string why_out_;  ///< guarded by mutex_
  NodeId out_because_of_ = 0;
};

}  // namespace loco
