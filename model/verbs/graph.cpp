#include "model/verbs/graph.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace loco::model::verbs {

std::string_view name(Edge edge) {
  constexpr std::array<std::string_view, 13> kNames = {"ppo",
                                                       "ippo",
                                                       "iso",
                                                       "rf",
                                                       "rb",
                                                       "mo",
                                                       "nfo",
                                                       "rao",
                                                       "matching",
                                                       "poll takes next",
                                                       "receive order",
                                                       "completion order",
                                                       "starts"};
  return kNames[static_cast<std::size_t>(edge)];
}

Graph::Graph(const trace::Trace& trace, Scope scope) : trace_(&trace), scope_(scope) {
  if (!trace.verbs) throw std::invalid_argument("expected the trace of a verbs program");
  collect();
  mark_flags();
  arcs_.resize(2 * events_.size());
  for (std::uint32_t e = 0; e < events_.size(); ++e)
    if (!instant(events_[e].kind)) arc(start(e), finish(e), Edge::starts);
  order_threads();
  order_queue_pairs();
  order_requests();
  order_queues();
  order_reads();
  if (scope_ == Scope::run) {
    order_memory();
    order_flushes();
    order_atomics();
  }
}

std::uint32_t Graph::joint() {
  arcs_.emplace_back();
  return static_cast<std::uint32_t>(arcs_.size() - 1);
}

void Graph::both(std::uint32_t a, std::uint32_t b, Edge edge) {
  issued(a, b, edge);
  if (finish(a) != start(a) || finish(b) != start(b)) arc(finish(a), finish(b), edge);
}

// --- events ----------------------------------------------------------------------------------------------------------

namespace {
using trace::Stamp;
using trace::Verbs;

/// The stamps of a trace are the first of a verbs program.
Kind kind_of(Stamp stamp) { return static_cast<Kind>(stamp); }
static_assert(static_cast<std::size_t>(Stamp::aNAR) == static_cast<std::size_t>(Kind::aNAR));

bool is_atomic(Verbs::Opcode o) { return o == Verbs::Opcode::compare_swap || o == Verbs::Opcode::fetch_add; }

/// The registration that a word lies in; the latest one counts.
const Verbs::Region* region_of(const Verbs& verbs, std::uint32_t node, std::uint64_t address) {
  for (std::size_t i = verbs.regions.size(); i-- > 0;) {
    const Verbs::Region& r = verbs.regions[i];
    if (r.node == node && address + 8 > r.base && address < r.base + r.size) return &r;
  }
  return nullptr;
}
}  // namespace

void Graph::collect() {
  const Verbs& v = verbs();
  std::vector<std::uint32_t> request_of_call(trace_->calls.size() + 2, kNone);
  std::vector<std::uint32_t> poll_of_call(trace_->calls.size() + 2, kNone);
  for (std::uint32_t r = 0; r < v.requests.size(); ++r) {
    request_of_call[v.requests[r].call] = r;
    // The remote fence of a request is the call in front of it.
    const std::uint32_t before = v.requests[r].call - 1;
    if (before != 0 && trace_->calls[before - 1].method == trace::Method::rfence) request_of_call[before] = r;
  }
  for (std::uint32_t p = 0; p < v.polls.size(); ++p) poll_of_call[v.polls[p].call] = p;
  of_request_.resize(v.requests.size());
  of_poll_.assign(v.polls.size(), kNone);
  collect_requests(request_of_call, poll_of_call);
  for (std::uint32_t r = 0; r < v.receives.size(); ++r) {
    of_receive_.push_back(static_cast<std::uint32_t>(events_.size()));
    events_.push_back({.kind = Kind::aRP, .thread = v.receives[r].thread, .call = v.receives[r].after, .item = r});
  }
  for (std::uint32_t m = 0; m < v.messages.size(); ++m) {
    const Verbs::Message& message = v.messages[m];
    of_message_.push_back(kNone);
    if (message.receive == kNone || message.request == kNone) continue;
    of_message_.back() = static_cast<std::uint32_t>(events_.size());
    of_request_[message.request].push_back(of_message_.back());
    events_.push_back({.kind = Kind::aRX,
                       .thread = trace_->calls[v.requests[message.request].call - 1].thread,
                       .call = v.requests[message.request].call,
                       .request = message.request,
                       .item = m});
  }
  for (std::uint32_t i = 0; i < v.entries.size(); ++i) {
    const Verbs::Entry& entry = v.entries[i];
    std::uint32_t request = entry.request;
    if (entry.receive) request = entry.message == kNone ? kNone : v.messages[entry.message].request;
    of_entry_.push_back(kNone);
    if (request == kNone || entry.failed) continue;
    of_entry_.back() = static_cast<std::uint32_t>(events_.size());
    of_request_[request].push_back(of_entry_.back());
    events_.push_back({.kind = entry.receive ? Kind::aRC : Kind::aSC,
                       .thread = trace_->calls[v.requests[request].call - 1].thread,
                       .call = v.requests[request].call,
                       .request = request,
                       .item = i});
  }
}

void Graph::collect_requests(std::vector<std::uint32_t>& request_of_call, std::vector<std::uint32_t>& poll_of_call) {
  const Verbs& v = verbs();
  of_subevent_.assign(trace_->subevents.size() + 1, kNone);
  const Verbs::Region* region = nullptr;
  for (std::uint32_t i = 0; i < trace_->subevents.size(); ++i) {
    const trace::Subevent& s = trace_->subevents[i];
    if (trace::is_unbegun(s) || s.call == 0) continue;
    const std::uint32_t request = request_of_call[s.call];
    Event e{.kind = kind_of(s.stamp),
            .thread = trace_->calls[s.call - 1].thread,
            .call = s.call,
            .request = request,
            .item = i + 1,
            .node = s.node,
            .address = s.address,
            .value = s.value};
    if (request != kNone) {
      const Verbs::Request& r = v.requests[request];
      if (r.inline_data && e.kind == Kind::aNLR) e.kind = Kind::aCR;  // the CPU has copied it
      if (is_atomic(r.opcode) && e.kind == Kind::aNRR) e.kind = Kind::aNAR;
      e.payload = r.opcode == Verbs::Opcode::send && e.kind == Kind::aNRW;
      of_request_[request].push_back(static_cast<std::uint32_t>(events_.size()));
    }
    if (e.kind == Kind::aWT) {
      const std::uint32_t poll = poll_of_call[s.call];
      if (poll == kNone) continue;
      e.item = poll;
      of_poll_[poll] = static_cast<std::uint32_t>(events_.size());
    }
    if (region == nullptr || region->node != e.node || e.address - region->base >= region->size)
      region = region_of(v, e.node, e.address);
    e.device = region != nullptr && region->device;
    e.relaxed = region != nullptr && region->relaxed;
    of_subevent_[i + 1] = static_cast<std::uint32_t>(events_.size());
    events_.push_back(e);
  }
}

void Graph::mark_flags() {
  const Verbs& v = verbs();
  std::set<std::pair<std::uint32_t, std::uint64_t>> flags(v.flags.begin(), v.flags.end());
  std::vector<bool> by_call(trace_->calls.size() + 1, false);
  for (const std::uint32_t call : v.flag_calls) by_call[call] = true;
  for (const Event& e : events_) {
    const bool access = reads(e.kind) || writes(e.kind);
    if (access && (by_call[e.call] || e.kind == Kind::aNAR)) flags.emplace(e.node, e.address);
  }
  for (Event& e : events_) e.flag = (reads(e.kind) || writes(e.kind)) && flags.contains({e.node, e.address});
}

}  // namespace loco::model::verbs
