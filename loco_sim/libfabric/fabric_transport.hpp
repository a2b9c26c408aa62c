// One node's Transport over libfabric: reliable datagram endpoints, one for each thread, FI_RMA and FI_ATOMIC.
//
// A thread's operations go out on its own endpoint to one of the peer's that only answers, so that what the provider
// promises about the order of one endpoint's operations is about the thread's. What LOCO asks for beyond that, the
// transport waits for before it posts (orders.hpp), with completions that say that a put is in memory
// (FI_DELIVERY_COMPLETE); where a provider has neither, lacks() says so, and LOCO refuses. Progress is manual in most
// providers: whoever waits makes it, also for what others do to this node's memory. Over sockets a thread that has
// nothing to do blocks until the provider's descriptor or its own bell is readable; who makes progress rings. Where a
// provider has no atomics, or none that can be relied on, the target's own process does them, asked by a message over
// TCP, if nobody but who holds the provider's lock reaches its memory for others: so they are atomic with each other.
// Keys of 64 bits and addresses from the start of a registration stay here: each side tells the other of its
// registrations when they are made, and a Region's key is their number.
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
  /// Throws setup_error, std::runtime_error. `provider`: such as "tcp;ofi_rxm"; empty: the first that serves.
  FabricTransport(process::Options options, const std::string& provider);
  ~FabricTransport() override;

  [[nodiscard]] std::string lacks(Capability what) const override;
  [[nodiscard]] bool settled(std::uint32_t thread, NodeId node) override;

  /// There are no timers: what is under way to a process that has died fails when this one hears that its connection
  /// has closed. So it is about when this process runs, and others where nodes share cores.
  [[nodiscard]] std::int64_t retries_ps() const override { return 100'000'000'000; }

  void disconnect(NodeId node) override;
  [[nodiscard]] bool disconnected(NodeId node) override;
  void connect(NodeId node, std::uint32_t number) override;

 private:
  struct PerThread {
    Owned<fid_ep> endpoint;
    std::vector<std::unique_ptr<UnderWay>> under_way;  ///< by node
  };
  /// A registration of a peer, as the provider wants it.
  struct Remote {
    std::uint64_t key = 0;
    Address base = 0;
  };
  struct Changes {
    std::atomic<std::uint32_t> present = 0, ended = 0;  ///< numbers of connections, see Connections
  };
  /// Where an operation goes.
  struct Target {
    fi_addr_t node = FI_ADDR_UNSPEC;
    std::uint64_t address = 0;
    std::uint64_t key = 0;
    Address there = 0;  ///< as its own process has it
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
  /// On this node itself, where nobody but who holds the provider's lock reaches memory for others: no provider is
  /// needed, and what is done so is atomic with what peers do. False: it has to go through the provider.
  bool done_here(const Request& request);
  /// By the process at the other end. Always 0.
  std::int64_t ask_for_atomic(const Target& to, Record& record, NodeId node, Address local);
  void do_atomic_for(NodeId from, const std::string& body);
  void take_answer(const std::string& body);
  void wait_for_order(PerThread& thread, const Request& request);
  [[nodiscard]] Target target(const Region& remote, std::uint64_t offset) const;
  /// A turn of a wait within a call.
  void wait();
  /// Lets the provider work, if there may be something to do. False: nothing has come of it.
  bool progress();
  /// The same, by who holds the provider's lock; true: completions have been taken.
  bool take_finished();
  bool take_failed();
  void finish(Record& record, Status status);
  /// All that is under way towards a node that has died comes back as failed.
  void give_up(NodeId node);

  Fabric fabric_;
  Owned<fid_ep> answers_;  ///< what peers operate on; nothing is sent from it
  Orders orders_;
  Operations operations_;
  std::mutex regions_mutex_;
  std::deque<Owned<fid_mr>> regions_;
  std::array<std::unique_ptr<PerThread>, kThreadsMax> per_thread_;
  std::mutex provider_mutex_;              ///< one thread at a time is in the provider
  std::int64_t progressed_at_ = 0;         ///< ns
  std::atomic<bool> owes_a_turn_ = false;  ///< there was more to do when it was left
  std::mutex asked_mutex_;
  std::map<std::uint64_t, Record*> asked_;  ///< atomics by message, by number
  std::uint64_t asked_count_ = 0;
  mutable std::shared_mutex remotes_mutex_;
  std::vector<std::vector<Remote>> remotes_;  ///< by node and key
  std::vector<std::vector<char>> names_;      ///< of the endpoints that answer
  std::vector<fi_addr_t> addresses_;
  std::vector<Changes> changes_;
};

}  // namespace loco::libfabric
