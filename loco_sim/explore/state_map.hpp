// What sampling knows of a program's machine: the states that runs or look-ahead have met, where their choices lead,
// and which parts offer nothing new.
//
// A state is identified by its hash, a choice by its event. An end is closed once a run has shown its outcome, a choice
// once it leads to a closed state, a state once all its choices are closed. Something new is possible only where
// something is open. The map has a maximum size, and what it does not contain counts as unknown. Its contents depend
// only on the calls made; nothing is iterated in the order of hashes.
#pragma once

#include <boost/unordered_map.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "loco_sim/explore/machine.hpp"

namespace loco::explore {

class StateMap {
 public:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  static constexpr std::size_t kStatesMax = std::size_t{1} << 20U;  // about 150 MB with their choices

  struct Choice {
    std::uint64_t event = 0;             // identifies it
    std::uint32_t from = 0;              // the state that it belongs to
    std::uint32_t to = kUnknown;         // the state that it leads to
    std::uint32_t next_into = kUnknown;  // the next choice that leads there
    bool closed = false;
  };
  struct State {
    std::uint32_t first = 0;        // index of its first choice
    std::uint32_t choices = 0;      // number of choices; 0: an end
    std::uint32_t open = 0;         // choices that are not closed; 1 for an open end
    std::uint32_t into = kUnknown;  // the first choice that leads here
    std::uint32_t visits = 0;       // number of runs that passed it
    std::uint32_t last_visit = 0;   // number of the last such run
    std::uint32_t fresh = 0;        // open choices known to lead to an outcome not shown yet; 1 for such an end
    std::uint32_t tried = 0;        // choices whose target state is known
  };

  explicit StateMap(const Machine& machine) : machine_(machine) {}

  /// The state of a settled configuration (Machine::settle), or kUnknown if the map is full.
  std::uint32_t find(const Configuration& c);
  /// Number of outcomes shown, or found by looking ahead.
  [[nodiscard]] std::size_t outcomes() const { return ends_.size(); }
  [[nodiscard]] const State& state(std::uint32_t i) const { return states_[i]; }
  [[nodiscard]] const Choice& choice(std::uint32_t i) const { return choices_[i]; }
  [[nodiscard]] bool closed(std::uint32_t state) const { return states_[state].open == 0; }
  /// True if a way from here to an outcome that no run has shown is known.
  [[nodiscard]] bool fresh(std::uint32_t state) const { return states_[state].fresh != 0; }
  /// True if the targets of all its choices are known. An end has none.
  [[nodiscard]] bool expanded(std::uint32_t state) const { return states_[state].tried == states_[state].choices; }
  /// The choice of `state` for this pending event; kUnknown if it was not pending when the state was first met.
  [[nodiscard]] std::uint32_t choice_of(std::uint32_t state, const sim::Event& event) const;

  /// A run passes the state.
  void visit(std::uint32_t state, std::uint32_t run);
  /// The choice leads to state `to`.
  void connect(std::uint32_t choice, std::uint32_t to);
  /// The choice leads back to a state that this run has passed.
  void close_choice(std::uint32_t choice);
  /// A run has shown this outcome.
  void show(const model::litmus::Outcome& outcome);
  /// A run has ended with a thread that waits forever.
  void show_stuck();

 private:
  struct Ends {
    bool shown = false;
    std::vector<std::uint32_t> states;
  };
  void add_choice(std::uint32_t state, const sim::Event& event);
  void show(Ends& ends);
  template <typename GoesOn>
  void walk_up(std::uint32_t state, GoesOn goes_on);
  void close(std::uint32_t state);
  void refresh(std::uint32_t state);
  void wither(std::uint32_t state);

  const Machine& machine_;
  boost::unordered_map<std::uint64_t, std::uint32_t> index_;  // used for lookups only, never iterated
  std::vector<State> states_;
  std::vector<Choice> choices_;
  std::map<model::litmus::Outcome, Ends> ends_;
  Ends stuck_;
  std::vector<explore::Choice> enabled_;
  std::vector<std::uint32_t> work_;  // for walks up the map
};

}  // namespace loco::explore
