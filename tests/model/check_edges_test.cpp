// For each relation an execution that is inconsistent because of it, built by hand, and its consistent neighbour.
#include <algorithm>
#include <array>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

constexpr std::array<std::uint16_t, 2> kTwo = {0, 1};
constexpr std::array kAll = {Library::rdmawait, Library::sv, Library::bal};

/// Inconsistent for the library and all above it, by one cycle that has exactly these edges, in this order from
/// some step on.
void check_cycle(const TraceBuilder& b, Library library, const std::vector<std::string>& edges) {
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  for (const LibraryResult& r : v.results) REQUIRE(r.consistent == (r.library < library));
  const auto& violations = v.results[static_cast<std::size_t>(library)].violations;
  REQUIRE(violations.size() == 1);
  std::vector<std::string> found;
  for (const Step& s : violations[0].cycle) found.push_back(s.edge_text);
  REQUIRE(found.size() == edges.size());
  bool rotation = false;
  for (std::size_t i = 0; i < found.size() && !rotation; ++i) {
    std::rotate(found.begin(), found.begin() + 1, found.end());
    rotation = found == edges;
  }
  REQUIRE(rotation);
}

void check_consistent(const TraceBuilder& b) {
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  REQUIRE(v.consistent());
}

/// A broadcast of one word to one node, all at once; its reads and writes as of now.
CallId bcast(TraceBuilder& b, std::uint32_t thread, std::uint16_t to, std::uint64_t address, std::uint64_t d) {
  Call fields;
  fields.work_id = d;
  const CallId c = b.open(thread, Method::bcast, fields);
  (void)b.put_now(thread, {to, address}, address, d);
  b.close(c);
  return c;
}

SubeventId sv_read(TraceBuilder& b, std::uint32_t thread, Place place, SubeventId source) {
  const CallId c = b.open(thread, Method::sv_read);
  const SubeventId id = b.read_from(thread, place, source);
  b.close(c);
  return id;
}

SubeventId sv_write(TraceBuilder& b, std::uint32_t thread, Place place, std::uint64_t value) {
  const CallId c = b.open(thread, Method::sv_write);
  const SubeventId id = b.write(thread, place, value);
  b.close(c);
  return id;
}

// Two puts to one node; the reader sees the second and not the first. Cell G7 forbids it.
TEST_CASE("ppo: puts to one node write in order", "[check]") {
  TraceBuilder b(2);
  for (const std::uint64_t local : {0x100U, 0x108U}) b.commit(b.write(0, {0, local}, local));
  const CallId first = b.put(0);
  (void)b.nlr(first, 1, {0, 0x100});
  const SubeventId w1 = b.nrw(first, {1, 0});
  const CallId second = b.put(0);
  (void)b.nlr(second, 1, {0, 0x108});
  const SubeventId w2 = b.nrw(second, {1, 8});
  SECTION("in order") {
    b.commit(w1);
    b.commit(w2);
    (void)b.read(1, {1, 8});
    (void)b.read(1, {1, 0});
    check_consistent(b);
    REQUIRE(check(b.trace, kAll).results[0].by_stamps);
  }
  SECTION("the second overtakes") {
    b.commit(w2);
    (void)b.read(1, {1, 8});
    (void)b.read(1, {1, 0});
    b.commit(w1);
    check_cycle(b, Library::rdmawait, {"ppo (aNRW before aNRW, same node)", "rf", "ppo (aCR before aCR)", "rb"});
    // The run itself went against the order of the writes, nothing else.
    REQUIRE(check(b.trace, kAll).results[0].violations[0].rule == Rule::ppo);
  }
  SECTION("the second overtakes and nobody notices") {
    b.commit(w2);
    b.commit(w1);
    check_consistent(b);
    REQUIRE_FALSE(check(b.trace, kAll).results[0].by_stamps);
  }
}

// LOCO paper, Fig. 4 (top): with puts instead of writes, waiting does not forbid store buffering.
TEST_CASE("pfp orders issue only: store buffering with puts and waits is allowed", "[check]") {
  TraceBuilder b(2);
  std::vector<SubeventId> writes;
  for (const std::uint16_t n : kTwo) {
    b.commit(b.write(n, {n, 0x100}, 1));
    const auto other = static_cast<std::uint16_t>(1 - n);
    const CallId put = b.put(n, 7);
    (void)b.nlr(put, other, {n, 0x100});
    writes.push_back(b.nrw(put, {other, 0}));
    (void)b.wait(n, 7);
  }
  for (const std::uint16_t n : kTwo) (void)b.read(n, {n, 0});
  for (const SubeventId w : writes) b.commit(w);
  check_consistent(b);
}

// LOCO paper, Fig. 3 (d): put(z, x) as d; wait(d); x = 1 cannot put 1.
TEST_CASE("pfp: a put has read its value when the wait returns", "[check]") {
  TraceBuilder b(2);
  const CallId put = b.put(0, 7);
  (void)b.wait(0, 7);
  b.commit(b.write(0, {0, 0x100}, 1));
  (void)b.nlr(put, 1, {0, 0x100});
  b.commit(b.nrw(put, {1, 0}));
  check_cycle(b, Library::rdmawait, {"iso", "pfp", "ppo (aWT before aCW)", "rf"});
}

TEST_CASE("pfg: after the wait, what a get wrote is seen", "[check]") {
  TraceBuilder b(2);
  const CallId get = b.get(0, 7);
  b.commit(b.write(1, {1, 0}, 5));
  (void)b.nrr(get, {1, 0});
  const SubeventId w = b.nlw(get, 1, {0, 0x100});
  SECTION("seen") {
    b.commit(w);
    (void)b.wait(0, 7);
    (void)b.read(0, {0, 0x100});
    check_consistent(b);
  }
  SECTION("completion before data") {
    (void)b.wait(0, 7);
    (void)b.read(0, {0, 0x100});
    b.commit(w);
    check_cycle(b, Library::rdmawait, {"pfg", "ppo (aWT before aCR)", "rb"});
  }
}

TEST_CASE("nfo: a NIC read pushes the NIC writes before it", "[check]") {
  TraceBuilder b(2);
  b.commit(b.write(1, {1, 0}, 5));
  const CallId get = b.get(0);
  (void)b.nrr(get, {1, 0});
  const SubeventId w = b.nlw(get, 1, {0, 0x100});
  const CallId put = b.put(0);
  SECTION("the read does not see a write that was there before it") {
    b.commit(w);
    const SubeventId r = b.nlr(put, 1, {0, 0x100});
    b.at(r).source = 0;
    b.at(r).value = 0;
    const SubeventId sent = b.nrw(put, {1, 8});
    b.at(sent).value = 0;
    b.commit(sent);
    check_cycle(b, Library::rdmawait, {"nfo", "rb"});
  }
  SECTION("the read comes first: cell I6 allows it") {
    (void)b.nlr(put, 1, {0, 0x100});
    b.commit(b.nrw(put, {1, 8}));
    b.commit(w);
    check_consistent(b);
  }
}

// I10 is in issue order only: an rfence says that the get's write has been issued, so a later NIC read flushes it.
TEST_CASE("ippo: after an rfence a NIC read flushes the get before it", "[check]") {
  TraceBuilder b(2);
  b.commit(b.write(1, {1, 0}, 5));
  const CallId get = b.get(0);
  (void)b.nrr(get, {1, 0});
  const SubeventId w = b.nlw(get, 1, {0, 0x100});
  (void)b.rfence(0, 1);
  const CallId put = b.put(0);
  SECTION("flushed") {
    b.commit(w);
    (void)b.nlr(put, 1, {0, 0x100});
    b.commit(b.nrw(put, {1, 8}));
    check_consistent(b);
  }
  SECTION("not flushed") {
    (void)b.nlr(put, 1, {0, 0x100});
    b.commit(b.nrw(put, {1, 8}));
    b.commit(w);
    check_cycle(b, Library::rdmawait, {"ippo (aNLW before aRF, same node)", "ppo (aRF before aNLR, same node)", "nfo"});
  }
}

TEST_CASE("rb_i: a thread sees its own buffered write", "[check]") {
  TraceBuilder b(1);
  const SubeventId w = b.write(0, {0, 0}, 1);
  SECTION("forwarded") {
    (void)b.read_from(0, {0, 0}, w);
    b.commit(w);
    check_consistent(b);
  }
  SECTION("missed") {
    (void)b.read_from(0, {0, 0}, 0);
    b.commit(w);
    check_cycle(b, Library::rdmawait, {"ippo (aCW before aCR)", "rb_i"});
  }
}

// Store buffering on one node: allowed (B1 is not ordered), forbidden with fences (B4, D1).
TEST_CASE("x86-TSO: store buffering needs fences", "[check]") {
  TraceBuilder b(1);
  const std::uint32_t other = b.thread(0);
  const SubeventId x = b.write(0, {0, 0}, 1), y = b.write(other, {0, 8}, 1);
  const bool fenced = GENERATE(false, true);
  if (fenced) {
    (void)b.mfence(0);
    (void)b.mfence(other);
  }
  (void)b.read(0, {0, 8});
  (void)b.read(other, {0, 0});
  b.commit(x);
  b.commit(y);
  if (!fenced) {
    check_consistent(b);
  } else {
    check_cycle(
        b, Library::rdmawait,
        {"ppo (aCW before aMF)", "ppo (aMF before aCR)", "rb", "ppo (aCW before aMF)", "ppo (aMF before aCR)", "rb"});
  }
}

TEST_CASE("mo: one thread's writes reach memory in order", "[check]") {
  TraceBuilder b(1);
  const SubeventId first = b.write(0, {0, 0}, 1), second = b.write(0, {0, 0}, 2);
  b.commit(second);
  b.commit(first);
  check_cycle(b, Library::rdmawait, {"ppo (aCW before aCW)", "mo"});
}

TEST_CASE("rf, rb: two reads of one word do not go back", "[check]") {
  TraceBuilder b(1);
  const std::uint32_t reader = b.thread(0);
  const SubeventId first = b.write(0, {0, 0}, 1), second = b.write(0, {0, 0}, 2);
  b.commit(first);
  b.commit(second);
  (void)b.read_from(reader, {0, 0}, second);
  (void)b.read_from(reader, {0, 0}, first);
  check_cycle(b, Library::rdmawait, {"rf", "ppo (aCR before aCR)", "rb"});
}

TEST_CASE("iso: a put does not write before it has read", "[check]") {
  TraceBuilder b(2);
  b.commit(b.write(1, {1, 0x100}, 9));
  const CallId put = b.put(0);
  const SubeventId w = b.nrw(put, {1, 0});  // issued and finished first, though its value comes later
  b.at(w).value = 9;
  b.commit(w);
  (void)b.read(1, {1, 0});
  (void)b.put_now(1, {0, 0x200}, 0x100);
  const SubeventId r = b.nlr(put, 1, {0, 0x200});
  b.at(r).start = b.at(r).finish = b.tick();
  std::swap(b.trace.subevents[w - 1], b.trace.subevents[r - 1]);  // created in the order of the specification
  for (Subevent& s : b.trace.subevents)
    if (s.source == w) s.source = r;
  check_cycle(b, Library::rdmawait, {"iso", "rf", "ppo (aCR before aNRW)", "rf"});
}

TEST_CASE("iso: the words of a wide put are not ordered among each other", "[check]") {
  TraceBuilder b(2);
  b.commit(b.write(0, {0, 0x100}, 1));
  b.commit(b.write(0, {0, 0x108}, 2));
  const CallId put = b.put(0);
  (void)b.nlr(put, 1, {0, 0x100});
  const SubeventId low = b.nrw(put, {1, 0});
  (void)b.nlr(put, 1, {0, 0x108});
  const SubeventId high = b.nrw(put, {1, 8});
  b.commit(high);
  (void)b.read(1, {1, 8});
  (void)b.read(1, {1, 0});
  b.commit(low);
  check_consistent(b);
}

TEST_CASE("iso: a failing CAS fences before it reads", "[check]") {
  TraceBuilder b(1);
  const std::uint32_t other = b.thread(0);
  const SubeventId x = b.write(0, {0, 0}, 1), y = b.write(other, {0, 8}, 1);
  (void)b.cas(0, {0, 8}, 5, 6);  // sees 0, not 5: the store buffering shape with one failing CAS and one fence
  (void)b.mfence(other);
  (void)b.read(other, {0, 0});
  b.commit(x);
  b.commit(y);
  check_cycle(b, Library::rdmawait,
              {"ppo (aCW before aMF)", "iso", "rb", "ppo (aCW before aMF)", "ppo (aMF before aCR)", "rb"});
}

TEST_CASE("a successful CAS is atomic", "[check]") {
  TraceBuilder b(1);
  const std::uint32_t other = b.thread(0);
  b.commit(b.write(0, {0, 0}, 1));
  (void)b.cas(0, {0, 0}, 1, 2);
  SECTION("a write between the read and the write of a CAS") {
    const SubeventId between = b.write(other, {0, 0}, 7);
    b.commit(between);
    // mo: write 1, the other write, the CAS, which still reads 1
    const SubeventId cas = 2;
    b.at(between).overwrote = 1;
    b.at(cas).overwrote = between;
    check_cycle(b, Library::rdmawait, {"rb", "mo"});
  }
  SECTION("atomic") { check_consistent(b); }
}

TEST_CASE("pf: a broadcast has read when the wait returns, and may still be writing", "[check]") {
  TraceBuilder b(2);
  Call fields;
  fields.work_id = 3;
  const CallId c = b.open(0, Method::bcast, fields);
  const CallId put = b.put(0, 4);
  b.close(c);
  SubeventId w = 0;
  const bool early = GENERATE(true, false);
  if (early) (void)b.nlr(put, 1, {0, 0});
  if (early) w = b.nrw(put, {1, 0});
  const CallId wait = b.open(0, Method::sv_wait, fields);
  // The base wait is for another id: what rdmawait promises here is not in question.
  (void)b.wait(0, 99);
  b.close(wait);
  b.commit(sv_write(b, 0, {0, 0}, 1));
  if (early) {
    b.commit(w);
    check_consistent(b);
  } else {
    (void)b.nlr(put, 1, {0, 0});
    b.commit(b.nrw(put, {1, 0}));
    check_cycle(b, Library::sv, {"pf", "ppo (aWT before aCW)", "rf"});
  }
}

// Message passing through shared variables on other nodes, and the GF that the LOCO paper gives for it (G11).
TEST_CASE("gf: a global fence orders broadcasts to different nodes", "[check]") {
  TraceBuilder b(3);
  for (const std::uint64_t a : {0x0U, 0x8U}) b.commit(sv_write(b, 0, {0, a}, 1));
  Call set;
  set.node_set = b.node_set({1});
  const CallId data = b.open(0, Method::bcast, set);
  const CallId put = b.put(0);
  (void)b.nlr(put, 1, {0, 0});
  const SubeventId w = b.nrw(put, {1, 0});
  b.close(data);
  const bool fenced = GENERATE(false, true);
  if (fenced) b.close(b.open(0, Method::gf, set));  // a fence that does nothing: only sv's promise is broken
  (void)bcast(b, 0, 2, 8, 0);
  // Node 2 tells node 1 by a broadcast of its own copy, after it has seen the flag.
  (void)sv_read(b, 2, {2, 8}, static_cast<SubeventId>(b.trace.subevents.size()));
  b.commit(sv_write(b, 2, {2, 16}, 1));
  (void)bcast(b, 2, 1, 16, 0);
  (void)sv_read(b, 1, {1, 16}, static_cast<SubeventId>(b.trace.subevents.size()));
  (void)sv_read(b, 1, {1, 0}, 0);
  b.commit(w);
  if (!fenced) {
    check_consistent(b);
  } else {
    check_cycle(b, Library::sv,
                {"ppo (aNRW before aGF, same node)", "ppo (aGF before aNRW)", "rf", "ppo (aCR before aNRW)", "rf",
                 "ppo (aCR before aCR)", "rb"});
  }
}

// Paper, Fig. 7 and Section 4: who leaves the barrier sees what was put before it.
TEST_CASE("bal so: a put before the barrier is seen after it", "[check]") {
  TraceBuilder b(2);
  Call fields;
  fields.object = b.object({"bar", {0, 1}, false});
  b.commit(b.write(0, {0, 0x100}, 1));
  const CallId put = b.put(0);
  (void)b.nlr(put, 1, {0, 0x100});
  const SubeventId w = b.nrw(put, {1, 0});
  const CallId first = b.open(0, Method::barrier, fields), second = b.open(1, Method::barrier, fields);
  b.close(first);
  b.close(second);
  (void)b.read(1, {1, 0});
  b.commit(w);
  const std::vector<std::string> cycle = {"ppo (aNRW before aGF, same node)", "bal so", "ppo (aCR before aCR)", "rb"};
  check_cycle(b, Library::bal, cycle);
  REQUIRE(check(b.trace, kAll).results[2].violations[0].message ==
          "a cycle of 4 subevents; the run went against ppo (aNRW before aGF, same node)");
}

// LOCO paper, Section 4.3: a barrier of nodes 0 and 1 does not fence node 2; the transitive one does.
TEST_CASE("bal so: a transitive barrier fences every node", "[check]") {
  TraceBuilder b(3);
  const bool transitive = GENERATE(false, true);
  Call fields;
  fields.object = b.object({"bar", {0, 1}, transitive});
  b.commit(b.write(0, {0, 0x100}, 1));
  const CallId put = b.put(0);
  (void)b.nlr(put, 2, {0, 0x100});
  const SubeventId w = b.nrw(put, {2, 0});
  const CallId first = b.open(0, Method::barrier, fields), second = b.open(1, Method::barrier, fields);
  b.close(first);
  b.close(second);
  (void)b.get_now(1, 0x100, {2, 0});
  b.commit(w);
  if (transitive) {
    check_cycle(b, Library::bal, {"ppo (aNRW before aGF, same node)", "bal so", "ppo (aCR before aNRR)", "rb"});
  } else {
    check_consistent(b);
  }
}

TEST_CASE("a long cycle is told in few steps", "[check]") {
  TraceBuilder b(2);
  b.commit(b.write(0, {0, 0x100}, 1));
  const CallId put = b.put(0);
  (void)b.nlr(put, 1, {0, 0x100});
  const SubeventId w = b.nrw(put, {1, 0});
  for (int i = 0; i < 500; ++i) (void)b.put_now(0, {1, 8}, 0x100);  // a thousand links of ppo and mo
  (void)b.read(1, {1, 8});
  for (int i = 0; i < 500; ++i) (void)b.read(1, {1, 8});
  (void)b.read(1, {1, 0});
  b.commit(w);
  const Verdict v = check(b.trace, kAll);
  REQUIRE(v.results[0].violations.size() == 1);
  REQUIRE(v.results[0].violations[0].cycle.size() == 4);  // as in the first test of this file
}

TEST_CASE("a cycle in words and as a graph", "[check]") {
  TraceBuilder b(1);
  const SubeventId first = b.write(0, {0, 0}, 1), second = b.write(0, {0, 0}, 2);
  b.commit(second);
  b.commit(first);
  const Verdict v = check(b.trace, kAll);
  const std::string text = v.to_text();
  REQUIRE_THAT(text, loco::test::contains_text("inconsistent: rdmawait"));
  REQUIRE_THAT(text, loco::test::contains_text("T0@0  write(0:0x0, 2): aCW writes 0:0x0 = 2"));
  REQUIRE_THAT(text, loco::test::contains_text("inconsistent: sv (2 calls, 2 subevents)\n  as above\n"));
  REQUIRE_THAT(text, loco::test::contains_text("--ppo (aCW before aCW)-->"));
  const std::string dot = v.to_dot();
  REQUIRE_THAT(dot, loco::test::contains_text("digraph"));
  REQUIRE_THAT(dot, loco::test::contains_text("subgraph cluster_0"));
  REQUIRE_THAT(dot, loco::test::contains_text("label=\"mo\", color=darkorange"));
}

}  // namespace
}  // namespace loco::model::test
