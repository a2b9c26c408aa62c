// What LOCO needs from below: one-sided operations, local memory under x86-TSO, completions, set-up messages,
// threads. One Transport object stands for one node; its methods act for the calling thread of that node.
//
// LOCO is written once, in blocking style, against this interface: on simulated hardware threads are fibers, on
// a real network they are threads. Addresses are byte offsets in the node's registered memory. Everything that
// other nodes or other threads can see goes through here; nothing under loco/ knows a simulator.
// A transport has eight faces, below. What a simulator wants to know beyond what a network needs (hints, tracing,
// liveness) has defaults, so that a transport over a real network implements only what it has.
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

/// Bytes of a word: what a load, a store or a remote atomic takes at once.
inline constexpr std::uint64_t kWord = 8;
/// A number of bytes, rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Registered memory of some node, as the peers need it: node, first byte, length, key.
struct Region {
  NodeId node = 0;
  /// Over which of the connections with that node it is reached (Connections).
  std::uint32_t connection = 0;
  Address base = 0;
  std::uint64_t size = 0;
  std::uint32_t rkey = 0;
  /// Which of this node's endpoints reaches it so (departures.hpp); 0: none that could go.
  std::uint32_t life = 0;
};

using rdma::Status;

enum class Operation : std::uint8_t { put, get, fetch_add, compare_swap };

struct Completion {
  std::uint64_t token = 0;  ///< the one given when the operation was posted
  Status status = Status::success;
  NodeId peer = 0;
  Operation operation = Operation::put;
  std::uint32_t connection = 0;  ///< over which it went; only where it failed
};

/// The token of a completion that no operation has had: its peer has ended (Liveness::has_ended).
inline constexpr std::uint64_t kEndedToken = 2;

/// When the completion of an operation comes. That of a failed one always does.
enum class Tell : std::uint8_t {
  always,
  if_failed,  ///< nobody waits for it: it may come or not
  /// With that of the calling thread's next operation, which goes to the same node and follows at once. Both are posted
  /// as one list of work requests, with one doorbell.
  with_next,
};

/// How to recognise a one-sided operation: its token comes back with the completion, its work id is the `d` of
/// the memory model (0 is none).
struct OperationTag {
  std::uint64_t token = 0;
  std::uint64_t work_id = 0;
  Tell tell = Tell::always;
  /// Which of the transport's kinds of queue pairs it goes over; 0: those of all others. Between two of them there is
  /// no order.
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

/// Who and where: the node, its threads, their time, and waiting.
class NodeThreads {
 public:
  virtual ~NodeThreads() = default;

  [[nodiscard]] virtual NodeId my_node() const = 0;
  [[nodiscard]] virtual std::uint32_t num_nodes() const = 0;
  /// Index of the calling thread among this node's threads, from 0 in order of spawning. A transport may give that of a
  /// thread that has ended to a new one, with its queue pairs.
  [[nodiscard]] virtual std::uint32_t my_thread() const = 0;
  /// Starts a thread of this node. A service thread (the completion poller) does not keep the run alive. What it uses
  /// of the caller's stack must be there until it has ended, also when the caller fails: workloads::run_team sees to
  /// that.
  virtual void spawn(std::string name, std::function<void()> body, bool service = false) = 0;
  /// Picoseconds since the run began: with nanoseconds, what happens one after the other could have the same time.
  [[nodiscard]] virtual std::int64_t now_ps() const = 0;
  /// Local computation that takes the given time; under a schedule without a clock, 1 ms at most. Throws
  /// std::out_of_range for a time below 0, or beyond the end of time.
  virtual void compute(std::int64_t ps) = 0;

  /// The end of a turn of a polling loop in which nothing came of looking: returns when something that this thread
  /// looked at since its last pause (loads, flags, the completion queue) may have changed since, by itself or by
  /// others. Costs nothing while nothing changes; a loop that has got on takes its next turn without a pause.
  virtual void pause() = 0;
  /// What the calling thread waits for until it says otherwise, for a report of a run that cannot go on. Empty: as it
  /// looks.
  virtual void set_waits_for(std::function<std::string()> /*what*/) {}
  /// All threads of this node that pause take a turn: something has happened that they did not look at.
  virtual void wake_all() = 0;
};

/// Network memory of this node, as its CPUs reach it: x86-TSO.
class LocalMemory {
 public:
  virtual ~LocalMemory() = default;

  /// Registers `size` bytes of zeroed network memory on this node (aligned to 64 bytes).
  virtual Region allocate(std::uint64_t size) = 0;
  /// How much at once, where less would do for now. By itself the paper's chunk, a huge page; less where it all has to
  /// be there from the start.
  [[nodiscard]] virtual std::uint64_t registered_at_once() const { return std::uint64_t{1} << 30U; }
  /// The same in the NIC's memory, for NICs alone: a CPU's access is an ownership_error. Where there is none: in the
  /// host's.
  virtual Region allocate_on_device(std::uint64_t size) { return allocate(size); }
  /// Makes memory that was used before zero, for another use. No other thread and no NIC has to do with it meanwhile.
  virtual void clear(Address base, std::uint64_t size);
  /// Have all stores of this node's threads to these bytes, to which nobody stores any more, reached memory?
  [[nodiscard]] virtual bool stored(Address /*base*/, std::uint64_t /*size*/) { return true; }
  /// Load and store of an aligned 8-byte word: atomic; a store goes through the thread's store buffer.
  virtual std::uint64_t load(Address address) = 0;
  virtual void store(Address address, std::uint64_t value) = 0;
  /// Wide accesses: word by word, each word atomic, the whole not. Sizes are multiples of 8, aligned.
  virtual void load_bytes(Address address, std::span<std::byte> out);
  virtual void store_bytes(Address address, std::span<const std::byte> in);
  /// The words behind these addresses, all in one registration, where a CPU may reach them without a call: loads with
  /// acquire, stores with release (local_span.hpp). Null where every access is a call, as in a simulator. They stay
  /// where they are. What is stored so is in no trace and wakes nobody: a transport that does not answer null has a
  /// pause() that returns by itself after a while.
  [[nodiscard]] virtual std::uint64_t* direct(Address /*address*/, std::uint64_t /*size*/) { return nullptr; }
  /// Locked compare-and-swap on a local word; returns the old value. Atomic against this node's CPUs (and against
  /// the NIC only where the device says so).
  virtual std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) = 0;
  virtual void memory_fence() = 0;
};

/// Process memory shared by a node's threads. The last two are hints for a simulator, where looking costs a step: a
/// real network has no use for them.
class ProcessFlags {
 public:
  virtual ~ProcessFlags() = default;

  virtual Flag make_flag(std::uint64_t initial = 0) = 0;
  /// Nobody uses that flag any more; make_flag may give it to others.
  virtual void release_flag(Flag /*flag*/) {}
  virtual std::uint64_t flag_load(Flag flag) = 0;
  /// The same for a loop that waits for something that stays so once it is: it may look before its turn.
  virtual std::uint64_t flag_peek(Flag flag) { return flag_load(flag); }
  virtual std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) = 0;
  virtual std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) = 0;
  virtual std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) = 0;
  /// Becomes `desired` if it is `expected`. By itself not in one step: another thread may come between.
  virtual bool flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) {
    if (flag_load(flag) != expected) return false;
    flag_fetch_add(flag, desired - expected);
    return true;
  }
  /// The same where the instant does not matter: it may take effect together with the calling thread's access before
  /// it. For bits that nobody looks at before the thread's next access, and for joining a queue or a group of readers.
  /// Does not end the calling thread's own next pause.
  virtual std::uint64_t flag_add_early(Flag flag, std::uint64_t value) { return flag_fetch_add(flag, value); }
};

/// What channels build on and not every network keeps. Cells are those of Fig. 10 of the LOCO/Mowgli paper.
enum class Capability : std::uint8_t {
  ordered_puts,      ///< a put is in memory before a later one of its thread to that node (G7)
  reads_push_puts,   ///< a get reads behind the earlier puts of its thread to that node (G8): what fences are made of
  atomics,           ///< remote fetch-and-add and compare-and-swap
  atomics_with_cpu,  ///< they are atomic with the atomics of the node's CPUs, too
  /// the words of one put are placed, and those of one get read, in the order of addresses: who sees the last one has
  /// the others. No cell, and no object here builds on it; programs that poll the end of a message do
  ascending_words,
};

/// One-sided operations, posted on the calling thread's private queue pair for the peer.
class OneSidedVerbs {
 public:
  virtual ~OneSidedVerbs() = default;

  /// Why the network does not have that; empty when it does. By itself: what a reliable connection of verbs has.
  [[nodiscard]] virtual std::string lacks(Capability what) const {
    if (what == Capability::ascending_words) return "the words of one put or get are in no order";
    return what == Capability::atomics_with_cpu ? "remote atomics are atomic with each other only" : "";
  }

  // All return at once (after waiting for room in the send queue, if it is full); the tag's token comes back
  // through poll(). `local` addresses are on this node; the remote address is remote.base + offset. A remote node
  // may be this node (loopback).
  virtual void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) = 0;
  virtual void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) = 0;
  /// The old value is written to `local` (8 bytes).
  virtual void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                         OperationTag tag) = 0;
  virtual void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                            std::uint64_t desired, OperationTag tag) = 0;
  /// The calling thread's later operations towards `node` begin only after its earlier gets and atomics towards it
  /// have completed and its earlier puts have been sent. Does not block (the fence flag of the next work request).
  virtual void remote_fence(NodeId node) = 0;
  /// Has the thread of that index ended, and is all that it had posted towards `node` done, in memory there and here?
  /// False where that is not known.
  [[nodiscard]] virtual bool settled(std::uint32_t /*thread*/, NodeId /*node*/) { return false; }

  /// Takes finished operations of any of this node's threads from the completion queue; at most out.size().
  virtual std::size_t poll(std::span<Completion> out) = 0;
};

/// The connections between this node's threads and a peer's, where programs end them and begin others. The first one is
/// number 0 and there from the start. Set-up: no time passes.
class Connections {
 public:
  virtual ~Connections() = default;

  /// This node's ends of its present connection with `node` go to the error state: what is under way fails, and so does
  /// what is posted to go over it later.
  virtual void disconnect(NodeId node) = 0;
  /// Has all come back through poll(), and is nothing of that connection and those before on its way to this node's
  /// memory any more? Then nothing ever will be: queue pairs are reset. To be asked until it says yes.
  [[nodiscard]] virtual bool disconnected(NodeId node) = 0;
  /// From now on the connection of that number, greater than those before, is the present one. Both nodes have agreed
  /// on it, and both have seen that the one before is disconnected: a queue pair in RESET takes nothing.
  virtual void connect(NodeId node, std::uint32_t number) = 0;
};

/// Messages that carry names, regions and keys when objects are made.
class SetUpMessages {
 public:
  virtual ~SetUpMessages() = default;

  virtual void send_control(NodeId to, std::string body) = 0;
  /// Next set-up message, if one has arrived (pause() waits for one too). Messages from one node come in order.
  virtual std::optional<ControlMessage> receive_control() = 0;
  /// The same for a thread that does not wait for one: its pause() goes on as if it had not looked.
  virtual std::optional<ControlMessage> take_control() { return receive_control(); }
};

/// What is known of peers that may stop. By itself: nobody does.
class Liveness {
 public:
  virtual ~Liveness() = default;

  /// How often this node should ask its peers whether they are still there; 0: never.
  [[nodiscard]] virtual std::int64_t keep_alive_ps() const { return 0; }
  /// May another node stop from now on? If not, a peer that answers once more always will, and need not be asked again.
  [[nodiscard]] virtual bool another_may_stop() const { return true; }
  /// May operations fail, and a peer be given up for it, although no node stops: can packets be lost? Then all threads
  /// that pause are woken at the first failure, when another_may_stop() begins to say so.
  [[nodiscard]] virtual bool may_give_up_peers() const { return false; }
  /// Has a node ended for good, so that nothing will come from it any more, set-up messages neither? What is posted to
  /// it fails, and poll() says once that it has ended (kEndedToken).
  [[nodiscard]] virtual bool has_ended(NodeId /*node*/) const { return false; }
  [[nodiscard]] virtual bool any_ended() const { return false; }
  /// Has this node's completion queue overflowed? Then no further completion of it will come.
  [[nodiscard]] virtual bool completions_lost() { return false; }
  /// How long an operation towards a node that does not answer takes to fail once it is sent: all its repetitions.
  [[nodiscard]] virtual std::int64_t retries_ps() const { return 0; }
};

/// What a trace says of library calls. By itself: nothing is recorded.
class CallTracing {
 public:
  virtual ~CallTracing() = default;

  /// Brackets a library call of the calling thread; calls nest. Innermost operations are recorded by the transport.
  virtual void begin_call(const CallInfo& /*call*/) {}
  /// Of the innermost open call of the lane.
  virtual void end_call(std::uint64_t /*result*/, std::uint32_t /*lane*/) {}
  /// The same for a call that fails: nobody knows what it has done.
  virtual void abandon_call(std::uint32_t /*lane*/) {}
  /// Records that the calling thread now knows its operations with this work id to be complete (the aWT subevent
  /// of the open `wait` call).
  virtual void note_waited(std::uint64_t /*work_id*/) {}
  /// An endpoint of the named object comes into being on this node, or goes: a name may have several lives.
  virtual void object_begins(std::string_view /*name*/) {}
  virtual void object_ends(std::string_view /*name*/) {}
};

class manager;

/// All of it, for one node.
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
  std::shared_ptr<void> services_;  ///< what outlives managers: the next one of this node goes on with it
};

/// A flag as long as it lives. Who may use it last has ended by then, or has been waited for.
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

/// Says what the calling thread waits for (Transport::set_waits_for) as long as it lives.
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
