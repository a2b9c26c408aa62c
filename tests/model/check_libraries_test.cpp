// rbl and msw by their levels, locks by their histories.
#include <array>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

constexpr std::array kEveryLibrary = {Library::rdmawait, Library::sv,   Library::bal,    Library::rbl,
                                      Library::msw,      Library::lock, Library::kvstore};

void check_only(const Trace& trace, Library library, Rule rule) {
  const Verdict v = check(trace, kEveryLibrary);
  INFO(v.to_text());
  for (const LibraryResult& r : v.results) {
    if (r.library < library) CHECK(r.consistent);
    if (r.library == library) CHECK_FALSE(r.consistent);
  }
  CHECK(names_rule(v, library, rule));
}

void check_consistent(const Trace& trace) {
  const Verdict v = check(trace, kEveryLibrary);
  INFO(v.to_text());
  REQUIRE(v.consistent());
}

/// One ring buffer from thread 0 (node 0) to thread 1 (node 1). A submit writes its head and puts it.
struct Ring {
  TraceBuilder b{2};
  Call fields;
  std::vector<SubeventId> heads;  // aNRW of each submit, not yet in memory
  Ring() { fields.object = b.object({"ring", {0, 1}, false}); }

  CallId submit(std::uint64_t message, bool deliver) {
    Call c = fields;
    c.argument = message;
    const CallId id = b.open(0, Method::submit, c);
    b.commit(b.write(0, {0, 0}, heads.size() + 1));
    const CallId put = b.put(0);
    (void)b.nlr(put, 1, {0, 0});
    heads.push_back(b.nrw(put, {1, 0}));
    if (deliver) b.commit(heads.back());
    b.close(id, 1);
    return id;
  }
  /// Writes the cells, and the head if it comes so far; does not return.
  void abandoned_submit(std::uint64_t message, bool head) {
    Call c = fields;
    c.argument = message;
    const CallId id = b.open(0, Method::submit, c);
    store("ring/cells", 0x40, message);
    if (head) store("ring/heads/ov0", 0, heads.size() + 1);
    b.close(id);
    b.call(id).returned = false;
  }
  /// sv: writes and broadcasts a word.
  void store(const std::string& name, std::uint64_t address, std::uint64_t value) {
    Call c;
    c.object = b.object({name, {}, false});
    const CallId write = b.open(0, Method::sv_write, c);
    b.commit(b.write(0, {0, address}, value));
    b.close(write);
    const CallId bcast = b.open(0, Method::bcast, c);
    (void)b.put_now(0, {1, address}, address);
    b.close(bcast);
  }
  CallId receive(std::uint64_t result) {
    const CallId id = b.open(1, Method::receive, fields);
    (void)b.read(1, {1, 0});
    b.close(id, result);
    return id;
  }
};

TEST_CASE("rbl: messages arrive once, in order, none skipped", "[check]") {
  Ring r;
  (void)r.receive(0);
  r.submit(11, true);
  r.submit(22, true);
  SECTION("in order") {
    (void)r.receive(11);
    (void)r.receive(22);
    (void)r.receive(0);
    check_consistent(r.b.trace);
  }
  SECTION("twice") {
    (void)r.receive(11);
    (void)r.receive(11);
    check_only(r.b.trace, Library::rbl, Rule::message_order);
  }
  SECTION("skipped") {
    (void)r.receive(22);
    check_only(r.b.trace, Library::rbl, Rule::message_order);
  }
  SECTION("never sent") {
    (void)r.receive(11);
    (void)r.receive(22);
    (void)r.receive(33);
    check_only(r.b.trace, Library::rbl, Rule::message_value);
  }
  SECTION("torn") {
    (void)r.receive(12);
    check_only(r.b.trace, Library::rbl, Rule::message_value);
  }
  SECTION("by a stranger") {
    const CallId c = r.b.open(0, Method::receive, r.fields);
    r.b.close(c, 0);
    check_only(r.b.trace, Library::rbl, Rule::participants);
  }
}

// A send that fails after the cells and before the head: the writer tells the reader that there is no more.
TEST_CASE("rbl: a submit that did not return counts from its head", "[check]") {
  Ring r;
  const bool head = GENERATE(false, true);
  r.abandoned_submit(11, head);
  r.b.commit(r.b.write(0, {0, 0x80}, 1));
  (void)r.b.put_now(0, {1, 0x88}, 0x80);
  const SubeventId told = r.b.read(1, {1, 0x88});
  REQUIRE(r.b.at(told).value == 1);
  (void)r.receive(0);
  if (head)
    check_only(r.b.trace, Library::rbl, Rule::rbl_fb);
  else
    check_consistent(r.b.trace);
}

// Definition 5.2: a submit writes on its own node, too (W^n is its aCW there), which a reader of that node may not
// miss: fb, with the flag that the writer sets behind it (B2), would be a cycle.
TEST_CASE("rbl: a reader on the writer's node", "[check]") {
  Ring r;
  const std::uint32_t reader = r.b.thread(0);
  r.b.trace.objects[r.fields.object].participants = {0, reader};
  r.submit(11, true);
  r.b.commit(r.b.write(0, {0, 0x80}, 1));
  REQUIRE(r.b.at(r.b.read(reader, {0, 0x80})).value == 1);
  const bool empty = GENERATE(true, false);
  r.b.close(r.b.open(reader, Method::receive, r.fields), empty ? 0 : 11);
  if (empty)
    check_only(r.b.trace, Library::rbl, Rule::rbl_fb);
  else
    check_consistent(r.b.trace);
}

TEST_CASE("rbl: a ring of which nothing is declared has one writer all the same", "[check]") {
  Ring r;
  r.b.trace.objects[r.fields.object].participants.clear();
  r.submit(11, true);
  (void)r.receive(11);
  SECTION("one") { check_consistent(r.b.trace); }
  SECTION("two") {
    r.b.close(r.b.open(1, Method::submit, r.fields), 0);
    check_only(r.b.trace, Library::rbl, Rule::participants);
  }
}

// Message passing: what was put before the submit is there after the receive (G7, rf, A1).
TEST_CASE("rbl rf: a message brings what was written before it", "[check]") {
  Ring r;
  r.b.commit(r.b.write(0, {0, 0x100}, 1));
  const CallId put = r.b.put(0);
  (void)r.b.nlr(put, 1, {0, 0x100});
  const SubeventId w = r.b.nrw(put, {1, 0x200});
  const bool late = GENERATE(false, true);
  if (!late) r.b.commit(w);
  const CallId submit = r.submit(11, true);
  // Below, the head is read from the initial value, so that only the ring buffer's promise is at stake.
  const CallId receive = r.receive(11);
  Subevent& head = r.b.trace.subevents.back();
  REQUIRE(r.b.call(head.call).parent == receive);
  head.source = 0;
  head.value = 0;
  r.b.call(head.call).result = 0;
  head.start = head.finish = r.b.at(r.heads[0]).finish - 1;
  r.b.call(receive).begin = r.b.call(head.call).begin = head.start;
  r.b.at(r.heads[0]).finish += 2;  // 2 is free: the clock ticks for every call
  (void)submit;
  (void)r.b.read(1, {1, 0x200});
  if (late) {
    r.b.commit(w);
    check_only(r.b.trace, Library::rbl, Rule::rbl_rf);
  } else {
    check_consistent(r.b.trace);
  }
}

// Paper, Appendix E: submit, barrier; barrier, receive: the receive may not be empty.
TEST_CASE("rbl fb: a barrier between the submit and the receive", "[check]") {
  Ring r;
  Call bar;
  bar.object = r.b.object({"bar", {0, 1}, false});
  r.submit(11, false);
  const CallId first = r.b.open(0, Method::barrier, bar), second = r.b.open(1, Method::barrier, bar);
  r.b.close(first);
  r.b.close(second);
  const bool empty = GENERATE(true, false);
  if (!empty) r.b.commit(r.heads[0]);
  (void)r.receive(empty ? 0 : 11);
  if (empty) {
    r.b.commit(r.heads[0]);
    REQUIRE(names_rule(check(r.b.trace, kEveryLibrary), Library::rbl, Rule::rbl_fb));
  } else {
    check_consistent(r.b.trace);
  }
}

TEST_CASE("msw: a successful read returns a tuple that some write wrote", "[check]") {
  TraceBuilder b(1);
  const std::uint32_t reader = b.thread(0);
  Call tuple;
  for (const std::uint64_t v : {10U, 20U}) {
    tuple.argument = v;
    const CallId c = b.open(0, Method::msw_write, tuple);
    b.commit(b.write(0, {0, 0}, v));
    b.commit(b.write(0, {0, 8}, v + 1));
    b.close(c);
  }
  tuple.argument = 0;
  const auto read = [&](std::uint64_t result) {
    const CallId c = b.open(reader, Method::msw_tryread, tuple);
    (void)b.read(reader, {0, 0});
    (void)b.read(reader, {0, 8});
    b.close(c, result);
  };
  SECTION("whole") {
    read(20);
    check_consistent(b.trace);
  }
  SECTION("failed") {
    read(0);
    check_consistent(b.trace);
  }
  SECTION("torn") {
    read(15);
    check_only(b.trace, Library::msw, Rule::torn_read);
  }
  SECTION("another write's") {  // the words are those of 20
    read(10);
    check_only(b.trace, Library::msw, Rule::torn_read);
  }
  SECTION("half of a tuple, and half of none") {
    const CallId c = b.open(reader, Method::msw_tryread, tuple);
    (void)b.read(reader, {0, 8});
    (void)b.read(reader, {0, 16});  // 0 still
    b.close(c, 20);
    check_only(b.trace, Library::msw, Rule::torn_read);
  }
}

// A mixture of two writes whose words happen to be a third one's is what that one wrote: tuples are values.
TEST_CASE("msw: a tuple is the words of one write", "[check]") {
  TraceBuilder b(1);
  const std::uint32_t reader = b.thread(0);
  const auto write = [&](std::uint64_t checksum, std::uint64_t low, std::uint64_t high) {
    Call tuple;
    tuple.argument = checksum;
    const CallId c = b.open(0, Method::msw_write, tuple);
    const SubeventId first = b.write(0, {0, 0}, low), second = b.write(0, {0, 8}, high);
    b.commit(first);
    b.close(c);
    return second;
  };
  const bool third = GENERATE(true, false);
  if (third) b.commit(write(30, 2, 11));
  b.commit(write(10, 1, 11));
  const SubeventId high = write(20, 2, 12);
  const CallId read = b.open(reader, Method::msw_tryread);
  (void)b.read(reader, {0, 8});  // in no particular order
  (void)b.read(reader, {0, 0});
  b.close(read, third ? 30 : 20);
  b.commit(high);
  if (third) {
    check_consistent(b.trace);
  } else {
    check_only(b.trace, Library::msw, Rule::torn_read);
  }
}

// Message passing by tuples: a get that was waited for is seen (pfg), word by word.
TEST_CASE("msw: a tuple that was waited for is there", "[check]") {
  TraceBuilder b(2);
  Call tuple;
  tuple.argument = 10;
  const CallId write = b.open(1, Method::msw_write, tuple);
  b.commit(b.write(1, {1, 0}, 10));
  b.close(write);
  tuple.argument = 0;
  tuple.work_id = 3;
  const CallId get = b.open(0, Method::msw_get, tuple);
  const CallId base = b.get(0, 4);
  (void)b.nrr(base, {1, 0});
  const SubeventId landed = b.nlw(base, 1, {0, 0x100});
  b.close(get);
  const bool early = GENERATE(true, false);
  if (early) b.commit(landed);
  const CallId wait = b.open(0, Method::msw_wait, tuple);
  (void)b.wait(0, 99);  // another base id: only the tuple's promise is in question
  b.close(wait);
  const CallId read = b.open(0, Method::msw_tryread, {});
  (void)b.read(0, {0, 0x100});
  b.close(read, early ? 10 : 77);
  if (early) {
    check_consistent(b.trace);
  } else {
    b.commit(landed);
    check_only(b.trace, Library::msw, Rule::pfg);
  }
}

TEST_CASE("msw: a tuple never written, but put, is the initial one", "[check]") {
  TraceBuilder b(2);
  const CallId put = b.open(0, Method::msw_put);
  const CallId base = b.put(0);
  (void)b.nlr(base, 1, {0, 0});
  b.commit(b.nrw(base, {1, 0}));
  b.close(put);
  const CallId read = b.open(1, Method::msw_tryread);
  (void)b.read(1, {1, 0});
  b.close(read, 77);
  check_consistent(b.trace);
}

TEST_CASE("msw: a tuple never written is the initial one", "[check]") {
  TraceBuilder b(1);
  const CallId c = b.open(0, Method::msw_tryread);
  (void)b.read(0, {0, 0});
  b.close(c, 77);
  check_consistent(b.trace);
}

TEST_CASE("msw: a tuple that was not looked at was not read", "[check]") {
  TraceBuilder b(1);
  b.close(b.open(0, Method::msw_tryread), 77);
  check_only(b.trace, Library::msw, Rule::torn_read);
}

TEST_CASE("locks: at most one holder", "[check]") {
  TraceBuilder b(2);
  Call lock;
  lock.object = b.object({"lock", {}, false});
  lock.argument = 3;
  const CallId first = b.open(0, Method::acquire, lock);
  const CallId second = b.open(1, Method::acquire, lock);
  b.close(first);
  SECTION("one after the other") {
    b.close(b.open(0, Method::release, lock));
    b.close(second);
    b.close(b.open(1, Method::release, lock));
    check_consistent(b.trace);
  }
  SECTION("the second gets in while the release runs") {
    const CallId release = b.open(0, Method::release, lock);
    b.close(second);
    b.close(release);
    check_consistent(b.trace);
  }
  SECTION("both") {
    b.close(second);
    b.close(b.open(0, Method::release, lock));
    check_only(b.trace, Library::lock, Rule::mutual_exclusion);
  }
  SECTION("released at the instant at which it was acquired: nothing happened in between") {
    b.close(b.open(0, Method::release, lock));
    b.close(second);
    const CallId release = b.open(1, Method::release, lock);
    b.close(release);
    b.call(release).begin = b.call(second).end;
    check_consistent(b.trace);
  }
  SECTION("another lock") {
    b.call(second).argument = 4;
    b.close(second);
    check_consistent(b.trace);
  }
  SECTION("a lock of the same number in another array") {
    b.call(second).object = b.object({"others", {}, false});
    b.close(second);
    check_consistent(b.trace);
  }
  SECTION("the run ends while the second waits for the first") { check_consistent(b.trace); }
  SECTION("released by another") {
    b.close(b.open(1, Method::release, lock));
    check_only(b.trace, Library::lock, Rule::mutual_exclusion);
  }
}

}  // namespace
}  // namespace loco::model::test
