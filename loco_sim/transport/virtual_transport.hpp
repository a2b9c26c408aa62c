// One node's transport on simulated hardware: LOCO's blocking operations as steps of the machine's threads.
//
// Each thread has a queue pair for each peer it operates on, made at first use: it connects threads of the same index,
// and both use their end. All share the node's completion queue. Set-up (memory, queue pairs, messages) takes no
// simulated time.
//
// When accesses happen. Under random schedules each access to something shared is a step of its own. Under the timed
// schedule a step has as many as have the same effect at its instant as at theirs:
// - A thread that only looks (loads, flags, polls that find nothing) looks at the beginning of its turn and pays at its
//   end, as a polling loop of the hardware model does.
// - A poll that finds something takes one entry, at the end of the poll: what follows from it needs no step of its own.
// - Stores and work requests are of the thread alone until they leave its store buffer: the thread makes them ahead of
//   the clock, the store buffer keeps them until they are due.
// - Whatever else changes something happens at its own instant.
// - A loop that has changed something goes on to peek at flags and at its completion queue, and mostly finds nothing:
//   these looks are made in the step of the change. When they lead to a pause, the thread is woken as if they had been
//   made when they were due; a completion queue with something in it waits for that instant.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/cluster.hpp"

namespace loco {

/// What a thread has looked at since its last pause: for the report of a deadlock.
struct Look {
  enum class What : std::uint8_t { word, flag, completions, control, send_queue };
  What what = What::word;
  std::uint64_t where = 0;
  std::uint64_t value = 0;
};

/// A report names this many of the things that a thread looked at last.
inline constexpr std::uint32_t kLooksKept = 8;

struct SimThread {
  NodeId node = 0;
  std::uint32_t index = 0;  ///< among the node's threads
  std::string name;
  bool service = false;
  bool ended = false;
  bool halted = false;  ///< its node has stopped
  std::function<void()> body;

  // When the thread is, by its own reckoning: the time of the step, plus `ahead`, plus `owed`.
  sim::Duration ahead;                     ///< from this step until the instant of its latest access, or turn of looks
  sim::Duration owed;                      ///< cost of that access, or of these looks, not yet spent
  std::uint32_t looks = 0;                 ///< since that instant
  bool acted = false;                      ///< its latest access is not a look
  bool polled = false;                     ///< it has looked at the completion queue since its last pause
  sim::Duration polling;                   ///< of this step's poll: spent before the step
  bool must_turn = false;                  ///< the watch set was lost: the next pause returns at once
  std::array<Look, kLooksKept> looked;     ///< a ring of the latest looks
  std::uint32_t looked_count = 0;          ///< since the last pause or action
  std::vector<CallInfo> calls;             ///< open library calls, outermost first
  std::function<std::string()> waits_for;  ///< says more than what it looked at; mostly empty
  std::vector<std::uint8_t> fence_next;    ///< by peer: its next work request carries the fence flag
  std::vector<nic::Wqe> list;              ///< not posted yet: another one follows at once (Tell::with_next)
  NodeId list_peer = 0;

  void note(const Look& look) { looked.at(looked_count++ % kLooksKept) = look; }
  /// The value seen by the latest look.
  void saw(std::uint64_t value) { looked.at((looked_count - 1) % kLooksKept).value = value; }
};

/// What a work request is to LOCO.
[[nodiscard]] Operation operation_of(nic::Opcode opcode);

class VirtualTransport final : public Transport {
 public:
  VirtualTransport(SimulatedCluster& cluster, NodeId node);

  [[nodiscard]] NodeId my_node() const override { return node_; }
  [[nodiscard]] std::uint32_t num_nodes() const override { return cluster_.config().nodes; }
  [[nodiscard]] std::uint32_t my_thread() const override;
  void spawn(std::string name, std::function<void()> body, bool service) override;
  [[nodiscard]] std::int64_t now_ps() const override;
  void compute(std::int64_t ps) override;

  Region allocate(std::uint64_t size) override;
  Region allocate_on_device(std::uint64_t size) override;
  std::uint64_t load(Address address) override;
  void store(Address address, std::uint64_t value) override;
  void load_bytes(Address address, std::span<std::byte> out) override;
  void store_bytes(Address address, std::span<const std::byte> in) override;
  std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) override;
  void memory_fence() override;
  void pause() override;
  void wake_all() override;
  void set_waits_for(std::function<std::string()> what) override;
  [[nodiscard]] std::int64_t keep_alive_ps() const override;
  [[nodiscard]] bool another_may_stop() const override;
  [[nodiscard]] std::int64_t retries_ps() const override;

  Flag make_flag(std::uint64_t initial) override;
  std::uint64_t flag_load(Flag flag) override;
  std::uint64_t flag_peek(Flag flag) override;
  std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) override;
  std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) override;
  std::uint64_t flag_add_early(Flag flag, std::uint64_t value) override;

  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override;
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                 OperationTag tag) override;
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, OperationTag tag) override;
  void remote_fence(NodeId node) override;
  std::size_t poll(std::span<Completion> out) override;

  void send_control(NodeId to, std::string body) override;
  std::optional<ControlMessage> receive_control() override;

  void begin_call(const CallInfo& call) override;
  void end_call(std::uint64_t result, std::uint32_t lane) override;
  void abandon_call(std::uint32_t lane) override;
  void note_waited(std::uint64_t work_id) override;
  void object_begins(std::string_view name) override;
  void object_ends(std::string_view name) override;

 private:
  friend class SimulatedCluster;
  friend class MessagePort;
  friend class MessageNetwork;

  /// Makes way for an access that only looks: ends the step if it needs one of its own. The thread it is made for.
  SimThread& look(Look::What what, std::uint64_t where);
  /// The same for what may be looked at before its instant.
  SimThread& look_ahead(Look::What what, std::uint64_t where);
  /// The same for a poll of a completion queue that has something in it: lets the time of the poll pass first.
  SimThread& look_after_poll();
  /// Ends the step and lets the instant come for which the thread has looked ahead; what it owes stays.
  void catch_up(SimThread& thread);
  /// The thread goes on at the instant until which its accesses have taken; the step does not end.
  static void run_ahead(SimThread& thread);
  /// Makes way for an access that changes something: lets its instant come. The thread it is made for.
  SimThread& act();
  /// The same for a store or a work request, which enters the store buffer `ahead` of its time instead.
  SimThread& act_ahead();
  /// Ends the step and lets all time pass that the thread is ahead and owes.
  void spend(SimThread& thread);
  std::uint64_t flag_value(SimThread& thread, Flag flag);
  nic::Cpu& cpu() { return *cluster_.cpu_; }
  [[nodiscard]] const nic::HardwareProfile& profile() const { return cluster_.config_.profile; }
  /// Waits until the store buffer is empty, or has room for one more entry.
  void drain(SimThread& thread);
  void make_room(SimThread& thread);

  Region registered(std::uint64_t size, nic::RegionKind kind);
  /// Throws ownership_error for an address in the NIC's memory, where CPUs have no access.
  void require_host(Address address) const {
    if (address - device_low_ < device_span_) require_no_device(address);
  }
  void require_no_device(Address address) const;

  model::CallId begin_operation(model::Method method, std::uint64_t argument = 0, std::uint64_t work_id = 0);
  void finish_operation(model::CallId call, std::uint64_t result);

  /// The queue pair of a thread for a peer: it connects threads of the same index.
  nic::QpId queue_pair(SimThread& thread, NodeId peer);
  /// Queue pairs are made at their instant, so that they get their numbers in the order of time.
  [[nodiscard]] bool is_connected(const SimThread& thread, NodeId peer) const;
  struct End {
    nic::QpId qp = nic::kNone;  ///< nic::kNone: not connected
    std::uint32_t silent = 0;   ///< work requests posted since the last one that asked for a CQE
  };
  End& end_of(std::uint32_t thread, NodeId peer);
  nic::QpId create_end();
  /// A thread of this node has been created.
  void add_thread(nic::ThreadId id);
  [[nodiscard]] std::uint32_t local_key(Address address) const;
  void post(nic::Wqe wqe, const Region& remote, OperationTag tag);
  /// Posts what the calling thread has listed, with one doorbell. The tag is that of the last one.
  void post_list(OperationTag tag);
  /// The next operation of the calling thread, as the trace has it.
  void record(nic::Wqe& wqe, NodeId peer, std::uint64_t work_id);
  /// Until the queue pair's send queue has room for that many.
  void make_send_room(SimThread& thread, nic::QpId qp, std::size_t count);
  /// Work requests that a thread may leave without a CQE, one after the other: half the send queue.
  [[nodiscard]] std::uint32_t silent_max() const { return std::max(1U, cluster_.config_.send_queue_entries / 2); }

  SimulatedCluster& cluster_;
  NodeId node_;
  nic::CqId completion_queue_;
  std::vector<nic::ThreadId> threads_;           ///< of this node, by index
  std::vector<std::vector<End>> ends_;           ///< by thread index and peer
  std::map<Address, nic::MemoryRegion> memory_;  ///< registered, by first address
  Address device_low_ = 0;                       ///< of the first registration in the NIC's memory ...
  std::uint64_t device_span_ = 0;                ///< ... to the end of the last one; 0: there is none
  std::deque<ControlMessage> inbox_;
  std::uint32_t waiting_for_room_ = 0;  ///< threads with a full send queue
};

}  // namespace loco
