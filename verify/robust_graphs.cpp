// The proof of robustness from control-flow graphs.
//
// Accesses take effect one after the other, so rf, mo and rb lead forward in time, and a cycle needs a pair in program
// order that took effect the other way round. Such a pair (a, b) is one that nothing keeps in order: a is part of a
// remote statement, and a path leads from it to b without a flush to its target. The rest of the cycle is a path from b
// back to a in program order and conflicts (delay pairs, after Shasha and Snir, TOPLAS 1988).
#include <algorithm>

#include "verify/robust.hpp"

namespace loco::verify {
namespace {

struct Site {
  std::uint32_t process = 0;
  std::uint32_t edge = 0;
  int part = 0;
  std::uint32_t variable = 0;
  bool writes = false;
  bool target = false;  ///< it is the part of a remote statement on its target's memory
  const RemoteStatement* remote = nullptr;
};

class Graphs {
 public:
  Graphs(const Program& program, const FlushMask& flushes, Network network)
      : program_(program), flushes_(flushes), network_(network) {
    for (std::uint32_t p = 0; p < program_.processes.size(); ++p)
      for (std::uint32_t e = 0; e < program_.processes[p].edges.size(); ++e) collect(p, e);
  }

  bool robust() {
    const std::size_t n = sites_.size();
    successors_.assign(n, {});
    conflicts_.assign(n, {});
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        if (conflict(sites_[a], sites_[b])) conflicts_[a].push_back(b);
        if (before(sites_[a], sites_[b], false) || conflict(sites_[a], sites_[b])) successors_[a].push_back(b);
      }
    for (std::size_t b = 0; b < n; ++b) {
      const std::vector<char> back = behind_conflicts(b);
      for (std::size_t a = 0; a < n; ++a)
        if (back[a] != 0 && delayed(sites_[a], sites_[b])) return false;
    }
    return true;
  }

 private:
  void collect(std::uint32_t p, std::uint32_t e) {
    const Action& action = program_.processes[p].edges[e].action;
    const auto add = [&](int part, std::uint32_t variable, bool writes, bool target, const RemoteStatement* remote) {
      sites_.push_back({p, e, part, variable, writes, target, remote});
    };
    if (action.kind == ActionKind::kLoad || action.kind == ActionKind::kStore)
      add(0, action.shared, action.kind == ActionKind::kStore, false, nullptr);
    if (action.kind != ActionKind::kRemote) return;
    const RemoteStatement& r = program_.remotes[action.remote];
    int part = 0;
    if (r.operand) add(part++, *r.operand, false, false, &r);
    if (r.swap) add(part++, *r.swap, false, false, &r);
    add(part++, r.remote, r.kind != RemoteKind::kGet, true, &r);
    if (r.result) add(part++, *r.result, true, false, &r);
  }

  [[nodiscard]] bool conflict(const Site& a, const Site& b) const {
    return a.variable == b.variable && (a.writes || b.writes);
  }

  /// Can the process go from the end of a's statement to the beginning of b's? `without_flush`: to a's target.
  [[nodiscard]] bool leads(const Site& a, const Site& b, bool without_flush) const {
    const Process& process = program_.processes[a.process];
    const std::uint32_t goal = process.edges[b.edge].from;
    std::vector<char> seen(process.locations.size(), 0);
    std::vector<std::uint32_t> work = {process.edges[a.edge].to};
    seen[work.front()] = 1;
    while (!work.empty()) {
      const std::uint32_t here = work.back();
      work.pop_back();
      if (here == goal) return true;
      for (const std::uint32_t e : process.locations[here].edges) {
        const Edge& edge = process.edges[e];
        if (without_flush && flushes_target(edge, a)) continue;
        if (seen[edge.to] == 0) work.push_back(edge.to);
        seen[edge.to] = 1;
      }
    }
    return false;
  }
  [[nodiscard]] bool flushes_target(const Edge& edge, const Site& a) const {
    return edge.action.kind == ActionKind::kFlush && flushes_[edge.action.flush] &&
           program_.flushes[edge.action.flush].target == a.remote->target;
  }

  [[nodiscard]] bool before(const Site& a, const Site& b, bool without_flush) const {
    if (a.process != b.process) return false;
    if (!without_flush && a.edge == b.edge && a.part < b.part) return true;
    return leads(a, b, without_flush);
  }

  /// In program order, and nothing keeps it so. The parts of one run through a statement come in its order.
  [[nodiscard]] bool delayed(const Site& a, const Site& b) const {
    if (a.remote == nullptr || a.process != b.process) return false;
    if (a.target && b.target && b.remote != nullptr && ordered(network_, *a.remote, *b.remote)) return false;
    return before(a, b, true);
  }

  /// What a path leads to from there whose first and last steps are conflicts: po is transitive, so that a cycle's
  /// steps in program order stand between conflicts.
  [[nodiscard]] std::vector<char> behind_conflicts(std::size_t start) const {
    std::vector<char> reached(sites_.size(), 0), last(sites_.size(), 0);
    std::vector<std::size_t> work;
    const auto reach = [&](std::size_t to) {
      if (reached[to] == 0) work.push_back(to);
      reached[to] = 1;
    };
    for (const std::size_t next : conflicts_[start]) {
      last[next] = 1;
      reach(next);
    }
    while (!work.empty()) {
      const std::size_t here = work.back();
      work.pop_back();
      for (const std::size_t next : conflicts_[here]) last[next] = 1;
      for (const std::size_t next : successors_[here]) reach(next);
    }
    return last;
  }

  const Program& program_;
  const FlushMask& flushes_;
  Network network_;
  std::vector<Site> sites_;
  std::vector<std::vector<std::size_t>> successors_, conflicts_;
};

}  // namespace

bool robust_by_graphs(const Program& program, const FlushMask& flushes, Network network) {
  return network == Network::kSc || Graphs(program, flushes, network).robust();
}

}  // namespace loco::verify
