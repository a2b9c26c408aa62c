// One node's transport on simulated hardware: LOCO's blocking operations as steps of the machine's threads.
//
// Each thread has a queue pair for each peer that it operates on, made at first use. It connects threads of the same
// index, and both use their end. When a connection is replaced (Connections), its queue pairs stay behind in the error
// state, and the new one gets its own. All share the node's completion queue. Set-up (memory, queue pairs, messages)
// takes no simulated time. local_time.hpp says when accesses happen.
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
#include "loco_sim/transport/peer_table.hpp"

namespace loco {

/// The operation that a work request is for LOCO.
[[nodiscard]] Operation operation_of(nic::Opcode opcode);

using hosts::Access;
using hosts::Look;

class VirtualTransport final : public Transport {
 public:
  VirtualTransport(ClusterContext& cluster, NodeId node);

  [[nodiscard]] NodeId my_node() const override { return node_; }
  [[nodiscard]] std::uint32_t num_nodes() const override { return cluster_.config.nodes; }
  [[nodiscard]] std::uint32_t my_thread() const override;
  /// Threads spawned so far, which is the index of the next one. Set-up.
  [[nodiscard]] std::uint32_t threads() const { return static_cast<std::uint32_t>(threads_.size()); }
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
  /// Makes the queue pairs that the thread with this index would make at first use, so that all parts of a machine have
  /// the same ones. Set-up.
  void connect_ahead(std::uint32_t thread, NodeId peer, std::uint8_t service);
  // SENDs, which Transport lacks, over queue pairs of a service with an inbox.
  void send(Address local, NodeId to, std::uint64_t size, OperationTag tag);
  /// Posts receive requests, all into the same memory, for the SENDs that may come before the inbox is emptied. Set-up.
  void open_inbox(std::uint8_t number, const Region& into);
  /// Takes the received SENDs, reposts as many receives, and returns their number. For a polling loop.
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

  /// For a report of failures.
  [[nodiscard]] nic::CqId completion_queue() const { return completion_queue_; }

 private:
  hosts::Thread& current() { return cluster_.threads.current(); }
  nic::Cpu& cpu() { return cluster_.threads.cpu(); }
  [[nodiscard]] const nic::HardwareProfile& profile() const { return cluster_.system.profile(node_); }

  Region registered(std::uint64_t size, nic::RegionKind kind);
  /// Throws ownership_error for an address in the NIC's memory, which CPUs cannot access.
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
    nic::QpId qp = nic::kNone;  ///< kNone: not connected
    std::uint32_t silent = 0;   ///< work requests posted since the last one with a CQE
    bool reset = false;         ///< its connection has ended and nothing of it is left
  };
  /// Changes of the connections with a peer; most peers have none.
  struct Changes {
    std::uint32_t present = 0;  ///< number of the present connection
    std::uint32_t ended = 0;    ///< connections with smaller numbers have ended
  };
  [[nodiscard]] Changes changes_with(NodeId peer) const;
  /// The queue pair of a thread over a connection, made at first use. It connects threads of the same index.
  nic::QpId queue_pair(const hosts::Thread& thread, Towards to);
  nic::QpId connect_threads(std::uint32_t index, nic::ThreadId id, Towards to);
  /// Queue pairs are created at the thread's own time, so that their numbers follow the order of time.
  [[nodiscard]] bool is_connected(const hosts::Thread& thread, Towards to) const;
  End& end_of(std::uint32_t thread, Towards to);
  /// True if the completions of everything posted there have been polled.
  [[nodiscard]] bool has_come_back(const End& end) const;
  /// All threads' ends of connections with a peer that have ended.
  [[nodiscard]] std::vector<End*> ended_with(NodeId peer);
  /// Number of the connection that a queue pair belongs to.
  [[nodiscard]] std::uint32_t connection_of(nic::QpId qp) const;
  nic::QpId create_end(std::uint32_t thread, std::uint8_t service);
  /// A thread of this node has been created: gives it the queue pairs of its index.
  void adopt(nic::ThreadId id);
  /// True if a new thread may reuse that index and its queue pairs.
  [[nodiscard]] bool is_free(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t local_key(Address address) const;
  void post(nic::Wqe wqe, const Region& remote, OperationTag tag);
  /// Posts the calling thread's list with one doorbell. The tag belongs to the last request.
  void post_list(OperationTag tag);
  /// Records the calling thread's next operation in the trace.
  void record(nic::Wqe& wqe, Towards to, std::uint64_t work_id);
  void record_send(nic::Wqe& wqe, nic::QpId qp, std::uint64_t work_id);
  /// Waits until the queue pair's send queue has room for `count` work requests.
  void make_send_room(hosts::Thread& thread, nic::QpId qp, std::size_t count);
  /// Most successive work requests of a thread without a CQE: half the send queue.
  [[nodiscard]] std::uint32_t silent_max() const { return std::max(1U, cluster_.config.send_queue_entries / 2); }

  ClusterContext& cluster_;
  NodeId node_;
  nic::CqId completion_queue_;
  std::vector<nic::ThreadId> threads_;  ///< this node's, by index
  std::vector<PeerTable<End>> ends_;    ///< present connections, by thread index
  std::map<NodeId, Changes> changes_;
  /// Ends of other connections and of other services, by thread index.
  std::map<std::pair<std::uint32_t, Towards>, End> other_ends_;
  std::map<nic::QpId, std::uint32_t> numbers_;   ///< connection numbers by queue pair; absent: 0
  std::map<Address, nic::MemoryRegion> memory_;  ///< registrations by first address
  Address device_low_ = 0;                       ///< start of this node's registered NIC memory
  std::uint64_t device_span_ = 0;                ///< its length; 0: none is registered
  std::vector<Flag> free_flags_;
  std::deque<ControlMessage> inbox_;
  struct Inbox {
    nic::CqId completions = 0;
    nic::SrqId receives = 0;
    Region into{};
  };
  std::map<std::uint8_t, Inbox> inboxes_;  ///< by Service::inbox
  std::uint32_t waiting_for_room_ = 0;     ///< number of threads with a full send queue
};

}  // namespace loco
