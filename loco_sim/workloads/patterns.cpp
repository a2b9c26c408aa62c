// Small communication patterns. Each relies on one guarantee of the hardware (LOCO paper, Fig. 10) or of the library.
// The counter "unexpected" counts rounds with an outcome that the guarantee excludes; the checkers find the same from
// the trace alone.
#include <array>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/thread_team.hpp"

namespace loco::workloads {

namespace {

/// A word on every node, accessed by plain loads, stores, puts and gets.
class word : public channel {
 public:
  /// Connected peers see the initial value.
  word(manager& mgr, std::string_view name, std::uint64_t initial = 0)
      : channel(mgr, name, expect_num{mgr.num_nodes() - 1}), region_(symmetric_region("val", 8)) {
    if (initial != 0) {
      store(initial);
      transport().memory_fence();
    }
    join();
  }
  [[nodiscard]] std::uint64_t load() { return transport().load(here()); }
  void store(std::uint64_t value) { transport().store(here(), value); }
  [[nodiscard]] Address here() const { return local(region_).base; }
  [[nodiscard]] Region on(NodeId node) const { return remote(region_, node); }

 private:
  RegionIndex region_;
};

/// The value of z on every node before the first round.
constexpr std::uint64_t kConstant = 1;

struct Round {
  manager& mgr;
  word& x;
  word& y;
  word& z;
  barrier& bar;
  ack_key& key;
  std::uint64_t i;  ///< number of the round, from 1

  [[nodiscard]] Transport& node() const { return mgr.transport(); }
};

// Each pattern returns false for an outcome that must not occur. Nodes 0 and 1 take part, node 2 where it is named.

void get_and_wait(const Round& r) {
  r.mgr.get(r.y.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
}

/// B6: a store precedes the read of its word by a later put. x := i; put(z@1, x); wait.
bool store_put(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.x.store(r.i);
  r.mgr.put(r.x.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  get_and_wait(r);
  return r.y.load() == r.i;
}

/// G8: a get reads after the same thread's earlier put. x := i; wait until stored; put(z@1, x); y := get(z@1).
bool put_get(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.x.store(r.i);
  r.node().memory_fence();
  r.mgr.put(r.x.here(), r.z.on(1), 0, 8);
  get_and_wait(r);
  return r.y.load() == r.i;
}

/// pfg: after waiting for a get, a thread sees what it fetched. y := 0; y := get(z@1), where z = 1; wait; read y.
bool get_read(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.y.store(0);
  r.node().memory_fence();
  get_and_wait(r);
  return r.y.load() == kConstant;
}

/// G7: two puts to one node arrive in order. put(x@1, x); put(y@1, y); node 1 spins on y, then reads x.
bool put_put(const Round& r) {
  if (r.mgr.my_node() == 0) {
    r.x.store(r.i);
    r.y.store(r.i);
    r.mgr.put(r.x.here(), r.x.on(1), 0, 8);
    r.mgr.put(r.y.here(), r.y.on(1), 0, 8);
  }
  if (r.mgr.my_node() != 1) return true;
  constexpr std::array kSender{NodeId{0}};
  while (r.y.load() < r.i) r.mgr.pause_for("y", kSender);
  return r.x.load() == r.i;
}

/// F6: two puts read their sources in order, while another thread of the node repeatedly stores y, then x. put(x@1, x);
/// put(y@1, y): node 1 must not get a newer x than the y it gets afterwards.
bool put_put_twice(const Round& r) {
  constexpr std::uint64_t kTimes = 4;
  if (r.mgr.my_node() == 0) {
    run_team(r.node(), 2, [&r](std::uint32_t thread) {
      for (std::uint64_t k = 1; k <= kTimes; ++k) {
        if (thread == 1) {
          r.y.store(r.i * kTimes + k);
          r.x.store(r.i * kTimes + k);
        } else {
          r.mgr.put(r.x.here(), r.x.on(1), 0, 8);
          r.mgr.put(r.y.here(), r.y.on(1), 0, 8);
        }
      }
    });
  }
  r.bar.waiting();
  if (r.mgr.my_node() != 1) return true;
  const std::uint64_t x = r.x.load();
  return x <= r.y.load();
}

/// H10 and J7: a put stays behind a fenced get. y := get(z@1); rfence(1); put(z@1, x).
bool get_fence_put(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.x.store(kConstant + r.i);
  r.node().memory_fence();
  r.mgr.get(r.y.here(), r.z.on(1), 0, 8, &r.key);
  r.node().remote_fence(1);
  r.mgr.put(r.x.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  return r.y.load() < kConstant + r.i;
}

/// pfp: after waiting for a put, a thread may overwrite its source. x := 2 i; put(z@1, x); wait; x := 2 i + 1.
bool put_wait_store(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.x.store(2 * r.i);
  r.node().memory_fence();
  r.mgr.put(r.x.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  r.x.store(2 * r.i + 1);
  get_and_wait(r);
  return r.y.load() == 2 * r.i;
}

/// Fig. 22: a barrier completes operations on third nodes. Node 0: put(z@1, x); barrier; node 2: get(z@1).
bool barrier_third_node(const Round& r) {
  if (r.mgr.my_node() == 0) {
    r.x.store(r.i);
    r.mgr.put(r.x.here(), r.z.on(1), 0, 8);
  }
  r.bar.waiting();
  if (r.mgr.my_node() != 2) return true;
  get_and_wait(r);
  return r.y.load() == r.i;
}

/// An atomic is executed exactly once, whatever the network loses. y := faa(z@1, 1); wait: returns the number of
/// earlier additions.
bool fetch_add(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.mgr.fetch_add(r.y.here(), r.z.on(1), 0, 1, &r.key);
  r.key.wait();
  return r.y.load() == kConstant + r.i - 1;
}

struct Pattern {
  bool (*round)(const Round&);
  bool barrier;  ///< true: the round ends with a barrier; false: it concerns node 0 only
};
constexpr std::array kPatterns = {
    Pattern{store_put, false},      Pattern{put_get, false},           Pattern{get_read, false},
    Pattern{put_put, true},         Pattern{put_put_twice, true},      Pattern{get_fence_put, false},
    Pattern{put_wait_store, false}, Pattern{barrier_third_node, true}, Pattern{fetch_add, false}};
static_assert(kPatterns.size() == kPatternNames.size());

void pattern_program(Transport& node, const Setup& setup) {
  manager mgr(node);
  word x(mgr, "x");
  word y(mgr, "y");
  word z(mgr, "z", kConstant);
  barrier bar(mgr, "bar", options_under(setup.faults));
  mgr.wait_for_ready();
  ack_key key(mgr);
  const Pattern& pattern = kPatterns.at(setup.params.amount("pattern"));
  const auto rounds = setup.params.amount("iterations");
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    const std::int64_t t0 = node.now_ps();
    setup.results.promise("unexpected", pattern.round({mgr, x, y, z, bar, key, i}) ? 0 : 1);
    if (pattern.barrier) bar.waiting();
    if (mgr.my_node() == 0) setup.results.add("round", t0, node.now_ps());
  }
}

}  // namespace

void start_pattern(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { pattern_program(node, setup); });
}

}  // namespace loco::workloads
