#include "model/litmus/skeleton_search.hpp"

#include <algorithm>

#include "model/litmus/conflicts.hpp"

namespace loco::model::litmus {

bool ExecutionSink::known(const Outcome& outcome) const {
  return std::binary_search(result.outcomes.begin(), result.outcomes.end(), outcome);
}

bool ExecutionSink::found(const Outcome& outcome, std::uint64_t orbit) {
  const auto it = std::lower_bound(result.outcomes.begin(), result.outcomes.end(), outcome);
  if (it == result.outcomes.end() || *it != outcome) result.outcomes.insert(it, outcome);
  result.executions += orbit;
  if (options.executions_max != 0 && result.executions >= options.executions_max) result.stopped = true;
  return !result.stopped;
}

// --- set-up -----------------------------------------------------------------------------------------------------

template <int W>
bool SkeletonSearch<W>::run() {
  Graph g;
  if (!build_graph(g) || !hb_allowed(g)) return true;
  collect_cells();
  checks_.collect(x_, sink_.wanted);
  collect_finals();
  order_reads();
  checks_.find_reads(x_, order_);
  if (!checks_hold(0)) return true;
  if (!symmetry_.stabiliser.empty()) follow_leaders();
  outcome_.assign(sink_.program.observables.size(), 0);
  return choose_source(0, g);
}

template <int W>
bool SkeletonSearch<W>::build_graph(Graph& g) {
  nodes_ = x_.n;
  for (int i = 0; i < x_.n; ++i)
    start_[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(a_.started.contains(i) ? nodes_++ : i);
  g = Graph(nodes_);
  for (int i = 0; i < x_.n; ++i) {
    if (start(i) != i) g.set(start(i), i);
    (x_.ppo.row(i) | a_.so.row(i)).for_each([&](int j) { g.set(i, j); });
    a_.ib.row(i).for_each([&](int j) { g.set(start(i), start(j)); });
  }
  return g.close();
}

template <int W>
void SkeletonSearch<W>::collect_cells() {
  rf_ = Sources();
  cells_.clear();
  order_.clear();
  std::vector<int> index(static_cast<std::size_t>(x_.cells->count()), kNone);
  for (int i = 0; i < x_.n; ++i) {
    const int cell = x_.sub(i).cell;
    if (cell == kNone) continue;
    if (at(index, cell) == kNone) {
      at(index, cell) = len(cells_);
      cells_.push_back({cell, {}, {}});
    }
    CellUse& use = at(cells_, at(index, cell));
    cell_index_[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(at(index, cell));
    if (x_.sub(i).writes) use.writes.push_back(i);
    if (x_.sub(i).reads) use.reads.push_back(i);
  }
  for (int i = 0; i < x_.n; ++i) {
    if (!x_.sub(i).reads) continue;
    const auto& writes = use_of(i).writes;
    const bool alone = writes.empty() || (writes.size() == 1 && writes[0] == i);
    if (alone && !a_.conflicts)
      rf_.set(i, kInitial);
    else
      order_.push_back(i);
  }
  for (const auto& [w, r] : a_.known_rf) rf_.set(r, w);
  nfo_.clear();
  a_.nfo.for_each([&](int r, int w) {
    nfo_.push_back({static_cast<std::int16_t>(r), static_cast<std::int16_t>(w), true});
  });
}

template <int W>
void SkeletonSearch<W>::collect_finals() {
  finals_.clear();
  for (int i = 0; i < len(sink_.program.observables); ++i)
    if (at(sink_.program.observables, i).thread == kNone) finals_.push_back(i);
  lasts_.assign(finals_.size(), kInitial);
}

template <int W>
void SkeletonSearch<W>::follow_leaders() {
  std::vector<Leader::Variable> variables(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(relevant_));
  for (const int o : finals_) variables.push_back(kSubeventsMax + o);
  variables.insert(variables.end(), order_.begin() + static_cast<std::ptrdiff_t>(relevant_), order_.end());
  leader_ = Leader(x_, symmetry_.stabiliser, variables);
}

/// Adds the reads that a value depends on, through the writes they may read from.
template <int W>
void SkeletonSearch<W>::mark_relevant(int thread, int symbol, Set& relevant) const {
  const Symbol& s = at(at(x_.paths, thread)->symbols, symbol);
  if (s.kind == Symbol::Kind::read) {
    const int r = at(x_.offset, thread) + s.a;
    if (relevant.contains(r)) return;
    relevant.insert(r);
    if (x_.sub(r).cell == kNone) {  // a received message
      if (source(r) >= 0) mark_relevant(x_.sub(source(r)).thread, x_.sub(source(r)).value, relevant);
      return;
    }
    for (const int w : use_of(r).writes)
      if (w != r) mark_relevant(x_.sub(w).thread, x_.sub(w).value, relevant);
    return;
  }
  for (const int child : {s.a, s.b, s.c})
    if (s.kind != Symbol::Kind::constant && child != kNone) mark_relevant(thread, child, relevant);
}

/// Reads on which the outcome or a condition depends come first: once they are decided, the outcome is, and one
/// choice for the others is enough where executions need not be counted.
template <int W>
void SkeletonSearch<W>::order_reads() {
  Set relevant;
  checks_.for_each([&](int thread, int symbol) { mark_relevant(thread, symbol, relevant); });
  for (const Observable& o : sink_.program.observables) {
    if (o.thread != kNone) {
      mark_relevant(o.thread, at(at(x_.paths, o.thread)->registers, o.reg), relevant);
      continue;
    }
    const int cell = x_.cells->cell(o.location, o.node);
    for (const CellUse& use : cells_)
      if (use.cell == cell)
        for (const int w : use.writes) mark_relevant(x_.sub(w).thread, x_.sub(w).value, relevant);
  }
  const auto middle = std::stable_partition(order_.begin(), order_.end(), [&](int r) { return relevant.contains(r); });
  relevant_ = static_cast<std::size_t>(middle - order_.begin());
}

// --- edges ------------------------------------------------------------------------------------------------------

template <int W>
bool SkeletonSearch<W>::add_rf(Graph& g, int w, int r) const {
  return (!a_.rf_so.contains(w, r) || g.add(w, r)) && (!a_.rf_ib.contains(w, r) || g.add(start(w), start(r)));
}

template <int W>
bool SkeletonSearch<W>::add_rb(Graph& g, int r, int w) const {
  return !a_.rb_never.contains(r, w) && (!a_.rb_so.contains(r, w) || g.add(r, w)) &&
         (!a_.rb_ib.contains(r, w) || g.add(start(r), start(w)));
}

/// mo(w1, w2), and with it rb from the readers of w1 to w2.
template <int W>
bool SkeletonSearch<W>::add_mo(Graph& g, int w1, int w2) const {
  if (!g.add(w1, w2)) return false;
  for (const int r : use_of(w1).reads)
    if (source(r) == w1 && r != w2 && !add_rb(g, r, w2)) return false;
  return true;
}

template <int W>
bool SkeletonSearch<W>::mo_possible(const Graph& g, int w1, int w2) const {
  if (g.reaches(w2, w1)) return false;
  for (const int r : use_of(w1).reads) {
    if (source(r) != w1 || r == w2) continue;
    if (a_.rb_never.contains(r, w2)) return false;
    if (a_.rb_so.contains(r, w2) && g.reaches(w2, r)) return false;
    if (a_.rb_ib.contains(r, w2) && g.reaches(start(w2), start(r))) return false;
  }
  return true;
}

/// What the new pair rf(w, r) says at once about mo between w and the other writes of the cell.
template <int W>
bool SkeletonSearch<W>::cohere(Graph& g, int w, int r) const {
  for (const int other : use_of(r).writes) {
    if (other == w || !a_.mo.contains(w, other)) continue;
    if ((other == r && a_.rf_so.contains(w, r)) || g.reaches(w, other)) {
      if (!add_mo(g, w, other)) return false;
    } else if (g.reaches(other, w) || a_.rb_never.contains(r, other) ||
               (a_.rb_so.contains(r, other) && g.reaches(other, r)) ||
               (a_.rb_ib.contains(r, other) && g.reaches(start(other), start(r)))) {
      if (!add_mo(g, other, w)) return false;
    }
  }
  return true;
}

template <int W>
bool SkeletonSearch<W>::hb_allowed(const Graph& g) const {
  bool allowed = true;
  a_.never_hb.for_each([&](int a, int b) { allowed = allowed && !g.reaches(a, b); });
  return allowed;
}

template <int W>
bool SkeletonSearch<W>::settle(Graph& g) const {
  bool possible = true;
  for (bool grown = true; grown && possible && (a_.rb_from_hb || !a_.steps.empty());) {
    grown = false;
    a_.grow(
        x_, [&](int i, int j) { return g.reaches(i, j); }, [&](int r) { return source(r); },
        [&](int i, int j) {
          grown = grown || !g.reaches(i, j);
          possible = possible && g.add(i, j);
        });
  }
  if (!possible || !hb_allowed(g)) return false;
  for (std::size_t k = 0; k < finals_.size(); ++k) {  // writes that mo does not order
    const int last = lasts_[k];
    if (last < 0) continue;
    const auto& writes = use_of(last).writes;
    if (std::any_of(writes.begin(), writes.end(), [&](int w) { return g.reaches(last, w); })) return false;
  }
  if (!a_.values_may_cycle) return true;
  for (int r = 0; r < x_.n; ++r)
    if (x_.sub(r).reads && !value_read(x_, rf_, r)) return false;
  return true;
}

// --- the search -------------------------------------------------------------------------------------------------

template <int W>
bool SkeletonSearch<W>::choose_source(std::size_t k, const Graph& g) {
  if (!sink_.step()) return false;
  if (k == relevant_ && !outcome_fixed_) return outcome_known(g);
  if (outcome_fixed_ && only_new_outcomes() && sink_.known(outcome_)) {
    sink_.result.uncounted = true;
    return true;
  }
  if (k == order_.size()) return complete(g);
  const int r = order_[k];
  const auto& writes = use_of(r).writes;

  const bool early = std::any_of(writes.begin(), writes.end(),
                                 [&](int w) { return w != r && a_.rb_so.contains(r, w) && g.reaches(w, r); });
  rf_.set(r, kInitial);
  if (!early && checks_hold(k + 1)) {  // values first: they cost less than edges
    Graph next = g;
    const bool possible =
        std::all_of(writes.begin(), writes.end(), [&](int w) { return w == r || add_rb(next, r, w); });
    if (possible && leads_with_read(k, kInitial) && !choose_source(k + 1, next)) return false;
  }
  for (const int w : writes) {
    if (w == r || !a_.rf.contains(w, r) || (a_.r2 && g.reaches(r, start(w)))) continue;
    rf_.set(r, w);
    if (!checks_hold(k + 1)) continue;
    Graph next = g;
    const bool possible = add_rf(next, w, r) && cohere(next, w, r);
    if (possible && leads_with_read(k, w) && !choose_source(k + 1, next)) return false;
  }
  if (a_.conflicts) {
    rf_.set(r, kConflict);
    if (checks_hold(k + 1) && leads_with_read(k, kConflict) && !choose_source(k + 1, g)) return false;
  }
  rf_.set(r, kUndecided);
  return true;
}

/// The reads that matter are decided: what is the outcome?
template <int W>
bool SkeletonSearch<W>::outcome_known(const Graph& g) {
  if (!checks_.known()) return true;
  for (int i = 0; i < len(outcome_); ++i) {
    const Observable& o = at(sink_.program.observables, i);
    if (o.thread == kNone) continue;
    const auto v = value(o.thread, at(at(x_.paths, o.thread)->registers, o.reg));
    if (!v) return true;
    at(outcome_, i) = *v;
  }
  return choose_last(0, g);
}

template <int W>
bool SkeletonSearch<W>::only_new_outcomes() const {
  const SearchOptions& o = sink_.options;
  return (o.outcomes_only || (o.counted_max != 0 && sink_.result.executions >= o.counted_max)) && !o.every_witness &&
         !sink_.visit;
}

template <int W>
bool SkeletonSearch<W>::choose_last(std::size_t k, const Graph& g) {
  if (k == finals_.size()) {
    outcome_fixed_ = true;
    const bool on = choose_source(relevant_, g);
    outcome_fixed_ = false;
    return on;
  }
  const Observable& o = at(sink_.program.observables, finals_[k]);
  const int cell = x_.cells->cell(o.location, o.node);
  const auto use = std::find_if(cells_.begin(), cells_.end(), [&](const CellUse& u) { return u.cell == cell; });
  const auto matches_wanted = [&](Value v) {
    at(outcome_, finals_[k]) = v;
    return std::all_of(sink_.wanted.begin(), sink_.wanted.end(),
                       [&](const auto& p) { return p.first != finals_[k] || p.second == v; });
  };
  if (use == cells_.end() || use->writes.empty()) {
    lasts_[k] = kInitial;
    return !matches_wanted(x_.cells->init(cell)) || !leads_with_last(k, kInitial) || choose_last(k + 1, g);
  }
  for (const int last : use->writes) {
    lasts_[k] = last;
    const auto v = value_written(x_, rf_, last);
    if (!v || !matches_wanted(*v)) continue;
    Graph next = g;
    const bool possible = std::all_of(use->writes.begin(), use->writes.end(), [&](int w) {
      return w == last || !a_.mo.contains(w, last) || add_mo(next, w, last);
    });
    if (possible && leads_with_last(k, last) && !choose_last(k + 1, next)) return false;
  }
  return true;
}

/// Values and the last writes are chosen: are there mo and nfo to go with them?
template <int W>
bool SkeletonSearch<W>::complete(const Graph& g) {
  const bool every = sink_.options.every_witness || a_.conflicts;
  pending_.clear();
  for (const CellUse& use : cells_) {
    // Writes that nobody reads from can be ordered like any linearisation of the graph: nothing to decide.
    const bool needed =
        every || sink_.visit || std::any_of(use.reads.begin(), use.reads.end(), [&](int r) { return source(r) >= 0; });
    if (!needed) continue;
    for (std::size_t i = 0; i < use.writes.size(); ++i)
      for (std::size_t j = i + 1; j < use.writes.size(); ++j)
        if (a_.mo.contains(use.writes[i], use.writes[j]))
          pending_.push_back(
              {static_cast<std::int16_t>(use.writes[i]), static_cast<std::int16_t>(use.writes[j]), false});
  }
  pending_.insert(pending_.end(), nfo_.begin(), nfo_.end());
  if (every) return orient_all(g, 0);
  bool exists = false;
  return orient(g, exists);
}

/// Orients pending_: forced pairs to a fixpoint, then the first open one by trial. Stops at the first
/// success.
template <int W>
bool SkeletonSearch<W>::orient(Graph g, bool& exists) {
  std::size_t end = pending_.size();
  for (bool changed = true; changed;) {
    changed = false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < end; ++i) {
      const Pair p = pending_[i];
      const bool ab = p.nfo ? !g.reaches(start(p.b), p.a) : mo_possible(g, p.a, p.b);
      const bool ba = p.nfo ? !g.reaches(p.a, p.b) : mo_possible(g, p.b, p.a);
      if (!ab && !ba) return true;
      if (ab && ba) {
        pending_[kept++] = p;
        continue;
      }
      const bool added =
          p.nfo ? (ab ? g.add(p.a, start(p.b)) : g.add(p.b, p.a)) : (ab ? add_mo(g, p.a, p.b) : add_mo(g, p.b, p.a));
      if (!added) return true;
      changed = true;
    }
    end = kept;
  }
  if (end == 0) {
    if (!settle(g)) return true;
    exists = true;
    return accept(g);
  }
  const Pair p = pending_.front();
  const std::vector<Pair> rest(pending_.begin() + 1, pending_.begin() + static_cast<std::ptrdiff_t>(end));
  for (const bool ab : {true, false}) {
    Graph next = g;
    const bool added = p.nfo ? (ab ? next.add(p.a, start(p.b)) : next.add(p.b, p.a))
                             : (ab ? add_mo(next, p.a, p.b) : add_mo(next, p.b, p.a));
    if (!added) continue;
    pending_ = rest;
    if (!orient(next, exists)) return false;
    if (exists) return true;
  }
  return true;
}

/// Every orientation of pending_[next..], each a witness of its own.
template <int W>
bool SkeletonSearch<W>::orient_all(const Graph& g, std::size_t next) {
  if (next == pending_.size()) {
    Graph settled = g;
    return !settle(settled) || !values_agree(settled) || accept(settled);
  }
  const Pair p = pending_[next];
  for (const bool ab : {true, false}) {
    Graph h = g;
    const bool added =
        p.nfo ? (ab ? h.add(p.a, start(p.b)) : h.add(p.b, p.a)) : (ab ? add_mo(h, p.a, p.b) : add_mo(h, p.b, p.a));
    if (added && !orient_all(h, next + 1)) return false;
  }
  return true;
}

template <int W>
bool SkeletonSearch<W>::accept(const Graph& g) {
  for (int t = 0; t < len(x_.paths); ++t)
    for (const int i : at(x_.paths, t)->violated) sink_.result.failed_assertions.emplace_back(t, i);
  if (!sink_.found(outcome_, symmetry_.order / leader_.stabiliser())) {
    if (sink_.visit) (void)sink_.visit({&x_, &a_, rf_, witness(g), outcome_});
    return false;
  }
  if (sink_.visit && !sink_.visit({&x_, &a_, rf_, witness(g), outcome_})) {
    sink_.result.stopped = true;
    return false;
  }
  return true;
}

template <int W>
bool SkeletonSearch<W>::values_agree(const Graph& g) const {
  const auto hb = [&](int a, int b) { return g.reaches(a, b); };
  return !a_.conflicts || std::all_of(cells_.begin(), cells_.end(), [&](const CellUse& use) {
    return conflicts_agree(x_, a_, rf_, use.writes, use.reads, hb);
  });
}

template <int W>
Witness SkeletonSearch<W>::witness(const Graph& g) const {
  Witness result(x_.n);
  for (int r = 0; r < x_.n; ++r)
    if (source(r) >= 0) result.rf.add(source(r), r);
  a_.mo.for_each([&](int a, int b) {
    if (a != b && g.reaches(a, b)) result.mo.add(a, b);
  });
  a_.nfo.for_each([&](int r, int w) {
    if (g.reaches(r, start(w)))
      result.nfo.add(r, w);
    else
      result.nfo.add(w, r);
  });
  return result;
}

template class SkeletonSearch<1>;
template class SkeletonSearch<2>;
template class SkeletonSearch<4>;

}  // namespace loco::model::litmus
