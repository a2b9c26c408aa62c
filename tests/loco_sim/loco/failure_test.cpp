// A node stops: what the others notice, and that what they share without it stays whole.
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/run/run.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test

namespace trace = loco::trace;

TEST_CASE("an operation towards a node that stopped fails within the retries, and says what it was and where to") {
  std::optional<std::string> what;
  std::int64_t took = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> value(mgr, "value");
    loco::var<std::uint64_t> other(mgr, "other");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    if (node.my_node() == 1) return;
    wait_until(node, kStop + 1);
    const std::int64_t start = node.now_ps();
    loco::ack_key key(mgr);
    const loco::operation_error error = error_of([&] {
      value.push(kDead, key);
      key.wait();
    });
    took = node.now_ps() - start;
    what = error.what();
    require(error.peer() == kDead && error.status() == loco::Status::retry_exc_err, "the error names peer and status");
    require(mgr.failed(kDead) && !mgr.failed(1), "and the node is known as failed, no other one");
    // The key may follow other operations then, and node 1 is as it was.
    key.forget();
    other.store(7);
    other.push(1, key);
    key.wait();
    other.pull(1, key);
    key.wait();
    require(other.load() == 7, "a survivor's variable is written and read");
  });
  CHECK(what == "node 0: put to node 2 failed: transport retry counter exceeded");
  CHECK(took >= kNoticed);
  CHECK(took <= kNoticed + kRoundTrip);
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv});
}

namespace {

using Word = loco::var<std::uint64_t>;

/// What node 0 does with a variable of all nodes once a node has stopped, half-way between two times that it is asked.
void after_the_stop(const std::function<void(loco::Transport&, loco::manager&, Word&)>& body) {
  constexpr std::int64_t kBetween = kStop - 50'000'000;
  run(
      [&body](loco::Transport& node) {
        loco::manager mgr(node);
        Word value(mgr, "value");
        mgr.wait_for_ready();
        if (node.my_node() == kDead) return live(node);
        if (node.my_node() == 1) return;
        wait_until(node, kBetween + 1);
        body(node, mgr, value);
      },
      3, {{kDead, {kBetween}}});
}

}  // namespace

TEST_CASE("an operation that was flushed for another's sake says what had failed before it") {
  std::optional<std::string> what;
  after_the_stop([&](loco::Transport& /*node*/, loco::manager& mgr, Word& value) {
    loco::ack_key first(mgr);
    loco::ack_key second(mgr);
    value.push(kDead, first);
    value.pull(kDead, second);
    what = error_of([&] { second.wait(); }).what();
    first.forget();
  });
  CHECK(what ==
        "node 0: get to node 2 failed: Work Request Flushed Error, since a put failed before: transport retry counter "
        "exceeded");
}

TEST_CASE("an operation that nobody waits for is told of once") {
  std::optional<std::string> what;
  after_the_stop([&](loco::Transport& node, loco::manager& mgr, Word& value) {
    value.push(kDead);
    node.compute(kNoticed + kRoundTrip);
    what = error_of([&] { mgr.check(); }).what();
    mgr.check();
  });
  CHECK(what ==
        "node 0: an operation that nobody waited for, a put to node 2 failed: transport retry counter exceeded");
}

TEST_CASE("a barrier that a stopped node does not reach is an error, not a deadlock") {
  std::array<std::string, 2> what;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::barrier everybody(mgr, "everybody");
    loco::var<std::uint64_t> value(mgr, "value");
    std::optional<loco::barrier> rest;
    if (node.my_node() != kDead) rest.emplace(mgr, "rest", survivors());
    mgr.wait_for_ready();
    everybody.waiting();
    if (node.my_node() == kDead) return live(node);  // has answered all fences, and is silent from then on
    what.at(node.my_node()) = error_of([&] { everybody.waiting(); }).what();
    // What the survivors share works as before.
    for (std::uint64_t i = 1; i <= 5; ++i) {
      if (node.my_node() == 0) {
        value.store(i);
        value.push(1);
      }
      rest->waiting();
      require(value.load() == i, "a value is there behind the barrier");
      rest->waiting();
    }
  });
  CHECK(what[0] == "node 0: 'everybody' waits for node 2, which does not answer");
  CHECK(what[1] == "node 1: 'everybody' waits for node 2, which does not answer");
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::bal});
}

TEST_CASE("the survivors' barrier tells of a failure that nobody waited for once, and may be waited on again") {
  std::optional<std::string> what;
  run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> value(mgr, "value");
    std::optional<loco::barrier> rest;
    if (node.my_node() != kDead) rest.emplace(mgr, "rest", survivors());
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    wait_until(node, kAfter);
    if (node.my_node() == 0) {
      loco::ack_key key(mgr);
      value.push(kDead);
      value.push(kDead, key);
      static_cast<void>(error_of([&] { key.wait(); }));  // the put before it has failed, too
      what = error_of([&] { rest->waiting(); }).what();
      value.store(1);
      value.push(1);
    }
    rest->waiting();
    require(value.load() == 1, "nobody leaves before node 0 has waited again");
  });
  CHECK_THAT(what.value_or(""), contains_text("an operation that nobody waited for, a put to node 2 failed"));
}

TEST_CASE("whoever has waited for one object only is told of a node that stopped, too") {
  std::array<std::string, 2> what;
  run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::barrier bar(mgr, "bar", {.fence = loco::barrier_options::Fence::none});
    bar.wait_for_ready();  // not for all that the manager has
    if (node.my_node() == kDead) return live(node);
    what.at(node.my_node()) = error_of([&] { bar.waiting(); }).what();
  });
  CHECK(what[0] == "node 0: 'bar' waits for node 2, which does not answer");
  CHECK(what[1] == "node 1: 'bar' waits for node 2, which does not answer");
}

TEST_CASE("the fence of a barrier towards a stopped node is an error") {
  std::optional<std::string> what;
  run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);
    if (node.my_node() == 1) return;
    wait_until(node, kStop + 1);
    what = error_of([&] { bar.waiting(); }).what();
  });
  CHECK(what == "node 0: get to node 2 failed: transport retry counter exceeded");
}

TEST_CASE("a program that waits for a stopped node without asking is a deadlock, which says what had failed") {
  // Nodes ask each other only as long as another one may stop: else the run would go on to the limit of its events.
  for (const std::int64_t stop : {std::int64_t{2'000'000}, kStop, 3 * kStop + kStop / 3}) {
    std::array<bool, 2> noticed{};
    const auto program = [&](loco::Transport& node) {
      loco::manager mgr(node);
      loco::var<std::uint64_t> value(mgr, "value");
      mgr.wait_for_ready();
      if (node.my_node() == kDead) return live(node);
      while (value.load() == 0 && !noticed.at(node.my_node())) {
        node.pause();
        noticed.at(node.my_node()) = mgr.failed(kDead);
      }
      while (value.load() == 0) node.pause();
    };
    INFO("stops at " << stop << " ps");
    CHECK_THROWS_WITH(run(program, 3, {{kDead, {stop}}}),
                      contains_text("deadlock") &&
                          contains_text("node 0, thread main: outside of library calls; waits "
                                        "for a change of word") &&
                          contains_text("node 1: get to node 2 failed: transport retry counter exceeded"));
    CHECK(noticed == std::array{true, true});
  }
}

TEST_CASE("a ring buffer whose writer or reader stops is an error on the other side") {
  std::optional<std::string> receiving;
  std::optional<std::string> sending;
  std::uint64_t received = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::ring_buffer from_dead(mgr, "from_dead", kDead);
    loco::ring_buffer to_all(mgr, "to_all", 0, {.bytes = 64});
    std::optional<loco::ring_buffer> to_one;
    if (node.my_node() != kDead) to_one.emplace(mgr, "to_one", 0, loco::ring_options{.bytes = 64, .readers = {1}});
    mgr.wait_for_ready();
    const std::array<std::uint64_t, 2> text = {1, 2};
    if (node.my_node() == kDead) {
      from_dead.send(std::as_bytes(std::span(text)));
      return live(node);
    }
    static_cast<void>(from_dead.receive());
    if (node.my_node() == 1) {
      // All that node 0 has sent to it alone, in order, whatever becomes of the others.
      for (std::uint64_t i = 0; i < 20; ++i) {
        std::uint64_t word = 0;
        to_one->receive([&](std::span<const std::byte> bytes) { std::memcpy(&word, bytes.data(), sizeof word); });
        require(word == i, "messages come in order");
        ++received;
      }
      return;
    }
    receiving = error_of([&] { static_cast<void>(from_dead.receive()); }).what();
    sending = error_of([&] {
                for (int i = 0; i < 100; ++i) to_all.send(std::as_bytes(std::span(text)));
              }).what();
    for (std::uint64_t i = 0; i < 20; ++i) to_one->send(std::as_bytes(std::span(&i, 1)));
  });
  CHECK(receiving == "node 0: 'from_dead' waits for node 2, which does not answer");
  REQUIRE(sending.has_value());
  CHECK_THAT(*sending, contains_text("node 2"));
  CHECK(received == 20);
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::rbl});
}

TEST_CASE("a ring buffer whose send has failed says so again, and what was sent before is received in order") {
  for (const std::uint32_t heads : {1U, 2U, 3U, 5U}) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    run([&](loco::Transport& node) {
      loco::manager mgr(node);
      loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 8192, .heads = heads});
      mgr.wait_for_ready();
      if (node.my_node() == kDead) return live(node);
      if (node.my_node() == 1) {
        wait_until(node, 2 * kAfter);
        const auto look = [&](std::span<const std::byte> bytes) {
          std::uint64_t word = 0;
          std::memcpy(&word, bytes.data(), sizeof word);
          require(word == received, "messages come in order");
        };
        while (ring.receive_if_there(look)) ++received;
        return;
      }
      const auto send = [&] {
        ring.send(std::as_bytes(std::span(&sent, 1)));
        ++sent;
      };
      for (int i = 0; i < 7; ++i) send();
      wait_until(node, kStop + 1);
      static_cast<void>(error_of([&] {
        for (int i = 0; i < 20; ++i) {
          send();
          node.compute(kNoticed / 2);
        }
      }));
      for (std::uint32_t i = 0; i < 2 * heads; ++i) static_cast<void>(error_of(send));
      wait_until(node, 3 * kAfter);
    });
    INFO(heads << " head(s)");
    CHECK(sent >= 7);
    CHECK(received == sent);
  }
}

TEST_CASE("a ring buffer that leaves out readers that stop goes on, also when it is full for another one") {
  constexpr std::uint64_t kMessages = 20;
  std::uint64_t received = 0;
  const trace::Trace trace = run([&](loco::Transport& node) {
    loco::manager mgr(node);
    loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 64, .leave_out_failed = true});
    loco::owned_var<std::uint64_t> go(mgr, "go", 0);
    mgr.wait_for_ready();
    if (node.my_node() == kDead) return live(node);  // it never receives
    if (node.my_node() == 1) {
      while (go.load() == 0) node.pause();
      for (; received < kMessages; ++received) {
        std::uint64_t word = 0;
        ring.receive([&](std::span<const std::byte> bytes) { std::memcpy(&word, bytes.data(), sizeof word); });
        require(word == received, "messages come in order");
      }
      return;
    }
    std::uint64_t i = 0;
    const auto text = [&i] { return std::as_bytes(std::span(&i, 1)); };
    while (ring.try_send(text())) ++i;
    while (!mgr.failed(kDead)) node.pause();
    require(!ring.try_send(text()), "the ring is full of what node 1 has not received");
    go.store(1);
    go.push(1);
    for (; i < kMessages; ++i) ring.send(text());
    const loco::NodeId other = 1;
    while (!ring.received_by_all()) mgr.pause_for("ring", std::span(&other, 1));
    mgr.check();  // what node 2 was sent before it stopped has come
  });
  CHECK(received == kMessages);
  require_consistent(trace, {trace::Library::rdmawait, trace::Library::sv, trace::Library::rbl});
}

TEST_CASE("a scenario in which a host stops ends with what the others noticed") {
  const std::string text = R"(
hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}
topology: {kind: star, nodes: 4}
fabric: {failures: [{host: h3, stops: 100us}]}
workload: {kind: barrier, iterations: 10000}
check: []
)";
  CHECK_THROWS_WITH(loco::run(loco::scenario::parse_scenario(text, "stops.yaml")), contains_text("node 3"));
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), from.size(), to);
    static_cast<void>(loco::scenario::parse_scenario(wrong, "stops.yaml"));
  };
  CHECK_THROWS_WITH(refused("h3", "s0"), contains_text("expected a host"));
  CHECK_THROWS_WITH(refused("h3", "h4"), contains_text("one of 4 hosts"));
  CHECK_THROWS_WITH(refused("check: []", "schedule: random"), contains_text("so that hosts can stop"));
}

TEST_CASE("the NIC of a host that stops repeats nothing and completes nothing") {
  // 64 KiB take 21 us at 25 Gb/s: the first message of h1 is still on its way. None that arrives takes 200 us.
  const loco::RunResult r = loco::run(loco::scenario::parse_scenario(R"(
hardware: {base: cx5-roce-25g, nic: {ack_timeout: 200us, retry_count: 7}}
topology: {kind: star, nodes: 3}
fabric: {failures: [{host: h1, stops: 20us}]}
workload: {kind: traffic, pattern: incast, size: 64KiB, count: 4, outstanding: 1}
check: []
)",
                                                                     "stops.yaml"));
  CHECK(r.counters.completions == 4);  // h2's messages
  CHECK(r.counters.timeouts == 0);
  CHECK(r.counters.retransmissions == 0);
}

TEST_CASE("a workload that needs a host which stops ends with an error that names it") {
  for (const std::string workload : {"{kind: quickstart}",
                                     "{kind: barrier}",
                                     "{kind: lock}",
                                     "{kind: transactions}",
                                     "{kind: message_passing}",
                                     "{kind: broadcast, over: variables, outstanding: 4}",
                                     "{kind: broadcast, over: ring_buffer, outstanding: 4}",
                                     "{kind: kvstore, threads_per_node: 2}",
                                     "{kind: dcdc}",
                                     "{kind: kvstore, store: rpc}",
                                     "{kind: kvstore, store: tree, threads_per_node: 2}",
                                     "{kind: kvstore, store: tree, index_cache: false}",
                                     "{kind: kvstore, mix: churn}",
                                     "{kind: kvstore, store: tcp}",
                                     "{kind: broadcast, over: tree}",
                                     "{kind: transactions, locks: 1, algorithm: mpi_window, threads_per_node: 2}",
                                     "{kind: lock, algorithm: mpi_window}",
                                     "{kind: barrier, algorithm: dissemination}",
                                     "{kind: barrier, algorithm: recursive_doubling}",
                                     "{kind: barrier, algorithm: linear}",
                                     "{kind: barrier, algorithm: tree, inline: false}"}) {
    const std::string text =
        "hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}\n"
        "topology: {kind: star, nodes: 4}\n"
        "fabric: {failures: [{host: h1, stops: 60us}]}\n"
        "limits: {events: 3000000}\n"
        "check: []\nworkload: " +
        workload + "\n";
    INFO(workload);
    CHECK_THROWS_WITH(
        loco::run(loco::scenario::parse_scenario(text, "stops.yaml")),
        contains_text("node 1") && (contains_text("does not answer") || contains_text(" to node 1 failed")));
  }
}

TEST_CASE("a broadcast over messages whose root stops ends with an error that names it") {
  // It has come to rest: nobody sends it anything that could fail.
  for (const char* stops : {"60us", "100us", "218815ns"}) {
    const std::string text =
        "hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}\n"
        "topology: {kind: star, nodes: 5}\n"
        "fabric: {failures: [{host: h0, stops: " +
        std::string(stops) +
        "}]}\n"
        "limits: {events: 3000000}\n"
        "check: []\n"
        "workload: {kind: broadcast, over: tree, outstanding: 4}\n";
    INFO(stops);
    CHECK_THROWS_WITH(
        loco::run(loco::scenario::parse_scenario(text, "stops.yaml")),
        contains_text("node 0") && (contains_text("does not answer") || contains_text(" to node 0 failed")));
  }
}

TEST_CASE("a pattern whose actor stops ends with an error that names it") {
  // Node 1 waits for what node 0 puts, or at the barrier behind it, where node 2 would tell first: it stops, too. It is
  // the one that does not answer when the barrier's READ of node 0 came back just before.
  for (std::int64_t ns = 1000; ns <= 10'000; ns += 250) {
    const std::string stops = ", stops: " + std::to_string(ns) + "ns}";
    const std::string text =
        "hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}\n"
        "topology: {kind: star, nodes: 3}\n"
        "fabric: {failures: [{host: h0" +
        stops + ", {host: h2" + stops +
        "]}\n"
        "limits: {events: 3000000}\n"
        "check: []\n"
        "workload: {kind: pattern, pattern: put_put}\n";
    INFO(stops);
    CHECK_THROWS_WITH(loco::run(loco::scenario::parse_scenario(text, "stops.yaml")),
                      contains_text("node 1, thread main: ") &&
                          (contains_text("node 0") || contains_text("get to node 2 failed")) &&
                          !contains_text("deadlock"));
  }
}

TEST_CASE("lookups fail when the owner stops, and end when only a client does") {
  const auto run = [](const std::string& host) {
    return loco::run(
        loco::scenario::parse_scenario("hardware: {base: cx5-roce-25g, nic: {ack_timeout: 20us, retry_count: 2}}\n"
                                       "topology: {kind: star, nodes: 3}\n"
                                       "fabric: {failures: [{host: " +
                                           host +
                                           ", stops: 60us}]}\n"
                                           "limits: {events: 3000000}\n"
                                           "check: []\n"
                                           "workload: {kind: lookup, objects: 64, iterations: 1000}\n",
                                       "stops.yaml"));
  };
  CHECK_THROWS_WITH(run("h0"), contains_text("get to node 0 failed"));
  const std::uint64_t done = run("h1").operations_done;
  CHECK(done >= 1000);  // node 2's; node 1 had time for some
  CHECK(done < 2000);
}
