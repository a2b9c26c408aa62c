#include "model/litmus/skeletons/skeleton.hpp"

#include <algorithm>

namespace loco::model::litmus {

namespace {

/// Whether the pair is in `to`. A subevent with two stamps is ordered as either stamp is.
bool in_order(const StampOrder& order, const SubEvent& a, const SubEvent& b) {
  const bool same_node = a.node == b.node;
  if (order.ordered(a.stamp, b.stamp, same_node)) return true;
  if (!a.fused && !b.fused) return false;
  const Stamp first = a.fused ? Stamp::aNRW : a.stamp, second = b.fused ? Stamp::aNRW : b.stamp;
  return order.ordered(first, second, same_node) || order.ordered(a.stamp, second, same_node) ||
         order.ordered(first, b.stamp, same_node);
}

}  // namespace

Cells::Cells(const Program& program) {
  for (int l = 0; l < len(program.locations); ++l) {
    const Location& location = at(program.locations, l);
    first_.push_back(len(location_));
    const auto add = [&](int node) {
      location_.push_back(l);
      node_.push_back(node);
      init_.push_back(location.init);
    };
    if (location.kind == LocationKind::shared) {
      for (const int node : program.nodes) add(node);
    } else {
      add(location.node);
    }
  }
}

int Cells::cell(int location, int node) const {
  const int first = at(first_, location);
  const int end = location + 1 < len(first_) ? at(first_, location + 1) : count();
  if (end - first == 1) return first;
  for (int c = first; c < end; ++c)
    if (at(node_, c) == node) return c;
  return first;
}

std::string TooLarge::text() const {
  std::string s;
  const auto add = [&](const std::string& limit) { s += (s.empty() ? "" : "; ") + limit; };
  if (subevents > 0)
    add(std::to_string(subevents) + " accesses, fences and waits in one execution, of " +
        std::to_string(kSubeventsMax) +
        " at most (a put, a get and a cas that fails count 2, a bcast 2 for each node, a barrier 1 for each node that "
        "it fences and 1 more, an rcas that fails 2, one that succeeds and an rfaa 3)");
  if (paths)
    add("more than " + std::to_string(PathOptions{}.paths_max) + " ways through the code of one thread, or " +
        std::to_string(PathOptions{}.symbols_max) + " values on them");
  if (arithmetic)
    add("more than " + std::to_string(PathOptions{}.weight_max) + " operands in one value, or " +
        std::to_string(kPathSymbolsMax) + " values on one way through the code");
  return s;
}

bool Skeleton::build(const Program& p, const Cells& c, const std::vector<const ThreadPath*>& chosen,
                     const StampOrder& order) {
  program = &p;
  cells = &c;
  paths = chosen;
  n = 0;
  for (const ThreadPath* path : paths) n += len(path->subevents);
  if (n > kSubeventsMax) return false;
  join_paths();
  relate(order);
  return true;
}

void Skeleton::join_paths() {
  offset.clear();
  events.clear();
  int next = 0;
  for (const ThreadPath* path : paths) {
    offset.push_back(next);
    const auto event_offset = static_cast<std::int16_t>(len(events));
    for (const EventInfo& e : path->events) {
      events.push_back(e);
      events.back().first += next;
    }
    for (const SubEvent& s : path->subevents) {
      SubEvent& copy = subevents[static_cast<std::size_t>(next++)];
      copy = s;
      copy.event = static_cast<std::int16_t>(copy.event + event_offset);
    }
  }
}

void Skeleton::relate(const StampOrder& order) {
  stamped.fill(Set{});
  libraries.fill(Set{});
  reads = writes = Set{};
  po = Relation(n);
  ppo = Relation(n);
  weakened = Relation(n);
  const bool regions = std::any_of(program->locations.begin(), program->locations.end(),
                                   [](const Location& l) { return l.relaxed || l.device; });
  same_cell = Relation(n);
  for (int i = 0; i < n; ++i) {
    const SubEvent& s = sub(i);
    stamped[static_cast<std::size_t>(s.stamp)].insert(i);
    libraries[static_cast<std::size_t>(s.library)].insert(i);
    if (s.fused) stamped[static_cast<std::size_t>(Stamp::aNRW)].insert(i);
    if (s.reads) reads.insert(i);
    if (s.writes) writes.insert(i);
    for (int j = i + 1; j < n && sub(j).thread == s.thread; ++j) {
      if (sub(j).event == s.event) continue;
      po.add(i, j);
      if (s.action != Action::none || !in_order(order, s, sub(j))) continue;
      (regions && region_weakens(i, j) ? weakened : ppo).add(i, j);
    }
    if (s.cell == kNone) continue;
    for (int j = 0; j < n; ++j)
      if (sub(j).cell == s.cell) same_cell.add(i, j);
  }
}

/// Relaxed ordering, and memories that are ordering domains of their own (docs/verbs-model.md, "Regions"): cells G7,
/// G8, G9, G12 and I9 of words that are registered so order only how the two start.
bool Skeleton::region_weakens(int i, int j) const {
  const SubEvent &a = sub(i), &b = sub(j);
  const auto of_atomic = [&](const SubEvent& s) { return is_remote_atomic(instruction(s.event).op); };
  if (a.cell == kNone || b.cell == kNone || a.node != b.node) return false;
  if (a.stamp == Stamp::aNLW && b.stamp == Stamp::aNLW) return location(j).relaxed || !one_memory(i, j);
  if (a.stamp != Stamp::aNRW) return false;
  switch (b.stamp) {
    case Stamp::aNRW:
      return (location(j).relaxed && !of_atomic(a) && !of_atomic(b)) || !one_memory(i, j);
    case Stamp::aNRR:
    case Stamp::aNAR:
      return !one_memory(i, j);
    case Stamp::aNLW: {  // by the word that the get or atomic reads
      const EventInfo& e = at(events, b.event);
      for (int k = e.first; k < e.first + e.count; ++k)
        if (sub(k).stamp == Stamp::aNRR || sub(k).stamp == Stamp::aNAR) return !one_memory(i, k);
      return false;
    }
    default:
      return false;
  }
}

Set Skeleton::of_event(int event) const {
  const EventInfo& e = at(events, event);
  Set s;
  for (int i = e.first; i < e.first + e.count; ++i) s.insert(i);
  return s;
}

}  // namespace loco::model::litmus
