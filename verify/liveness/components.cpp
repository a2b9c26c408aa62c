#include "verify/liveness/components.hpp"

#include <algorithm>
#include <deque>
#include <limits>

namespace loco::verify::liveness {

Search::Search(Graph& graph, const LivenessProperty& property, Fairness fairness)
    : graph_(graph), property_(property), fairness_(fairness) {
  std::uint64_t edges = 0;
  for (Index s = 0; s < graph.size(); ++s) {
    first_edge_.push_back(edges);
    edges += graph.edges(s).size();
  }
  first_edge_.push_back(edges);
  component_of_.assign(graph.size(), kNone);
  number_.assign(graph.size(), kNone);
  low_.assign(graph.size(), 0);
  on_stack_.assign(graph.size(), false);
  evaluate();
  find_region();
}

/// Whether the state has the event that the property waits for.
void Search::evaluate() {
  const Program& program = graph_.system().program();
  then_.assign(graph_.size(), false);
  when_.assign(property_.when ? graph_.size() : 0, false);
  if (property_.kind == LivenessKind::kProgress) {
    for (const Process& p : program.processes) label_.emplace_back(p.locations.size(), false);
    for (const LivenessProperty::Labelled& l : property_.labels) label_[l.process][l.location] = true;
    at_.reserve(std::size_t{graph_.size()} * graph_.processes());
  }
  State state;
  for (Index s = 0; s < graph_.size(); ++s) {
    graph_.limits().tick();
    graph_.get(s, state);
    if (property_.then) {
      then_[s] = graph_.system().value(state, *property_.then) != 0;
    } else {
      then_[s] = std::all_of(property_.processes.begin(), property_.processes.end(),
                             [&](std::uint32_t p) { return state.at[p] == program.processes[p].exit; });
    }
    if (property_.when) when_[s] = graph_.system().value(state, *property_.when) != 0;
    if (!label_.empty()) at_.insert(at_.end(), state.at.begin(), state.at.end());
  }
}

/// Whether the step executes a labelled statement.
bool Search::labelled(Index state, const GraphEdge& edge) const {
  if (label_.empty() || edge.actor >= graph_.processes()) return false;
  return label_[edge.actor][at_[std::size_t{state} * graph_.processes() + edge.actor]];
}

/// Whether the awaited event is still to come after the step.
bool Search::allowed(Index state, const GraphEdge& edge) const { return region_[edge.to] && !labelled(state, edge); }

void Search::find_region() {
  region_.assign(graph_.size(), false);
  region_parent_.assign(graph_.size(), kNone);
  if (property_.kind == LivenessKind::kEnds || property_.kind == LivenessKind::kProgress) {
    for (Index s = 0; s < graph_.size(); ++s) region_[s] = !then_[s];
    return;
  }
  std::deque<Index> work;
  const auto begin = [&](Index s) {
    if (then_[s]) return;
    region_[s] = true;
    work.push_back(s);
  };
  if (property_.kind == LivenessKind::kEventually) begin(0);
  for (Index s = 0; s < static_cast<Index>(when_.size()); ++s) {
    if (when_[s]) begin(s);
  }
  while (!work.empty()) {
    const Index s = work.front();
    work.pop_front();
    graph_.limits().tick();
    for (const GraphEdge& e : graph_.edges(s)) {
      if (region_[e.to] || then_[e.to]) continue;
      region_[e.to] = true;
      region_parent_[e.to] = s;
      work.push_back(e.to);
    }
  }
}

/// The components (Tarjan) of the states `among` that have an edge inside, with the edges that `edge` lets pass. `in`:
/// whether a state belongs.
template <typename In, typename Edge>
std::vector<Search::Component> Search::components(const std::vector<Index>& among, In in, Edge edge) {
  struct Frame {
    Index state;
    std::size_t next;
  };
  constexpr Index kOpen = kNone;
  std::vector<Component> result;
  std::vector<Index>& number = number_;
  std::vector<Index>& low = low_;
  std::vector<bool>& on_stack = on_stack_;
  std::vector<Index> visited;
  std::vector<Index> stack;
  std::vector<Frame> frames;
  Index count = 0;
  const auto enter = [&](Index s) {
    number[s] = low[s] = count++;
    visited.push_back(s);
    stack.push_back(s);
    on_stack[s] = true;
    frames.push_back({s, 0});
  };
  for (const Index root : among) {
    if (number[root] != kOpen || !in(root)) continue;
    enter(root);
    while (!frames.empty()) {
      graph_.limits().tick();
      const Index s = frames.back().state;
      const auto edges = graph_.edges(s);
      if (frames.back().next < edges.size()) {
        const std::size_t i = frames.back().next++;
        const Index to = edges[i].to;
        if (!in(to) || !edge(s, i)) continue;
        if (number[to] == kOpen)
          enter(to);
        else if (on_stack[to])
          low[s] = std::min(low[s], number[to]);
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().state] = std::min(low[frames.back().state], low[s]);
      if (low[s] != number[s]) continue;
      Component component;
      Index member = kNone;
      do {
        member = stack.back();
        stack.pop_back();
        on_stack[member] = false;
        component.push_back(member);
      } while (member != s);
      bool cyclic = component.size() > 1;
      for (std::size_t i = 0; i < edges.size() && !cyclic; ++i) cyclic = edges[i].to == s && edge(s, i);
      if (cyclic) result.push_back(std::move(component));
    }
  }
  for (const Index s : visited) number[s] = kOpen;
  return result;
}

std::vector<bool> Search::doomed() {
  const Index size = graph_.size();
  std::vector<bool> can(size, false);
  std::deque<Index> work;
  const auto reaches = [&](Index s) {
    if (can[s]) return;
    can[s] = true;
    work.push_back(s);
  };
  for (Index s = 0; s < size; ++s) {
    if (then_[s] || s >= graph_.expanded() || graph_.held_back(s)) reaches(s);
  }
  if (property_.kind == LivenessKind::kProgress) {
    std::vector<Index> all(graph_.expanded());
    for (Index s = 0; s < graph_.expanded(); ++s) all[s] = s;
    const auto found = components(
        all, [](Index) { return true; }, [](Index, std::size_t) { return true; });
    for (std::size_t c = 0; c < found.size(); ++c) {
      for (const Index s : found[c]) component_of_[s] = static_cast<Index>(c);
    }
    for (const Component& component : found) {
      for (const Index s : component) {
        for (const GraphEdge& e : graph_.edges(s)) {
          if (component_of_[e.to] == component_of_[s] && labelled(s, e)) reaches(s);
        }
      }
    }
    for (const Component& component : found) {
      for (const Index s : component) component_of_[s] = kNone;
    }
  }
  // Backwards: all edges, sorted by where they lead.
  std::vector<std::uint64_t> first(std::size_t{size} + 1, 0);
  for (Index s = 0; s < size; ++s) {
    for (const GraphEdge& e : graph_.edges(s)) ++first[e.to + 1];
  }
  for (Index s = 0; s < size; ++s) first[s + 1] += first[s];
  std::vector<Index> from(first[size]);
  std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
  for (Index s = 0; s < size; ++s) {
    for (const GraphEdge& e : graph_.edges(s)) from[next[e.to]++] = s;
  }
  while (!work.empty()) {
    const Index s = work.front();
    work.pop_front();
    graph_.limits().tick();
    for (std::uint64_t i = first[s]; i < first[s + 1]; ++i) reaches(from[i]);
  }
  can.flip();
  return can;
}

bool Search::is_fair(const Component& component, const std::vector<bool>& removed) {
  std::vector<bool> steps(graph_.actors(), false);
  for (const Index s : component) {
    const auto edges = graph_.edges(s);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (component_of_[edges[i].to] == component_of_[s] && allowed(s, edges[i]) && !removed[edge_number(s, i)])
        steps[edges[i].actor] = true;
    }
  }
  bool some_named = false;
  for (std::uint32_t p = 0; p < graph_.processes(); ++p) {
    some_named = some_named || (steps[p] && property_.names(p));
    if (fairness_ != Fairness::kWeak || steps[p]) continue;
    if (std::all_of(component.begin(), component.end(), [&](Index s) { return graph_.enabled(s, p); })) return false;
  }
  if (fairness_ == Fairness::kNic && !some_named) return false;
  if (fairness_ == Fairness::kNone) return true;
  std::vector<Index> count(graph_.actors(), 0);
  std::vector<Actor> here;
  for (const Index s : component) {
    graph_.limits().tick();
    graph_.classes(s, here);
    for (const Actor a : here) ++count[a];
  }
  for (Actor a = graph_.processes(); a < graph_.actors(); ++a) {
    if (count[a] == component.size() && !steps[a]) return false;
  }
  return true;
}

/// The fair component that begins first; edges that it must not use are marked in `removed`.
std::optional<Search::Component> Search::fair(std::vector<Component> candidates, std::vector<bool>& removed) {
  std::optional<Component> best;
  Index best_first = kNone;
  while (!candidates.empty()) {
    Component component = std::move(candidates.back());
    candidates.pop_back();
    for (const Index s : component) component_of_[s] = component.front();
    const auto inside = [&](Index s, std::size_t i) {
      const GraphEdge& e = graph_.edges(s)[i];
      return component_of_[e.to] == component_of_[s] && allowed(s, e) && !removed[edge_number(s, i)];
    };
    std::vector<bool> added(graph_.actors(), false);
    for (const Index s : component) {
      for (std::size_t i = 0; i < graph_.edges(s).size(); ++i) {
        const GraphEdge& e = graph_.edges(s)[i];
        if (e.adds != kNone && inside(s, i)) added[e.adds] = true;
      }
    }
    bool cut = false;
    for (const Index s : component) {
      for (std::size_t i = 0; i < graph_.edges(s).size(); ++i) {
        const GraphEdge& e = graph_.edges(s)[i];
        if (!e.stays || added[e.actor] || !inside(s, i)) continue;
        removed[edge_number(s, i)] = cut = true;
      }
    }
    if (cut) {
      const Index id = component.front();
      std::vector<Component> parts = components(
          component, [&](Index s) { return component_of_[s] == id; }, inside);
      for (const Index s : component) component_of_[s] = kNone;
      std::move(parts.begin(), parts.end(), std::back_inserter(candidates));
      continue;
    }
    const Index first = *std::min_element(component.begin(), component.end());
    if (first < best_first && is_fair(component, removed)) {
      best_first = first;
      best = component;
    }
    for (const Index s : component) component_of_[s] = kNone;
  }
  return best;
}

std::optional<Finding> Search::find(const std::vector<bool>& doomed) {
  for (Index s = 0; s < graph_.expanded(); ++s) {
    if (region_[s] && graph_.stopped(s)) return Finding{Kind::kStopped, way_to(s), {}};
  }
  for (const bool only_doomed : {true, false}) {
    std::vector<Index> among;
    for (Index s = 0; s < graph_.expanded(); ++s) {
      if (region_[s] && (!only_doomed || doomed[s])) among.push_back(s);
    }
    std::vector<bool> removed(first_edge_.back(), false);
    const auto in = [&](Index s) { return s < graph_.expanded() && region_[s] && (!only_doomed || doomed[s]); };
    const auto candidates =
        components(among, in, [&](Index s, std::size_t i) { return allowed(s, graph_.edges(s)[i]); });
    if (const auto component = fair(candidates, removed)) {
      Finding result = lasso(*component, removed);
      result.kind = only_doomed ? Kind::kDeadlock : Kind::kLivelock;
      return result;
    }
  }
  return std::nullopt;
}

std::size_t Search::edge_to(Index from, Index to) const {
  const auto edges = graph_.edges(from);
  std::size_t i = 0;
  while (edges[i].to != to) ++i;
  return i;
}

std::vector<GraphStep> Search::way_to(Index state) const {
  std::vector<GraphStep> result;
  const auto back = [&](auto parent) {
    for (Index from = parent(state); from != kNone; from = parent(state)) {
      result.push_back({from, edge_to(from, state)});
      state = from;
    }
  };
  back([&](Index s) { return region_parent_[s]; });
  back([&](Index s) { return graph_.parent(s); });
  std::reverse(result.begin(), result.end());
  return result;
}

namespace {

/// What a cycle still has to do so that it is fair: actors that have to step, unless, of those that may be absent, it
/// comes by a state without them.
struct Missing {
  std::vector<bool> actors;
  std::size_t count = 0;
  bool named = false;  ///< one of the processes that are asked for has to step

  void done(Actor a) {
    if (!actors[a]) return;
    actors[a] = false;
    --count;
  }
  [[nodiscard]] bool any() const { return count > 0 || named; }
};

}  // namespace

/// A cycle through the component that does all that fairness asks for, each time by the shortest way.
Finding Search::lasso(const Component& component, const std::vector<bool>& removed) {
  for (const Index s : component) component_of_[s] = component.front();
  const Index start = *std::min_element(component.begin(), component.end());
  Finding result{Kind::kLivelock, way_to(start), {}};
  Missing missing{std::vector<bool>(graph_.actors(), false), 0, fairness_ == Fairness::kNic};
  std::vector<Actor> here;
  const auto absent = [&](Index s, Actor a) {
    if (a < graph_.processes()) return !graph_.enabled(s, a);
    graph_.classes(s, here);
    return !std::binary_search(here.begin(), here.end(), a);
  };
  for (Actor a = 0; a < graph_.actors(); ++a) {
    const bool asked = a < graph_.processes() ? fairness_ == Fairness::kWeak : fairness_ != Fairness::kNone;
    if (!asked || absent(start, a)) continue;
    missing.actors[a] = true;
    ++missing.count;
  }
  const auto is_named = [&](Actor a) { return a < graph_.processes() && property_.names(a); };
  const auto helps_edge = [&](const GraphEdge& e) {
    return missing.actors[e.actor] || (missing.named && is_named(e.actor));
  };
  const auto helps_state = [&](Index s) {
    for (Actor a = 0; a < graph_.actors(); ++a) {
      if (missing.actors[a] && absent(s, a)) return true;
    }
    return false;
  };
  const auto note = [&](const GraphEdge& e) {
    if (is_named(e.actor)) missing.named = false;
    missing.done(e.actor);
    for (Actor a = 0; a < graph_.actors(); ++a) {
      if (missing.actors[a] && absent(e.to, a)) missing.done(a);
    }
  };
  Index now = start;
  std::vector<Index> parent(graph_.size(), kNone);
  std::vector<std::size_t> by(graph_.size(), 0);
  do {
    graph_.limits().tick();
    // The nearest step that helps, or, when nothing is missing, that leads back.
    std::deque<Index> work{now};
    std::vector<Index> seen{now};
    parent[now] = now;
    std::optional<GraphStep> last;
    while (!work.empty() && !last) {
      const Index s = work.front();
      work.pop_front();
      const auto edges = graph_.edges(s);
      for (std::size_t i = 0; i < edges.size() && !last; ++i) {
        const GraphEdge& e = edges[i];
        if (component_of_[e.to] != component.front() || !allowed(s, e) || removed[edge_number(s, i)]) continue;
        const bool good = missing.any() ? helps_edge(e) || (parent[e.to] == kNone && helps_state(e.to)) : e.to == start;
        if (good) last = GraphStep{s, i};
        if (parent[e.to] != kNone) continue;
        parent[e.to] = s;
        by[e.to] = i;
        seen.push_back(e.to);
        work.push_back(e.to);
      }
    }
    std::vector<GraphStep> way{last.value()};
    for (Index s = last->state; s != now; s = parent[s]) way.push_back({parent[s], by[s]});
    std::reverse(way.begin(), way.end());
    for (const GraphStep& step : way) note(graph_.edges(step.state)[step.edge]);
    result.loop.insert(result.loop.end(), way.begin(), way.end());
    now = graph_.edges(last->state)[last->edge].to;
    for (const Index s : seen) parent[s] = kNone;
  } while (missing.any() || now != start);
  for (const Index s : component) component_of_[s] = kNone;
  return result;
}

}  // namespace loco::verify::liveness
