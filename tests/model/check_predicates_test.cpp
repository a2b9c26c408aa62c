// For each well-formedness rule an execution that breaks that rule and no other.
#include <array>
#include <functional>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/check_rule.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {
namespace {

/// Store buffering with a fence in each thread, both reading 0. `fenced`: the fences have their subevents.
Trace fenced_store_buffering(bool fenced) {
  TraceBuilder b(1);
  (void)b.thread(0);
  std::vector<SubeventId> writes;
  for (const std::uint32_t t : {0U, 1U}) {
    writes.push_back(b.write(t, {0, 8 * t}, 1));
    if (fenced)
      (void)b.mfence(t);
    else
      b.close(b.open(t, Method::mfence));
  }
  for (const std::uint32_t t : {0U, 1U}) (void)b.read(t, {0, 8 * (1 - t)});
  for (const SubeventId w : writes) b.commit(w);
  return b.trace;
}

struct Parts {
  TraceBuilder b{2};
  SubeventId write, read, nlr, nrw, wait;
  CallId put;
  Parts() {
    write = b.write(0, {0, 0x100}, 5);
    b.commit(write);
    read = b.read(0, {0, 0x100});
    put = b.put(0, 7);
    nlr = b.nlr(put, 1, {0, 0x100});
    nrw = b.nrw(put, {1, 0});
    b.commit(nrw);
    wait = b.wait(0, 7);
    REQUIRE(check(b.trace, kCore).consistent());
  }
};

TEST_CASE("a fence that left no subevent is missed", "[check]") {
  CHECK(names_rule(check(fenced_store_buffering(true), kCore), Library::rdmawait, Rule::ppo));
  check_rule(fenced_store_buffering(false), Library::rdmawait, Rule::stamps);
}

TEST_CASE("well-formedness: each rule is caught by name", "[check]") {
  Parts p;
  TraceBuilder& b = p.b;
  SECTION("stamps: a fence in a read") {
    b.call(b.at(p.wait).call).method = Method::rfence;
    check_rule(b.trace, Library::rdmawait, Rule::stamps);
  }
  SECTION("stamps: a read that returned without having read") {
    const CallId read = b.open(0, Method::read);
    b.close(read, 5);
    check_rule(b.trace, Library::rdmawait, Rule::stamps);
    b.call(read).returned = false;  // cut short by the end of the run
    CHECK(check(b.trace, kCore).consistent());
  }
  SECTION("stamps: a failed compare-and-swap that did not fence") {
    const SubeventId read = b.cas(0, {0, 0x100}, 4, 9);
    const SubeventId fence = read - 1;
    REQUIRE(b.at(fence).stamp == Stamp::aMF);
    const CallId put = b.put(0);
    b.at(fence) = {.call = put, .stamp = Stamp::aNLR, .peer = 1, .address = 0x600, .start = b.tick()};
    b.at(fence).finish = b.at(fence).start;
    check_rule(b.trace, Library::rdmawait, Rule::stamps);
  }
  SECTION("respects nodes: a put that writes elsewhere") {
    b.at(p.nrw).node = 0;
    check_rule(b.trace, Library::rdmawait, Rule::respects_nodes);
  }
  SECTION("respects nodes: a CPU write to another node") {
    b.commit(b.write(0, {1, 0x300}, 1));
    check_rule(b.trace, Library::rdmawait, Rule::respects_nodes);
  }
  SECTION("respects nodes: a put that reads for one node and writes on another") {
    b.at(p.nlr).peer = 0;
    check_rule(b.trace, Library::rdmawait, Rule::respects_nodes);
  }
  SECTION("rf source: another word") {
    const SubeventId other = b.write(0, {0, 0x108}, 5);
    b.commit(other);
    b.at(b.read(0, {0, 0x108})).source = p.write;
    check_rule(b.trace, Library::rdmawait, Rule::rf_source);
  }
  SECTION("rf source: another value") {
    b.at(p.read).value = 6;
    b.call(b.at(p.read).call).result = 6;
    check_rule(b.trace, Library::rdmawait, Rule::rf_source);
  }
  SECTION("rf source: itself") {
    const SubeventId cas = b.cas(0, {0, 0x100}, 5, 5);
    b.at(cas).source = cas;
    REQUIRE(names_rule(check(b.trace, kCore), Library::rdmawait, Rule::rf_source));
  }
  SECTION("rf source: a read") {
    b.at(b.read(0, {0, 0x100})).source = p.read;
    REQUIRE(names_rule(check(b.trace, kCore), Library::rdmawait, Rule::rf_source));
  }
  SECTION("initial value") {
    const SubeventId r = b.read(1, {1, 0x400});
    b.at(r).value = 1;
    b.call(b.at(r).call).result = 1;
    check_rule(b.trace, Library::rdmawait, Rule::initial_value);
  }
  SECTION("mo total: two first writes") {
    const SubeventId w = b.write(0, {0, 0x100}, 8);
    b.commit(w);
    b.at(w).overwrote = 0;
    check_rule(b.trace, Library::rdmawait, Rule::mo_total);
  }
  SECTION("mo total: two writes after one") {
    const SubeventId v = b.write(0, {0, 0x100}, 8), w = b.write(0, {0, 0x100}, 9);
    b.commit(v);
    b.commit(w);
    b.at(w).overwrote = p.write;
    check_rule(b.trace, Library::rdmawait, Rule::mo_total);
  }
  SECTION("mo total: in a circle") {
    const SubeventId v = b.write(1, {1, 0x500}, 8), w = b.write(1, {1, 0x500}, 9);
    b.commit(v);
    b.commit(w);
    b.at(v).overwrote = w;
    check_rule(b.trace, Library::rdmawait, Rule::mo_total);
  }
  SECTION("copied value: a put writes what it did not read") {
    b.at(p.nrw).value = 6;
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
  SECTION("copied value: a put writes a word more than it read") {
    b.commit(b.nrw(p.put, {1, 8}));
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
  SECTION("copied value: the words of a wide put exchanged") {
    b.commit(b.write(0, {0, 0x108}, 9));
    const CallId wide = b.put(0);
    (void)b.nlr(wide, 1, {0, 0x100});
    const SubeventId low = b.nrw(wide, {1, 8});
    (void)b.nlr(wide, 1, {0, 0x108});
    const SubeventId high = b.nrw(wide, {1, 16});
    b.commit(low);
    b.commit(high);
    std::swap(b.at(low).value, b.at(high).value);
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
  SECTION(
      "copied value: the words of a wide put placed in another order, which is no mistake until they are exchanged") {
    b.commit(b.write(0, {0, 0x108}, 9));
    const CallId wide = b.put(0);
    (void)b.nlr(wide, 1, {0, 0x100});
    (void)b.nlr(wide, 1, {0, 0x108});
    const SubeventId high = b.nrw(wide, {1, 16});
    const SubeventId low = b.nrw(wide, {1, 8});
    b.at(low).value = 5;
    b.commit(high);
    b.commit(low);
    CHECK(check(b.trace, kCore).consistent());
    std::swap(b.at(low).value, b.at(high).value);
    check_rule(b.trace, Library::rdmawait, Rule::copied_value);
  }
  SECTION("returned value: of a read") {
    b.call(b.at(p.read).call).result = 6;
    check_rule(b.trace, Library::rdmawait, Rule::returned_value);
  }
  SECTION("returned value: of a write") {
    b.call(b.at(p.write).call).argument = 6;
    check_rule(b.trace, Library::rdmawait, Rule::returned_value);
  }
  SECTION("returned value: of a compare-and-swap, done or not") {
    const SubeventId cas = b.cas(0, {0, 0x100}, GENERATE(5U, 4U), 9);
    b.call(b.at(cas).call).result = 6;
    check_rule(b.trace, Library::rdmawait, Rule::returned_value);
  }
  SECTION("incomplete: a wait for a put that has not written") {
    const CallId put = b.put(0, 8);
    (void)b.nlr(put, 1, {0, 0x100});
    SECTION("returned") {
      (void)b.wait(0, 8);
      check_rule(b.trace, Library::rdmawait, Rule::incomplete);
    }
    SECTION("returned for another") {
      (void)b.wait(0, 9);
      REQUIRE(check(b.trace, kCore).consistent());
    }
    SECTION("the put had failed, as its result says") {
      b.call(put).result = 1;
      (void)b.wait(0, 8);
      REQUIRE(check(b.trace, kCore).consistent());
    }
  }
}

TEST_CASE("structure: what is no execution is refused", "[check]") {
  using Damage = std::function<void(Trace&)>;
  const std::vector<Damage> damages = {
      [](Trace& t) { t.calls[0].thread = 9; },
      [](Trace& t) { t.calls[0].object = 9; },
      [](Trace& t) { t.calls[0].node_set = 9; },
      [](Trace& t) { t.calls[0].parent = 1; },
      [](Trace& t) { t.calls[0].parent = 0xffffffffU; },
      [](Trace& t) { t.calls[0].library = Library::bal; },
      [](Trace& t) { t.calls[0].end = 0; },
      [](Trace& t) { t.calls[2].thread = 1, t.calls[2].parent = 1; },
      [](Trace& t) { t.calls[1].parent = 1; },  // calls of the base library are the innermost ones
      [](Trace& t) { t.subevents[0].call = 0; },
      [](Trace& t) { t.subevents[0].call = 99; },
      [](Trace& t) { t.subevents[0].stamp = Stamp::aGF; },
      [](Trace& t) { t.subevents[0].node = 7; },
      [](Trace& t) { t.subevents[0].peer = 7; },
      [](Trace& t) { t.subevents[0].address = 3; },
      [](Trace& t) { t.subevents[1].source = 99; },
      [](Trace& t) { t.subevents[0].overwrote = 99; },
      [](Trace& t) { t.subevents[0].finish = 0; },
      [](Trace& t) { t.subevents[1].finish = kNever; },
      [](Trace& t) { t.subevents[0].start = kNever - 1; },
      [](Trace& t) { t.threads[0].node = 2; },
      [](Trace& t) { t.node_sets.push_back({5}); },
      [](Trace& t) {
        t.objects.push_back({"bar", {5}, false});
      },
      [](Trace& t) { t.objects.clear(); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    Parts p;
    damages[i](p.b.trace);
    INFO("damage " << i);
    check_rule(p.b.trace, Library::rdmawait, Rule::structure);
    for (const LibraryResult& r : check(p.b.trace, kCore).results) CHECK_FALSE(r.consistent);
  }
}

TEST_CASE("structure: a call is part of one that is not over", "[check]") {
  TraceBuilder b(1);
  const CallId outer = b.open(0, Method::gf);
  const CallId over = b.open(0, Method::gf);
  b.close(over);
  b.close(b.open(0, Method::gf));
  const CallId last = b.open(0, Method::gf);
  b.close(last);
  b.close(outer);
  REQUIRE(check(b.trace, kCore).consistent());
  b.call(last).parent = over;
  check_rule(b.trace, Library::rdmawait, Rule::structure);
}

TEST_CASE("disjoint: no call reads what another wrote for its own use", "[check]") {
  TraceBuilder b(1);
  Call fields;
  fields.object = b.object({"bar", {0}, false});
  const bool inside = GENERATE(true, false);
  const CallId barrier = inside ? b.open(0, Method::barrier, fields) : 0;
  const CallId c = b.open(0, Method::sv_write);
  const SubeventId w = b.write(0, {0, 0}, 1);
  b.close(c);
  if (inside) b.close(barrier);
  b.commit(w);
  (void)b.read(0, {0, 0});
  if (inside) {
    check_rule(b.trace, Library::bal, Rule::disjoint);
  } else {
    REQUIRE(check(b.trace, kCore).consistent());  // sv and rdmawait at one location: LOCO's pull does so
  }
}

TEST_CASE("returned value: of a shared variable", "[check]") {
  TraceBuilder b(1);
  const bool writes = GENERATE(true, false), right = GENERATE(true, false);
  const std::uint64_t said = right ? 5 : 6;
  Call fields;
  fields.argument = writes ? said : 0;
  const CallId c = b.open(0, Method::sv_write, fields);
  b.commit(b.write(0, {0, 0}, 5));
  b.close(c);
  const CallId r = b.open(0, Method::sv_read);
  (void)b.read(0, {0, 0});
  b.close(r, writes ? 0 : said);
  if (right) {
    CHECK(check(b.trace, kCore).consistent());
  } else {
    check_rule(b.trace, Library::sv, Rule::returned_value);
  }
}

TEST_CASE("own write: a thread sees its own writes to a shared variable", "[check]") {
  TraceBuilder b(1);
  const CallId c = b.open(0, Method::sv_write);
  const SubeventId w = b.write(0, {0, 0}, 1);
  b.close(c);
  const CallId r = b.open(0, Method::sv_read);
  (void)b.read_from(0, {0, 0}, GENERATE(true, false) ? w : 0);
  b.close(r);
  b.commit(w);
  const Verdict v = check(b.trace, kCore);
  if (b.trace.subevents.back().source == w) {
    REQUIRE(v.consistent());
  } else {
    REQUIRE_FALSE(v.results[0].consistent);  // rb_i, below
    REQUIRE(v.results[1].violations.size() == 1);
    REQUIRE(v.results[1].violations[0].rule == Rule::own_write);
  }
}

TEST_CASE("bal: participants and counts", "[check]") {
  TraceBuilder b(2);
  const std::uint32_t stranger = b.thread(1);
  Call fields;
  fields.object = b.object({"bar", {0, 1}, false});
  const CallId first = b.open(0, Method::barrier, fields);
  SECTION("a stranger") {
    const CallId strange = b.open(stranger, Method::barrier, fields);
    (void)strange;
    check_rule(b.trace, Library::bal, Rule::participants);
  }
  SECTION("left alone") {
    b.close(first);
    check_rule(b.trace, Library::bal, Rule::barrier_count);
  }
  SECTION("still waiting") { REQUIRE(check(b.trace, kCore).consistent()); }
  SECTION("left, the other still inside") {
    (void)b.open(1, Method::barrier, fields);
    b.close(first);
    REQUIRE(check(b.trace, kCore).consistent());
  }
  SECTION("made again after an error of its fence, it counts once") {
    const CallId fence = b.open(0, Method::gf);
    b.close(fence);
    b.close(first);
    b.call(fence).returned = b.call(first).returned = false;
    b.close(b.open(0, Method::barrier, fields));
    b.close(b.open(1, Method::barrier, fields));
    REQUIRE(check(b.trace, kCore).consistent());
    b.close(b.open(1, Method::barrier, fields));  // thread 0 has come once only
    check_rule(b.trace, Library::bal, Rule::barrier_count);
  }
}

TEST_CASE("a verdict does not depend on how many violations are kept", "[check]") {
  Parts p;
  p.b.at(p.nrw).value = 6;
  CheckOptions none;
  none.max_violations = 0;
  const Verdict v = check(p.b.trace, kCore, none);
  CHECK_FALSE(v.results[0].consistent);
  CHECK(v.results[0].violations.empty());
}

TEST_CASE("the libraries asked for are the levels checked", "[check]") {
  TraceBuilder b(1);
  const CallId c = b.open(0, Method::sv_write);
  b.commit(b.write(0, {0, 0}, 1));
  b.close(c);
  const std::array only_bal = {Library::bal};
  const Verdict v = check(b.trace, only_bal);
  REQUIRE(v.results.size() == 2);
  CHECK(v.results[0].library == Library::rdmawait);
  CHECK(v.results[1].library == Library::bal);
  CHECK(v.results[0].calls == 1);  // the base write; the sv call is transparent
  CHECK(v.to_text() == "consistent: rdmawait, bal (1 subevents)\n");
}

}  // namespace
}  // namespace loco::model::test
