// What LOCO needs from the layer below: one-sided operations, local memory under x86-TSO, completions, set-up messages,
// threads. One Transport object stands for one node; its methods act for the calling thread of that node.
//
// LOCO is written once, in blocking style, against this interface: threads are fibers on simulated hardware and OS
// threads on a real network. Addresses are byte offsets in the node's registered memory. Everything that other nodes or
// other threads can see goes through here; nothing under loco/ knows a simulator.
// The interface has eight parts, one class each. Functions that only a simulator needs (hints, tracing, liveness) have
// defaults, so a transport over a real network implements only what it has.
// allocate, allocate_on_device, make_flag, send_control, receive_control, take_control, begin_call, end_call and
// note_waited never block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rdma/status.hpp"
#include "trace/call_info.hpp"

namespace loco {

using NodeId = std::uint32_t;
using Address = std::uint64_t;

/// Bytes of a word, the unit of a load, a store and a remote atomic.
inline constexpr std::uint64_t kWord = 8;
/// `bytes`, rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Registered memory of some node, as the peers need it: node, first byte, length, key.
struct Region {
  NodeId node = 0;
  /// Number of the connection with that node that reaches it (Connections).
  std::uint32_t connection = 0;
  Address base = 0;
  std::uint64_t size = 0;
  std::uint32_t rkey = 0;
  /// Incarnation number of this node's endpoint that uses the region (departures.hpp); 0: no endpoint.
  std::uint32_t life = 0;
};

using rdma::Status;

enum class Operation : std::uint8_t { put, get, fetch_add, compare_swap };

struct Completion {
  std::uint64_t token = 0;  ///< the one given when the operation was posted
  Status status = Status::success;
  NodeId peer = 0;
  Operation operation = Operation::put;
  std::uint32_t connection = 0;  ///< the connection it went over; set only if the operation failed
};

/// Token of a completion that belongs to no operation: it reports that the peer has ended (Liveness::has_ended).
inline constexpr std::uint64_t kEndedToken = 2;

/// When the completion of an operation is reported. A failure is always reported.
enum class Tell : std::uint8_t {
  always,
  if_failed,  ///< nobody waits for success, so it may be reported or not
  /// Together with the calling thread's next operation, which goes to the same node and follows at once. Both are
  /// posted as one list of work requests, with one doorbell.
  with_next,
};

/// Identifies a one-sided operation: the completion carries the token; the work id is the `d` of the memory model (0:
/// none).
struct OperationTag {
  std::uint64_t token = 0;
  std::uint64_t work_id = 0;
  Tell tell = Tell::always;
  /// The kind of queue pair that carries the operation; 0 is the default kind. Queue pairs of different kinds are not
  /// ordered with each other.
  std::uint8_t service = 0;
};

/// A word of ordinary process memory shared by a node's threads (not network memory): completion bits, hand-over
/// flags. Sequentially consistent, invisible to the memory model.
using Flag = std::uint32_t;

/// A set-up message (what rdma_cm would carry), outside the timed data path.
struct ControlMessage {
  NodeId from = 0;
  std::string body;
};

using trace::CallInfo;

/// The node, its threads, their clock, and how they wait.
class NodeThreads {
 public:
  virtual ~NodeThreads() = default;

  [[nodiscard]] virtual NodeId my_node() const = 0;
  [[nodiscard]] virtual std::uint32_t num_nodes() const = 0;
  /// Index of the calling thread among this node's threads, from 0 in order of spawning. A transport may reuse the
  /// index of an ended thread, and its queue pairs, for a new one.
  [[nodiscard]] virtual std::uint32_t my_thread() const = 0;
  /// Starts a thread of this node. The run does not wait for a service thread (the completion poller) to end. Whatever
  /// the body uses of the caller's stack must live until the thread has ended, even if the caller throws:
  /// workloads::run_team ensures this.
  virtual void spawn(std::string name, std::function<void()> body, bool service = false) = 0;
  /// Time since the run began. Picoseconds, because at a resolution of nanoseconds successive events could show the
  /// same time.
  [[nodiscard]] virtual std::int64_t now_ps() const = 0;
  /// Computes locally for the given time; a schedule without a clock takes at most 1 ms. Throws std::out_of_range for a
  /// negative time, or one that ends beyond the range of the clock.
  virtual void compute(std::int64_t ps) = 0;

  /// Call this at the end of a turn of a polling loop that found nothing. It returns when something that this thread
  /// has looked at since its last pause (loads, flags, the completion queue) may have changed. Waiting costs no events
  /// while nothing changes. A loop that made progress takes its next turn without a pause.
  virtual void pause() = 0;
  /// Describes what the calling thread waits for, until the next call, so that the report of a deadlock can say it. An
  /// empty function leaves the transport to derive the reason.
  virtual void set_waits_for(std::function<std::string()> /*what*/) {}
  /// Wakes all threads of this node that pause: something has changed that they did not look at.
  virtual void wake_all() = 0;
};

/// This node's network memory as its CPUs access it: x86-TSO.
class LocalMemory {
 public:
  virtual ~LocalMemory() = default;

  /// Registers `size` bytes of zeroed network memory on this node (aligned to 64 bytes).
  virtual Region allocate(std::uint64_t size) = 0;
  /// How much to register at once when less would do for now: the paper's chunk, a huge page, unless the transport
  /// commits all of it immediately and asks for less.
  [[nodiscard]] virtual std::uint64_t registered_at_once() const { return std::uint64_t{1} << 30U; }
  /// Registers memory on the NIC, for access by NICs only: a CPU's access throws ownership_error. A NIC without memory
  /// of its own uses the host's.
  virtual Region allocate_on_device(std::uint64_t size) { return allocate(size); }
  /// Zeroes memory that is about to be reused. No other thread and no NIC accesses it meanwhile.
  virtual void clear(Address base, std::uint64_t size);
  /// True if all stores of this node's threads to these bytes have left the store buffers. Nobody stores to them any
  /// more.
  [[nodiscard]] virtual bool stored(Address /*base*/, std::uint64_t /*size*/) { return true; }
  /// Load or store an aligned 8-byte word atomically. A store goes through the thread's store buffer.
  virtual std::uint64_t load(Address address) = 0;
  virtual void store(Address address, std::uint64_t value) = 0;
  /// Wide accesses go word by word: each word is atomic, the whole is not. Addresses and sizes are multiples of 8.
  virtual void load_bytes(Address address, std::span<std::byte> out);
  virtual void store_bytes(Address address, std::span<const std::byte> in);
  /// A pointer to these bytes, all in one registration, if a CPU may access them without a call: loads with acquire,
  /// stores with release (local_span.hpp). Null if every access has to be a call, as in a simulator. The memory never
  /// moves. Direct stores are neither traced nor wake anybody, so a transport that returns a pointer must have a
  /// pause() that returns by itself after a while.
  [[nodiscard]] virtual std::uint64_t* direct(Address /*address*/, std::uint64_t /*size*/) { return nullptr; }
  /// Locked compare-and-swap on a local word; returns the old value. Atomic with this node's CPUs, and with the NIC
  /// only if the device says so.
  virtual std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) = 0;
  virtual void memory_fence() = 0;
};

/// Process memory shared by a node's threads. flag_peek and flag_add_early are hints for a simulator, where each look
/// costs a step; a real network needs neither.
class ProcessFlags {
 public:
  virtual ~ProcessFlags() = default;

  virtual Flag make_flag(std::uint64_t initial = 0) = 0;
  /// Frees a flag that nobody uses any more; make_flag may hand it out again.
  virtual void release_flag(Flag /*flag*/) {}
  virtual std::uint64_t flag_load(Flag flag) = 0;
  /// Loads a flag for a loop that waits for a stable condition, one that stays true once it is. A simulator may let it
  /// look before its turn.
  virtual std::uint64_t flag_peek(Flag flag) { return flag_load(flag); }
  virtual std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) = 0;
  virtual std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) = 0;
  virtual std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) = 0;
  /// Sets the flag to `desired` if it is `expected`. The default is two steps: another thread may come in between.
  virtual bool flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) {
    if (flag_load(flag) != expected) return false;
    flag_fetch_add(flag, desired - expected);
    return true;
  }
  /// Adds where the exact moment does not matter: it may take effect together with the calling thread's previous
  /// access. Meant for bits that nobody reads before the thread's next access, and for joining a queue or a group of
  /// readers. It does not end the calling thread's own next pause.
  virtual std::uint64_t flag_add_early(Flag flag, std::uint64_t value) { return flag_fetch_add(flag, value); }
};

/// Guarantees that channels rely on and that some networks lack. Cells are those of Fig. 10 of the LOCO/Mowgli paper.
enum class Capability : std::uint8_t {
  ordered_puts,      ///< a put is in memory before a later put of the same thread to the same node (G7)
  reads_push_puts,   ///< a get reads after the thread's earlier puts to that node (G8), as fences require
  atomics,           ///< remote fetch-and-add and compare-and-swap
  atomics_with_cpu,  ///< remote atomics are atomic with those of the node's CPUs, too
  /// the words of a put are placed, and those of a get read, in ascending order of addresses, so that the last word
  /// vouches for the others. Not a cell of Fig. 10; no object here relies on it, but programs that poll the end of a
  /// message do
  ascending_words,
};

/// One-sided operations, posted on the calling thread's private queue pair for the peer.
class OneSidedVerbs {
 public:
  virtual ~OneSidedVerbs() = default;

  /// Why the network lacks the guarantee; empty if it has it. The default is that of a reliable connection (RC) of
  /// verbs.
  [[nodiscard]] virtual std::string lacks(Capability what) const {
    if (what == Capability::ascending_words) return "the words of one put or get are in no order";
    return what == Capability::atomics_with_cpu ? "remote atomics are atomic with each other only" : "";
  }

  // All of these return at once, or once the send queue has room. The tag's token comes back through poll(). `local` is
  // an address on this node; the remote address is remote.base + offset. The remote node may be this node (loopback).
  virtual void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) = 0;
  virtual void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) = 0;
  /// Writes the old value to `local` (8 bytes).
  virtual void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                         OperationTag tag) = 0;
  virtual void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                            std::uint64_t desired, OperationTag tag) = 0;
  /// The calling thread's later operations towards `node` begin only after its earlier gets and atomics towards it
  /// have completed and its earlier puts have been sent. Does not block (the fence flag of the next work request).
  virtual void remote_fence(NodeId node) = 0;
  /// True if the thread with that index has ended and everything it posted towards `node` is done, both in remote and
  /// in local memory. False if that is not known.
  [[nodiscard]] virtual bool settled(std::uint32_t /*thread*/, NodeId /*node*/) { return false; }

  /// Takes finished operations of any of this node's threads from the completion queue; at most out.size().
  virtual std::size_t poll(std::span<Completion> out) = 0;
};

/// The connections between this node's threads and a peer's, which a program can end and replace. Number 0 exists from
/// the start. All this is set-up and takes no simulated time.
class Connections {
 public:
  virtual ~Connections() = default;

  /// Moves this node's queue pairs of its present connection with `node` to the error state: operations in flight fail,
  /// and so do those posted to it later.
  virtual void disconnect(NodeId node) = 0;
  /// True once all completions have come back through poll() and nothing of this or an earlier connection is still on
  /// its way to this node's memory. The queue pairs are then reset, so nothing can arrive later. Poll this until it
  /// returns true.
  [[nodiscard]] virtual bool disconnected(NodeId node) = 0;
  /// Makes the connection with that number, greater than all before, the present one. Both nodes have agreed on the
  /// number and have seen the old connection disconnected, because a queue pair in RESET receives nothing.
  virtual void connect(NodeId node, std::uint32_t number) = 0;
};

/// Messages that carry names, regions and keys when objects are made.
class SetUpMessages {
 public:
  virtual ~SetUpMessages() = default;

  virtual void send_control(NodeId to, std::string body) = 0;
  /// Returns the next set-up message, if one has arrived; pause() wakes up for one. Messages from one node arrive in
  /// order.
  virtual std::optional<ControlMessage> receive_control() = 0;
  /// Like receive_control(), for a thread that does not wait for messages: its pause() does not wake up for one.
  virtual std::optional<ControlMessage> take_control() { return receive_control(); }
};

/// What is known about peers that may stop. By default no peer ever stops.
class Liveness {
 public:
  virtual ~Liveness() = default;

  /// Interval at which this node should probe its peers; 0: never.
  [[nodiscard]] virtual std::int64_t keep_alive_ps() const { return 0; }
  /// True if another node may still stop. If not, a peer that answers once more will always answer and need not be
  /// probed.
  [[nodiscard]] virtual bool another_may_stop() const { return true; }
  /// True if operations can fail, and a peer be given up, although no node stops, because packets may be lost. All
  /// pausing threads are then woken at the first failure, when another_may_stop() starts to return true.
  [[nodiscard]] virtual bool may_give_up_peers() const { return false; }
  /// True if a node has ended for good and nothing will come from it any more, not even set-up messages. Operations
  /// posted to it fail, and poll() reports its end once (kEndedToken).
  [[nodiscard]] virtual bool has_ended(NodeId /*node*/) const { return false; }
  [[nodiscard]] virtual bool any_ended() const { return false; }
  /// True if this node's completion queue has overflowed: it will report no further completion.
  [[nodiscard]] virtual bool completions_lost() { return false; }
  /// How long an operation to a node that does not answer takes to fail, all its retransmissions included.
  [[nodiscard]] virtual std::int64_t retries_ps() const { return 0; }
};

/// Records library calls in a trace. The defaults record nothing.
class CallTracing {
 public:
  virtual ~CallTracing() = default;

  /// Opens a library call of the calling thread; calls nest. The transport itself records the innermost operations.
  virtual void begin_call(const CallInfo& /*call*/) {}
  /// Closes the innermost open call of the lane.
  virtual void end_call(std::uint64_t /*result*/, std::uint32_t /*lane*/) {}
  /// Closes a call that failed, so that its effect is unknown.
  virtual void abandon_call(std::uint32_t /*lane*/) {}
  /// Records that the calling thread now knows its operations with this work id to be complete (the aWT subevent of the
  /// open `wait` call).
  virtual void note_waited(std::uint64_t /*work_id*/) {}
  /// Records that an endpoint of the named object is made on this node, or goes. A name may have several incarnations.
  virtual void object_begins(std::string_view /*name*/) {}
  virtual void object_ends(std::string_view /*name*/) {}
};

class manager;

/// The whole interface, for one node.
class Transport : public NodeThreads,
                  public LocalMemory,
                  public ProcessFlags,
                  public OneSidedVerbs,
                  public Connections,
                  public SetUpMessages,
                  public Liveness,
                  public CallTracing {
 private:
  friend class manager;
  bool has_manager_ = false;
  std::shared_ptr<void> services_;  ///< state that outlives a manager, for the next manager of this node
};

/// Owns a flag and releases it at the end. All other users must be done with it by then.
class owned_flag {
 public:
  explicit owned_flag(Transport& transport) : transport_(transport), flag_(transport.make_flag()) {}
  owned_flag(const owned_flag&) = delete;
  owned_flag& operator=(const owned_flag&) = delete;
  ~owned_flag() { transport_.release_flag(flag_); }
  operator Flag() const { return flag_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  Transport& transport_;
  Flag flag_;
};

/// Registers what the calling thread waits for (Transport::set_waits_for) for the length of a scope.
class waiting_for {
 public:
  waiting_for(Transport& transport, std::function<std::string()> what) : transport_(transport) {
    transport_.set_waits_for(std::move(what));
  }
  waiting_for(const waiting_for&) = delete;
  waiting_for& operator=(const waiting_for&) = delete;
  ~waiting_for() { transport_.set_waits_for({}); }

 private:
  Transport& transport_;
};

}  // namespace loco
