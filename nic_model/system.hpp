// The whole simulated machine as one value: hosts, PCIe, NICs, network, and the pending events.
//
// A copy of a System has the same future: both, given runners that do the same, go on identically and compare equal
// (docs/machine.md, law 6). A System holds plain data and indices, no closures and no pointers; the runner of the
// threads and the observer are passed to every step.
//
// Order of use: construct, set up (threads, memory, queue pairs), then step. Set-up takes no simulated time. Set-up
// calls throw std::invalid_argument on misuse. Not thread-safe; different Systems share nothing.
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
#include "nic_model/spare_bytes.hpp"
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
  /// Throws std::logic_error if the network is the flow model or a host has foreign memory, because neither is part of
  /// the state.
  System(const System& other);
  System(System&&) noexcept;
  System& operator=(const System& other);
  System& operator=(System&&) noexcept;
  ~System();
  [[nodiscard]] bool operator==(const System& other) const;

  // --- set-up ------------------------------------------------------------------------------------------------------
  /// Allocates zeroed memory on a node, 64-byte aligned. Never returns address 0.
  Address allocate(NodeId node, std::uint64_t size);
  /// From kForeignMemory on, the node's memory is `memory` (foreign_memory.hpp), which outlives this System. The
  /// witness then knows what NICs and Cpus wrote, and nothing of the process's own stores but what Cpu::stored tells.
  void set_foreign_memory(NodeId node, ForeignMemory* memory);
  /// Lets NICs access [base, base + size). Remote writes and atomics also need local write access. Throws
  /// std::invalid_argument if a region on the device has no room there (nic.device_memory; ibv_alloc_dm: ENOMEM).
  MemoryRegion register_memory(NodeId node, Address base, std::uint64_t size, std::uint8_t access = kAllAccess,
                               RegionKind kind = {});
  /// ibv_dereg_mr: the key becomes invalid.
  void deregister_memory(std::uint32_t key);
  /// ibv_rereg_mr, and binding a memory window: the region of this key becomes another part of memory, with other
  /// rights and another key, which may differ in the lower 8 bits only. Throws as the two functions above. May also be
  /// called during a step.
  void change_memory(std::uint32_t key, Address base, std::uint64_t size, std::uint8_t access, std::uint32_t new_key);
  /// Moves the region of this key to another protection domain.
  void change_domain(std::uint32_t key, std::uint16_t domain);
  CqId create_cq(NodeId node, std::uint32_t entries);
  /// ibv_resize_cq. Returns false if the queue holds more CQEs than `entries`.
  [[nodiscard]] bool resize_cq(CqId cq, std::uint32_t entries);
  /// A reliable-connection queue pair with a send queue of `entries`. Its work requests' subevents belong to `thread`.
  QpId create_qp(NodeId node, CqId send_cq, std::uint32_t entries, ThreadId thread = 0);
  QpId create_qp(NodeId node, const QpConfig& config);
  /// The thread that the subevents of its work requests belong to from now on.
  void set_qp_thread(QpId qp, ThreadId thread);
  /// Connects two queue pairs (of two nodes, or of one: loopback) and moves both from RESET to RTS, with the profile's
  /// timeouts and retry counts.
  void connect(QpId a, QpId b);
  /// Moves a UD queue pair from RESET to RTS.
  void activate(QpId qp, std::uint32_t qkey = 0);
  /// As ibv_modify_qp: refuses what the specification's state diagram does not allow (verbs.hpp, ModifyResult). Uses
  /// only the attributes that the new state needs. May also be called while the machine runs.
  ModifyResult modify_qp(QpId qp, QpState to, const QpAttributes& attributes = {});
  /// qp_access_flags: what remote requests may do through this queue pair, if the regions allow it too. Initially
  /// everything.
  void set_qp_access(QpId qp, std::uint8_t access);
  /// A node loses power: its queue pairs go to RESET, and it sends, answers and completes nothing more.
  void power_off(NodeId node);
  /// A receive queue that queue pairs of a node can share. `cq`: for XRC, where its completions go.
  SrqId create_srq(NodeId node, std::uint32_t entries, CqId cq = kNone);
  /// Arms the limit: once fewer receives are left, Cpu::srq_limit_reached() returns true once. 0 disarms it. At most
  /// the queue's capacity.
  void set_srq_limit(SrqId srq, std::uint32_t limit);
  /// Posts receives during set-up. Returns false if the queue is full or not the queue pair's own.
  bool post_recv(QpId qp, const RecvWqe& wqe);
  bool post_srq_recv(SrqId srq, const RecvWqe& wqe);
  /// A thread whose first step is due at `start`.
  ThreadId create_thread(NodeId node, sim::SimTime start = {});
  /// A word of process memory. Returns its number on this node.
  std::uint32_t create_flag(NodeId node, std::uint64_t initial = 0);
  /// Resets a flag that is no longer in use, so that it can serve as a new one.
  void set_flag(NodeId node, std::uint32_t flag, std::uint64_t initial);

  // --- running -----------------------------------------------------------------------------------------------------
  [[nodiscard]] bool idle() const;
  /// Handles the earliest event. Returns false if there is none.
  bool step(Context& context);
  /// Handles the i-th pending event, 0 <= i < pending_events(), for random and exhaustive scheduling.
  void step(Context& context, std::size_t i);
  [[nodiscard]] std::size_t pending_events() const;
  [[nodiscard]] const sim::Event& pending_event(std::size_t i) const;
  /// What the i-th pending event will access.
  [[nodiscard]] Footprint footprint(std::size_t i) const;
  /// True if the i-th pending event is a transport timer while something that its queue pair has sent or will send by
  /// itself, or an answer to it, is still in flight. The timer then has no reason to fire, although any pending event
  /// may be next.
  [[nodiscard]] bool timer_is_early(std::size_t i) const;
  /// The time of the last step. It never decreases, even with scheduling other than earliest-first.
  [[nodiscard]] sim::SimTime now() const;
  /// When the earliest event is due. Precondition: !idle().
  [[nodiscard]] sim::SimTime next_time() const;

  // --- a part of a machine (parts.hpp)
  // -----------------------------------------------------------------------------------
  /// True if this host is simulated in this part. Of other hosts only the set-up is here, as in the whole machine.
  [[nodiscard]] bool has(NodeId node) const;
  /// A flag of a host that is simulated here gets a value at `at`, which may not lie before now(), behind everything
  /// else of that instant. An event.
  void set_flag_at(NodeId node, std::uint32_t flag, std::uint64_t value, sim::SimTime at);
  /// True if an event is due before `end`.
  [[nodiscard]] bool due_before(sim::SimTime end) const;
  /// Like step(), but only if an event is due before `end`.
  bool step_before(Context& context, sim::SimTime end);
  /// Moves what goes to other parts into `out`.
  void take_parcels(std::vector<Parcel>& out);
  /// Delivers what comes from another part. Precondition: no event as late as its arrival has been handled.
  void deliver(const Parcel& parcel);
  /// To call after the run: takes over what another part has simulated, so that this System can be inspected as if it
  /// were the whole machine. It cannot run any more.
  void absorb(System&& part);

  // --- the flow model (fabric/flow_network.hpp): for whoever shares links among flows -------------------------------
  std::optional<fabric::FlowStart> take_start();
  void flow_ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end);

  // --- from outside the simulated threads ---------------------------------------------------------------------------
  /// Wakes every thread of the node that watches this key (Cpu::watch).
  void notify(NodeId node, std::uint64_t key);
  /// Makes a stopped thread runnable at `at` (not before now).
  void wake(ThreadId thread, sim::SimTime at);
  /// Reads or sets memory without the machine noticing. A set value counts as the initial value.
  void read_memory(NodeId node, Address address, std::span<std::byte> out) const;
  void write_memory(NodeId node, Address address, std::span<const std::byte> in);
  [[nodiscard]] std::uint64_t word(NodeId node, Address address) const;
  void set_word(NodeId node, Address address, std::uint64_t value);

  // --- leaving out what only repeats, between steps: system_leaving_out.cpp ----------------------------------------
  /// By how many bytes a WRITE or SEND that is being sent can be shortened, and doing so, by whole packets. Nothing
  /// else changes, so the message ends as it would have, but sooner. What is left is its end; its completion has the
  /// length that was posted.
  [[nodiscard]] SpareBytes spare_bytes(QpId qp, std::uint32_t work_request) const;
  void shorten_message(QpId qp, std::uint32_t work_request, std::uint32_t bytes);
  /// To go with it: threads that poll have done so for this much longer.
  void poll_for_longer(sim::Duration time);
  /// The host's first NIC has used these pages of a region and holds their translations, as after any other access.
  void use_translations(NodeId node, std::uint32_t key, Address base, std::uint64_t size);
  /// How many bytes from `base` on, at most `size`, are in pages whose translations it holds.
  [[nodiscard]] std::uint64_t translated(NodeId node, std::uint32_t key, Address base, std::uint64_t size) const;
  /// True if a thread of the node watches any word of these bytes.
  [[nodiscard]] bool watches(NodeId node, Address address, std::uint64_t size) const;
  /// True if all that is pending belongs to the message that this queue pair sends, but for looks at timers that do not
  /// run, and nobody else has anything to send.
  [[nodiscard]] bool only_sends(QpId qp) const;
  /// Leaves out the next `bytes` of a message that is being sent, which take `time`, as if only that message had gone
  /// on meanwhile, and the reading of payloads of its queue pair: that is carried on, and counted. Bytes that the NIC
  /// has read are placed. Returns how many these are; the next ones are where the message's others are, for the caller
  /// to copy. Nothing, and nothing changes, if what is read would not be `ahead` bytes ahead then, or more would
  /// happen.
  struct LeftOut {
    QpId qp = 0;
    std::uint32_t work_request = 0;
    std::uint32_t bytes = 0;
    std::uint32_t ahead = 0;
    sim::Duration time{};
  };
  std::optional<std::uint32_t> leave_out(const LeftOut& part);
  /// When requesters that wait for answers are looked at next (SystemConfig::timers), and that it comes so much sooner.
  [[nodiscard]] std::optional<sim::SimTime> next_look() const;
  void look_sooner(sim::Duration time);
  /// What the reading of a queue pair's payloads has added to counters() between two moments of a message that is being
  /// sent (SpareBytes::read); nothing if that cannot be told.
  [[nodiscard]] std::optional<Counters> counted_by_reading(QpId qp, const ReadSoFar& from, const ReadSoFar& to) const;

  // --- bare DMA: what a PCIe benchmark's device does, without queue pairs and network -------------------------------
  // Bare DMA without a work request; needs pcie.ordering_domain: nic. Bytes read are discarded, bytes written are zero.
  // A read is done when its data is in the device, a write when memory has it.
  void dma_read(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes);
  void dma_write(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes);
  [[nodiscard]] std::uint64_t dma_done(NodeId node) const;

  // --- inspection --------------------------------------------------------------------------------------------------
  /// How many objects set-up has made; none is ever removed.
  struct Made {
    std::size_t regions = 0, queue_pairs = 0, threads = 0, flags = 0;
    bool operator==(const Made&) const = default;
  };
  [[nodiscard]] Made made() const;
  /// A queue pair as it was made, with its peer, the sizes of its queues, and its posted receives not yet taken.
  struct QueuePairMade {
    NodeId node = 0;
    QpType type = QpType::rc;
    QpId peer = kNone;
    CqId send_cq = 0, recv_cq = 0;
    std::uint32_t receives = kNone;  ///< its receive queue
    bool shares_receives = false;    ///< with other queue pairs
  };
  [[nodiscard]] QueuePairMade queue_pair(QpId qp) const;
  [[nodiscard]] std::size_t completion_queues() const;
  [[nodiscard]] std::uint32_t cq_entries(CqId cq) const;
  [[nodiscard]] std::size_t receive_queues() const;
  [[nodiscard]] std::vector<RecvWqe> posted_receives(std::uint32_t queue) const;
  [[nodiscard]] const std::vector<MemoryRegion>& regions() const;
  [[nodiscard]] const SystemConfig& config() const;
  /// The hardware of a host as it is used here: its links are those of the network.
  [[nodiscard]] const HardwareProfile& profile(NodeId node) const;
  [[nodiscard]] const Counters& counters() const;
  /// The `most` busiest resources with their shares of `window`, greatest first. `window` is the time since the start
  /// in which there was something to do.
  [[nodiscard]] std::vector<Usage> usage(sim::Duration window, std::size_t most) const;
  /// For inspection only: links' counters, queues.
  [[nodiscard]] const fabric::Network& network() const;
  /// The payload of a packet in flight, packet.length bytes; empty without payload.
  [[nodiscard]] std::span<const std::byte> payload(const fabric::Packet& packet) const;
  [[nodiscard]] QpState qp_state(QpId qp) const;
  [[nodiscard]] NodeId qp_node(QpId qp) const;  ///< its host
  [[nodiscard]] NodeId qp_peer_node(QpId qp) const;
  [[nodiscard]] ThreadId qp_thread(QpId qp) const;
  /// Queue pairs that, for lack of a receive at the peer, wait to send a message again and do so forever (rnr_retry 7).
  /// Each has one pending event. If no other event is pending, nothing else can happen any more.
  [[nodiscard]] std::vector<QpId> refused_for_ever() const;
  [[nodiscard]] std::uint32_t send_queue_room(QpId qp) const;
  /// True if the queue pair is connected in RTS and everything posted to it is done, in memory on both sides. Also
  /// false while another queue pair's writes of the same kind are pending in its ordering domain.
  [[nodiscard]] bool qp_settled(QpId qp) const;
  /// True if everything posted to it is done or flushed and its CQEs have been polled.
  [[nodiscard]] bool qp_drained(QpId qp) const;
  /// True if writes that the queue pair may have made are in flight to its node's memory and another queue pair's
  /// writes need not stay behind them.
  [[nodiscard]] bool qp_writes_pending(QpId qp) const;
  /// True if a store to [base, base + size) is still in a store buffer of the node.
  [[nodiscard]] bool stores_pending(NodeId node, Address base, std::uint64_t size) const;
  /// Room in the queue pair's receive queue, shared or not.
  [[nodiscard]] std::uint32_t recv_queue_room(QpId qp) const;
  [[nodiscard]] std::size_t cq_size(CqId cq) const;
  [[nodiscard]] bool cq_overrun(CqId cq) const;
  /// CQEs of failed operations that have not been polled, oldest first.
  [[nodiscard]] std::vector<Cqe> failed_cqes(CqId cq) const;
  [[nodiscard]] bool thread_stopped(ThreadId thread) const;
  /// True if the thread's store buffer is empty.
  [[nodiscard]] bool thread_drained(ThreadId thread) const;
  /// Number of subevents that have begun, and the order counter.
  [[nodiscard]] SubeventId subevents() const;
  [[nodiscard]] std::uint64_t seq() const;
  /// A hash of everything that the future depends on, without times and counters: equal for states that differ only in
  /// when they were reached. For pruning with the set of states seen.
  [[nodiscard]] std::uint64_t behaviour_hash() const;

 private:
  void bind();

  std::unique_ptr<State> state_;
  std::unique_ptr<Engine> engine_;  // access to the units of *state_; built once, not for every step
};

}  // namespace loco::nic
