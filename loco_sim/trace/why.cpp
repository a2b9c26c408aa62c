#include "loco_sim/trace/why.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "model/poll.hpp"

namespace loco {

namespace {

using trace::Activity;
using trace::Stamp;
using Instant = std::int64_t;
constexpr Instant kNo = std::numeric_limits<Instant>::max();

bool is_answer(const Activity& packet) {
  const auto kind = static_cast<rdma::PacketOpcode>(packet.opcode);
  return kind == rdma::PacketOpcode::ack || kind == rdma::PacketOpcode::read_response ||
         kind == rdma::PacketOpcode::atomic_response;
}

bool is_remote(const trace::Call& call) {
  using trace::Method;
  return call.library == trace::Library::rdmawait &&
         (call.method == Method::put || call.method == Method::get || call.method == Method::remote_faa ||
          call.method == Method::remote_cas);
}

/// Events of one node, in order of time.
struct NodeEvents {
  std::vector<const Activity*> doorbells, reads, cqes, packets;  // packets: those sent
};

/// Times of an operation's steps; kNo if there is no such step.
struct Operation {
  std::uint32_t node = 0, peer = 0;
  Instant begin = kNo, doorbell = kNo, wqe_read = kNo, payload_read = kNo, sent = kNo, arrived = kNo, answered = kNo,
          back = kNo, cqe = kNo;
  Instant way = 0, way_back = 0;  ///< the least time that a packet of this kind takes
};

class Chain {
 public:
  Chain(const trace::Trace& trace, const std::function<void()>& poll)
      : trace_(trace), poll_(poll), nodes_(trace.nodes), subevents_(trace.calls.size() + 1) {
    for (const Activity& a : trace.activities) {
      poll_();
      add(a);
    }
    find_paces(trace.activities);
    for (NodeEvents& n : nodes_)
      for (auto* list : {&n.doorbells, &n.reads, &n.cqes, &n.packets})
        std::ranges::stable_sort(*list, {}, [](const Activity* a) { return a->start_ps; });
    for (const trace::Subevent& s : trace.subevents) {
      poll_();
      if (!trace::is_unbegun(s) && s.call != 0) subevents_[s.call].push_back(&s);
    }
  }

  std::vector<WhyStage> back_from(std::uint32_t thread, Instant start, Instant end);
  [[nodiscard]] std::uint32_t thread_of(Instant start, Instant end) const;

 private:
  /// Something that a thread waited for: when it was there, and the call that it came from.
  struct Arrival {
    Instant at = -1;
    trace::CallId call = 0;
    bool by_completion = false;
  };

  void add(const Activity& a);
  [[nodiscard]] Operation operation(trace::CallId id) const;
  void find_request(Operation& o, trace::CallId id, std::uint32_t& qp) const;
  void find_answer(Operation& o, trace::CallId id, std::uint32_t qp) const;
  [[nodiscard]] Arrival latest(std::uint32_t thread, Instant start, Instant until) const;
  [[nodiscard]] bool rested(std::uint32_t thread, Instant start, Instant end) const;
  void find_paces(const std::vector<Activity>& activities);
  [[nodiscard]] Instant quickest(const Activity& packet) const;
  /// The least time between two successive packets of this kind.
  [[nodiscard]] Instant pace(const Activity& packet) const;
  void put_before(std::string_view stage, std::uint32_t node, Instant from);
  void put_wire(std::uint32_t node, Instant from, Instant way);
  void put_operation(const Operation& o, bool by_completion);

  const trace::Trace& trace_;
  const model::Poll poll_;
  std::vector<NodeEvents> nodes_;
  std::vector<std::vector<const trace::Subevent*>> subevents_;              // by call
  std::map<std::pair<std::uint32_t, std::uint32_t>, Instant> quickest_;     // by opcode and size
  std::map<std::pair<std::uint32_t, std::uint32_t>, Instant> paces_;        // by opcode and size as well
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> peers_;  // of (node, queue pair)
  std::vector<WhyStage> stages_;                                            // in reverse order
  Instant start_ = 0, now_ = 0;
};

void Chain::add(const Activity& a) {
  NodeEvents& n = nodes_.at(a.node);
  if (a.kind == Activity::Kind::doorbell) n.doorbells.push_back(&a);
  if (a.kind == Activity::Kind::tlp_read) n.reads.push_back(&a);
  if (a.kind == Activity::Kind::cqe) n.cqes.push_back(&a);
  if (a.kind != Activity::Kind::packet || a.finish_ps < 0) return;
  n.packets.push_back(&a);
  peers_[{a.node, a.qp}] = a.peer;
  Instant& least = quickest_.try_emplace({a.opcode, a.bytes}, kNo).first->second;
  least = std::min(least, a.finish_ps - a.start_ps);
}

Instant Chain::quickest(const Activity& packet) const { return quickest_.at({packet.opcode, packet.bytes}); }

/// Paces over all senders, because all packets that arrive at a host come over its one link.
void Chain::find_paces(const std::vector<Activity>& activities) {
  std::vector<std::vector<const Activity*>> arrivals(nodes_.size());
  for (const Activity& a : activities)
    if (a.kind == Activity::Kind::packet && a.finish_ps >= 0) arrivals.at(a.peer).push_back(&a);
  for (auto& list : arrivals) {
    std::ranges::stable_sort(list, {}, [](const Activity* a) { return a->finish_ps; });
    for (std::size_t i = 1; i < list.size(); ++i) {
      Instant& least = paces_.try_emplace({list[i]->opcode, list[i]->bytes}, kNo).first->second;
      least = std::min(least, list[i]->finish_ps - list[i - 1]->finish_ps);
    }
  }
}

Instant Chain::pace(const Activity& packet) const {
  const auto found = paces_.find({packet.opcode, packet.bytes});
  return found == paces_.end() ? kNo : found->second;
}

/// The first element of a list at or after a time for which `fits` holds.
template <class Fits>
const Activity* first_from(const std::vector<const Activity*>& list, Instant from, Fits fits) {
  auto at = std::ranges::lower_bound(list, from, {}, [](const Activity* a) { return a->start_ps; });
  at = std::find_if(at, list.end(), [&](const Activity* a) { return fits(*a); });
  return at == list.end() ? nullptr : *at;
}

void Chain::find_request(Operation& o, trace::CallId id, std::uint32_t& qp) const {
  const NodeEvents& mine = nodes_.at(o.node);
  const Activity* rung = first_from(mine.doorbells, o.begin, [&](const Activity& a) {
    const auto peer = peers_.find({o.node, a.qp});
    return peer != peers_.end() && peer->second == o.peer;
  });
  if (rung == nullptr) return;
  qp = rung->qp;
  o.doorbell = rung->start_ps;
  Instant read = kNo;  // end of the NIC's read of its own node's memory
  Instant there = -1;  // the last of its accesses on the other node
  for (const trace::Subevent* s : subevents_[id]) {
    if (s->stamp == Stamp::aNLR && s->start_ps > o.doorbell) read = std::min(read, s->start_ps);
    if (s->stamp == Stamp::aNRW || s->stamp == Stamp::aNRR || s->stamp == Stamp::aNAR)
      there = std::max(there, s->start_ps);
  }
  if (read != kNo) {
    for (const Activity* a : mine.reads)
      if (a->start_ps >= o.doorbell && a->start_ps <= read) o.payload_read = a->start_ps;
  }
  const Instant from = read == kNo ? o.doorbell : read;
  const Activity* packet =
      first_from(mine.packets, from, [&](const Activity& a) { return a.qp == qp && !is_answer(a); });
  if (packet == nullptr) return;
  const Instant until = o.payload_read == kNo ? packet->start_ps : o.payload_read;
  const Activity* fetch = first_from(mine.reads, o.doorbell, [](const Activity&) { return true; });
  if (fetch != nullptr && fetch->start_ps < until) o.wqe_read = fetch->start_ps;
  o.sent = packet->start_ps;
  o.arrived = packet->finish_ps;
  o.way = quickest(*packet);
  for (const Activity* a : mine.packets) {
    if (a->start_ps < o.sent || a->qp != qp || is_answer(*a) || a->finish_ps > there) continue;
    if (a->finish_ps > o.arrived) o.way += std::min(a->finish_ps - o.arrived, pace(*a));
    o.arrived = std::max(o.arrived, a->finish_ps);
  }
}

void Chain::find_answer(Operation& o, trace::CallId id, std::uint32_t qp) const {
  const Activity* answer = first_from(nodes_.at(o.peer).packets, o.arrived,
                                      [&](const Activity& a) { return a.peer == o.node && is_answer(a); });
  if (answer == nullptr) return;
  Instant data = -1;
  for (const trace::Subevent* s : subevents_[id])
    if (s->stamp == Stamp::aNLW) data = std::max(data, s->start_ps);
  o.answered = answer->start_ps;
  o.back = answer->finish_ps;
  o.way_back = quickest(*answer);
  if (data > o.back) {
    o.way_back += data - o.back;
    o.back = data;
  }
  const Activity* cqe = first_from(nodes_.at(o.node).cqes, o.back, [&](const Activity& a) { return a.qp == qp; });
  if (cqe != nullptr) o.cqe = cqe->start_ps;
}

Operation Chain::operation(trace::CallId id) const {
  const trace::Call& call = trace_.calls[id - 1];
  Operation o;
  o.node = trace_.threads[call.thread].node;
  o.peer = subevents_[id].empty() ? o.node : subevents_[id].front()->peer;
  o.begin = call.begin_ps;
  std::uint32_t qp = 0;
  find_request(o, id, qp);
  if (o.arrived != kNo) find_answer(o, id, qp);
  return o;
}

Chain::Arrival Chain::latest(std::uint32_t thread, Instant start, Instant until) const {
  Arrival found, completion;
  Instant knows = -1;  // when it last learned of a completion
  for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
    poll_();
    const trace::Call& call = trace_.calls[i];
    if (call.thread != thread || call.begin_ps > until) continue;
    const auto id = static_cast<trace::CallId>(i + 1);
    for (const trace::Subevent* s : subevents_[id]) {
      if (s->start_ps > until || s->start_ps < start) continue;
      if (s->stamp == Stamp::aWT) knows = std::max(knows, s->start_ps);
      if (s->stamp != Stamp::aCR || s->source == 0) continue;
      const trace::Subevent& write = trace_.subevents[s->source - 1];
      const bool by_nic = write.stamp == Stamp::aNRW;
      if (by_nic && write.finish_ps > found.at && write.finish_ps <= s->start_ps && write.finish_ps >= start)
        found = {write.finish_ps, write.call, false};
    }
  }
  for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
    poll_();
    const trace::Call& call = trace_.calls[i];
    if (call.thread != thread || !is_remote(call) || call.begin_ps >= until || call.end_ps < start) continue;
    const auto id = static_cast<trace::CallId>(i + 1);
    const Operation o = operation(id);
    if (o.cqe == kNo || o.cqe > until || o.cqe < start || o.cqe <= completion.at) continue;
    completion = {o.cqe, id, true};
  }
  if (completion.call == 0) return found;
  // A completion counts if the thread was told of it. One that nobody waits for counts only if there is nothing else.
  const bool told = knows >= completion.at || found.call == 0;
  return told && completion.at > found.at ? completion : found;
}

/// Adds the stage that ends where the chain is now and begins at `from`, or at the beginning of the span if that is
/// later.
void Chain::put_before(std::string_view stage, std::uint32_t node, Instant from) {
  if (from == kNo) return;
  from = std::max(from, start_);
  if (from >= now_) return;
  if (!stages_.empty() && stages_.back().stage == stage && stages_.back().node == node) {
    stages_.back().start_ps = from;
    stages_.back().took_ps += now_ - from;
  } else {
    stages_.push_back({stage, node, from, now_ - from});
  }
  now_ = from;
}

/// The time that a packet takes beyond the quickest of its kind is time that it waited for others.
void Chain::put_wire(std::uint32_t node, Instant from, Instant way) {
  if (from == kNo) return;
  put_before("queues", node, from + way);
  put_before("wire", node, from);
}

void Chain::put_operation(const Operation& o, bool by_completion) {
  if (by_completion) {
    put_before("CQE", o.node, o.back);
    put_wire(o.peer, o.answered, o.way_back);
  }
  put_before("receiver", o.peer, o.arrived);
  put_wire(o.node, o.sent, o.way);
  put_before("payload read", o.node, o.payload_read);
  put_before("WQE fetch", o.node, o.wqe_read);
  put_before("doorbell", o.node, o.doorbell);
  put_before("CPU", o.node, o.begin);
}

/// True if the thread accessed nothing within a span. Then it waited for another thread of its host; they signal each
/// other in their process's memory, which the machine does not see.
bool Chain::rested(std::uint32_t thread, Instant start, Instant end) const {
  return std::ranges::none_of(trace_.calls, [&](const trace::Call& call) {
    return call.thread == thread && call.library == trace::Library::rdmawait && call.begin_ps > start &&
           call.begin_ps < end;
  });
}

std::vector<WhyStage> Chain::back_from(std::uint32_t thread, Instant start, Instant end) {
  start_ = start;
  now_ = end;
  while (now_ > start) {
    const std::uint32_t node = trace_.threads[thread].node;
    const Arrival arrival = latest(thread, start, now_);
    if (arrival.call == 0) break;
    put_before("poll", node, arrival.at);
    const Instant before = now_;
    put_operation(operation(arrival.call), arrival.by_completion);
    if (now_ == before) break;
    thread = trace_.calls[arrival.call - 1].thread;
  }
  put_before(stages_.empty() && rested(thread, start, end) ? "another thread" : "CPU", trace_.threads[thread].node,
             start);
  std::ranges::reverse(stages_);
  return std::move(stages_);
}

/// The thread whose first call comes soonest after the start and whose last call, or what it waited for, ends soonest
/// before the end.
std::uint32_t Chain::thread_of(Instant start, Instant end) const {
  struct Fit {
    Instant begin = kNo / 4, end = kNo / 4;
  };
  std::vector<Fit> fits(trace_.threads.size());
  for (const trace::Call& call : trace_.calls) {
    if (!call.returned || call.begin_ps < start || call.end_ps > end) continue;
    Fit& fit = fits[call.thread];
    fit.begin = std::min(fit.begin, call.begin_ps - start);
    fit.end = std::min(fit.end, end - call.end_ps);
  }
  for (std::uint32_t thread = 0; thread < fits.size(); ++thread) {
    Fit& fit = fits[thread];
    if (fit.begin == kNo / 4 || fit.end == 0) continue;
    if (const Arrival arrival = latest(thread, start, end); arrival.call != 0)
      fit.end = std::min(fit.end, end - arrival.at);
  }
  const auto best = std::ranges::min_element(fits, {}, [](const Fit& f) { return f.begin + f.end; });
  return static_cast<std::uint32_t>(best - fits.begin());
}

}  // namespace

std::vector<WhyStage> why(const trace::Trace& trace, std::int64_t start_ps, std::int64_t end_ps,
                          const std::function<void()>& poll) {
  if (trace.threads.empty() || end_ps <= start_ps) return {};
  Chain chain(trace, poll);
  return chain.back_from(chain.thread_of(start_ps, end_ps), start_ps, end_ps);
}

}  // namespace loco
