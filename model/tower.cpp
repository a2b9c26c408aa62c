#include "model/tower.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "model/graph.hpp"
#include "model/level_run.hpp"
#include "model/lock_calls.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxLanes = 16;      // chains a pass
constexpr std::size_t kMaxExpansion = 64;  // members of a chain of ppo looked at: the earlier ones precede these
constexpr std::uint32_t kNoThread = 0xffffffffU;

struct Promise {
  PointId upper_from, upper_to;  // as promised
  PointId from, to;              // as implemented
  Rule rule;
};

class Tower {
 public:
  Tower(Storey& lower, Storey& upper, Library library, Reports& reports)
      : index_(lower.level.index()),
        lower_(lower.level),
        upper_(upper.level),
        library_(library),
        reports_(reports),
        lower_order_(lower.order),
        upper_order_(upper.order) {}

  void run() {
    name_points();
    collect_implementations();
    for (std::size_t i = 0; i < upper_order_.edges().size(); ++i) {
      index_.poll();
      promises_of(upper_order_.edges()[i], upper_order_.rules()[i]);
    }
    judge();
  }

  /// The promises of locks, all at one level.
  void run_locks() {
    name_points();
    const std::vector<LockStep> steps = lock_calls(index_.trace()).steps;
    std::map<CallId, CallId> next;  // by release: the acquire that follows it
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const LockStep &release = steps[i - 1], &acquire = steps[i];
      const bool one = release.object == acquire.object && release.lock == acquire.lock;
      if (one && acquire.turn == LockStep::Turn::acquired && release.turn != LockStep::Turn::acquired)
        next.emplace(release.call, acquire.call);
    }
    for (std::uint32_t t = 0; t < index_.trace().threads.size(); ++t) promises_of_releases(t, next);
    judge();
  }

 private:
  /// Of each class of writes the last one before the release: ppo has the others before it.
  void promises_of_releases(std::uint32_t thread, const std::map<CallId, CallId>& next) {
    PointId stored = kNoPoint;
    std::map<std::uint32_t, PointId> put;  // by node
    for (const CallId call : index_.calls_of(thread)) {
      index_.poll();
      if (index_.kind_of_call(call).method == Method::release) forget_failed(call, put);
      if (const auto found = next.find(call); found != next.end()) {
        const PointId to = end_of_acquire(found->second);
        if (to != kNoPoint && stored != kNoPoint) promises_.push_back({stored, to, stored, to, Rule::promise});
        const std::optional<std::uint32_t> only = node_of_release(call);
        if (to != kNoPoint)
          for (const auto& [node, from] : put)
            if (!only || *only == node) promises_.push_back({from, to, from, to, Rule::promise});
      }
      if (of_a_lock(call)) continue;
      for (const SubeventId id : index_.subevents_of(call)) {
        if (!lower_.visible(id) || !has_finished(index_.subevent(id))) continue;
        if (index_.kind(id).stamp == Stamp::aCW) stored = id - 1;
        if (index_.kind(id).stamp == Stamp::aNRW) put[index_.kind(id).peer] = id - 1;
      }
    }
  }
  /// What was written to nodes that did not answer the fence of this release, or an earlier one.
  void forget_failed(CallId release, std::map<std::uint32_t, PointId>& put) const {
    const std::span<const CallId> calls = index_.calls_of(index_.call(release).thread);
    for (auto c = std::ranges::lower_bound(calls, release) + 1; c != calls.end() && is_within(*c, release); ++c)
      if (const std::optional<std::uint32_t> node = could_not_fence(*c)) put.erase(*node);
  }
  bool is_within(CallId call, CallId whole) const {
    while (call > whole) call = index_.call(call).parent;
    return call == whole;
  }
  /// The node that a fence has not got an answer from, after which it gave up: a lock is let go all the same, and
  /// promises nothing of what was written there (docs/loco.md, "When nodes fail"). Its thread is told.
  std::optional<std::uint32_t> could_not_fence(CallId get) const {
    const CallId fence = index_.kind_of_call(get).parent;
    if (fence == 0 || index_.kind_of_call(fence).method != Method::gf || index_.call(fence).returned)
      return std::nullopt;
    for (const SubeventId id : index_.subevents_of(get))
      if (index_.kind(id).stamp == Stamp::aNLW && is_unbegun(index_.subevent(id))) return index_.kind(id).peer;
    return std::nullopt;
  }
  /// What locks write for themselves, to pass another lock on, say, is not the holder's.
  bool of_a_lock(CallId call) const {
    while (call != 0 && index_.kind_of_call(call).method != Method::acquire &&
           index_.kind_of_call(call).method != Method::release)
      call = index_.kind_of_call(call).parent;
    return call != 0;
  }
  /// Where a lock is let go by a remote atomic, as those of MPI windows are: that queue pair orders what was put to the
  /// lock's node, and nothing else (a lock to a node; docs/atomics.md).
  std::optional<std::uint32_t> node_of_release(CallId release) const {
    const std::span<const CallId> calls = index_.calls_of(index_.call(release).thread);
    for (auto c = std::ranges::lower_bound(calls, release) + 1; c != calls.end() && is_within(*c, release); ++c) {
      for (const SubeventId id : index_.subevents_of(*c))
        if (index_.kind(id).stamp == Stamp::aNAR) return index_.kind(id).peer;
    }
    return std::nullopt;
  }
  /// The last read or wait of what the call is made of.
  PointId end_of_acquire(CallId acquire) const {
    PointId last = kNoPoint;
    const std::span<const CallId> calls = index_.calls_of(index_.call(acquire).thread);
    for (auto c = std::ranges::lower_bound(calls, acquire) + 1; c != calls.end() && is_within(*c, acquire); ++c) {
      for (const SubeventId id : index_.subevents_of(*c))
        if (index_.kind(id).stamp == Stamp::aWT || index_.kind(id).stamp == Stamp::aCR) last = id - 1;
    }
    return last;
  }

  void judge() {
    if (promises_.empty()) return;
    const Adjacency graph = by_source(lower_order_, index_.poller());
    const std::vector<PointId> order = topological_order(graph, index_.poller());
    if (order.size() != lower_order_.points()) return;
    // Most promises are kept within a thread. Threads do not meet there, so their chains share lanes.
    keep(graph, order, true);
    keep(graph, order, false);
    for (const Promise& p : promises_)
      reports_.add(Rule::promise, [&] {
        if (p.rule == Rule::promise)
          return fmt::format(
              "{} is not before {}: what was written before a lock was let go, and the next one who has it",
              text(p.upper_from), text(p.upper_to));
        return fmt::format("{} before {} ({}) does not hold below", text(p.upper_from), text(p.upper_to), name(p.rule));
      });
  }

  struct Facts {
    CallId call = 0;  // a base call, or the call that a synthesised subevent belongs to
    Stamp stamp = Stamp::aCR;
    std::uint16_t peer = 0;
  };
  static Facts synthesised(const Order::Extra& e) { return {e.call, e.stamp, static_cast<std::uint16_t>(e.peer)}; }
  /// Of a point below, close together: they are looked up for every promise.
  void name_points() {
    const std::size_t recorded = index_.trace().subevents.size();
    facts_.resize(lower_order_.points());
    thread_.assign(lower_order_.points(), kNoThread);
    for (PointId p = 0; p < lower_order_.points(); ++p) {
      if (p < recorded) {
        const Kind kind = index_.kind(p + 1);
        facts_[p] = {index_.subevent(p + 1).call, kind.stamp, kind.peer};
      } else if (p < 2 * recorded) {
        facts_[p] = facts_[p - recorded];
      } else if (lower_order_.is_chain(p)) {  // of one thread, or of several
        const auto [a, b] = lower_order_.joined(p);
        thread_[p] = thread_[a] == thread_[b] ? thread_[a] : kNoThread;
        continue;
      } else {
        facts_[p] = synthesised(lower_order_.extra(p));
      }
      thread_[p] = index_.call(facts_[p].call).thread;
    }
  }
  const Facts& below(PointId lower) const { return facts_[lower]; }
  Facts above(PointId upper) const {
    return upper < index_.trace().subevents.size() || upper_order_.is_start(upper)
               ? facts_[upper]
               : synthesised(upper_order_.extra(upper));
  }
  CallId event(PointId upper) const { return upper_.event_of(above(upper).call); }
  /// Nothing is asked of a call that did not return (it may not have come to what it promises), nor of what had not
  /// happened when the run ended, unless somebody has seen it.
  bool is_asked(PointId upper, Rule rule) const {
    return index_.call(event(upper)).returned && (rule == Rule::rbl_rf || !upper_order_.is_pending(upper));
  }

  /// For each call of the library, the points of the level below that it is made of, in program order.
  void collect_implementations() {
    std::vector<std::pair<CallId, PointId>> found;  // (call of the library, part)
    const auto consider = [&](PointId p, CallId call) {
      const CallId e = upper_.event_of(call);
      if (e != 0 && index_.kind_of_call(e).library == library_) found.emplace_back(e, p);
    };
    for (SubeventId id = 1; id <= index_.trace().subevents.size(); ++id)
      if (lower_.visible(id)) consider(id - 1, index_.subevent(id).call);
    const auto first_extra = static_cast<PointId>(2 * index_.trace().subevents.size());
    for (PointId p = first_extra; p < lower_order_.points(); ++p)
      if (!lower_order_.is_chain(p)) {
        const Order::Extra& e = lower_order_.extra(p);
        consider(p, e.call);
        same_.emplace_back(std::tuple(e.call, e.stamp, e.peer), p);
      }
    std::stable_sort(same_.begin(), same_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    parts_begin_.assign(index_.trace().calls.size() + 2, 0);
    for (const auto& [call, p] : found) ++parts_begin_[call + std::size_t{1}];
    for (std::size_t i = 1; i < parts_begin_.size(); ++i) parts_begin_[i] += parts_begin_[i - 1];
    parts_.resize(found.size());
    std::vector<std::uint32_t> at(parts_begin_.begin(), parts_begin_.end() - 1);
    for (const auto& [call, p] : found) parts_[at[call]++] = p;
    const auto in_program_order = [&](PointId a, PointId b) { return below(a).call < below(b).call; };
    for (CallId call = 1; call <= index_.trace().calls.size(); ++call) {
      index_.poll();
      const std::span<PointId> parts = parts_of(call);
      if (parts.size() > 1) std::stable_sort(parts.begin(), parts.end(), in_program_order);
    }
  }
  std::span<PointId> parts_of(CallId call) {
    return std::span(parts_).subspan(parts_begin_[call], parts_begin_[call + std::size_t{1}] - parts_begin_[call]);
  }

  /// f; kNoPoint when nothing of the implementation can stand for the subevent.
  PointId concrete(PointId upper) {
    if (upper_order_.subevent(upper) != 0) return upper;
    const Facts promised = above(upper);
    if (index_.call(promised.call).library != library_) {  // another library's: the same in the level below
      const auto key = std::tuple(promised.call, promised.stamp, promised.peer);
      const auto found = std::lower_bound(same_.begin(), same_.end(), key,
                                          [](const auto& entry, const auto& wanted) { return entry.first < wanted; });
      return found == same_.end() || found->first != key ? kNoPoint : found->second;
    }
    const std::span<const PointId> parts = parts_of(promised.call);
    PointId best = kNoPoint;
    for (const PointId p : parts) {
      const Facts f = below(p);
      if (f.stamp == promised.stamp && (!is_family(f.stamp) || f.peer == promised.peer)) best = p;
    }
    if (is_write(promised.stamp)) return best;  // nothing else writes what the call was to write
    const Stamp instead = promised.stamp == Stamp::aGF ? Stamp::aWT : Stamp::aCR;
    for (const PointId p : parts)
      if (best == kNoPoint && below(p).stamp == instead) {
        best = p;
        if (promised.stamp == Stamp::aWT) break;  // an empty receive is over when it first looked
      }
    return best;
  }

  /// Is the edge into or out of p the library's to keep, p being no recorded subevent?
  bool answers_for(PointId p) const {
    return upper_order_.subevent(p) == 0 && !upper_order_.is_chain(p) &&
           index_.call(upper_order_.extra(p).call).library == library_;
  }

  void promises_of(const Order::Edge& edge, Rule rule) {
    const bool so = rule == Rule::bal_so || rule == Rule::rbl_rf || rule == Rule::rbl_fb || rule == Rule::pf;
    if ((!so && rule != Rule::ppo) || upper_order_.is_chain(edge.to)) return;
    if (!is_asked(edge.to, rule) || (so && index_.call(event(edge.to)).library != library_)) return;
    const PointId to = concrete(edge.to);
    if (so && upper_order_.is_chain(edge.from)) {  // a barrier's round: one chain before all its exits
      if (edge.from != expanded_) expand(edge.from);
      for (const auto& [implemented, promised] : sources_) add({promised, edge.to, implemented, to, rule});
      return;
    }
    open_.assign(1, edge.from);
    PointId later = kNoPoint;  // promised before `to`, and what precedes it need not be
    for (std::size_t i = 0; i < open_.size() && i < kMaxExpansion; ++i) {
      const PointId from = open_[i];
      if (upper_order_.is_chain(from)) {
        const auto [a, b] = upper_order_.joined(from);
        open_.push_back(b);
        open_.push_back(a);
      } else if (is_asked(from, rule) && (so || answers_for(from) || answers_for(edge.to))) {
        const PointId implemented = concrete(from);
        if (implemented != kNoPoint && later != kNoPoint && is_program_order(implemented, later)) continue;
        add({from, edge.to, implemented, to, rule});
        later = implemented;
      }
    }
  }

  /// All members of a chain, one for each point that stands for some of them below.
  void expand(PointId chain) {
    expanded_ = chain;
    sources_.clear();
    open_.assign(1, chain);
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const PointId p = open_[i];
      if (upper_order_.is_chain(p)) {
        const auto [a, b] = upper_order_.joined(p);
        open_.push_back(a);
        open_.push_back(b);
      } else if (is_asked(p, Rule::bal_so)) {
        sources_.emplace_back(concrete(p), p);
      }
    }
    std::sort(sources_.begin(), sources_.end());
    const auto same_below = [](const auto& a, const auto& b) { return a.first == b.first; };
    sources_.erase(std::unique(sources_.begin(), sources_.end(), same_below), sources_.end());
  }

  void add(const Promise& p) {
    if (p.from == kNoPoint || p.to == kNoPoint) {
      const PointId missing = p.from == kNoPoint ? p.upper_from : p.upper_to;
      if (!missing_.insert(event(missing)).second) return;  // one report a call
      reports_.add(Rule::promise, [&] { return text(missing) + " has nothing that stands for it below"; });
    } else if (p.from != p.to && !is_program_order(p.from, p.to)) {
      promises_.push_back(p);
    }
  }

  /// Is (from, to) in the ppo of the level below?
  bool is_program_order(PointId from, PointId to) const {
    if (lower_order_.is_start(from) || lower_order_.is_start(to)) return false;
    const Facts a = below(from), b = below(to);
    return a.call < b.call && thread_[from] == thread_[to] && lower_.event_of(a.call) != lower_.event_of(b.call) &&
           kStampOrder.ordered(a.stamp, b.stamp, a.peer == b.peer);
  }

  std::string text(PointId upper) const {
    const Facts f = above(upper);
    const CallId e = event(upper);
    return fmt::format("{}: {}: {}", thread_text(index_.trace(), index_.call(e).thread), call_text(index_.trace(), e),
                       stamp_text(f.stamp, f.peer));
  }

  /// A number for (thread, class of rows, node); within threads, the thread does not count.
  std::size_t chain(PointId lower, bool within_threads) const {
    const Facts f = below(lower);
    const bool family = is_family(f.stamp) && f.stamp != Stamp::aGF;
    const bool always = !family && f.stamp != Stamp::aCW;
    const std::size_t thread = within_threads ? 0 : thread_[lower];
    const auto row = static_cast<std::size_t>(always ? Stamp::aCR : f.stamp);
    return (thread * kStamps + row) * (std::size_t{index_.trace().nodes} + 1) + (family ? f.peer : 0);
  }

  /// Strikes out the promises that are kept, by paths of one thread's points or by any.
  void keep(const Adjacency& graph, const std::vector<PointId>& order, bool within_threads) {
    constexpr std::uint32_t kNoLane = 0xffffffffU;
    std::vector<std::uint32_t> numbers;  // of the chains, as they come
    std::vector<std::uint32_t> lanes;    // by promise
    std::uint32_t n = 0;
    for (const Promise& p : promises_) {
      std::uint32_t& lane = lanes.emplace_back(kNoLane);
      if (within_threads && thread_[p.from] != thread_[p.to]) continue;
      const std::size_t c = chain(p.from, within_threads);
      if (c >= numbers.size()) numbers.resize(c + 1, kNoLane);
      if (numbers[c] == kNoLane) numbers[c] = n++;
      lane = numbers[c];
    }
    std::vector<bool> kept(promises_.size(), false);
    for (std::uint32_t first = 0; first < n; first += kMaxLanes) {
      if (n - first <= 4)
        pass<4>(graph, order, first, within_threads, lanes, kept);
      else if (n - first <= 8)
        pass<8>(graph, order, first, within_threads, lanes, kept);
      else
        pass<kMaxLanes>(graph, order, first, within_threads, lanes, kept);
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < promises_.size(); ++i)
      if (!kept[i]) promises_[left++] = promises_[i];
    promises_.resize(left);
  }

  template <std::size_t Lanes>
  void pass(const Adjacency& graph, const std::vector<PointId>& order, std::uint32_t first, bool within_threads,
            const std::vector<std::uint32_t>& lanes, std::vector<bool>& kept) {
    clocks_.assign(lower_order_.points() * Lanes, 0);
    const auto clock = [&](PointId p) { return clocks_.data() + std::size_t{p} * Lanes; };
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      const Promise& p = promises_[i];
      if (lanes[i] - first >= Lanes) continue;
      CallId& mine = clock(p.from)[lanes[i] - first];
      mine = std::max(mine, below(p.from).call);
    }
    for (const PointId p : order) {
      index_.poll();
      if (within_threads && thread_[p] == kNoThread) continue;
      const CallId* from = clock(p);
      for (std::uint32_t e = graph.begin[p]; e < graph.begin[p + std::size_t{1}]; ++e) {
        if (within_threads && thread_[graph.to[e]] != thread_[p]) continue;
        CallId* to = clock(graph.to[e]);
        for (std::size_t i = 0; i < Lanes; ++i) to[i] = std::max(to[i], from[i]);
      }
    }
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      const Promise& p = promises_[i];
      if (lanes[i] - first < Lanes && clock(p.to)[lanes[i] - first] >= below(p.from).call) kept[i] = true;
    }
  }

  const TraceIndex& index_;
  const Level& lower_;
  const Level& upper_;
  Library library_;
  Reports& reports_;
  Order& lower_order_;
  Order& upper_order_;
  std::vector<std::uint32_t> parts_begin_;  // by call
  std::vector<PointId> parts_;
  std::vector<std::pair<std::tuple<CallId, Stamp, std::uint32_t>, PointId>> same_;  // synthesised below; sorted
  std::vector<Facts> facts_;                                                        // by point below; chains have none
  std::vector<std::uint32_t> thread_;                                               // by point below
  std::vector<Promise> promises_;
  std::vector<CallId> clocks_;  // of a pass: by point, its lanes
  std::vector<PointId> open_;
  PointId expanded_ = kNoPoint;                       // the chain whose members these are:
  std::vector<std::pair<PointId, PointId>> sources_;  // (below, above)
  std::set<CallId> missing_;                          // calls without something to stand for a promised subevent
};

}  // namespace

Storey::Storey(Level of, const Order& counted)
    : level(std::move(of)), order(Order::materialised(level.index(), counted)) {
  Reports none(0);
  run_level(level, order, none);
}

void check_lock_promises(Storey& level, Reports& reports) { Tower(level, level, Library::lock, reports).run_locks(); }

void check_tower(Storey& lower, Storey& upper, Library library, Reports& reports) {
  Tower(lower, upper, library, reports).run();
}

}  // namespace loco::model
