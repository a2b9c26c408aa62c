// One description of each record serves for both writing and reading: it names the fields in the order of the file, to
// Put or to Get. `most` limits what may be read, `what` names the field in errors. Internal to the trace file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "trace/codec.hpp"
#include "trace/file.hpp"
#include "trace/trace.hpp"

namespace loco::trace::codec {

inline constexpr std::uint64_t kMaxU16 = std::numeric_limits<std::uint16_t>::max();
inline constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr const char* kQueuesRecord = "a queue's record";

/// Writes to a Cursor or a Writer.
template <typename To>
class Put {
 public:
  explicit Put(To& to) : to_(to) {}
  template <typename T>
  void number(T value, std::uint64_t /*most*/, const char* /*what*/ = "") {
    to_.number(static_cast<std::uint64_t>(value));
  }
  template <typename T>
  void within(T value, std::uint64_t /*count*/, const char* /*what*/, const char* /*owner*/ = "") {
    to_.number(value);
  }
  void wide(std::uint64_t value, const char* /*what*/ = "") { to_.number(value); }
  void byte(std::uint8_t value, const char* /*what*/) { to_.byte(value); }
  void flag(bool value, const char* /*what*/ = "") { to_.byte(value ? 1 : 0); }
  void difference(std::uint64_t value, std::uint64_t prediction, const char* /*what*/) {
    to_.difference(value, prediction);
  }
  void time(std::int64_t ps, std::int64_t prediction, const char* /*what*/) {
    to_.difference(static_cast<std::uint64_t>(ps), static_cast<std::uint64_t>(prediction));
  }
  void from_one(std::uint32_t value, std::uint32_t prediction, std::uint64_t /*most*/, const char* /*what*/) {
    to_.difference(value, prediction);
  }
  void reference(SubeventId value, std::uint64_t id, std::uint64_t /*count*/, const char* /*what*/) {
    to_.number(value == 0 ? 0 : zigzag(id - value) + 1);
  }
  void index(std::uint32_t value, std::uint64_t /*count*/) {
    to_.number(value == Verbs::kNone ? 0 : std::uint64_t{value} + 1);
  }
  void text(const std::string& value, const char* /*what*/ = "") { to_.text(value); }
  template <typename T>
  void count(const std::vector<T>& list, std::uint64_t /*bytes_each*/, const char* /*what*/ = "") {
    to_.number(list.size());
  }

 private:
  To& to_;
};

class Get {
 public:
  explicit Get(Reader& from) : from_(from) {}
  template <typename T>
  void number(T& value, std::uint64_t most, const char* what = kQueuesRecord) {
    value = static_cast<T>(from_.number_up_to(most, what));
  }
  /// An index into a table of `count` entries; `owner` is what cannot be if that is empty.
  template <typename T>
  void within(T& value, std::uint64_t count, const char* what, const char* owner = nullptr) {
    if (count == 0) Reader::fail(from_.offset(), owner != nullptr ? owner : what, "refers to an empty table");
    number(value, count - 1, what);
  }
  void wide(std::uint64_t& value, const char* what = kQueuesRecord) { value = from_.number(what); }
  void byte(std::uint8_t& value, const char* what) { value = from_.byte(what); }
  void flag(bool& value, const char* what = kQueuesRecord) { value = from_.number_up_to(1, what) != 0; }
  void difference(std::uint64_t& value, std::uint64_t prediction, const char* what) {
    value = from_.difference(prediction, what);
  }
  void time(std::int64_t& ps, std::int64_t prediction, const char* what) {
    ps = static_cast<std::int64_t>(from_.difference(static_cast<std::uint64_t>(prediction), what));
  }
  /// A number from 1 to `most`.
  void from_one(std::uint32_t& value, std::uint32_t prediction, std::uint64_t most, const char* what) {
    const std::uint64_t at = from_.offset();
    value = static_cast<std::uint32_t>(from_.difference_up_to(prediction, most, what));
    if (value == 0) Reader::fail(at, what, "is missing");
  }
  /// Another subevent than that with this id, or 0: none.
  void reference(SubeventId& value, std::uint64_t id, std::uint64_t count, const char* what) {
    const std::uint64_t at = from_.offset();
    const std::uint64_t code = from_.number(what);
    value = 0;
    if (code == 0) return;
    const std::uint64_t target = id - unzigzag(code - 1);
    if (target == 0 || target > count) Reader::fail(at, what, "is not a subevent of this trace");
    value = static_cast<SubeventId>(target);
  }
  /// kNone, or an index.
  void index(std::uint32_t& value, std::uint64_t count) {
    const std::uint64_t code = from_.number_up_to(count, kQueuesRecord);
    value = code == 0 ? Verbs::kNone : static_cast<std::uint32_t>(code - 1);
  }
  void text(std::string& value, const char* what = kQueuesRecord) { value = from_.text(what); }
  /// The number of things that follow, each of this many bytes at least.
  template <typename T>
  void count(std::vector<T>& list, std::uint64_t bytes_each, const char* what = kQueuesRecord) {
    list.resize(from_.count(bytes_each, what));
  }

 private:
  Reader& from_;
};

/// What the header says; every index is checked against it.
struct Counts {
  std::uint64_t nodes = 0, threads = 0, objects = 0, node_sets = 0, calls = 0, subevents = 0, activities = 0;
  std::uint32_t version = kTraceVersion;
};

/// Bytes of a record, at least.
inline constexpr std::uint64_t kCallBytes = 11;
inline constexpr std::uint64_t kSubeventBytes = 13;
inline constexpr std::uint64_t kActivityBytes = 9;

template <typename Io>
void fields(Io& io, Thread& t, const Counts& n) {
  io.within(t.node, n.nodes, "a thread's node", "a thread");
  io.text(t.name, "a thread's name");
}

template <typename Io>
void numbers(Io& io, std::vector<std::uint32_t>& values, std::uint64_t limit, const char* what) {
  io.count(values, 1, what);
  for (std::uint32_t& value : values) io.within(value, limit, what);
}

template <typename Io>
void fields(Io& io, Object& o, const Counts& n) {
  io.text(o.name, "an object's name");
  io.flag(o.transitive, "an object's flags");
  numbers(io, o.participants, n.threads, "a participant");
}

template <typename Io>
void fields(Io& io, std::vector<std::uint32_t>& node_set, const Counts& n) {
  numbers(io, node_set, n.nodes, "a node of a set");
}

/// `before` is the previous record of the block, `id` this one's number in the trace.
template <typename Io>
void fields(Io& io, Call& c, const Call& before, CallId id, const Counts& n) {
  io.number(c.method, static_cast<std::uint64_t>(Method::kv_delete), "a call's method");
  std::uint64_t kind = static_cast<std::uint64_t>(c.library) << 1U | (c.returned ? 1U : 0U);
  io.number(kind, static_cast<std::uint64_t>(Library::kvstore) << 1U | 1U, "a call's library");
  c.library = static_cast<Library>(kind >> 1U);
  c.returned = (kind & 1U) != 0;
  CallId up = c.parent == 0 ? 0 : id - c.parent;
  io.number(up, id - 1, "a call's parent");
  c.parent = up == 0 ? 0 : id - up;
  io.within(c.thread, n.threads, "a call's thread");
  io.within(c.object, n.objects, "a call's object");
  io.within(c.node_set, n.node_sets, "a call's node set");
  io.difference(c.work_id, before.work_id, "a call's work id");
  io.wide(c.argument, "a call's argument");
  io.wide(c.result, "a call's result");
  io.difference(c.begin, before.begin, "a call's begin");
  io.difference(c.end, c.begin, "a call's end");
  if (n.version < 2) return;
  io.time(c.begin_ps, before.begin_ps, "a call's begin time");
  io.time(c.end_ps, c.begin_ps, "a call's end time");
}

template <typename Io>
void fields(Io& io, Subevent& s, const Subevent& before, SubeventId id, const Counts& n) {
  io.number(s.stamp, static_cast<std::uint64_t>(n.version >= 3 ? Stamp::aNAR : Stamp::aGF), "a subevent's stamp");
  io.from_one(s.call, before.call, n.calls, "a subevent's call");
  io.within(s.peer, n.nodes, "a subevent's peer");
  io.within(s.node, n.nodes, "a subevent's node");
  io.difference(s.address, before.address, "a subevent's address");
  io.wide(s.value, "a subevent's value");
  io.wide(s.value_read, "a subevent's value read");
  io.reference(s.source, id, n.subevents, "a subevent's source");
  io.reference(s.overwrote, id, n.subevents, "a subevent's overwritten write");
  io.difference(s.start, before.start, "a subevent's start");
  io.difference(s.finish, s.start, "a subevent's finish");
  io.time(s.start_ps, before.start_ps, "a subevent's start time");
  io.time(s.finish_ps, s.start_ps, "a subevent's finish time");
}

template <typename Io>
void fields(Io& io, Activity& a, const Activity& before, std::uint32_t /*id*/, const Counts& n) {
  io.number(a.kind, static_cast<std::uint64_t>(Activity::Kind::cqe), "an activity's kind");
  io.byte(a.opcode, "an activity's opcode");
  io.within(a.node, n.nodes, "an activity's node");
  io.within(a.peer, n.nodes, "an activity's peer");
  io.number(a.qp, kMaxU32, "an activity's queue pair");
  io.number(a.number, kMaxU32, "an activity's number");
  io.number(a.bytes, kMaxU32, "an activity's bytes");
  io.time(a.start_ps, before.start_ps, "an activity's start time");
  io.time(a.finish_ps, a.start_ps, "an activity's finish time");
}

}  // namespace loco::trace::codec
