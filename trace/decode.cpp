#include <algorithm>
#include <cerrno>
#include <istream>
#include <limits>
#include <string>
#include <system_error>

#include "trace/codec.hpp"
#include "trace/fields.hpp"
#include "trace/file.hpp"
#include "trace/queues_codec.hpp"

namespace loco::trace {
namespace {

using codec::kMaxU16;
using codec::kMaxU32;
using codec::Reader;
using codec::Tag;

constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

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
    expect(Tag::threads, [&](Reader& r) { list(r, trace_.threads, counts_.threads); });
    expect(Tag::objects, [&](Reader& r) { list(r, trace_.objects, counts_.objects); });
    expect(Tag::node_sets, [&](Reader& r) { list(r, trace_.node_sets, counts_.node_sets); });
    records(Tag::calls, trace_.calls, counts_.calls, codec::kCallBytes, "the number of calls in a block");
    records(Tag::subevents, trace_.subevents, counts_.subevents, codec::kSubeventBytes,
            "the number of subevents in a block");
    records(Tag::activities, trace_.activities, counts_.activities, codec::kActivityBytes,
            "the number of activities in a block");
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
    counts_.nodes = trace_.nodes;
    counts_.version = version_;
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

  template <typename Record>
  void list(Reader& r, std::vector<Record>& all, std::uint64_t count) {
    codec::Get from(r);
    all.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      Record one{};
      codec::fields(from, one, counts_);
      all.push_back(std::move(one));
    }
  }

  /// All blocks of these records; each has at least one, and all of them as many as the header announced.
  template <typename Record>
  void records(Tag tag, std::vector<Record>& all, std::uint64_t announced, std::uint64_t bytes_each, const char* what) {
    while (all.size() < announced)
      expect(tag, [&](Reader& r) {
        const std::uint64_t at = r.offset();
        const std::uint64_t n = r.count(bytes_each, what);
        if (n == 0) Reader::fail(at, what, "is zero");
        if (n > announced - all.size()) Reader::fail(at, what, "is more than the header announced");
        codec::Get from(r);
        Record before{};
        for (std::uint64_t i = 0; i < n; ++i) {
          Record one{};
          codec::fields(from, one, before, static_cast<std::uint32_t>(all.size() + 1), counts_);
          all.push_back(one);
          before = one;
        }
      });
  }

  DecodeOptions options_;
  Source& in_;
  std::uint32_t version_ = 0;
  Trace trace_;
  codec::Counts counts_;
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
