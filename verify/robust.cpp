// The search for a run whose trace is not SC.
#include "verify/robust.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace loco::verify {
namespace {

/// What the process has from the system for what it allocates, what lies free in between included; 0 where the C
/// library does not tell.
std::uint64_t heap_reserved_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 info = mallinfo2();
  return info.arena + info.hblkhd;
#else
  return 0;
#endif
}

/// An access that has taken effect.
struct Access {
  std::uint32_t process = 0;
  std::uint32_t statement = 0;  ///< of its process, counted from 0 as it runs
  int part = 0;
  std::uint32_t edge = 0;  ///< of Process::edges
  std::uint32_t variable = 0;
  bool reads = false, writes = false;

  [[nodiscard]] auto order() const { return std::tuple(process, statement, part); }
};

/// A run so far: the state, and its trace.
struct Point {
  State state;
  std::vector<Access> accesses;                  ///< in the order of time
  std::vector<std::uint32_t> statements;         ///< by process: taken so far
  std::vector<std::uint32_t> of_operation;       ///< by operation: its statement, and
  std::vector<std::uint32_t> edge_of;            ///< its edge
  std::vector<std::vector<std::uint8_t>> turns;  ///< by process and edge
  Schedule schedule;
};

class Search {
 public:
  Search(const Program& program, const FlushMask& flushes, Network network, const RobustLimits& limits)
      : program_(program), semantics_(program, flushes, network), limits_(limits) {}

  RmaRobustness run() {
    Point start;
    start.state = semantics_.initial();
    start.statements.assign(program_.processes.size(), 0);
    for (const Process& p : program_.processes) start.turns.emplace_back(p.edges.size(), 0);
    std::vector<Point> work = {std::move(start)};
    while (!work.empty() && !result_.robust) {
      if (++steps_ % 64 == 0 && limit_reached()) return std::move(result_);
      const Point here = std::move(work.back());
      work.pop_back();
      for (const Step& step : semantics_.steps(here.state)) {
        Point next = here;
        if (!take(next, step)) continue;
        if (result_.robust) break;
        if (!seen_.insert(key(next)).second) continue;
        if (seen_.size() > limits_.points) {
          result_.why = fmt::format("more than {} points of the search", limits_.points);
          return std::move(result_);
        }
        work.push_back(std::move(next));
      }
    }
    if (result_.robust) return std::move(result_);
    if (cut_)
      result_.why =
          fmt::format("no run whose loops turn at most {} times is against it, and there is no proof", limits_.turns);
    else
      result_.robust = true;
    return std::move(result_);
  }

 private:
  bool limit_reached() {
    if (limits_.out_of_time && limits_.out_of_time()) result_.why = "the limit of time was reached";
    if (limits_.memory_max != 0 && heap_reserved_bytes() > heap_begin_ + limits_.memory_max)
      result_.why = "the limit of memory was reached";
    return !result_.why.empty();
  }

  /// False when a loop has turned often enough.
  bool take(Point& p, const Step& step) {
    if (step.kind == Step::Kind::kCpu) {
      std::uint8_t& turns = p.turns[step.process][step.edge];
      if (turns > limits_.turns) {
        cut_ = true;
        return false;
      }
      ++turns;
    }
    p.schedule.push_back(step);
    if (step.kind == Step::Kind::kNic) {
      const auto pending = std::ranges::find(p.state.pending, step.operation, &PendingOperation::number);
      const RemoteStatement& r = program_.remotes[pending->statement];
      Access a{r.process, p.of_operation[step.operation], 0, p.edge_of[step.operation]};
      part(r, pending->next, a);
      p.state = semantics_.after(p.state, step);
      note(p, a);
      return true;
    }
    const Edge& edge = program_.processes[step.process].edges[step.edge];
    const Action& action = edge.action;
    const std::uint32_t statement = p.statements[step.process]++;
    if (action.kind == ActionKind::kRemote) {
      p.of_operation.push_back(statement);
      p.edge_of.push_back(step.edge);
    }
    p.state = semantics_.after(p.state, step);
    if (action.kind == ActionKind::kLoad || action.kind == ActionKind::kStore) {
      const bool store = action.kind == ActionKind::kStore;
      note(p, {step.process, statement, 0, step.edge, action.shared, !store, store});
    }
    return true;
  }

  static void part(const RemoteStatement& r, Part next, Access& a) {
    switch (next) {
      case Part::kReadOperand:
        a.variable = *r.operand;
        a.reads = true;
        break;
      case Part::kReadSwap:
        a.part = 1;
        a.variable = *r.swap;
        a.reads = true;
        break;
      case Part::kTarget:
        a.part = 2;
        a.variable = r.remote;
        a.reads = r.kind != RemoteKind::kPut;
        a.writes = r.kind != RemoteKind::kGet;
        break;
      default:
        a.part = 3;
        a.variable = *r.result;
        a.writes = true;
        break;
    }
  }

  /// The last of a trace is new: does it close a cycle? Only if something later in program order came before it.
  void note(Point& p, const Access& a) {
    p.accesses.push_back(a);
    const bool late = std::ranges::any_of(
        p.accesses, [&](const Access& b) { return b.process == a.process && b.order() > a.order(); });
    if (!late) return;
    std::vector<std::size_t> cycle = shortest_cycle(p.accesses, p.accesses.size() - 1);
    if (cycle.empty()) return;
    result_.robust = false;
    result_.schedule = p.schedule;
    for (std::size_t k = 0; k < cycle.size(); ++k) {
      const Access& from = p.accesses[cycle[k]];
      const Edge& edge = program_.processes[from.process].edges[from.edge];
      result_.cycle.push_back({from.process, edge.text,
                               fmt::format("{} {}",
                                           from.reads && from.writes ? "update"
                                           : from.writes             ? "write"
                                                                     : "read",
                                           program_.shared[from.variable].name),
                               relation(p.accesses, cycle[k], cycle[(k + 1) % cycle.size()]), edge.place});
    }
  }

  /// po, rf, mo or rb from the i-th to the j-th access; empty: neither.
  static std::string relation(const std::vector<Access>& all, std::size_t i, std::size_t j) {
    const Access &a = all[i], &b = all[j];
    if (i != j && a.process == b.process && a.order() < b.order()) return "po";
    if (i >= j || a.variable != b.variable || (!a.writes && !b.writes)) return "";
    const auto written_between = [&] {
      for (std::size_t k = i + 1; k < j; ++k)
        if (all[k].variable == a.variable && all[k].writes) return true;
      return false;
    };
    if (a.writes && b.reads && !written_between()) return "rf";
    if (a.writes && b.writes) return "mo";
    return !a.writes && b.writes ? "rb" : "";
  }

  static std::vector<std::size_t> shortest_cycle(const std::vector<Access>& all, std::size_t start) {
    std::vector<std::size_t> from(all.size(), all.size()), queue = {start};
    for (std::size_t q = 0; q < queue.size(); ++q)
      for (std::size_t next = 0; next < all.size(); ++next) {
        if (from[next] != all.size() || relation(all, queue[q], next).empty()) continue;
        from[next] = queue[q];
        if (next == start) {
          std::vector<std::size_t> cycle = {start};
          for (std::size_t p = from[start]; p != start; p = from[p]) cycle.push_back(p);
          std::reverse(cycle.begin() + 1, cycle.end());
          return cycle;
        }
        queue.push_back(next);
      }
    return {};
  }

  /// What the rest of a run can depend on: the state, and the trace up to the order of accesses that do not conflict.
  static std::string key(const Point& p) {
    std::string k;
    const auto add = [&k](auto v) { k += fmt::format("{},", v); };
    for (const auto at : p.state.at) add(at);
    for (const Integer& v : p.state.shared) k += v.str() + ",";
    for (const Integer& v : p.state.locals) k += v.str() + ",";
    for (const PendingOperation& o : p.state.pending)
      k += fmt::format("{}:{}:{}:{}:{}:{},", o.statement, p.of_operation[o.number], static_cast<int>(o.next),
                       o.operand.str(), o.swap.str(), o.result.str());
    for (const auto& process : p.turns)
      for (const std::uint8_t t : process) add(int{t});
    k += "|";
    std::set<std::uint32_t> variables;
    for (const Access& a : p.accesses) variables.insert(a.variable);
    for (const std::uint32_t v : variables) {  // reads between two writes are in no order
      std::set<std::tuple<std::uint32_t, std::uint32_t, int>> reads;
      const auto flush = [&] {
        for (const auto& [process, statement, part] : reads) k += fmt::format("r{}.{}.{}", process, statement, part);
        reads.clear();
      };
      k += fmt::format("v{}:", v);
      for (const Access& a : p.accesses) {
        if (a.variable != v) continue;
        if (!a.writes) {
          reads.insert(a.order());
          continue;
        }
        flush();
        k += fmt::format("w{}.{}.{}", a.process, a.statement, a.part);
      }
      flush();
    }
    return k;
  }

  const Program& program_;
  Semantics semantics_;
  const RobustLimits& limits_;
  std::set<std::string> seen_;
  RmaRobustness result_;
  std::uint64_t steps_ = 0;
  std::uint64_t heap_begin_ = heap_reserved_bytes();
  bool cut_ = false;
};

}  // namespace

RmaRobustness search_runs(const Program& program, const FlushMask& flushes, Network network,
                          const RobustLimits& limits) {
  return Search(program, flushes, network, limits).run();
}

RmaRobustness robustness(const Program& program, const FlushMask& flushes, Network network,
                         const RobustLimits& limits) {
  RmaRobustness result;
  if (robust_by_graphs(program, flushes, network)) {
    result.robust = result.proved = true;
    return result;
  }
  return search_runs(program, flushes, network, limits);
}

}  // namespace loco::verify
