// Runs that end while operations are under way (docs/checking.md, "Runs that end early"), and traces that no machine
// could have recorded. The paper's executions are complete: Put has {aNLR, aNRW}, Get {aNRR, aNLW} (Appendix G.2).
#include <functional>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/check_edges.hpp"
#include "tests/model/check_rule.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

/// The subevent had been posted and had not begun when the run ended; `known`: when its failure was told.
void lose(TraceBuilder& b, SubeventId id, Seq known = kNever) {
  Subevent& s = b.at(id);
  s.start = kNever;
  s.finish = known;
  s.value = 0;
  s.source = s.overwrote = 0;
}

/// Node 0 puts data into 1:0, then a flag into 1:8, which a thread of node 1 sees; it reads the data, and sees none.
struct Passing {
  TraceBuilder b{2};
  CallId data = 0;
  SubeventId lost = 0;

  Passing() {
    b.commit(b.write(0, {0, 0x100}, 5));
    b.commit(b.write(0, {0, 0x108}, 1));
    data = b.put(0, 3);
    (void)b.nlr(data, 1, {0, 0x100});
    lost = b.nrw(data, {1, 0});
  }
  void flag() { (void)b.put_now(0, {1, 8}, 0x108); }
  void looks() {
    (void)b.read(1, {1, 8});
    (void)b.read(1, {1, 0});
  }
};

TEST_CASE("unended: a put that is never placed comes after the read that missed it", "[check]") {
  Passing p;
  p.flag();
  p.looks();
  lose(p.b, p.lost);
  check_cycle(p.b, Library::rdmawait, {"rb", "ppo (aNRW before aNRW, same node)", "rf", "ppo (aCR before aCR)"});
}

TEST_CASE("unended: what nobody has missed is nobody's violation", "[check]") {
  Passing p;
  p.flag();
  SECTION("the flag is seen, the data not looked at") { (void)p.b.read(1, {1, 8}); }
  SECTION("the data is looked at first") {
    (void)p.b.read(1, {1, 0});
    (void)p.b.read(1, {1, 8});
  }
  lose(p.b, p.lost);
  check_consistent(p.b);
}

TEST_CASE("unended: it is last of its word, behind writes of others", "[check]") {
  Passing p;
  p.b.commit(p.b.write(1, {1, 0}, 7));
  p.flag();
  p.looks();  // the read sees node 1's own write
  lose(p.b, p.lost);
  check_cycle(p.b, Library::rdmawait, {"rb", "ppo (aNRW before aNRW, same node)", "rf", "ppo (aCR before aCR)"});
}

TEST_CASE("unended: a read that was not made finds the last write", "[check]") {
  // A get of 1:0 has not been made, a later one of 1:8 is done (H9: aNRR before the later aNLW). Who sees what that
  // brought writes 1:0: the first get reads that, so it comes after, and before the second's write.
  TraceBuilder b(2);
  b.commit(b.write(1, {1, 8}, 4));
  const CallId early = b.get(0);
  const SubeventId read = b.nrr(early, {1, 0});
  const SubeventId written = b.nlw(early, 1, {0, 0x100});
  (void)b.get_now(0, 0x108, {1, 8});
  (void)b.read(0, {0, 0x108});
  (void)b.put_now(0, {1, 0x10}, 0x108);
  (void)b.read(1, {1, 0x10});
  b.commit(b.write(1, {1, 0}, 9));
  lose(b, read);
  lose(b, written);
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  CHECK_FALSE(v.results[0].consistent);
}

TEST_CASE("unended: a wait has returned too early", "[check]") {
  Passing p;
  lose(p.b, p.lost);
  SECTION("nobody waited") { check_consistent(p.b); }
  SECTION("it was waited for") {
    (void)p.b.wait(0, 3);
    check_rule(p.b.trace, Library::rdmawait, Rule::incomplete);
  }
  SECTION("it was told that it failed") {
    (void)p.b.wait(0, 3);
    lose(p.b, p.lost, 1);
    check_consistent(p.b);
  }
}

TEST_CASE("unended: after it is told that an operation failed, a thread's calls are not behind it", "[check]") {
  Passing p;
  const Seq told = p.b.tick();
  const bool before = GENERATE(true, false);
  if (before) {
    p.flag();
    lose(p.b, p.lost, p.b.tick());
  } else {
    lose(p.b, p.lost, told);
    p.flag();
  }
  p.looks();
  if (before) {
    CHECK_FALSE(check(p.b.trace, kAll).consistent());
  } else {
    check_consistent(p.b);
  }
}

TEST_CASE("unended: what a trace does not list is counted", "[check]") {
  Passing p;
  CHECK(unrecorded_operations(p.b.trace) == 0);
  lose(p.b, p.lost);
  CHECK(unrecorded_operations(p.b.trace) == 0);  // it says what is still to come
  (void)p.b.nlr(p.b.put(0), 1, {0, 0x108});
  (void)p.b.get(0);
  CHECK(unrecorded_operations(p.b.trace) == 2);
  CHECK(check(p.b.trace, kAll).consistent());
}

TEST_CASE("unended: broadcasts are puts", "[check]") {
  TraceBuilder b(2);
  Call to_1;
  to_1.node_set = b.node_set({1});
  const CallId data = b.open(0, Method::bcast, to_1);
  const CallId put = b.put(0);
  (void)b.nlr(put, 1, {0, 0});
  const SubeventId lost = b.nrw(put, {1, 0});
  b.close(data);
  const CallId flag = b.open(0, Method::bcast, to_1);
  (void)b.put_now(0, {1, 8}, 8);
  b.close(flag);
  for (const std::uint64_t address : {8U, 0U}) {
    const CallId reads = b.open(1, Method::sv_read);
    (void)b.read(1, {1, address});
    b.close(reads);
  }
  // The flag has to be told from the initial value.
  lose(b, lost);
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  CHECK_FALSE(v.results[1].consistent);
}

// A put of 4 words from 0:0x100 to 1:0x200; of its writes, those of `placed` are in the trace, in this order.
TEST_CASE("partial placement: words belong together by their addresses", "[check]") {
  TraceBuilder b(2);
  for (std::uint64_t i = 0; i < 4; ++i) b.commit(b.write(0, {0, 0x100 + 8 * i}, 10 + i));
  const CallId put = b.put(0);
  std::vector<SubeventId> reads;
  for (std::uint64_t i = 0; i < 4; ++i) reads.push_back(b.nlr(put, 1, {0, 0x100 + 8 * i}));
  const auto place = [&](std::uint64_t i, std::uint64_t value) {
    const SubeventId w = b.nrw(put, {1, 0x200 + 8 * i});
    b.at(w).value = value;
    b.commit(w);
  };
  SECTION("the last word only") {
    place(3, 13);
    check_consistent(b);
  }
  SECTION("two words, backwards") {
    place(2, 12);
    place(1, 11);
    check_consistent(b);
  }
  SECTION("values that are not those of neighbours") {
    place(1, 11);
    place(2, 13);
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
  SECTION("a value that was not read") {
    place(0, 99);
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
}

TEST_CASE("refused: no machine could have recorded it", "[check]") {
  struct Run {
    TraceBuilder b{2};
    CallId put = 0, get = 0;
    SubeventId nlr = 0, nrw = 0, nrr = 0, nlw = 0, write = 0, read = 0, cas = 0, fence = 0;

    Run() {
      write = b.write(0, {0, 0x100}, 5);
      b.commit(write);
      put = b.put(0);
      nlr = b.nlr(put, 1, {0, 0x100});
      nrw = b.nrw(put, {1, 0});
      b.commit(nrw);
      get = b.get(0);
      nrr = b.nrr(get, {1, 0});
      nlw = b.nlw(get, 1, {0, 0x108});
      b.commit(nlw);
      read = b.read(0, {0, 0x108});
      cas = b.cas(0, {0, 0x110}, 0, 1);
      fence = b.mfence(0);
    }
  };
  {
    Run good;
    check_consistent(good.b);
  }
  const std::vector<std::function<void(Run&)>> damages = {
      [](Run& r) { r.b.at(r.nrw).start = r.b.at(r.nlr).start - 1; },  // writes before it has read
      [](Run& r) { r.b.at(r.nlw).start = r.b.at(r.nrr).start - 1; },
      [](Run& r) { lose(r.b, r.nlr); },  // has written what it has not read
      [](Run& r) {
        r.b.at(r.nlw).start = r.b.at(r.read).finish + 1, r.b.at(r.nlw).finish = 900;
      },                                 // read before written
      [](Run& r) { lose(r.b, r.nlw); },  // read, and never written
      [](Run& r) { r.b.at(r.read).start = r.b.at(r.read).finish = r.b.call(r.b.at(r.read).call).begin - 1; },
      [](Run& r) { r.b.call(r.b.at(r.read).call).end = r.b.at(r.read).finish - 1; },
      [](Run& r) { r.b.at(r.nlr).start = r.b.at(r.nlr).finish = r.b.call(r.put).begin - 1; },
      [](Run& r) { r.b.at(r.fence).call = r.b.at(r.cas).call; },  // a compare-and-swap that succeeded and fenced
      [](Run& r) { r.b.at(r.fence).start = kNever; },             // a CPU's, that never began
      [](Run& r) {
        (void)r.b.nlr(r.put, 1, {0, 0x100});
      },  // one word twice
      [](Run& r) {
        (void)r.b.node_set({1, 1});
      },
      [](Run& r) {
        (void)r.b.object({"bar", {0, 0}, false});
      },
      [](Run& r) { r.b.trace.node_sets[0] = {0}; },
      [](Run& r) {
        Call fields;
        fields.object = r.b.object({"bar", {0}, false});
        r.b.call(r.b.open(0, Method::barrier, fields)).node_set = 0;
      },
      [](Run& r) {
        const CallId outer = r.b.open(0, Method::gf);
        const CallId inner = r.b.open(0, Method::gf);
        r.b.call(inner).begin = r.b.call(outer).begin - 1;
      },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    Run run;
    damages[i](run);
    INFO("damage " << i);
    check_refused(run.b);
  }
}

}  // namespace
}  // namespace loco::model::test
