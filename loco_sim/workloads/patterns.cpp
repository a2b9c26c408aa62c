// Small communication patterns, each of which stands on one guarantee of the hardware (LOCO paper, Fig. 10) or of the
// library. A round ends with a barrier. The counter "unexpected" counts the rounds whose outcome the guarantee rules
// out; the checkers find the same from the trace alone.
#include <array>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/barrier.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/thread_team.hpp"

namespace loco::workloads {

namespace {

/// A word on every node, accessed by plain loads, stores, puts and gets.
class word : public channel {
 public:
  word(manager& mgr, std::string_view name)
      : channel(mgr, name, expect_num{mgr.num_nodes() - 1}), region_(symmetric_region("val", 8)) {
    join();
  }
  [[nodiscard]] std::uint64_t load() { return transport().load(here()); }
  void store(std::uint64_t value) { transport().store(here(), value); }
  [[nodiscard]] Address here() const { return local(region_).base; }
  [[nodiscard]] const Region& on(NodeId node) const { return remote(region_, node); }

 private:
  RegionIndex region_;
};

struct Round {
  manager& mgr;
  word& x;
  word& y;
  word& z;
  barrier& bar;
  ack_key& key;
  std::uint64_t i;  ///< number of the round, from 1; x, y and z hold i - 1 or less before it

  [[nodiscard]] Transport& node() const { return mgr.transport(); }
};

// Each returns false when the outcome is one that must not be. Nodes 0 and 1 are the actors, node 2 where named.

/// B6: a store goes before a later put's read of it. x := i; put(z@1, x).
bool store_put(const Round& r) {
  if (r.mgr.my_node() == 0) {
    r.x.store(r.i);
    r.mgr.put(r.x.here(), r.z.on(1), 0, 8, &r.key);
    r.key.wait();
  }
  r.bar.waiting();
  return r.mgr.my_node() != 1 || r.z.load() == r.i;
}

/// G8: a get reads behind the same thread's earlier put. put(z@1, x); y := get(z@1).
bool put_get(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.x.store(r.i);
  r.mgr.put(r.x.here(), r.z.on(1), 0, 8);
  r.mgr.get(r.y.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  return r.y.load() == r.i;
}

/// pfg: who has waited for a get sees what it fetched. z = i on node 1; y := get(z@1); wait; read y.
bool get_read(const Round& r) {
  if (r.mgr.my_node() == 1) r.z.store(r.i);
  r.bar.waiting();
  if (r.mgr.my_node() != 0) return true;
  r.mgr.get(r.y.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  return r.y.load() == r.i;
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
  while (r.y.load() < r.i) r.node().pause();
  return r.x.load() == r.i;
}

/// F6: two puts read their sources in order, while another thread of the node stores y, then x.
/// put(x@1, x); put(y@1, y): node 1 may not end with the new x and the old y.
bool put_put_twice(const Round& r) {
  if (r.mgr.my_node() == 0) {
    run_team(r.node(), 2, [&r](std::uint32_t thread) {
      if (thread == 1) {
        r.y.store(r.i);
        r.x.store(r.i);
        return;
      }
      r.mgr.put(r.x.here(), r.x.on(1), 0, 8);
      r.mgr.put(r.y.here(), r.y.on(1), 0, 8);
    });
  }
  r.bar.waiting();
  return r.mgr.my_node() != 1 || r.x.load() <= r.y.load();
}

/// H10 and J7: a put stays behind a get that is fenced from it. y := get(z@1); rfence(1); put(z@1, x).
bool get_fence_put(const Round& r) {
  if (r.mgr.my_node() != 0) return true;
  r.x.store(r.i);
  r.mgr.get(r.y.here(), r.z.on(1), 0, 8, &r.key);
  r.node().remote_fence(1);
  r.mgr.put(r.x.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  return r.y.load() < r.i;
}

/// pfp: who has waited for a put may overwrite its source. put(z@1, x); wait; x := later value.
bool put_wait_store(const Round& r) {
  const std::uint64_t mine = 2 * r.i;
  if (r.mgr.my_node() == 0) {
    r.x.store(mine);
    r.mgr.put(r.x.here(), r.z.on(1), 0, 8, &r.key);
    r.key.wait();
    r.x.store(mine + 1);
  }
  r.bar.waiting();
  return r.mgr.my_node() != 1 || r.z.load() == mine;
}

/// Fig. 22: a barrier completes operations towards third nodes. Node 0: put(z@1, x); barrier; node 2: get(z@1).
bool barrier_third_node(const Round& r) {
  if (r.mgr.my_node() == 0) {
    r.x.store(r.i);
    r.mgr.put(r.x.here(), r.z.on(1), 0, 8);
  }
  r.bar.waiting();
  if (r.mgr.my_node() != 2) return true;
  r.mgr.get(r.y.here(), r.z.on(1), 0, 8, &r.key);
  r.key.wait();
  return r.y.load() == r.i;
}

constexpr std::array kPatterns = {store_put,     put_get,       get_read,       put_put,
                                  put_put_twice, get_fence_put, put_wait_store, barrier_third_node};
static_assert(kPatterns.size() == kPatternNames.size());

void pattern_program(Transport& node, const Setup& setup) {
  manager mgr(node);
  word x(mgr, "x");
  word y(mgr, "y");
  word z(mgr, "z");
  barrier bar(mgr, "bar", options_under(setup.faults));
  mgr.wait_for_ready();
  ack_key key(mgr);
  const auto pattern = kPatterns.at(static_cast<std::size_t>(setup.params.get("pattern")));
  const auto unexpected = setup.results.counters.id("unexpected");
  const auto rounds = static_cast<std::uint64_t>(setup.params.get("iterations"));
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    const std::int64_t t0 = node.now_ps();
    if (!pattern({mgr, x, y, z, bar, key, i})) setup.results.counters.add(unexpected);
    bar.waiting();
    if (mgr.my_node() == 0) setup.results.add("round", t0, node.now_ps());
  }
}

}  // namespace

void start_pattern(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { pattern_program(node, setup); });
}

}  // namespace loco::workloads
