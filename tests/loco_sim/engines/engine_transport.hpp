// A transport over real threads that orders no more than verbs do: README.md. Programs' errors and the end of all
// programs stop what still waits.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "tests/loco_sim/engines/pipe.hpp"
#include "tests/loco_sim/engines/words.hpp"

namespace loco::test {

class EngineTransport;

class EngineCluster {
 public:
  explicit EngineCluster(std::uint32_t nodes);
  ~EngineCluster();

  /// Runs a program on every node, once; returns when all have ended; throws what the first one threw. EngineTransport
  /// is what the program gets.
  void run(const std::function<void(EngineTransport&)>& program);

 private:
  friend class EngineTransport;

  void start(EngineTransport& node, std::function<void()> body, bool service);
  void close();
  void join_all();

  std::mutex mutex_;  ///< threads and how they ended
  std::deque<std::thread> threads_;
  std::uint32_t live_programs_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> at_rest_ = false;  ///< all threads of programs have ended: engines end
  std::vector<std::unique_ptr<EngineTransport>> nodes_;
};

class EngineTransport final : public Transport {
 public:
  EngineTransport(EngineCluster& cluster, NodeId node, std::uint32_t nodes);
  ~EngineTransport() override;

  [[nodiscard]] NodeId my_node() const override { return node_; }
  [[nodiscard]] std::uint32_t num_nodes() const override;
  [[nodiscard]] std::uint32_t my_thread() const override;
  void spawn(std::string name, std::function<void()> body, bool service) override;
  [[nodiscard]] std::int64_t now_ps() const override { return 0; }
  void compute(std::int64_t ps) override;
  void pause() override;
  void wake_all() override { bell_.ring(); }

  Region allocate(std::uint64_t size) override { return add_region(size, false); }
  /// Its words are ordinary memory under the thread sanitizer.
  Region allocate_plain(std::uint64_t size) { return add_region(size, true); }
  std::uint64_t load(Address address) override;
  void store(Address address, std::uint64_t value) override;
  /// Of plain regions nothing.
  std::uint64_t* direct(Address address, std::uint64_t size) override { return words_.shown(address, size); }
  std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) override;
  void memory_fence() override;

  Flag make_flag(std::uint64_t initial) override;
  std::uint64_t flag_load(Flag flag) override { return this->flag(flag).load(); }
  std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) override;

  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                 OperationTag tag) override;
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, OperationTag tag) override;
  void remote_fence(NodeId node) override;
  std::size_t poll(std::span<Completion> out) override;

  void disconnect(NodeId node) override;
  [[nodiscard]] bool disconnected(NodeId node) override;
  void connect(NodeId node, std::uint32_t number) override;

  void send_control(NodeId to, std::string body) override;
  std::optional<ControlMessage> receive_control() override;

 private:
  friend class EngineCluster;

  struct Request {
    Operation operation = Operation::put;
    bool fence = false;  ///< nothing but a fence towards remote.node
    Address local = 0;
    Region remote = {};  ///< from the first byte of the operation on
    std::uint64_t size = 0;
    std::uint64_t operand = 0, desired = 0;
    OperationTag tag = {};
    std::vector<std::uint64_t> words = {};  ///< of a put whose source has been read
    bool told = false;                      ///< that it is complete
  };
  /// Why the source of a put is not read before what is in front of it has been placed.
  struct Towards {
    bool fenced = false;          ///< its thread has fenced once
    bool told_with_next = false;  ///< its completion stands for that of a get or atomic before it
  };
  /// A thread's queue pairs.
  struct Queue {
    Pipe<Request> posted;
    std::vector<Towards> towards;  ///< by node
  };
  /// The operations from this node to one other, or to itself.
  struct Path {
    Pipe<Request> sent;
    Pipe<Completion> done;
    Bell bell;
    std::atomic<std::uint32_t> present = 0;   ///< number of the connection
    std::atomic<std::uint32_t> ended = 0;     ///< connections with smaller numbers have ended
    std::atomic<std::uint64_t> posted = 0;    ///< operations
    std::atomic<std::uint64_t> finished = 0;  ///< of these
    std::mutex placing;                       ///< held while one is done
  };
  static constexpr std::size_t kThreads = 64, kFlags = 1U << 16U;

  Region add_region(std::uint64_t size, bool plain);
  [[nodiscard]] std::atomic<std::uint64_t>& flag(Flag flag);
  void post(Request request);
  void start_engines();
  void send_all();
  bool send(Queue& queue);
  void place_all(NodeId peer, std::uint64_t seed);
  void place(Path& path, Request& request, std::mt19937_64& draw);
  void fail(Path& path, const Request& request, Status status);
  void tell(Pipe<Completion>& pipe, const Request& request, Status status);
  void read_source(Request& request);

  EngineCluster& cluster_;
  NodeId node_;
  Bell bell_;         ///< something of this node has changed
  Bell sender_bell_;  ///< something has been posted
  std::atomic<std::uint32_t> threads_ = 0;
  std::array<Queue, kThreads> queues_;  ///< by thread
  std::deque<Path> paths_;              ///< by node
  Pipe<Completion> sent_;               ///< puts whose source has been read
  std::vector<std::thread> engines_;

  std::mutex memory_mutex_;  ///< who adds
  Words words_;
  std::uint32_t flags_made_ = 0;
  std::unique_ptr<std::array<std::atomic<std::uint64_t>, kFlags>> flags_;

  std::mutex poll_mutex_;  ///< who polls
  std::mutex inbox_mutex_;
  std::deque<ControlMessage> inbox_;
};

}  // namespace loco::test
