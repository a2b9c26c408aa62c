#include <algorithm>
#include <fmt/format.h>

#include "model/stamps.hpp"
#include "model/witness.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxRecords = std::size_t{1} << 30;  // graph points are numbered with 32 bits
constexpr Seq kMaxSeq = Seq{1} << 61;                      // positions are twice a Seq

bool sane(Seq s) { return s < kMaxSeq || s == kNever; }

Library library_of(Method m) {
  if (m <= Method::remote_cas) return Library::rdmawait;
  if (m <= Method::gf) return Library::sv;
  if (m == Method::barrier) return Library::bal;
  if (m <= Method::receive) return Library::rbl;
  if (m <= Method::msw_wait) return Library::msw;
  if (m <= Method::release) return Library::lock;
  return Library::kvstore;
}

bool names_twice(std::vector<std::uint32_t> names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

void check_tables(const Trace& t, Reports& r) {
  if (t.calls.size() > kMaxRecords || t.subevents.size() > kMaxRecords)
    r.add(Rule::structure, [] { return std::string("more than 2^30 calls or subevents"); });
  if (t.objects.empty() || t.node_sets.empty())
    r.add(Rule::structure, [] { return std::string("object 0 and node set 0 must exist"); });
  for (std::size_t i = 0; i < t.threads.size(); ++i)
    if (t.threads[i].node >= t.nodes) r.add(Rule::structure, [&] { return fmt::format("thread {} is on no node", i); });
  for (std::size_t i = 0; i < t.objects.size(); ++i) {
    for (const std::uint32_t p : t.objects[i].participants)
      if (p >= t.threads.size())
        r.add(Rule::structure, [&] { return fmt::format("object {} has no participant {}", i, p); });
    if (names_twice(t.objects[i].participants))
      r.add(Rule::structure, [&] { return fmt::format("object {} names a participant twice", i); });
  }
  for (std::size_t i = 0; i < t.node_sets.size(); ++i) {
    for (const std::uint32_t n : t.node_sets[i])
      if (n >= t.nodes) r.add(Rule::structure, [&] { return fmt::format("node set {} names node {}", i, n); });
    if (names_twice(t.node_sets[i]))
      r.add(Rule::structure, [&] { return fmt::format("node set {} names a node twice", i); });
  }
  if (!t.node_sets.empty() && !t.node_sets[0].empty())
    r.add(Rule::structure, [] { return std::string("node set 0 is not empty"); });
}

const char* call_problem(const Trace& t, std::size_t i, const std::vector<CallId>& open) {
  const Call& c = t.calls[i];
  if (c.thread >= t.threads.size()) return "is by no thread";
  if (c.object >= t.objects.size()) return "has no such object";
  if (c.node_set >= t.node_sets.size()) return "has no such node set";
  if (c.method > Method::kv_delete || c.library != library_of(c.method)) return "has a method of another library";
  // A barrier fences its caller's node at least. On a single node, there is nobody to broadcast to, or to fence
  // towards.
  if (c.method == Method::barrier && t.node_sets[c.node_set].empty()) return "is a barrier that fences no node";
  if (!sane(c.begin) || !sane(c.end) || c.begin == kNever) return "has an absurd time";
  if (c.returned && (c.end == kNever || c.end < c.begin)) return "returned before it began";
  if (c.parent == 0) return nullptr;
  if (c.parent > i) return "comes before the call it is part of";
  if (t.calls[c.parent - 1].thread != c.thread) return "is part of another thread's call";
  if (c.begin < t.calls[c.parent - 1].begin) return "began before the call it is part of";
  if (t.calls[c.parent - 1].library == Library::rdmawait) return "is part of a call of the base library";
  // Program order is a walk through the tree of calls: the parent encloses the thread's previous call.
  CallId enclosing = open[c.thread];
  while (enclosing != 0 && enclosing != c.parent) enclosing = t.calls[enclosing - 1].parent;
  return enclosing == c.parent ? nullptr : "is part of a call that was over";
}

/// Stamps of subevents that a NIC executes asynchronously, after the call that posted them has returned.
bool is_nic(Stamp s) { return (s >= Stamp::aNLR && s <= Stamp::aRF) || s == Stamp::aNAR; }

const char* subevent_problem(const Trace& t, const Subevent& s) {
  if (s.call == 0 || s.call > t.calls.size()) return "belongs to no call";
  if (t.calls[s.call - 1].library != Library::rdmawait) return "belongs to a call that is not of the base library";
  if (s.stamp > Stamp::aNAR || s.stamp == Stamp::aGF) return "has a stamp that machines do not have";
  if (s.peer >= t.nodes || s.node >= t.nodes) return "names no node";
  if (is_access(s.stamp) && s.address % 8 != 0) return "is not at a word";
  if (s.source > t.subevents.size() || s.overwrote > t.subevents.size()) return "refers to no subevent";
  if (!sane(s.start) || !sane(s.finish)) return "has an absurd time";
  if (is_unbegun(s)) return is_nic(s.stamp) ? nullptr : "never began, and is no NIC's";
  if (is_instant(s.stamp) && s.finish == kNever) return "never happened";
  if (s.finish < s.start) return "finishes before it starts";
  return nullptr;
}

}  // namespace

void check_structure(const Trace& t, const Poll& poll, Reports& r) {
  check_tables(t, r);
  if (r.total() > 0) return;
  std::vector<CallId> open(t.threads.size(), 0);
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    poll();
    const char* problem = call_problem(t, i, open);
    if (problem == nullptr) {
      open[t.calls[i].thread] = static_cast<CallId>(i + 1);
    } else {
      r.add(Rule::structure, [&] { return fmt::format("call {} {}", i + 1, problem); });
      if (!r.wanted()) return;
    }
  }
  if (r.total() > 0) return;
  for (std::size_t i = 0; i < t.subevents.size(); ++i) {
    poll();
    if (const char* problem = subevent_problem(t, t.subevents[i]); problem != nullptr) {
      r.add(Rule::structure, [&] { return fmt::format("subevent {} {}", i + 1, problem); });
      if (!r.wanted()) return;
    }
  }
}

}  // namespace loco::model
