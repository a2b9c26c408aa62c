// What a host thread can do in one step: the primitives of a simulated core.
//
// A Cpu is handed to the ThreadRunner for the duration of one step and stands for one thread. None of its
// operations blocks. A step makes some accesses and then says, exactly once, when the thread goes on: after a
// time, when something it has looked at changes, when its store buffer has drained, or never. For every access
// to be a scheduling point (random or exhaustive scheduling) a step makes at most one shared access: a load, a
// store, a compare-and-swap, a post or a poll. Costs are not added automatically: the runner asks for them from
// profile() and passes them to resume_after().
// Memory is x86-TSO: loads forward from the thread's own store buffer; compare_swap and fence need it empty.
#pragma once

#include <cstdint>
#include <span>

#include "nic_model/observer.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class Engine;

enum class PostResult : std::uint8_t { ok, queue_full, bad_request };

class Cpu {
 public:
  Cpu(Engine& engine, ThreadId thread) : engine_(engine), thread_(thread) {}

  [[nodiscard]] ThreadId thread() const { return thread_; }
  [[nodiscard]] NodeId node() const;
  [[nodiscard]] sim::SimTime now() const;
  [[nodiscard]] const HardwareProfile& profile() const;

  // --- memory: aligned 8-byte words ------------------------------------------------------------------------------
  /// Reads a word; adds it to the watch set.
  [[nodiscard]] std::uint64_t load(Address address, OpId op = 0);
  /// Puts a store into the store buffer. Precondition: !store_buffer_full(). A thread that runs ahead of the clock
  /// makes the store at `ahead` from now. Nobody can tell that it was put there early, because it leaves the store
  /// buffer no earlier than a store made at that time.
  void store(Address address, std::uint64_t value, OpId op = 0, sim::Duration ahead = {});
  /// The thread's process has stored to this word of its own, foreign, memory, which has it already: as of now.
  void stored(Address address, OpId op);
  [[nodiscard]] bool store_buffer_empty() const;
  [[nodiscard]] bool store_buffer_full() const;
  /// Records an mfence (aMF). Precondition: store_buffer_empty().
  void fence(OpId op = 0);
  /// Locked compare-and-swap. Returns the old value and adds the word to the watch set. Records aCAS, or aMF and aCR if
  /// it fails. Precondition: store_buffer_empty().
  std::uint64_t compare_swap(Address address, std::uint64_t expected, std::uint64_t desired, OpId op = 0);

  // --- verbs -------------------------------------------------------------------------------------------------------
  /// Posts linked work requests with one doorbell, which enters the store buffer. All or none are posted. bad_request:
  /// an inline payload that is too long; a READ or atomic with an inline payload or immediate data; an operation that
  /// the transport or the NIC (nic.atomic_cap) does not support; a queue pair that is not ready to send. queue_full: a
  /// work request keeps its place until its CQE, or a later one's, has been polled. Precondition: !store_buffer_full().
  /// `ahead`: as for store(); not with an inline payload.
  PostResult post_send(QpId qp, std::span<const Wqe> wqes, sim::Duration ahead = {});
  /// Posts receive work requests. The doorbell record in memory, by which the NIC learns of them, leaves the store
  /// buffer after earlier stores. All or none are posted. bad_request: a queue pair in RESET, or without a receive
  /// queue of its own (ibv_post_recv(3)). Precondition: !store_buffer_full().
  PostResult post_recv(QpId qp, std::span<const RecvWqe> wqes);
  PostResult post_srq_recv(SrqId srq, std::span<const RecvWqe> wqes);
  /// True if a shared receive queue has fallen below its limit since it was armed. Consumes the event and adds the
  /// queue to the watch set.
  [[nodiscard]] bool srq_limit_reached(SrqId srq);
  /// Removes completions from the queue and adds the queue to the watch set. Records no subevent: see record().
  std::size_t poll_cq(CqId cq, std::span<Cqe> out);
  /// True if poll_cq() would find nothing.
  [[nodiscard]] bool cq_empty(CqId cq) const;
  /// True if a completion with an error has ever been written to the queue. Adds it to the watch set.
  [[nodiscard]] bool cq_failed(CqId cq);
  /// Records an instantaneous subevent without an access: aWT when the thread knows of a completion.
  SubeventId record(Stamp stamp, OpId op, NodeId peer = 0);

  // --- flags: words of process memory, sequentially consistent, outside the memory model ----------------------------
  std::uint64_t flag_load(std::uint32_t flag);
  std::uint64_t flag_fetch_or(std::uint32_t flag, std::uint64_t bits);
  std::uint64_t flag_fetch_and(std::uint32_t flag, std::uint64_t bits);
  std::uint64_t flag_fetch_add(std::uint32_t flag, std::uint64_t value);
  /// The same, but for the thread's own watch set it is no change.
  std::uint64_t flag_add_for_others(std::uint32_t flag, std::uint64_t value);

  /// Adds a key of the runner's own to the watch set: System::notify(node, key) wakes this thread.
  void watch(std::uint64_t key);
  /// Adds all of the node's memory to the watch set.
  void watch_memory();

  /// Empties the watch set, because what the thread has looked at so far no longer matters.
  void forget_watched();

  // --- what next: exactly one of these per step ---------------------------------------------------------------------
  /// The next step is due after `time`, which a computation or this step's accesses take. Keeps the watch set.
  void resume_after(sim::Duration time);
  void resume_at(sim::SimTime at);
  /// One turn of a polling loop ends; the accesses since the last step took `turn`. The next step comes when something
  /// in the watch set has changed since it was looked at, at the instant when the loop would begin the turn that sees
  /// it. Clears the watch set.
  void pause(sim::Duration turn);
  /// The same for a turn that begins only after `ahead`. Its accesses were made now and found nothing; that turn will
  /// see what changes until it begins. If a completion queue ends the pause, the step comes `take` after the beginning
  /// of the turn that sees the entry, when that turn has taken it.
  void pause_from(sim::Duration ahead, sim::Duration turn, sim::Duration take = {});
  /// After a pause: how much time this turn has taken already.
  [[nodiscard]] sim::Duration taken() const;
  /// True if something in the watch set has changed already.
  [[nodiscard]] bool noticed() const;
  /// The next step comes once the store buffer is empty, or has room for one more entry.
  void resume_when_drained();
  void resume_when_room();
  /// The thread has finished (or sleeps until System::wake).
  void stop();

 private:
  template <typename Change>
  std::uint64_t change_flag(std::uint32_t flag, ThreadId unseen_by, Change change);

  Engine& engine_;
  ThreadId thread_;
};

/// Runs the code of simulated threads: fibers, or an interpreter. Not part of the simulated state.
class ThreadRunner {
 public:
  virtual ~ThreadRunner() = default;
  virtual void run(Cpu& cpu) = 0;
  /// The thread's next step is near, so the runner may prefetch the data that it will touch.
  virtual void prefetch(ThreadId) {}
};

}  // namespace loco::nic
