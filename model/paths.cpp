#include "model/paths.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxLanes = 16;  // chains a pass
constexpr std::uint32_t kNoThread = 0xffffffffU;
constexpr std::uint32_t kNoLane = 0xffffffffU;

}  // namespace

Paths::Paths(const Level& level, Order& order) : index_(level.index()), order_(order) { name_points(); }

/// Close together: they are looked up for every pair.
void Paths::name_points() {
  const std::size_t recorded = index_.trace().subevents.size();
  facts_.resize(order_.points());
  thread_.assign(order_.points(), kNoThread);
  for (PointId p = 0; p < order_.points(); ++p) {
    if (p < recorded) {
      const Kind kind = index_.kind(p + 1);
      facts_[p] = {index_.subevent(p + 1).call, kind.stamp, kind.peer};
    } else if (p < 2 * recorded) {
      facts_[p] = facts_[p - recorded];
    } else if (order_.is_chain(p)) {  // of one thread, or of several
      const auto [a, b] = order_.joined(p);
      thread_[p] = thread_[a] == thread_[b] ? thread_[a] : kNoThread;
      continue;
    } else {
      const Order::Extra& e = order_.extra(p);
      facts_[p] = {e.call, e.stamp, static_cast<std::uint16_t>(e.peer)};
    }
    thread_[p] = index_.call(facts_[p].call).thread;
  }
}

bool Paths::sort() {
  graph_ = by_source(order_, index_.poller());
  sorted_ = topological_order(graph_, index_.poller());
  return sorted_.size() == order_.points();
}

/// Most paths lie within a thread. Threads do not meet there, so their chains share lanes.
std::vector<bool> Paths::exist(std::span<const Pair> pairs) {
  std::vector<bool> found(pairs.size(), false);
  look(pairs, found, true);
  look(pairs, found, false);
  return found;
}

std::vector<CycleEdge> Paths::shortest(Pair pair) const {
  return shortest_path(order_, graph_, pair.from, pair.to, index_.poller());
}

/// A number for (thread, class of rows, node); within threads, the thread does not count.
std::size_t Paths::chain(PointId p, bool within_threads) const {
  const PointFacts& f = facts_[p];
  const bool family = is_family(f.stamp) && f.stamp != Stamp::aGF;
  const bool always = !family && f.stamp != Stamp::aCW;
  const std::size_t thread = within_threads ? 0 : thread_[p];
  const auto row = static_cast<std::size_t>(always ? Stamp::aCR : f.stamp);
  return (thread * kStamps + row) * (std::size_t{index_.trace().nodes} + 1) + (family ? f.peer : 0);
}

/// For the pairs that have not been found: paths of one thread's points, or any.
void Paths::look(std::span<const Pair> pairs, std::vector<bool>& found, bool within_threads) {
  std::vector<std::uint32_t> numbers;  // of the chains, as they come
  std::vector<std::uint32_t> lanes;    // by pair
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::uint32_t& lane = lanes.emplace_back(kNoLane);
    if (found[i] || (within_threads && !of_one_thread(pairs[i].from, pairs[i].to))) continue;
    const std::size_t c = chain(pairs[i].from, within_threads);
    if (c >= numbers.size()) numbers.resize(c + 1, kNoLane);
    if (numbers[c] == kNoLane) numbers[c] = n++;
    lane = numbers[c];
  }
  for (std::uint32_t first = 0; first < n; first += kMaxLanes) {
    if (n - first <= 4)
      pass<4>(pairs, first, within_threads, lanes, found);
    else if (n - first <= 8)
      pass<8>(pairs, first, within_threads, lanes, found);
    else
      pass<kMaxLanes>(pairs, first, within_threads, lanes, found);
  }
}

template <std::size_t Lanes>
void Paths::pass(std::span<const Pair> pairs, std::uint32_t first, bool within_threads,
                 const std::vector<std::uint32_t>& lanes, std::vector<bool>& found) {
  clocks_.assign(order_.points() * Lanes, 0);
  const auto clock = [&](PointId p) { return clocks_.data() + std::size_t{p} * Lanes; };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (lanes[i] - first >= Lanes) continue;
    CallId& mine = clock(pairs[i].from)[lanes[i] - first];
    mine = std::max(mine, facts_[pairs[i].from].call);
  }
  for (const PointId p : sorted_) {
    index_.poll();
    if (within_threads && thread_[p] == kNoThread) continue;
    const CallId* from = clock(p);
    for (std::uint32_t e = graph_.begin[p]; e < graph_.begin[p + std::size_t{1}]; ++e) {
      if (within_threads && thread_[graph_.to[e]] != thread_[p]) continue;
      CallId* to = clock(graph_.to[e]);
      for (std::size_t i = 0; i < Lanes; ++i) to[i] = std::max(to[i], from[i]);
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (lanes[i] - first < Lanes && clock(pairs[i].to)[lanes[i] - first] >= facts_[pairs[i].from].call) found[i] = true;
}

std::string point_text(const Trace& trace, CallId event, const PointFacts& facts) {
  return fmt::format("{}: {}: {}", thread_text(trace, trace.calls[event - 1].thread), call_text(trace, event),
                     stamp_text(facts.stamp, facts.peer));
}

}  // namespace loco::model
