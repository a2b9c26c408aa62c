// Verbs programs on simulated hosts: post, poll, load and store, written as blocking code.
//
// Requests to the NIC are the records of nic_model/verbs.hpp, which follow libibverbs and the InfiniBand specification
// (volume 1, chapters 10 and 11). Queue pairs, completion queues and memory are set up with nic::System before run().
// Each call takes simulated time, as given by the profile's cpu.* fields. A run depends only on the configuration
// (including the seed) and the programs. Not thread-safe; Machines share nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hosts/runtime.hpp"
#include "loco_sim/verbs/thread.hpp"
#include "trace/trace.hpp"

namespace loco::verbs {

using hosts::Schedule;

/// No event is left, and some threads have not ended; what() names them and what they wait for.
class Stuck : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Config {
  nic::HardwareProfile profile;
  nic::HostsConfig hosts = {};  ///< hosts with other hardware or several NICs
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network{};  ///< shape, options, failures and seed of the fabric
  std::uint32_t nodes = 2;
  std::vector<std::uint32_t> path_mtu = {};  ///< of each node's queue pairs (nic::SystemConfig)
  std::uint64_t seed = 1;
  /// By default by the clock, but random on hardware without times (`fabric.ideal`). Such hardware is a model of what
  /// may happen, and a run by the clock would show one of its behaviours as if it were the only one.
  std::optional<Schedule> schedule = {};
  bool record = false;                      ///< records a trace: Machine::take_trace()
  bool record_activities = false;           ///< also of packets, TLPs, doorbells, CQEs
  sim::Budget* budget = nullptr;            ///< may be null; must outlive the machine
  std::vector<hosts::NodeStop> stops = {};  ///< Schedule::timed only
};

/// The simulated machine and the programs on it.
class Machine {
 public:
  using Program = std::function<void(Thread&)>;

  /// Throws std::invalid_argument for a schedule by the clock on hardware without times.
  explicit Machine(Config config);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// For set-up, which takes no simulated time, and for reading memory and counters.
  [[nodiscard]] nic::System& system() { return runtime_.system(); }
  [[nodiscard]] Schedule schedule() const { return runtime_.config().schedule; }

  /// Adds a thread on a host, which starts at time 0. To call before run().
  void spawn(nic::NodeId node, Program program);
  /// Declares that other threads signal with this word, so that unordered accesses to it are no race.
  void declare_flag(nic::NodeId node, nic::Address address) { flags_.emplace_back(node, address); }

  /// Runs until every program has ended and nothing is in flight. Throws what a program throws, Stuck, and
  /// std::runtime_error after `events_max` events. Without a budget, `poll` is called now and then; an exception from
  /// it ends the run.
  void run(std::uint64_t events_max = 1'000'000'000, const std::function<void()>& poll = {});

  /// Takes what was recorded so far (Config::record), also of a run that has not ended well.
  [[nodiscard]] trace::Trace take_trace();

 private:
  [[nodiscard]] std::string waiting() const;
  [[nodiscard]] std::string look_text(const hosts::Look& look) const;

  hosts::Runtime runtime_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::shared_ptr<TakenEvents>> taken_;  ///< by node
  std::vector<std::pair<nic::NodeId, nic::Address>> flags_;
  std::uint32_t spawned_ = 0;
};

}  // namespace loco::verbs
