#include "model/tower.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "model/graph.hpp"
#include "model/level_run.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kLanes = 16;         // chains a pass
constexpr std::size_t kMaxExpansion = 64;  // members of a chain looked at: the earlier ones precede these by ppo

using Clock = std::array<CallId, kLanes>;

struct Promise {
  PointId upper_from, upper_to;  // as promised
  PointId from, to;              // as implemented
  Rule rule;
};

class Tower {
 public:
  Tower(Level& lower, Level& upper, Library library, Reports& reports)
      : index_(lower.index()),
        lower_(lower),
        upper_(upper),
        library_(library),
        reports_(reports),
        lower_order_(build(lower)),
        upper_order_(build(upper)) {}

  void run() {
    collect_implementations();
    for (std::size_t i = 0; i < upper_order_.edges().size(); ++i)
      promises_of(upper_order_.edges()[i], upper_order_.rules()[i]);
    const Adjacency graph = by_source(lower_order_);
    const std::vector<PointId> order = topological_order(graph);
    if (order.size() != lower_order_.points()) return;
    number_chains();
    for (std::size_t first = 0; first < chains_.size(); first += kLanes) pass(graph, order, first);
  }

 private:
  static Order build(Level& level) {
    Reports none(0);
    Order counted(level.index());
    run_level(level, counted, none);
    Order order = Order::materialised(level.index(), counted);
    run_level(level, order, none);
    return order;
  }

  struct Facts {
    CallId call = 0;  // a base call, or the call that a synthesised subevent belongs to
    Stamp stamp = Stamp::aCR;
    std::uint32_t peer = 0;
  };
  Facts facts(const Order& order, PointId p) const {
    if (const SubeventId id = order.subevent(p); id != 0) {
      const Subevent& s = index_.subevent(id);
      return {s.call, s.stamp, s.peer};
    }
    const Order::Extra& e = order.extra(p);
    return {e.call, e.stamp, e.peer};
  }
  CallId event(PointId upper) const { return upper_.event_of(facts(upper_order_, upper).call); }

  /// For each call of the library, the points of the level below that it is made of, in program order.
  void collect_implementations() {
    const auto consider = [&](PointId p, CallId call) {
      const CallId e = upper_.event_of(call);
      if (e != 0 && index_.call(e).library == library_) parts_[e].push_back(p);
    };
    for (SubeventId id = 1; id <= index_.trace().subevents.size(); ++id)
      if (lower_.visible(id)) consider(id - 1, index_.subevent(id).call);
    const auto first_extra = static_cast<PointId>(2 * index_.trace().subevents.size());
    for (PointId p = first_extra; p < lower_order_.points(); ++p)
      if (!lower_order_.is_chain(p)) {
        const Order::Extra& e = lower_order_.extra(p);
        consider(p, e.call);
        same_[{e.call, e.stamp, e.peer}] = p;
      }
    for (auto& [call, parts] : parts_)
      std::stable_sort(parts.begin(), parts.end(),
                       [&](PointId a, PointId b) { return facts(lower_order_, a).call < facts(lower_order_, b).call; });
  }

  /// f; kNoPoint when nothing of the implementation can stand for the subevent.
  PointId concrete(PointId upper) const {
    if (upper_order_.subevent(upper) != 0) return upper;
    const Facts promised = facts(upper_order_, upper);
    if (index_.call(promised.call).library != library_) {  // another library's: the same in the level below
      const auto found = same_.find({promised.call, promised.stamp, promised.peer});
      return found == same_.end() ? kNoPoint : found->second;
    }
    const auto parts = parts_.find(promised.call);
    if (parts == parts_.end()) return kNoPoint;
    PointId best = kNoPoint;
    for (const PointId p : parts->second) {
      const Facts f = facts(lower_order_, p);
      if (f.stamp == promised.stamp && (!is_family(f.stamp) || f.peer == promised.peer)) best = p;
    }
    const Stamp instead = promised.stamp == Stamp::aGF ? Stamp::aWT : Stamp::aCR;
    for (const PointId p : parts->second)
      if (best == kNoPoint && facts(lower_order_, p).stamp == instead) {
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
    if (so && index_.call(event(edge.to)).library != library_) return;
    std::vector<PointId> open = {edge.from};
    for (std::size_t i = 0; i < open.size() && i < kMaxExpansion; ++i) {
      const PointId from = open[i];
      if (upper_order_.is_chain(from)) {
        const auto [a, b] = upper_order_.joined(from);
        open.push_back(b);
        open.push_back(a);
      } else if (so || answers_for(from) || answers_for(edge.to)) {
        add({from, edge.to, concrete(from), concrete(edge.to), rule});
      }
    }
  }

  void add(const Promise& p) {
    if (p.from == kNoPoint || p.to == kNoPoint) {
      const PointId missing = p.from == kNoPoint ? p.upper_from : p.upper_to;
      if (!missing_.insert(event(missing)).second) return;  // one report a call
      reports_.add(Rule::promise, [&] { return text(missing) + " has nothing that stands for it below"; });
    } else if (p.from != p.to) {
      promises_.push_back(p);
    }
  }

  std::string text(PointId upper) const {
    const Facts f = facts(upper_order_, upper);
    const CallId e = event(upper);
    return fmt::format("{}: {}: {}", thread_text(index_.trace(), index_.call(e).thread), call_text(index_.trace(), e),
                       stamp_text(f.stamp, f.peer));
  }

  using Chain = std::tuple<std::uint32_t, Stamp, std::uint32_t>;
  Chain chain(PointId lower) const {
    const Facts f = facts(lower_order_, lower);
    const bool family = is_family(f.stamp) && f.stamp != Stamp::aGF;
    const bool always = !family && f.stamp != Stamp::aCW;
    return {index_.call(f.call).thread, always ? Stamp::aCR : f.stamp, family ? f.peer : 0};
  }

  void number_chains() {
    for (const Promise& p : promises_) chains_.try_emplace(chain(p.from), 0);
    std::size_t n = 0;
    for (auto& [key, number] : chains_) number = n++;
  }

  void pass(const Adjacency& graph, const std::vector<PointId>& order, std::size_t first) {
    std::vector<Clock> clocks(lower_order_.points());
    const auto lane = [&](const Promise& p) { return chains_.at(chain(p.from)) - first; };
    for (const Promise& p : promises_)
      if (lane(p) < kLanes) {
        CallId& mine = clocks[p.from][lane(p)];
        mine = std::max(mine, facts(lower_order_, p.from).call);
      }
    for (const PointId p : order)
      for (std::uint32_t e = graph.begin[p]; e < graph.begin[p + std::size_t{1}]; ++e) {
        Clock& to = clocks[graph.to[e]];
        for (std::size_t i = 0; i < kLanes; ++i) to[i] = std::max(to[i], clocks[p][i]);
      }
    for (const Promise& p : promises_) {
      if (lane(p) >= kLanes || clocks[p.to][lane(p)] >= facts(lower_order_, p.from).call) continue;
      reports_.add(Rule::promise, [&] {
        return fmt::format("{} before {} ({}) does not hold below", text(p.upper_from), text(p.upper_to), name(p.rule));
      });
    }
  }

  const TraceIndex& index_;
  const Level& lower_;
  const Level& upper_;
  Library library_;
  Reports& reports_;
  Order lower_order_, upper_order_;
  std::map<CallId, std::vector<PointId>> parts_;
  std::map<std::tuple<CallId, Stamp, std::uint32_t>, PointId> same_;
  std::vector<Promise> promises_;
  std::map<Chain, std::size_t> chains_;
  std::set<CallId> missing_;  // calls without something to stand for a promised subevent
};

}  // namespace

void check_tower(Level& lower, Level& upper, Library library, Reports& reports) {
  Tower(lower, upper, library, reports).run();
}

}  // namespace loco::model
