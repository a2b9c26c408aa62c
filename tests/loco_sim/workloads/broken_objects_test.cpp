// A check that passes whatever it looks at is worth nothing: objects that are broken on purpose run on the simulated
// machine, and the checks find each of them, by the rule that it breaks, and name it. Sound ones of the same kind pass.
//
// The objects keep their state beside the simulated machine; what the checks see are their calls, as LOCO brackets
// them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/attendance.hpp"
#include "loco_sim/workloads/kv_plan.hpp"
#include "loco_sim/workloads/payload.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "model/check.hpp"
#include "tests/catch.hpp"

using loco::call_scope;
using loco::SimulatedCluster;
using loco::Transport;
using loco::model::Rule;
using loco::trace::Library;
namespace workloads = loco::workloads;

namespace {

loco::model::LibraryResult checked(Library library, const SimulatedCluster::Program& program) {
  loco::ClusterConfig c;
  c.nodes = 2;
  c.schedule = loco::Schedule::random;
  c.record = true;
  SimulatedCluster cluster(c);
  cluster.spawn_everywhere(program);
  cluster.run();
  const auto results = loco::model::check(cluster.take_trace(), std::array{library}).results;
  const auto of_library = std::ranges::find(results, library, &loco::model::LibraryResult::library);
  REQUIRE(of_library != results.end());
  return *of_library;
}

void check_sound(const loco::model::LibraryResult& result) {
  for (const auto& violation : result.violations) UNSCOPED_INFO(violation.message);
  CHECK(result.consistent);
}

void check_found(const loco::model::LibraryResult& result, Rule rule, const std::string& place) {
  REQUIRE_FALSE(result.consistent);
  REQUIRE_FALSE(result.violations.empty());
  CHECK(result.violations[0].rule == rule);
  CHECK_THAT(result.violations[0].message, loco::test::contains_text(place));
}

/// Until something beside the machine has happened.
template <typename Condition>
void wait_until(Transport& node, const Condition& condition) {
  constexpr int kTurnsMax = 100'000;
  for (int turn = 0; !condition(); ++turn) {
    REQUIRE(turn < kTurnsMax);
    node.compute(1000);
  }
}

/// A call with a result, as LOCO brackets it. Its place in time is that of its accesses: some before it, some of its
/// own.
template <typename Meanwhile>
void call(Transport& node, loco::CallInfo what, std::uint64_t result, const Meanwhile& meanwhile) {
  node.memory_fence();
  call_scope scope(node, what);
  node.memory_fence();
  meanwhile();
  scope.set_result(result);
}
void call(Transport& node, const loco::CallInfo& what, std::uint64_t result) {
  call(node, what, result, [] {});
}

/// Node 0 submits messages 1, 2 and 3; then node 1 receives `received`, one after the other; 0: nothing was there.
loco::model::LibraryResult ring_that_delivers(const std::vector<std::uint64_t>& received) {
  bool sent = false;
  return checked(Library::rbl, [&](Transport& node) {
    if (node.my_node() == 0) {
      for (const std::uint64_t message : {1U, 2U, 3U})
        call(node, {.library = "rbl", .method = "submit", .object = "broken ring", .argument = message}, 1);
      sent = true;
      return;
    }
    wait_until(node, [&] { return sent; });
    for (const std::uint64_t message : received)
      call(node, {.library = "rbl", .method = "receive", .object = "broken ring"}, message);
  });
}

/// Both nodes take lock 3 in turn; one that is granted twice is taken by node 1 while node 0 has it.
loco::model::LibraryResult lock_that_is_granted(bool twice) {
  std::uint32_t taken = 0;
  std::uint32_t released = 0;
  return checked(Library::lock, [&](Transport& node) {
    wait_until(node, [&] { return (twice ? taken : released) == node.my_node(); });
    call(node, {.library = "lock", .method = "acquire", .object = "broken lock", .argument = 3}, 0);
    ++taken;
    wait_until(node, [&] { return !twice || taken == 2; });
    call(node, {.library = "lock", .method = "release", .object = "broken lock", .argument = 3}, 0);
    ++released;
  });
}

/// Node 0 has inserted 7 at key 5; while it updates that to 8, node 1 looks the key up twice.
loco::model::LibraryResult store_that_returns(std::uint64_t first, std::uint64_t second) {
  bool updating = false;
  bool looked_up = false;
  return checked(Library::kvstore, [&](Transport& node) {
    loco::CallInfo what{.library = "kvstore", .method = "lookup", .object = "broken store", .argument = 5};
    if (node.my_node() == 1) {
      wait_until(node, [&] { return updating; });
      call(node, what, first);
      call(node, what, second);
      looked_up = true;
      return;
    }
    what.method = "insert";
    what.work_id = 7;
    call(node, what, 1);
    what.method = "update";
    what.work_id = 8;
    call(node, what, 1, [&] {
      updating = true;
      wait_until(node, [&] { return looked_up; });
    });
  });
}

/// A key-value store in which operations end at once; `answer` makes of the right result what the client gets.
class InstantWindow {
 public:
  using Kind = loco::kv_operation::Kind;
  using Answer = std::function<std::uint64_t(Kind, std::uint64_t)>;

  InstantWindow(std::uint64_t entries, Answer answer) : answer_(std::move(answer)) {
    for (std::uint64_t i = 0; i < entries; ++i) table_[workloads::key_of(i)] = workloads::value_of(i, 0);
  }
  [[nodiscard]] std::size_t size() const { return 1; }
  [[nodiscard]] bool finished(std::size_t) const { return true; }
  void start(std::size_t, Kind kind, std::uint64_t key, std::uint64_t value) {
    kind_ = kind;
    result_ = kind == Kind::lookup ? table_.at(key) : 1;
    if (kind != Kind::update) return;
    table_.at(key) = value;
    written_.push_back(value);
  }
  template <typename Ended>
  void poll(const Ended& ended) {
    ended(0, kind_, answer_(kind_, result_));
  }
  [[nodiscard]] const std::vector<std::uint64_t>& written() const { return written_; }

 private:
  Answer answer_;
  std::map<std::uint64_t, std::uint64_t> table_;
  std::vector<std::uint64_t> written_;
  Kind kind_ = Kind::lookup;
  std::uint64_t result_ = 0;
};

struct Clients {
  std::vector<std::string> broken;
  std::vector<std::uint64_t> written;  ///< by all clients
};

/// Two clients of 50 operations on each of two nodes, over 8 keys. `mix`: 0 lookups, 1 half of each, 2 updates.
Clients clients_that_get(const InstantWindow::Answer& answer, std::int64_t mix = 1) {
  workloads::Params params(workloads::find("kvstore")->params);
  params.set("iterations", 50);
  params.set("threads_per_node", 2);
  params.set("key_space", 160);
  params.set("mix", mix);
  loco::ClusterConfig c;
  c.nodes = 2;
  SimulatedCluster cluster(c);
  const workloads::KvPlan plan(params, c.nodes);
  REQUIRE(plan.entries == 8);
  workloads::Results results;
  Clients clients;
  workloads::WorkloadHosts hosts(cluster);
  const workloads::Setup setup{cluster, hosts, params, {}, results};
  cluster.spawn_everywhere([&](Transport& node) {
    InstantWindow window(plan.entries, answer);
    for (const std::uint32_t thread : {0U, 1U}) workloads::KvClient(node, window, plan, setup, thread).run();
    clients.written.insert(clients.written.end(), window.written().begin(), window.written().end());
  });
  cluster.run();
  clients.broken = results.broken();
  return clients;
}

}  // namespace

TEST_CASE("a ring that drops, repeats, swaps or garbles one message is found") {
  check_sound(ring_that_delivers({1, 2, 3, 0}));
  check_found(ring_that_delivers({1, 3}), Rule::message_order, "broken ring");
  check_found(ring_that_delivers({1, 1, 2, 3}), Rule::message_order, "broken ring");
  check_found(ring_that_delivers({2, 1, 3}), Rule::message_order, "broken ring");
  check_found(ring_that_delivers({1, 9, 3}), Rule::message_value, "broken ring");
}

TEST_CASE("a lock that two have at once is found") {
  check_sound(lock_that_is_granted(false));
  check_found(lock_that_is_granted(true), Rule::mutual_exclusion, "broken lock");
}

TEST_CASE("a store that returns what it had before, after what is newer, is found") {
  check_sound(store_that_returns(7, 8));
  check_found(store_that_returns(8, 7), Rule::linearisability, "broken store");
  check_found(store_that_returns(0, 8), Rule::linearisability, "broken store");  // it has been inserted
}

TEST_CASE("a barrier that one thread leaves early is found") {
  workloads::Attendance attendance(2);
  workloads::Results results;
  // The second thread comes while the first one waits; in round 1 the first one does not wait.
  const auto second = [&](std::uint64_t round) { attend(attendance, round, results, [] {}); };
  attend(attendance, 0, results, [&] { second(0); });
  CHECK(results.promises == std::vector<std::string>{"left_early"});
  CHECK(results.broken().empty());
  attend(attendance, 1, results, [] {});
  CHECK(results.broken() == std::vector<std::string>{"left_early: 1"});
}

TEST_CASE("a store that answers with another key's value, or does not find what is there, is found") {
  using Kind = loco::kv_operation::Kind;
  Clients sound = clients_that_get([](Kind, std::uint64_t right) { return right; });
  CHECK(sound.broken.empty());
  // One answer is wrong, of an operation of the kind; entry i has values that end in i + 1.
  const auto once = [](Kind wrong, std::uint64_t by) {
    auto left = std::make_shared<int>(1);
    return [=](Kind kind, std::uint64_t right) { return kind == wrong && (*left)-- > 0 ? right + by : right; };
  };
  const std::vector<std::string> one = {"wrong_results: 1"};
  CHECK(clients_that_get(once(Kind::lookup, 1)).broken == one);
  CHECK(clients_that_get(once(Kind::lookup, std::uint64_t{0} - 1)).broken == one);
  CHECK(clients_that_get(once(Kind::update, 1)).broken == one);
  CHECK(clients_that_get(once(Kind::update, std::uint64_t{0} - 1)).broken == one);
  // No two values that are written are the same, so that a checker knows whose a value is.
  std::ranges::sort(sound.written);
  CHECK(std::ranges::adjacent_find(sound.written) == sound.written.end());
}

TEST_CASE("the clients of a store do what its parameters say") {
  const auto updates = [](std::int64_t mix) {
    return clients_that_get([](auto, std::uint64_t right) { return right; }, mix).written.size();
  };
  CHECK(updates(0) == 0);
  CHECK(updates(2) == 200);
  CHECK(updates(1) > 65);  // half of 200, to five standard deviations: sqrt(200) / 2 = 7 each
  CHECK(updates(1) < 135);
  workloads::Params params(workloads::find("kvstore")->params);
  for (const auto& [key, value] : {std::pair{"key_space", 160}, {"locks", 7}, {"hand_overs", 3}, {"device_locks", 1}})
    params.set(key, value);
  const workloads::KvPlan plan(params, 3);
  CHECK(plan.slots == 10);   // of 16 bytes,
  CHECK(plan.entries == 8);  // 80 % of them taken
  CHECK(plan.options.slots_per_node == 4);
  CHECK(plan.options.locks == 7);
  CHECK(plan.options.hand_overs_max == 3);
  CHECK(plan.options.device_locks);
  CHECK(plan.options.fence);
  CHECK_FALSE(plan.zipfian);
  params.set("keys", 1);
  params.set("fence", 0);
  CHECK(workloads::KvPlan(params, 3).zipfian);
  CHECK_FALSE(workloads::KvPlan(params, 3).options.fence);
}

TEST_CASE("a value is whole when no word of it is of another one") {
  workloads::Payload payload(24);
  for (std::size_t word = 0; word < 3; ++word) {
    payload.fill(7);
    CHECK(payload.whole());
    payload.words[word] = 8;
    CHECK_FALSE(payload.whole());
  }
}
