// The states of a program that a System reaches, breadth first, and the steps between them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "verify/engine.hpp"
#include "verify/liveness/system.hpp"

namespace loco::verify::liveness {

using Index = std::uint32_t;
inline constexpr Index kNone = 0xffffffffU;

/// Who takes a step: a process, or from the number of processes on an operation of one class: a statement, the parts
/// done, and the values held.
using Actor = std::uint32_t;

struct GraphEdge {
  Index to = 0;
  Actor actor = 0;
  Actor adds = kNone;  ///< the class that gets one more operation, if it stands for many then
  bool stays = false;  ///< it took one of many, which are as many as before
};

class Graph {
 public:
  /// All outlives this.
  Graph(System& system, const Limits& limits);

  /// Goes on until there are so many states, or all. Throws LimitReached.
  void grow(std::size_t states_max);

  [[nodiscard]] Index size() const { return static_cast<Index>(begins_.size()); }
  /// States from here on have no edges yet.
  [[nodiscard]] Index expanded() const { return expanded_; }
  [[nodiscard]] bool complete() const { return expanded_ == size(); }
  /// Whether a step of some state was held back by the bound.
  [[nodiscard]] bool held_back() const { return any_held_back_; }
  [[nodiscard]] bool held_back(Index state) const { return held_back_[state]; }
  [[nodiscard]] std::span<const GraphEdge> edges(Index state) const;
  [[nodiscard]] Index parent(Index state) const { return parents_[state]; }
  /// No step can be taken there, held back or not.
  [[nodiscard]] bool stopped(Index state) const;
  [[nodiscard]] bool enabled(Index state, std::uint32_t process) const;
  /// The classes of operations that are pending, ascending.
  void classes(Index state, std::vector<Actor>& into) const;
  void get(Index state, State& into) const;
  /// Where this state is; kNone.
  [[nodiscard]] Index find(const State& state);
  /// The move of an edge, by its place among those of the state.
  [[nodiscard]] Move move(Index state, std::size_t edge);

  [[nodiscard]] System& system() { return *system_; }
  [[nodiscard]] std::uint32_t processes() const { return processes_; }
  [[nodiscard]] Actor actors() const { return processes_ + static_cast<Actor>(classes_.size()); }
  [[nodiscard]] const Limits& limits() const { return *limits_; }

 private:
  void pack(const State& state);
  std::pair<Index, bool> put(const State& state, Index parent);
  void expand(Index state);
  Actor class_of(Operation operation);
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const;
  void look_at_memory() const;

  System* system_;
  const Limits* limits_;
  std::uint32_t processes_;
  std::vector<std::uint32_t> words_;  ///< of all states
  std::vector<std::uint64_t> begins_;
  std::vector<Index> table_;  ///< open addressing
  std::vector<Index> parents_;
  std::vector<GraphEdge> edges_;
  std::vector<std::uint64_t> first_edge_;  ///< of expanded states, and one more
  std::vector<bool> enabled_;              ///< processes_ for each expanded state
  std::vector<bool> held_back_;            ///< of expanded states
  bool any_held_back_ = false;
  Index expanded_ = 0;
  std::map<Operation, Actor> classes_;
  std::vector<std::uint32_t> packed_;
};

}  // namespace loco::verify::liveness
