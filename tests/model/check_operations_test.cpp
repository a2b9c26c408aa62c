// Well-formedness of one-sided operations: what a put, a get or a remote atomic must have left by the time that
// somebody waits for it, what a remote atomic writes, and that it is atomic.
#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/check_rule.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

/// A fetch-and-add by thread t on 1:0, whose write follows `overwrote` in mo.
SubeventId fetch_add(TraceBuilder& b, std::uint32_t t, std::uint64_t add) {
  const CallId c = b.get_now(t, 0x100, {1, 0});
  b.call(c).method = Method::remote_faa;
  b.call(c).argument = add;
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
  (void)b.nrr(atomic, {1, 0});
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

TEST_CASE("copied value: a remote compare-and-swap writes its own value", "[check]") {
  TraceBuilder b(2);
  const CallId swap = b.get_now(0, 0x100, {1, 0});
  b.call(swap).method = Method::remote_cas;
  b.call(swap).argument = 7;
  const SubeventId write = b.nrw(swap, {1, 0});
  b.at(write).value = 7;
  b.commit(write);
  CHECK(check(b.trace, kCore).consistent());
  b.at(write).value = 8;
  check_rule(b.trace, Library::rdmawait, Rule::copied_value);
}

TEST_CASE("atomicity: remote atomics are atomic among each other", "[check]") {
  TraceBuilder b(2);
  (void)fetch_add(b, 0, 3);
  const SubeventId second = fetch_add(b, 1, 4);
  SECTION("one after the other") { REQUIRE(check(b.trace, kCore).consistent()); }
  SECTION("the second does not see the first") {
    const SubeventId read = second - 2;
    REQUIRE(b.at(read).stamp == Stamp::aNRR);
    b.at(read).source = 0;
    b.at(read).value = 0;
    b.at(second - 1).value = 0;
    b.at(second).value = 4;
    REQUIRE(names_rule(check(b.trace, kCore), Library::rdmawait, Rule::atomicity));
  }
  SECTION("a fetch-and-add writes the sum") {
    b.at(second).value = 8;
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
}

}  // namespace
}  // namespace loco::model::test
