// This node's queue pairs: one for each thread, peer and connection (Connections), made at first use.
//
// A queue pair connects threads of the same index, and both use their end. Whoever needs it first makes its end and
// says over the mesh where it is; the other side makes its own, is ready to receive, and answers. A thread posts once
// its own end can send and the other side has said that its end takes what comes. Both may begin at once: what is said
// is the same.
//
// Thread-safe: threads ask for their ends, the mesh's thread brings news, whoever polls looks ends up by number.
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

/// Which queue pair: of a thread, towards a peer, over a connection of that number.
struct EndKey {
  std::uint32_t thread = 0;
  NodeId peer = 0;
  std::uint32_t connection = 0;
  friend auto operator<=>(const EndKey&, const EndKey&) = default;
};

/// What has been posted, by its place in the send queue.
struct Posted {
  std::uint64_t token = 0;
  Operation operation = Operation::put;
};

struct End {
  EndKey key{};
  QueuePair qp;
  QueuePair other;                 ///< of loopback: the end that answers
  bool connected = false;          ///< it can send
  bool peer_ready = false;         ///< the other side takes what comes
  bool said_ready = false;         ///< ... and has been told so of this one
  std::mutex posting;              ///< who posts to it, or ends it
  std::atomic<bool> dead = false;  ///< nothing is posted any more: its connection has ended, or its peer
  bool reset = false;              ///< ... and nothing of it is left
  std::vector<Posted> requests;    ///< by place, modulo their number
  std::atomic<std::uint64_t> posted = 0, retired = 0;
  std::uint32_t silent = 0;                 ///< since the last one that asks for a completion
  std::atomic<bool> answered_last = false;  ///< the last one retired was a get or an atomic: all before it is in memory
  [[nodiscard]] bool is_free() const { return posted.load() == retired.load(); }
};

/// The last request of an end that is dead, which comes back behind all others: of those that asked for no completion
/// and were done before, nothing else would tell.
inline constexpr std::uint64_t kDrained = ~std::uint64_t{0};

class Ends {
 public:
  using Say = std::function<void(NodeId to, const std::string& body)>;

  Ends(const Device& device, ibv_cq& cq, NodeId node, std::uint32_t nodes, std::uint32_t send_entries, Say say);

  /// The calling thread's; waits until it can be posted to, or is dead. `check` throws where waiting has no sense any
  /// more.
  End& ready_end(const EndKey& key, const std::function<void()>& check);
  /// Null when that number is nobody's.
  [[nodiscard]] End* numbered(std::uint32_t qp_number);
  /// Null when there is none.
  [[nodiscard]] End* find(const EndKey& key);
  /// The peer's transport says where its end is.
  void on_wire(NodeId from, const std::string& body);
  /// The peer has died: its ends are dead, and what is under way comes back.
  void on_lost(NodeId peer);
  [[nodiscard]] bool lost(NodeId peer) const { return lost_[peer].load(std::memory_order_acquire); }

  // See loco::Connections.
  void disconnect(NodeId peer);
  [[nodiscard]] bool disconnected(NodeId peer);
  void connect(NodeId peer, std::uint32_t number);
  /// The ends of a thread towards a peer, over all connections.
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
    std::uint32_t ended = 0;    ///< those with smaller numbers have ended
  };
  std::vector<Changes> changes_;
  std::vector<std::atomic<bool>> lost_;
};

}  // namespace loco::libibverbs
