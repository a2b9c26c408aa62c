// For each relation of rdmawait an execution that is inconsistent because of it, built by hand, and its consistent
// neighbour.
#include "tests/model/check_edges.hpp"

namespace loco::model::test {
namespace {

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

TEST_CASE("iso: a put does not write before it has read", "[check]") {  // a machine that says so has not run
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
  check_refused(b);
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

}  // namespace
}  // namespace loco::model::test
