// A simulated machine and the threads on its hosts: owns the system, the fibers, the schedule and the recorder, and
// runs them until nothing is left to happen. LOCO's cluster and verbs programs are built on it.
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

/// The machine is a part of one whose other parts have ended the run (nic_model/parts.hpp).
class PartEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A node that stops: its threads take no more steps, and nothing comes from its NIC or reaches it.
struct NodeStop {
  nic::NodeId node = 0;
  sim::SimTime at;
};

struct Config {
  nic::HardwareProfile profile;
  nic::HostsConfig hosts = {};  ///< who has other hardware, or several NICs
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network{};  ///< shape, options, failures and seed of the fabric
  std::uint32_t nodes = 2;
  std::vector<std::uint32_t> path_mtu = {};                 ///< of each node's queue pairs (nic::SystemConfig)
  std::vector<fabric::CongestionSettings> congestion = {};  ///< of some queue pairs (nic::SystemConfig)
  std::vector<nic::TransportOptions> transports = {};       ///< the same
  std::uint64_t seed = 1;
  Schedule schedule = Schedule::timed;
  bool record = false;              ///< keep a trace of calls and subevents
  bool record_activities = false;   ///< and of packets, TLPs, doorbells, CQEs
  sim::Duration series_interval{};  ///< look at the links so often; zero: not at all. Schedule::timed only
  std::uint64_t events_max = 1'000'000'000;
  sim::Budget* budget = nullptr;  ///< asked now and then; may be null, and outlives the runtime
  /// Where `network.share` says that it is a part of a machine: where it meets the others, which outlives it. Then
  /// run() waits for them.
  nic::PartMeeting* meeting = nullptr;
  std::vector<NodeStop> stops = {};  ///< Schedule::timed only
  /// To see whether a fault is one of ordering: each store, WRITE, READ and atomic of a thread is in memory, and its
  /// completion written, before the thread goes on.
  bool strong = false;
};

/// The machine of a configuration.
[[nodiscard]] nic::SystemConfig system_config(const Config& config);

class Runtime {
 public:
  /// Throws std::invalid_argument for nodes that stop where the schedule has no times.
  explicit Runtime(Config config);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] nic::System& system() { return system_; }
  [[nodiscard]] const nic::System& system() const { return system_; }
  [[nodiscard]] Fibers& threads() { return threads_; }
  [[nodiscard]] const Fibers& threads() const { return threads_; }
  /// Holds none when nothing is recorded.
  [[nodiscard]] const std::unique_ptr<Recorder>& recorder() const { return recorder_; }
  /// How many of config().stops have come.
  [[nodiscard]] std::size_t stopped() const { return stopped_; }
  /// What the links did over time; empty when it was not asked for.
  [[nodiscard]] const std::optional<fabric::LinkSeries>& series() const { return series_; }

  /// Says what the threads wait for, in a report of a run that has taken too many events.
  using Report = std::function<std::string()>;
  /// Until nothing is left to happen (but messages that are refused for ever), or a program has failed
  /// (threads().failed()). Throws EventLimit, PartEnded, and what the budget throws.
  void run(const Report& waiting);
  /// Events that the last run has taken, as its limit counts them.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Other limits for the run that is to come.
  void set_events_max(std::uint64_t most) { config_.events_max = most; }
  /// Who is told of messages in the run that is to come; null: nobody. Outlives it.
  void set_messages(nic::MessageObserver* observer) { messages_ = observer; }
  void set_budget(sim::Budget* budget) { config_.budget = budget; }

  /// What was recorded until now, taken out: nothing is recorded from then on, and a second trace is empty, as that of
  /// a run which does not record. Not for its programs: std::logic_error during run().
  [[nodiscard]] trace::Trace take_trace();

  /// Queue pairs whose messages a peer refuses for ever, for want of a receive, as a part of a report; empty where
  /// there are none. They are why a run has ended whose threads wait, or has taken too many events.
  [[nodiscard]] std::string refused_text() const;
  /// Links that PFC has paused and that wait for each other in a cycle, in words; empty where there is none.
  [[nodiscard]] std::string pause_cycle() const;
  /// Links that are paused, and such a cycle, as lines of a report; empty where there are none.
  [[nodiscard]] std::string paused_text() const;

 private:
  void before_step();
  /// Throws when the run should end now; after how many events to ask again.
  std::uint64_t check_progress(std::uint64_t events, const Report& waiting);
  /// Looks, some events in a row now and then while RNR NAKs are sent, whether nothing else can happen any more. True
  /// when the next event should be looked at, too.
  bool look_for_refusals(std::uint64_t events);
  /// Stops the nodes whose time has come.
  void stop_nodes();

  sim::HeapInLargePages heap_;  ///< first: what the others take is followed
  Config config_;
  nic::System system_;
  Scheduler scheduler_;
  std::optional<fabric::LinkSeries> series_;
  std::unique_ptr<Recorder> recorder_;
  std::size_t stopped_ = 0;
  std::uint64_t steps_ = 0;         ///< of run()
  std::vector<nic::QpId> refused_;  ///< all that is left to happen: these send again
  std::uint64_t look_at_ = 0;       ///< after so many events, for messages that are refused for ever
  std::uint64_t refusals_ = 0;      ///< RNR NAKs when it looked last
  std::uint32_t looks_ = 0;         ///< in a row
  nic::MessageObserver* messages_ = nullptr;
  Fibers threads_;
};

}  // namespace loco::hosts
