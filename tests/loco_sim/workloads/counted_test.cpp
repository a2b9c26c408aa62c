// What workloads measure and count, held against what happened: the stages of the hardware, or the trace of the run.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/baselines/message_port.hpp"
#include "loco_sim/baselines/rpc_store.hpp"
#include "loco_sim/baselines/window_locks.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using loco::ClusterConfig;
using loco::Schedule;
using loco::SimulatedCluster;
using loco::Transport;
using loco::trace::Call;
using loco::trace::CallId;
using loco::trace::Method;
using loco::trace::Stamp;
using loco::trace::Trace;
namespace workloads = loco::workloads;

namespace {

using Settings = std::vector<std::pair<std::string, std::int64_t>>;

struct Run {
  workloads::Results results;
  Trace trace;
};

Run run(const std::string& kind, const Settings& settings, ClusterConfig config) {
  const workloads::Workload& workload = *workloads::find(kind);
  workloads::Params params(workload.params);
  for (const auto& [key, value] : settings) params.set(key, value);
  config.record = true;
  SimulatedCluster cluster(config);
  workloads::Results results = workloads::run(workload, params, cluster);
  return {std::move(results), cluster.take_trace()};
}

/// The words that a call's subevents of one kind read or wrote, in the order in which they began.
std::map<CallId, std::vector<std::uint64_t>> words_of(const Trace& trace, Stamp stamp) {
  std::map<CallId, std::vector<std::uint64_t>> words;
  for (const auto& s : trace.subevents)
    if (s.stamp == stamp) words[s.call].push_back(s.value);
  return words;
}

/// What lookups brought, one after the other: the three READs of each attempt are the next three gets of the client.
struct Lookups {
  std::uint64_t taken = 0;
  std::uint64_t retries = 0;
  std::uint64_t torn = 0;       ///< a word of the value is of another version
  std::uint64_t torn_amid = 0;  ///< neither its first nor its last word is
};

Lookups lookups_in(const Trace& trace) {
  const auto brought = words_of(trace, Stamp::aNLW);
  std::vector<std::vector<std::uint64_t>> gets;
  for (std::size_t i = 0; i < trace.calls.size(); ++i)
    if (trace.calls[i].method == Method::get) gets.push_back(brought.at(static_cast<CallId>(i + 1)));
  REQUIRE(gets.size() % 3 == 0);
  Lookups sum;
  for (std::size_t i = 0; i < gets.size(); i += 3) {
    const std::uint64_t version = gets[i].front();
    const std::vector<std::uint64_t>& value = gets[i + 1];
    if (version % 2 != 0 || gets[i + 2].front() != version) {
      ++sum.retries;
      continue;
    }
    ++sum.taken;
    if (std::ranges::count(value, version) == std::ssize(value)) continue;
    ++sum.torn;
    if (value.front() == version && value.back() == version) ++sum.torn_amid;
  }
  return sum;
}

/// The sums that the nodes have of their accounts, added up.
std::int64_t money_in(const Trace& trace) {
  const auto written = words_of(trace, Stamp::aCW);
  std::uint64_t total = 0;
  for (const auto& [call, words] : written) {
    const CallId outer = trace.calls[call - 1].parent;
    if (outer == 0 || !trace.objects[trace.calls[outer - 1].object].name.starts_with("sums/")) continue;
    total += words.front();
  }
  return static_cast<std::int64_t>(total);
}

}  // namespace

TEST_CASE("no broadcast is confirmed before a packet has been to every receiver and one has come back") {
  const loco::test::Stages stages{loco::test::round_profile()};
  const std::int64_t there_and_back = 2 * stages.packet({}, {}).ps;
  struct Case {
    std::string kind;
    Settings settings;
    std::string operation;
  };
  // Two under way, each with a variable, or a head, of its own: nothing is waited for but what the receivers say.
  const Settings some = {{"iterations", 20}, {"outstanding", 2}, {"heads", 2}};
  std::vector<Case> cases = {{"quickstart", {{"iterations", 5}}, "broadcast"}};
  for (const std::int64_t over : {0, 1, 2}) {
    cases.push_back({"broadcast", some, "broadcast_seen_by_all"});
    cases.back().settings.emplace_back("over", over);
  }
  for (const Case& c : cases)
    for (const std::uint32_t nodes : {2U, 3U}) {
      INFO(c.kind << ", " << nodes << " nodes");
      ClusterConfig config;
      config.profile = stages.p;
      config.nodes = nodes;
      const Run r = run(c.kind, c.settings, config);
      REQUIRE(r.results.find(c.operation) != nullptr);
      CHECK(std::ranges::min(r.results.find(c.operation)->samples_ps) > there_and_back);
    }
}

TEST_CASE("lookups count as torn, and start over, as what their READs brought says") {
  // Of one object, which is being rewritten all the time; on model-weak READs have no order. An owner that comes from
  // behind, and overtakes the READ of a value, leaves its first and its last word alike and others not.
  enum Reads : std::int64_t { kPipelined, kWaited };
  ClusterConfig config;
  config.nodes = 2;
  config.schedule = Schedule::random;
  const auto lookups = [&](Reads reads, std::int64_t outstanding) {
    const Run r = run("lookup",
                      {{"iterations", 100},
                       {"size", 128},
                       {"objects", 1},
                       {"update_pause_ns", 0},
                       {"outstanding", outstanding},
                       {"reads", reads}},
                      config);
    const Lookups it = lookups_in(r.trace);
    INFO("seed " << config.seed);
    CHECK(it.taken == 100);
    CHECK(r.results.counters.value("retries") == it.retries);
    CHECK(r.results.counters.value("torn") == it.torn);
    return it;
  };
  Lookups all;
  for (config.seed = 1; config.seed <= 10; ++config.seed) {
    CHECK(lookups(kWaited, 1).torn == 0);
    const Lookups it = lookups(kPipelined, 4);
    all.torn += it.torn;
    all.torn_amid += it.torn_amid;
  }
  CHECK(all.torn_amid > 0);
  CHECK(all.torn > all.torn_amid);
}

TEST_CASE("money is missing as much as the accounts say, whether there is too much of it or too little", "[search]") {
  ClusterConfig config;
  config.nodes = 4;
  config.schedule = Schedule::adversarial;
  bool more = false;
  bool less = false;
  for (config.seed = 1; config.seed <= 600 && !(more && less); ++config.seed) {
    const Run r = run("transactions", {{"iterations", 4}, {"accounts", 4}, {"locks", 3}, {"fence", 0}}, config);
    const std::int64_t money = money_in(r.trace);
    INFO("seed " << config.seed);
    CHECK(r.results.counters.value("money_missing") == static_cast<std::uint64_t>(std::abs(money)));
    more = more || money > 0;
    less = less || money < 0;
  }
  CHECK(more);
  CHECK(less);
}

TEST_CASE("a window's lock is let go when all that was put under it is complete") {
  // MPI_Win_unlock (MPI 4.0, 12.5.3): the operations are complete at the origin and at the target when it returns.
  // LOCO's locks leave that to the fence of their release.
  enum Algorithm : std::int64_t { kLoco, kMpiWindow };
  const auto unwaited = [](const std::string& kind, Algorithm algorithm) {
    ClusterConfig config;
    config.nodes = 3;
    const Run r = run(kind, {{"iterations", 5}, {"algorithm", algorithm}}, config);
    std::map<std::uint32_t, bool> put;  // by thread: since its latest wait
    std::uint64_t count = 0;
    std::uint64_t releases = 0;
    for (const Call& c : r.trace.calls) {
      if (c.method == Method::put) put[c.thread] = true;
      if (c.method == Method::wait) put[c.thread] = false;
      if (c.method != Method::release) continue;
      ++releases;
      count += put[c.thread] ? 1U : 0U;
    }
    REQUIRE(releases >= 15);
    return count;
  };
  for (const char* kind : {"lock", "transactions"}) {
    INFO(kind);
    CHECK(unwaited(kind, kMpiWindow) == 0);
    CHECK(unwaited(kind, kLoco) > 0);
  }
}

TEST_CASE("a window's lock that a stopped node holds is an error for those who wait") {
  ClusterConfig config;
  config.profile = loco::test::round_profile();
  config.profile.nic_ack_timeout = loco::sim::Duration{20'000'000};
  config.profile.nic_retry_count = 3;
  config.nodes = 2;
  constexpr std::int64_t kStop = 200'000'000;
  config.stops = {{1, {kStop}}};
  config.events_max = 1'000'000;
  SimulatedCluster cluster(config);
  cluster.spawn_everywhere([](Transport& node) {
    loco::manager mgr(node);
    loco::baselines::window_locks locks(mgr, "locks", 1);  // on node 0
    mgr.wait_for_ready();
    if (node.my_node() == 1) {
      locks.lock(0);
      return node.compute(100 * kStop);
    }
    node.compute(2 * kStop);
    CHECK_THROWS_WITH(locks.lock(0), loco::test::contains_text("does not come free; node 1, which does not answer"));
  });
  cluster.run();
}

TEST_CASE("an answer that names no request ends the oldest one to its server") {
  ClusterConfig config;
  config.nodes = 2;
  SimulatedCluster cluster(config);
  const loco::baselines::RpcLayout layout{.nodes = 2};
  loco::baselines::MessageNetwork network(cluster.context(),
                                          {.ports_per_node = 2, .words_max = loco::baselines::kRpcWords});
  std::uint64_t key = 1;  // of the server on node 1
  while (layout.server_of(key) != layout.server(1, 0)) ++key;
  using Kind = loco::kv_operation::Kind;
  std::vector<std::pair<std::size_t, std::uint64_t>> ended;
  std::uint64_t wrong = 0;
  cluster.spawn(0, "client", [&](Transport& node) {
    loco::baselines::rpc_window window(node, network, layout, 0, 3);
    for (const std::size_t i : {1U, 0U, 2U}) window.start(i, Kind::lookup, key, 0);
    while (ended.size() < 3) {
      const std::size_t before = ended.size();
      window.poll([&](std::size_t i, Kind, std::uint64_t result) { ended.emplace_back(i, result); });
      if (ended.size() == before) node.pause();
    }
    wrong = window.wrong_answers();
  });
  cluster.spawn(1, "server", [&](Transport& node) {
    loco::baselines::MessagePort& port = network.port(layout.server(1, 0));
    port.open();
    // No such request; request 2; and again request 2, which has ended.
    std::vector<std::array<std::uint64_t, 2>> answers = {{2, 30}, {2, 20}, {9, 10}};
    while (!answers.empty()) {
      const bool served = port.poll([&](loco::baselines::PortId from, std::span<const std::uint64_t>) {
        port.send(from, answers.back());
        answers.pop_back();
      });
      if (!served) node.pause();
    }
  });
  cluster.run();
  CHECK(ended == std::vector<std::pair<std::size_t, std::uint64_t>>{{1, 10}, {2, 20}, {0, 30}});
  CHECK(wrong == 2);
}
