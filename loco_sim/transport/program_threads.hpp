// The program threads of a simulated cluster: blocking code on fibers, resumed when the machine takes a step of its
// thread. What a node's transport, and what is built beside it, needs in order to act for the calling thread.
//
// Everything happens on one OS thread. A program runs only inside run(cpu), and gives the processor back in suspend().
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/local_time.hpp"
#include "nic_model/system.hpp"
#include "sim/fiber.hpp"

namespace loco {

/// A program threw; the original exception is nested (std::rethrow_if_nested).
class ProgramError : public std::runtime_error {
 public:
  ProgramError(NodeId node, std::string thread, const std::string& what)
      : std::runtime_error("node " + std::to_string(node) + ", thread " + thread + ": " + what),
        node_(node),
        thread_(std::move(thread)) {}
  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] const std::string& thread() const { return thread_; }

 private:
  NodeId node_;
  std::string thread_;
};

/// What a thread has looked at since its last pause: for the report of a deadlock.
struct Look {
  enum class What : std::uint8_t { word, flag, completions, send_queue };
  What what = What::word;
  std::uint64_t where = 0;
  std::uint64_t value = 0;
};

/// A report names this many of the things that a thread looked at last.
inline constexpr std::uint32_t kLooksKept = 8;

struct SimThread {
  SimThread(ProgramThreads& threads, NodeId on, std::uint32_t number) : node(on), index(number), time(threads) {}

  NodeId node;
  std::uint32_t index;  ///< among the node's threads
  LocalTime time;
  std::string name{};
  bool service = false;
  bool ended = false;
  bool halted = false;  ///< its node has stopped
  std::function<void()> body{};
  std::uint64_t start = 0;  ///< its number among all that have been started

  std::array<Look, kLooksKept> looked{};     ///< a ring of the latest looks
  std::uint32_t looked_count = 0;            ///< since the last pause or action
  std::vector<CallInfo> calls{};             ///< open library calls, outermost first
  std::function<std::string()> waits_for{};  ///< says more than what it looked at; mostly empty
  std::vector<std::uint8_t> fence_next{};    ///< by peer: its next work request carries the fence flag
  std::vector<nic::Wqe> list{};              ///< not posted yet: another one follows at once (Tell::with_next)
  NodeId list_peer = 0;
  std::uint32_t list_connection = 0;

  /// Makes way for an access that looks at something.
  void look(Access access, Look::What what, std::uint64_t where) {
    time.before(access);
    note({what, where, 0});
  }
  /// Makes way for an access that changes something. What it looked at before is not what it will wait for.
  void change(Access access) {
    time.before(access);
    looked_count = 0;
  }
  void note(const Look& look) { looked.at(looked_count++ % kLooksKept) = look; }
  /// The value seen by the latest look.
  void saw(std::uint64_t value) { looked.at((looked_count - 1) % kLooksKept).value = value; }
};

class ProgramThreads final : public nic::ThreadRunner {
 public:
  /// `system` and `profile`, its hardware, outlive it. `timed`: the schedule is that of the clock.
  ProgramThreads(nic::System& system, const nic::HardwareProfile& profile, bool timed);
  ~ProgramThreads() override;
  ProgramThreads(const ProgramThreads&) = delete;
  ProgramThreads& operator=(const ProgramThreads&) = delete;

  /// A thread of the machine that runs `body` from now on; `index`: among its node's. Its number in the machine.
  nic::ThreadId add(NodeId node, std::uint32_t index, std::string name, std::function<void()> body, bool service);
  /// The same on a thread of the machine whose program has ended: has_ended().
  void start_again(nic::ThreadId id, std::string name, std::function<void()> body, bool service);
  /// Has that thread's program ended, with nothing left of it to happen?
  [[nodiscard]] bool has_ended(nic::ThreadId id) const;
  /// The node's threads take no more steps.
  void halt(NodeId node);
  /// Ends all programs where they are: their destructors run. Nothing of it gets into a trace.
  void unwind();

  // --- for the calling thread, during its step ---
  /// Throws sim::FiberCancelled when programs are being unwound, std::logic_error outside of a step.
  SimThread& current() {
    if (closing_ || cpu_ == nullptr) [[unlikely]] {
      refuse();
    }
    return *running_;
  }
  /// Its number in the machine.
  [[nodiscard]] nic::ThreadId current_id() const { return current_; }
  [[nodiscard]] nic::Cpu& cpu() { return *cpu_; }
  /// Ends the step, after having said to cpu() when the thread goes on, and returns in its next step.
  void suspend();
  /// Calls `f` on the stack that the machine was run on, and goes on. No simulated time passes. For what does not fit
  /// on a fiber's stack, such as an interpreter. What `f` throws comes out here.
  void call_outside(const std::function<void()>& f);

  [[nodiscard]] bool timed() const { return timed_; }
  [[nodiscard]] sim::SimTime machine_time() const { return system_.now(); }
  [[nodiscard]] const nic::HardwareProfile& profile() const { return profile_; }
  /// Programs are being unwound.
  [[nodiscard]] bool closing() const { return closing_; }

  // --- for who runs the machine ---
  void run(nic::Cpu& cpu) override;
  void prefetch(nic::ThreadId thread) override;
  [[nodiscard]] bool in_step() const { return cpu_ != nullptr; }
  /// By number in the machine.
  [[nodiscard]] const std::vector<std::unique_ptr<SimThread>>& all() const { return threads_; }
  /// Programs that have not ended, service threads and those of halted nodes left out.
  [[nodiscard]] std::uint32_t unfinished() const { return unfinished_; }
  /// When the last program ended.
  [[nodiscard]] sim::SimTime ended() const { return ended_; }
  [[nodiscard]] bool failed() const { return failure_ != nullptr; }
  /// Throws the first program's failure as a ProgramError.
  [[noreturn]] void throw_failure() const;

 private:
  void start(nic::ThreadId id, std::string name, std::function<void()> body, bool service);
  void thread_main(nic::ThreadId thread);
  void finish(SimThread& thread);
  [[noreturn]] void refuse() const;

  nic::System& system_;
  const nic::HardwareProfile& profile_;
  bool timed_;
  std::vector<std::unique_ptr<SimThread>> threads_;
  std::vector<sim::FiberId> fibers_;  ///< of the threads
  std::uint64_t starts_ = 0;
  nic::Cpu* cpu_ = nullptr;                         ///< of the step that is being taken
  nic::ThreadId current_ = 0;                       ///< the thread whose step it is
  SimThread* running_ = nullptr;                    ///< that thread
  std::uint32_t unfinished_ = 0;                    ///< program threads
  const std::function<void()>* outside_ = nullptr;  ///< what the running program wants called
  std::exception_ptr outside_failure_;
  std::exception_ptr failure_;
  nic::ThreadId failed_thread_ = 0;
  bool failing_ = false;  ///< the thread being unwound had failed before
  bool closing_ = false;
  sim::SimTime ended_;
  sim::FiberPool pool_;  // last: its destructor unwinds the programs, which still use the rest
};

}  // namespace loco
