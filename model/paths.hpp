// Which points of a level lie before which others: the question that promises come down to (tower.hpp,
// lock_promises.hpp).
//
// Asked of many pairs at once. Sources lie on chains that ppo orders totally (one a thread, class of rows and node), so
// reachability is one clock entry a chain, carried through the graph in topological order, sixteen chains a pass. What
// holds by a thread's own points alone, nearly everything, is found first, with all threads in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/cycle.hpp"
#include "model/graph.hpp"
#include "model/level.hpp"
#include "model/order.hpp"

namespace loco::model {

/// The call, stamp and peer that a point of the order stands for.
struct PointFacts {
  CallId call = 0;  ///< a base call, or the call that a synthesised subevent belongs to
  Stamp stamp = Stamp::aCR;
  std::uint16_t peer = 0;
};

/// `thread 0: put(x): aNRW`: a point, of which the event is known.
[[nodiscard]] std::string point_text(const Trace& trace, CallId event, const PointFacts& facts);

/// Of a level and its materialised order, which outlive it.
class Paths {
 public:
  struct Pair {
    PointId from = kNoPoint;
    PointId to = kNoPoint;
  };

  Paths(const Level& level, Order& order);

  /// Chains have none.
  [[nodiscard]] const PointFacts& facts(PointId p) const { return facts_[p]; }
  [[nodiscard]] bool of_one_thread(PointId a, PointId b) const { return thread_[a] == thread_[b]; }

  /// Uses up the order's edges. False: there is a cycle, and nothing can be asked.
  [[nodiscard]] bool sort();
  /// By pair: does a path lead from one point to the other? Precondition: sort() returned true.
  [[nodiscard]] std::vector<bool> exist(std::span<const Pair> pairs);
  /// The shortest path, as cycles are counted (cycle.hpp). Precondition: sort() returned true, and there is one.
  [[nodiscard]] std::vector<CycleEdge> shortest(Pair pair) const;

 private:
  void name_points();
  [[nodiscard]] std::size_t chain(PointId p, bool within_threads) const;
  void look(std::span<const Pair> pairs, std::vector<bool>& found, bool within_threads);
  template <std::size_t Lanes>
  void pass(std::span<const Pair> pairs, std::uint32_t first, bool within_threads,
            const std::vector<std::uint32_t>& lanes, std::vector<bool>& found);

  const TraceIndex& index_;
  Order& order_;
  std::vector<PointFacts> facts_;      // by point
  std::vector<std::uint32_t> thread_;  // by point
  Adjacency graph_;
  std::vector<PointId> sorted_;
  std::vector<CallId> clocks_;  // of a pass: by point, its lanes
};

}  // namespace loco::model
