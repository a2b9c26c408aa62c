// Operations of a manager posted in one list with the next one (Posting::more): what programs and traces see of them.
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/transport/small_cluster.hpp"

using namespace loco::test;  // NOLINT: a test

namespace model = loco::model;
namespace trace = loco::trace;

namespace {

using OneVariable = std::function<void(loco::manager&, loco::var<std::uint64_t>&)>;

/// A program of node 0, with a variable on every node.
std::function<void(loco::Transport&)> on_node_0(OneVariable program) {
  return [program = std::move(program)](loco::Transport& node) {
    loco::manager mgr(node);
    loco::var<std::uint64_t> v(mgr, "v");
    mgr.wait_for_ready();
    if (node.my_node() == 0) program(mgr, v);
  };
}

trace::Trace trace_of(const OneVariable& program) {
  loco::ClusterConfig c = config(2);
  c.record = true;
  loco::SimulatedCluster cluster(c);
  cluster.spawn_everywhere(on_node_0(program));
  cluster.run();
  return cluster.take_trace();
}

/// The only call of this method.
const trace::Call& only(const trace::Trace& trace, trace::Method method) {
  const trace::Call* found = nullptr;
  for (const trace::Call& call : trace.calls) {
    if (call.method != method) continue;
    require(found == nullptr, "there is one");
    found = &call;
  }
  require(found != nullptr, "there is one");
  return *found;
}

}  // namespace

TEST_CASE("a put in one list with the fence behind it is not a part of the fence") {
  const trace::Trace trace = trace_of([](loco::manager& mgr, loco::var<std::uint64_t>& v) {
    mgr.put(v.address(), v.copy(1), 0, 8, nullptr, {.more = true});
    loco::global_fence(mgr, 1);
  });
  const trace::Call& put = only(trace, trace::Method::put);
  CHECK(put.parent == 0);
  CHECK(put.work_id == 0);
  CHECK(model::check(trace, kAllLibraries, {.tower = true}).consistent());
}

TEST_CASE("a remote fence between two operations of a list holds back the second one") {
  const trace::Trace trace = trace_of([](loco::manager& mgr, loco::var<std::uint64_t>& v) {
    loco::ack_key key(mgr);
    mgr.put(v.address(), v.copy(1), 0, 8, &key, {.more = true});
    mgr.transport().remote_fence(1);
    mgr.get(v.address(), v.copy(1), 0, 8, &key);
    key.wait();
  });
  std::vector<trace::Method> order;
  for (const trace::Call& call : trace.calls) {
    if (call.library == trace::Library::rdmawait) order.push_back(call.method);
  }
  CHECK(order == std::vector{trace::Method::put, trace::Method::rfence, trace::Method::get, trace::Method::wait});
}

TEST_CASE("a key whose listed operation has none behind it cannot tell of it") {
  const auto wait = on_node_0([](loco::manager& mgr, loco::var<std::uint64_t>& v) {
    loco::ack_key key(mgr);
    mgr.put(v.address(), v.copy(1), 0, 8, &key, {.more = true});
    CHECK_THROWS_WITH(key.wait(), contains_text("waits for an operation that was to be followed by another one"));
    CHECK_THROWS_WITH(key.poll(), contains_text("waits for an operation that was to be followed by another one"));
    mgr.get(v.address(), v.copy(1), 0, 8, &key);
    key.wait();
  });
  CHECK_NOTHROW(on_simulator(2, wait, loco::Schedule::timed, 1));
}

TEST_CASE("the failure of a listed operation is its key's, whatever else that has followed") {
  // More operations than an ack word has bits, so that the key has two; then there is room in the first one again.
  constexpr std::uint64_t kMany = 100;
  const auto program = on_node_0([](loco::manager& mgr, loco::var<std::uint64_t>& v) {
    loco::ack_key key(mgr);
    for (std::uint64_t i = 0; i < kMany; ++i) mgr.get(v.address(), v.copy(1), 0, 8, &key);
    key.wait();
    loco::Region wrong = v.copy(1);
    wrong.rkey += 1000;
    mgr.put(v.address(), wrong, 0, 8, &key, {.more = true});
    mgr.get(v.address(), v.copy(1), 0, 8, &key);
    key.forget();
    loco::ack_key other(mgr), third(mgr);  // none of them has to do with the put
    mgr.get(v.address(), v.copy(0), 0, 8, &other);
    mgr.get(v.address(), v.copy(0), 0, 8, &third);
    mgr.transport().compute(1'000'000'000);
    CHECK(other.status() == loco::Status::success);
    CHECK(third.status() == loco::Status::success);
  });
  loco::ClusterConfig c = config(2);
  c.profile.link_delay = loco::sim::Duration{100'000'000};  // all of them are under way at once
  loco::SimulatedCluster cluster(c);
  cluster.spawn_everywhere(program);
  cluster.run();
}
