// One node's Transport over libfabric: reliable datagram endpoints, one for each thread, FI_RMA and FI_ATOMIC.
//
// A thread's operations go from its own endpoint to one of the peer's that only answers, so the provider's guarantees
// about the order of an endpoint's operations hold for the thread's. Where LOCO needs more order than that, the
// transport waits before it posts (orders.hpp), with completions that mean that a put is in memory
// (FI_DELIVERY_COMPLETE). If a provider has neither, lacks() says so, and LOCO refuses to run.
//
// Progress is manual in most providers: threads that wait make it, also for operations of others on this node's memory.
// Over sockets, a thread that has nothing to do blocks until the provider's descriptor or its own bell is readable;
// threads that make progress ring the bells.
//
// If a provider has no reliable atomics, the target's process executes them, on request by a TCP message. That requires
// that only the holder of the provider's lock accesses its memory for others, so these atomics are atomic with respect
// to each other.
//
// 64-bit keys and the addresses at which registrations start stay here: each side tells the other about its
// registrations when they are made, and a Region's key is the number of its registration.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "loco_sim/libfabric/fabric.hpp"
#include "loco_sim/libfabric/operations.hpp"
#include "loco_sim/libfabric/orders.hpp"
#include "loco_sim/process/process_transport.hpp"

namespace loco::libfabric {

class FabricTransport final : public process::ProcessTransport {
 public:
  /// Throws setup_error, std::runtime_error. `provider`: such as "tcp;ofi_rxm"; empty: the first suitable one.
  FabricTransport(process::Options options, const std::string& provider);
  ~FabricTransport() override;

  [[nodiscard]] std::string lacks(Capability what) const override;
  [[nodiscard]] bool settled(std::uint32_t thread, NodeId node) override;

  /// There are no timers: operations to a process that has died fail when this one learns that its connection has
  /// closed. The time therefore depends on when this process runs, and where nodes share cores on the others.
  [[nodiscard]] std::int64_t retries_ps() const override { return 100'000'000'000; }

  void disconnect(NodeId node) override;
  [[nodiscard]] bool disconnected(NodeId node) override;
  void connect(NodeId node, std::uint32_t number) override;

 private:
  struct PerThread {
    Owned<fid_ep> endpoint;
    std::vector<std::unique_ptr<UnderWay>> under_way;  ///< by node
  };
  /// A registration of a peer, in the provider's terms.
  struct Remote {
    std::uint64_t key = 0;
    Address base = 0;
  };
  struct Changes {
    std::atomic<std::uint32_t> present = 0, ended = 0;  ///< connection numbers, see Connections
  };
  /// The target of an operation.
  struct Target {
    fi_addr_t node = FI_ADDR_UNSPEC;
    std::uint64_t address = 0;
    std::uint64_t key = 0;
    Address there = 0;  ///< in its own process's terms
  };

  Registered register_memory(void* memory, std::uint64_t size) override;
  void post(const Request& request) override;
  std::size_t look(std::span<Completion> out) override;
  void idle() override;
  void rest(int bell, bool polls) override;
  void on_wire(NodeId from, const std::string& body) override;
  void on_lost(NodeId node) override;

  void meet_the_others();
  PerThread& mine();
  /// Gives it to the provider.
  [[nodiscard]] std::int64_t give(const Request& request, fid_ep& endpoint, const Target& to, Record& record);
  [[nodiscard]] std::int64_t give_atomic(const Request& request, fid_ep& endpoint, const Target& to, Record& record);
  /// Executes the operation on this node itself, if only the holder of the provider's lock accesses memory for others.
  /// It needs no provider then, and is atomic with respect to operations of peers. Returns false if the provider is
  /// needed.
  bool done_here(const Request& request);
  /// Asks the target's process to execute it. Always returns 0.
  std::int64_t ask_for_atomic(const Target& to, Record& record, NodeId node, Address local);
  void do_atomic_for(NodeId from, const std::string& body);
  void take_answer(const std::string& body);
  void wait_for_order(PerThread& thread, const Request& request);
  [[nodiscard]] Target target(const Region& remote, std::uint64_t offset) const;
  /// One turn of a wait within a call.
  void wait();
  /// Lets the provider make progress if there may be something to do. Returns false if nothing happened.
  bool progress();
  /// The same, with the provider's lock held. Returns true if completions were taken.
  bool take_finished();
  bool take_failed();
  void finish(Record& record, Status status);
  /// Completes as failed everything in flight to a node that has died.
  void give_up(NodeId node);

  Fabric fabric_;
  Owned<fid_ep> answers_;  ///< target of peers' operations; never sends
  Orders orders_;
  Operations operations_;
  std::mutex regions_mutex_;
  std::deque<Owned<fid_mr>> regions_;
  std::array<std::unique_ptr<PerThread>, kThreadsMax> per_thread_;
  std::mutex provider_mutex_;              ///< only one thread at a time calls the provider
  std::int64_t progressed_at_ = 0;         ///< ns
  std::atomic<bool> owes_a_turn_ = false;  ///< more was to be done when the last call ended
  std::mutex asked_mutex_;
  std::map<std::uint64_t, Record*> asked_;  ///< by number, atomics requested by message
  std::uint64_t asked_count_ = 0;
  mutable std::shared_mutex remotes_mutex_;
  std::vector<std::vector<Remote>> remotes_;  ///< by node and key
  std::vector<std::vector<char>> names_;      ///< of the answering endpoints
  std::vector<fi_addr_t> addresses_;
  std::vector<Changes> changes_;
};

}  // namespace loco::libfabric
