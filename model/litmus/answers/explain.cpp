// Witnesses of allowed outcomes, and the cycles that forbid the others.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "model/litmus/answers/candidate_graph.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/statements.hpp"
#include "model/litmus/search/search.hpp"
#include "text/shown.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

constexpr std::uint64_t kCandidatesMax = 20'000;  ///< of a forbidden outcome

SearchOptions search_options(const Options& options) {
  SearchOptions s;
  s.model = options.model_options;
  s.loop_bound = options.loop_bound;
  s.poll = options.poll;
  s.out_of_time = options.out_of_time;
  return s;
}

Model model_of(const Program& program, const Options& options) {
  const std::string& name = options.model.empty() ? program.model : options.model;
  const std::optional<Model> model = find_model(name);
  if (!model) throw std::invalid_argument("unknown model " + text::in_quotes(name));
  check_methods(program, name, program.file);
  return *model;
}

/// The drawing of a candidate: its subevents, program order, and the given edges.
Explanation draw(const Skeleton& x, const Candidate& c, const std::vector<LabelledEdge>& edges) {
  Explanation e;
  for (const Thread& t : x.program->threads) e.thread_nodes.push_back(t.node);
  for (int s = 0; s < x.n; ++s)
    e.nodes.push_back({x.sub(s).thread, x.sub(s).event, describe(x, c.rf, s), x.instruction(x.sub(s).event).text});
  for (int s = 0; s + 1 < x.n; ++s)
    if (x.sub(s).thread == x.sub(s + 1).thread) e.edges.push_back({s, s + 1, "po", "program order", false});
  for (const LabelledEdge& l : edges) {
    const bool again = std::any_of(e.edges.begin(), e.edges.end(), [&](const Explanation::Edge& o) {
      return o.from == l.from && o.to == l.to && o.relation == l.relation;
    });
    if (!again && !l.relation.empty()) e.edges.push_back({l.from, l.to, l.relation, l.why, false});
  }
  return e;
}

/// mo without the pairs that follow from others.
std::vector<std::pair<int, int>> immediate(const Relation& r) {
  const Relation direct = r - seq(r, r);
  std::vector<std::pair<int, int>> pairs;
  direct.for_each([&](int a, int b) { pairs.emplace_back(a, b); });
  return pairs;
}

}  // namespace

std::optional<Explanation> witness(const Program& program, const PartialOutcome& outcome, const Options& options) {
  std::optional<Explanation> result;
  (void)search(program, model_of(program, options), search_options(options), outcome, [&](const FoundExecution& f) {
    Candidate c;
    c.rf = f.sources;
    c.mo = immediate(f.witness.mo);
    f.witness.nfo.for_each([&](int a, int b) { c.nfo.emplace_back(a, b); });
    c.rao = immediate(f.witness.rao);
    const CandidateGraph graph(*f.skeleton, *f.axioms);
    std::vector<LabelledEdge> shown;
    for (const LabelledEdge& e : graph.edges(c))
      if (e.relation != "ppo" && e.relation != "iso" && e.relation != "ippo" && !(e.relation == "hb"))
        shown.push_back(e);
    result = draw(*f.skeleton, c, shown);
    // Forwarded values are in no order between finishes, yet part of the picture.
    f.witness.rf.for_each([&](int w, int r) {
      const bool there = std::any_of(result->edges.begin(), result->edges.end(), [&](const Explanation::Edge& e) {
        return e.from == w && e.to == r && e.relation == "rf";
      });
      if (!there) result->edges.push_back({w, r, "rf", "forwarded from the store buffer", false});
    });
    result->outcome = f.outcome;
    result->title = text::shown(program.name) + ": " + program.text(f.outcome) + " is allowed";
    return false;
  });
  return result;
}

namespace {

/// Walks the candidates of one skeleton that have the wanted values; every branch ends in a cycle.
class Refutation {
 public:
  struct Found {
    std::vector<LabelledEdge> cycle;
    Candidate candidate;
    std::uint64_t candidates = 0;
    bool weaker = false;  ///< the weaker model has it, too
  };

  /// `weaker`: what Options::weaker says, or null.
  Refutation(const Skeleton& x, const Axioms& a, const Axioms* weaker, const PartialOutcome& wanted,
             const Options& options)
      : x_(x), a_(a), wanted_(wanted), options_(options), graph_(x, a) {
    if (weaker != nullptr) weaker_.emplace(x, *weaker);
    for (int r = 0; r < x_.n; ++r)
      if (x_.sub(r).reads) reads_.push_back(r);
    for (const auto& [w, r] : a_.known_rf) candidate_.rf.set(r, w);
  }

  /// False if some candidate has no cycle (the outcome is possible) or there are too many.
  bool run() { return choose_source(0); }
  [[nodiscard]] const std::vector<Found>& found() const { return found_; }

 private:
  /// Is a condition of the paths, or a wanted value, known to fail? `all`: must all be known?
  bool contradicted(bool all) const {
    const auto off = [&](int thread, int symbol, const std::function<bool(Value)>& good) {
      const auto v = value_of(x_, candidate_.rf, thread, symbol);
      return v ? !good(*v) : all;
    };
    for (int t = 0; t < len(x_.paths); ++t)
      for (const Condition& c : at(x_.paths, t)->conditions)
        if (off(t, c.symbol, [&](Value v) { return v == kUndefined || (number(v) != 0) == c.holds; })) return true;
    return std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& p) {
      const Observable& o = at(x_.program->observables, p.first);
      return o.thread != kNone &&
             off(o.thread, at(at(x_.paths, o.thread)->registers, o.reg), [&](Value v) { return v == p.second; });
    });
  }

  /// Ends the walk: as if there were too many candidates.
  bool out_of_time() {
    constexpr std::uint64_t kAskEvery = 64;
    if (++steps_ % kAskEvery != 0) return false;
    if (options_.poll) options_.poll();
    return options_.out_of_time && options_.out_of_time();
  }

  bool choose_source(std::size_t k) {
    if (out_of_time()) return false;
    if (contradicted(false)) return true;
    if (k == reads_.size()) {
      if (contradicted(true)) return true;
      return choose_last(0);
    }
    const int r = reads_[k];
    for (int w = kInitial; w < x_.n; ++w) {
      if (w != kInitial && (w == r || !a_.rf.contains(w, r))) continue;
      candidate_.rf.set(r, w);
      if (!choose_source(k + 1)) return false;
    }
    candidate_.rf.set(r, kUndecided);
    return true;
  }

  bool choose_last(std::size_t k) {
    while (k < wanted_.size() && at(x_.program->observables, wanted_[k].first).thread != kNone) ++k;
    if (k == wanted_.size()) return refute();
    const Observable& o = at(x_.program->observables, wanted_[k].first);
    const int cell = x_.cells->cell(o.location, o.node);
    bool written = false;
    for (int last = 0; last < x_.n; ++last) {
      if (!x_.sub(last).writes || x_.sub(last).cell != cell) continue;
      written = true;
      if (value_written(x_, candidate_.rf, last) != wanted_[k].second) continue;
      const std::size_t before = candidate_.mo.size();
      for (int w = 0; w < x_.n; ++w)
        if (w != last && x_.sub(w).writes && x_.sub(w).cell == cell) candidate_.mo.emplace_back(w, last);
      if (!choose_last(k + 1)) return false;
      candidate_.mo.resize(before);
    }
    if (!written && x_.cells->init(cell) == wanted_[k].second) return choose_last(k + 1);
    return true;
  }

  bool refute() {
    if (out_of_time()) return false;
    const std::vector<LabelledEdge> edges = graph_.edges(candidate_);
    for (Found& f : found_) {  // a cycle seen before, if it is here too
      const bool here = std::all_of(f.cycle.begin(), f.cycle.end(), [&](const LabelledEdge& e) {
        return e.relation.empty() || std::find(edges.begin(), edges.end(), e) != edges.end();
      });
      if (here) return count(f);
    }
    // A candidate that the weaker model refutes, too, does not show why the stronger model forbids the outcome.
    for (const CandidateGraph* graph : {weaker_ ? &*weaker_ : nullptr, &graph_}) {
      if (graph == nullptr) continue;
      std::vector<LabelledEdge> cycle = graph->shortest_cycle(graph == &graph_ ? edges : graph->edges(candidate_));
      if (cycle.empty()) continue;
      found_.push_back({std::move(cycle), candidate_, 0, graph != &graph_});
      return count(found_.back());
    }
    return decide_next();
  }

  bool count(Found& f) {
    ++f.candidates;
    return ++leaves_ <= kCandidatesMax;
  }

  /// Both ways for a pair that is still open; pairs with readers first.
  bool decide_next() {
    const auto decided = [&](const std::vector<std::pair<int, int>>& pairs, int a, int b) {
      return std::any_of(pairs.begin(), pairs.end(), [&](const auto& p) {
        return (p.first == a && p.second == b) || (p.first == b && p.second == a);
      });
    };
    const auto both_ways = [&](std::vector<std::pair<int, int>> Candidate::*list, int a, int b) {
      for (const auto& [first, second] : {std::pair{a, b}, std::pair{b, a}}) {
        (candidate_.*list).emplace_back(first, second);
        if (!refute()) return false;
        (candidate_.*list).pop_back();
      }
      return true;
    };
    for (const bool read : {true, false})
      for (int a = 0; a < x_.n; ++a)
        for (int b = a + 1; b < x_.n; ++b) {
          if (!a_.mo.contains(a, b) || decided(candidate_.mo, a, b) || (read && !has_reader(a) && !has_reader(b)))
            continue;
          return both_ways(&Candidate::mo, a, b);
        }
    for (int r = 0; r < x_.n; ++r)
      for (int w = 0; w < x_.n; ++w)
        if (a_.nfo.contains(r, w) && !decided(candidate_.nfo, r, w)) return both_ways(&Candidate::nfo, r, w);
    for (const auto& [r1, r2] : a_.rao)
      if (!decided(candidate_.rao, r1, r2)) return both_ways(&Candidate::rao, r1, r2);
    return false;  // complete and without a cycle
  }
  [[nodiscard]] bool has_reader(int w) const {
    return std::any_of(reads_.begin(), reads_.end(), [&](int r) { return candidate_.rf[r] == w; });
  }

  const Skeleton& x_;
  const Axioms& a_;
  const PartialOutcome& wanted_;
  const Options& options_;
  CandidateGraph graph_;
  std::optional<CandidateGraph> weaker_;
  std::vector<int> reads_;
  Candidate candidate_;
  std::vector<Found> found_;
  std::uint64_t leaves_ = 0;
  std::uint64_t steps_ = 0;
};

/// How much a cycle tells: across how many threads it goes, how much of it is a thread's reads and writes among
/// themselves (its store buffer: they say little of the network), how many candidates have it, how short it is.
auto telling(const Explanation& e) {
  std::set<int> threads;
  for (const int n : e.cycle) threads.insert(at(e.nodes, n).thread);
  const auto own = std::count_if(e.edges.begin(), e.edges.end(), [&](const Explanation::Edge& edge) {
    const bool among_accesses = edge.relation == "rf" || edge.relation == "rb" || edge.relation == "ippo";
    return edge.on_cycle && among_accesses && at(e.nodes, edge.from).thread == at(e.nodes, edge.to).thread;
  });
  return std::tuple(e.also_weaker, -static_cast<std::int64_t>(threads.size()), own,
                    -static_cast<std::int64_t>(e.candidates), e.cycle.size());
}

void mark_cycle(const std::vector<LabelledEdge>& cycle, Explanation& e) {
  for (const LabelledEdge& l : cycle) {
    if (l.relation.empty()) continue;
    e.cycle.push_back(l.from);
    for (Explanation::Edge& edge : e.edges) {
      if (edge.from != l.from || edge.to != l.to || edge.relation != l.relation) continue;
      edge.on_cycle = true;
      edge.why = l.why;  // of po: the rule that makes it count
    }
  }
}

}  // namespace

std::vector<Explanation> explain_forbidden(const Program& program, const PartialOutcome& outcome,
                                           const Options& options) {
  const Model model = model_of(program, options);
  std::optional<Model> weaker;
  if (!options.weaker.empty()) weaker = find_model(options.weaker);
  std::vector<Explanation> explanations;
  std::map<std::string, std::size_t> known;  // by the text of the cycle
  bool possible = false;
  for_each_skeleton(program, model, search_options(options), [&](const Skeleton& x, const Axioms& a) {
    Axioms weak;
    if (weaker && !build_axioms(*weaker, x, options.model_options, weak)) return true;
    Refutation refutation(x, a, weaker ? &weak : nullptr, outcome, options);
    if (!refutation.run()) {
      possible = true;
      return false;
    }
    for (const Refutation::Found& f : refutation.found()) {
      std::vector<LabelledEdge> shown;
      for (const LabelledEdge& e : CandidateGraph(x, a).edges(f.candidate))
        if (e.relation == "rf" || std::find(f.cycle.begin(), f.cycle.end(), e) != f.cycle.end()) shown.push_back(e);
      Explanation e = draw(x, f.candidate, shown);
      mark_cycle(f.cycle, e);
      e.candidates = f.candidates;
      e.title = text::shown(program.name) + ": " + program.text(outcome, "") + " is forbidden";
      std::string key;
      for (const LabelledEdge& l : f.cycle)
        key += describe(x, f.candidate.rf, l.from) + l.relation + describe(x, f.candidate.rf, l.to) + ";";
      const auto [it, is_new] = known.emplace(key, explanations.size());
      if (is_new) {
        e.also_weaker = f.weaker;
        explanations.push_back(std::move(e));
      } else {
        explanations[it->second].candidates += e.candidates;
      }
    }
    return true;
  });
  if (possible) return {};
  std::stable_sort(explanations.begin(), explanations.end(),
                   [](const Explanation& a, const Explanation& b) { return telling(a) < telling(b); });
  return explanations;
}

NoCandidate why_no_candidate(const Program& program, const Options& options) {
  SearchResult limits;
  for_each_skeleton(
      program, model_of(program, options), search_options(options), [](const Skeleton&, const Axioms&) { return true; },
      &limits);
  if (limits.timed_out)
    return {"is not known to be possible: the limit of " + options.time_limit + " was reached", false};
  if (limits.too_large.any())
    return {"is not known to be possible: too large, ways through the code were left out: " + limits.too_large.text(),
            false};
  if (limits.cut_loops)
    return {"is not known to be possible: loops were cut after " + std::to_string(options.loop_bound) + " repetitions",
            false};
  std::string why = "is impossible: no execution reads these values";
  if (limits.ill_formed)
    why +=
        ", or none that goes on to its end: all threads of a barrier pass it equally often, "
        "and polls and receives have something to take";
  return {why, true};
}

}  // namespace loco::model::litmus
