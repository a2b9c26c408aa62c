#include "model/litmus/answers/robust.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "model/litmus/language/statements.hpp"
#include "model/litmus/search/search.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

/// The points of a trace and the relation po, rf, mo, rb between them.
class TraceGraph {
 public:
  TraceGraph(const Skeleton& x, const Axioms& a, const Sources& rf, const Relation& mo) : x_(x), edges_(x.n) {
    for (int s = 0; s < x.n; ++s) point_[static_cast<std::size_t>(s)] = s;
    for (int s = 0; s < x.n; ++s)
      if (x.sub(s).stamp == Stamp::aNAR)
        (x.of_event(x.sub(s).event) & x.stamp(Stamp::aNRW)).for_each([&](int w) {
          point_[static_cast<std::size_t>(w)] = s;
        });
    for (int i = 0; i < x.n; ++i)
      for (int j = i + 1; j < x.n && x.sub(j).thread == x.sub(i).thread; ++j) add(i, j);
    mo.for_each([&](int w1, int w2) { add(w1, w2); });
    for (int r = 0; r < x.n; ++r) {
      if (!x.sub(r).reads || x.sub(r).cell == kNone) continue;
      const int source = rf[r];
      if (source >= 0) add(source, r);
      for (int w = 0; w < x.n; ++w)
        if (x.sub(w).writes && a.rf.contains(w, r) && (source < 0 || mo.contains(source, w))) add(r, w);
    }
    // Orders by barriers and ring buffers hold under `sc`, too.
    for (const Library kept : {Library::bal, Library::rbl})
      a.so.from(x.libraries.at(static_cast<std::size_t>(kept))).for_each([&](int i, int j) { add(i, j); });
  }

  [[nodiscard]] bool cyclic() const { return !edges_.acyclic(); }
  /// The points of a shortest cycle.
  [[nodiscard]] std::vector<int> cycle() const;

 private:
  [[nodiscard]] int point(int s) const { return point_[static_cast<std::size_t>(s)]; }
  void add(int i, int j) {
    if (point(i) != point(j)) edges_.add(point(i), point(j));
  }

  const Skeleton& x_;
  Relation edges_;
  std::array<int, kSubeventsMax> point_{};
};

std::vector<int> TraceGraph::cycle() const {
  std::vector<int> best;
  for (int start = 0; start < x_.n; ++start) {
    std::vector<int> from(static_cast<std::size_t>(x_.n), kNone), queue = {start};
    bool found = false;
    for (std::size_t q = 0; q < queue.size() && !found; ++q)
      edges_.row(queue[q]).for_each([&](int next) {
        // The text names accesses only, and barriers and ring buffers only where the cycle needs them.
        if (found || at(from, next) != kNone) return;
        at(from, next) = queue[q];
        found = next == start;
        queue.push_back(next);
      });
    if (!found) continue;
    std::vector<int> cycle = {start};
    for (int p = at(from, start); p != start; p = at(from, p)) cycle.push_back(p);
    std::reverse(cycle.begin() + 1, cycle.end());
    if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
  }
  return best;
}

std::string cell_text(const Skeleton& x, int cell) {
  const Location& l = at(x.program->locations, x.cells->location(cell));
  if (l.fresh) return "a fresh word";
  return l.kind == LocationKind::shared ? l.name + "@" + std::to_string(x.cells->node(cell)) : l.name;
}

std::string access_text(const Skeleton& x, int point) {
  const SubEvent& s = x.sub(point);
  const bool writes = s.writes || (s.stamp == Stamp::aNAR && !(x.of_event(s.event) & x.stamp(Stamp::aNRW)).empty());
  if (s.cell == kNone) return std::string(x.instruction(s.event).text);
  return (s.reads && writes ? "update " : writes ? "write " : "read ") + cell_text(x, s.cell);
}

/// How one point of the trace comes before another. Program order first: it is there whatever else is.
std::string edge_text(const Skeleton& x, const FoundExecution& f, int a, int b) {
  const auto parts = [&](int point) {
    Set s = Set::single(point);
    if (x.sub(point).stamp == Stamp::aNAR) s |= x.of_event(x.sub(point).event) & x.stamp(Stamp::aNRW);
    return s;
  };
  if (x.sub(a).thread == x.sub(b).thread && a < b) return "po";
  std::string edge = x.sub(a).cell == kNone || x.sub(b).cell == kNone ? "so" : "rb";
  parts(a).for_each([&](int i) {
    parts(b).for_each([&](int j) {
      if (f.witness.mo.contains(i, j)) edge = "mo";
    });
  });
  parts(a).for_each([&](int i) {
    parts(b).for_each([&](int j) {
      if (x.sub(j).reads && f.sources[j] == i) edge = "rf";
    });
  });
  return edge;
}

std::vector<Robustness::Step> steps_of(const FoundExecution& f) {
  const Skeleton& x = *f.skeleton;
  const std::vector<int> points = TraceGraph(x, *f.axioms, f.sources, f.witness.mo).cycle();
  std::vector<Robustness::Step> steps;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const EventInfo& e = x.event_of(points[k]);
    const std::vector<int> statements = statements_of(at(x.program->threads, e.thread));
    steps.push_back({e.thread, at(statements, e.instruction), access_text(x, points[k]),
                     edge_text(x, f, points[k], points[(k + 1) % points.size()])});
  }
  return steps;
}

const std::string& model_name(const Program& program, const RobustOptions& options) {
  return options.model.empty() ? program.model : options.model;
}

std::optional<Model> weak_model(const std::string& name) {
  if (name != "rdmatso" && name != "rdmawait" && name != "loco") return std::nullopt;
  return find_model(name);
}

/// Why a search has not seen everything; empty if it has.
std::string left_out(const SearchResult& found, const RobustOptions& options) {
  if (found.timed_out) return "the limit of time was reached";
  if (found.out_of_memory) return "the limit of memory was reached";
  if (found.too_large.any()) return "too large: " + found.too_large.text();
  if (found.cut_loops) return "loops were cut after " + std::to_string(options.loop_bound) + " repetitions";
  return "";
}

SearchOptions search_options(const RobustOptions& options) {
  SearchOptions s;
  s.loop_bound = options.loop_bound;
  s.memory_max = options.memory_max;
  s.poll = options.poll;
  s.out_of_time = options.out_of_time;
  return s;
}

std::optional<bool> outcomes_of_sc(const Program& program, const Model& model, const RobustOptions& options) {
  SearchOptions s = search_options(options);
  s.outcomes_only = true;
  const SearchResult weak = search(program, model, s);
  if (weak.limited()) return std::nullopt;
  const SearchResult strong = search(program, *find_model("sc"), s);
  if (strong.limited() || strong.too_large.any()) return std::nullopt;
  const bool within =
      std::includes(strong.outcomes.begin(), strong.outcomes.end(), weak.outcomes.begin(), weak.outcomes.end());
  if (within) return left_out(weak, options).empty() ? std::optional(true) : std::nullopt;
  // With more turns of a loop `sc` might have the outcome, too.
  return strong.cut_loops ? std::nullopt : std::optional(false);
}

}  // namespace

TraceVerdict search_traces(const Program& program, const RobustOptions& options, int weak_thread) {
  const std::optional<Model> model = weak_model(model_name(program, options));
  if (!model)
    throw std::invalid_argument("model: expected rdmatso, rdmawait or loco, found " +
                                text::in_quotes(model_name(program, options)));
  TraceVerdict verdict;
  SearchOptions s = search_options(options);
  s.model.weak_thread = weak_thread;
  s.traces = [](const Skeleton& x, const Axioms& a, const Sources& rf, const Relation& mo) {
    return TraceGraph(x, a, rf, mo).cyclic();
  };
  const SearchResult found = search(program, *model, s, {}, [&](const FoundExecution& f) {
    verdict.robust = false;
    verdict.outcome = f.outcome;
    verdict.cycle = steps_of(f);
    return false;
  });
  if (verdict.robust) return verdict;
  verdict.why_unknown = left_out(found, options);
  if (verdict.why_unknown.empty()) verdict.robust = true;
  return verdict;
}

Robustness robustness(const Program& program, const RobustOptions& options) {
  const std::string& name = model_name(program, options);
  const std::optional<Model> model = weak_model(name);
  if (!model) throw std::invalid_argument("model: expected rdmatso, rdmawait or loco, found " + text::in_quotes(name));
  check_methods(program, name, program.file);
  Robustness result;
  TraceVerdict traces;
  for (int t = 0; t < len(program.threads) && traces.robust.value_or(true); ++t)
    traces = search_traces(program, options, t);
  if (traces.robust.value_or(true) && len(program.threads) > 1) traces = search_traces(program, options);
  if (program.threads.empty()) traces.robust = true;
  result.robust = traces.robust;
  result.outcome = traces.outcome;
  result.cycle = std::move(traces.cycle);
  result.why_unknown = std::move(traces.why_unknown);
  result.robust_outcomes = result.robust == true ? std::optional(true) : outcomes_of_sc(program, *model, options);
  if (options.repair && result.robust == false) result.repair = smallest_repairs(program, options);
  return result;
}

}  // namespace loco::model::litmus
