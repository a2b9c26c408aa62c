// A litmus program on simulated hardware: the placement of its threads and locations on the machine, and an interpreter
// whose state is a value, so that a program and its machine can be copied between two events.
//
// Runs only programs over rdmawait, rdmatso or verbs; LOCO's libraries are translated first (model::litmus::implement).
// Each thread has a queue pair, with its own completion queue, for every node that it operates on. The other end is a
// passive queue pair of its own, so the hardware's ordering domains are the (thread, node) queue pairs of the models. A
// thread makes one shared access in each step.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/explore/loops.hpp"
#include "loco_sim/explore/queues.hpp"
#include "loco_sim/explore/sharing.hpp"
#include "model/litmus/language/program.hpp"
#include "nic_model/system.hpp"
#include "trace/trace.hpp"

namespace loco::explore {

class Recording;

/// A sampled run with more steps is given up, because some thread would run forever.
constexpr std::uint64_t kStepsMax = 100'000;
/// The same for programs of model verbs, where a message that never finds a receive is sent again and again.
constexpr std::uint64_t kVerbsStepsMax = 3'000;

/// State of one of the program's threads. The hardware's state is in the System.
struct ThreadState {
  std::int32_t pc = 0;
  bool finished = false;
  std::uint16_t turns = 0;   ///< of loops with remote operations, if they are bounded
  std::uint32_t fences = 0;  ///< bit n: a remote fence towards node position n (verbs: on queue pair n) is pending
  std::vector<model::litmus::Value> registers;
  std::vector<std::uint16_t> in_flight;  ///< by work id: operations posted and not known to be complete
  std::vector<nic::Cqe> kept;            ///< completions polled to make room in a send queue and not asked for yet
  std::vector<std::int32_t> violated;    ///< instructions whose assertion has failed, sorted
  /// While the thread is in a loop that searches (Loops) and has not changed memory since its last turn: the backward
  /// jump that ended that turn, and the registers at that time. Otherwise kNone and empty.
  std::int32_t turn_end = model::litmus::kNone;
  std::vector<model::litmus::Value> turn_registers;

  bool operator==(const ThreadState&) const = default;
};

/// Something that may happen next: the number of a pending event; with kLost, its packet is lost.
using Choice = std::size_t;
inline constexpr Choice kLost = Choice{1} << 31U;

/// How configurations were reached, as chains of choices. Used to repeat runs in order to record them.
class Trails {
 public:
  static constexpr std::uint32_t kStart = ~std::uint32_t{0};
  static constexpr Choice kSettle = kLost - 1;  ///< runs all that commutes

  std::uint32_t add(std::uint32_t before, Choice choice) {
    steps_.push_back({before, static_cast<std::uint32_t>(choice)});
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }
  [[nodiscard]] std::vector<Choice> way_to(std::uint32_t last) const;
  void clear() { steps_.clear(); }

 private:
  struct Step {
    std::uint32_t before;
    std::uint32_t choice;
  };
  std::vector<Step> steps_;
};

/// A program and its machine in the middle of a run.
struct Configuration {
  nic::System system;
  std::vector<ThreadState> threads;
  Trails* trails = nullptr;  ///< null: how it was reached is not recorded
  std::uint32_t trail = Trails::kStart;

  [[nodiscard]] std::uint64_t hash() const;
};

/// The network that a program runs on.
enum class Network : std::uint8_t {
  simplest,   ///< no links if that shows exactly the same outcomes (docs/exploring.md): far fewer schedules
  of_profile  ///< as the profile has it
};

/// Everything about a program on a profile that does not change during a run.
class Machine {
 public:
  /// Throws std::invalid_argument for a program that uses anything but words or has more than 32 nodes; of model verbs,
  /// for one that has a refusal() or more than 32 queue pairs. `recorded`: runs can be recorded.
  Machine(const model::litmus::Program& program, const nic::HardwareProfile& profile,
          Network network = Network::simplest, bool recorded = false);

  /// Threads are cut off after this many further turns of loops that post operations or wait for them, because each
  /// turn is a new state and exploration would not end. 0: never, as for sampling.
  void bound_loops(std::uint16_t turns) { loop_bound_ = turns; }
  [[nodiscard]] bool cut(const ThreadState& t) const { return loop_bound_ != 0 && t.turns > loop_bound_; }
  [[nodiscard]] const model::litmus::Program& program() const { return program_; }
  /// A sampled run with more steps is given up.
  [[nodiscard]] std::uint64_t steps_max() const { return verbs_ ? kVerbsStepsMax : kStepsMax; }
  /// The configuration before the first step.
  [[nodiscard]] const Configuration& initial() const { return initial_; }
  /// Makes the choice. `recording` observes the step.
  void step(Configuration& c, Choice choice, Recording* recording = nullptr) const;
  /// The pending events that may run now. A message without a receive is not among them, because it would be refused
  /// and sent again later. On links shared with others it is, because they wait behind it. Packets of an unreliable
  /// queue pair may be lost as well.
  void choices(const Configuration& c, std::vector<Choice>& to) const;
  /// Identifies the choice among those of this configuration.
  [[nodiscard]] static sim::Event event(const Configuration& c, Choice choice);
  /// True if there are no choices.
  [[nodiscard]] bool over(const Configuration& c) const;
  /// True if nothing is pending and every thread has run to its end. If nothing is pending but some thread has not, the
  /// configuration is stuck and has no outcome.
  [[nodiscard]] bool finished(const Configuration& c) const;
  /// A mixed-size variable of `final` that is torn in memory has the value kBottom.
  [[nodiscard]] model::litmus::Outcome outcome(const Configuration& c) const;
  /// Adds the assertions that have failed, as text for a result.
  void name_failed_assertions(const Configuration& c, std::set<std::string>& failed) const;

  /// True if this event may run at once, whatever else is pending: everything that can happen if it runs later can also
  /// happen if it runs now. It accesses nothing that another event reads or writes, or running early only allows more
  /// (docs/exploring.md). So running it first loses no outcome.
  [[nodiscard]] bool commutes(const Configuration& c, Choice choice) const;
  /// Runs everything that commutes, repeatedly. What is pending afterwards is a choice, or nothing is.
  void settle(Configuration& c, Recording* recording = nullptr) const;
  /// The trace, of model verbs, of a run that makes these choices. Precondition: the machine is `recorded`, the program
  /// is of that model, and the choices are of this program on this hardware.
  [[nodiscard]] trace::Trace record(const std::vector<Choice>& choices) const;

 private:
  friend class Interpreter;
  friend class Recording;

  struct Place {
    nic::NodeId node = 0;
    nic::Address address = 0;
    std::uint32_t key = 0;
  };
  [[nodiscard]] bool enabled(const Configuration& c, std::size_t i) const {
    return !verbs_ || shared_links_ || !c.system.footprint(i).unready;
  }
  void run(Configuration& c, Choice choice, Recording* recording) const;
  void place_locations(nic::System& system);
  void connect(nic::System& system);
  [[nodiscard]] int node_position(int node) const;
  /// The location at this address of a node's memory, or kNone.
  [[nodiscard]] int location_at(nic::NodeId node, nic::Address address) const;
  [[nodiscard]] const Place& remote_place(const model::litmus::Instruction& i) const;
  [[nodiscard]] const Place& place(int location) const { return places_[static_cast<std::size_t>(location)]; }
  [[nodiscard]] int link(int thread, int node) const { return thread * static_cast<int>(program_.nodes.size()) + node; }
  /// True if the thread's next step affects only the thread itself.
  [[nodiscard]] bool local_step(const Configuration& c, int thread) const;
  [[nodiscard]] bool local_verb(const model::litmus::Post& post) const;
  /// As `commutes`, for events other than threads' steps in programs of model verbs.
  [[nodiscard]] bool verbs_commutes(const nic::Footprint& f) const;
  /// True if no other READ or atomic of its queue pair requests a response, among which its order could matter.
  [[nodiscard]] bool alone(const nic::Footprint& f) const;
  void count_answered();
  /// True if the thread can issue a payload read on the response's queue pair before it has noticed the response.
  [[nodiscard]] bool response_races(const Configuration& c, const nic::Footprint& f) const;

  model::litmus::Program program_;
  std::vector<Place> places_;                // by location
  std::vector<std::vector<int>> locations_;  // by node, by word
  std::vector<std::uint32_t> whole_;         // by node: key of a region that contains all its locations
  std::vector<nic::QpId> qps_;               // by link(thread, node position)
  std::vector<nic::CqId> cqs_;
  std::vector<nic::QpId> passive_;            // their other ends
  std::vector<int> answered_;                 // by a target's queue pair: READs and atomics in the text that it answers
  std::vector<bool> one_atomic_;              // by node: at most one thread has atomics on it
  std::vector<std::vector<int>> used_nodes_;  // by thread: positions of the nodes that it operates on
  std::vector<int> links_;                    // by queue pair: its link(thread, node position), or kNone
  Queues queues_;
  Sharing sharing_;
  Loops loops_;
  bool verbs_ = false;         // the program is of that model
  bool unreliable_ = false;    // it has queue pairs whose messages can be lost
  bool regular_ = false;       // no deliberate fault, and no limit delays work requests
  bool shared_pcie_ = false;   // queue pairs share an ordering domain
  bool late_ = false;          // requests of a queue pair overtake each other
  bool pushed_ = false;        // everything known to be complete is pushed into memory at once
  bool inline_puts_ = false;   // the CPU reads the payload of puts
  bool stale_ = false;         // an atomic may carry what the NIC read last
  bool shared_links_ = false;  // queue pairs share links
  std::uint16_t loop_bound_ = 0;
  Configuration initial_;
};

}  // namespace loco::explore
