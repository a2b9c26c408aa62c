// One node's transport on simulated hardware: LOCO's blocking operations as steps of the machine's threads.
//
// Each thread has a queue pair for each peer it operates on, made at first use: it connects threads of the same index,
// and both use their end. A connection that has ended and is followed by another one (Connections) leaves its queue
// pairs behind, in the error state; the new one has its own. All share the node's completion queue. Set-up (memory,
// queue pairs, messages) takes no simulated time. When accesses happen: local_time.hpp.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/cluster_context.hpp"

namespace loco {

/// What a work request is to LOCO.
[[nodiscard]] Operation operation_of(nic::Opcode opcode);

using hosts::Access;
using hosts::Look;

class VirtualTransport final : public Transport {
 public:
  VirtualTransport(ClusterContext& cluster, NodeId node);

  [[nodiscard]] NodeId my_node() const override { return node_; }
  [[nodiscard]] std::uint32_t num_nodes() const override { return cluster_.config.nodes; }
  [[nodiscard]] std::uint32_t my_thread() const override;
  void spawn(std::string name, std::function<void()> body, bool service) override;
  [[nodiscard]] std::int64_t now_ps() const override;
  void compute(std::int64_t ps) override;

  Region allocate(std::uint64_t size) override;
  Region allocate_on_device(std::uint64_t size) override;
  Region allocate_in(std::uint64_t size, const nic::RegionKind& kind);
  void clear(Address base, std::uint64_t size) override;
  [[nodiscard]] bool stored(Address base, std::uint64_t size) override;
  std::uint64_t load(Address address) override;
  void store(Address address, std::uint64_t value) override;
  std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) override;
  void memory_fence() override;
  void pause() override;
  void wake_all() override;
  void set_waits_for(std::function<std::string()> what) override;
  [[nodiscard]] std::int64_t keep_alive_ps() const override;
  [[nodiscard]] bool another_may_stop() const override;
  [[nodiscard]] bool may_give_up_peers() const override;
  [[nodiscard]] bool completions_lost() override { return cluster_.system.cq_overrun(completion_queue_); }
  [[nodiscard]] std::int64_t retries_ps() const override;

  Flag make_flag(std::uint64_t initial) override;
  void release_flag(Flag flag) override { free_flags_.push_back(flag); }
  std::uint64_t flag_load(Flag flag) override;
  std::uint64_t flag_peek(Flag flag) override;
  std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) override;
  bool flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) override;
  std::uint64_t flag_add_early(Flag flag, std::uint64_t value) override;

  [[nodiscard]] std::string lacks(Capability what) const override;
  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                 OperationTag tag) override;
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, OperationTag tag) override;
  void remote_fence(NodeId node) override;
  /// Makes the queue pairs that a thread of this node, by its index, would make at its first use of them: where parts
  /// of a machine are to have the same ones. Set-up.
  void connect_ahead(std::uint32_t thread, NodeId peer, std::uint8_t service);
  // SENDs, beside what Transport has: over queue pairs of a service with an inbox.
  void send(Address local, NodeId to, std::uint64_t size, OperationTag tag);
  /// Receive requests for as many SENDs as may come before somebody empties it, all into the same memory. Set-up.
  void open_inbox(std::uint8_t number, const Region& into);
  /// Takes what has come and has as many receives again; how many. For a polling loop.
  std::size_t empty_inbox(std::uint8_t number);
  [[nodiscard]] bool settled(std::uint32_t thread, NodeId node) override;
  std::size_t poll(std::span<Completion> out) override;

  void disconnect(NodeId node) override;
  [[nodiscard]] bool disconnected(NodeId node) override;
  void connect(NodeId node, std::uint32_t number) override;

  void send_control(NodeId to, std::string body) override;
  std::optional<ControlMessage> receive_control() override;
  std::optional<ControlMessage> take_control() override;

  void begin_call(const CallInfo& call) override;
  void end_call(std::uint64_t result, std::uint32_t lane) override;
  void abandon_call(std::uint32_t lane) override;
  void note_waited(std::uint64_t work_id) override;
  void object_begins(std::string_view name) override;
  void object_ends(std::string_view name) override;

  /// For a report of what had failed.
  [[nodiscard]] nic::CqId completion_queue() const { return completion_queue_; }

 private:
  hosts::Thread& current() { return cluster_.threads.current(); }
  nic::Cpu& cpu() { return cluster_.threads.cpu(); }
  [[nodiscard]] const nic::HardwareProfile& profile() const { return cluster_.system.profile(node_); }

  Region registered(std::uint64_t size, nic::RegionKind kind);
  /// Throws ownership_error for an address in the NIC's memory, where CPUs have no access.
  void require_host(Address address) const {
    if (address - device_low_ < device_span_) require_no_device(address);
  }
  void require_no_device(Address address) const;

  // --- virtual_connections.cpp
  struct Towards {
    NodeId peer = 0;
    std::uint32_t connection = 0;
    std::uint8_t service = 0;
    friend auto operator<=>(const Towards&, const Towards&) = default;
  };
  struct End {
    nic::QpId qp = nic::kNone;  ///< nic::kNone: not connected
    std::uint32_t silent = 0;   ///< work requests posted since the last one that asked for a CQE
    bool reset = false;         ///< of a connection that has ended: nothing of it is left
  };
  /// What has changed of the connections with a peer; mostly nothing has.
  struct Changes {
    std::uint32_t present = 0;  ///< number of the present one
    std::uint32_t ended = 0;    ///< those with smaller numbers have ended
  };
  [[nodiscard]] Changes changes_with(NodeId peer) const;
  /// The queue pair of a thread over a connection: it connects threads of the same index.
  nic::QpId queue_pair(const hosts::Thread& thread, Towards to);
  nic::QpId connect_threads(std::uint32_t index, nic::ThreadId id, Towards to);
  /// Queue pairs are made at their instant, so that they get their numbers in the order of time.
  [[nodiscard]] bool is_connected(const hosts::Thread& thread, Towards to) const;
  End& end_of(std::uint32_t thread, Towards to);
  /// Has everything posted there been polled?
  [[nodiscard]] bool has_come_back(const End& end) const;
  /// The ends of connections that have ended with a peer, of all threads.
  [[nodiscard]] std::vector<End*> ended_with(NodeId peer);
  /// Which of the connections with its peer a queue pair is of.
  [[nodiscard]] std::uint32_t connection_of(nic::QpId qp) const;
  nic::QpId create_end(std::uint32_t thread, std::uint8_t service);
  /// A thread of this node has been created: the queue pairs of its index are its own.
  void adopt(nic::ThreadId id);
  /// May a new thread take the place of that one: its index, its queue pairs?
  [[nodiscard]] bool is_free(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t local_key(Address address) const;
  void post(nic::Wqe wqe, const Region& remote, OperationTag tag);
  /// Posts what the calling thread has listed, with one doorbell. The tag is that of the last one.
  void post_list(OperationTag tag);
  /// The next operation of the calling thread, as the trace has it.
  void record(nic::Wqe& wqe, Towards to, std::uint64_t work_id);
  void record_send(nic::Wqe& wqe, nic::QpId qp, std::uint64_t work_id);
  /// Until the queue pair's send queue has room for that many.
  void make_send_room(hosts::Thread& thread, nic::QpId qp, std::size_t count);
  /// Work requests that a thread may leave without a CQE, one after the other: half the send queue.
  [[nodiscard]] std::uint32_t silent_max() const { return std::max(1U, cluster_.config.send_queue_entries / 2); }

  ClusterContext& cluster_;
  NodeId node_;
  nic::CqId completion_queue_;
  std::vector<nic::ThreadId> threads_;  ///< of this node, by index
  std::vector<std::vector<End>> ends_;  ///< of the present connections, by thread index and peer
  std::map<NodeId, Changes> changes_;
  /// Of connections that are not the present one, and of other services, by thread index.
  std::map<std::pair<std::uint32_t, Towards>, End> other_ends_;
  std::map<nic::QpId, std::uint32_t> numbers_;   ///< of the connections of queue pairs, those of the first apart
  std::map<Address, nic::MemoryRegion> memory_;  ///< registered, by first address
  Address device_low_ = 0;                       ///< of the first registration in the NIC's memory ...
  std::uint64_t device_span_ = 0;                ///< ... to the end of the last one; 0: there is none
  std::vector<Flag> free_flags_;
  std::deque<ControlMessage> inbox_;
  struct Inbox {
    nic::CqId completions = 0;
    nic::SrqId receives = 0;
    Region into{};
  };
  std::map<std::uint8_t, Inbox> inboxes_;  ///< by Service::inbox
  std::uint32_t waiting_for_room_ = 0;     ///< threads with a full send queue
};

}  // namespace loco
