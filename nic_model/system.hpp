// The whole simulated machine as one value: hosts, PCIe, NICs, network, and the pending events.
//
// Copying a System copies its future: both copies, given runners that do the same, go on identically and compare
// equal (docs/machine.md, law 6). A System holds plain data and indices, no closures and no pointers; what runs the
// threads and who watches come from outside at every step.
//
// Order of use: construct, set up (threads, memory, queue pairs), then step. Set-up takes no simulated time.
// Set-up calls throw std::invalid_argument on misuse. Not thread-safe; different Systems share nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/config.hpp"
#include "fabric/flow_network.hpp"
#include "fabric/network.hpp"
#include "nic_model/config.hpp"
#include "nic_model/counters.hpp"
#include "nic_model/exploration/footprint.hpp"
#include "nic_model/observer.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/usage.hpp"
#include "nic_model/verbs.hpp"
#include "nic_model/verbs/cpu.hpp"
#include "sim/event_queue.hpp"

namespace loco::nic {

class Engine;
class ForeignMemory;
struct Parcel;
struct State;

class System {
 public:
  explicit System(const SystemConfig& config);
  /// Throws std::logic_error when the network is the flow model, or a host has foreign memory: neither is part of the
  /// state.
  System(const System& other);
  System(System&&) noexcept;
  System& operator=(const System& other);
  System& operator=(System&&) noexcept;
  ~System();
  [[nodiscard]] bool operator==(const System& other) const;

  // --- set-up ------------------------------------------------------------------------------------------------------
  /// Reserves zeroed memory on a node, 64-byte aligned. Never address 0.
  Address allocate(NodeId node, std::uint64_t size);
  /// From kForeignMemory on, the node's memory is `memory` (foreign_memory.hpp), which outlives this System. The
  /// witness then knows what NICs and Cpus wrote, and nothing of the process's own stores but what Cpu::stored tells.
  void set_foreign_memory(NodeId node, ForeignMemory* memory);
  /// Lets NICs reach [base, base + size). Remote writes and atomics need local writes to be allowed, too. Throws
  /// std::invalid_argument where a region on the device has no room there (nic.device_memory; ibv_alloc_dm: ENOMEM).
  MemoryRegion register_memory(NodeId node, Address base, std::uint64_t size, std::uint8_t access = kAllAccess,
                               RegionKind kind = {});
  /// ibv_dereg_mr: nobody reaches the region by its key any more.
  void deregister_memory(std::uint32_t key);
  /// ibv_rereg_mr, and what binding a memory window does: the region of this key is another part of memory, with other
  /// rights, and has another key, which differs in the lower 8 bits at most. Throws as the two above. May also be
  /// called in a step.
  void change_memory(std::uint32_t key, Address base, std::uint64_t size, std::uint8_t access, std::uint32_t new_key);
  /// The region of this key is in another protection domain.
  void change_domain(std::uint32_t key, std::uint16_t domain);
  CqId create_cq(NodeId node, std::uint32_t entries);
  /// ibv_resize_cq. False when more CQEs are in it than would have room.
  [[nodiscard]] bool resize_cq(CqId cq, std::uint32_t entries);
  /// A reliable-connection queue pair with a send queue of `entries`. `thread` is whose subevents its work requests
  /// are.
  QpId create_qp(NodeId node, CqId send_cq, std::uint32_t entries, ThreadId thread = 0);
  QpId create_qp(NodeId node, const QpConfig& config);
  /// Whose subevents its work requests are, from now on.
  void set_qp_thread(QpId qp, ThreadId thread);
  /// Connects two queue pairs (of two nodes, or of one: loopback) and brings both from RESET to RTS, with the
  /// profile's timeouts and retry counts.
  void connect(QpId a, QpId b);
  /// Brings a UD queue pair from RESET to RTS.
  void activate(QpId qp, std::uint32_t qkey = 0);
  /// As ibv_modify_qp: what the specification's state diagram does not allow is refused (verbs.hpp, ModifyResult).
  /// Attributes are taken where the new state asks for them. May also be called while the machine runs.
  ModifyResult modify_qp(QpId qp, QpState to, const QpAttributes& attributes = {});
  /// qp_access_flags: what remote requests may do by way of this queue pair, beside what regions allow; all at first.
  void set_qp_access(QpId qp, std::uint8_t access);
  /// A node has no power any more: its queue pairs are in RESET, nothing is repeated, answered or completed.
  void power_off(NodeId node);
  /// A receive queue that queue pairs of a node can share. `cq`: for XRC, where its completions go.
  SrqId create_srq(NodeId node, std::uint32_t entries, CqId cq = kNone);
  /// Arms the limit: when fewer receives are left, Cpu::srq_limit_reached says so, once. 0 disarms; at most
  /// what the queue holds.
  void set_srq_limit(SrqId srq, std::uint32_t limit);
  /// Receives that are there from the start. False when the queue is full, or is not the queue pair's own.
  bool post_recv(QpId qp, const RecvWqe& wqe);
  bool post_srq_recv(SrqId srq, const RecvWqe& wqe);
  /// A thread whose first step is due at `start`.
  ThreadId create_thread(NodeId node, sim::SimTime start = {});
  /// A word of process memory; its number on this node.
  std::uint32_t create_flag(NodeId node, std::uint64_t initial = 0);
  /// A flag that nobody uses any more begins again, as another one.
  void set_flag(NodeId node, std::uint32_t flag, std::uint64_t initial);

  // --- running -----------------------------------------------------------------------------------------------------
  [[nodiscard]] bool idle() const;
  /// Takes the earliest event; false when there is none.
  bool step(Context& context);
  /// Takes the i-th pending event, 0 <= i < pending_events(): random and exhaustive scheduling.
  void step(Context& context, std::size_t i);
  [[nodiscard]] std::size_t pending_events() const;
  [[nodiscard]] const sim::Event& pending_event(std::size_t i) const;
  /// What the i-th pending event will touch.
  [[nodiscard]] Footprint footprint(std::size_t i) const;
  /// Is the i-th pending event a transport timer, and something that its queue pair has sent, or will send by itself,
  /// or an answer to it, still under way? Then it has no reason to fire, where any pending event may be next.
  [[nodiscard]] bool timer_is_early(std::size_t i) const;
  /// The time of the last step. Under other than earliest-first scheduling, it still never runs backwards.
  [[nodiscard]] sim::SimTime now() const;
  /// When the earliest event is due. Precondition: !idle().
  [[nodiscard]] sim::SimTime next_time() const;

  // --- a part of a machine (parts.hpp)
  // -----------------------------------------------------------------------------------
  /// Is this host simulated here? Of others set-up alone is here, which is that of the whole machine.
  [[nodiscard]] bool has(NodeId node) const;
  /// A flag of a host that is simulated here gets a value at `at`, which may not lie before now(), behind everything
  /// else of that instant. An event.
  void set_flag_at(NodeId node, std::uint32_t flag, std::uint64_t value, sim::SimTime at);
  /// Is an event due before `end`?
  [[nodiscard]] bool due_before(sim::SimTime end) const;
  /// As step(), if one is.
  bool step_before(Context& context, sim::SimTime end);
  /// Hands over what goes to other parts.
  void take_parcels(std::vector<Parcel>& out);
  /// Something that comes from another part. Precondition: no event as late as its arrival has been handled.
  void deliver(const Parcel& parcel);
  /// When all is over: takes what another part has simulated, so that this one can be looked at as if it were the whole
  /// machine. Nothing can run any more.
  void absorb(System&& part);

  // --- the flow model (fabric/flow_network.hpp): for whoever shares links among flows -------------------------------
  std::optional<fabric::FlowStart> take_start();
  void flow_ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end);

  // --- from outside the simulated threads ---------------------------------------------------------------------------
  /// Wakes every thread of the node that watches this key (Cpu::watch).
  void notify(NodeId node, std::uint64_t key);
  /// Makes a stopped thread runnable at `at` (not before now).
  void wake(ThreadId thread, sim::SimTime at);
  /// Looks into, or sets, memory without being seen by the machine. Setting makes it the initial value.
  void read_memory(NodeId node, Address address, std::span<std::byte> out) const;
  void write_memory(NodeId node, Address address, std::span<const std::byte> in);
  /// The host's first NIC has used these pages of a region: it holds their translations as after any other access.
  void use_translations(NodeId node, std::uint32_t key, Address base, std::uint64_t size);
  [[nodiscard]] std::uint64_t word(NodeId node, Address address) const;
  void set_word(NodeId node, Address address, std::uint64_t value);

  // --- bare DMA: what a PCIe benchmark's device does, without queue pairs and network -------------------------------
  // Needs pcie.ordering_domain: nic. The bytes go nowhere (reads), are zero (writes). Times: a read is done when its
  // data is in the device, a write when memory has it.
  void dma_read(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes);
  void dma_write(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes);
  [[nodiscard]] std::uint64_t dma_done(NodeId node) const;

  // --- inspection --------------------------------------------------------------------------------------------------
  /// How many of what set-up makes there are: nothing of it goes away.
  struct Made {
    std::size_t regions = 0, queue_pairs = 0, threads = 0, flags = 0;
    bool operator==(const Made&) const = default;
  };
  [[nodiscard]] Made made() const;
  /// A queue pair as it was made, and its peer; a completion queue's size; receives that are posted and not taken.
  struct QueuePairMade {
    NodeId node = 0;
    QpType type = QpType::rc;
    QpId peer = kNone;
    CqId send_cq = 0, recv_cq = 0;
    std::uint32_t receives = kNone;  ///< its receive queue, shared or not
  };
  [[nodiscard]] QueuePairMade queue_pair(QpId qp) const;
  [[nodiscard]] std::size_t completion_queues() const;
  [[nodiscard]] std::uint32_t cq_entries(CqId cq) const;
  [[nodiscard]] std::size_t receive_queues() const;
  [[nodiscard]] std::vector<RecvWqe> posted_receives(std::uint32_t queue) const;
  [[nodiscard]] const std::vector<MemoryRegion>& regions() const;
  [[nodiscard]] const SystemConfig& config() const;
  /// The hardware of a host, as it is here: its links are those of the network.
  [[nodiscard]] const HardwareProfile& profile(NodeId node) const;
  [[nodiscard]] const Counters& counters() const;
  /// The resources that were busiest, `most` of them, the greatest share of `window` first: that of the time since the
  /// start in which something was to do.
  [[nodiscard]] std::vector<Usage> usage(sim::Duration window, std::size_t most) const;
  /// Only to look at: links' counters, queues.
  [[nodiscard]] const fabric::Network& network() const;
  /// What a packet that is on its way carries: packet.length bytes; none without payload.
  [[nodiscard]] std::span<const std::byte> payload(const fabric::Packet& packet) const;
  [[nodiscard]] QpState qp_state(QpId qp) const;
  [[nodiscard]] NodeId qp_node(QpId qp) const;        ///< its host
  [[nodiscard]] std::uint32_t qp_nic(QpId qp) const;  ///< which of the host's NICs it is on
  [[nodiscard]] NodeId qp_peer_node(QpId qp) const;
  [[nodiscard]] ThreadId qp_thread(QpId qp) const;
  /// Queue pairs that wait to send a message again which found no receive, and do so for ever (rnr_retry 7). Each has
  /// one pending event: where these are all that is pending, nothing else can happen any more.
  [[nodiscard]] std::vector<QpId> refused_for_ever() const;
  [[nodiscard]] std::uint32_t send_queue_room(QpId qp) const;
  /// Is it connected in RTS, and is all that was posted to it done, in memory on both sides? Says no, too, while
  /// another queue pair's writes of the same kind are pending in its ordering domain.
  [[nodiscard]] bool qp_settled(QpId qp) const;
  /// Is all that was posted to it done or flushed, and have its CQEs been polled?
  [[nodiscard]] bool qp_drained(QpId qp) const;
  /// Are writes on their way to the memory of its node that the queue pair may have made, and that those of another one
  /// need not come behind?
  [[nodiscard]] bool qp_writes_pending(QpId qp) const;
  /// Is a store to [base, base + size) on its way to memory, in a store buffer of the node?
  [[nodiscard]] bool stores_pending(NodeId node, Address base, std::uint64_t size) const;
  /// Room in the queue pair's receive queue, shared or not.
  [[nodiscard]] std::uint32_t recv_queue_room(QpId qp) const;
  [[nodiscard]] std::size_t cq_size(CqId cq) const;
  [[nodiscard]] bool cq_overrun(CqId cq) const;
  /// CQEs of operations that failed and that nobody has polled, oldest first.
  [[nodiscard]] std::vector<Cqe> failed_cqes(CqId cq) const;
  [[nodiscard]] bool thread_stopped(ThreadId thread) const;
  /// Is its store buffer empty?
  [[nodiscard]] bool thread_drained(ThreadId thread) const;
  /// Number of subevents that have begun, and the order counter.
  [[nodiscard]] SubeventId subevents() const;
  [[nodiscard]] std::uint64_t seq() const;
  /// A hash of everything that the future depends on, times and counters left out: equal for states that differ
  /// only in when they were reached. For pruning by the set of states seen.
  [[nodiscard]] std::uint64_t behaviour_hash() const;

 private:
  void bind();

  std::unique_ptr<State> state_;
  std::unique_ptr<Engine> engine_;  // of *state_: where its units are, worked out once and not for every step
};

}  // namespace loco::nic
