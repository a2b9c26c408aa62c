// Races of receive buffers, messages without a receive, and completion queues that overrun.
#include <fmt/format.h>
#include <set>

#include "model/verbs/describe.hpp"
#include "model/verbs/race_finder.hpp"

namespace loco::model::verbs {

void RaceFinder::compare_receives() {
  for (std::uint32_t r = 0; r < verbs_.receives.size(); ++r) {
    const Verbs::Receive& receive = verbs_.receives[r];
    if (receive.bytes == 0) continue;
    if (options_.poll) options_.poll();
    const auto queue = queue_node_.find(receive.queue);
    if (queue == queue_node_.end()) continue;
    const std::uint32_t node = queue->second;
    const std::vector<std::uint32_t>* before = nullptr;
    for (auto at = words_.lower_bound({node, receive.address / 8 * 8});
         at != words_.end() && at->first.first == node && at->first.second < receive.address + receive.bytes; ++at) {
      if (before == nullptr || !alike(*before, at->second)) compare_buffers(r, at->first, at->second);
      before = &at->second;
    }
  }
}

void RaceFinder::compare_buffers(std::uint32_t r, Word word, const std::vector<std::uint32_t>& accesses) {
  const std::uint32_t posted = graph_.event_of_receive(r);
  const std::uint32_t message = taken_by_[r];
  const std::uint32_t taker = message == kNone ? kNone : verbs_.messages[message].request;
  const bool by_send = taker != kNone && verbs_.requests[taker].opcode == Verbs::Opcode::send;
  // Only accesses near its payload, or near its post where it has none, are compared: others are ordered through these.
  auto near =
      std::ranges::lower_bound(accesses, event(posted).call, {}, [this](std::uint32_t e) { return event(e).call; });
  std::uint32_t payload = kNone;
  if (by_send)
    for (const std::uint32_t e : graph_.of_request(taker))
      if (event(e).payload && event(e).address == word.second) payload = e;
  if (payload != kNone) near = std::ranges::lower_bound(accesses, payload);
  const auto middle = static_cast<std::size_t>(near - accesses.begin());
  const std::size_t from = middle > window_ ? middle - window_ : 0;
  for (std::size_t i = from; i < std::min(accesses.size(), middle + window_); ++i) {
    const Event& a = event(accesses[i]);
    if (taker != kNone && a.request == taker) continue;
    if (!writes(a.kind) && !by_send) continue;
    if (a.payload) continue;  // another receive's: "two receives, one buffer"
    Candidate c{.kind = RaceKind::receive_buffer_in_use, .a = posted, .b = accesses[i]};
    ask(c, accesses[i], posted);
    ask(c, told_receive_[r], accesses[i]);
    if (payload != kNone)
      c.error = !spins_on(accesses[i], payload) || verbs_.requests[taker].bytes > 8 || event(payload).relaxed;
    suspect(c);
  }
}

void RaceFinder::queues() {
  overruns();
  std::set<std::uint32_t> failed;  // requests
  for (const Verbs::Entry& e : verbs_.entries)
    if (e.failed && !e.receive) failed.insert(e.request);
  for (const Verbs::Message& m : verbs_.messages) {
    if (m.receive != kNone) continue;
    const bool reliable = this->reliable(m.qp);
    const bool given_up = m.request != kNone && failed.contains(m.request);
    Race race{.kind = RaceKind::no_receive, .error = !reliable || given_up};
    std::uint32_t place = 0;
    if (m.request != kNone) {
      race.first = access_of_call(
          graph_, verbs_.requests[m.request].call,
          fmt::format("{} on queue pair {}", name_of(verbs_.requests[m.request]), verbs_.requests[m.request].qp));
      place = place_of_call(graph_, verbs_.requests[m.request].call);
    }
    race.advice = reliable
                      ? "nothing was posted for it: the sender was told to come again (RNR NAK). Post receives before "
                        "the peer may send"
                      : "nothing was posted for it: the message is lost, and nobody is told";
    add(std::move(race), place, place);
  }
}

void RaceFinder::overruns() {
  const auto& v = verbs_;
  for (const std::uint32_t cq : v.overruns) {
    Race race{.kind = RaceKind::cq_overrun, .node = 0};
    race.advice = fmt::format(
        "completion queue {} has {} entries, and one more was written (IBV_EVENT_CQ_ERR): its queue "
        "pairs are in the error state",
        cq, cq < v.cq_entries.size() ? v.cq_entries[cq] : 0);
    race.first.text = fmt::format("a completion of completion queue {}", cq);
    add(std::move(race), cq, cq);
  }
  if (!v.overruns.empty()) return;
  // Could it have been: signaled requests and receives that are posted and whose completions have not been polled.
  struct Step {
    std::uint32_t call = 0;
    std::uint32_t cq = 0;
    int change = 0;
    std::uint32_t poster = 0;
  };
  std::vector<Step> steps;
  std::map<std::uint32_t, std::uint32_t> recv_cq;
  for (const Verbs::QueuePair& qp : v.queue_pairs)
    if (qp.receives != kNone) recv_cq[qp.receives] = qp.recv_cq;
  for (const Verbs::Request& r : v.requests)
    if (r.signaled && r.qp < v.queue_pairs.size()) steps.push_back({r.call, v.queue_pairs[r.qp].send_cq, 1, r.call});
  for (const Verbs::Receive& r : v.receives)
    if (recv_cq.contains(r.queue)) steps.push_back({r.after, recv_cq[r.queue], 1, 0});
  for (const Verbs::Poll& p : v.polls) steps.push_back({p.call, p.cq, -1, 0});
  std::ranges::stable_sort(steps, {}, &Step::call);
  std::map<std::uint32_t, std::int64_t> outstanding;
  std::set<std::uint32_t> told;
  for (const Step& s : steps) {
    const std::int64_t now = outstanding[s.cq] += s.change;
    if (s.cq >= v.cq_entries.size() || now <= static_cast<std::int64_t>(v.cq_entries[s.cq]) ||
        !told.insert(s.cq).second)
      continue;
    Race race{.kind = RaceKind::cq_overrun, .error = false};
    if (s.poster != 0) race.first = access_of_call(graph_, s.poster, "a request with a completion");
    if (s.poster == 0) race.first.text = "a receive";
    race.advice =
        fmt::format("completion queue {} has {} entries; that many and one more may be written before one is polled",
                    s.cq, v.cq_entries[s.cq]);
    add(std::move(race), s.poster == 0 ? 0 : place_of_call(graph_, s.poster), s.cq);
  }
}

}  // namespace loco::model::verbs
