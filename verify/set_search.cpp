#include "verify/set_search.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

#include "verify/stubborn.hpp"

namespace loco::verify {

namespace {

using Index = PointStore::Index;

class Search {
 public:
  Search(SetSystem& system, const SearchOptions& options)
      : system_(system), options_(options), stubborn_(system, options_.limits), store_(system, options.hurry) {}

  /// The size of the search when a limit ended it.
  SearchResult given_up(SearchResult::End why) { return end(why); }

  SearchResult run() {
    Point first = system_.initial();
    if (system_.broken(first)) return end(SearchResult::End::kBroken);
    moved_ = first.at.size();
    if (options_.hurry && advance(first, nullptr)) return broken();
    reach(first, PointStore::kNone, 0);
    while (front_ < queues_.size()) {
      if (queues_[front_].empty()) {
        ++front_;
        continue;
      }
      if (front_ >= broken_distance_) return broken();
      const Index index = queues_[front_].front();
      queues_[front_].pop_front();
      if (done_[index] || distances_[index] != front_ || store_.covered(index)) continue;
      done_[index] = true;
      if ((++expanded_ & 0xffU) == 0 && out_of_something()) return end(reason_);
      expand(index);
      if (options_.hurry && broken_distance_ != kFar) return broken();
    }
    if (broken_distance_ != kFar) return broken();
    return end(SearchResult::End::kNothing);
  }

 private:
  static constexpr std::uint32_t kFar = 0xffffffffU;
  static constexpr std::size_t kQueueBytes = 640;  ///< of an empty deque

  SearchResult end(SearchResult::End what) {
    result_.end = what;
    result_.points = store_.size();
    return std::move(result_);
  }

  bool out_of_something() {
    if (options_.limits.look) options_.limits.look();
    if (options_.limits.out_of_time())
      reason_ = SearchResult::End::kTime;
    else if (bytes() > options_.limits.memory_bytes)
      reason_ = SearchResult::End::kMemory;
    else if (options_.points_max != 0 && store_.size() > options_.points_max)
      reason_ = SearchResult::End::kPoints;
    else
      return false;
    return true;
  }

  [[nodiscard]] std::size_t bytes() const {
    return store_.bytes() + system_.sets().bytes() + system_.numbers().bytes() + queues_.size() * kQueueBytes +
           parents_.capacity() * sizeof(Index) + distances_.capacity() * sizeof(std::uint32_t) +
           queued_ * sizeof(Index);
  }

  /// Notes that there is a way of this length to a point.
  void reach(const Point& point, Index from, std::uint32_t distance) {
    result_.merged = result_.merged || point.merged;
    const std::pair<Index, bool> put = store_.put(point);
    const Index index = put.first;
    if (put.second) {
      parents_.push_back(from);
      distances_.push_back(distance);
      done_.push_back(false);
    } else if (options_.hurry || distances_[index] <= distance) {
      return;
    } else {
      parents_[index] = from;
      distances_[index] = distance;
    }
    if (queues_.size() <= distance) queues_.resize(distance + 1);
    queues_[distance].push_back(index);
    ++queued_;
  }

  /// The moves to explore, without those that would merge operations when only what is exact counts.
  void moves(const Point& point, std::vector<Move>& into) {
    into.clear();
    if (options_.hurry) stubborn_.free_moves(point, into);
    if (into.empty()) stubborn_.moves(point, into);
    if (!options_.only_exact) return;
    into.erase(std::remove_if(into.begin(), into.end(),
                              [&](const Move& move) {
                                const bool merges = system_.merges(point, move);
                                result_.held_back = result_.held_back || merges;
                                return merges;
                              }),
               into.end());
  }

  /// Goes on while there is but one move to explore. Says whether something was broken on the way; adds the moves to
  /// `way`, if given.
  bool advance(Point& point, std::vector<Move>* way) {
    for (;;) {
      options_.limits.tick();
      for (std::size_t p = 0; p < point.at.size(); ++p) {
        // A loop goes through points that are stored.
        if (system_.facts().processes[p].loop_heads[point.at[p]] && moved_ == p) return false;
      }
      moves(point, chain_);
      if (chain_.size() != 1 || chain_.front().nic) return false;
      const Move move = chain_.front();
      moved_ = move.process;
      length_ += system_.moves_weight(point, move);
      if (way != nullptr) way->push_back(move);
      if (step(point, move)) return true;
    }
  }

  bool step(Point& point, const Move& move) {
    if (system_.take(point, move)) return true;
    system_.normalise(point);
    return system_.broken(point);
  }

  /// One way on from a stored point, as far as it is the only one.
  bool follow(Point& point, const Move& move, std::vector<Move>* way) {
    length_ = system_.moves_weight(point, move);
    moved_ = move.nic ? point.at.size() : move.process;
    if (way != nullptr) way->push_back(move);
    if (step(point, move)) return true;
    return options_.hurry && advance(point, way);
  }

  void expand(Index index) {
    store_.get(index, here_);
    std::vector<Move> moves_here;
    moves(here_, moves_here);
    for (const Move& move : moves_here) {
      options_.limits.tick();
      Point next = here_;
      next.merged = false;
      const bool wrong = follow(next, move, nullptr);
      const std::uint32_t distance = distances_[index] + length_;
      if (!wrong) {
        reach(next, index, distance);
      } else if (distance < broken_distance_) {
        broken_distance_ = distance;
        broken_from_ = index;
        broken_by_ = move;
      }
    }
  }

  /// Repeats the path to the violation, now recording its steps.
  SearchResult broken() {
    std::vector<Index> chain;
    for (Index i = broken_from_; i != PointStore::kNone; i = parents_[i]) chain.push_back(i);
    std::reverse(chain.begin(), chain.end());
    Point point = system_.initial();
    if (options_.hurry) {
      moved_ = point.at.size();
      (void)advance(point, &result_.way);
    }
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) write_way(chain[i], chain[i + 1]);
    if (broken_from_ != PointStore::kNone) {
      store_.get(broken_from_, point);
      (void)follow(point, broken_by_, &result_.way);
    }
    result_.distance = broken_distance_;
    return end(SearchResult::End::kBroken);
  }

  void write_way(Index from, Index to) {
    Point start;
    Point end;
    store_.get(from, start);
    store_.get(to, end);
    std::vector<Move> moves_here;
    moves(start, moves_here);
    for (const Move& move : moves_here) {
      Point next = start;
      std::vector<Move> way;
      if (follow(next, move, &way)) continue;
      if (next.at != end.at || next.shared != end.shared || next.locals != end.locals || next.entries != end.entries)
        continue;
      result_.way.insert(result_.way.end(), way.begin(), way.end());
      return;
    }
  }

  SetSystem& system_;
  SearchOptions options_;
  Stubborn stubborn_;
  PointStore store_;
  std::vector<Index> parents_;
  std::vector<std::uint32_t> distances_;  ///< steps of the exact semantics on the way to each point
  std::vector<bool> done_;
  std::vector<std::deque<Index>> queues_;  ///< points to look at, by distance
  std::size_t front_ = 0;
  std::size_t queued_ = 0;
  std::uint64_t expanded_ = 0;
  SearchResult::End reason_ = SearchResult::End::kNothing;
  SearchResult result_;

  Point here_;
  std::uint32_t broken_distance_ = kFar;
  Index broken_from_ = PointStore::kNone;  ///< the last point on the path to the violation; kNone: the first point
  Move broken_by_;
  std::vector<Move> chain_;   ///< of advance()
  std::size_t moved_ = 0;     ///< the process that moved last, in advance()
  std::uint32_t length_ = 0;  ///< of the way that follow() went
};

}  // namespace

SearchResult search(SetSystem& system, const SearchOptions& options) {
  Search search(system, options);
  try {
    return search.run();
  } catch (const std::length_error&) {  // numbers or points that no memory would hold
    return search.given_up(SearchResult::End::kMemory);
  } catch (const LimitReached&) {
    const bool time = options.limits.out_of_time();
    return search.given_up(time ? SearchResult::End::kTime : SearchResult::End::kMemory);
  }
}

}  // namespace loco::verify
