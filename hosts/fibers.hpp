// The driver for blocking code: programs on fibers, each resumed when the machine takes a step of its thread. A driver
// for generators of an interpreter is this one, too: what they yield is done by a program on a fiber, and they
// themselves run outside of it (call_outside).
//
// Everything happens on one OS thread. A program runs only inside run(cpu), and gives the processor back in suspend().
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hosts/recorder.hpp"
#include "hosts/thread.hpp"
#include "nic_model/system.hpp"
#include "sim/fiber.hpp"

namespace loco::hosts {

/// A program threw; the original exception is nested (std::rethrow_if_nested).
class ProgramError : public std::runtime_error {
 public:
  ProgramError(nic::NodeId node, std::string thread, const std::string& what)
      : std::runtime_error("node " + std::to_string(node) + ", thread " + thread + ": " + what),
        node_(node),
        thread_(std::move(thread)) {}
  [[nodiscard]] nic::NodeId node() const { return node_; }
  [[nodiscard]] const std::string& thread() const { return thread_; }

 private:
  nic::NodeId node_;
  std::string thread_;
};

class Fibers final : public nic::ThreadRunner {
 public:
  /// `system` outlives it. `timed`: the schedule is that of the clock.
  /// `recorder`: who is told about what the threads do; may hold none.
  Fibers(nic::System& system, bool timed, const std::unique_ptr<Recorder>& recorder);
  ~Fibers() override;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// A thread of the machine that runs `body` from now on; `index`: among its node's. Its number in the machine.
  nic::ThreadId add(nic::NodeId node, std::uint32_t index, std::string name, std::function<void()> body, bool service);
  /// The same on a thread of the machine whose program has ended: has_ended().
  void start_again(nic::ThreadId id, std::string name, std::function<void()> body, bool service);
  /// Has that thread's program ended, with nothing left of it to happen?
  [[nodiscard]] bool has_ended(nic::ThreadId id) const;
  /// The node's threads take no more steps.
  void halt(nic::NodeId node);
  /// Ends all programs where they are: their destructors run. Nothing of it gets into a trace.
  void unwind();

  // --- for the calling thread, during its step ---
  /// Throws sim::FiberCancelled when programs are being unwound, std::logic_error outside of a step.
  Thread& current() {
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
  /// Config::strong.
  [[nodiscard]] bool strong() const { return strong_; }
  void set_strong(bool strong) { strong_ = strong; }
  [[nodiscard]] sim::SimTime machine_time() const { return system_.now(); }
  [[nodiscard]] nic::System& system() { return system_; }
  /// Null: nothing is recorded.
  [[nodiscard]] Recorder* recorder() const { return recorder_.get(); }
  /// Of the host of the thread whose step it is.
  [[nodiscard]] const nic::HardwareProfile& profile() const { return *profile_; }
  /// Programs are being unwound.
  [[nodiscard]] bool closing() const { return closing_; }

  // --- for who runs the machine ---
  void run(nic::Cpu& cpu) override;
  void prefetch(nic::ThreadId thread) override;
  [[nodiscard]] bool in_step() const { return cpu_ != nullptr; }
  /// By number in the machine.
  [[nodiscard]] const std::vector<std::unique_ptr<Thread>>& all() const { return threads_; }
  /// Programs that have not ended, service threads and those of halted nodes left out.
  [[nodiscard]] std::uint32_t unfinished() const { return unfinished_; }
  /// When the last program ended.
  [[nodiscard]] sim::SimTime ended() const { return ended_; }
  [[nodiscard]] bool failed() const { return failure_ != nullptr; }
  /// Throws the first program's failure: as a ProgramError, or as it was.
  [[noreturn]] void throw_failure() const;
  [[noreturn]] void rethrow_failure() const { std::rethrow_exception(failure_); }

 private:
  void start(nic::ThreadId id, std::string name, std::function<void()> body, bool service);
  void thread_main(nic::ThreadId thread);
  void finish(Thread& thread);
  [[noreturn]] void refuse() const;

  nic::System& system_;
  const nic::HardwareProfile* profile_;
  const std::unique_ptr<Recorder>& recorder_;
  bool timed_;
  bool strong_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<sim::FiberId> fibers_;  ///< of the threads
  std::uint64_t starts_ = 0;
  nic::Cpu* cpu_ = nullptr;                         ///< of the step that is being taken
  nic::ThreadId current_ = 0;                       ///< the thread whose step it is
  Thread* running_ = nullptr;                       ///< that thread
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

}  // namespace loco::hosts
