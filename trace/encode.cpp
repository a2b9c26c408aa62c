#include <algorithm>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "trace/codec.hpp"
#include "trace/fields.hpp"
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

/// The description of a record takes it as what is read, too, so that a copy is written.
template <typename Record>
void list(Writer& w, const std::vector<Record>& all) {
  codec::Put to(w);
  for (Record one : all) codec::fields(to, one, {});
}

/// A block of at most kBlockRecords records. Its predictions start afresh.
template <typename Record>
void records(Writer& w, const std::vector<Record>& all, std::size_t first) {
  const std::size_t last = std::min<std::size_t>(all.size(), first + codec::kBlockRecords);
  constexpr std::size_t kFieldsMost = 16;  // of any record
  w.number(last - first);
  Record before{};
  for (std::size_t i = first; i < last; ++i) {
    Record one = all[i];
    w.fields(kFieldsMost, [&](Cursor& cursor) {
      codec::Put to(cursor);
      codec::fields(to, one, before, static_cast<std::uint32_t>(i + 1), {});
    });
    before = one;
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
      return list(w, t.threads);
    case Tag::objects:
      return list(w, t.objects);
    case Tag::node_sets:
      return list(w, t.node_sets);
    case Tag::calls:
      return records(w, t.calls, block.first);
    case Tag::subevents:
      return records(w, t.subevents, block.first);
    case Tag::activities:
      return records(w, t.activities, block.first);
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
