#include <algorithm>

#include "model/trace_codec.hpp"
#include "model/trace_io.hpp"

namespace loco::model {
namespace {

using codec::Tag;
using codec::Writer;

std::string header(const Trace& t) {
  Writer w;
  w.text(t.scenario);
  w.number(t.seed);
  w.number(t.nodes);
  w.number(t.threads.size());
  w.number(t.objects.size());
  w.number(t.node_sets.size());
  w.number(t.calls.size());
  w.number(t.subevents.size());
  w.number(t.activities.size());
  return std::move(w.bytes());
}

std::string threads(const Trace& t) {
  Writer w;
  for (const Thread& thread : t.threads) {
    w.number(thread.node);
    w.text(thread.name);
  }
  return std::move(w.bytes());
}

void numbers(Writer& w, const std::vector<std::uint32_t>& values) {
  w.number(values.size());
  for (const std::uint32_t v : values) w.number(v);
}

std::string objects(const Trace& t) {
  Writer w;
  for (const Object& object : t.objects) {
    w.text(object.name);
    w.byte(object.transitive ? 1 : 0);
    numbers(w, object.participants);
  }
  return std::move(w.bytes());
}

std::string node_sets(const Trace& t) {
  Writer w;
  for (const auto& set : t.node_sets) numbers(w, set);
  return std::move(w.bytes());
}

void call(Writer& w, const Call& c, const Call& previous, CallId id) {
  w.byte(static_cast<std::uint8_t>(c.method));
  w.byte(static_cast<std::uint8_t>((static_cast<unsigned>(c.library) << 1) | (c.returned ? 1U : 0U)));
  w.number(c.parent == 0 ? 0 : id - c.parent);
  w.number(c.thread);
  w.number(c.object);
  w.number(c.node_set);
  w.difference(c.work_id, previous.work_id);
  w.number(c.argument);
  w.number(c.result);
  w.difference(c.begin, previous.begin);
  w.difference(c.end, c.begin);
  w.difference(static_cast<std::uint64_t>(c.begin_ps), static_cast<std::uint64_t>(previous.begin_ps));
  w.difference(static_cast<std::uint64_t>(c.end_ps), static_cast<std::uint64_t>(c.begin_ps));
}

void subevent(Writer& w, const Subevent& s, const Subevent& previous, SubeventId id) {
  w.byte(static_cast<std::uint8_t>(s.stamp));
  w.difference(s.call, previous.call);
  w.number(s.peer);
  w.number(s.node);
  w.difference(s.address, previous.address);
  w.number(s.value);
  w.number(s.value_read);
  w.number(s.source == 0 ? 0 : codec::zigzag(std::uint64_t{id} - s.source) + 1);
  w.number(s.overwrote == 0 ? 0 : codec::zigzag(std::uint64_t{id} - s.overwrote) + 1);
  w.difference(s.start, previous.start);
  w.difference(s.finish, s.start);
  w.difference(static_cast<std::uint64_t>(s.start_ps), static_cast<std::uint64_t>(previous.start_ps));
  w.difference(static_cast<std::uint64_t>(s.finish_ps), static_cast<std::uint64_t>(s.start_ps));
}

void activity(Writer& w, const Activity& a, const Activity& previous, std::uint32_t) {
  w.byte(static_cast<std::uint8_t>(a.kind));
  w.byte(a.opcode);
  w.number(a.node);
  w.number(a.peer);
  w.number(a.qp);
  w.number(a.number);
  w.number(a.bytes);
  w.difference(static_cast<std::uint64_t>(a.start_ps), static_cast<std::uint64_t>(previous.start_ps));
  w.difference(static_cast<std::uint64_t>(a.finish_ps), static_cast<std::uint64_t>(a.start_ps));
}

/// Blocks of at most kBlockRecords records; each block starts its predictions afresh.
template <class Record, class Put>
void blocks(Writer& out, Tag tag, const std::vector<Record>& records, Put put) {
  for (std::size_t first = 0; first < records.size(); first += codec::kBlockRecords) {
    const std::size_t last = std::min<std::size_t>(records.size(), first + codec::kBlockRecords);
    Writer w;
    w.number(last - first);
    Record previous{};
    for (std::size_t i = first; i < last; ++i) {
      put(w, records[i], previous, static_cast<std::uint32_t>(i + 1));
      previous = records[i];
    }
    out.block(tag, w.bytes());
  }
}

}  // namespace

std::string encode_trace(const Trace& trace) {
  Writer out;
  out.raw(codec::kMagic);
  out.fixed32(kTraceVersion);
  out.block(Tag::header, header(trace));
  out.block(Tag::threads, threads(trace));
  out.block(Tag::objects, objects(trace));
  out.block(Tag::node_sets, node_sets(trace));
  blocks(out, Tag::calls, trace.calls, call);
  blocks(out, Tag::subevents, trace.subevents, subevent);
  blocks(out, Tag::activities, trace.activities, activity);
  out.block(Tag::end, "");
  return std::move(out.bytes());
}

}  // namespace loco::model
