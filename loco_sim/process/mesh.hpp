// TCP connections between all processes of a run: how they find each other, set-up messages, and which have ended.
//
// Node i listens at its address in the host list, connects to the nodes before it and accepts connections from those
// after it. A thread of the mesh reads messages and hands them over. If a connection closes without a farewell, that
// process has died; the operating system closes the connection whatever ended the process. Nothing here is timed,
// because LOCO's data path does not use it.
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
  wire,      ///< of the transport: queue pairs, endpoints
  here,      ///< this node has reached the next meeting
  farewell,  ///< this node ends normally, and nothing follows
};

struct MeshOptions {
  std::vector<HostAddress> hosts;
  NodeId node = 0;
  std::string network = {};           ///< the network that they use; must be the same for all
  std::int64_t patience_ms = 30'000;  ///< how long to wait for the others to join
};

class Mesh {
 public:
  using Receive = std::function<void(NodeId from, Kind kind, std::string body)>;  ///< for control and wire
  using Lost = std::function<void(NodeId peer)>;

  /// Returns when all have joined. Throws setup_error, which names the missing node.
  explicit Mesh(MeshOptions options);
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  /// Closes the connections. Without an earlier farewell the others take this node for dead.
  ~Mesh();

  /// Starts handing over messages, on a thread of the mesh.
  void start(Receive receive, Lost lost);
  /// Never blocks: the mesh's thread sends what the connection does not take now. Messages to a node that has ended are
  /// dropped.
  void send(NodeId to, Kind kind, std::string_view body);
  /// Waits until every other node has called it as often as this one, or has died. Meanwhile calls `idle` now and then,
  /// if there is one.
  void meet(const std::function<void()>& idle = {});
  void say_farewell();
  /// Stops handing over messages.
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
    std::string unsent;    ///< not yet taken by the connection
    std::string received;  ///< an incomplete message
    std::uint64_t meetings = 0;
    bool ended = false;  ///< it has said farewell
    std::atomic<bool> lost = false;
  };

  void join();
  void connect_to(NodeId node, std::int64_t deadline);
  void accept_others(std::int64_t deadline);
  /// Exchanges greetings on a new connection, checks that both ends belong together, and returns the other node.
  NodeId greet(int socket, std::int64_t deadline) const;
  void serve();
  /// Returns false if the connection has ended.
  bool read_from(NodeId node);
  void send_rest(Peer& peer);
  void ring() const;
  void take(NodeId from, Kind kind, std::string body);
  void close_all();

  MeshOptions options_;
  std::vector<Peer> peers_;
  std::atomic<bool> any_lost_ = false;
  int listener_ = -1;
  int bell_ = -1;  ///< an event descriptor that wakes the thread
  std::atomic<bool> stopped_ = false;
  Receive receive_;
  Lost lost_;
  std::mutex mutex_;  ///< for meetings
  std::condition_variable met_;
  std::uint64_t meetings_ = 0;
  std::thread thread_;
};

}  // namespace loco::process
