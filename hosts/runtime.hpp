// A simulated machine and the threads on its hosts: owns the system, the fibers, the schedule and the recorder, and
// runs them until no event is left. LOCO's cluster and verbs programs are built on it.
//
// A run is a function of the configuration (seed included) and the programs. Everything happens on the calling OS
// thread, inside run(). Not thread-safe; runtimes share nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/config.hpp"
#include "fabric/report.hpp"
#include "hosts/fibers.hpp"
#include "hosts/recorder.hpp"
#include "hosts/schedule.hpp"
#include "nic_model/parts.hpp"
#include "nic_model/system.hpp"
#include "sim/budget.hpp"
#include "sim/host_memory.hpp"

namespace loco::hosts {

/// No event is left and some programs have not ended; what() says what each thread waits for.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run took more events than allowed.
class EventLimit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The machine is a part of a larger one, whose other parts have ended the run (nic_model/parts.hpp).
class PartEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A node that stops: its threads take no more steps, and nothing leaves or reaches its NIC.
struct NodeStop {
  nic::NodeId node = 0;
  sim::SimTime at;
};

struct Config {
  nic::HardwareProfile profile;
  nic::HostsConfig hosts = {};  ///< hosts with other hardware or several NICs
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network{};  ///< shape, options, failures and seed of the fabric
  std::uint32_t nodes = 2;
  std::vector<std::uint32_t> path_mtu = {};                 ///< by node, for its queue pairs (nic::SystemConfig)
  std::vector<fabric::CongestionSettings> congestion = {};  ///< for some queue pairs (nic::SystemConfig)
  std::vector<nic::TransportOptions> transports = {};       ///< the same
  std::uint64_t seed = 1;
  Schedule schedule = Schedule::timed;
  bool record = false;              ///< keep a trace of calls and subevents
  bool record_activities = false;   ///< and of packets, TLPs, doorbells, CQEs
  sim::Duration series_interval{};  ///< interval at which links are sampled; zero: never. Schedule::timed only
  std::uint64_t events_max = 1'000'000'000;
  sim::Budget* budget = nullptr;  ///< checked now and then; may be null, must outlive the runtime
  /// If `network.share` makes this a part of a machine: the meeting point with the other parts, which must outlive
  /// this. run() then waits for them.
  nic::PartMeeting* meeting = nullptr;
  std::vector<NodeStop> stops = {};  ///< Schedule::timed only
  /// To tell faults of ordering from others: each store, WRITE, READ and atomic of a thread is in memory, and its
  /// completion written, before the thread goes on.
  bool strong = false;
};

/// The machine of a configuration.
[[nodiscard]] nic::SystemConfig system_config(const Config& config);

class Runtime {
 public:
  /// Throws std::invalid_argument for nodes that stop under a schedule without times.
  explicit Runtime(Config config);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] nic::System& system() { return system_; }
  [[nodiscard]] const nic::System& system() const { return system_; }
  [[nodiscard]] Fibers& threads() { return threads_; }
  [[nodiscard]] const Fibers& threads() const { return threads_; }
  /// Holds null if nothing is recorded.
  [[nodiscard]] const std::unique_ptr<Recorder>& recorder() const { return recorder_; }
  /// How many of config().stops have happened.
  [[nodiscard]] std::size_t stopped() const { return stopped_; }
  /// Link activity over time; empty unless requested.
  [[nodiscard]] const std::optional<fabric::LinkSeries>& series() const { return series_; }

  /// Describes what the threads wait for, for the report of a run with too many events.
  using Report = std::function<std::string()>;
  /// Runs until no event is left (except messages that are refused for ever), or a program has failed
  /// (threads().failed()). Throws EventLimit, PartEnded, and what the budget throws.
  void run(const Report& waiting);
  /// Events that the last run has taken, as its limit counts them.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Sets the limit of the coming run.
  void set_events_max(std::uint64_t most) { config_.events_max = most; }
  /// Sets the observer of messages in the coming run, which it must outlive; null: none.
  void set_messages(nic::MessageObserver* observer) { messages_ = observer; }
  /// Calls `what` once, between the event that is being handled and the next one.
  void before_next_event(std::function<void()> what) { before_next_ = std::move(what); }
  void set_budget(sim::Budget* budget) { config_.budget = budget; }

  /// Takes out what has been recorded so far and ends the recording: a second trace is empty, as is that of a run that
  /// does not record. Throws std::logic_error during run().
  [[nodiscard]] trace::Trace take_trace();

  /// For a report: the queue pairs whose messages a peer refuses for ever, for lack of a receive. Empty if there are
  /// none. They explain why a run has ended although threads wait, or has taken too many events.
  [[nodiscard]] std::string refused_text() const;
  /// Describes links that PFC has paused and that wait for each other in a cycle; empty if there is no cycle.
  [[nodiscard]] std::string pause_cycle() const;
  /// Paused links and such a cycle, as lines of a report; empty if there are none.
  [[nodiscard]] std::string paused_text() const;

 private:
  void before_step();
  [[nodiscard]] std::string asking_text() const;
  /// Throws if the run should end now. Returns after how many events to ask again.
  std::uint64_t check_progress(std::uint64_t events, const Report& waiting);
  /// Checks now and then, some events in a row, while RNR NAKs are sent, whether nothing else can happen any more.
  /// Returns true if the next event should be checked, too.
  bool look_for_refusals(std::uint64_t events);
  /// Stops the nodes that are due.
  void stop_nodes();

  sim::HeapInLargePages heap_;  ///< first: it also covers the memory of the other members
  Config config_;
  nic::System system_;
  Scheduler scheduler_;
  std::optional<fabric::LinkSeries> series_;
  std::unique_ptr<Recorder> recorder_;
  std::size_t stopped_ = 0;
  std::uint64_t steps_ = 0;         ///< of run()
  std::vector<nic::QpId> refused_;  ///< only their retransmissions are left to happen
  std::uint64_t look_at_ = 0;       ///< number of events at the next check for endless refusals
  std::uint64_t refusals_ = 0;      ///< RNR NAKs at the last check
  std::uint32_t looks_ = 0;         ///< number of checks in a row
  nic::MessageObserver* messages_ = nullptr;
  std::function<void()> before_next_;
  Fibers threads_;
};

}  // namespace loco::hosts
