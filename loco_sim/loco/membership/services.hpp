// What managers of one node share, one after the other: operations in flight, names, memory, what is known of peers. It
// stays when a manager goes, for what has been posted or said under it may come back later. Private to loco/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/reconnection.hpp"
#include "loco_sim/loco/membership/setup.hpp"
#include "loco_sim/loco/operations/local_node.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

/// What a node notes for each peer, where that peer looks.
enum Note : std::uint64_t {
  kGivenUp = 0,       ///< not 0: the node has given up that peer
  kSuspect = kWord,   ///< a node that it knows to be given up by some node, + 1
  kNote = 2 * kWord,  ///< bytes
};

/// The manager's own channel: a dummy location a node, which global fences read, and the notes of whom it has given up,
/// which keep-alive threads read.
class fence_channel : public channel {
 public:
  using Told = std::function<void(const Region& notes)>;

  /// Tells of each peer's notes when that is connected, if anybody wants to know; else there are none.
  fence_channel(networked_node& mgr, Told connected)
      : channel(mgr, "loco", expect_num{mgr.num_nodes() - 1}),
        region_(symmetric_region("fence", sizeof(std::uint64_t))) {
    if (connected) {
      notes_ = symmetric_region("notes", mgr.num_nodes() * kNote);
      on_connect([this, told = std::move(connected)](NodeId peer) { told(remote(notes_, peer)); });
    }
    join();
  }
  ~fence_channel() override { leave(); }
  using channel::joining;
  [[nodiscard]] Region location(NodeId node) const { return remote(region_, node); }
  /// This node's, if there are any.
  [[nodiscard]] Region notes() const { return local(notes_); }

 private:
  RegionIndex region_;
  RegionIndex notes_ = 0;
};

struct node_services : node_state {
  explicit node_services(Transport& t);

  /// A manager begins: the service threads of the one before have ended by then.
  void begin(std::uint64_t memory_chunk_bytes);
  /// Its own channel is there, or goes (null).
  void set_own(fence_channel* own);
  /// It ends.
  void end();
  /// A service thread; this object lives as long as it runs.
  static void start(const std::shared_ptr<node_services>& services, const char* name, void (node_services::*body)());

  /// The polling thread.
  void serve();
  /// The keep-alive thread: reads the notes of every peer again and again. Whoever does not answer is known as failed
  /// once the queue pair has given up. Ends when no other node can stop: it would hide that a program waits for ever.
  void ask_peers();
  /// What a peer has answered.
  void hear(NodeId node, Address answer);
  /// Notes are written where the peers look before anybody here acts on them.
  void note_failures_in(const Region& notes);
  /// A peer is connected; its notes.
  void note_connected(const Region& location);
  [[nodiscard]] std::vector<Region> connected_peers();

  setup channels;
  reconnection again;
  Flag stop;
  std::atomic<std::uint32_t> running = 0;  ///< service threads
  std::mutex mutex;
  std::vector<Region> locations;  ///< the notes of the peers that are connected
  std::uint32_t managers = 0;     ///< so far
};

}  // namespace loco
