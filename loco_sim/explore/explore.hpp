// Every behaviour of a litmus program on the simulated hardware: exhaustive exploration, and random sampling.
//
// Both run the hardware model of the timed simulator, and differ in how they pick the next pending event
// (docs/machine.md, law 1). Exploration is a depth-first search over copies of the machine, pruned by the set of states
// seen (64-bit hashes) and by running steps that commute with everything else at once. Sampling runs the program many
// times under adversarial delays: drawn at random, or such that the run goes where something may be new. Results are a
// function of the arguments; no clock decides anything unless a time limit is given.
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

/// How outcomes were come to: the choices of a run that shows each, for Machine::record().
using Ways = std::map<model::litmus::Outcome, std::vector<Choice>>;

/// The states that a search looks for. It ends at the first one.
struct Goal {
  std::function<bool(const Configuration&)> reached = {};  ///< none: nothing is looked for
  /// May it hold for a moment only, as the contents of memory do? Then no state is left out because steps commute.
  bool passing = false;
};

struct ExploreLimits {
  std::uint64_t max_executions = 0;       ///< runs to the end; 0: no limit
  std::uint64_t max_states = 0;           ///< 0: no limit
  std::chrono::milliseconds max_time{0};  ///< 0: no limit
  /// Asked now and then; true stops the search, as max_time does. One for several searches limits them together.
  std::function<bool()> out_of_time = {};
  std::uint16_t loop_turns = 0;     ///< Machine::bound_loops; 0: no limit
  std::function<void()> poll = {};  ///< called now and then; what it throws ends the search
  /// A depth-first search that a limit stops has varied little but the end of its first runs. With this, part of the
  /// limits goes to runs that seek new outcomes, as sampling does, unless the search is over soon.
  bool vary = false;
  bool reduce = true;  ///< run commuting steps at once; off only to test that nothing is lost
  bool ways = false;   ///< also tell how each outcome was come to
  Goal goal = {};
};

struct ExploreResult {
  std::vector<model::litmus::Outcome> outcomes;  ///< sorted, each once
  Ways ways;                                     ///< ExploreLimits::ways
  std::set<std::string> failed_assertions;       ///< of runs that reached an end, in words
  std::uint64_t executions = 0;                  ///< runs that reached an end not seen before
  std::uint64_t states = 0;
  std::uint64_t varied = 0;  ///< runs that sought new outcomes: ExploreLimits::vary
  std::uint64_t stuck = 0;   ///< ends in which some thread waits for ever
  std::uint64_t cut = 0;     ///< ends in which a thread would have gone on with a loop
  bool complete = true;      ///< false: a limit stopped the search, or the goal
  bool reached = false;      ///< the goal

  /// There are no more outcomes: neither was the search stopped, nor a loop cut.
  [[nodiscard]] bool exhaustive() const { return complete && cut == 0; }
};

[[nodiscard]] ExploreResult explore(const Machine& machine, const ExploreLimits& limits = {});

struct SampleLimits {
  std::chrono::milliseconds max_time{0};  ///< looked at between runs, of which one is always made; 0: no limit
  std::function<void()> poll = {};        ///< called now and then; what it throws ends the runs
  bool ways = false;                      ///< also tell how each outcome was come to
  Goal goal = {};
};

struct SampleResult {
  struct Seen {
    model::litmus::Outcome outcome;
    std::uint64_t times = 0;
  };
  std::vector<Seen> outcomes;               ///< sorted by outcome
  Ways ways;                                ///< SampleLimits::ways
  std::set<std::string> failed_assertions;  ///< of runs that reached an end, in words
  std::uint64_t runs = 0;                   ///< those made: fewer than asked for if the time was over
  std::uint64_t stuck = 0;                  ///< runs that ended with a thread that waits for ever, or were given up
  bool reached = false;                     ///< the last run has come to the goal
};

/// A function of its arguments. An outcome is seen when a run has shown it, from the program's start to its end.
[[nodiscard]] SampleResult sample(const Machine& machine, std::uint64_t runs, std::uint64_t seed,
                                  const SampleLimits& limits = {});

}  // namespace loco::explore
