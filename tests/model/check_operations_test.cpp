// Well-formedness of one-sided operations: what a put, a get or a remote atomic must have left by the time that
// somebody waits for it, what a remote atomic writes, and that it is atomic.
#include <utility>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/check_rule.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

/// A fetch-and-add by thread t on 1:0, whose write follows `overwrote` in mo.
SubeventId fetch_add(TraceBuilder& b, std::uint32_t t, std::uint64_t add) {
  const CallId c = b.get(t);
  b.call(c).method = Method::remote_faa;
  b.call(c).argument = add;
  (void)b.nar(c, {1, 0});
  b.commit(b.nlw(c, 1, {static_cast<std::uint16_t>(t), 0x100}));
  const SubeventId w = b.nrw(c, {1, 0});
  b.at(w).value += add;
  b.commit(w);
  return w;
}

// Appendix G.2 gives a Put {aNLR, aNRW} and a Get {aNRR, aNLW}; a Wait follows what these write (pfg), or its issue
// (pfp).
TEST_CASE("incomplete: a wait for an operation that left nothing", "[check]") {
  TraceBuilder b(2);
  const CallId lost = b.put(0, 8);
  SECTION("a put") {}
  SECTION("a get") { b.call(lost).method = Method::get; }
  SECTION("a fetch-and-add") { b.call(lost).method = Method::remote_faa; }
  SECTION("a compare-and-swap") { b.call(lost).method = Method::remote_cas; }
  CHECK(check(b.trace, kCore).consistent());  // nobody has waited yet
  (void)b.wait(0, 8);
  check_rule(b.trace, Library::rdmawait, Rule::incomplete);
  b.call(lost).result = 1;  // it failed
  CHECK(check(b.trace, kCore).consistent());
}

TEST_CASE("incomplete: what a remote atomic owes to who waits for it", "[check]") {
  TraceBuilder b(2);
  const CallId atomic = b.get(0, 8);
  (void)b.nar(atomic, {1, 0});
  SECTION("a fetch-and-add writes on both sides") {
    b.call(atomic).method = Method::remote_faa;
    b.commit(b.nlw(atomic, 1, {0, 0x100}));
    SECTION("it did") {
      b.commit(b.nrw(atomic, {1, 0}));
      (void)b.wait(0, 8);
      CHECK(check(b.trace, kCore).consistent());
    }
    SECTION("its sum is lost") {
      (void)b.wait(0, 8);
      check_rule(b.trace, Library::rdmawait, Rule::incomplete);
    }
  }
  SECTION("a compare-and-swap brings the old value, and need not have written") {
    b.call(atomic).method = Method::remote_cas;
    SECTION("it did") {
      b.commit(b.nlw(atomic, 1, {0, 0x100}));
      (void)b.wait(0, 8);
      CHECK(check(b.trace, kCore).consistent());
    }
    SECTION("the old value is lost") {
      (void)b.wait(0, 8);
      check_rule(b.trace, Library::rdmawait, Rule::incomplete);
    }
  }
}

TEST_CASE("atomicity: a remote compare-and-swap writes its own value", "[check]") {
  TraceBuilder b(2);
  const CallId swap = b.get(0);
  (void)b.nar(swap, {1, 0});
  b.commit(b.nlw(swap, 1, {0, 0x100}));
  b.call(swap).method = Method::remote_cas;
  b.call(swap).argument = 7;
  const SubeventId write = b.nrw(swap, {1, 0});
  b.at(write).value = 7;
  b.commit(write);
  CHECK(check(b.trace, kCore).consistent());
  b.at(write).value = 8;
  check_rule(b.trace, Library::rdmawait, Rule::atomicity);
}

TEST_CASE("atomicity: remote atomics are atomic among each other", "[check]") {
  TraceBuilder b(2);
  (void)fetch_add(b, 0, 3);
  const SubeventId second = fetch_add(b, 1, 4);
  SECTION("one after the other") { REQUIRE(check(b.trace, kCore).consistent()); }
  SECTION("the second does not see the first") {
    const SubeventId read = second - 2;
    REQUIRE(b.at(read).stamp == Stamp::aNAR);
    b.at(read).source = 0;
    b.at(read).value = 0;
    b.at(second - 1).value = 0;
    b.at(second).value = 4;
    REQUIRE(names_rule(check(b.trace, kCore), Library::rdmawait, Rule::atomicity));
  }
  SECTION("a fetch-and-add writes the sum") {
    b.at(second).value = 8;
    check_rule(b.trace, Library::rdmawait, Rule::atomicity);
  }
}

TEST_CASE("rao: the atomics of a node are executed one after the other", "[check]") {
  TraceBuilder b(2);
  const SubeventId first = fetch_add(b, 0, 3);
  const SubeventId second = fetch_add(b, 1, 4);
  REQUIRE(check(b.trace, kCore).consistent());
  SECTION("two of them have one place") {
    b.at(second - 2).value_read = 1;
    check_rule(b.trace, Library::rdmawait, Rule::rao_total);
  }
  SECTION("one has none") {
    b.at(second - 2).value_read = 0;
    REQUIRE(names_rule(check(b.trace, kCore), Library::rdmawait, Rule::rao_total));
  }
  SECTION("the second reads what the first, which is behind it, has written") {
    std::swap(b.at(first - 2).value_read, b.at(second - 2).value_read);
    const Verdict v = check(b.trace, kCore);
    CHECK_FALSE(v.consistent());
    CHECK(names_rule(v, Library::rdmawait, Rule::rao));
  }
  SECTION("different units of a NIC are in no order") {
    std::swap(b.at(first - 2).value_read, b.at(second - 2).value_read);
    b.at(second - 2).value_read |= std::uint64_t{1} << trace::kRaoPlaceBits;
    CHECK(check(b.trace, kCore).consistent());
  }
}

TEST_CASE("once: an atomic that is executed again", "[check]") {
  TraceBuilder b(2);
  const SubeventId write = fetch_add(b, 0, 3);
  const CallId call = b.at(write).call;
  (void)b.nar(call, {1, 0});
  const SubeventId again = b.nrw(call, {1, 0});
  b.at(again).value += 3;
  b.commit(again);
  const Verdict v = check(b.trace, kCore);
  CHECK_FALSE(v.consistent());
  CHECK(names_rule(v, Library::rdmawait, Rule::once));
}

TEST_CASE("atomics of traces of older versions read by aNRR", "[check]") {
  TraceBuilder b(2);
  b.trace.atomics_have_places = false;
  const SubeventId write = fetch_add(b, 0, 3);
  b.at(write - 2).stamp = Stamp::aNRR;
  b.at(write - 2).value_read = 0;
  CHECK(check(b.trace, kCore).consistent());
  b.at(write - 2).stamp = Stamp::aNAR;
  CHECK_FALSE(check(b.trace, kCore).consistent());
}

}  // namespace
}  // namespace loco::model::test
