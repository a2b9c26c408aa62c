#include "model/tower.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>
#include <tuple>

#include "model/level_run.hpp"
#include "model/paths.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxExpansion = 64;  // members of a chain of ppo looked at: the earlier ones precede these

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
        upper_order_(upper.order),
        paths_(lower.level, lower.order) {}

  void run() {
    collect_implementations();
    for (std::size_t i = 0; i < upper_order_.edges().size(); ++i) {
      index_.poll();
      promises_of(upper_order_.edges()[i], upper_order_.rules()[i]);
    }
    judge();
  }

 private:
  void judge() {
    if (promises_.empty() || !paths_.sort()) return;
    std::vector<Paths::Pair> pairs;
    for (const Promise& p : promises_) pairs.push_back({p.from, p.to});
    const std::vector<bool> kept = paths_.exist(pairs);
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      const Promise& p = promises_[i];
      if (kept[i]) continue;
      reports_.add(Rule::promise, [&] {
        return fmt::format("{} before {} ({}) does not hold below", text(p.upper_from), text(p.upper_to), name(p.rule));
      });
    }
  }

  static PointFacts synthesised(const Order::Extra& e) { return {e.call, e.stamp, static_cast<std::uint16_t>(e.peer)}; }
  const PointFacts& below(PointId lower) const { return paths_.facts(lower); }
  PointFacts above(PointId upper) const {
    return upper < index_.trace().subevents.size() || upper_order_.is_start(upper)
               ? below(upper)
               : synthesised(upper_order_.extra(upper));
  }
  CallId event(PointId upper) const { return upper_.event_of(above(upper).call); }
  /// Whether the promise is due. It is not for a call that did not return, which may not have come to it, nor for
  /// subevents that had not happened when the run ended, unless a read has seen them (rbl_rf).
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
    const PointFacts promised = above(upper);
    if (index_.call(promised.call).library != library_) {  // another library's subevent is in the level below, too
      const auto key = std::tuple(promised.call, promised.stamp, promised.peer);
      const auto found = std::lower_bound(same_.begin(), same_.end(), key,
                                          [](const auto& entry, const auto& wanted) { return entry.first < wanted; });
      return found == same_.end() || found->first != key ? kNoPoint : found->second;
    }
    const std::span<const PointId> parts = parts_of(promised.call);
    PointId best = kNoPoint;
    for (const PointId p : parts) {
      const PointFacts& f = below(p);
      if (f.stamp == promised.stamp && (!is_family(f.stamp) || f.peer == promised.peer)) best = p;
    }
    if (is_write(promised.stamp)) return best;  // no other subevent writes the call's value
    const Stamp instead = promised.stamp == Stamp::aGF ? Stamp::aWT : Stamp::aCR;
    for (const PointId p : parts)
      if (best == kNoPoint && below(p).stamp == instead) {
        best = p;
        if (promised.stamp == Stamp::aWT) break;  // an empty receive is over when it first looked
      }
    return best;
  }

  /// Whether p is a synthesised subevent of the library, which then answers for the edges into and out of it.
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
    PointId later = kNoPoint;  // promised before `to`: its predecessors in program order follow from it
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
    const PointFacts &a = below(from), &b = below(to);
    return a.call < b.call && paths_.of_one_thread(from, to) && lower_.event_of(a.call) != lower_.event_of(b.call) &&
           kStampOrder.ordered(a.stamp, b.stamp, a.peer == b.peer);
  }

  std::string text(PointId upper) const { return point_text(index_.trace(), event(upper), above(upper)); }

  const TraceIndex& index_;
  const Level& lower_;
  const Level& upper_;
  Library library_;
  Reports& reports_;
  Order& lower_order_;
  Order& upper_order_;
  Paths paths_;                             // of the level below
  std::vector<std::uint32_t> parts_begin_;  // by call
  std::vector<PointId> parts_;
  std::vector<std::pair<std::tuple<CallId, Stamp, std::uint32_t>, PointId>> same_;  // synthesised below; sorted
  std::vector<Promise> promises_;
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

void check_tower(Storey& lower, Storey& upper, Library library, Reports& reports) {
  Tower(lower, upper, library, reports).run();
}

}  // namespace loco::model
