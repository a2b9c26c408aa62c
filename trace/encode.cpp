#include <algorithm>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "trace/codec.hpp"
#include "trace/file.hpp"
#include "trace/queues_codec.hpp"

namespace loco::trace {
namespace {

using codec::Cursor;
using codec::Tag;
using codec::Writer;

void header(Writer& w, const Trace& t) {
  w.text(t.scenario);
  w.number(t.seed);
  w.number(t.nodes);
  w.number(t.threads.size());
  w.number(t.objects.size());
  w.number(t.node_sets.size());
  w.number(t.calls.size());
  w.number(t.subevents.size());
  w.number(t.activities.size());
}

void threads(Writer& w, const Trace& t) {
  for (const Thread& thread : t.threads) {
    w.number(thread.node);
    w.text(thread.name);
  }
}

void numbers(Writer& w, const std::vector<std::uint32_t>& values) {
  w.number(values.size());
  for (const std::uint32_t v : values) w.number(v);
}

void objects(Writer& w, const Trace& t) {
  for (const Object& object : t.objects) {
    w.text(object.name);
    w.byte(object.transitive ? 1 : 0);
    numbers(w, object.participants);
  }
}

void node_sets(Writer& w, const Trace& t) {
  for (const auto& set : t.node_sets) numbers(w, set);
}

void call(Cursor& w, const Call& c, const Call& previous, CallId id) {
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

void subevent(Cursor& w, const Subevent& s, const Subevent& previous, SubeventId id) {
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

void activity(Cursor& w, const Activity& a, const Activity& previous, std::uint32_t) {
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

/// A block of at most kBlockRecords records. Its predictions start afresh.
template <class Record, class Put>
void records(Writer& w, const std::vector<Record>& all, std::size_t first, Put put) {
  const std::size_t last = std::min<std::size_t>(all.size(), first + codec::kBlockRecords);
  constexpr std::size_t kFieldsMost = 16;  // of any record
  w.number(last - first);
  const Record none{};
  const Record* previous = &none;
  for (std::size_t i = first; i < last; ++i) {
    w.fields(kFieldsMost, [&](Cursor& to) { put(to, all[i], *previous, static_cast<std::uint32_t>(i + 1)); });
    previous = &all[i];
  }
}

struct Block {
  Tag tag;
  std::size_t first = 0;  // record
};

std::vector<Block> blocks_of(const Trace& t) {
  std::vector<Block> blocks = {{Tag::header}, {Tag::threads}, {Tag::objects}, {Tag::node_sets}};
  const auto add = [&blocks](Tag tag, std::size_t count) {
    for (std::size_t first = 0; first < count; first += codec::kBlockRecords) blocks.push_back({tag, first});
  };
  add(Tag::calls, t.calls.size());
  add(Tag::subevents, t.subevents.size());
  add(Tag::activities, t.activities.size());
  if (t.verbs) blocks.push_back({Tag::queues});
  blocks.push_back({Tag::end});
  return blocks;
}

void payload(Writer& w, const Trace& t, const Block& block) {
  switch (block.tag) {
    case Tag::header:
      return header(w, t);
    case Tag::threads:
      return threads(w, t);
    case Tag::objects:
      return objects(w, t);
    case Tag::node_sets:
      return node_sets(w, t);
    case Tag::calls:
      return records(w, t.calls, block.first, call);
    case Tag::subevents:
      return records(w, t.subevents, block.first, subevent);
    case Tag::activities:
      return records(w, t.activities, block.first, activity);
    case Tag::queues:
      return codec::put_queues(w, *t.verbs);
    case Tag::end:
      return;
  }
}

/// Consecutive blocks, in the order of the file.
class Batch {
 public:
  void encode(const Trace& t, std::span<const Block> blocks) {
    out_.clear();
    for (const Block& block : blocks) {
      payload_.clear();
      payload(payload_, t, block);
      out_.block(block.tag, payload_.bytes());
    }
  }
  [[nodiscard]] std::string_view bytes() const { return out_.bytes(); }

 private:
  Writer payload_;
  Writer out_;
};

}  // namespace

void encode_trace(const Trace& trace, const TraceSink& sink) {
  Writer start;
  start.raw(codec::kMagic);
  start.fixed32(trace.verbs ? kTraceVersionQueues : kTraceVersion);
  sink(start.bytes());
  // Blocks are independent, so each processor encodes some of them.
  constexpr std::size_t kBatch = 16;
  const std::vector<Block> blocks = blocks_of(trace);
  std::vector<Batch> batches(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8));
  for (std::size_t at = 0; at < blocks.size(); at += batches.size() * kBatch) {
    std::vector<std::future<void>> others;
    const auto encode = [&, at](std::size_t i) {
      const std::size_t first = std::min(blocks.size(), at + i * kBatch);
      batches[i].encode(trace, std::span(blocks).subspan(first, std::min(kBatch, blocks.size() - first)));
    };
    const bool many = blocks.size() - at > kBatch;
    for (std::size_t i = 1; many && i < batches.size(); ++i)
      others.push_back(std::async(std::launch::async, encode, i));
    encode(0);
    for (std::future<void>& other : others) other.get();
    for (std::size_t i = 0; i < 1 + others.size(); ++i) sink(batches[i].bytes());
  }
}

std::string encode_trace(const Trace& trace) {
  std::string bytes;
  encode_trace(trace, [&bytes](std::string_view part) { bytes.append(part); });
  return bytes;
}

}  // namespace loco::trace
