// The processes of a run, each joined with each by TCP: how they find each other, set-up messages, who has ended.
//
// Node i listens where the host list says, connects to the nodes before it and takes connections of those behind. A
// thread of its own reads what comes and hands it over. A connection that closes without a farewell is a process that
// has died: the operating system closes it, whatever ended the process.
// Nothing here is timed: LOCO's data path does not use it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/process/host_list.hpp"

namespace loco::process {

/// What a message is about.
enum class Kind : std::uint8_t {
  control,   ///< LOCO's set-up
  wire,      ///< the transport's own: queue pairs, endpoints
  here,      ///< this node has come to the next meeting
  farewell,  ///< this node ends in order; nothing comes behind it
};

struct MeshOptions {
  std::vector<HostAddress> hosts;
  NodeId node = 0;
  std::string network = {};           ///< what they talk over; all must say the same
  std::int64_t patience_ms = 30'000;  ///< for the others to come
};

class Mesh {
 public:
  using Receive = std::function<void(NodeId from, Kind kind, std::string body)>;  ///< control and wire
  using Lost = std::function<void(NodeId peer)>;

  /// Returns when all are joined. Throws setup_error, which names the node that did not come.
  explicit Mesh(MeshOptions options);
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  /// Closes: without a farewell before, the others take this node for dead.
  ~Mesh();

  /// Begins to hand over what comes, on a thread of the mesh.
  void start(Receive receive, Lost lost);
  /// Never blocks: what the connection does not take now, the mesh's thread sends. What is sent to a node that has
  /// ended is dropped.
  void send(NodeId to, Kind kind, std::string_view body);
  /// Until all nodes have called it as often as this one, or have died; `idle` is called now and then meanwhile, if
  /// there is one.
  void meet(const std::function<void()>& idle = {});
  void say_farewell();
  /// Nothing is handed over any more.
  void stop();

  [[nodiscard]] bool lost(NodeId node) const { return peers_[node].lost.load(std::memory_order_acquire); }
  [[nodiscard]] bool any_lost() const { return any_lost_.load(std::memory_order_acquire); }
  [[nodiscard]] NodeId node() const { return options_.node; }
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(options_.hosts.size()); }
  /// "node 2 (10.0.0.3:18602)".
  [[nodiscard]] std::string name(NodeId node) const;

 private:
  struct Peer {
    int socket = -1;
    std::mutex sending;
    std::string unsent;    ///< what the connection has not taken yet
    std::string received;  ///< not yet a whole message
    std::uint64_t meetings = 0;
    bool ended = false;  ///< has said farewell
    std::atomic<bool> lost = false;
  };

  void join();
  void connect_to(NodeId node, std::int64_t deadline);
  void accept_others(std::int64_t deadline);
  /// Who is at the other end of a fresh connection, and do both belong together?
  NodeId greet(int socket, std::int64_t deadline) const;
  void serve();
  /// False: the connection has ended.
  bool read_from(NodeId node);
  void send_rest(Peer& peer);
  void ring() const;
  void take(NodeId from, Kind kind, std::string body);
  void close_all();

  MeshOptions options_;
  std::vector<Peer> peers_;
  std::atomic<bool> any_lost_ = false;
  int listener_ = -1;
  int bell_ = -1;  ///< an event descriptor: the thread looks again
  std::atomic<bool> stopped_ = false;
  Receive receive_;
  Lost lost_;
  std::mutex mutex_;  ///< meetings
  std::condition_variable met_;
  std::uint64_t meetings_ = 0;
  std::thread thread_;
};

}  // namespace loco::process
