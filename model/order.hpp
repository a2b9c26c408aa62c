// The graph whose cycles are the violations; and a test, the recorded order, that mostly makes it unnecessary.
//
// Every subevent has a point F at which it takes effect; rdmawait's writes that take time (aCW, aNLW, aNRW) have
// one more, S, at which they are issued (paper, Appendix G.2: so orders finishes, ib orders starts). Chain points
// stand for sets of subevents, so that a quadratic relation needs a linear number of edges. docs/checking.md
// shows that a cycle here is a cycle of ib or of ppo U so, and conversely.
//
// A point has a position: where the recorded run says it happened (F), or as early as its predecessors allow
// (S, chains). While every edge leads forward there is no cycle, and no graph is needed; the same generator then
// runs again with `materialise` to decide exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/rules.hpp"
#include "model/trace_index.hpp"

namespace loco::model {

using PointId = std::uint32_t;
inline constexpr PointId kNoPoint = std::numeric_limits<PointId>::max();

struct Point {
  std::uint64_t position = 0;
  PointId id = kNoPoint;
  bool exists = false;
};

class Order {
 public:
  struct Edge {
    PointId from;
    PointId to;
  };
  /// A point that no recorded subevent has: a chain (the join of two points), or a subevent synthesised from a
  /// library call.
  struct Extra {
    CallId call = 0;  ///< 0: a chain
    Stamp stamp = Stamp::aCR;
    std::uint32_t peer = 0;
    std::uint64_t position = 0;  ///< a chain: the ids of the points joined
  };

  explicit Order(const TraceIndex& index) : Order(index, false) {}
  /// The same edges again, this time stored: `counted` has seen them all.
  [[nodiscard]] static Order materialised(const TraceIndex& index, const Order& counted);

  /// F of a recorded subevent.
  [[nodiscard]] Point finish(SubeventId id) const { return {index_->finish_position(id), id - 1, true}; }
  /// S of a recorded write that takes time: unconstrained until edges lead to it.
  [[nodiscard]] Point start(SubeventId id) const {
    return {1, static_cast<PointId>(index_->trace().subevents.size() + id - 1), true};
  }
  /// A subevent of a library call that no recorded subevent stands for; `when` is a hint, kNever for
  /// one that had not happened when the run ended.
  [[nodiscard]] Point synthesise(CallId call, Stamp stamp, std::uint32_t peer, Seq when);

  /// The chain point after both (or the only one that exists).
  [[nodiscard]] Point join(const Point& a, const Point& b);
  void edge(const Point& from, const Point& to, Rule rule) {
    if (!from.exists || !to.exists) return;
    if (from.position >= to.position) backward();
    add(from, to, rule);
  }
  /// An edge to a start, which is as early as its edges allow. All of them must come before any edge from it.
  void edge_to_start(const Point& from, Point& start, Rule rule) {
    if (!from.exists || !start.exists) return;
    start.position = std::max(start.position, from.position | 1);
    add(from, start, rule);
  }
  /// S before F of one subevent.
  void starts(const Point& start, const Point& finish) {
    if (start.position > finish.position) backward();
    add(start, finish, Rule::starts);
  }

  /// Has every edge led forward so far?
  [[nodiscard]] bool forward() const { return forward_; }

  // --- the materialised graph -----------------------------------------------------------------------------------
  [[nodiscard]] PointId points() const { return points_; }
  [[nodiscard]] std::vector<Edge>& edges() { return edges_; }
  [[nodiscard]] std::vector<Rule>& rules() { return rules_; }
  /// Indices of the edges that led backward: every cycle has one of them.
  [[nodiscard]] const std::vector<std::uint32_t>& backward_edges() const { return backward_edges_; }
  [[nodiscard]] bool is_chain(PointId p) const { return p >= first_extra() && extras_[p - first_extra()].call == 0; }
  [[nodiscard]] bool is_start(PointId p) const { return p >= recorded() && p < first_extra(); }
  /// The recorded subevent of a point; 0 when it has none.
  [[nodiscard]] SubeventId subevent(PointId p) const {
    return p < recorded() ? p + 1 : p < first_extra() ? p - recorded() + 1 : 0;
  }
  /// The two points that a chain point joins.
  [[nodiscard]] std::pair<PointId, PointId> joined(PointId p) const {
    const std::uint64_t both = extras_[p - first_extra()].position;
    return {static_cast<PointId>(both >> 32), static_cast<PointId>(both)};
  }
  /// Synthesised, and had not happened when the run ended?
  [[nodiscard]] bool is_pending(PointId p) const {
    return p >= first_extra() && !is_chain(p) && extras_[p - first_extra()].position >= kPending;
  }
  [[nodiscard]] const Extra& extra(PointId p) const { return extras_[p - first_extra()]; }

 private:
  static constexpr std::uint64_t kPending = std::uint64_t{1} << 63;  // positions from here on: after the run

  [[nodiscard]] PointId recorded() const { return static_cast<PointId>(index_->trace().subevents.size()); }
  [[nodiscard]] PointId first_extra() const { return 2 * recorded(); }
  void backward() {
    forward_ = false;
    if (materialise_) backward_edges_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
  void add(const Point& from, const Point& to, Rule rule) {
    ++edge_count_;
    if (!materialise_) return;
    edges_.push_back({from.id, to.id});
    rules_.push_back(rule);
  }
  Order(const TraceIndex& index, bool materialise);
  [[nodiscard]] PointId new_extra(const Extra& extra) {
    if (materialise_) extras_.push_back(extra);
    return points_++;
  }

  const TraceIndex* index_;
  bool materialise_;
  bool forward_ = true;
  PointId points_ = 0;
  std::size_t edge_count_ = 0;
  std::vector<Edge> edges_;
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> backward_edges_;
  std::vector<Extra> extras_;
};

}  // namespace loco::model
