// All behaviours of a litmus program on simulated hardware: exhaustive exploration, and random sampling.
//
// Both run the hardware model of the timed simulator and differ in how they choose the next pending event
// (docs/machine.md, law 1). Exploration is a depth-first search over copies of the machine. It is pruned by the set of
// states seen (64-bit hashes), and by running steps at once that commute with everything else. Sampling runs the
// program many times under adversarial delays, which are drawn at random or lead the run to where something may be new.
// Results depend only on the arguments; no clock matters unless a time limit is given.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/explore/machine.hpp"

namespace loco::explore {

/// For each outcome the choices of a run that shows it, for Machine::record().
using Ways = std::map<model::litmus::Outcome, std::vector<Choice>>;

/// The states that a search looks for. It ends at the first one.
struct Goal {
  std::function<bool(const Configuration&)> reached = {};  ///< empty: there is no goal
  /// True if it may hold only for a moment, like the contents of memory. Then no state is skipped because steps
  /// commute.
  bool passing = false;
};

struct ExploreLimits {
  std::uint64_t max_executions = 0;       ///< runs to the end; 0: no limit
  std::uint64_t max_states = 0;           ///< 0: no limit
  std::chrono::milliseconds max_time{0};  ///< 0: no limit
  /// Called now and then; true stops the search, as max_time does. The same function can limit several searches
  /// together.
  std::function<bool()> out_of_time = {};
  std::uint16_t loop_turns = 0;     ///< Machine::bound_loops; 0: no limit
  std::function<void()> poll = {};  ///< called now and then; an exception from it ends the search
  /// When a limit stops a depth-first search, it has varied little but the end of its first runs. With this option,
  /// part of the limits is used for runs that seek new outcomes, as in sampling, unless the search ends soon.
  bool vary = false;
  bool reduce = true;  ///< run commuting steps at once; switched off only to test that no outcome is lost
  bool ways = false;   ///< also return how each outcome was reached
  Goal goal = {};
};

struct ExploreResult {
  std::vector<model::litmus::Outcome> outcomes;  ///< sorted, each once
  Ways ways;                                     ///< ExploreLimits::ways
  std::set<std::string> failed_assertions;       ///< of runs that reached an end, as text
  std::uint64_t executions = 0;                  ///< runs that reached a new end
  std::uint64_t states = 0;
  std::uint64_t varied = 0;  ///< runs that sought new outcomes: ExploreLimits::vary
  std::uint64_t stuck = 0;   ///< ends in which some thread waits forever
  std::uint64_t cut = 0;     ///< ends in which a thread's loop was bounded
  bool complete = true;      ///< false: a limit or the goal stopped the search
  bool reached = false;      ///< the goal was reached

  /// True if there are no further outcomes, because neither was the search stopped nor a loop bounded.
  [[nodiscard]] bool exhaustive() const { return complete && cut == 0; }
};

[[nodiscard]] ExploreResult explore(const Machine& machine, const ExploreLimits& limits = {});

struct SampleLimits {
  std::chrono::milliseconds max_time{0};  ///< of which one run is always made; 0: no limit
  std::function<void()> poll = {};        ///< called now and then; an exception from it ends the runs
  bool ways = false;                      ///< also return how each outcome was reached
  Goal goal = {};
};

struct SampleResult {
  struct Seen {
    model::litmus::Outcome outcome;
    std::uint64_t times = 0;
  };
  std::vector<Seen> outcomes;               ///< sorted by outcome
  Ways ways;                                ///< SampleLimits::ways
  std::set<std::string> failed_assertions;  ///< of runs that reached an end, as text
  std::uint64_t runs = 0;                   ///< runs made; fewer than requested if time ran out
  std::uint64_t stuck = 0;                  ///< runs that ended with a thread that waits forever, or were given up
  bool reached = false;                     ///< the last run has reached the goal
};

/// Depends only on its arguments. An outcome counts as seen if a run has shown it from the program's start to its end.
[[nodiscard]] SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed,
                                  const SampleLimits& limits = {});

}  // namespace loco::explore
