#include "model/verbs/races.hpp"

#include "model/verbs/race_finder.hpp"

namespace loco::model::verbs {

namespace {

/// Accesses of a word farther apart than this, among the word's, are not compared: what is between them is ordered with
/// both, or is a race itself. Less in long runs, so that they take time in proportion to their length.
constexpr std::size_t kWindowMost = 256;
constexpr std::size_t kWindowLeast = 16;
constexpr std::size_t kPairsMost = 4'000'000;

bool is_atomic(const Verbs::Request& r) {
  return r.opcode == Verbs::Opcode::compare_swap || r.opcode == Verbs::Opcode::fetch_add;
}

}  // namespace

void RaceFinder::index() {
  const auto& events = graph_.events();
  for (std::uint32_t e = 0; e < events.size(); ++e) {
    if (!reads(events[e].kind) && !writes(events[e].kind)) continue;
    words_[{events[e].node, events[e].address}].push_back(e);
    if (by_cpu(e) && events[e].request == kNone)
      by_thread_[{events[e].thread, {events[e].node, events[e].address}}].push_back(e);
  }
  window_ = std::clamp(kPairsMost / (graph_.trace().calls.size() + 1), kWindowLeast, kWindowMost);
  last_look_.assign(events.size(), kNone);
  for (const auto& [of, accesses] : by_thread_) {
    std::uint32_t last = kNone;
    for (std::size_t i = accesses.size(); i-- > 0;) {
      const std::uint32_t e = accesses[i];
      if (writes(event(e).kind)) last = kNone;
      if (event(e).kind == Kind::aCR && last == kNone) last = e;
      last_look_[e] = last;
    }
  }
  for (const Verbs::QueuePair& qp : verbs_.queue_pairs)
    if (qp.receives != kNone) queue_node_[qp.receives] = qp.node;
  index_completions();
}

bool RaceFinder::alike(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const {
  return std::ranges::equal(a, b, [this](std::uint32_t x, std::uint32_t y) {
    return event(x).call == event(y).call && event(x).kind == event(y).kind && event(x).flag == event(y).flag;
  });
}

void RaceFinder::index_completions() {
  // A CQE tells of its request and all earlier ones of the queue pair's sends.
  told_.assign(verbs_.requests.size(), kNone);
  arrived_.assign(verbs_.requests.size(), kNone);
  std::map<std::uint32_t, std::vector<std::uint32_t>> queues;
  for (std::uint32_t r = 0; r < verbs_.requests.size(); ++r) queues[verbs_.requests[r].qp].push_back(r);
  taken_by_.assign(verbs_.receives.size(), kNone);
  told_receive_.assign(verbs_.receives.size(), kNone);
  for (std::uint32_t m = 0; m < verbs_.messages.size(); ++m)
    if (verbs_.messages[m].receive != kNone) taken_by_[verbs_.messages[m].receive] = m;
  std::map<std::uint32_t, std::size_t> covered;
  for (std::uint32_t p = 0; p < verbs_.polls.size(); ++p) {
    if (verbs_.polls[p].entry == kNone) continue;
    const Verbs::Entry& entry = verbs_.entries[verbs_.polls[p].entry];
    if (entry.receive) {
      if (entry.message == kNone) continue;
      const std::uint32_t receive = verbs_.messages[entry.message].receive;
      if (receive != kNone) told_receive_[receive] = graph_.event_of_poll(p);
      const std::uint32_t request = verbs_.messages[entry.message].request;
      if (request != kNone) arrived_[request] = graph_.event_of_poll(p);
      continue;
    }
    if (entry.request == kNone) continue;
    const std::vector<std::uint32_t>& queue = queues[entry.qp];
    for (std::size_t& next = covered[entry.qp]; next < queue.size() && queue[next] <= entry.request; ++next)
      told_[queue[next]] = graph_.event_of_poll(p);
  }
}

void RaceFinder::compare(const std::vector<std::uint32_t>& accesses) {
  for (std::size_t i = 0; i < accesses.size(); ++i)
    for (std::size_t k = i + 1; k < std::min(accesses.size(), i + window_); ++k) compare(accesses[i], accesses[k]);
}

void RaceFinder::compare(std::uint32_t a, std::uint32_t b) {
  const Event& x = event(a);
  const Event& y = event(b);
  if (!writes(x.kind) && !writes(y.kind)) return;
  if (x.call == y.call || (by_cpu(a) && by_cpu(b))) return;
  for (const auto& [source, other] : {std::pair(a, b), std::pair(b, a)})
    if (event(source).kind == Kind::aNLR && writes(event(other).kind)) return source_changed(source, other);
  for (const auto& [result, other] : {std::pair(a, b), std::pair(b, a)})
    if (event(result).kind == Kind::aNLW && by_cpu(other)) return result_early(result, other);
  if (x.payload || y.payload) return;  // the receive's
  if (!by_cpu(a) && !by_cpu(b)) {
    const bool atomics =
        is_atomic(request_of(a)) && is_atomic(request_of(b)) && x.kind != Kind::aNLW && y.kind != Kind::aNLW;
    if (!atomics) both_ways(RaceKind::in_flight_twice, a, b);
    return;
  }
  if (!x.flag && !y.flag) both_ways(RaceKind::unordered, a, b);
  for (const auto& [write, other] : {std::pair(a, b), std::pair(b, a)})
    if (event(write).kind == Kind::aNRW && by_cpu(other) && !event(write).flag && !reliable(request_of(write).qp))
      may_be_lost(write, other);
}

/// An access behind an unreliable message's write: does it know that this message has come, or only of another one?
void RaceFinder::may_be_lost(std::uint32_t write, std::uint32_t other) {
  Candidate c{.kind = RaceKind::unreliable, .error = false, .a = write, .b = other, .behind = questions_.size()};
  questions_.push_back({write, other, false});
  const std::uint32_t request = event(write).request;
  ask(c, arrived_[request], other);
  for (const std::uint32_t flag : graph_.of_request(request)) {
    if (event(flag).kind != Kind::aNRW || !event(flag).flag || c.asked == c.questions.size()) continue;
    const auto looks = by_thread_.find({event(other).thread, {event(flag).node, event(flag).address}});
    if (looks == by_thread_.end()) continue;
    const auto saw = std::ranges::find_if(
        looks->second, [&](std::uint32_t e) { return reads(event(e).kind) && source_of(e) == event(flag).item; });
    if (saw != looks->second.end()) ask(c, *saw, other);
  }
  suspect(c);
}

void RaceFinder::source_changed(std::uint32_t source, std::uint32_t other) {
  Candidate c{.kind = RaceKind::source_changed, .a = source, .b = other};
  ask(c, other, source);
  ask(c, told(event(source).request), other);
  suspect(c);
}

void RaceFinder::result_early(std::uint32_t result, std::uint32_t other) {
  Candidate c{.kind = RaceKind::result_before_completion, .a = result, .b = other};
  const std::uint32_t request = event(result).request;
  std::uint32_t begun = kNone;  // where the operation reads
  for (const std::uint32_t e : graph_.of_request(request))
    if (event(e).kind == Kind::aNRR || event(e).kind == Kind::aNAR) begun = e;
  if (begun != kNone) ask(c, other, begun);
  ask(c, told(request), other);
  c.error = !spins_on(other, result) || verbs_.requests[request].bytes > 8 || event(result).relaxed;
  suspect(c);
}

void RaceFinder::both_ways(RaceKind kind, std::uint32_t a, std::uint32_t b) {
  Candidate c{.kind = kind, .a = a, .b = b};
  ask(c, a, b);
  ask(c, b, a);
  suspect(c);
}

bool RaceFinder::spins_on(std::uint32_t read, std::uint32_t write) const {
  if (event(read).kind != Kind::aCR || event(read).request != kNone) return false;
  return source_of(last_look_[read]) == event(write).item;
}

std::vector<Race> races(const trace::Trace& trace, const RaceOptions& options) {
  return RaceFinder(trace, options).find();
}

}  // namespace loco::model::verbs
