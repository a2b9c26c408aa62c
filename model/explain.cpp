#include "model/explain.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "model/program_order.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

bool is_program_order(Rule r) { return r == Rule::ppo || r == Rule::ippo || r == Rule::starts; }

/// How far ahead a run of program order is searched for a direct edge.
constexpr std::size_t kMaxShortcut = 4096;

class Explanation {
 public:
  Explanation(const Level& level, const Order& order) : level_(level), order_(order), trace_(level.index().trace()) {}

  Violation run(std::vector<CycleEdge> cycle) {
    rotate(cycle);
    cycle = shorten_mo(shorten_program_order(cycle));
    cycle = without_starts(cycle);
    Violation v;
    v.rule = cycle.front().rule;
    for (const CycleEdge& e : cycle) v.cycle.push_back(step(e));
    // The edge that the run went against; a start is known less well than a finish.
    std::string broken;
    for (const bool between_finishes : {true, false})
      for (std::size_t i = 0; i < cycle.size() && broken.empty(); ++i)
        if (runs_backward(cycle[i], between_finishes)) {
          v.rule = v.cycle[i].rule;
          broken = v.cycle[i].edge_text;
        }
    v.message = fmt::format("a cycle of {} subevents", cycle.size());
    if (!broken.empty()) v.message += "; the run went against " + broken;
    return v;
  }

 private:
  struct Facts {
    SubeventId subevent = 0;
    CallId call = 0;  // the event at this level
    Stamp stamp = Stamp::aCR;
    std::uint32_t peer = 0;
    bool start = false;  // S of a write that takes time
  };

  Facts facts(PointId p) const {
    Facts f;
    f.subevent = order_.subevent(p);
    if (f.subevent == 0) {
      const Order::Extra& extra = order_.extra(p);
      f.call = extra.call;
      f.stamp = extra.stamp;
      f.peer = extra.peer;
    } else {
      const Subevent& s = trace_.subevents[f.subevent - 1];
      f.call = level_.event_of(s.call);
      f.stamp = s.stamp;
      f.peer = s.peer;
      f.start = order_.is_start(p);
    }
    return f;
  }

  /// Begins the cycle after an edge that is no program order, so that no run of program order wraps around.
  static void rotate(std::vector<CycleEdge>& cycle) {
    const auto other = std::find_if(cycle.begin(), cycle.end(),
                                    [](const CycleEdge& e) { return !is_program_order(e.rule) && e.rule != Rule::mo; });
    const auto pivot = other != cycle.end() ? other : std::find_if(cycle.begin(), cycle.end(), [](const CycleEdge& e) {
      return !is_program_order(e.rule);
    });
    if (pivot != cycle.end()) std::rotate(cycle.begin(), pivot, cycle.end());
    // An rb in front swallows the mo that follows it.
  }

  /// Whether a single edge of program order leads from p to q, so that the path between them need not be shown.
  bool direct(PointId p, PointId q) const {
    const Facts a = facts(p), b = facts(q);
    if (a.subevent != 0 && a.subevent == b.subevent) return a.start && !b.start;
    if (a.call >= b.call || trace_.calls[a.call - 1].thread != trace_.calls[b.call - 1].thread) return false;
    const bool same_node = is_family(a.stamp) && is_family(b.stamp) && a.peer == b.peer;
    const bool instants = is_instant(a.stamp) && is_instant(b.stamp);
    const bool between_finishes = !a.start && !b.start;
    if (between_finishes && kStampOrder.ordered(a.stamp, b.stamp, same_node)) return true;
    const bool between_starts = (a.start || is_instant(a.stamp)) && (b.start || is_instant(b.stamp));
    const bool base =
        trace_.calls[a.call - 1].library == Library::rdmawait && trace_.calls[b.call - 1].library == Library::rdmawait;
    return between_starts && base && !instants && issue_ordered(a.stamp, b.stamp, same_node);
  }

  /// Within a run of program order and mo, goes as far as one edge of program order leads, again and again.
  std::vector<CycleEdge> shorten_program_order(const std::vector<CycleEdge>& cycle) const {
    const auto is_free = [](Rule r) { return is_program_order(r) || r == Rule::mo; };
    std::vector<CycleEdge> out;
    for (std::size_t i = 0; i < cycle.size();) {
      std::size_t run = i;
      while (run < cycle.size() && is_free(cycle[run].rule)) ++run;
      std::size_t last = std::min(run, i + kMaxShortcut);
      while (last > i + 1 && !direct(cycle[i].from, cycle[last - 1].to)) --last;
      if (last > i + 1) {
        out.push_back({cycle[i].from, cycle[last - 1].to, Rule::ppo});
        i = last;
      } else {
        out.push_back(cycle[i++]);
      }
    }
    return out;
  }

  static std::vector<CycleEdge> shorten_mo(const std::vector<CycleEdge>& cycle) {
    std::vector<CycleEdge> out;
    for (const CycleEdge& e : cycle) {
      const bool continues = !out.empty() && e.rule == Rule::mo && out.back().from != e.to &&
                             (out.back().rule == Rule::mo || out.back().rule == Rule::rb);
      if (continues) {
        out.back().to = e.to;
      } else {
        out.push_back(e);
      }
    }
    return out;
  }

  /// An edge to a write's start, and on to its finish, reads as one.
  static std::vector<CycleEdge> without_starts(const std::vector<CycleEdge>& cycle) {
    std::vector<CycleEdge> out;
    for (const CycleEdge& e : cycle) {
      if (e.rule == Rule::starts && !out.empty()) {
        out.back().to = e.to;
      } else {
        out.push_back(e);
      }
    }
    return out;
  }

  /// Where the run put a point. S counts as recorded.
  std::uint64_t position(PointId p) const {
    const Facts f = facts(p);
    if (f.subevent == 0) return order_.extra(p).position;
    const bool began = f.subevent == 0 || !is_unbegun(trace_.subevents[f.subevent - 1]);
    return f.start && began ? 2 * trace_.subevents[f.subevent - 1].start + 2
                            : level_.index().finish_position(f.subevent);
  }

  bool runs_backward(const CycleEdge& e, bool between_finishes) const {
    if (between_finishes && (facts(e.from).start || facts(e.to).start)) return false;
    return position(e.from) >= position(e.to);
  }

  std::string edge_text(const CycleEdge& e, const Facts& a, const Facts& b) const {
    if (!is_program_order(e.rule)) return std::string(name(e.rule));
    const bool same_node = is_family(a.stamp) && is_family(b.stamp) && a.peer == b.peer;
    const char* where = same_node ? ", same node" : "";
    const bool kept = kStampOrder.ordered(a.stamp, b.stamp, same_node);
    return fmt::format("{} ({} before {}{})", kept ? "ppo" : "ippo", model::name(a.stamp), model::name(b.stamp), where);
  }

  Step step(const CycleEdge& e) const {
    const Facts a = facts(e.from), b = facts(e.to);
    Step s;
    s.call = a.call;
    s.subevent = a.subevent;
    s.stamp = a.stamp;
    s.peer = a.peer;
    const Call& call = trace_.calls[a.call - 1];
    s.thread = call.thread;
    s.owner = call.library;
    s.thread_name = thread_text(trace_, call.thread);
    s.call_text = call_text(trace_, a.call);
    s.subevent_text = a.subevent != 0 ? access_text(trace_, a.subevent) : stamp_text(a.stamp, a.peer);
    if (a.start) s.subevent_text += " (issue)";
    s.edge_text = edge_text(e, a, b);
    s.rule = e.rule;
    if (is_program_order(e.rule)) s.rule = s.edge_text.starts_with("ppo") ? Rule::ppo : Rule::ippo;
    return s;
  }

  const Level& level_;
  const Order& order_;
  const Trace& trace_;
};

}  // namespace

Violation explain_cycle(const Level& level, const Order& order, std::vector<CycleEdge> cycle) {
  return Explanation(level, order).run(std::move(cycle));
}

}  // namespace loco::model
