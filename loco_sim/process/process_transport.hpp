// What nodes that are processes of the operating system have in common on any network: threads of the system, the
// machine's own memory, flags that are atomics, a clock, set-up messages over TCP (mesh.hpp).
//
// Threads: LOCO code runs on threads of the system. Loads and stores are the machine's own, with acquire and release
// semantics, i.e. x86-TSO. Network memory is mapped and registered in large pieces; an address is a pointer.
//
// Waiting: the first turns of a polling loop cost a few instructions each. Then the thread marks itself as sleeping, so
// that threads that change a flag ring its bell, an event descriptor. In each turn it checks that descriptor and rests
// in the way of its network. Where hardware writes to memory, that is a short turn that polls a completion queue; under
// `loco-sim exec` it waits in simulated time until a NIC has written, a completion has arrived, or the bell has rung.
// Where the network has a descriptor for everything that arrives, the thread sleeps until it or the bell is readable.
//
// Operations: a network has one function for all of them (post), and one for what has come of them (look); what cannot
// be posted, or has ended without the network's saying so, is told here and comes out of the same poll().
//
// Errors: a program that throws ends its process, and the others see its connections close. What one of its threads
// throws comes out of run().
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/process/mesh.hpp"

namespace loco::process {

/// A word of network memory, which other threads and NICs change, too.
using Word = std::atomic_ref<std::uint64_t>;
[[nodiscard]] inline Word word(Address address) {
  return Word(*reinterpret_cast<std::uint64_t*>(address));  // NOLINT(performance-no-int-to-ptr): it is a pointer
}

struct Options {
  std::vector<HostAddress> hosts;
  NodeId node = 0;
  std::int64_t patience_ms = 30'000;  ///< how long to wait for the others to join
  /// How often nodes check that the others are alive. 0: never; then only nodes that operate on a dead node notice it.
  std::int64_t keep_alive_ms = 100;
  std::uint32_t send_queue_entries = 128;  ///< for each thread and peer
};

class ProcessTransport : public Transport {
 public:
  ~ProcessTransport() override;

  [[nodiscard]] NodeId my_node() const final { return mesh_.node(); }
  [[nodiscard]] std::uint32_t num_nodes() const final { return mesh_.nodes(); }
  [[nodiscard]] std::uint32_t my_thread() const final;
  void spawn(std::string name, std::function<void()> body, bool service) final;
  [[nodiscard]] std::int64_t now_ps() const final;
  void compute(std::int64_t ps) final;
  void pause() final;
  void wake_all() final { ring(); }

  Region allocate(std::uint64_t size) final;
  /// Limited, because registered memory is locked, and processes may lock only little (ulimit -l).
  [[nodiscard]] std::uint64_t registered_at_once() const final { return std::uint64_t{16} << 20U; }
  std::uint64_t load(Address address) final;
  void store(Address address, std::uint64_t value) final;
  std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) final;
  void memory_fence() final { std::atomic_thread_fence(std::memory_order_seq_cst); }

  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) final;
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) final;
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add, OperationTag tag) final;
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, OperationTag tag) final;
  void remote_fence(NodeId node) final;
  std::size_t poll(std::span<Completion> out) final;

  Flag make_flag(std::uint64_t initial) final;
  void release_flag(Flag flag) final;
  std::uint64_t flag_load(Flag flag) final { return this->flag(flag).load(); }
  std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) final;
  std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) final;
  std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) final;
  bool flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) final;

  void send_control(NodeId to, std::string body) final;
  std::optional<ControlMessage> receive_control() final;

  [[nodiscard]] std::int64_t keep_alive_ps() const final { return options_.keep_alive_ms * 1'000'000'000; }
  [[nodiscard]] bool may_give_up_peers() const final { return true; }
  [[nodiscard]] bool has_ended(NodeId node) const final { return node != my_node() && mesh_.lost(node); }
  [[nodiscard]] bool any_ended() const final { return mesh_.any_lost(); }

  /// Runs a program on this node, on the calling thread. Returns when it and all threads that it has spawned have
  /// ended, and those of the other nodes as well. Throws what the program threw. To call once.
  void run(const std::function<void(Transport&)>& program);
  /// "node 2 (10.0.0.3:18602)".
  [[nodiscard]] std::string node_name(NodeId node) const { return mesh_.name(node); }

 protected:
  /// Joins the others. `network`: the name of the network that they use.
  ProcessTransport(Options options, std::string network);

  struct Registered {
    std::uint64_t local_key = 0;
    std::uint32_t remote_key = 0;
    void* handle = nullptr;  ///< a local descriptor, if the network needs one
  };
  /// Registers memory with the network. Throws std::runtime_error.
  virtual Registered register_memory(void* memory, std::uint64_t size) = 0;
  /// An operation of the calling thread.
  struct Request {
    Operation operation = Operation::put;
    Address local = 0;
    const Region& remote;
    std::uint64_t offset = 0;  ///< in `remote`
    std::uint64_t size = kWord;
    OperationTag tag{};
    std::uint64_t operand = 0;  ///< of an atomic: what is added, or written
    std::uint64_t compare = 0;  ///< of a compare-and-swap: with what
    bool fence = false;         ///< behind the thread's gets and atomics towards that node
  };
  virtual void post(const Request& request) = 0;
  /// Completions that the network has now; with none, it may have told some meanwhile.
  virtual std::size_t look(std::span<Completion> out) = 0;
  /// Comes out of poll().
  void tell(const Completion& completion);
  /// What has been told.
  std::size_t take_told(std::span<Completion> out);
  /// A turn of waiting: checks what the network needs checked besides the completion queue.
  virtual void idle() = 0;
  /// The same for a thread that is marked as sleeping and has checked its condition since. Any change makes `bell`
  /// readable. May block until then if news from the network end the wait as well; returns by itself after a while.
  /// `polls`: the thread has polled for completions.
  virtual void rest(int bell, bool polls);
  /// Receives a message of another node's transport, on the mesh's thread.
  virtual void on_wire(NodeId from, const std::string& body) = 0;
  /// A node has died: operations in flight to it fail, and poll() reports it once (kEndedToken). Called on the mesh's
  /// thread.
  virtual void on_lost(NodeId node) = 0;
  /// To call once when the derived class is complete: messages arrive from now on.
  void start();
  /// No functions above are called after this. For destructors.
  void stop();

  [[nodiscard]] const Registered& registered(Address address) const;
  [[nodiscard]] bool is_registered(Address address, std::uint64_t size) const;
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Mesh& mesh() { return mesh_; }
  /// Wakes the sleeping threads.
  void ring();
  /// The calling thread has done something, so its next wait begins with short turns.
  static void acts();
  /// The calling thread polls for completions itself.
  static void polls();
  /// True if the thread of that index has ended.
  [[nodiscard]] bool thread_ended(std::uint32_t thread) const;
  /// Ends a call of a thread whose program has ended for another reason.
  void check_closing() const;

  static constexpr std::uint32_t kThreadsMax = 256;

 private:
  struct Thread;
  struct Piece {
    Address base = 0;
    std::uint64_t size = 0;
    Registered keys{};
  };
  static constexpr std::uint32_t kPiecesMax = 4096, kFlagsEach = 4096, kFlagPiecesMax = 4096;
  using FlagPiece = std::array<std::atomic<std::uint64_t>, kFlagsEach>;

  [[nodiscard]] std::atomic<std::uint64_t>& flag(Flag flag) const {
    return (*flags_[flag / kFlagsEach].load(std::memory_order_acquire))[flag % kFlagsEach];
  }
  Thread& adopt();
  void begin(Request request);
  void note_failure(std::exception_ptr error);
  void join_threads();

  Options options_;
  Mesh mesh_;
  std::int64_t began_ns_ = 0;

  std::mutex memory_mutex_;  ///< for threads that add memory
  std::array<Piece, kPiecesMax> pieces_;
  std::atomic<std::uint32_t> pieces_made_ = 0;

  std::mutex flags_mutex_;  ///< for threads that add flags
  std::array<std::atomic<FlagPiece*>, kFlagPiecesMax> flags_{};
  Flag flags_made_ = 0;
  std::vector<Flag> free_flags_;

  mutable std::mutex threads_mutex_;
  std::condition_variable program_ended_;
  std::array<std::atomic<Thread*>, kThreadsMax> threads_{};
  std::atomic<std::uint32_t> threads_made_ = 0;
  std::atomic<std::uint32_t> sleepers_ = 0;
  std::uint32_t programs_ = 0;  ///< threads that keep the run alive, besides the calling one
  std::exception_ptr failure_;
  std::atomic<bool> closing_ = false;

  std::mutex told_mutex_;
  std::deque<Completion> told_;
  std::atomic<std::size_t> told_size_ = 0;

  std::mutex inbox_mutex_;
  std::deque<ControlMessage> inbox_;
  std::atomic<std::size_t> inbox_size_ = 0;
};

}  // namespace loco::process
