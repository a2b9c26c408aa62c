// A thread of a simulated host: one core and its program. Loads, stores, fences, atomics, posting, polling, waiting and
// computing, each with its cost, its place in local time and, in a recorded run, in the trace.
//
// The thread makes all calls itself, in a step that its driver (fibers.hpp) has given it. LocalTime decides how far a
// call may run ahead of the machine. `settle()` after a call makes it a step of its own, as plain verbs programs do:
// then nothing is ahead. Memory is aligned 8-byte words, x86-TSO. Errors of posted operations are values; misuse throws
// std::logic_error.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hosts/local_time.hpp"
#include "nic_model/verbs.hpp"
#include "nic_model/verbs/cpu.hpp"
#include "trace/call_info.hpp"
#include "trace/trace.hpp"

namespace loco::hosts {

struct Caller;
class Fibers;
class VerbsRecorder;

/// Something that a thread has looked at since its last pause, for the report of a deadlock.
struct Look {
  enum class What : std::uint8_t { word, flag, completions, send_queue };
  What what = What::word;
  std::uint64_t where = 0;
  std::uint64_t value = 0;
};

/// How many of a thread's latest looks a report names.
inline constexpr std::uint32_t kLooksKept = 8;

struct Thread {
  Thread(Fibers& fibers, nic::NodeId on, std::uint32_t number)
      : node(on), index(number), time(fibers), fibers_(fibers) {}

  nic::NodeId node;
  std::uint32_t index;  ///< index among its node's threads
  LocalTime time;
  std::string name{};
  bool service = false;
  bool ended = false;
  bool halted = false;  ///< its node has stopped
  std::function<void()> body{};
  std::uint64_t start = 0;  ///< its position in the order of all starts

  std::array<Look, kLooksKept> looked{};     ///< ring of the latest looks
  std::uint32_t looked_count = 0;            ///< since the last pause or action
  std::vector<trace::CallInfo> calls{};      ///< open library calls, outermost first
  std::function<std::string()> waits_for{};  ///< describes the wait better than its looks; usually empty
  std::vector<std::uint8_t> fence_next{};    ///< by peer: its next work request carries the fence flag
  std::vector<nic::Wqe> list{};              ///< not posted yet, because another request follows at once
  nic::NodeId list_peer = 0;
  std::uint32_t list_connection = 0;
  std::uint8_t list_service = 0;

  /// Prepares an access that looks at something.
  void look(Access access, Look::What what, std::uint64_t where) {
    time.before(access);
    note({what, where, 0});
  }
  /// Prepares an access that changes something. Earlier looks are no longer what the thread waits for.
  void change(Access access) {
    time.before(access);
    looked_count = 0;
  }
  void note(const Look& look) { looked.at(looked_count++ % kLooksKept) = look; }
  /// Records the value that the latest look has seen.
  void saw(std::uint64_t value) { looked.at((looked_count - 1) % kLooksKept).value = value; }

  // --- memory ------------------------------------------------------------------------------------------------------
  /// `flag`: the word signals something to other threads, so a race on it is intended.
  std::uint64_t load(nic::Address address, bool flag = false);
  void store(nic::Address address, std::uint64_t value);
  std::uint64_t compare_swap(nic::Address address, std::uint64_t expected, std::uint64_t desired);
  void fence();
  std::uint64_t flag_value(Access access, std::uint32_t flag);

  // --- verbs -------------------------------------------------------------------------------------------------------
  /// Builds `count` work requests.
  void build(std::size_t count = 1);
  /// Rings the doorbell for them. Precondition: change(), and room in the store buffer (LocalTime::make_room).
  nic::PostResult ring(nic::QpId qp, std::span<const nic::Wqe> wqes);
  /// ibv_post_send: builds all requests or none, and rings the doorbell; each is a call in the trace.
  nic::PostResult post_send(nic::QpId qp, std::span<const nic::Wqe> wqes);
  /// Post receives to the queue pair or to the shared queue; `cost` is from hosts/costs.hpp.
  nic::PostResult post_recv(nic::QpId qp, std::span<const nic::RecvWqe> wqes, sim::Duration cost);
  nic::PostResult post_srq_recv(nic::SrqId srq, std::span<const nic::RecvWqe> wqes, sim::Duration cost);
  /// Takes all completions that fit, and pays for them afterwards.
  std::size_t poll_all(nic::CqId cq, std::span<nic::Cqe> out);
  /// Takes completions like a loop that polls one queue: in a timed run one at a time, at the end of the poll; a poll
  /// that finds none is an early look.
  std::size_t poll(nic::CqId cq, std::span<nic::Cqe> out);
  /// Polls in a loop until there is a completion.
  [[nodiscard]] nic::Cqe wait_cq(nic::CqId cq);
  /// Loads a word, a flag, until it differs from `old`.
  std::uint64_t wait_for_change(nic::Address address, std::uint64_t old);

  // --- time --------------------------------------------------------------------------------------------------------
  [[nodiscard]] sim::SimTime now() const;
  /// Spends the time of everything done so far: the step ends, and nothing is ahead of the machine.
  void settle() { time.synchronise(); }

  /// Sets the source line of the next calls, for traces of verbs programs.
  void at(const char* file, std::uint32_t line) {
    file_ = file;
    line_ = line;
  }

  /// Begins a call of the memory models (rdmawait's) in the trace. Returns 0 without a trace.
  trace::CallId begin_operation(trace::Method method, std::uint64_t argument = 0, std::uint64_t work_id = 0);
  void finish_operation(trace::CallId call, std::uint64_t result);
  /// Tells the trace that a queue pair has gone to RESET.
  void record_reset(nic::QpId qp);

 private:
  /// The recorder of verbs programs; null: not recording, or no verbs program.
  [[nodiscard]] VerbsRecorder* verbs() const;
  [[nodiscard]] Caller caller() const;
  /// Records the source line of a call.
  void place(trace::CallId call, bool flag = false);
  void settle_queue_pair(nic::QpId qp);
  void receives_posted(std::uint32_t queue, std::span<const nic::RecvWqe> wqes);
  void polled(nic::CqId cq, std::span<const nic::Cqe> cqes);
  [[nodiscard]] nic::Cpu& cpu() const;
  [[nodiscard]] const nic::HardwareProfile& profile() const;

  Fibers& fibers_;
  const char* file_ = "";
  std::uint32_t line_ = 0;
};

}  // namespace loco::hosts
