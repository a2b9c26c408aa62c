#include "model/verbs/check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "model/verbs/describe.hpp"
#include "model/verbs/graph.hpp"

namespace loco::model::verbs {

std::string Verdict::to_text() const {
  if (consistent()) return fmt::format("consistent: rdmatso ({} subevents)", subevents);
  std::string text;
  for (const Violation& v : violations) {
    text += fmt::format("{}not consistent: rdmatso: {}", text.empty() ? "" : "\n", v.message);
    for (const CycleStep& s : v.cycle)
      text += fmt::format("\n  {:5} {} by {}{}  --{}-->", s.stamp, s.text, s.thread_name,
                          s.place.empty() ? "" : ", " + s.place, s.rule);
  }
  return text;
}

namespace {
using trace::Verbs;

/// The k-th message that a receive queue serves takes its k-th receive; each at most once.
void check_matching(const Verbs& v, std::vector<Violation>& out) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> posted;
  for (std::uint32_t r = 0; r < v.receives.size(); ++r) posted[v.receives[r].queue].push_back(r);
  std::map<std::uint32_t, std::size_t> next;
  for (std::uint32_t m = 0; m < v.messages.size(); ++m) {
    const std::uint32_t taken = v.messages[m].receive;
    if (taken == kNone) continue;
    const std::uint32_t queue = v.receives[taken].queue;
    const std::size_t k = next[queue]++;
    if (posted[queue][k] == taken) continue;
    out.push_back(
        {"matching",
         fmt::format("message {} of receive queue {} took another receive than the oldest: that with wr_id {} in "
                     "place of {}",
                     k + 1, queue, v.receives[taken].wr_id, v.receives[posted[queue][k]].wr_id),
         {}});
    return;
  }
}

/// The k-th poll of a completion queue takes its k-th entry.
void check_polls(const Verbs& v, std::vector<Violation>& out) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> written;
  for (std::uint32_t e = 0; e < v.entries.size(); ++e) written[v.entries[e].cq].push_back(e);
  std::map<std::uint32_t, std::size_t> next;
  for (const Verbs::Poll& p : v.polls) {
    const std::size_t k = next[p.cq]++;
    const auto& entries = written[p.cq];
    if (k < entries.size() && entries[k] == p.entry) continue;
    out.push_back(
        {"poll takes next",
         fmt::format("poll {} of completion queue {} took another entry than the oldest, or one that was taken", k + 1,
                     p.cq),
         {}});
    return;
  }
}

/// A request has one completion at most, and none of a success without having asked for it.
void check_completions(const Verbs& v, std::vector<Violation>& out) {
  std::vector<std::uint32_t> sends(v.requests.size(), 0);
  for (const Verbs::Entry& e : v.entries) {
    if (e.receive || e.request == kNone) continue;
    const Verbs::Request& r = v.requests[e.request];
    if (++sends[e.request] > 1 || (!e.failed && !r.signaled)) {
      out.push_back({"posted once",
                     fmt::format("request {} of queue pair {} has a completion that it must not have", r.number, r.qp),
                     {}});
      return;
    }
  }
}
}  // namespace

Verdict check(const trace::Trace& trace) {
  const Graph graph(trace, Scope::run);
  Verdict verdict{.violations = {}, .calls = trace.calls.size(), .subevents = graph.events().size()};
  const Verbs& v = *trace.verbs;
  check_matching(v, verdict.violations);
  check_polls(v, verdict.violations);
  check_completions(v, verdict.violations);
  const auto cycle = graph.cycle();
  if (!cycle) return verdict;
  Violation violation{.rule = "ppo", .message = "a cycle", .cycle = {}};
  for (const Graph::Step& step : *cycle) {
    const Event& e = graph.events()[step.event];
    const Access a = access_of(graph, step.event);
    violation.cycle.push_back({.call = a.call,
                               .thread = a.thread,
                               .thread_name = a.thread_name,
                               .stamp = std::string(name(e.kind)),
                               .text = a.text,
                               .rule = std::string(name(step.edge)),
                               .place = a.place});
    if (step.edge != Edge::ppo && step.edge != Edge::starts) violation.rule = name(step.edge);
  }
  violation.message = fmt::format("a cycle of {} steps", violation.cycle.size());
  verdict.violations.push_back(std::move(violation));
  return verdict;
}

}  // namespace loco::model::verbs
