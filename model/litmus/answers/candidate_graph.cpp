#include "model/litmus/answers/candidate_graph.hpp"

#include <algorithm>

#include "model/litmus/search/verbs_skeletons.hpp"

namespace loco::model::litmus {
namespace {

std::string cell_name(Stamp earlier, Stamp later) {
  const bool atomic = earlier == Stamp::aNAR || later == Stamp::aNAR;
  return std::string(1, static_cast<char>('A' + static_cast<int>(earlier))) +
         std::to_string(static_cast<int>(later) + 1) + (atomic ? " of the stamp order" : " of Fig. 10");
}

std::string stamp_name(const Skeleton& x, const SubEvent& s) {
  const Instruction& instruction = x.instruction(s.event);
  if (instruction.op == Op::verbs) {
    const std::string n(kVerbsStampNames[static_cast<std::size_t>(s.verbs)]);
    if (s.queue == kNone) return n;
    const QueuePair& q = at(x.program->verbs.queue_pairs, s.queue);
    return n + "_" + (q.name.empty() ? std::to_string(q.peer_node) : q.name);
  }
  static const char* const kActions[] = {"", "r", "w", "er", "ew", "erw", "flush"};
  if (s.action != Action::none) return kActions[static_cast<std::size_t>(s.action)];
  std::string n(name(s.stamp));
  return is_family(s.stamp) ? n + "_" + std::to_string(s.node) : n;
}

/// The reason for an edge from i, in the rule's words.
std::string words_of(const Skeleton& x, int i, Rule rule) {
  switch (rule) {
    case Rule::f1:
      return "a local action waits for the flush";
    case Rule::f2:
      return "the flush waits for the statement";
    case Rule::f3:
      return "the statement starts after the flush";
    case Rule::fa:
      return "all that follows a flush waits for it";
    case Rule::pg:
    case Rule::ga:
    case Rule::cas:
      return "within one statement";
    case Rule::at:
      return "an accumulate is one step";
    case Rule::lo:
      return "a local action comes before what follows it";
    case Rule::ir:
      return "in-order routing";
    case Rule::pp:
      return "puts keep their order";
    case Rule::gg:
      return "gets keep their order";
    case Rule::ptg:
      return "a put and a later get keep their order";
    case Rule::gtp:
      return "a get and a later put keep their order";
    case Rule::pta:
      return "a put, accumulate or compare-and-swap and a later accumulate or compare-and-swap keep their order";
    case Rule::ao:
      return "an accumulate or compare-and-swap and a later statement keep their order";
    case Rule::gta:
      return "a get and a later accumulate or compare-and-swap keep their order";
    case Rule::sr:
      return x.sub(i).action == Action::flush ? "a put that reads its source when it is issued waits for the flush"
                                              : "a put reads its source when it is issued";
    case Rule::oa:
      return x.sub(i).action == Action::flush
                 ? "an operand that is read when its statement is issued waits for the flush"
                 : "operands are read when their statement is issued";
    case Rule::sf:
      return "what a statement reads of its own process comes before later statements";
    case Rule::rl:
      return "what a statement writes to its own process comes after earlier statements";
    case Rule::so:
    case Rule::r1:
    case Rule::r2:
    case Rule::ws:
      break;
  }
  return "ordered";
}

std::string location_name(const Skeleton& x, int cell) {
  const Location& l = at(x.program->locations, x.cells->location(cell));
  if (l.fresh) return "a fresh location";
  return l.kind == LocationKind::shared ? l.name + "@" + std::to_string(x.cells->node(cell)) : l.name;
}

}  // namespace

std::string describe(const Skeleton& x, const Sources& rf, int sub) {
  const SubEvent& s = x.sub(sub);
  std::string text = stamp_name(x, s);
  if (s.cell == kNone) return text;
  text += " " + location_name(x, s.cell);
  if (s.reads) {
    const auto v = value_read(x, rf, sub);
    text += " reads " + (v ? x.program->text(*v) : "?");
  }
  if (s.writes) {
    const auto v = value_written(x, rf, sub);
    text += (s.reads ? "," : "") + std::string(" writes ") + (v ? x.program->text(*v) : "?");
  }
  return text;
}

CandidateGraph::CandidateGraph(const Skeleton& x, const Axioms& a) : x_(x), a_(a) { add_fixed(); }

void CandidateGraph::add_fixed() {
  const auto add = [&](int i, int j, bool in_ib) {
    auto [relation, why] = name_fixed(i, j, in_ib);
    fixed_.push_back({i, j, in_ib && a_.started.contains(i), in_ib && a_.started.contains(j), relation, why});
  };
  for (int i = 0; i < x_.n; ++i) {
    (x_.ppo.row(i) | a_.so.row(i)).for_each([&](int j) { add(i, j, false); });
    a_.ib.row(i).for_each([&](int j) {
      // An edge of ib between subevents that ppo or so orders, too, is shown once.
      const bool known = x_.ppo.contains(i, j) || a_.so.contains(i, j);
      if (!known || a_.started.contains(i) || a_.started.contains(j)) add(i, j, true);
    });
  }
}

std::pair<std::string, std::string> CandidateGraph::name_fixed(int i, int j, bool in_ib) const {
  const SubEvent &s = x_.sub(i), &t = x_.sub(j);
  if (s.action != Action::none) return name_core(i, j);
  if (x_.facts != nullptr) return name_verbs(i, j, in_ib);
  if (x_.ppo.contains(i, j)) return {"ppo", "program order, cell " + cell_name(s.stamp, t.stamp)};
  if (s.event == t.event)
    return {"iso", s.stamp == Stamp::aNAR ? "an atomic writes what follows from its read" : "within one operation"};
  if (s.library == Library::bal && t.library == Library::bal)
    return {"so", "the barrier lets nobody out before everybody is in"};
  if (s.library == Library::rbl && t.library == Library::rbl)
    return s.writes || s.stamp == Stamp::aCW || s.stamp == Stamp::aNRW
               ? std::pair<std::string, std::string>{"rf", "the message is received after it is submitted"}
               : std::pair<std::string, std::string>{"fb", "an empty receive comes before the message"};
  if (t.stamp == Stamp::aWT && !(in_ib && s.stamp == Stamp::aCW)) {
    const std::string call = x_.instruction(t.event).op == Op::poll ? "the poll" : "the wait";
    const bool atomic = x_.instruction(s.event).op == Op::rcas || x_.instruction(s.event).op == Op::rfaa;
    return {"pf", call + (s.stamp != Stamp::aNRW ? " sees the operation done"
                          : atomic               ? " sees the atomic's write posted, not yet in memory"
                                                 : " sees the put sent")};
  }
  return {"ippo", "started in program order, cell " + cell_name(s.stamp, t.stamp)};
}

std::pair<std::string, std::string> CandidateGraph::name_verbs(int i, int j, bool in_ib) const {
  const VerbsStamp s = verbs_stamp(x_, i), t = verbs_stamp(x_, j);
  using enum VerbsStamp;
  if (x_.sub(i).event == x_.sub(j).event) return {"iso", "within one operation"};
  if (s == aRP && t == aRX) return {"mt", "the message takes this receive"};
  if (t == aWT && (s == aSC || s == aRC) && at(x_.facts->poll_of, i) == j)
    return {"pf", "the poll takes this completion"};
  const bool cell = x_.po.contains(i, j) && (x_.ppo.contains(i, j) || x_.facts->ib.contains(i, j));
  if (!cell && s == aRP && t == aRP) return {"rqo", "this receive is posted first"};
  if (!cell && s == aRX && t == aRX) return {"rco", "this message takes its receive first"};
  if (!cell && s == aWT && t == aWT) return {"plo", "polls first"};
  if (!cell && (s == aSC || s == aRC)) return {"co", "this completion is written first"};
  if (!cell && t == aNAR) return {"rao", "this atomic comes first"};
  const std::string name =
      std::string(1, static_cast<char>('A' + static_cast<int>(s))) + std::to_string(static_cast<int>(t) + 1);
  return in_ib ? std::pair<std::string, std::string>{"ippo", "started in program order, cell " + name}
               : std::pair<std::string, std::string>{"ppo", "program order, cell " + name};
}

std::pair<std::string, std::string> CandidateGraph::name_core(int i, int j) const {
  const std::vector<RuleSet> reasons = core_reasons(x_, a_.rules, i, j);
  std::string names;
  for (const RuleSet r : reasons) {
    std::string together;
    for (const Rule rule : r.rules()) together += (together.empty() ? "" : " and ") + std::string(name(rule));
    names += (names.empty() ? "" : " or ") + together;
  }
  return {"hb", words_of(x_, i, reasons.front().rules().front()) + " (" + names + ")"};
}

std::vector<LabelledEdge> CandidateGraph::edges(const Candidate& c) const {
  std::vector<LabelledEdge> all = fixed_;
  const auto by = [&](Rule rule) { return by_rule(rule); };
  const auto add = [&](int i, int j, bool so, bool ib, const std::string& relation, const std::string& why) {
    if (so) all.push_back({i, j, false, false, relation, why});
    if (ib && (!so || a_.started.contains(i) || a_.started.contains(j)))
      all.push_back({i, j, a_.started.contains(i), a_.started.contains(j), relation, why});
  };
  const auto add_rb = [&](int r, int w, const std::string& why) {
    if (r == w) return;
    add(r, w, a_.rb_so.contains(r, w), a_.rb_ib.contains(r, w), "rb", why);
    if (a_.rb_never.contains(r, w)) {
      all.push_back({r, w, false, false, "rb", why});
      all.push_back({w, r, false, false, "po", "a thread sees its own writes"});
    }
  };
  for (int r = 0; r < x_.n; ++r) {
    const int w = c.rf[r];
    if (w >= 0 && x_.sub(r).reads)
      add(w, r, a_.rf_so.contains(w, r), a_.rf_ib.contains(w, r), "rf", "reads its value" + by(Rule::r2));
    if (w == kInitial)
      for (int other = 0; other < x_.n; ++other)
        if (a_.rf.contains(other, r))
          add_rb(r, other, "reads the initial value, which the next one overwrites" + by(Rule::r1));
  }
  for (const auto& [w1, w2] : c.mo) {
    if (!a_.mo.contains(w1, w2)) {  // w2 is the last one, of which only hb can make R1's w1 hb w2
      add(w1, w2, true, false, "mo", "the next one is the final value");
      continue;
    }
    add(w1, w2, true, false, "mo", "reaches memory first" + by(Rule::ws));
    for (int r = 0; r < x_.n; ++r)
      if (c.rf[r] == w1 && x_.sub(r).reads) add_rb(r, w2, "reads a value that the next one overwrites" + by(Rule::r1));
  }
  for (const auto& [i, j] : c.nfo)
    add(i, j, true, true, "nfo",
        a_.started.contains(j) ? "the NIC reads before this write starts" : "the NIC's read flushes the earlier write");
  for (const auto& [i, j] : c.rao) {
    const std::string unit = "the atomics of node " + std::to_string(x_.sub(i).node) + " are executed one at a time";
    add(i, j, true, false, "rao", unit);
    if (const int write = a_.atomic_write(i); write != kNone)
      add(write, j, true, false, "rao", unit + ": the next one reads when the write is in memory");
  }
  grow(c, all);
  return all;
}

std::string CandidateGraph::by_rule(Rule rule) const {
  return a_.rules.has(rule) ? " (" + std::string(name(rule)) + ")" : "";
}

void CandidateGraph::grow(const Candidate& c, std::vector<LabelledEdge>& edges) const {
  for (bool grown = a_.rb_from_hb || !a_.steps.empty(); grown;) {
    grown = false;
    Relation hb(x_.n);
    for (const LabelledEdge& e : edges) hb.add(e.from, e.to);
    hb = hb.closure();
    if (!hb.irreflexive()) return;  // every edge follows from a cycle
    a_.grow(
        x_, [&](int i, int j) { return hb.contains(i, j); }, [&](int r) { return c.rf[r]; },
        [&](int i, int j, Rule rule) {
          if (hb.contains(i, j)) return;
          grown = true;
          if (rule == Rule::at)
            edges.push_back({i, j, false, false, "hb", "an accumulate is one step" + by_rule(rule)});
          else
            edges.push_back({i, j, false, false, "rb", "reads a value that the next one overwrites" + by_rule(rule)});
        });
  }
}

namespace {

/// Edges between starts and finishes: the finish of subevent i is node 2i, its start 2i + 1 (the same node for
/// instantaneous subevents).
class LabelledGraph {
 public:
  LabelledGraph(int subevents, std::vector<LabelledEdge> edges)
      : edges_(std::move(edges)), out_(static_cast<std::size_t>(2 * subevents)) {
    for (int e = 0; e < len(edges_); ++e) at(out_, source(at(edges_, e))).push_back(e);
  }

  [[nodiscard]] int nodes() const { return len(out_); }
  /// The shortest path, by breadth-first search; empty when there is none.
  [[nodiscard]] std::vector<LabelledEdge> path(int from, int to) const {
    std::vector<int> by(out_.size(), kNone);  // the edge over which a node was found
    std::vector<int> queue = {from};
    for (std::size_t q = 0; q < queue.size(); ++q)
      for (const int e : at(out_, queue[q])) {
        const int next = target(at(edges_, e));
        if (at(by, next) != kNone) continue;
        at(by, next) = e;
        if (next == to) return path_back(by, from, to);
        queue.push_back(next);
      }
    return {};
  }

 private:
  static int source(const LabelledEdge& e) { return 2 * e.from + (e.from_start ? 1 : 0); }
  static int target(const LabelledEdge& e) { return 2 * e.to + (e.to_start ? 1 : 0); }

  [[nodiscard]] std::vector<LabelledEdge> path_back(const std::vector<int>& by, int from, int to) const {
    std::vector<LabelledEdge> result;
    int node = to;
    do {
      result.push_back(at(edges_, at(by, node)));
      node = source(result.back());
    } while (node != from);
    std::reverse(result.begin(), result.end());
    return result;
  }

  std::vector<LabelledEdge> edges_;
  std::vector<std::vector<int>> out_;  ///< by node
};

}  // namespace

std::vector<LabelledEdge> CandidateGraph::shortest_cycle(const std::vector<LabelledEdge>& edges) const {
  std::vector<LabelledEdge> all = edges;
  for (int i = 0; i < x_.n; ++i)
    if (a_.started.contains(i)) all.push_back({i, i, true, false, "", "starts before it finishes"});
  const LabelledGraph graph(x_.n, std::move(all));
  const auto told = [](const std::vector<LabelledEdge>& cycle) {
    return std::count_if(cycle.begin(), cycle.end(), [](const LabelledEdge& e) { return !e.relation.empty(); });
  };
  std::vector<LabelledEdge> best;
  for (int n = 0; n < graph.nodes(); ++n) {
    auto cycle = graph.path(n, n);
    if (!cycle.empty() && (best.empty() || told(cycle) < told(best))) best = std::move(cycle);
  }
  if (!best.empty()) return best;
  a_.never_hb.for_each([&](int w, int f) {
    if (!best.empty()) return;
    best = graph.path(2 * w, 2 * f);
    if (!best.empty())
      best.push_back({f, w, false, false, "fb", "an empty receive ignores a message that has arrived"});
  });
  return best;
}

}  // namespace loco::model::litmus
