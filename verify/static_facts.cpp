#include "verify/static_facts.hpp"

#include <algorithm>
#include <utility>

namespace loco::verify {

namespace {

Mask mask_of_all(const std::vector<std::uint32_t>& variables) {
  Mask mask = 0;
  for (const std::uint32_t v : variables) mask |= mask_of(v);
  return mask;
}

/// The variables that the step and the operation it issues read and write.
Future whole_effect(const Program& program, const Action& action) {
  switch (action.kind) {
    case ActionKind::kLoad:
      return {mask_of(action.shared), 0, false};
    case ActionKind::kStore:
      return {0, mask_of(action.shared), false};
    case ActionKind::kRemote:
      return {mask_of_all(reads(program.remotes[action.remote])), mask_of_all(writes(program.remotes[action.remote])),
              false};
    default:
      return {0, 0, action.kind == ActionKind::kAssert};
  }
}

/// The edges that lead to each location.
std::vector<std::vector<std::uint32_t>> edges_into(const Process& process) {
  std::vector<std::vector<std::uint32_t>> result(process.locations.size());
  for (std::uint32_t e = 0; e < process.edges.size(); ++e) result[process.edges[e].to].push_back(e);
  return result;
}

/// Goes against the edges until nothing changes; `update(edge)` says whether it changed the edge's start.
template <typename Update>
void backwards(const Process& process, Update update) {
  const auto into = edges_into(process);
  std::vector<std::uint32_t> work;
  for (std::uint32_t l = 0; l < process.locations.size(); ++l) work.push_back(l);
  while (!work.empty()) {
    const std::uint32_t location = work.back();
    work.pop_back();
    for (const std::uint32_t e : into[location]) {
      if (update(e)) work.push_back(process.edges[e].from);
    }
  }
}

std::vector<Future> futures(const Program& program, const Process& process) {
  std::vector<Future> result(process.locations.size());
  backwards(process, [&](std::uint32_t e) {
    const Edge& edge = process.edges[e];
    const Future own = whole_effect(program, edge.action);
    Future& from = result[edge.from];
    const Future& to = result[edge.to];
    const Future merged{from.reads | to.reads | own.reads, from.writes | to.writes | own.writes,
                        from.asserts || to.asserts || own.asserts};
    return std::exchange(from, merged) != merged;
  });
  return result;
}

/// By location: what may be read from there on, `written_over(edge)` being what a step makes unreadable before it.
template <typename WrittenOver>
std::vector<Mask> may_be_read(const Program& program, const Process& process, WrittenOver written_over) {
  std::vector<Mask> result(process.locations.size(), 0);
  backwards(process, [&](std::uint32_t e) {
    const Edge& edge = process.edges[e];
    const Mask before = whole_effect(program, edge.action).reads | (result[edge.to] & ~written_over(edge));
    const Mask merged = result[edge.from] | before;
    return std::exchange(result[edge.from], merged) != merged;
  });
  return result;
}

void find_live(const Program& program, const FlushMask& flushes, Network network, const Process& process,
               StaticProcess& facts) {
  const auto flushes_to = [&](const Edge& edge, std::uint32_t target) {
    return edge.action.kind == ActionKind::kFlush && flushes[edge.action.flush] &&
           program.flushes[edge.action.flush].target == target;
  };
  for (std::uint32_t target = 0; target < program.processes.size(); ++target)
    facts.read_before_flush.push_back(
        may_be_read(program, process, [&](const Edge& edge) { return flushes_to(edge, target) ? ~Mask{0} : Mask{0}; }));
  const bool one_bit_each = program.shared.size() <= 64;
  facts.live = may_be_read(program, process, [&](const Edge& edge) -> Mask {
    if (!one_bit_each) return 0;
    if (edge.action.kind == ActionKind::kStore) return mask_of(edge.action.shared);
    if (edge.action.kind != ActionKind::kRemote) return 0;
    const RemoteStatement& s = program.remotes[edge.action.remote];
    if (network == Network::kSc) return mask_of(s.result.value_or(s.remote));
    return s.result ? mask_of(*s.result) & ~facts.read_before_flush[s.target][edge.to] : 0;
  });
}

}  // namespace

std::vector<bool> loop_heads(const Process& process) {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(process.locations.size(), Mark::kNew);
  std::vector<bool> heads(process.locations.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> path;
  for (std::uint32_t root = 0; root < process.locations.size(); ++root) {
    if (marks[root] != Mark::kNew) continue;
    path.emplace_back(root, 0);
    marks[root] = Mark::kOpen;
    while (!path.empty()) {
      auto& [location, next] = path.back();
      if (next == process.locations[location].edges.size()) {
        marks[location] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t to = process.edges[process.locations[location].edges[next++]].to;
      if (marks[to] == Mark::kOpen) heads[to] = true;
      if (marks[to] != Mark::kNew) continue;
      marks[to] = Mark::kOpen;
      path.emplace_back(to, 0);
    }
  }
  return heads;
}

namespace {

/// The locations that are reached from one over edges, of which `edges(location)` names those at a location, each to
/// its `end`.
template <typename Edges>
std::vector<bool> reached(const Process& process, std::uint32_t start, std::uint32_t Edge::*end, Edges edges) {
  std::vector<bool> result(process.locations.size(), false);
  std::vector<std::uint32_t> work{start};
  while (!work.empty()) {
    const std::uint32_t location = work.back();
    work.pop_back();
    for (const std::uint32_t e : edges(location)) {
      const std::uint32_t next = process.edges[e].*end;
      if (!result[next]) work.push_back(next);
      result[next] = true;
    }
  }
  return result;
}

/// Locations that lie on a cycle, or may: between the heads of loops and the edges back to them.
std::vector<bool> in_loop(const Process& process, const std::vector<bool>& heads) {
  const auto into = edges_into(process);
  std::vector<bool> result(process.locations.size(), false);
  for (std::uint32_t head = 0; head < heads.size(); ++head) {
    if (!heads[head]) continue;
    // The loop of a head: locations reached from it that reach it again.
    const std::vector<bool> ahead = reached(
        process, head, &Edge::to, [&](std::uint32_t l) -> auto& { return process.locations[l].edges; });
    const std::vector<bool> behind = reached(
        process, head, &Edge::from, [&](std::uint32_t l) -> auto& { return into[l]; });
    for (std::size_t l = 0; l < result.size(); ++l) result[l] = result[l] || (ahead[l] && behind[l]);
  }
  return result;
}

using Locals = std::vector<std::uint32_t>;  // ascending

Locals mentioned(const Expression& expression) {
  Locals result;
  for (const ExpressionNode& node : expression.nodes) {
    if (node.op == Operator::kLocal) result.push_back(node.index);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool assigns(const Action& action) {
  return action.kind == ActionKind::kAssign || action.kind == ActionKind::kChoose || action.kind == ActionKind::kLoad;
}

void merge(Locals& into, const Locals& more) {
  Locals result;
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(result));
  into = std::move(result);
}

/// The locals that matter at each location: `always_live` everywhere, `live_at_end` where the process ends.
std::vector<Locals> live(const Process& process, const Locals& always_live, const Locals& live_at_end) {
  std::vector<Locals> result(process.locations.size(), always_live);
  merge(result[process.exit], live_at_end);
  backwards(process, [&](std::uint32_t e) {
    const Edge& edge = process.edges[e];
    Locals needed = result[edge.to];
    if (assigns(edge.action) && !std::binary_search(always_live.begin(), always_live.end(), edge.action.local))
      needed.erase(std::remove(needed.begin(), needed.end(), edge.action.local), needed.end());
    if (edge.action.expression) merge(needed, mentioned(*edge.action.expression));
    const std::size_t before = result[edge.from].size();
    merge(result[edge.from], needed);
    return result[edge.from].size() != before;
  });
  return result;
}

bool has(const Locals& set, std::uint32_t local) { return std::binary_search(set.begin(), set.end(), local); }

/// The variables that `always` and other properties mention.
struct Mentioned {
  Locals always_locals;
  Locals final_locals;
  std::vector<std::vector<bool>> places;  ///< by process and location: in at(...) of an `always` property

  explicit Mentioned(const Program& program) {
    for (const Process& p : program.processes) places.emplace_back(p.locations.size(), false);
    for (const Property& property : program.properties) {
      const bool always = property.kind == PropertyKind::kAlways;
      merge(always ? always_locals : final_locals, mentioned(property.expression));
      for (const ExpressionNode& node : property.expression.nodes) {
        if (always && node.op == Operator::kAt) places[node.index][node.location] = true;
        if (!always || node.op != Operator::kIn) continue;
        const std::vector<bool>& inside = program.processes[node.index].labels[node.location].inside;
        std::vector<bool>& here = places[node.index];
        for (std::size_t l = 0; l < inside.size(); ++l) here[l] = here[l] || inside[l];
      }
    }
  }
};

StaticEdge static_edge(const Program& program, const Edge& edge, Network network, const Locals& live_before,
                       const Locals& live_after) {
  StaticEdge result;
  if (edge.action.kind != ActionKind::kRemote || network == Network::kSc) {
    const Future effect = whole_effect(program, edge.action);
    result.reads = effect.reads;
    result.writes = effect.writes;
  }
  Locals candidates = live_before;
  if (assigns(edge.action)) merge(candidates, {edge.action.local});
  std::set_difference(candidates.begin(), candidates.end(), live_after.begin(), live_after.end(),
                      std::back_inserter(result.dead_after));
  return result;
}

}  // namespace

StaticFacts::StaticFacts(const Program& program, const FlushMask& flushes, Network network) {
  const Mentioned in_properties(program);
  for (const Property& property : program.properties) {
    for (const ExpressionNode& node : property.expression.nodes) {
      if (node.op == Operator::kShared) property_shared |= mask_of(node.index);
    }
  }
  for (std::uint32_t p = 0; p < program.processes.size(); ++p) {
    const Process& process = program.processes[p];
    StaticProcess facts;
    facts.futures = futures(program, process);
    facts.loop_heads = loop_heads(process);
    facts.in_loop = in_loop(process, facts.loop_heads);
    find_live(program, flushes, network, process, facts);
    const auto own = [&](const Locals& all) {
      Locals result;
      std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                   [&](std::uint32_t local) { return program.locals[local].process == p; });
      return result;
    };
    facts.live_locals = live(process, own(in_properties.always_locals), own(in_properties.final_locals));
    const std::vector<Locals>& lives = facts.live_locals;
    const std::vector<bool>& places = in_properties.places[p];
    for (const Edge& edge : process.edges) {
      StaticEdge& out = facts.edges.emplace_back(static_edge(program, edge, network, lives[edge.from], lives[edge.to]));
      out.visible = (assigns(edge.action) && has(in_properties.always_locals, edge.action.local)) ||
                    places[edge.from] || places[edge.to] || (out.writes & property_shared) != 0;
    }
    processes.push_back(std::move(facts));
  }
}

}  // namespace loco::verify
