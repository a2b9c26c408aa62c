// Local soundness on a run (LOCO paper, Def. 3.13): implementations that keep their library's promises, and the
// same with a part left out.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/random_trace.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

constexpr std::array kTower = {Library::rdmawait, Library::sv, Library::bal, Library::rbl};
constexpr std::array<std::uint16_t, 2> kNodes = {0, 1};

Verdict check_tower(const Trace& trace) {
  CheckOptions options;
  options.tower = true;
  return check(trace, kTower, options);
}

/// What a barrier of two nodes may leave out.
struct Shortcuts {
  bool fence = true;                        ///< gf at all
  bool fence_wait = true;                   ///< gf waits for its gets
  std::array<bool, 2> spin = {true, true};  ///< by node: looks at the other's counter until it has the new value
};

class TwoNodeBarrier {
 public:
  TwoNodeBarrier() {
    fields_.object = b.object({"bar", {0, 1}, true});
    fields_.node_set = b.node_set({0, 1});
  }
  TraceBuilder b{2};

  void round(const Shortcuts& s) {
    std::array<CallId, 2> calls{};
    for (const std::uint16_t n : kNodes) {
      calls[n] = b.open(n, Method::barrier, fields_);
      if (s.fence) fence(n, s.fence_wait);
      if (!s.spin.at(n)) look(n);  // too early
    }
    for (const std::uint16_t n : kNodes) {
      const CallId w = b.open(n, Method::sv_write);
      b.commit(b.write(n, {n, counter(n)}, ++value_));
      b.close(w);
      const CallId c = b.open(n, Method::bcast);
      const auto other = static_cast<std::uint16_t>(1 - n);
      (void)b.put_now(n, {other, counter(n)}, counter(n));
      b.close(c);
    }
    for (const std::uint16_t n : kNodes) {
      if (s.spin.at(n)) look(n);
      b.close(calls[n]);
    }
  }

 private:
  static std::uint64_t counter(std::uint16_t n) { return 0x100 + 8U * n; }

  void fence(std::uint16_t n, bool wait) {
    Call set;
    set.node_set = fields_.node_set;
    const CallId gf = b.open(n, Method::gf, set);
    (void)b.get_now(n, 0x200, {static_cast<std::uint16_t>(1 - n), 0x208}, 5);
    if (wait) (void)b.wait(n, 5);
    b.close(gf);
  }
  void look(std::uint16_t n) {
    const auto other = static_cast<std::uint16_t>(1 - n);
    const CallId r = b.open(n, Method::sv_read);
    (void)b.read(n, {n, counter(other)});
    b.close(r);
  }

  Call fields_;
  std::uint64_t value_ = 0;
};

void check_broken(const TraceBuilder& b, Library library, const std::string& message) {
  REQUIRE(check(b.trace, kTower).consistent());  // nobody has seen it
  const Verdict v = check_tower(b.trace);
  INFO(v.to_text());
  for (const LibraryResult& r : v.results) {
    if (r.library != library) continue;
    REQUIRE_FALSE(r.consistent);
    for (const Violation& violation : r.violations) CHECK(violation.rule == Rule::promise);
    CHECK_THAT(r.violations[0].message, loco::test::contains_text(message));
  }
}

TEST_CASE("tower: LOCO's barrier keeps its promises", "[check]") {
  TwoNodeBarrier t;
  for (int i = 0; i < 4; ++i) {
    for (const std::uint16_t n : kNodes) {
      t.b.commit(t.b.write(n, {n, 0x300}, 7));
      (void)t.b.put_now(n, {static_cast<std::uint16_t>(1 - n), 0x308}, 0x300);
    }
    t.round({});
    for (const std::uint16_t n : kNodes) (void)t.b.read(n, {n, 0x308});
  }
  const Verdict v = check_tower(t.b.trace);
  INFO(v.to_text());
  REQUIRE(v.consistent());
}

TEST_CASE("tower: a barrier without a fence (paper, Appendix D) has nothing to keep aGF", "[check]") {
  TwoNodeBarrier t;
  t.round({.fence = false});
  check_broken(t.b, Library::bal, "has nothing that stands for it below");
}

TEST_CASE("tower: a global fence that does not wait for its gets does not order what follows", "[check]") {
  TwoNodeBarrier t;
  t.round({.fence_wait = false});
  check_broken(t.b, Library::sv, "has nothing that stands for it below");
}

TEST_CASE("tower: a barrier that does not spin lets threads go that nobody has met", "[check]") {
  TwoNodeBarrier t;
  t.round({.spin = GENERATE(std::array{false, false}, std::array{true, false}, std::array{false, true})});
  check_broken(t.b, Library::bal, "(bal so) does not hold below");
}

// Definition 4.1: so is from every entry to every exit of a round, one's own too.
TEST_CASE("tower: a barrier of one thread has fenced before it lets it go", "[check]") {
  TraceBuilder b(2);
  Call fields;
  fields.object = b.object({"bar", {0}, true});
  fields.node_set = b.node_set({0, 1});
  (void)b.put_now(0, {1, 0x308}, 0x300);
  const bool fences_first = GENERATE(true, false);
  const CallId barrier = b.open(0, Method::barrier, fields);
  for (const bool fences : {fences_first, !fences_first}) {
    const CallId part = b.open(0, fences ? Method::gf : Method::sv_read, fields);
    if (fences) {
      for (const std::uint16_t n : kNodes) (void)b.get_now(0, 0x200, {n, 0x208}, 5);
      (void)b.wait(0, 5);
    } else {
      (void)b.read(0, {0, 0x100});
    }
    b.close(part);
  }
  b.close(barrier);
  if (fences_first)
    REQUIRE(check_tower(b.trace).consistent());
  else
    check_broken(b, Library::bal, "(bal so) does not hold below");
}

// gf's wait orders what follows; a put before it is ordered only by the get to the same node (G8).
TEST_CASE("tower: a global fence must touch each node that it fences", "[check]") {
  TraceBuilder b(3);
  Call set;
  set.node_set = b.node_set({1, 2});
  b.commit(b.write(0, {0, 0x100}, 1));
  (void)b.put_now(0, {2, 0x108}, 0x100);
  const CallId gf = b.open(0, Method::gf, set);
  (void)b.get_now(0, 0x200, {1, 0x208}, 5);
  const bool both = GENERATE(false, true);
  if (both) (void)b.get_now(0, 0x200, {2, 0x208}, 5);
  (void)b.wait(0, 5);
  b.close(gf);
  if (both) {
    REQUIRE(check_tower(b.trace).consistent());
  } else {
    check_broken(b, Library::sv, "aGF_2 (ppo) does not hold below");
  }
}

namespace {
/// Node 0 submits to a ring that node 1 reads: it writes the head and pushes it.
void submit(TraceBuilder& b, const Call& ring) {
  const CallId call = b.open(0, Method::submit, ring);
  const CallId w = b.open(0, Method::sv_write);
  b.commit(b.write(0, {0, 0}, 1));
  b.close(w);
  const CallId c = b.open(0, Method::bcast);
  (void)b.put_now(0, {1, 0}, 0);
  b.close(c);
  b.close(call, 1);
}

/// Node 1 looks at a word of its own; the head is at 0.
void look(TraceBuilder& b, std::uint64_t address) {
  const CallId r = b.open(1, Method::sv_read);
  (void)b.read(1, {1, address});
  b.close(r);
}
}  // namespace

// A ring buffer whose reader is told of the message by something else than the head: rf has no path below.
TEST_CASE("tower: a ring buffer's receive must follow from its submit", "[check]") {
  TraceBuilder b(2);
  Call ring;
  ring.object = b.object({"ring", {0, 1}, false});
  ring.argument = 11;
  submit(b, ring);
  const bool looks = GENERATE(true, false);
  const CallId receive = b.open(1, Method::receive, ring);
  look(b, looks ? 0 : 0x50);
  b.close(receive, 11);
  if (looks) {
    REQUIRE(check_tower(b.trace).consistent());
  } else {
    check_broken(b, Library::rbl, "(rbl rf) does not hold below");
  }
}

// fb: an empty receive comes before the submits that it has not seen. It is over when it has first looked; one that has
// looked at something else than the head has nothing that comes before.
TEST_CASE("tower: an empty receive must not see the head", "[check]") {
  TraceBuilder b(2);
  Call ring;
  ring.object = b.object({"ring", {0, 1}, false});
  ring.argument = 11;
  SECTION("it has looked before the head came, and once more") {
    const CallId receive = b.open(1, Method::receive, ring);
    look(b, 0);
    submit(b, ring);
    look(b, 0);
    b.close(receive, 0);
    const Verdict v = check_tower(b.trace);
    INFO(v.to_text());
    CHECK(v.consistent());
  }
  SECTION("it has looked elsewhere") {
    submit(b, ring);
    const CallId receive = b.open(1, Method::receive, ring);
    look(b, 0x50);
    b.close(receive, 0);
    check_broken(b, Library::rbl, "(rbl fb) does not hold below");
  }
}

// pf: a broadcast has read its value when the wait for it returns. A wait for other puts says nothing of them.
TEST_CASE("tower: a wait must be for the puts of its broadcast", "[check]") {
  TraceBuilder b(2);
  Call fields;
  fields.work_id = 3;
  b.commit(b.write(0, {0, 0}, 1));
  const CallId c = b.open(0, Method::bcast, fields);
  (void)b.put_now(0, {1, 0}, 0, 4);
  b.close(c);
  const bool waits = GENERATE(true, false);
  const CallId wait = b.open(0, Method::sv_wait, fields);
  (void)b.wait(0, waits ? 4 : 99);
  b.close(wait);
  if (waits)
    REQUIRE(check_tower(b.trace).consistent());
  else
    check_broken(b, Library::sv, "(pf) does not hold below");
}

// A submit has posted its head when it returns; the run may end before the NIC has come to it.
TEST_CASE("tower: a head that is not on its way when the run ends", "[check]") {
  TraceBuilder b(2);
  Call ring;
  ring.object = b.object({"ring", {0, 1}, false});
  ring.argument = 11;
  const CallId submit = b.open(0, Method::submit, ring);
  for (const std::uint64_t address : {0x40U, 0U}) {  // the cell, the head
    const CallId w = b.open(0, Method::sv_write);
    b.commit(b.write(0, {0, address}, 1));
    b.close(w);
    const CallId c = b.open(0, Method::bcast);
    if (address == 0)
      (void)b.put(0);
    else
      (void)b.put_now(0, {1, address}, address);
    b.close(c);
  }
  b.close(submit, 1);
  const CallId receive = b.open(1, Method::receive, ring);
  const CallId r = b.open(1, Method::sv_read);
  (void)b.read(1, {1, 0});
  b.close(r);
  b.close(receive, 0);
  const Verdict v = check_tower(b.trace);
  INFO(v.to_text());
  CHECK(v.consistent());
}

// Definition 5.2 gives a submit that returned true an aCW: a ring buffer that loses a message has nothing to keep it.
TEST_CASE("tower: a submit that publishes nothing", "[check]") {
  TraceBuilder b(2);
  Call ring;
  ring.object = b.object({"ring", {0, 1}, false});
  ring.argument = 11;
  (void)b.read(0, {0, 0x40});
  const CallId submit = b.open(0, Method::submit, ring);
  const CallId r = b.open(0, Method::sv_read);  // is there room?
  (void)b.read(0, {0, 0x48});
  b.close(r);
  b.close(submit, 1);
  SECTION("though it returned true") { check_broken(b, Library::rbl, "aCW has nothing that stands for it below"); }
  SECTION("and returned false") {
    b.call(submit).result = 0;
    CHECK(check_tower(b.trace).consistent());
  }
}

// A barrier whose fence failed: the program caught the error and went on.
TEST_CASE("tower: nothing is asked of calls that did not return", "[check]") {
  TraceBuilder b(2);
  Call bar;
  bar.object = b.object({"bar", {0, 1}, true});
  bar.node_set = b.node_set({0, 1});
  (void)b.put_now(0, {1, 0x308}, 0x300);
  const CallId barrier = b.open(0, Method::barrier, bar);
  SECTION("when the fence has failed") {}
  SECTION("when that of some nodes has returned, and that of the others failed") {
    Call some = bar;
    some.node_set = b.node_set({0});
    const CallId done = b.open(0, Method::gf, some);
    (void)b.get_now(0, 0x200, {0, 0x208}, 5);
    (void)b.wait(0, 5);
    b.close(done);
  }
  const CallId gf = b.open(0, Method::gf, bar);
  b.close(gf);
  b.call(gf).returned = false;
  b.close(barrier);
  b.call(barrier).returned = false;
  (void)b.read(0, {0, 0x308});
  const Verdict v = check_tower(b.trace);
  INFO(v.to_text());
  CHECK(v.consistent());
}

TEST_CASE("tower: any trace can be asked", "[check]") {
  int kept = 0, broken = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Trace trace = random_trace(seed);
    const Verdict plain = check(trace, kTower);
    const Verdict tower = check_tower(trace);
    for (std::size_t i = 0; i < plain.results.size(); ++i) {
      // A level that is inconsistent stays so; rdmawait promises nothing to anybody below.
      if (!plain.results[i].consistent) REQUIRE_FALSE(tower.results[i].consistent);
      if (i == 0) REQUIRE(plain.results[i].consistent == tower.results[i].consistent);
      if (i > 0 && plain.results[i].consistent) ++(tower.results[i].consistent ? kept : broken);
    }
  }
  CHECK(kept > 100);
  CHECK(broken > 100);
}

namespace {
/// Within an open call of thread 0: a global fence whose get of that node is read there, and never answered.
void give_up_fence(TraceBuilder& b, std::uint16_t node) {
  const CallId fence = b.open(0, Method::gf);
  const CallId get = b.get(0, 9);
  (void)b.nrr(get, {node, 0x40});
  Subevent& answer = b.at(b.nlw(get, node, {0, 0x120}));
  answer.value = answer.overwrote = 0;
  answer.start = kNever;
  answer.finish = b.tick();
  b.close(fence);
  b.call(fence).returned = false;
  b.call(fence).end = kNever;
}
}  // namespace

TEST_CASE("locks: what was put before a release is there before the next acquire ends", "[check]") {
  TraceBuilder b(3);
  const CallId held = b.open(0, Method::acquire);
  (void)b.wait(0, 1);
  b.close(held);
  (void)b.put_now(0, {2, 0}, 0x100, 5);
  bool kept = false;
  SECTION("the lock is elsewhere, and nothing is flushed") {}
  SECTION("a wait for the put says that it is sent") { (void)b.wait(0, 5); }
  SECTION("a get behind it, and a wait for that") {
    (void)b.get_now(0, 0x108, {2, 0x40}, 6);
    (void)b.wait(0, 6);
    kept = true;
  }
  SECTION("the same, and what another lock wrote when it was let go is not the holder's") {
    (void)b.get_now(0, 0x108, {2, 0x40}, 6);
    (void)b.wait(0, 6);
    for (const Method method : {Method::acquire, Method::release}) {
      const CallId other = b.open(0, method);
      b.call(other).argument = 7;
      if (method == Method::release) (void)b.put_now(0, {2, 8}, 0x118);
      b.close(other);
    }
    kept = true;
  }
  const CallId let_go = b.open(0, Method::release);
  SECTION("a fence whose answer does not come: the node has failed for this one, and nothing is promised of it") {
    give_up_fence(b, 2);
    kept = true;
  }
  SECTION("a fence that another node does not answer") { give_up_fence(b, 1); }
  (void)b.put_now(0, {1, 0}, 0x110);
  b.close(let_go);
  const CallId taken = b.open(1, Method::acquire);
  (void)b.read(1, {1, 0});
  b.close(taken);
  const std::array libraries = {Library::rdmawait, Library::lock};
  CHECK(check(b.trace, libraries).consistent());
  const Verdict v = check(b.trace, libraries, {.tower = true});
  INFO(v.to_text());
  CHECK(v.consistent() == kept);
  CHECK(names_rule(v, Library::lock, Rule::promise) != kept);
}

namespace {
constexpr std::array kLocks = {Library::rdmawait, Library::lock};

/// Node 0 holds a lock of the class, puts to node 2, and lets it go by a put to node 1, which then gets that word.
/// Late: the put is in memory only after the get has read.
Trace handed_over(std::uint64_t lock_class, std::uint32_t fenced, bool late) {
  TraceBuilder b(3);
  const CallId held = b.open(0, Method::acquire);
  (void)b.wait(0, 1);
  b.close(held);
  const CallId put = b.put(0, 5);
  (void)b.nlr(put, 2, {0, 0x100});
  const SubeventId data = b.nrw(put, {2, 0});
  if (!late) b.commit(data);
  Call fields;
  fields.work_id = lock_class;
  if (lock_class == trace::kLockToNode) fields.node_set = b.node_set({fenced});
  const CallId let_go = b.open(0, Method::release, fields);
  (void)b.put_now(0, {1, 0}, 0x110);
  b.close(let_go);
  const CallId taken = b.open(1, Method::acquire);
  (void)b.read(1, {1, 0});
  b.close(taken);
  (void)b.get_now(1, 0x200, {2, 0}, 7);
  if (late) b.commit(data);
  return b.trace;
}
}  // namespace

// docs/atomics.md, "In traces": weak is what CPUs wrote, a lock to a node what was put there, strong everything.
TEST_CASE("locks: a class promises what it is of, and nothing else", "[check]") {
  const auto promised = [](std::uint64_t lock_class, std::uint32_t fenced) {
    return names_rule(check(handed_over(lock_class, fenced, false), kLocks, {.tower = true}), Library::lock,
                      Rule::promise);
  };
  CHECK(promised(trace::kLockStrong, 0));  // and not kept: nothing is fenced
  CHECK(promised(trace::kLockToNode, 2));
  CHECK_FALSE(promised(trace::kLockToNode, 1));
  CHECK_FALSE(promised(trace::kLockWeak, 0));
}

// The get reads before the put that it would have to see: rb, and with aGF_2 in the release a cycle.
TEST_CASE("locks: a weak one where a stronger one is needed is told with the cycle through the missing fence",
          "[check]") {
  for (const bool late : {true, false}) {
    for (const auto& [lock_class, fenced] : {std::pair{trace::kLockWeak, 0U}, {trace::kLockToNode, 1U}}) {
      const Trace trace = handed_over(lock_class, fenced, late);
      CHECK(check(trace, kLocks).consistent());
      const Verdict v = check(trace, kLocks, {.tower = true});
      INFO(v.to_text());
      REQUIRE(v.consistent() != late);
      if (!late) continue;
      const Violation& told = v.results.back().violations.at(0);
      CHECK(told.rule == Rule::lock_class);
      const auto missing = [](const Step& s) { return s.edge_text == "missing aGF_2"; };
      CHECK(std::ranges::count_if(told.cycle, missing) == 1);
      CHECK(std::ranges::any_of(told.cycle, [](const Step& s) { return s.rule == Rule::rb; }));
      CHECK(told.cycle.size() <= 6);
    }
  }
}

TEST_CASE("locks: a stronger class that is not kept is no weaker one that is misused", "[check]") {
  const Verdict v = check(handed_over(trace::kLockStrong, 0, true), kLocks, {.tower = true});
  CHECK(names_rule(v, Library::lock, Rule::promise));
  CHECK_FALSE(names_rule(v, Library::lock, Rule::lock_class));
}

// A store's changes are in lanes, which have no puts of their own: the put is known by the value that it writes.
TEST_CASE("stores: an update is in memory before its lock is let go", "[check]") {
  constexpr std::uint64_t kValue = 900, kSum = 901;
  TraceBuilder b(3);
  const auto lane = [&](std::uint32_t thread) {
    const std::uint32_t t = b.thread(b.trace.threads[thread].node);
    b.trace.threads[t].name = b.trace.threads[thread].name + ", lane 1";
    return t;
  };
  const std::uint32_t first = lane(0), second = lane(1);
  b.commit(b.write(0, {0, 0x100}, kValue));
  b.commit(b.write(0, {0, 0x108}, kSum));
  Call change;
  change.work_id = kValue;
  change.argument = 7;
  const CallId insert = b.open(first, Method::kv_insert, change);
  const CallId held = b.open(first, Method::acquire);
  (void)b.wait(0, 1);
  b.close(held);
  const CallId put = b.put(0, 5);
  std::vector<SubeventId> words;
  for (const std::uint64_t at : {0U, 8U}) {
    (void)b.nlr(put, 2, {0, 0x100 + at});
    words.push_back(b.nrw(put, {2, at}));
  }
  for (const SubeventId word : words) b.commit(word);
  const bool fences = GENERATE(true, false);
  if (fences) {
    (void)b.get_now(0, 0x118, {2, 0x40}, 6);
    (void)b.wait(0, 6);
  }
  const CallId let_go = b.open(first, Method::release);
  (void)b.put_now(0, {1, 0}, 0x110);
  b.close(let_go);
  b.close(insert, 1);
  const CallId erase = b.open(second, Method::kv_delete, {.argument = 7});
  const CallId taken = b.open(second, Method::acquire);
  (void)b.read(1, {1, 0});
  b.close(taken);
  b.close(erase, 1);
  const std::array libraries = {Library::rdmawait, Library::lock, Library::kvstore};
  CHECK(check(b.trace, libraries).consistent());
  const Verdict v = check(b.trace, libraries, {.tower = true});
  INFO(v.to_text());
  CHECK(v.consistent() == fences);
  CHECK(names_rule(v, Library::kvstore, Rule::promise) != fences);
}

TEST_CASE("mixed access: a store between the halves of an atomic is lost", "[check]") {
  TraceBuilder b(2);
  const CallId add = b.get(0);
  b.call(add).method = Method::remote_faa;
  b.call(add).argument = 1;
  (void)b.nar(add, {1, 0});
  const SubeventId store = b.write(1, {1, 0}, 5);
  SECTION("before it") {}
  SECTION("in between") { b.commit(store); }
  const bool lost = b.at(store).finish != kNever;
  const SubeventId sum = b.nrw(add, {1, 0});
  b.at(sum).value += 1;
  b.commit(sum);
  if (!lost) b.commit(store);
  b.commit(b.nlw(add, 1, {0, 0x100}));
  const std::array libraries = {Library::rdmawait};
  CHECK(check(b.trace, libraries).consistent());
  const Verdict v = check(b.trace, libraries, {.tower = true});
  CHECK(v.consistent() != lost);
  CHECK(names_rule(v, Library::rdmawait, Rule::mixed_access) == lost);
}

}  // namespace
}  // namespace loco::model::test
