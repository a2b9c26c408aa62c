// Channels refuse a network that lacks what they are built on, by name; and where they are let run, the checkers see
// what comes of it. Which cell a placement gives up: docs/queue-pairs.md, "Out-of-order placement".
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "tests/catch.hpp"

using loco::manager;
using loco::nic::Placement;

namespace {

/// Makes an object, "x".
using Make = std::function<void(manager& mgr)>;

loco::ClusterConfig machine(Placement placement, loco::nic::AtomicCap atomics = loco::nic::AtomicCap::hca) {
  loco::ClusterConfig config;
  config.profile.nic_placement = placement;
  config.profile.nic_atomic_cap = atomics;
  return config;
}

/// What node 0 is told; empty: it may be made.
std::string told(const loco::ClusterConfig& config, const Make& make) {
  loco::SimulatedCluster cluster(config);
  std::string text;
  cluster.spawn_everywhere([&](loco::Transport& node) {
    manager mgr(node);
    mgr.wait_for_ready();
    try {
      make(mgr);
    } catch (const loco::setup_error& error) {
      if (node.my_node() == 0) text = error.what();
    }
  });
  cluster.run();
  return text;
}

enum class Needs { nothing, ordered_puts, pushing_gets, atomics };

struct Kind {
  const char* name;
  std::vector<Needs> needs;  ///< the first one that is missing is named
  Make make;
};

std::vector<Kind> kinds() {
  return {
      {"var", {}, [](manager& mgr) { loco::var<std::uint64_t> x(mgr, "x"); }},
      {"hashed_var", {}, [](manager& mgr) { loco::hashed_var<std::array<std::uint64_t, 3>> x(mgr, "x"); }},
      {"guarded_var",
       {Needs::ordered_puts},
       [](manager& mgr) { loco::guarded_var<std::array<std::uint64_t, 3>> x(mgr, "x", 0); }},
      {"ring_buffer", {Needs::ordered_puts}, [](manager& mgr) { loco::ring_buffer x(mgr, "x", 0); }},
      {"barrier", {Needs::pushing_gets}, [](manager& mgr) { loco::barrier x(mgr, "x"); }},
      {"barrier without a fence",
       {},
       [](manager& mgr) { loco::barrier x(mgr, "x", {.fence = loco::barrier_options::Fence::none}); }},
      {"global_fence", {Needs::pushing_gets}, [](manager& mgr) { loco::global_fence(mgr); }},
      {"atomic_var", {Needs::atomics}, [](manager& mgr) { loco::atomic_var<std::uint64_t> x(mgr, "x", 0); }},
      {"mutex",
       {Needs::atomics, Needs::ordered_puts, Needs::pushing_gets},
       [](manager& mgr) { loco::mutex x(mgr, "x"); }},
      {"shared_queue",
       {Needs::atomics, Needs::ordered_puts},
       [](manager& mgr) { loco::shared_queue<std::uint64_t> x(mgr, "x", 4); }},
      {"kvstore",
       {Needs::atomics, Needs::ordered_puts, Needs::pushing_gets},
       [](manager& mgr) { loco::kvstore x(mgr, "x"); }},
  };
}

bool needs(const Kind& kind, Needs what) {
  return std::find(kind.needs.begin(), kind.needs.end(), what) != kind.needs.end();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("each object is refused where the network lacks what it needs, and nowhere else") {
  // The columns of the two orders, by what docs/queue-pairs.md says of the placements.
  struct Network {
    Placement placement;
    bool ordered_puts;
    bool pushing_gets;
  };
  for (const Network& network :
       {Network{Placement::in_order, true, true}, Network{Placement::serial, true, true},
        Network{Placement::out_of_order, false, true}, Network{Placement::reads_overtake, true, false},
        Network{Placement::unordered, false, false}})
    for (const Kind& kind : kinds()) {
      const std::string text = told(machine(network.placement), kind.make);
      INFO(kind.name << ", placement " << static_cast<int>(network.placement) << ": " << text);
      const bool lacks_order = needs(kind, Needs::ordered_puts) && !network.ordered_puts;
      const bool lacks_push = needs(kind, Needs::pushing_gets) && !network.pushing_gets;
      CHECK(text.empty() == !(lacks_order || lacks_push));
      CHECK(has(text, "nic.placement: ") == (lacks_order || lacks_push));
    }
}

TEST_CASE("what needs remote atomics is refused by a NIC without, with one line that says so") {
  using loco::nic::AtomicCap;
  for (const Kind& kind : kinds()) {
    const std::string text = told(machine(Placement::in_order, AtomicCap::none), kind.make);
    INFO(kind.name << ": " << text);
    CHECK(has(text, "nic.atomic_cap: none") == needs(kind, Needs::atomics));
  }
  CHECK(told(machine(Placement::in_order, AtomicCap::none), [](manager& mgr) {
          loco::atomic_var<std::uint64_t> x(mgr, "x", 0);
        }) == "node 0: 'x' needs remote atomics, which this network lacks: nic.atomic_cap: none");
  CHECK(told(machine(Placement::unordered), [](manager& mgr) { loco::ring_buffer x(mgr, "x", 0); }) ==
        "node 0: 'x' needs ordered puts (a put is in memory before a later one to the same node), which this network "
        "lacks: nic.placement: unordered");
  // For a channel of one's own: atomics that are atomic with CPUs.
  loco::SimulatedCluster some(machine(Placement::in_order, AtomicCap::hca));
  CHECK(some.node(0).lacks(loco::Capability::atomics_with_cpu) == "nic.atomic_cap: hca");
  loco::SimulatedCluster all(machine(Placement::in_order, AtomicCap::global));
  CHECK(all.node(0).lacks(loco::Capability::atomics_with_cpu).empty());
}

TEST_CASE("who wants to see what comes of it lets them run") {
  loco::ClusterConfig config = machine(Placement::unordered);
  config.refuse_unfit = false;
  for (const Kind& kind : kinds()) CHECK(told(config, kind.make).empty());
}
