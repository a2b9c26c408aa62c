// What happened in a run of a verbs program: queues, what reads saw, memory; and questions about the whole.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/verbs/graph.hpp"

namespace loco::model::verbs {

void Graph::order_queues() {
  const trace::Verbs& v = verbs();
  const bool whole = scope_ == Scope::run;
  const auto chain = [this](std::uint32_t& last, std::uint32_t e, Edge edge, bool in_ib) {
    if (last != kNone && e != kNone) {
      if (in_ib) both(last, e, edge);
      if (!in_ib) arc(finish(last), finish(e), edge);
    }
    if (e != kNone) last = e;
  };
  std::map<std::uint32_t, std::uint32_t> posted, taken, written, polled;
  const auto last_of = [](std::map<std::uint32_t, std::uint32_t>& last, std::uint32_t queue) -> std::uint32_t& {
    return last.try_emplace(queue, kNone).first->second;
  };
  for (std::uint32_t r = 0; whole && r < v.receives.size(); ++r)
    chain(last_of(posted, v.receives[r].queue), of_receive_[r], Edge::receive_order, false);
  for (std::uint32_t m = 0; m < v.messages.size(); ++m) {
    if (of_message_[m] == kNone) continue;
    both(of_receive_[v.messages[m].receive], of_message_[m], Edge::matching);
    if (whole)
      chain(last_of(taken, v.receives[v.messages[m].receive].queue), of_message_[m], Edge::receive_order, true);
  }
  for (std::uint32_t e = 0; whole && e < v.entries.size(); ++e)
    chain(last_of(written, v.entries[e].cq), of_entry_[e], Edge::completion_order, false);
  for (std::uint32_t p = 0; p < v.polls.size(); ++p) {
    chain(last_of(polled, v.polls[p].cq), of_poll_[p], Edge::poll, true);
    const std::uint32_t entry = v.polls[p].entry;
    if (entry != kNone && of_entry_[entry] != kNone && of_poll_[p] != kNone)
      both(of_entry_[entry], of_poll_[p], Edge::poll);
  }
}

void Graph::order_reads() {
  for (std::uint32_t e = 0; e < events_.size(); ++e) {
    const Event& read = events_[e];
    if (!reads(read.kind) || (scope_ == Scope::program && !read.flag)) continue;
    const std::uint32_t source = trace_->subevents[read.item - 1].source;
    if (source == 0 || of_subevent_[source] == kNone) continue;
    const std::uint32_t write = of_subevent_[source];
    const Event& w = events_[write];
    const bool own = w.kind == Kind::aCW && read.kind == Kind::aCR && w.thread == read.thread;
    if (own) issued(write, e, Edge::rf);
    if (!own) both(write, e, Edge::rf);
  }
}

void Graph::order_memory() {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> first;
  std::vector<std::uint32_t> next(events_.size(), kNone);
  for (std::uint32_t e = 0; e < events_.size(); ++e) {
    if (!writes(events_[e].kind)) continue;
    const trace::Subevent& s = trace_->subevents[events_[e].item - 1];
    if (!trace::has_finished(s)) continue;
    if (s.overwrote == 0) first[{events_[e].node, events_[e].address}] = e;
    if (s.overwrote == 0 || of_subevent_[s.overwrote] == kNone) continue;
    const std::uint32_t before = of_subevent_[s.overwrote];
    next[before] = e;
    arc(finish(before), finish(e), Edge::mo);
  }
  for (std::uint32_t e = 0; e < events_.size(); ++e) {
    const Event& read = events_[e];
    if (!reads(read.kind)) continue;
    const std::uint32_t source = trace_->subevents[read.item - 1].source;
    std::uint32_t write = kNone;
    if (source != 0) {
      write = of_subevent_[source] == kNone ? kNone : next[of_subevent_[source]];
    } else if (const auto found = first.find({read.node, read.address}); found != first.end()) {
      write = found->second;
    }
    if (write == kNone || write == e) continue;
    arc(finish(e), finish(write), Edge::rb);
    if (read.kind == Kind::aCR && events_[write].kind == Kind::aCW && read.thread == events_[write].thread)
      issued(e, write, Edge::rb);
  }
}

/// A write of a NIC was flushed before a read of the same queue pair iff it finished before it.
void Graph::order_flushes() {
  struct InQueue {
    std::uint64_t seq = 0;
    bool write = false;
    std::uint32_t event = 0;
    auto operator<=>(const InQueue&) const = default;
  };
  std::map<std::pair<std::uint32_t, unsigned>, std::vector<InQueue>> queues;  // by queue pair; side and memory
  for (std::uint32_t e = 0; e < events_.size(); ++e) {
    const Event& event = events_[e];
    const bool local = event.kind == Kind::aNLR || event.kind == Kind::aNLW;
    const bool remote = event.kind == Kind::aNRR || event.kind == Kind::aNAR || event.kind == Kind::aNRW;
    if (!local && !remote) continue;
    const trace::Subevent& s = trace_->subevents[event.item - 1];
    const unsigned side = (local ? 1U : 0U) + (event.device ? 2U : 0U);
    queues[{verbs().requests[event.request].qp, side}].push_back({s.finish, writes(event.kind), e});
  }
  for (auto& [queue, accesses] : queues) {
    std::ranges::sort(accesses);
    // Joints that all before, or all behind, an access have on one side of them.
    for (const bool forward : {true, false}) {
      if (!forward) std::ranges::reverse(accesses);
      std::uint32_t begun = kNone, done = kNone;
      for (const InQueue& a : accesses) {
        if (!a.write) {
          if (begun == kNone) continue;
          arc(forward ? begun : start(a.event), forward ? start(a.event) : begun, Edge::nfo);
          arc(forward ? done : finish(a.event), forward ? finish(a.event) : done, Edge::nfo);
          continue;
        }
        const std::uint32_t b = joint(), d = joint();
        for (const auto& [from, to] :
             {std::pair(start(a.event), b), std::pair(finish(a.event), d), std::pair(begun, b), std::pair(done, d)})
          if (from != kNone) arc(forward ? from : to, forward ? to : from, Edge::nfo);
        begun = b;
        done = d;
      }
    }
  }
}

/// rao: of a node's unit one atomic after the other reads; a write is in memory before the next one does.
void Graph::order_atomics() {
  struct Turn {
    std::uint32_t node = 0;
    std::uint64_t unit = 0, place = 0;
    std::uint32_t read = 0;
    auto operator<=>(const Turn&) const = default;
  };
  std::vector<Turn> turns;
  for (std::uint32_t e = 0; e < events_.size(); ++e) {
    if (events_[e].kind != Kind::aNAR) continue;
    const trace::Subevent& s = trace_->subevents[events_[e].item - 1];
    if (s.stamp == trace::Stamp::aNAR) turns.push_back({s.node, trace::rao_unit(s), trace::rao_place(s), e});
  }
  std::ranges::sort(turns);
  for (std::size_t i = 1; i < turns.size(); ++i) {
    const Turn &first = turns[i - 1], &second = turns[i];
    if (first.node != second.node || first.unit != second.unit) continue;
    both(first.read, second.read, Edge::rao);
    for (const std::uint32_t e : of_request_[events_[first.read].request])
      if (events_[e].kind == Kind::aNRW) arc(finish(e), finish(second.read), Edge::rao);
  }
}

// --- questions -------------------------------------------------------------------------------------------------------

namespace {
enum class Mark : std::uint8_t { fresh, open, done };
}  // namespace

std::optional<std::vector<Graph::Step>> Graph::cycle() const {
  const auto points = static_cast<std::uint32_t>(arcs_.size());
  std::vector<Mark> mark(points, Mark::fresh);
  struct Frame {
    std::uint32_t point = 0;
    std::size_t arc = 0;
  };
  std::vector<Frame> path;
  for (std::uint32_t root = 0; root < points; ++root) {
    if (mark[root] != Mark::fresh) continue;
    path.push_back({root, 0});
    mark[root] = Mark::open;
    while (!path.empty()) {
      Frame& top = path.back();
      if (top.arc == arcs_[top.point].size()) {
        mark[top.point] = Mark::done;
        path.pop_back();
        continue;
      }
      const std::uint32_t to = arcs_[top.point][top.arc++].to;
      if (mark[to] == Mark::fresh) {
        mark[to] = Mark::open;
        path.push_back({to, 0});
      } else if (mark[to] == Mark::open) {
        std::vector<Step> steps;
        const auto begin = std::ranges::find(path, to, &Frame::point);
        for (auto at = begin; at != path.end(); ++at) {
          const Edge edge = arcs_[at->point][at->arc - 1].edge;
          const std::uint32_t event = at->point < 2 * events_.size() ? at->point / 2 : kNone;
          if (event == kNone || (!steps.empty() && steps.back().event == event)) {  // the edge goes on
            if (!steps.empty() && event != kNone) steps.back().edge = edge;
            continue;
          }
          steps.push_back({event, edge});
        }
        return steps;
      }
    }
  }
  return std::nullopt;
}

void Graph::ask(std::vector<Question>& questions) const {
  const auto points = static_cast<std::uint32_t>(arcs_.size());
  // A topological order: reverse of that in which a depth-first search leaves points.
  std::vector<std::uint32_t> left;
  left.reserve(points);
  {
    std::vector<bool> seen(points, false);
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    for (std::uint32_t root = 0; root < points; ++root) {
      if (seen[root]) continue;
      seen[root] = true;
      path.emplace_back(root, 0);
      while (!path.empty()) {
        auto& [point, next] = path.back();
        if (next == arcs_[point].size()) {
          left.push_back(point);
          path.pop_back();
          continue;
        }
        const std::uint32_t to = arcs_[point][next++].to;
        if (!seen[to]) {
          seen[to] = true;
          path.emplace_back(to, 0);
        }
      }
    }
  }
  std::vector<std::uint32_t> place(points);
  for (std::uint32_t i = 0; i < points; ++i) place[left[i]] = points - 1 - i;
  std::vector<std::uint32_t> order(points);
  for (std::uint32_t p = 0; p < points; ++p) order[place[p]] = p;

  std::vector<std::size_t> by_source(questions.size());
  for (std::size_t i = 0; i < by_source.size(); ++i) by_source[i] = i;
  std::ranges::sort(by_source, {},
                    [&](std::size_t i) { return std::pair(place[finish(questions[i].from)], questions[i].from); });
  constexpr std::size_t kWords = 8;
  constexpr std::size_t kBlock = 64 * kWords;
  std::vector<std::array<std::uint64_t, kWords>> reached(points);
  for (std::size_t i = 0; i < by_source.size();) {
    std::size_t end = i;
    std::vector<std::uint32_t> sources;
    for (; end < by_source.size(); ++end) {
      const std::uint32_t from = questions[by_source[end]].from;
      if (!sources.empty() && sources.back() == from) continue;
      if (sources.size() == kBlock) break;
      sources.push_back(from);
    }
    const std::uint32_t first = place[finish(sources.front())];
    for (std::uint32_t at = first; at < points; ++at) reached[order[at]] = {};
    for (std::size_t s = 0; s < sources.size(); ++s)
      reached[finish(sources[s])][s / 64] |= std::uint64_t{1} << (s % 64);
    for (std::uint32_t at = first; at < points; ++at) {
      const auto& from = reached[order[at]];
      if (std::ranges::all_of(from, [](std::uint64_t w) { return w == 0; })) continue;
      for (const Arc& a : arcs_[order[at]])
        if (place[a.to] > at)
          for (std::size_t w = 0; w < kWords; ++w) reached[a.to][w] |= from[w];
    }
    std::size_t s = 0;
    for (; i < end; ++i) {
      Question& q = questions[by_source[i]];
      while (sources[s] != q.from) ++s;
      q.yes = (reached[finish(q.to)][s / 64] >> (s % 64) & 1U) != 0 && place[finish(q.to)] >= first;
    }
  }
}

}  // namespace loco::model::verbs
