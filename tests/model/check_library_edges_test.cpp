// For each relation of sv and bal an execution that is inconsistent because of it, built by hand, and its consistent
// neighbour; and how a cycle is told.
#include "tests/model/check_edges.hpp"

namespace loco::model::test {
namespace {

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

namespace {
/// Node 0 puts to word 0 of a node, then threads 0 and 1 meet in a barrier. Returns the write there, still under way.
SubeventId put_and_meet(TraceBuilder& b, std::uint16_t home, bool transitive) {
  Call fields;
  fields.object = b.object({"bar", {0, 1}, transitive});
  b.commit(b.write(0, {0, 0x100}, 1));
  const CallId put = b.put(0);
  (void)b.nlr(put, home, {0, 0x100});
  const SubeventId w = b.nrw(put, {home, 0});
  const CallId first = b.open(0, Method::barrier, fields), second = b.open(1, Method::barrier, fields);
  b.close(first);
  b.close(second);
  return w;
}
}  // namespace

// Paper, Fig. 7 and Section 4: who leaves the barrier sees what was put before it.
TEST_CASE("bal so: a put before the barrier is seen after it", "[check]") {
  TraceBuilder b(2);
  const SubeventId w = put_and_meet(b, 1, false);
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
  const SubeventId w = put_and_meet(b, 2, transitive);
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
