// What a recorded trace says: calls within calls, subevents of the right calls, a witness that agrees with memory.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/memory/checksum.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
#include "model/stamps.hpp"
#include "sim/invariant.hpp"
#include "tests/catch.hpp"

using loco::SimulatedCluster;
using loco::Transport;
using loco::trace::Call;
using loco::trace::Library;
using loco::trace::Method;
using loco::trace::Stamp;
using loco::trace::Trace;

namespace {

Trace record(std::uint32_t nodes, const SimulatedCluster::Program& program,
             loco::Schedule schedule = loco::Schedule::random, std::uint64_t seed = 1) {
  loco::ClusterConfig c;
  c.nodes = nodes;
  c.schedule = schedule;
  c.seed = seed;
  c.record = true;
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere(program);
  cluster.run();
  return cluster.take_trace();
}

std::vector<const Call*> calls_of(const Trace& trace, Method method) {
  std::vector<const Call*> found;
  for (const Call& c : trace.calls)
    if (c.method == method) found.push_back(&c);
  return found;
}

std::multiset<Stamp> stamps_of(const Trace& trace, const Call* call) {
  std::multiset<Stamp> stamps;
  for (const auto& s : trace.subevents)
    if (&trace.calls[s.call - 1] == call) stamps.insert(s.stamp);
  return stamps;
}

/// Two lookups under way in one thread; the first one to begin ends last.
void overlapping_calls(Transport& node) {
  for (const std::uint32_t lane : {1U, 2U})
    node.begin_call({.library = "kvstore", .method = "lookup", .object = "store", .argument = lane, .lane = lane});
  node.memory_fence();
  for (const std::uint32_t lane : {2U, 1U}) node.end_call(0, lane);
}

/// A ring, a key-value store and a barrier of the same names twice; the second barrier is without node 2.
void names_again(Transport& node) {
  loco::manager mgr(node);
  loco::barrier done(mgr, "done");
  mgr.wait_for_ready();
  for (const std::uint64_t life : {1U, 2U}) {
    {
      loco::ring_buffer ring(mgr, "ring", static_cast<loco::NodeId>(life));
      loco::kvstore store(mgr, "store");
      mgr.wait_for_ready();
      if (node.my_node() == life)
        ring.send(std::as_bytes(std::span(&life, 1)));
      else
        (void)ring.receive();
      if (node.my_node() == 0) (void)store.insert(1, life);
      if (life == 1 || node.my_node() != 2) {
        loco::barrier bar(mgr, "bar",
                          {.participants = life == 1 ? std::vector<loco::NodeId>{} : std::vector<loco::NodeId>{0, 1}});
        bar.wait_for_ready();
        bar.waiting();
      }
      done.waiting();
    }
    done.waiting();
  }
}

void one_barrier(Transport& node) {
  loco::manager mgr(node);
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  bar.waiting();
}

}  // namespace

TEST_CASE("innermost calls have the stamps of the model, outer ones have none") {
  // Models page, section 2: Write {aCW}, Read {aCR}, Put {aNLR, aNRW}, Get {aNRR, aNLW}, Wait {aWT}, Mfence {aMF}.
  const Trace trace = record(2, [](Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (node.my_node() == 1) return;
    v.store(1);
    node.memory_fence();
    loco::ack_key key(mgr);
    v.push(1, key);
    v.pull(1, key);
    key.wait();
    node.remote_fence(1);
    mgr.fetch_add(v.address(), v.copy(1), 0, 1, &key);
    key.wait();
    (void)v.load();
    node.compare_swap_local(v.address(), 99, 1);
    node.compare_swap_local(v.address(), v.load(), 1);
  });
  const std::map<Method, std::multiset<Stamp>> expected = {
      {Method::write, {Stamp::aCW}},
      {Method::mfence, {Stamp::aMF}},
      {Method::put, {Stamp::aNLR, Stamp::aNRW}},
      {Method::get, {Stamp::aNRR, Stamp::aNLW}},
      {Method::wait, {Stamp::aWT}},
      {Method::rfence, {Stamp::aRF}},
      {Method::remote_faa, {Stamp::aNAR, Stamp::aNRW, Stamp::aNLW}},
      {Method::read, {Stamp::aCR}},
  };
  for (const auto& [method, stamps] : expected) {
    const auto calls = calls_of(trace, method);
    INFO("method " << static_cast<int>(method));
    REQUIRE(!calls.empty());
    for (const Call* call : calls) CHECK(stamps_of(trace, call) == stamps);
  }
  const auto cas = calls_of(trace, Method::cas);
  REQUIRE(cas.size() == 2);
  CHECK(stamps_of(trace, cas[0]) == std::multiset<Stamp>{Stamp::aMF, Stamp::aCR});  // fails
  CHECK(stamps_of(trace, cas[1]) == std::multiset<Stamp>{Stamp::aCAS});
  for (const auto method : {Method::sv_write, Method::sv_read, Method::bcast, Method::sv_wait})
    for (const Call* call : calls_of(trace, method)) CHECK(stamps_of(trace, call).empty());
}

TEST_CASE("a barrier is made of a fence, a write, a broadcast and reads") {
  const Trace trace = record(3, one_barrier);
  const auto barriers = calls_of(trace, Method::barrier);
  REQUIRE(barriers.size() == 3);
  for (const Call* barrier : barriers) {
    CHECK(barrier->library == Library::bal);
    CHECK(barrier->parent == 0);
    CHECK(barrier->returned);
    std::vector<Method> children;
    const auto id = static_cast<loco::trace::CallId>(barrier - trace.calls.data() + 1);
    std::uint32_t puts = 0;
    std::uint32_t gets = 0;
    for (const Call& c : trace.calls) {
      if (c.parent == id) children.push_back(c.method);
      if (c.parent != 0 && trace.calls[c.parent - 1].parent == id) {
        puts += c.method == Method::put ? 1 : 0;
        gets += c.method == Method::get ? 1 : 0;
      }
      if (c.parent == id) CHECK((c.begin >= barrier->begin && c.end <= barrier->end));
    }
    REQUIRE(children.size() >= 3);
    CHECK(children[0] == Method::gf);
    CHECK(children[1] == Method::sv_write);
    CHECK(children[2] == Method::bcast);
    CHECK(std::all_of(children.begin() + 3, children.end(), [](Method m) { return m == Method::sv_read; }));
    CHECK(puts == 2);  // to the two other nodes
    CHECK(gets == 2);
    const auto& object = trace.objects[barrier->object];
    CHECK(object.name == "bar");
    CHECK(object.transitive);
    CHECK(object.participants.size() == 3);
    CHECK(trace.node_sets[barrier->node_set] == std::vector<std::uint32_t>{0, 1, 2});
  }
}

TEST_CASE("a barrier is transitive when it promises a fence of all nodes, whoever takes part") {
  using Fence = loco::barrier_options::Fence;
  const auto transitive = [](Fence fence) {
    const Trace trace = record(3, [fence](Transport& node) {
      loco::manager mgr(node);
      mgr.wait_for_ready();
      if (node.my_node() == 2) return;
      loco::barrier bar(mgr, "bar", {.fence = fence, .participants = {0, 1}});
      bar.wait_for_ready();
      bar.waiting();
    });
    return trace.objects.at(calls_of(trace, Method::barrier).at(0)->object).transitive;
  };
  CHECK(transitive(Fence::all_nodes));
  CHECK_FALSE(transitive(Fence::participants));
  CHECK(transitive(Fence::none));  // and does not keep it (App. D)
}

TEST_CASE("the witness agrees with the values and with the order of writes") {
  for (const auto schedule : {loco::Schedule::timed, loco::Schedule::random, loco::Schedule::adversarial}) {
    const Trace trace = record(4, one_barrier, schedule, 11);
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::set<loco::trace::SubeventId>> overwritten;
    for (const auto& s : trace.subevents) {
      const bool reads = s.stamp == Stamp::aCR || s.stamp == Stamp::aNLR || s.stamp == Stamp::aNRR;
      if (reads) {
        const std::uint64_t written = s.source == 0 ? 0 : trace.subevents[s.source - 1].value;
        CHECK(s.value == written);
      }
      const bool writes = s.stamp == Stamp::aCW || s.stamp == Stamp::aNLW || s.stamp == Stamp::aNRW;
      if (!writes) continue;
      CHECK(s.finish != loco::trace::kNever);  // the machine came to rest
      CHECK(s.start < s.finish);
      // No write is overwritten twice, and none before it was written.
      CHECK(overwritten[{s.node, s.address}].insert(s.overwrote).second);
      if (s.overwrote != 0) CHECK(trace.subevents[s.overwrote - 1].finish < s.finish);
    }
  }
}

TEST_CASE("threads have their node and name, waits the key's work id") {
  const Trace trace = record(2, [](Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (node.my_node() == 1) return;
    loco::ack_key key(mgr);
    v.push(1, key);
    key.wait();
  });
  CHECK(trace.nodes == 2);
  REQUIRE(trace.threads.size() == 4);
  CHECK(trace.threads[0].name == "main");
  CHECK(trace.threads[1].node == 1);
  CHECK(std::count_if(trace.threads.begin(), trace.threads.end(), [](const auto& t) { return t.name == "poller"; }) ==
        2);
  const auto puts = calls_of(trace, Method::put);
  const auto waits = calls_of(trace, Method::wait);
  const auto outer = calls_of(trace, Method::sv_wait);
  REQUIRE(puts.size() == 1);
  REQUIRE(waits.size() == 1);
  REQUIRE(outer.size() == 1);
  CHECK(puts[0]->work_id != 0);
  CHECK(waits[0]->work_id == puts[0]->work_id);
  CHECK(outer[0]->work_id == puts[0]->work_id);
  CHECK(calls_of(trace, Method::bcast).at(0)->work_id == puts[0]->work_id);
}

TEST_CASE("ring buffers, mixed-size variables and locks are bracketed as the checkers want them") {
  // docs/trace-format.md, "What a call's fields mean".
  const std::uint64_t word = 77;
  const auto text = std::as_bytes(std::span(&word, 1));
  const Trace trace = record(2, [&](Transport& node) {
    loco::manager mgr(node);
    loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 16});
    loco::hashed_var<std::uint64_t> value(mgr, "value");
    loco::mutex_array locks(mgr, "locks", 4);
    mgr.wait_for_ready();
    if (node.my_node() == 1) {
      (void)ring.receive();
      return;
    }
    ring.send(text);  // the ring is full: the next one waits for the reader
    while (!ring.received_by_all()) node.pause();
    (void)value.try_load();
    value.store(5);
    (void)value.try_load();
    loco::ack_key key(mgr);
    value.push(1, key);
    value.pull(1, key);
    key.wait();
    locks.lock(3);
    locks.unlock(3);
  });
  const auto only = [&](Method method) {
    const auto calls = calls_of(trace, method);
    REQUIRE(calls.size() == 1);
    return *calls[0];
  };
  const auto submits = calls_of(trace, Method::submit);
  REQUIRE(!submits.empty());
  CHECK(submits[0]->argument == loco::checksum(text));
  CHECK(submits[0]->result == 1);
  for (std::size_t i = 1; i < submits.size(); ++i) CHECK(submits[i]->result == 0);  // looks at the tails
  const auto receives = calls_of(trace, Method::receive);
  REQUIRE(!receives.empty());
  for (const Call* receive : receives)
    CHECK(receive->result == (receive == receives.back() ? loco::checksum(text) : 0));

  const std::uint64_t five = 5;
  const std::uint64_t hash = loco::checksum(std::span(&five, 1));
  CHECK(only(Method::msw_write).argument == hash);
  const auto reads = calls_of(trace, Method::msw_tryread);
  REQUIRE(reads.size() == 2);
  CHECK(reads[0]->result == 0);
  CHECK(reads[1]->result == hash);
  const std::uint64_t d = only(Method::msw_put).work_id;
  CHECK(d != 0);
  CHECK(only(Method::msw_get).work_id == d);
  CHECK(only(Method::msw_wait).work_id == d);

  CHECK(only(Method::acquire).argument == 3);
  CHECK(only(Method::release).argument == 3);
  CHECK(trace.objects[only(Method::acquire).object].name == "locks");
}

TEST_CASE("calls that overlap are in lanes: threads of their own, beside the thread that makes the operations") {
  const Trace trace = record(2, overlapping_calls);
  const auto lookups = calls_of(trace, Method::kv_lookup);
  REQUIRE(lookups.size() == 4);
  for (const Call* lookup : lookups) {
    const auto& lane = trace.threads[lookup->thread];
    CHECK(lane.name == "main, lane " + std::to_string(lookup->argument));
    CHECK(lookup->parent == 0);
    CHECK(lookup->returned);
  }
  for (const Call* fence : calls_of(trace, Method::mfence)) {
    CHECK(trace.threads[fence->thread].name == "main");
    CHECK(fence->parent == 0);
  }
  CHECK(loco::model::check(trace, std::array{Library::rdmawait, Library::kvstore}).consistent());
}

TEST_CASE("a call that ends without having begun is a defect, not memory that is not ours") {
  loco::hosts::Recorder recorder(1);
  recorder.add_thread(0, "main");
  CHECK_THROWS_AS(recorder.end(0, 3, 0, 1), loco::sim::BrokenInvariant);
  CHECK_THROWS_AS(recorder.abandon(0, 0), loco::sim::BrokenInvariant);
}

TEST_CASE("a subevent is recorded as it was told, and one that has not finished as such") {
  loco::hosts::Recorder recorder(2);
  recorder.add_thread(0, "main");
  const loco::trace::CallId call = recorder.begin_operation(0, Method::cas, 0, 0, 1);
  loco::nic::Subevent told{.id = 1,
                           .stamp = loco::nic::Stamp::aCAS,
                           .op = call,
                           .peer = 1,
                           .home = 1,
                           .address = 64,
                           .value = 5,
                           .value_read = 4,
                           .seq = 2,
                           .at = {20}};
  recorder.on_subevent(told);
  const loco::trace::Subevent& cas = recorder.trace().subevents[0];
  CHECK(cas.call == call);
  CHECK(cas.stamp == Stamp::aCAS);
  CHECK(cas.peer == 1);
  CHECK(cas.node == 1);
  CHECK(cas.address == 64);
  CHECK(cas.value == 5);
  CHECK(cas.value_read == 4);
  CHECK(cas.start == 2);
  CHECK(cas.finish == 2);

  told = {.id = 2, .stamp = loco::nic::Stamp::aNRW, .finished = false, .op = call, .value = 6, .seq = 3, .at = {30}};
  recorder.on_subevent(told);
  const loco::trace::Subevent& write = recorder.trace().subevents[1];
  CHECK(write.value == 6);
  CHECK(write.finish == loco::trace::kNever);
  // It wrote a part of the word: the rest is what was there by then.
  recorder.on_subevent_finish({.id = 2, .overwrote = 1, .value = 7, .seq = 8, .at = {80}});
  CHECK(write.value == 7);
  CHECK(write.overwrote == 1);
  CHECK(write.start == 3);
  CHECK(write.finish == 8);
  CHECK(write.start_ps == 30);
  CHECK(write.finish_ps == 80);
}

TEST_CASE("a name that is used again is another object") {
  const Trace trace = record(3, names_again);
  std::set<std::string> names;
  for (const auto& object : trace.objects) names.insert(object.name);
  for (const char* name : {"ring", "ring#2", "ring#2/heads/ov0", "store", "store#2", "bar", "bar#2", "done"})
    CHECK(names.count(name) == 1);
  CHECK(names.count("done#2") == 0);
  constexpr std::array kAll = {Library::rdmawait, Library::sv,   Library::bal,    Library::rbl,
                               Library::msw,      Library::lock, Library::kvstore};
  const auto verdict = loco::model::check(trace, kAll);
  INFO(verdict.to_text());
  CHECK(verdict.consistent());
}

namespace {

/// A recorder of one thread on node 0 with an operation towards node 1 that has been posted: its call is 1.
void post(loco::hosts::Recorder& recorder, const loco::hosts::PostedOperation& operation) {
  recorder.add_thread(0, "main");
  const loco::trace::CallId call = recorder.begin_operation(0, operation.method, 0, 0, 1);
  recorder.posted(call, operation);
  recorder.finish(call, 0, 2);
}

/// "stamp node address" of what is listed as not begun.
std::vector<std::string> unbegun(const Trace& trace) {
  std::vector<std::string> all;
  for (const auto& s : trace.subevents)
    if (loco::trace::is_unbegun(s))
      all.push_back(std::string(name(s.stamp)) + " " + std::to_string(s.node) + " " + std::to_string(s.address));
  return all;
}

}  // namespace

TEST_CASE("memory that serves again is other memory, which begins with its initial values") {
  using loco::nic::Stamp;
  loco::hosts::Recorder recorder(2);
  post(recorder, {.method = Method::put, .peer = 1, .local = 64, .remote = 128});
  const auto access = [&](loco::nic::SubeventId id, Stamp stamp, std::uint64_t address, loco::nic::SubeventId source,
                          loco::nic::SubeventId overwrote) {
    recorder.on_subevent({.id = id,
                          .stamp = stamp,
                          .op = 1,
                          .peer = 1,
                          .home = 1,
                          .address = address,
                          .source = source,
                          .overwrote = overwrote,
                          .seq = id});
    return recorder.trace().subevents.back();
  };
  access(1, Stamp::aNRW, 128, 0, 0);
  access(2, Stamp::aNRW, 192, 0, 0);
  CHECK(access(3, Stamp::aCR, 128, 1, 0).source == 1);
  recorder.renewed(1, 120, 64);
  CHECK(access(4, Stamp::aCR, 128, 1, 0).source == 0);
  const auto first = access(5, Stamp::aCW, 128, 0, 1);
  CHECK((first.overwrote == 0 && first.address != 128));
  const auto second = access(6, Stamp::aCW, 128, 0, 5);
  CHECK((second.overwrote == 5 && second.address == first.address));
  CHECK(access(7, Stamp::aCR, 192, 2, 0).source == 2);  // beside it
  recorder.renewed(1, 128, 8);
  CHECK(access(8, Stamp::aCR, 128, 6, 0).source == 0);
  const auto beside = access(9, Stamp::aCR, 136, 0, 0);
  CHECK((beside.address & 0xffffffU) == 136);
  CHECK(beside.address >> 48U == first.address >> 48U);  // the rest of the former range is as it was
  CHECK(access(10, Stamp::aCR, 112, 0, 0).address == 112);
}

// The stamps of Appendix G.2, and of remote atomics: a word each.
TEST_CASE("what was posted and has not begun is in the trace when the run has ended") {
  using loco::nic::Stamp;
  loco::hosts::Recorder recorder(2);
  SECTION("a put of two words, of which one has been read") {
    post(recorder, {.method = Method::put, .peer = 1, .local = 64, .remote = 128, .bytes = 16});
    recorder.on_subevent({.id = 1, .stamp = Stamp::aNLR, .op = 1, .peer = 1, .home = 0, .address = 64, .seq = 3});
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) == std::vector<std::string>{"aNLR 0 72", "aNRW 1 128", "aNRW 1 136"});
    CHECK(recorder.trace().subevents.back().peer == 1);
    CHECK(recorder.trace().subevents.back().finish == loco::trace::kNever);
  }
  SECTION("a get that nothing is known of, and its failure is") {
    post(recorder, {.method = Method::get, .peer = 1, .local = 64, .remote = 128});
    recorder.failed(0, {.peer = 1}, 7);
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) == std::vector<std::string>{"aNRR 1 128", "aNLW 0 64"});
    CHECK(recorder.trace().subevents.back().finish == 7);
  }
  SECTION("a compare-and-swap that may compare in vain") {
    post(recorder, {.method = Method::remote_cas, .peer = 1, .local = 64, .remote = 128, .compare = 5});
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) == std::vector<std::string>{"aNAR 1 128", "aNLW 0 64"});
  }
  SECTION("one that has found what it compares with") {
    post(recorder, {.method = Method::remote_cas, .peer = 1, .local = 64, .remote = 128, .compare = 5});
    recorder.on_subevent(
        {.id = 1, .stamp = Stamp::aNAR, .op = 1, .peer = 1, .home = 1, .address = 128, .value = 5, .seq = 3});
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) == std::vector<std::string>{"aNRW 1 128", "aNLW 0 64"});
  }
  SECTION("a fence") {
    post(recorder, {.method = Method::rfence, .peer = 1});
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) == std::vector<std::string>{"aRF 0 0"});
  }
  SECTION("a long message: the words that something accesses, and the first for all others") {
    post(recorder, {.method = Method::get, .peer = 1, .local = 32, .remote = 4096 + 80});
    recorder.on_subevent(
        {.id = 1, .stamp = Stamp::aNRR, .op = 1, .peer = 1, .home = 1, .address = 4096 + 80, .seq = 3});
    post(recorder, {.method = Method::put, .peer = 1, .local = 64, .remote = 4096, .bytes = 1U << 20U});
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) ==
          std::vector<std::string>{"aNLW 0 32", "aNLR 0 64", "aNLR 0 144", "aNRW 1 4096", "aNRW 1 4176"});
  }
  SECTION("a limit") {
    for (int i = 0; i < 5000; ++i) post(recorder, {.method = Method::put, .peer = 1, .local = 64, .remote = 128});
    CHECK_FALSE(recorder.end_run([] { return false; }));
    CHECK(unbegun(recorder.trace()).size() < 5000);
  }
  SECTION("bytes that are parts of words") {
    post(recorder, {.method = Method::put, .peer = 1, .local = 64, .remote = 132, .bytes = 8});
    recorder.end_run();
    CHECK(unbegun(recorder.trace()) == std::vector<std::string>{"aNLR 0 64", "aNRW 1 128"});
  }
}
