// One description of each record serves for both writing and reading.
#include "trace/queues_codec.hpp"

#include <vector>

#include "trace/fields.hpp"

namespace loco::trace::codec {

namespace {

/// Sizes of what indices refer to.
struct Sizes {
  std::uint64_t nodes = 0, threads = 0, calls = 0, places = 0, queue_pairs = 0, requests = 0, receives = 0,
                messages = 0, entries = 0, polls = 0;
};

/// The greatest index into something that must not be empty.
std::uint64_t last(std::uint64_t count) { return count == 0 ? 0 : count - 1; }

template <typename Io>
void record(Io& io, Verbs::Place& p, const Sizes&) {
  io.text(p.file);
  io.number(p.line, kMaxU32);
}

template <typename Io>
void record(Io& io, Verbs::QueuePair& q, const Sizes& n) {
  io.number(q.node, last(n.nodes));
  io.number(q.type, 2);
  io.index(q.peer, n.queue_pairs);
  io.number(q.send_cq, kMaxU32);
  io.number(q.recv_cq, kMaxU32);
  io.index(q.receives, kMaxU32);
}

template <typename Io>
void record(Io& io, Verbs::Region& r, const Sizes& n) {
  io.number(r.node, last(n.nodes));
  io.wide(r.base);
  io.wide(r.size);
  io.flag(r.relaxed);
  io.flag(r.device);
}

/// Of a call, from 1.
template <typename Io>
void call(Io& io, std::uint32_t& value, const Sizes& n) {
  std::uint32_t before = value - 1;
  io.number(before, last(n.calls));
  value = before + 1;
}

template <typename Io>
void record(Io& io, Verbs::Request& r, const Sizes& n) {
  call(io, r.call, n);
  io.number(r.qp, last(n.queue_pairs));
  io.number(r.number, kMaxU32);
  io.number(r.opcode, 4);
  io.flag(r.signaled);
  io.flag(r.inline_data);
  io.flag(r.fence);
  io.flag(r.immediate);
  io.number(r.bytes, kMaxU32);
  io.wide(r.local);
  io.wide(r.remote);
  io.wide(r.wr_id);
}

template <typename Io>
void record(Io& io, Verbs::Receive& r, const Sizes& n) {
  io.index(r.thread, n.threads);
  io.number(r.after, n.calls);
  io.number(r.place, last(n.places));
  io.number(r.queue, kMaxU32);
  io.number(r.bytes, kMaxU32);
  io.wide(r.address);
  io.wide(r.wr_id);
}

template <typename Io>
void record(Io& io, Verbs::Message& m, const Sizes& n) {
  io.index(m.request, n.requests);
  io.number(m.qp, last(n.queue_pairs));
  io.index(m.receive, n.receives);
}

template <typename Io>
void record(Io& io, Verbs::Entry& e, const Sizes& n) {
  io.number(e.cq, kMaxU32);
  io.number(e.qp, last(n.queue_pairs));
  io.flag(e.receive);
  io.flag(e.failed);
  io.index(e.request, n.requests);
  io.index(e.message, n.messages);
  io.index(e.poll, n.polls);
}

template <typename Io>
void record(Io& io, Verbs::Poll& p, const Sizes& n) {
  call(io, p.call, n);
  io.number(p.cq, kMaxU32);
  io.index(p.entry, n.entries);
}

template <typename Io>
void all(Io& io, Verbs& v, Sizes n) {
  // Indices may refer forward, so all sizes come first, each with the least number of bytes per element.
  io.count(v.places, 2);
  io.count(v.call_places, 1);
  io.count(v.queue_pairs, 6);
  io.count(v.regions, 5);
  io.count(v.cq_entries, 1);
  io.count(v.requests, 12);
  io.count(v.receives, 7);
  io.count(v.messages, 3);
  io.count(v.entries, 7);
  io.count(v.polls, 3);
  io.count(v.overruns, 1);
  io.count(v.flag_calls, 1);
  io.count(v.flags, 2);
  n.places = v.places.size();
  n.queue_pairs = v.queue_pairs.size();
  n.requests = v.requests.size();
  n.receives = v.receives.size();
  n.messages = v.messages.size();
  n.entries = v.entries.size();
  n.polls = v.polls.size();
  const auto each = [&](auto& list) {
    for (auto& one : list) record(io, one, n);
  };
  each(v.places);
  for (std::uint32_t& place : v.call_places) io.number(place, last(n.places));
  each(v.queue_pairs);
  each(v.regions);
  for (std::uint32_t& entries : v.cq_entries) io.number(entries, kMaxU32);
  each(v.requests);
  each(v.receives);
  each(v.messages);
  each(v.entries);
  each(v.polls);
  for (std::uint32_t& cq : v.overruns) io.number(cq, kMaxU32);
  for (std::uint32_t& of : v.flag_calls) call(io, of, n);
  for (auto& [node, address] : v.flags) {
    io.number(node, last(n.nodes));
    io.wide(address);
  }
  io.flag(v.writes_overtake);
  io.flag(v.reads_as_they_come);
}

}  // namespace

void put_queues(Writer& to, const Verbs& verbs) {
  Put io(to);
  Verbs copy = verbs;  // the description takes non-const references
  all(io, copy, {});
}

Verbs get_queues(Reader& from, const Trace& trace) {
  const std::uint64_t at = from.offset();
  Get io(from);
  Verbs verbs;
  all(io, verbs, {.nodes = trace.nodes, .threads = trace.threads.size(), .calls = trace.calls.size()});
  const bool leads_nowhere =
      (trace.calls.empty() && !(verbs.requests.empty() && verbs.polls.empty() && verbs.flag_calls.empty())) ||
      (verbs.queue_pairs.empty() && !(verbs.requests.empty() && verbs.messages.empty() && verbs.entries.empty())) ||
      (verbs.places.empty() && !(verbs.call_places.empty() && verbs.receives.empty()));
  if (leads_nowhere) Reader::fail(at, "a queue's record", "leads to what is not there");
  return verbs;
}

}  // namespace loco::trace::codec
