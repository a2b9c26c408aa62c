// The driver for blocking code: programs on fibers, each resumed when the machine takes a step of its thread. It also
// drives generators of an interpreter: a program on a fiber carries out what they yield, while they run outside of it
// (call_outside).
//
// Everything happens on one OS thread. A program runs only inside run(cpu), and yields in suspend().
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

/// A program has thrown an exception, which is nested in this one (std::rethrow_if_nested).
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
  /// `system` must outlive this. `timed`: the schedule is Schedule::timed. `recorder` is told about the threads'
  /// actions; it may hold null.
  Fibers(nic::System& system, bool timed, const std::unique_ptr<Recorder>& recorder);
  ~Fibers() override;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Adds a thread that runs `body` from now on; `index` is its index on its node. Returns its number in the machine.
  nic::ThreadId add(nic::NodeId node, std::uint32_t index, std::string name, std::function<void()> body, bool service);
  /// Reuses a thread whose program has ended (has_ended()) for another program.
  void start_again(nic::ThreadId id, std::string name, std::function<void()> body, bool service);
  /// True if that thread's program has ended and none of its effects is pending.
  [[nodiscard]] bool has_ended(nic::ThreadId id) const;
  /// Stops the node's threads for good.
  void halt(nic::NodeId node);
  /// Unwinds all programs where they are, so that their destructors run. None of this gets into a trace.
  void unwind();

  // --- for the calling thread, during its step ---
  /// Throws sim::FiberCancelled while programs are being unwound, and std::logic_error outside of a step.
  Thread& current() {
    if (closing_ || cpu_ == nullptr) [[unlikely]] {
      refuse();
    }
    return *running_;
  }
  /// The current thread's number in the machine.
  [[nodiscard]] nic::ThreadId current_id() const { return current_; }
  [[nodiscard]] nic::Cpu& cpu() { return *cpu_; }
  /// Ends the step and returns in the thread's next one. The caller has told cpu() before when that is.
  void suspend();
  /// Calls `f` on the stack that runs the machine, for code that needs more stack than a fiber has, such as an
  /// interpreter. No simulated time passes. Exceptions of `f` come out here.
  void call_outside(const std::function<void()>& f);

  [[nodiscard]] bool timed() const { return timed_; }
  /// True if accesses are strongly ordered (Config::strong).
  [[nodiscard]] bool strong() const { return strong_; }
  void set_strong(bool strong) { strong_ = strong; }
  [[nodiscard]] sim::SimTime machine_time() const { return system_.now(); }
  [[nodiscard]] nic::System& system() { return system_; }
  /// Null: not recording.
  [[nodiscard]] Recorder* recorder() const { return recorder_.get(); }
  /// Profile of the current thread's host.
  [[nodiscard]] const nic::HardwareProfile& profile() const { return *profile_; }
  /// True while programs are being unwound.
  [[nodiscard]] bool closing() const { return closing_; }

  // --- for who runs the machine ---
  void run(nic::Cpu& cpu) override;
  void prefetch(nic::ThreadId thread) override;
  [[nodiscard]] bool in_step() const { return cpu_ != nullptr; }
  /// The threads by their number in the machine.
  [[nodiscard]] const std::vector<std::unique_ptr<Thread>>& all() const { return threads_; }
  /// Number of programs that have not ended, without service threads and those of halted nodes.
  [[nodiscard]] std::uint32_t unfinished() const { return unfinished_; }
  /// When the last program ended.
  [[nodiscard]] sim::SimTime ended() const { return ended_; }
  [[nodiscard]] bool failed() const { return failure_ != nullptr; }
  /// Throws the first failure of a program, as a ProgramError or unchanged.
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
  std::vector<sim::FiberId> fibers_;  ///< by thread
  std::uint64_t starts_ = 0;
  nic::Cpu* cpu_ = nullptr;                         ///< of the current step
  nic::ThreadId current_ = 0;                       ///< the thread of the current step
  Thread* running_ = nullptr;                       ///< the same, as an object
  std::uint32_t unfinished_ = 0;                    ///< number of program threads
  const std::function<void()>* outside_ = nullptr;  ///< what the running program asked to be called outside
  std::exception_ptr outside_failure_;
  std::exception_ptr failure_;
  nic::ThreadId failed_thread_ = 0;
  bool failing_ = false;  ///< the thread being unwound has failed before
  bool closing_ = false;
  sim::SimTime ended_;
  sim::FiberPool pool_;  // last: its destructor unwinds the programs, which use the other members
};

}  // namespace loco::hosts
