#include "model/corerma/witness.hpp"

#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>
#include <vector>

#include "text/word_list.hpp"

namespace loco::model::corerma {
namespace {

template <class F>
bool any_of(Actions set, F&& f) {
  for (; set != 0; set &= set - 1)
    if (f(std::countr_zero(set))) return true;
  return false;
}

}  // namespace

Pivot parse_pivot(std::string_view text) {
  if (text == "CAS-T") return {Rule::cas, true};
  if (text == "CAS-F") return {Rule::cas, false};
  std::vector<std::string_view> known;
  for (const std::string_view name : litmus::kRuleNames) {
    if (name == "AT") continue;  // it orders whatever meets the accumulate: no pairs of its own
    known.push_back(name);
    if (name == text) return {*litmus::find_rule(name)};
  }
  throw std::invalid_argument(
      text::unknown_word(fmt::format("a rule ({}, CAS-T, CAS-F)", fmt::join(known, ", ")), text, known));
}

std::string text(const Pivot& pivot) {
  return std::string(litmus::name(pivot.rule)) + (!pivot.succeeds ? "" : *pivot.succeeds ? "-T" : "-F");
}

const Witness* WitnessSearch::find(const Program& program, const std::function<bool(const Witness&)>& accept) {
  program_ = &program;
  accept_ = accept ? &accept : nullptr;
  g_.build(program, rules_, pivot_);
  for (int v = 0; v < g_.variables; ++v) {
    const ActionGraph::Variable& x = g_.of_variable[index(v)];
    if (std::popcount(x.writers) > std::popcount(x.local_reads)) return nullptr;
  }
  const bool dynamic = pivot_ == Rule::r1 || pivot_ == Rule::r2 || pivot_ == Rule::ws;
  return (dynamic ? try_dynamic_edges() : try_static_edges()) ? &witness_ : nullptr;
}

bool WitnessSearch::try_static_edges() {
  for (int a = 0; a < g_.n; ++a)
    if (any_of(g_.pivot_after[index(a)], [&](int b) { return try_edge(a, b); })) return true;
  return false;
}

bool WitnessSearch::try_dynamic_edges() {
  for (int v = 0; v < g_.variables; ++v) {
    const ActionGraph::Variable& x = g_.of_variable[index(v)];
    const Actions from = pivot_ == Rule::r1 ? x.reads : x.writers;
    const Actions to = pivot_ == Rule::r2 ? x.reads : x.writers;
    if (any_of(from, [&](int a) { return any_of(to & ~bit(a), [&](int b) { return try_edge(a, b); }); })) return true;
  }
  return false;
}

/// Is there a candidate in which the pivot induces (a, b), hb is acyclic without it and leads from b to a?
bool WitnessSearch::try_edge(int a, int b) {
  a_ = a;
  b_ = b;
  Order o{};
  for (int i = 0; i < g_.n; ++i) o.reach[index(i)] = o.edge[index(i)] = 0;
  // The rules alone only order forward in program order, so one pass backwards gives the transitive closure.
  for (int i = g_.n - 1; i >= 0; --i) {
    Actions after = g_.after[index(i)];
    if (i == a) after &= ~bit(b);
    o.edge[index(i)] = after;
    Actions reach = after;
    for (Actions rest = after; rest != 0; rest &= rest - 1) reach |= o.reach[index(std::countr_zero(rest))];
    o.reach[index(i)] = reach;
  }
  // With another path from a to b, removing the edge removes no cycle.
  if ((o.reach[index(a)] & bit(b)) != 0) return false;
  if (g_.steps) {
    for (int i = 0; i < g_.n; ++i)
      if (any_of(o.edge[index(i)], [&](int j) { return !add(o, i, j); })) return false;
  }
  if (!can_return(o, 0, 0)) return false;
  // The way back, assumed.
  const Actions gained = o.reach[index(a)] | bit(a);
  if ((gained & bit(b)) != 0) return false;
  for (int i = 0; i < g_.n; ++i)
    if (i == b || (o.reach[index(i)] & bit(b)) != 0) o.reach[index(i)] |= gained;
  return choose_variable(0, o);
}

bool WitnessSearch::add_one(Order& o, int i, int j) const {
  if (i == a_ && j == b_) return true;
  o.edge[index(i)] |= bit(j);
  if ((o.reach[index(i)] & bit(j)) != 0) return true;
  const Actions gained = o.reach[index(j)] | bit(j);
  if ((gained & bit(i)) != 0) return false;
  o.reach[index(i)] |= gained;
  for (int k = 0; k < g_.n; ++k)
    if ((o.reach[index(k)] & bit(i)) != 0) o.reach[index(k)] |= gained;
  return true;
}

/// Adds an edge; false if it closes a cycle. By rule AT an action ordered with one action of an rga is ordered with all
/// of them.
bool WitnessSearch::add(Order& o, int i, int j) const {
  if (!g_.steps || g_.step_first[index(i)] == g_.step_first[index(j)]) return add_one(o, i, j);
  if (i == a_ && j == b_) return true;
  for (int from = g_.step_first[index(i)]; from <= g_.step_last[index(i)]; ++from)
    for (int to = g_.step_first[index(j)]; to <= g_.step_last[index(j)]; ++to)
      if (!add_one(o, from, to)) return false;
  return true;
}

/// Could hb still lead from b to a, if variables from `next_variable` on ordered their accesses in every way, and if
/// the actions in `undecided` did?
bool WitnessSearch::can_return(const Order& o, int next_variable, Actions undecided) const {
  if (by_hb_) next_variable = 0;  // R1 without WS adds its edges last
  const bool open = next_variable < g_.variables || undecided != 0;
  Actions seen = bit(b_), fresh = seen;
  while (fresh != 0) {
    if ((fresh & bit(a_)) != 0) return true;
    Actions more = 0;
    for (Actions rest = fresh; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      more |= o.edge[index(i)];
      const int v = g_.variable[index(i)];
      if (v == kNobody) continue;
      const ActionGraph::Variable& x = g_.of_variable[index(v)];
      const Actions partners = (x.writers & bit(i)) != 0 ? x.writers | x.reads : x.writers;
      if (v >= next_variable || (undecided & bit(i)) != 0)
        more |= partners;
      else
        more |= partners & undecided;
      if (g_.steps && open)
        for (int k = g_.step_first[index(i)]; k <= g_.step_last[index(i)]; ++k) more |= bit(k);
    }
    fresh = more & ~seen;
    seen |= more;
  }
  return false;
}

/// Does hb lead from b to a?
bool WitnessSearch::returns(const Order& o) const {
  Actions seen = bit(b_), fresh = seen;
  while (fresh != 0) {
    Actions more = 0;
    for (Actions rest = fresh; rest != 0; rest &= rest - 1) more |= o.edge[index(std::countr_zero(rest))];
    fresh = more & ~seen;
    seen |= more;
  }
  return (seen & bit(a_)) != 0;
}

bool WitnessSearch::choose_variable(int v, const Order& o) {
  if (v == g_.variables) return complete(o);
  const ActionGraph::Variable& x = g_.of_variable[index(v)];
  return by_hb_ ? choose_source(v, x.reads, x.writers, o) : order_writers(v, x.writers, 0, o);
}

/// One more writer after those in `ordered`.
bool WitnessSearch::order_writers(int v, Actions left, Actions ordered, const Order& o) {
  const ActionGraph::Variable& x = g_.of_variable[index(v)];
  if (left == 0) return choose_source(v, x.reads, x.writers, o);
  const int position = std::popcount(ordered);
  return any_of(left, [&](int w) {
    const Actions others = left & ~bit(w);
    // The pivot's edge must be among those of the order: adjacent, or the rest would lead from a to b as well.
    if (pivot_ == Rule::ws && w == b_ && (ordered & bit(a_)) == 0) return false;
    Order next = o;
    if (any_of(others, [&](int later) { return !add(next, w, later); })) return false;
    witness_.position[index(w)] = static_cast<std::int8_t>(position);
    later_[index(w)] = others;
    return order_writers(v, others, ordered | bit(w), next);
  });
}

/// A source for one more read of the variable. `unread`: writers that no local read has picked.
bool WitnessSearch::choose_source(int v, Actions left, Actions unread, const Order& o) {
  const ActionGraph::Variable& x = g_.of_variable[index(v)];
  if (std::popcount(left & x.local_reads) < std::popcount(unread)) return false;
  if (!can_return(o, v + 1, left)) return false;
  if (left == 0) return choose_variable(v + 1, o);
  const int r = std::countr_zero(left);
  if (any_of(x.writers & ~bit(r), [&](int w) { return pick(v, r, w, left, unread, o); })) return true;
  return pick(v, r, kNobody, left, unread, o);
}

bool WitnessSearch::pick(int v, int r, int w, Actions left, Actions unread, const Order& o) {
  const ActionGraph::Variable& x = g_.of_variable[index(v)];
  const bool local = (x.local_reads & bit(r)) != 0;
  if (w != kNobody && local && reads_ == Reads::one && (unread & bit(w)) == 0) return false;
  if (pivot_ == Rule::r2 && r == b_ && w != a_) return false;
  const Actions later = (w == kNobody ? x.writers : by_hb_ ? 0 : later_[index(w)]) & ~bit(r);
  if (pivot_ == Rule::r1 && !by_hb_ && r == a_ && (later & bit(b_)) == 0) return false;
  Order next = o;
  if (w != kNobody && rules_.has(Rule::r2) && !add(next, w, r)) return false;
  if (rules_.has(Rule::r1) && any_of(later, [&](int l) { return !add(next, r, l); })) return false;
  witness_.source[index(r)] = static_cast<std::int8_t>(w);
  if (local && w != kNobody) unread &= ~bit(w);
  return choose_source(v, left & ~bit(r), unread, next);
}

/// R1 without WS: a read comes before the writers that hb puts after its source. Grows hb until it asks for no more.
bool WitnessSearch::settle(Order& o) const {
  for (int i = 0; i < g_.n; ++i) o.reach[index(i)] = o.edge[index(i)];  // without the assumed edge
  for (int k = 0; k < g_.n; ++k)
    for (int i = 0; i < g_.n; ++i)
      if ((o.reach[index(i)] & bit(k)) != 0) o.reach[index(i)] |= o.reach[index(k)];
  if (rules_.has(Rule::r1)) {
    for (bool grown = true; grown;) {
      grown = false;
      for (int r = 0; r < g_.n; ++r) {
        const int v = g_.variable[index(r)];
        if (v == kNobody || (g_.of_variable[index(v)].reads & bit(r)) == 0) continue;
        const int w = witness_.source[index(r)];
        if (w == kNobody) continue;
        const Actions later = o.reach[index(w)] & g_.of_variable[index(v)].writers & ~bit(r) & ~o.edge[index(r)];
        for (Actions rest = r == a_ ? later & ~bit(b_) : later; rest != 0; rest &= rest - 1) {
          grown = true;
          if (!add(o, r, std::countr_zero(rest))) return false;
        }
      }
    }
  }
  if (pivot_ != Rule::r1) return true;
  const int source = witness_.source[index(a_)];
  return source == kNobody || (o.reach[index(source)] & bit(b_)) != 0;
}

/// Does the compare-and-swap of the pivot's edge succeed, or fail, as the pivot asks? A value that depends on itself
/// may be any.
bool WitnessSearch::ends_as_asked() const {
  if (!succeeds_) return true;
  const int first = g_.first[index(g_.statement[index(a_)])];
  const CandidateValues values(*program_, g_, witness_);
  const auto compared = values.read(first), found = values.read(first + 2);
  return !compared || !found || (*compared == *found) == *succeeds_;
}

bool WitnessSearch::complete(const Order& o) {
  if (by_hb_) {
    Order grown = o;
    if (!settle(grown) || !returns(grown)) return false;
  } else if (!returns(o)) {
    return false;
  }
  witness_.from = a_;
  witness_.to = b_;
  return ends_as_asked() && (accept_ == nullptr || (*accept_)(witness_));
}

}  // namespace loco::model::corerma
