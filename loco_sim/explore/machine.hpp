// A litmus program on simulated hardware: how its threads and locations lie on the machine, and an interpreter whose
// state is a value, so that a program and its machine can be copied between two events.
//
// Only programs over rdmawait, rdmatso or verbs run here; LOCO's libraries are translated first
// (model::litmus::implement).
// Each thread has a queue pair, with its own completion queue, for every node that it operates on; the other end is a
// passive queue pair of its own, so that the ordering domains of the hardware are the (thread, node) queue pairs of
// the models. A thread makes one shared access a step.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/explore/loops.hpp"
#include "loco_sim/explore/queues.hpp"
#include "loco_sim/explore/sharing.hpp"
#include "model/litmus/program.hpp"
#include "nic_model/system.hpp"
#include "trace/trace.hpp"

namespace loco::explore {

class Recording;

/// A sampled run that takes more steps than this is given up: some thread goes on for ever.
constexpr std::uint64_t kStepsMax = 100'000;
/// The same for programs of model verbs: a message that never finds a receive is sent again and again.
constexpr std::uint64_t kVerbsStepsMax = 3'000;

/// A state of the program's threads. Hardware state is the System's.
struct ThreadState {
  std::int32_t pc = 0;
  bool finished = false;
  std::uint16_t turns = 0;   ///< of loops with remote operations, when they are bounded
  std::uint32_t fences = 0;  ///< bit n: a remote fence towards node position n (verbs: on queue pair n) is pending
  std::vector<model::litmus::Value> registers;
  std::vector<std::uint16_t> in_flight;  ///< by work id: operations posted and not yet known complete
  std::vector<nic::Cqe> kept;            ///< completions polled to make room in a send queue, not yet asked for
  std::vector<std::int32_t> violated;    ///< instructions whose assertion has failed, ascending
  /// While the thread is in a loop that searches (Loops) and has not changed memory since its last turn: the backward
  /// jump that ended that turn, and the registers as they were then. Else kNone, and none.
  std::int32_t turn_end = model::litmus::kNone;
  std::vector<model::litmus::Value> turn_registers;

  bool operator==(const ThreadState&) const = default;
};

/// Something that may happen next: the number of a pending event; with kLost, the packet that it brings is lost.
using Choice = std::size_t;
inline constexpr Choice kLost = Choice{1} << 31U;

/// How configurations were come to, choice by choice, each with the one before it: for runs that are made again to be
/// recorded.
class Trails {
 public:
  static constexpr std::uint32_t kStart = ~std::uint32_t{0};
  static constexpr Choice kSettle = kLost - 1;  ///< all that commutes

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

/// A program and a machine in the middle of running it.
struct Configuration {
  nic::System system;
  std::vector<ThreadState> threads;
  Trails* trails = nullptr;  ///< none: nobody asks how it was come to
  std::uint32_t trail = Trails::kStart;

  [[nodiscard]] std::uint64_t hash() const;
};

/// Which network a program runs on.
enum class Network : std::uint8_t {
  simplest,   ///< without links where that shows exactly the same outcomes (docs/exploring.md): far fewer schedules
  of_profile  ///< as the profile has it
};

/// Everything about a program on a profile that does not change while it runs.
class Machine {
 public:
  /// Throws std::invalid_argument for a program that uses something else than words, or more than 32 nodes; of model
  /// verbs: one for which there is a refusal(), or with more than 32 queue pairs. `recorded`: runs can be recorded.
  Machine(const model::litmus::Program& program, const nic::HardwareProfile& profile,
          Network network = Network::simplest, bool recorded = false);

  /// Threads end, cut, after so many further turns of loops that post operations or wait for them: each turn is a new
  /// state, so that exploring would not come to an end. 0: never, as for sampling.
  void bound_loops(std::uint16_t turns) { loop_bound_ = turns; }
  [[nodiscard]] bool cut(const ThreadState& t) const { return loop_bound_ != 0 && t.turns > loop_bound_; }
  [[nodiscard]] const model::litmus::Program& program() const { return program_; }
  /// A sampled run that takes more steps is given up.
  [[nodiscard]] std::uint64_t steps_max() const { return verbs_ ? kVerbsStepsMax : kStepsMax; }
  /// The configuration before the first step.
  [[nodiscard]] const Configuration& initial() const { return initial_; }
  /// Takes it. `recording`: watches.
  void step(Configuration& c, Choice choice, Recording* recording = nullptr) const;
  /// The pending events that may run now. Not so a message for which there is no receive yet: it would be refused and
  /// sent again, which is to come later. (On links that others share it may: they wait behind it.) What an unreliable
  /// queue pair has sent may be lost as well.
  void choices(const Configuration& c, std::vector<Choice>& to) const;
  /// What names the choice, apart from others of this configuration.
  [[nodiscard]] static sim::Event event(const Configuration& c, Choice choice);
  /// There are none.
  [[nodiscard]] bool over(const Configuration& c) const;
  /// Nothing is pending and every thread has run to its end. A configuration in which nothing is pending and some
  /// thread has not is stuck: it has no outcome.
  [[nodiscard]] bool finished(const Configuration& c) const;
  /// A mixed-size variable of `final` that is torn in memory counts as kBottom.
  [[nodiscard]] model::litmus::Outcome outcome(const Configuration& c) const;
  /// Adds the assertions that have failed, in the words of a result.
  void name_failed_assertions(const Configuration& c, std::set<std::string>& failed) const;

  /// May this event run at once, whatever else is pending? True if whatever can happen when it runs later can also
  /// happen when it runs now: it touches nothing that another event reads or writes, or being early only allows more
  /// (docs/exploring.md). Running it first loses no outcome.
  [[nodiscard]] bool commutes(const Configuration& c, Choice choice) const;
  /// Runs all that commutes, and what follows from it: what is pending then is a choice, or nothing is.
  void settle(Configuration& c, Recording* recording = nullptr) const;
  /// What happened in a run that takes these choices: a trace of model verbs. Precondition: the machine is `recorded`,
  /// the program of that model, and the choices are of this program on this hardware.
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
  /// The location at this place of a node's memory, or kNone.
  [[nodiscard]] int location_at(nic::NodeId node, nic::Address address) const;
  [[nodiscard]] const Place& remote_place(const model::litmus::Instruction& i) const;
  [[nodiscard]] const Place& place(int location) const { return places_[static_cast<std::size_t>(location)]; }
  [[nodiscard]] int link(int thread, int node) const { return thread * static_cast<int>(program_.nodes.size()) + node; }
  /// Does the thread's next step touch nothing but the thread itself?
  [[nodiscard]] bool local_step(const Configuration& c, int thread) const;
  [[nodiscard]] bool local_verb(const model::litmus::Post& post) const;
  /// As `commutes`, of what is no thread's step, in programs of model verbs.
  [[nodiscard]] bool verbs_commutes(const nic::Footprint& f) const;
  /// Does no other READ or atomic of its queue pair ask for an answer, whose place among the answers could matter?
  [[nodiscard]] bool alone(const nic::Footprint& f) const;
  void count_answered();
  /// Can the thread issue a payload read on the response's queue pair before it has taken note of the response?
  [[nodiscard]] bool response_races(const Configuration& c, const nic::Footprint& f) const;

  model::litmus::Program program_;
  std::vector<Place> places_;                // by location
  std::vector<std::vector<int>> locations_;  // by node, by word
  std::vector<std::uint32_t> whole_;         // by node: key of a region around all its locations
  std::vector<nic::QpId> qps_;               // by link(thread, node position)
  std::vector<nic::CqId> cqs_;
  std::vector<nic::QpId> passive_;            // their other ends
  std::vector<int> answered_;                 // by queue pair of a target: READs and atomics in the text that ask it
  std::vector<bool> one_atomic_;              // by node: at most one thread has atomics on it
  std::vector<std::vector<int>> used_nodes_;  // by thread: node positions it operates on
  std::vector<int> links_;                    // by queue pair: its link(thread, node position), or kNone
  Queues queues_;
  Sharing sharing_;
  Loops loops_;
  bool verbs_ = false;         // of that model
  bool unreliable_ = false;    // with queue pairs whose messages can be lost
  bool regular_ = false;       // nothing is broken, and no limit delays work requests
  bool shared_pcie_ = false;   // queue pairs share an ordering domain,
  bool late_ = false;          // requests of one queue pair overtake each other
  bool pushed_ = false;        // whatever is known to be complete is pushed into memory at once
  bool inline_puts_ = false;   // the CPU reads what it puts
  bool stale_ = false;         // what a NIC read last may be what an atomic carries
  bool shared_links_ = false;  // links
  std::uint16_t loop_bound_ = 0;
  Configuration initial_;
};

}  // namespace loco::explore
