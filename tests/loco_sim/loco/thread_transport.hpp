// A transport without a network: nodes in one process, threads are std::threads, every operation takes effect at once
// under one lock, so memory is sequentially consistent. It shows that LOCO needs nothing of the simulator, and that
// its own state stands real concurrency. A node's threads that all wait for something that cannot come are stopped
// with Stuck.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco::test {

class Stuck : public std::runtime_error {
 public:
  Stuck() : std::runtime_error("every thread waits") {}
};

class ThreadTransport;

class ThreadCluster {
 public:
  explicit ThreadCluster(std::uint32_t nodes);
  ~ThreadCluster();

  /// Runs a program on every node; returns when all have ended; throws what the first one threw.
  void run(const std::function<void(Transport&)>& program);

  /// Calls seen by begin_call, e.g. "n0 bal.barrier(bar) > sv.bcast(bar/sst/ov0) -> 1 2", nesting shown by indentation.
  /// In order for each thread; `thread` as node * 100 + thread.
  [[nodiscard]] std::vector<std::string> calls(std::uint32_t thread) const;

  /// Messages that nodes have sent each other to set up channels whose names begin so.
  [[nodiscard]] std::uint64_t control_messages(std::string_view prefix) const;

 private:
  friend class ThreadTransport;

  void start(ThreadTransport& node, std::string name, std::function<void()> body, bool service);
  void changed();  // under mutex_

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t version_ = 0;
  std::uint32_t live_ = 0;
  std::uint32_t live_programs_ = 0;
  std::uint32_t waiting_ = 0;                              ///< threads that wait for version_ to move on
  std::map<std::string, std::uint64_t> control_messages_;  ///< by channel
  bool stuck_ = false;
  bool closing_ = false;
  std::exception_ptr failure_;
  std::vector<std::unique_ptr<ThreadTransport>> nodes_;
  std::deque<std::thread> threads_;
  std::vector<std::vector<std::string>> calls_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(ThreadCluster& cluster, NodeId node) : cluster_(cluster), node_(node) {}

  [[nodiscard]] NodeId my_node() const override { return node_; }
  [[nodiscard]] std::uint32_t num_nodes() const override;
  [[nodiscard]] std::uint32_t my_thread() const override;
  void spawn(std::string name, std::function<void()> body, bool service) override;
  [[nodiscard]] std::int64_t now_ps() const override { return 0; }
  void compute(std::int64_t) override { std::this_thread::yield(); }

  Region allocate(std::uint64_t size) override;
  std::uint64_t load(Address address) override;
  void store(Address address, std::uint64_t value) override;
  std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) override;
  void memory_fence() override {}
  void pause() override;
  void wake_all() override;

  Flag make_flag(std::uint64_t initial) override;
  std::uint64_t flag_load(Flag flag) override;
  std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) override;
  bool flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) override;

  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                 OperationTag tag) override;
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, OperationTag tag) override;
  void remote_fence(NodeId) override {}
  std::size_t poll(std::span<Completion> out) override;

  void disconnect(NodeId node) override;
  [[nodiscard]] bool disconnected(NodeId) override { return true; }
  void connect(NodeId node, std::uint32_t number) override;

  void send_control(NodeId to, std::string body) override;
  std::optional<ControlMessage> receive_control() override;

  void begin_call(const CallInfo& call) override;
  void end_call(std::uint64_t result, std::uint32_t lane) override;
  void abandon_call(std::uint32_t lane) override { end_call(0, lane); }
  void note_waited(std::uint64_t work_id) override;

 private:
  friend class ThreadCluster;

  std::uint64_t& word(Address address);
  template <typename Change>
  void operate(Operation operation, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag,
               Change change);
  template <typename Update>
  std::uint64_t update_flag(Flag flag, Update update);
  void note(const std::string& text);

  ThreadCluster& cluster_;
  NodeId node_;
  std::uint32_t threads_ = 0;
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::uint64_t* memory) const { ::munmap(memory, bytes); }
  };
  /// Of each region; mapped, so that untouched pages take no memory, and a sanitizer's shadow of them no time.
  std::vector<std::unique_ptr<std::uint64_t[], Unmap>> memory_;
  std::vector<Region> regions_;  ///< by address
  std::deque<std::uint64_t> flags_;
  struct Changes {
    std::uint32_t present = 0, ended = 0;  ///< numbers of connections: the present one; all below have ended
  };
  std::map<NodeId, Changes> changes_;
  std::deque<Completion> completions_;
  std::deque<ControlMessage> inbox_;
};

}  // namespace loco::test
