// This node's queue pairs: one for each thread, peer and connection (Connections), made at first use.
//
// A queue pair connects threads with the same index, and both use their end. The side that needs it first makes its end
// and sends its address over the mesh; the other side makes its own, gets ready to receive, and answers. A thread posts
// once its own end can send and the peer has said that its end can receive. Both sides may begin at once, because the
// messages are the same.
//
// Thread-safe: threads request their ends, the mesh's thread delivers messages, and polling threads look up ends by
// number.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "loco_sim/libibverbs/device.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco::libibverbs {

/// Identifies a queue pair: of a thread, to a peer, for a connection with that number.
struct EndKey {
  std::uint32_t thread = 0;
  NodeId peer = 0;
  std::uint32_t connection = 0;
  friend auto operator<=>(const EndKey&, const EndKey&) = default;
};

/// What was posted, by its place in the send queue.
struct Posted {
  std::uint64_t token = 0;
  Operation operation = Operation::put;
};

struct End {
  EndKey key{};
  QueuePair qp;
  QueuePair other;                 ///< for loopback: the end that answers
  bool connected = false;          ///< it can send
  bool peer_ready = false;         ///< the peer's end can receive
  bool said_ready = false;         ///< the peer knows that this one can
  std::mutex posting;              ///< held while posting to it or ending it
  std::atomic<bool> dead = false;  ///< nothing is posted any more, because its connection or its peer has ended
  bool reset = false;              ///< nothing posted to it is left, either
  std::vector<Posted> requests;    ///< by place, modulo their number
  std::atomic<std::uint64_t> posted = 0, retired = 0;
  std::uint32_t silent = 0;                 ///< since the last one that requested a completion
  std::atomic<bool> answered_last = false;  ///< the last one was a get or an atomic: all before it is in memory
  [[nodiscard]] bool is_free() const { return posted.load() == retired.load(); }
};

/// The last request of a dead end, which completes after all others. It shows that requests without a completion were
/// done.
inline constexpr std::uint64_t kDrained = ~std::uint64_t{0};

class Ends {
 public:
  using Say = std::function<void(NodeId to, const std::string& body)>;

  Ends(const Device& device, ibv_cq& cq, NodeId node, std::uint32_t nodes, std::uint32_t send_entries, Say say);

  /// The calling thread's end. Waits until it can be posted to, or is dead. `check` throws if waiting has become
  /// pointless.
  End& ready_end(const EndKey& key, const std::function<void()>& check);
  /// Null if no end has that number.
  [[nodiscard]] End* numbered(std::uint32_t qp_number);
  /// Null if there is none.
  [[nodiscard]] End* find(const EndKey& key);
  /// A message of the peer's transport about its end.
  void on_wire(NodeId from, const std::string& body);
  /// The peer has died: its ends are dead, and everything in flight to it completes.
  void on_lost(NodeId peer);
  [[nodiscard]] bool lost(NodeId peer) const { return lost_[peer].load(std::memory_order_acquire); }

  // See loco::Connections.
  void disconnect(NodeId peer);
  [[nodiscard]] bool disconnected(NodeId peer);
  void connect(NodeId peer, std::uint32_t number);
  /// A thread's ends to a peer, for all connections.
  [[nodiscard]] std::vector<End*> ends_of(std::uint32_t thread, NodeId peer);
  void clear();

 private:
  End& make(const EndKey& key);
  void tell(const End& end, bool ready);
  void set_dead(End& end);

  const Device& device_;
  ibv_cq& cq_;
  NodeId node_;
  std::uint32_t send_entries_;
  Say say_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::map<EndKey, std::unique_ptr<End>> ends_;
  std::unordered_map<std::uint32_t, End*> by_number_;
  struct Changes {
    std::uint32_t present = 0;  ///< number of the present connection
    std::uint32_t ended = 0;    ///< connections with smaller numbers have ended
  };
  std::vector<Changes> changes_;
  std::vector<std::atomic<bool>> lost_;
};

}  // namespace loco::libibverbs
