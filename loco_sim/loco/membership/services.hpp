// State that successive managers of a node share: operations in flight, names, memory, the state of peers. It outlives
// a manager, because completions and messages for it may come later. Private to loco/.
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

/// Layout of the note that a node keeps for each peer, which that peer reads.
enum Note : std::uint64_t {
  kGivenUp = 0,       ///< not 0: the node has given up that peer
  kSuspect = kWord,   ///< a suspect's node number plus 1; 0: none
  kNote = 2 * kWord,  ///< bytes of a note
};

/// The manager's own channel. On each node it has a dummy location that global fences read, and the notes of whom the
/// node has given up, which keep-alive threads read.
class fence_channel : public channel {
 public:
  using Told = std::function<void(const Region& notes)>;

  /// Calls `connected` with each peer's notes once they can be read. Without a callback there are no notes.
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
  /// This node's notes. Precondition: there are any.
  [[nodiscard]] Region notes() const { return local(notes_); }

 private:
  RegionIndex region_;
  RegionIndex notes_ = 0;
};

struct node_services : node_state {
  explicit node_services(Transport& t);

  /// Starts a manager, after the service threads of the previous one have ended.
  void begin(std::uint64_t memory_chunk_bytes);
  /// Sets the manager's own channel, or clears it (null).
  void set_own(fence_channel* own);
  /// Ends the manager.
  void end();
  /// Starts a service thread, which keeps this object alive.
  static void start(const std::shared_ptr<node_services>& services, const char* name, void (node_services::*body)());

  /// Body of the polling thread.
  void serve();
  /// Body of the keep-alive thread: reads the notes of every peer again and again. A peer that does not answer is given
  /// up once the queue pair has exhausted its retransmissions. The thread ends when no other node can stop, because its
  /// activity would hide a deadlock of the program.
  void ask_peers();
  /// Evaluates the notes of a peer, which were read to `answer`.
  void hear(NodeId node, Address answer);
  /// Publishes failures in the notes that peers read, before anybody here acts on them.
  void note_failures_in(const Region& notes);
  /// A peer's notes can be read from now on.
  void note_connected(const Region& location);
  [[nodiscard]] std::vector<Region> connected_peers();

  setup channels;
  reconnection again;
  Flag stop;
  std::atomic<std::uint32_t> running = 0;  ///< number of service threads
  std::mutex mutex;
  std::vector<Region> locations;  ///< the notes of all connected peers
  std::uint32_t managers = 0;     ///< number so far
};

}  // namespace loco
