#include <algorithm>
#include <cerrno>
#include <istream>
#include <limits>
#include <string>
#include <system_error>

#include "trace/codec.hpp"
#include "trace/file.hpp"
#include "trace/queues_codec.hpp"

namespace loco::trace {
namespace {

using codec::Reader;
using codec::Tag;

constexpr std::uint64_t kMaxU16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

/// The counts in the header; every index is checked against them.
struct Counts {
  std::uint64_t threads = 0, objects = 0, node_sets = 0, calls = 0, subevents = 0, activities = 0;
};

/// The largest index into a table of n entries, which must not be empty.
std::uint64_t last_index(std::uint64_t n, std::uint64_t offset, const char* what) {
  if (n == 0) Reader::fail(offset, what, "refers to an empty table");
  return n - 1;
}

/// Provides the parts of a file one after the other.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  /// The next `size` bytes, valid until the next call.
  std::string_view take(std::uint64_t size, const char* what) {
    const std::string_view part = next(size);
    if (part.size() < size) throw TraceError(offset_ + part.size(), std::string("ends within ") + what);
    offset_ += size;
    return part;
  }
  Reader reader(std::uint64_t size, const char* what) {
    const std::uint64_t begin = offset_;
    return {take(size, what), begin};
  }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] virtual bool done() = 0;

 private:
  /// Returns fewer bytes at the end.
  virtual std::string_view next(std::uint64_t size) = 0;

  std::uint64_t offset_ = 0;
};

class Memory final : public Source {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() override { return offset() == bytes_.size(); }

 private:
  std::string_view next(std::uint64_t size) override { return bytes_.substr(offset(), size); }

  std::string_view bytes_;
};

class Stream final : public Source {
 public:
  explicit Stream(std::istream& in) : in_(in) {}
  [[nodiscard]] bool done() override { return in_.peek() == std::istream::traits_type::eof(); }

 private:
  std::string_view next(std::uint64_t size) override {
    constexpr std::size_t kPart = std::size_t{1} << 20U;  // a wrong length costs no more than the input has
    std::size_t have = 0;
    while (have < size && in_) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size - have, std::max(kPart, have)));
      if (buffer_.size() < have + part) buffer_.resize(have + part);
      in_.read(buffer_.data() + have, static_cast<std::streamsize>(part));
      have += static_cast<std::size_t>(in_.gcount());
    }
    if (in_.bad()) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "a trace");
    return std::string_view(buffer_).substr(0, have);
  }

  std::istream& in_;
  std::string buffer_;
};

class Decoder {
 public:
  Decoder(Source& in, const DecodeOptions& options) : options_(options), in_(in) {}

  Trace run() {
    if (in_.take(codec::kMagic.size(), "the magic number") != codec::kMagic)
      Reader::fail(0, "the magic number", "is not that of a loco-sim trace");
    version_ = in_.reader(4, "the version").fixed32("the version");
    const bool known = version_ >= kTraceVersionOldest && version_ <= kTraceVersion;
    if (!known && version_ != kTraceVersionQueues)
      throw TraceError(codec::kMagic.size(), "version " + std::to_string(version_) + ", expected " +
                                                 std::to_string(kTraceVersionOldest) + " to " +
                                                 std::to_string(kTraceVersion));
    trace_.calls_have_times = version_ >= 2;
    trace_.atomics_have_places = version_ >= 3;
    expect(Tag::header, [&](Reader& r) { header(r); });
    expect(Tag::threads, [&](Reader& r) { threads(r); });
    expect(Tag::objects, [&](Reader& r) { objects(r); });
    expect(Tag::node_sets, [&](Reader& r) { node_sets(r); });
    while (trace_.calls.size() < counts_.calls) expect(Tag::calls, [&](Reader& r) { calls(r); });
    while (trace_.subevents.size() < counts_.subevents) expect(Tag::subevents, [&](Reader& r) { subevents(r); });
    while (trace_.activities.size() < counts_.activities) expect(Tag::activities, [&](Reader& r) { activities(r); });
    if (version_ == kTraceVersionQueues)
      expect(Tag::queues, [&](Reader& r) { trace_.verbs = codec::get_queues(r, trace_); });
    expect(Tag::end, [](Reader&) {});
    if (!in_.done()) Reader::fail(in_.offset(), "the file", "goes on after its end block");
    return std::move(trace_);
  }

 private:
  template <class Body>
  void expect(Tag tag, Body body) {
    if (options_.poll) options_.poll();
    const std::uint64_t at = in_.offset();
    const std::uint8_t found = in_.reader(1, "a block's tag").byte("a block's tag");
    if (found != static_cast<std::uint8_t>(tag))
      throw TraceError(
          at, "expected the block '" + std::string(codec::name(tag)) + "', found tag " + std::to_string(found));
    const std::uint64_t size = block_length();
    const std::uint64_t begin = in_.offset();
    constexpr std::uint64_t kSumBytes = 4;
    const std::string_view part = in_.take(size + kSumBytes, "a block");
    const std::string_view payload = part.substr(0, size);
    const std::uint32_t sum = Reader(part.substr(size), begin + size).fixed32("a block's checksum");
    if (options_.verify_checksums && sum != codec::checksum(payload))
      throw TraceError(begin, "the block '" + std::string(codec::name(tag)) + "' does not match its checksum");
    Reader block(payload, begin);
    body(block);
    if (!block.done()) Reader::fail(block.offset(), "the block", "has bytes left over");
  }

  std::uint64_t block_length() {
    constexpr const char* kWhat = "a block's length";
    const std::uint64_t at = in_.offset();
    std::string bytes;
    do {
      bytes += static_cast<char>(in_.reader(1, kWhat).byte(kWhat));
    } while (static_cast<std::uint8_t>(bytes.back()) >= 0x80 && bytes.size() < codec::Cursor::kLongest);
    const std::uint64_t size = Reader(bytes, at).number(kWhat);
    require_room(at, kWhat, size);
    return size;
  }

  void require_room(std::uint64_t at, const char* what, std::uint64_t bytes) const {
    constexpr std::uint64_t kAny = kMaxU64 / 2;  // no file is longer
    if (bytes <= std::min(options_.memory_max, kAny)) return;
    throw TraceError(at, std::string(what) + " asks for " + std::to_string(bytes) +
                             " bytes of memory, expected at most " +
                             std::to_string(std::min(options_.memory_max, kAny)));
  }

  void header(Reader& r) {
    const std::uint64_t at = r.offset();
    trace_.scenario = r.text("the scenario's name");
    trace_.seed = r.number("the seed");
    trace_.nodes = static_cast<std::uint32_t>(r.number_up_to(kMaxU16 + 1, "the number of nodes"));
    counts_.threads = r.number_up_to(kMaxU32, "the number of threads");
    counts_.objects = r.number_up_to(kMaxU32, "the number of objects");
    counts_.node_sets = r.number_up_to(kMaxU32, "the number of node sets");
    counts_.calls = r.number_up_to(kMaxU32 - 1, "the number of calls");
    counts_.subevents = r.number_up_to(kMaxU32 - 1, "the number of subevents");
    if (version_ >= 2) counts_.activities = r.number_up_to(kMaxU32 - 1, "the number of activities");
    require_room(
        at, "the trace",
        counts_.calls * sizeof(Call) + counts_.subevents * sizeof(Subevent) + counts_.activities * sizeof(Activity));
  }

  void threads(Reader& r) {
    for (std::uint64_t i = 0; i < counts_.threads; ++i) {
      Thread t;
      const std::uint64_t at = r.offset();
      t.node = static_cast<std::uint32_t>(r.number_up_to(last_index(trace_.nodes, at, "a thread"), "a thread's node"));
      t.name = r.text("a thread's name");
      trace_.threads.push_back(std::move(t));
    }
  }

  std::vector<std::uint32_t> numbers(Reader& r, std::uint64_t limit, const char* what) {
    const std::uint64_t n = r.count(1, what);
    std::vector<std::uint32_t> out;
    out.reserve(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = r.offset();
      out.push_back(static_cast<std::uint32_t>(r.number_up_to(last_index(limit, at, what), what)));
    }
    return out;
  }

  void objects(Reader& r) {
    trace_.objects.clear();
    for (std::uint64_t i = 0; i < counts_.objects; ++i) {
      Object o;
      o.name = r.text("an object's name");
      o.transitive = r.number_up_to(1, "an object's flags") != 0;
      o.participants = numbers(r, counts_.threads, "a participant");
      trace_.objects.push_back(std::move(o));
    }
  }

  void node_sets(Reader& r) {
    trace_.node_sets.clear();
    for (std::uint64_t i = 0; i < counts_.node_sets; ++i)
      trace_.node_sets.push_back(numbers(r, trace_.nodes, "a node of a set"));
  }

  /// Number of records of this block; at least one and at most the number in the header.
  std::uint64_t records(Reader& r, std::uint64_t bytes_each, std::uint64_t missing, const char* what) {
    const std::uint64_t at = r.offset();
    const std::uint64_t n = r.count(bytes_each, what);
    if (n == 0) Reader::fail(at, what, "is zero");
    if (n > missing) Reader::fail(at, what, "is more than the header announced");
    return n;
  }

  void calls(Reader& r) {
    const std::uint64_t n = records(r, 11, counts_.calls - trace_.calls.size(), "the number of calls in a block");
    Call p{};
    for (std::uint64_t i = 0; i < n; ++i) {
      Call c;
      const std::uint64_t id = trace_.calls.size() + 1;
      c.method = static_cast<Method>(r.number_up_to(static_cast<std::uint64_t>(Method::kv_delete), "a call's method"));
      const std::uint64_t kind =
          r.number_up_to((static_cast<std::uint64_t>(Library::kvstore) << 1) | 1, "a call's library");
      c.library = static_cast<Library>(kind >> 1);
      c.returned = (kind & 1) != 0;
      const std::uint64_t up = r.number_up_to(id - 1, "a call's parent");
      c.parent = up == 0 ? 0 : static_cast<CallId>(id - up);
      std::uint64_t at = r.offset();
      c.thread = static_cast<std::uint32_t>(
          r.number_up_to(last_index(counts_.threads, at, "a call's thread"), "a call's thread"));
      at = r.offset();
      c.object = static_cast<std::uint32_t>(
          r.number_up_to(last_index(counts_.objects, at, "a call's object"), "a call's object"));
      at = r.offset();
      c.node_set = static_cast<std::uint32_t>(
          r.number_up_to(last_index(counts_.node_sets, at, "a call's node set"), "a call's node set"));
      c.work_id = r.difference(p.work_id, "a call's work id");
      c.argument = r.number("a call's argument");
      c.result = r.number("a call's result");
      c.begin = r.difference(p.begin, "a call's begin");
      c.end = r.difference(c.begin, "a call's end");
      if (version_ >= 2) {
        c.begin_ps = time(r, p.begin_ps, "a call's begin time");
        c.end_ps = time(r, c.begin_ps, "a call's end time");
      }
      trace_.calls.push_back(c);
      p = c;
    }
  }

  static std::int64_t time(Reader& r, std::int64_t prediction, const char* what) {
    return static_cast<std::int64_t>(r.difference(static_cast<std::uint64_t>(prediction), what));
  }

  void activities(Reader& r) {
    const std::uint64_t n =
        records(r, 9, counts_.activities - trace_.activities.size(), "the number of activities in a block");
    Activity p{};
    for (std::uint64_t i = 0; i < n; ++i) {
      Activity a;
      a.kind = static_cast<Activity::Kind>(
          r.number_up_to(static_cast<std::uint64_t>(Activity::Kind::cqe), "an activity's kind"));
      a.opcode = r.byte("an activity's opcode");
      const std::uint64_t last_node = last_index(trace_.nodes, r.offset(), "an activity's node");
      a.node = static_cast<std::uint16_t>(r.number_up_to(last_node, "an activity's node"));
      a.peer = static_cast<std::uint16_t>(r.number_up_to(last_node, "an activity's peer"));
      a.qp = static_cast<std::uint32_t>(r.number_up_to(kMaxU32, "an activity's queue pair"));
      a.number = static_cast<std::uint32_t>(r.number_up_to(kMaxU32, "an activity's number"));
      a.bytes = static_cast<std::uint32_t>(r.number_up_to(kMaxU32, "an activity's bytes"));
      a.start_ps = time(r, p.start_ps, "an activity's start time");
      a.finish_ps = time(r, a.start_ps, "an activity's finish time");
      trace_.activities.push_back(a);
      p = a;
    }
  }

  std::uint32_t reference(Reader& r, std::uint64_t id, const char* what) {
    const std::uint64_t at = r.offset();
    const std::uint64_t code = r.number(what);
    if (code == 0) return 0;
    const std::uint64_t target = id - codec::unzigzag(code - 1);
    if (target == 0 || target > counts_.subevents) Reader::fail(at, what, "is not a subevent of this trace");
    return static_cast<std::uint32_t>(target);
  }

  void subevents(Reader& r) {
    const std::uint64_t n =
        records(r, 13, counts_.subevents - trace_.subevents.size(), "the number of subevents in a block");
    Subevent p{};
    for (std::uint64_t i = 0; i < n; ++i) {
      Subevent s;
      const std::uint64_t id = trace_.subevents.size() + 1;
      s.stamp = static_cast<Stamp>(
          r.number_up_to(static_cast<std::uint64_t>(version_ >= 3 ? Stamp::aNAR : Stamp::aGF), "a subevent's stamp"));
      const std::uint64_t at = r.offset();
      s.call = static_cast<CallId>(r.difference_up_to(p.call, counts_.calls, "a subevent's call"));
      if (s.call == 0) Reader::fail(at, "a subevent's call", "is missing");
      const std::uint64_t last_node = last_index(trace_.nodes, at, "a subevent's node");
      s.peer = static_cast<std::uint16_t>(r.number_up_to(last_node, "a subevent's peer"));
      s.node = static_cast<std::uint16_t>(r.number_up_to(last_node, "a subevent's node"));
      s.address = r.difference_up_to(p.address, kMaxU64, "a subevent's address");
      s.value = r.number("a subevent's value");
      s.value_read = r.number("a subevent's value read");
      s.source = reference(r, id, "a subevent's source");
      s.overwrote = reference(r, id, "a subevent's overwritten write");
      s.start = r.difference(p.start, "a subevent's start");
      s.finish = r.difference(s.start, "a subevent's finish");
      s.start_ps = time(r, p.start_ps, "a subevent's start time");
      s.finish_ps = time(r, s.start_ps, "a subevent's finish time");
      trace_.subevents.push_back(s);
      p = s;
    }
  }

  DecodeOptions options_;
  Source& in_;
  std::uint32_t version_ = 0;
  Trace trace_;
  Counts counts_;
};

}  // namespace

Trace decode_trace(std::string_view bytes, const DecodeOptions& options) {
  Memory source(bytes);
  return Decoder(source, options).run();
}

Trace decode_trace(std::istream& in, const DecodeOptions& options) {
  Stream source(in);
  return Decoder(source, options).run();
}

}  // namespace loco::trace
