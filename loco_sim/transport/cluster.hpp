// A simulated cluster: owns the machine, runs node programs on it, reports what went wrong.
//
// Programs are plain blocking code on fibers, against Transport. A run is a function of the configuration (seed
// included) and the programs. Everything happens on the calling OS thread, inside run().
// Errors: what a program throws comes out of run() as a ProgramError with the original nested; programs that wait for
// each other for ever end with Deadlock; too many events with EventLimit. Programs of nodes that stop need not end.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/report.hpp"
#include "loco_sim/loco/transport.hpp"
#include "loco_sim/trace/recorder.hpp"
#include "loco_sim/transport/schedule.hpp"
#include "nic_model/system.hpp"
#include "sim/fiber.hpp"

namespace loco {

class VirtualTransport;
struct SimThread;

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

/// Nothing is left to happen and some programs have not ended; what() says what each thread waits for.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run took more events than it was allowed.
class EventLimit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// ClusterConfig::interrupted said so.
class RunInterrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A node that stops: its threads take no more steps, and nothing comes from its NIC or reaches it.
struct NodeStop {
  NodeId node = 0;
  sim::SimTime at;
};

struct ClusterConfig {
  nic::HardwareProfile profile;
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network{};  ///< shape, options, failures and seed of the fabric
  std::uint32_t nodes = 2;
  std::uint64_t seed = 1;
  Schedule schedule = Schedule::timed;
  bool record = false;              ///< keep a trace of calls and subevents
  bool record_activities = false;   ///< and of packets, TLPs, doorbells, CQEs
  sim::Duration series_interval{};  ///< look at the links so often; zero: not at all. Schedule::timed only
  std::uint64_t events_max = 1'000'000'000;
  std::vector<NodeStop> stops = {};        ///< Schedule::timed only
  sim::Duration keep_alive{100'000'000};   ///< with stops: how often the nodes ask each other
  std::function<bool()> interrupted = {};  ///< asked now and then; may be empty
  /// Of each queue pair. A thread that finds its send queue full waits until completions are polled: by another thread,
  /// as a node's polling thread. One that polls for itself has no more than this under way towards a node.
  std::uint32_t send_queue_entries = 128;
  std::uint32_t completion_entries = 1U << 16U;  ///< of each node's completion queue
  /// What a word is called in the report of a run that cannot go on; empty, or giving "": by its address.
  std::function<std::string(NodeId, Address)> word_name = {};
};

class SimulatedCluster final : public nic::ThreadRunner {
 public:
  using Program = std::function<void(Transport&)>;

  explicit SimulatedCluster(ClusterConfig config);
  ~SimulatedCluster() override;
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  /// A program thread of a node, which starts at time 0 (or now, while running). The run ends when all have ended.
  void spawn(NodeId node, std::string name, Program program);
  /// The same program on every node, as thread "main".
  void spawn_everywhere(const Program& program);

  /// Until every program has ended and the machine has come to rest.
  void run();

  [[nodiscard]] const ClusterConfig& config() const { return config_; }
  [[nodiscard]] nic::System& system() { return system_; }
  [[nodiscard]] const nic::System& system() const { return system_; }
  [[nodiscard]] Transport& node(NodeId node);
  /// Programs that have not ended, those of stopped nodes left out.
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }
  /// When the last program ended.
  [[nodiscard]] sim::SimTime ended() const { return ended_; }
  /// For a program: calls `f` on the stack that run() was called on, and then goes on. No simulated time passes. For
  /// what does not fit on a fiber's stack, such as an interpreter. What `f` throws comes out here.
  void call_outside(const std::function<void()>& f);
  /// What the links did over time; empty when it was not asked for.
  [[nodiscard]] const std::optional<fabric::LinkSeries>& series() const { return series_; }
  /// What was recorded until now, taken out: nothing is recorded from then on, and a second trace is empty, as that of
  /// a cluster which does not record. Not for its programs: std::logic_error during run().
  [[nodiscard]] model::Trace take_trace();

  void run(nic::Cpu& cpu) override;
  void prefetch(nic::ThreadId thread) override;

 private:
  friend class VirtualTransport;
  friend class MessagePort;
  friend class MessageNetwork;

  std::uint32_t add_thread(NodeId node, std::string name, std::function<void()> body, bool service);
  void thread_main(std::uint32_t thread);
  /// Ends all programs where they are. Nothing of it gets into the trace.
  void unwind();
  /// The thread whose step is being taken; throws sim::FiberCancelled when the cluster is being destroyed.
  SimThread& current() {
    if (closing_ || cpu_ == nullptr) [[unlikely]] {
      refuse();
    }
    return *running_;
  }
  [[noreturn]] void refuse() const;
  /// Ends the current step, after having said when the thread goes on, and returns in the thread's next step.
  void suspend();
  void before_step();
  /// Throws when the run should end now; after how many events to ask again.
  std::uint64_t check_progress(std::uint64_t events);
  /// Stops the nodes whose time has come.
  void stop_nodes();
  /// The completion of an operation that failed has been polled.
  void note_failure(const nic::Cqe& failed) { failures_.try_emplace(failed.qp, failed); }
  /// The first failure of each queue pair, polled or not, in words.
  [[nodiscard]] std::string failures_text() const;
  /// What each unfinished thread is doing, and what had failed before.
  [[nodiscard]] std::string waiting_report() const;
  [[noreturn]] void throw_program_error();

  ClusterConfig config_;
  nic::System system_;
  Scheduler scheduler_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<fabric::LinkSeries> series_;
  std::vector<std::unique_ptr<VirtualTransport>> nodes_;
  std::vector<std::unique_ptr<SimThread>> threads_;  ///< by number in the machine
  std::vector<sim::FiberId> fibers_;                 ///< of the threads
  bool failing_ = false;                             ///< the thread being unwound had failed before
  nic::Cpu* cpu_ = nullptr;                          ///< of the step that is being taken
  std::uint32_t current_ = 0;                        ///< the thread whose step it is
  SimThread* running_ = nullptr;                     ///< that thread
  std::uint32_t unfinished_ = 0;                     ///< program threads
  std::size_t stopped_ = 0;                          ///< of config_.stops, in order of time
  const std::function<void()>* outside_ = nullptr;   ///< what the running program wants called
  std::exception_ptr outside_failure_;
  std::exception_ptr failure_;
  std::uint32_t failed_thread_ = 0;
  std::map<nic::QpId, nic::Cqe> failures_;  ///< the first of each queue pair that has been polled
  sim::SimTime ended_;
  bool closing_ = false;
  sim::FiberPool pool_;  // last: its destructor unwinds the programs, which still use the rest
};

}  // namespace loco
