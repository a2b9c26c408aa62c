#include "model/litmus/search/skeleton_search.hpp"

#include <algorithm>

#include "model/litmus/search/conflicts.hpp"

namespace loco::model::litmus {

// --- set-up -----------------------------------------------------------------------------------------------------

template <int W>
bool SkeletonSearch<W>::run() {
  Graph g;
  if (!edges_.build(g) || !edges_.hb_allowed(g)) return true;
  accesses_.collect(x_);
  collect_reads();
  checks_.collect(x_, sink_.wanted);
  collect_finals();
  order_reads();
  checks_.find_reads(x_, order_);
  if (!checks_hold(0)) return true;
  if (!symmetry_.stabiliser.empty()) follow_leaders();
  outcome_.assign(sink_.program.observables.size(), 0);
  return choose_source(0, g);
}

/// The reads whose source the skeleton does not determine, and the pairs whose nfo or rao it leaves open.
template <int W>
void SkeletonSearch<W>::collect_reads() {
  rf_ = Sources();
  order_.clear();
  for (int i = 0; i < x_.n; ++i) {
    if (x_.sub(i).cell == kNone || !x_.sub(i).reads) continue;
    const auto& writes = accesses_.of(i).writes;
    const bool alone = writes.empty() || (writes.size() == 1 && writes[0] == i);
    if (alone && !a_.conflicts)
      rf_.set(i, kInitial);
    else
      order_.push_back(i);
  }
  for (const auto& [w, r] : a_.known_rf) rf_.set(r, w);
  nic_pairs_.clear();
  const auto add = [&](int a, int b, Choice choice) {
    nic_pairs_.push_back({static_cast<std::int16_t>(a), static_cast<std::int16_t>(b), choice});
  };
  a_.nfo.for_each([&](int r, int w) { add(r, w, Choice::nfo); });
  for (const auto& [r1, r2] : a_.rao) add(r1, r2, Choice::rao);
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

/// Reads on which the outcome or a condition depends come first: once they are decided, the outcome is, and one
/// choice for the others is enough where executions need not be counted.
template <int W>
void SkeletonSearch<W>::order_reads() {
  const Set relevant = accesses_.relevant_reads(x_, rf_, checks_);
  const auto middle = std::stable_partition(order_.begin(), order_.end(), [&](int r) { return relevant.contains(r); });
  relevant_ = static_cast<std::size_t>(middle - order_.begin());
}

// --- the search -------------------------------------------------------------------------------------------------

template <int W>
bool SkeletonSearch<W>::settle(Graph& g) const {
  if (!edges_.grow(g) || !edges_.hb_allowed(g)) return false;
  for (std::size_t k = 0; k < finals_.size(); ++k) {  // writes that mo does not order
    const int last = lasts_[k];
    if (last < 0) continue;
    const auto& writes = accesses_.of(last).writes;
    if (std::any_of(writes.begin(), writes.end(), [&](int w) { return g.reaches(last, w); })) return false;
  }
  if (!a_.values_may_cycle) return true;
  for (int r = 0; r < x_.n; ++r)
    if (x_.sub(r).reads && !value_read(x_, rf_, r)) return false;
  return true;
}

template <int W>
bool SkeletonSearch<W>::choose_source(std::size_t k, const Graph& g) {
  if (!sink_.step()) return false;
  if (k == relevant_ && !outcome_fixed_) return outcome_known(g);
  if (outcome_fixed_ && sink_.only_new_outcomes() && sink_.known(outcome_)) {
    sink_.result.uncounted = true;
    return true;
  }
  if (k == order_.size()) return complete(g);
  const int r = order_[k];
  const auto& writes = accesses_.of(r).writes;

  const bool early = std::any_of(writes.begin(), writes.end(),
                                 [&](int w) { return w != r && a_.rb_so.contains(r, w) && g.reaches(w, r); });
  rf_.set(r, kInitial);
  if (!early && checks_hold(k + 1)) {  // values first: they cost less than edges
    Graph next = g;
    const bool possible =
        std::all_of(writes.begin(), writes.end(), [&](int w) { return w == r || edges_.add_rb(next, r, w); });
    if (possible && leads_with_read(k, kInitial) && !choose_source(k + 1, next)) return false;
  }
  for (const int w : writes) {
    if (w == r || !a_.rf.contains(w, r) || (a_.r2 && g.reaches(r, edges_.start(w)))) continue;
    rf_.set(r, w);
    if (!checks_hold(k + 1)) continue;
    Graph next = g;
    const bool possible = edges_.add_rf(next, w, r) && edges_.cohere(next, w, r);
    if (possible && leads_with_read(k, w) && !choose_source(k + 1, next)) return false;
  }
  if (a_.conflicts) {
    rf_.set(r, kConflict);
    if (checks_hold(k + 1) && leads_with_read(k, kConflict) && !choose_source(k + 1, g)) return false;
  }
  rf_.set(r, kUndecided);
  return true;
}

/// All reads that decide the outcome have their sources: computes it.
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
bool SkeletonSearch<W>::choose_last(std::size_t k, const Graph& g) {
  if (k == finals_.size()) {
    outcome_fixed_ = true;
    const bool on = choose_source(relevant_, g);
    outcome_fixed_ = false;
    return on;
  }
  const Observable& o = at(sink_.program.observables, finals_[k]);
  const int cell = x_.cells->cell(o.location, o.node);
  const CellAccesses::Cell* const use = accesses_.find(cell);
  const auto matches_wanted = [&](Value v) {
    at(outcome_, finals_[k]) = v;
    return std::all_of(sink_.wanted.begin(), sink_.wanted.end(),
                       [&](const auto& p) { return p.first != finals_[k] || p.second == v; });
  };
  if (use == nullptr || use->writes.empty()) {
    lasts_[k] = kInitial;
    return !matches_wanted(x_.cells->init(cell)) || !leads_with_last(k, kInitial) || choose_last(k + 1, g);
  }
  for (const int last : use->writes) {
    lasts_[k] = last;
    const auto v = value_written(x_, rf_, last);
    if (!v || !matches_wanted(*v)) continue;
    Graph next = g;
    const bool possible = std::all_of(use->writes.begin(), use->writes.end(), [&](int w) {
      return w == last || !a_.mo.contains(w, last) || edges_.add_mo(next, w, last);
    });
    if (possible && leads_with_last(k, last) && !choose_last(k + 1, next)) return false;
  }
  return true;
}

/// Values and the last writes are chosen: are there mo, nfo and rao to go with them?
template <int W>
bool SkeletonSearch<W>::complete(const Graph& g) {
  const bool traces = static_cast<bool>(sink_.options.traces);
  const bool every = sink_.options.every_witness || a_.conflicts || traces;
  pending_.clear();
  for (const CellAccesses::Cell& use : accesses_.cells()) {
    // Writes that nobody reads from can be ordered like any linearisation of the graph: nothing to decide.
    const bool needed =
        every || sink_.visit || std::any_of(use.reads.begin(), use.reads.end(), [&](int r) { return source(r) >= 0; });
    if (!needed) continue;
    for (std::size_t i = 0; i < use.writes.size(); ++i)
      for (std::size_t j = i + 1; j < use.writes.size(); ++j)
        if (a_.mo.contains(use.writes[i], use.writes[j]))
          pending_.push_back(
              {static_cast<std::int16_t>(use.writes[i]), static_cast<std::int16_t>(use.writes[j]), Choice::mo});
  }
  if (traces) return orient_traces(g, std::vector<Pair>(pending_), 0);
  pending_.insert(pending_.end(), nic_pairs_.begin(), nic_pairs_.end());
  if (every) return orient_all(g, 0);
  bool exists = false;
  return orient(g, exists);
}

/// Orients pending_: forced pairs to a fixpoint, then the first open one by trial. Stops at the first
/// success.
template <int W>
bool SkeletonSearch<W>::orient(Graph g, bool& exists) {
  if (!sink_.tick()) return false;
  std::size_t end = pending_.size();
  for (bool changed = true; changed;) {
    changed = false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < end; ++i) {
      const Pair p = pending_[i];
      const bool forward = edges_.possible(g, p, true);
      const bool backward = edges_.possible(g, p, false);
      if (!forward && !backward) return true;
      if (forward && backward) {
        pending_[kept++] = p;
        continue;
      }
      if (!edges_.add(g, p, forward)) return true;
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
  for (const bool forward : {true, false}) {
    Graph next = g;
    if (!edges_.add(next, p, forward)) continue;
    pending_ = rest;
    if (!orient(next, exists)) return false;
    if (exists) return true;
  }
  return true;
}

/// Every orientation of pending_[next..], each a witness of its own.
template <int W>
bool SkeletonSearch<W>::orient_all(const Graph& g, std::size_t next) {
  if (!sink_.tick()) return false;
  if (next == pending_.size()) {
    Graph settled = g;
    return !settle(settled) || !values_agree(settled) || accept(settled);
  }
  const Pair p = pending_[next];
  for (const bool forward : {true, false}) {
    Graph oriented = g;
    if (edges_.add(oriented, p, forward) && !orient_all(oriented, next + 1)) return false;
  }
  return true;
}

/// Every orientation of mo; of each trace that is asked for, whether there are nfo and rao to go with it.
template <int W>
bool SkeletonSearch<W>::orient_traces(const Graph& g, const std::vector<Pair>& mo, std::size_t next) {
  if (!sink_.step()) return false;
  if (next < mo.size()) {
    for (const bool forward : {true, false}) {
      Graph oriented = g;
      if (edges_.add(oriented, mo[next], forward) && !orient_traces(oriented, mo, next + 1)) return false;
    }
    return true;
  }
  Relation order(x_.n);
  for (const Pair& p : mo) {
    if (g.reaches(p.a, p.b))
      order.add(p.a, p.b);
    else
      order.add(p.b, p.a);
  }
  if (!sink_.options.traces(x_, a_, rf_, order)) return true;
  pending_ = nic_pairs_;
  bool exists = false;
  return orient(g, exists);
}

template <int W>
bool SkeletonSearch<W>::accept(const Graph& g) {
  for (int t = 0; t < len(x_.paths); ++t)
    for (const int i : at(x_.paths, t)->violated) sink_.fails(t, i);
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
  return !a_.conflicts || std::ranges::all_of(accesses_.cells(), [&](const CellAccesses::Cell& use) {
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
    if (g.reaches(r, edges_.start(w)))
      result.nfo.add(r, w);
    else
      result.nfo.add(w, r);
  });
  for (const auto& [r1, r2] : a_.rao) {
    if (g.reaches(r1, r2))
      result.rao.add(r1, r2);
    else
      result.rao.add(r2, r1);
  }
  return result;
}

template class SkeletonSearch<1>;
template class SkeletonSearch<2>;
template class SkeletonSearch<4>;

}  // namespace loco::model::litmus
