// Tells every node of a key-value store where keys have come to be, or that they are gone (LOCO paper, App. I).
//
// Each node has a ring buffer that it alone writes, the others read. A thread of its own, a service thread, sends what
// the node's other threads ask it to, applies what the others' rings bring to the local index, and thereby
// acknowledges it; a change is announced when every node has acknowledged it that may still speak for the store.
//
// A node that does not answer may be alive, and answer again: it must not go on with an index that misses a change. So
// who has given it up expels it: tells the others, on the same ring. Whoever hears of it notes it in a word for the
// expelled node, in memory, before it looks at the next message, which is there only to be acknowledged: behind a
// message, since nothing but the ring's own words may be touched within a receive. A change is announced without a node
// once a majority of all nodes has noted that, and a node believes what its index lacks once it has seen, in the words
// for it of a majority (itself included), that it was not expelled: two majorities have a node in common, and words are
// only ever set. No clock takes part. A node that has no majority to turn to can neither announce nor say that a key is
// absent: it is out of the store, as one that is expelled. Where the transport says that no node stops
// (Transport::keep_alive_ps), nobody asks, and nobody may be left out: a node that has given up another one is out of
// the store.
//
// Threads: announce() and announced() may be called by any; a ticket is for the thread that drew it.
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
  /// noted: follows `expelled`; whoever acknowledges it has noted that.
  enum class Kind : std::uint64_t { inserted, erased, expelled, noted };
  Kind kind = Kind::inserted;
  std::uint64_t key = 0;  ///< expelled, noted: the node
  kv_location where;

  /// Of a key, or of a node?
  [[nodiscard]] bool of_key() const { return kind == Kind::inserted || kind == Kind::erased; }
};

class kv_tracker : public channel {
 public:
  /// Told of every change, on this node's tracker thread, after the index has it and before it is acknowledged.
  using Told = std::function<void(const kv_change&)>;

  kv_tracker(channel& parent, std::string_view name, std::uint64_t ring_bytes, kv_index& index, Told told);
  /// Ends the tracker thread: nobody may announce anything any more, on any node.
  ~kv_tracker() override;

  /// What a Flag becomes when a change is announced, and when it cannot be since this node is out of the store.
  static constexpr std::uint64_t kDone = 1, kRefused = 2;
  /// Starts to announce a change; `done` becomes kDone when every index has it, or kRefused.
  void announce(const kv_change& change, Flag done);

  /// May nodes be left out, so that who finds nothing in its index has to ask?
  [[nodiscard]] bool asks() const { return asks_; }
  /// How many others are to be asked: with this node they are a majority.
  [[nodiscard]] std::uint32_t others_asked() const { return num_nodes() / 2; }
  /// The peers to ask: their words, of which that at expelled_offset() is not 0 when this node is expelled. Throws
  /// operation_error when too few answer.
  [[nodiscard]] std::vector<Region> to_ask() const;
  [[nodiscard]] std::uint64_t expelled_offset() const { return my_node() * kWord; }

  /// Throws operation_error when this node is out of the store.
  void require_member() const;
  /// Some node says that this one is out.
  void note_expelled(NodeId says) { leave_store(says, true); }

 private:
  struct Request {
    kv_change change;
    Flag done;
    std::uint64_t until = 0;  ///< the ring's position behind it, once it is sent
  };

  /// The tracker thread.
  void serve();
  [[nodiscard]] bool rings_are_ready();
  void track();
  bool receive();
  bool receive_from(ring_buffer& ring);
  bool send();
  bool finish();
  void apply(const kv_change& change);
  [[nodiscard]] ring_buffer& mine() { return rings_[my_node()]; }
  /// Expels the nodes that this one has given up, or finds that there are too many of them.
  bool expel_failed();
  /// Notes it, if that is what the change says.
  void expel(const kv_change& change);
  /// Has every node the changes up to there, or is it known to be expelled?
  [[nodiscard]] bool known_to_all(std::uint64_t until);
  [[nodiscard]] bool is_expelled(NodeId node);
  bool refuse_all();
  /// Because some node says so, or because too few answer; the last one of those that do not.
  void leave_store(NodeId node, bool expelled);
  [[nodiscard]] std::string store_name() const { return full_name().substr(0, full_name().rfind('/')); }

  kv_index& index_;
  Told told_;
  std::deque<ring_buffer> rings_;  ///< by writer; a deque never moves what it holds
  owned_flag asked_;               ///< counts requests, so that the tracker thread can watch it
  owned_flag stop_;
  owned_flag stopped_;
  mutable std::mutex mutex_;
  std::deque<Request> requests_;  ///< not sent yet
  std::deque<Request> sent_;      ///< not acknowledged yet; the tracker thread's

  bool asks_;
  RegionIndex expelled_ = 0;                          ///< a word for each node
  std::vector<std::optional<std::uint64_t>> expels_;  ///< by node: where this node's ring says that it is noted
  std::vector<bool> to_expel_;                        ///< by node: its expulsion has been requested
  std::atomic<bool> out_ = false;
  std::string why_out_;  ///< under mutex_
  NodeId out_because_of_ = 0;
};

}  // namespace loco
