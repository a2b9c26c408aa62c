// Trace files: what is written is read back, and damage is refused with its offset.
#include "trace/file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/model/random_trace.hpp"
#include "trace/codec.hpp"
#include "trace/whole_file.hpp"

namespace loco::trace::test {

using model::test::random_trace;

namespace {

std::string text(const Trace& trace) {
  std::ostringstream out;
  write_trace_text(out, trace);
  return out.str();
}

/// A trace with every kind of field used, and extreme values.
Trace full_trace() {
  Trace t = random_trace(3);
  t.scenario = "bar\n\"rier\"";
  t.seed = 0xffffffffffffffffU;
  t.subevents[0].address = 0xfffffffffffffff8U;
  t.subevents[0].start_ps = -5;
  t.subevents[0].finish_ps = 0x7fffffffffffffff;
  t.calls[0].argument = 0xffffffffffffffffU;
  t.calls[0].end = kNever;
  t.calls[0].begin_ps = -7;
  t.calls[0].end_ps = 0x7fffffffffffffff;
  t.activities.push_back({.kind = Activity::Kind::cqe, .qp = 0xffffffffU, .bytes = 12, .start_ps = 5, .finish_ps = -1});
  t.activities.push_back({.opcode = 255, .number = 0xffffffffU, .start_ps = -9, .finish_ps = 77});
  return t;
}

TEST_CASE("trace files: written and read back", "[trace_io]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Trace trace = random_trace(seed);
    const std::string bytes = encode_trace(trace);
    const Trace back = decode_trace(bytes);
    REQUIRE(text(back) == text(trace));
    REQUIRE(encode_trace(back) == bytes);
  }
  const Trace trace = full_trace();
  REQUIRE(text(decode_trace(encode_trace(trace))) == text(trace));
  REQUIRE(text(decode_trace(encode_trace(Trace{}))) == text(Trace{}));
}

TEST_CASE("trace files: a stream is read as far as it is right, and no more is kept than is allowed", "[trace_io]") {
  const Trace trace = full_trace();
  const std::string bytes = encode_trace(trace);
  const auto offset_of = [](const std::string& input, const DecodeOptions& options = {}) -> std::uint64_t {
    std::istringstream in(input);
    try {
      (void)decode_trace(in, options);
    } catch (const TraceError& error) {
      return error.offset();
    }
    return 0;
  };
  std::istringstream in(bytes);
  REQUIRE(text(decode_trace(in)) == text(trace));
  REQUIRE(offset_of(bytes + std::string(10, '\0')) == bytes.size());
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    std::uint64_t in_memory = 1;
    try {
      (void)decode_trace(std::string_view(bytes).substr(0, size));
    } catch (const TraceError& error) {
      in_memory = error.offset();
    }
    REQUIRE(offset_of(bytes.substr(0, size)) == in_memory);
  }
  // A header's block that says it has 2^62 bytes, or 1 MiB where half of that is allowed: refused at its length.
  const std::string begin = bytes.substr(0, codec::kMagic.size() + 4) + '\1';
  codec::Writer length;
  length.number(std::uint64_t{1} << 62U);
  REQUIRE(offset_of(begin + std::string(length.bytes()), {.memory_max = 1U << 19U}) == begin.size());
  length.clear();
  length.number(std::uint64_t{1} << 20U);
  REQUIRE(offset_of(begin + std::string(length.bytes()), {.memory_max = 1U << 19U}) == begin.size());
  // What the header announces may not take more either.
  REQUIRE(offset_of(bytes, {.memory_max = trace.subevents.size() * sizeof(Subevent)}) == begin.size() + 1);
}

TEST_CASE("trace files: many blocks", "[trace_io]") {
  Trace trace = random_trace(3);
  const std::vector<Call> calls = trace.calls;
  while (trace.calls.size() < 3 * codec::kBlockRecords + 7) trace.calls.push_back(calls[0]);
  while (trace.subevents.size() < 2 * codec::kBlockRecords) trace.subevents.push_back(trace.subevents[0]);
  REQUIRE(text(decode_trace(encode_trace(trace))) == text(trace));
}

TEST_CASE("trace files: on disk", "[trace_io]") {
  const std::string path = "trace_io_test." + std::to_string(getpid()) + ".trace";
  write_trace_file(path, full_trace());
  REQUIRE(text(read_trace_file(path)) == text(full_trace()));
  std::remove(path.c_str());
  REQUIRE_THROWS_AS(read_trace_file(path), std::system_error);
  REQUIRE_THROWS_AS(read_trace_file("."), std::system_error);  // a folder, not a file as long as a folder says
  REQUIRE_THROWS_AS(write_trace_file("no/such/folder/x.trace", full_trace()), std::system_error);
}

TEST_CASE("trace files: one that cannot be written whole leaves what was there", "[trace_io]") {
  const std::string path = "trace_io_test." + std::to_string(getpid()) + ".kept";
  write_whole_file(path, [](std::ostream& out) { out << "before"; });
  const auto half = [](std::ostream& out) {
    out << "half";
    out.setstate(std::ios::badbit);
  };
  REQUIRE_THROWS_AS(write_whole_file(path, half), std::system_error);
  std::ifstream kept(path);
  std::string text;
  kept >> text;
  REQUIRE(text == "before");
  for (const auto& entry : std::filesystem::directory_iterator("."))
    REQUIRE(entry.path().filename().string().find(path + ".") == std::string::npos);
  std::remove(path.c_str());
}

TEST_CASE("trace files: from a pipe", "[trace_io]") {
  const std::string path = "trace_io_test." + std::to_string(getpid()) + ".fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { write_trace_file(path, full_trace()); });
  const Trace trace = read_trace_file(path);
  writer.join();
  std::remove(path.c_str());
  REQUIRE(text(trace) == text(full_trace()));
}

TEST_CASE("trace files: cut short anywhere, the offset is the end", "[trace_io]") {
  const std::string bytes = encode_trace(full_trace());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      (void)decode_trace(std::string_view(bytes).substr(0, size));
      FAIL("accepted " << size << " of " << bytes.size() << " bytes");
    } catch (const TraceError& e) {
      REQUIRE(e.offset() == size);
    }
  }
}

TEST_CASE("trace files: any bit changed is noticed, at or before that byte", "[trace_io]") {
  const std::string bytes = encode_trace(random_trace(5));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      try {
        (void)decode_trace(damaged);
        FAIL("accepted with byte " << i << " changed");
      } catch (const TraceError& e) {
        REQUIRE(e.offset() <= bytes.size());
      }
    }
}

TEST_CASE("trace files: what is wrong is said", "[trace_io]") {
  const std::string bytes = encode_trace(full_trace());
  const auto problem = [](const std::string& damaged) -> std::string {
    try {
      (void)decode_trace(damaged);
    } catch (const TraceError& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(problem("not a trace at all") == "offset 0: the magic number is not that of a loco-sim trace");
  std::string other_version = bytes;
  other_version[8] = 9;
  CHECK(problem(other_version) == "offset 8: version 9, expected 1 to 4");
  CHECK_THAT(problem(bytes + "x"), loco::test::contains_text("goes on after its end block"));
  std::string flipped = bytes;
  flipped[20] = static_cast<char>(flipped[20] ^ 1);
  CHECK_THAT(problem(flipped), loco::test::contains_text("does not match its checksum"));
}

/// Bytes of a trace with one subevent that refers to `source`.
std::string with_source(std::uint64_t code, std::uint32_t version = kTraceVersion) {
  codec::Writer header, threads, objects, sets, calls, subevents, out;
  header.text("");
  // seed; then how many nodes, threads, objects, node sets, calls and subevents
  for (const std::uint64_t n : {0U, 1U, 1U, 1U, 1U, 1U, 1U}) header.number(n);
  if (version >= 2) header.number(0);  // activities
  threads.number(0);
  threads.text("");
  objects.text("");
  objects.byte(0);
  objects.number(0);
  sets.number(0);
  calls.number(1);  // records in the block; then the call's eleven fields, and two times
  for (int i = 0; i < (version >= 2 ? 13 : 11); ++i) calls.number(0);
  subevents.number(1);                              // records in the block
  subevents.number(0);                              // stamp
  subevents.number(codec::zigzag(1));               // call 1
  for (int i = 0; i < 5; ++i) subevents.number(0);  // peer, node, address, value, value read
  subevents.number(code);                           // source
  for (int i = 0; i < 5; ++i) subevents.number(0);  // overwrote, start, finish, times
  out.raw(codec::kMagic);
  out.fixed32(version);
  out.block(codec::Tag::header, header.bytes());
  out.block(codec::Tag::threads, threads.bytes());
  out.block(codec::Tag::objects, objects.bytes());
  out.block(codec::Tag::node_sets, sets.bytes());
  out.block(codec::Tag::calls, calls.bytes());
  out.block(codec::Tag::subevents, subevents.bytes());
  out.block(codec::Tag::end, "");
  return std::string(out.bytes());
}

TEST_CASE("trace files: indices out of range are refused though the checksum fits", "[trace_io]") {
  REQUIRE(decode_trace(with_source(0)).subevents.size() == 1);
  const Trace old = decode_trace(with_source(0, 1));  // what version 1 wrote can still be read
  REQUIRE(old.calls.size() == 1);
  REQUIRE(!old.calls_have_times);
  REQUIRE(decode_trace(with_source(0)).calls_have_times);
  REQUIRE(decode_trace(with_source(codec::zigzag(0) + 1)).subevents[0].source == 1);
  for (const std::uint64_t code : {codec::zigzag(1) + 1, codec::zigzag(0 - std::uint64_t{1}) + 1, ~std::uint64_t{0}})
    REQUIRE_THROWS_AS(decode_trace(with_source(code)), TraceError);
}

TEST_CASE("trace files: the text form has one record a line", "[trace_io]") {
  Trace t;
  t.scenario = "a\"b";
  t.nodes = 2;
  t.threads.push_back({1, "worker"});
  Call c;
  c.method = Method::write;
  c.argument = 7;
  c.begin = 1;
  t.calls.push_back(c);
  Subevent s;
  s.call = 1;
  s.stamp = Stamp::aCW;
  s.address = 64;
  s.value = 7;
  t.subevents.push_back(s);
  REQUIRE(text(t) ==
          "trace version=4 scenario=\"a\\x22b\" seed=0 nodes=2\n"
          "thread 0 node=1 name=\"worker\"\n"
          "object 0 name=\"\" transitive=0 participants={}\n"
          "node_set 0 {}\n"
          "call 1 parent=0 thread=0 rdmawait.write returned=0 object=0 node_set=0 work_id=0 argument=7 result=0 "
          "begin=1 end=never begin_ps=0 end_ps=0\n"
          "subevent 1 call=1 aCW peer=0 node=0 address=0x40 value=7 value_read=0 source=0 overwrote=0 start=0 "
          "finish=never start_ps=0 finish_ps=0\n");
}

}  // namespace
}  // namespace loco::trace::test
