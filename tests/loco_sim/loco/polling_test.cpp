// What a completed operation of each object costs, in work requests and in events of the machine, and that waiting
// costs nothing: neither the time that others take nor packets that are lost add questions.
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "tests/catch.hpp"

using loco::manager;

namespace {

constexpr std::uint32_t kNodes = 4;
constexpr std::uint64_t kTurns = 30;
constexpr std::int64_t kShortPs = 20'000'000;    // longer than any operation takes
constexpr std::int64_t kLongPs = 1'000'000'000;  // 50 times that

/// So many operations of an object; before each of them the others wait for `wait_ps`, which node 0 computes.
using Waiting = std::function<void(manager& mgr, std::uint64_t rounds, std::int64_t wait_ps)>;

loco::nic::Counters counters(const Waiting& program, std::uint64_t rounds, std::int64_t wait_ps, std::uint32_t loss) {
  static const auto profile = loco::scenario::load_hardware("cx5-roce-25g").profile;
  loco::ClusterConfig config;
  config.profile = profile;
  config.nodes = kNodes;
  config.network.options.loss = loss;
  config.network.seed = 5;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([&](loco::Transport& node) {
    manager mgr(node);
    program(mgr, rounds, wait_ps);
  });
  cluster.run();
  return cluster.system().counters();
}

struct Cost {
  double requests = 0;
  double events = 0;
};

/// Of an operation: what twice as many cost more.
Cost cost(const Waiting& program, std::int64_t wait_ps) {
  const auto once = counters(program, kTurns, wait_ps, 0);
  const auto twice = counters(program, 2 * kTurns, wait_ps, 0);
  return {static_cast<double>(twice.work_requests - once.work_requests) / kTurns,
          static_cast<double>(twice.events - once.events) / kTurns};
}

struct Object {
  std::string name;
  double requests;  ///< of an operation, derived below
  Waiting program;
  std::uint64_t asks = 0;   ///< gets more of an operation where packets may be lost: nodes may be given up there
  std::uint64_t looks = 0;  ///< gets more for each time-out, at most
};

std::vector<Object> objects() {
  return {
      // Each node reads a word of each other one (the fence) and puts its counter there.
      {"barrier", 2 * kNodes * (kNodes - 1),
       [](manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
         loco::barrier bar(mgr, "bar");
         mgr.wait_for_ready();
         for (std::uint64_t i = 0; i < rounds; ++i) {
           if (mgr.my_node() == 0) mgr.transport().compute(wait_ps);
           bar.waiting();
         }
       }},
      // One put to each other node, which looks at its own memory.
      {"broadcast", kNodes - 1,
       [](manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
         loco::owned_var<std::uint64_t> v(mgr, "v", 0);
         mgr.wait_for_ready();
         loco::ack_key key(mgr);
         for (std::uint64_t i = 1; i <= rounds; ++i) {
           if (mgr.my_node() == 0) {
             mgr.transport().compute(wait_ps);
             v.store(i);
             v.push_broadcast(key);
             key.wait();
           }
           while (v.load() < i) mgr.transport().pause();
         }
       }},
      // The message and the head to each reader, whose tail comes back.
      {"ring buffer", 3 * (kNodes - 1),
       [](manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
         loco::ring_buffer ring(mgr, "ring", 0, {.bytes = 64});
         mgr.wait_for_ready();
         for (std::uint64_t i = 0; i < rounds; ++i)
           if (mgr.my_node() == 0) {
             mgr.transport().compute(wait_ps);
             ring.send(std::as_bytes(std::span(&i, 1)));
           } else {
             (void)ring.receive();
           }
         while (mgr.my_node() == 0 && !ring.received_by_all()) mgr.transport().pause();
       }},
      {"remote atomic", 1,
       [](manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
         loco::atomic_var<std::uint64_t> sum(mgr, "sum", 1);
         mgr.wait_for_ready();
         for (std::uint64_t i = 0; i < rounds && mgr.my_node() == 0; ++i) {
           mgr.transport().compute(wait_ps);
           sum.fetch_add(1);
         }
       }},
      // Each node has the lock once: draw and look, the name and the look behind it, a sign if the name is on a seat,
      // ask who is next, tell it. Node 0 keeps it for that long.
      {"mutex", 7 * kNodes,
       [](manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
         loco::mutex lock(mgr, "lock", 1);
         mgr.wait_for_ready();
         for (std::uint64_t i = 0; i < rounds; ++i) {
           const std::lock_guard held(lock);
           if (mgr.my_node() == 0) mgr.transport().compute(wait_ps);
         }
       },
       0,
       // Who waits behind one whose sign is lost looks for it at rests that double from a round
       // trip of 2 us on until the time-out of 67 ms has brought it: log2(67 ms / 2 us) = 15 times, and at once before.
       16},
      // Of a key that only node 0 uses: draw and look; the slot, on its own node, is written by its CPU; each other
      // node's ring gets the entry and its head, and its tail comes back; then the lock's release. Where nodes may be
      // given up, a majority is asked whether the key is absent: two and the own one.
      {"insert of a store", 3 + 3 * (kNodes - 1),
       [](manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
         loco::kvstore store(mgr, "store", {.slots_per_node = 4 * kTurns});
         mgr.wait_for_ready();
         loco::barrier bar(mgr, "bar");
         mgr.wait_for_ready();
         for (std::uint64_t i = 0; i < rounds && mgr.my_node() == 0; ++i) {
           mgr.transport().compute(wait_ps);
           (void)store.insert(i, i + 1);
         }
         bar.waiting();
       },
       kNodes / 2},
  };
}

/// So many gets, one after the other.
void gets(manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
  loco::atomic_var<std::uint64_t> word(mgr, "word", 1);
  mgr.wait_for_ready();
  for (std::uint64_t i = 0; i < rounds && mgr.my_node() == 0; ++i) {
    mgr.transport().compute(wait_ps);
    (void)word.load();
  }
}

/// Node 1 waits for what node 0 pushes; the queue is on node 2.
void pass_on(manager& mgr, std::uint64_t rounds, std::int64_t wait_ps) {
  loco::shared_queue<std::uint64_t> queue(mgr, "queue", 8, 2);
  mgr.wait_for_ready();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    if (mgr.my_node() == 0) {
      mgr.transport().compute(wait_ps);
      queue.push(i);
    }
    if (mgr.my_node() == 1) (void)queue.pop();
  }
}

}  // namespace

TEST_CASE("waiting for others takes no work requests and no events") {
  for (const Object& object : objects()) {
    const Cost brief = cost(object.program, kShortPs);
    const Cost lasting = cost(object.program, kLongPs);
    INFO(object.name << ": " << brief.requests << " work requests, " << brief.events << " events; waiting long "
                     << lasting.requests << ", " << lasting.events);
    CHECK(brief.requests <= object.requests);
    CHECK(lasting.requests == brief.requests);
    CHECK(lasting.events == brief.events);
  }
}

TEST_CASE("packets that are lost add no work requests, and events only for what is sent again") {
  const double a_get = cost(gets, kShortPs).events;
  // A timer and what one queue pair has on its way, a few packets: each a handful of events from port to port.
  constexpr std::uint64_t kEventsALoss = 16;
  std::uint64_t lost = 0;
  for (const Object& object : objects()) {
    const auto lossless = counters(object.program, 2 * kTurns, kShortPs, 0);
    // Where packets may be lost, nodes may be given up: each has a thread that would ask the others then, and some
    // objects ask more. A loss so rare that none comes has all of that, and the same order of what is at one time.
    const auto base = counters(object.program, 2 * kTurns, kShortPs, 1);
    CHECK(base.packets_lost == 0);
    CHECK(base.work_requests == lossless.work_requests + object.asks * 2 * kTurns);
    for (const std::uint32_t loss : {100U, 3'000U}) {
      const auto lossy = counters(object.program, 2 * kTurns, kShortPs, loss);
      INFO(object.name << ", loss " << loss << ": " << lossy.work_requests << " work requests for "
                       << base.work_requests << ", " << lossy.events << " events for " << base.events << " (a get has "
                       << a_get << "), " << lossy.packets_lost << " packets lost, " << lossy.timeouts << " time-outs");
      CHECK(lossy.work_requests >= base.work_requests);
      const std::uint64_t looked = lossy.work_requests - base.work_requests;
      // Only a time-out is long enough to be looked at again and again, and one waiter alone is next behind it.
      CHECK(looked <= object.looks * lossy.timeouts);
      CHECK(static_cast<double>(lossy.events) <=
            static_cast<double>(base.events + kEventsALoss * lossy.packets_lost) + static_cast<double>(looked) * a_get);
      lost += lossy.packets_lost;
    }
  }
  CHECK(lost > 0);
}

TEST_CASE("who waits for an element of a queue on another node asks ever less often") {
  // The push: its ticket, a look, the element and its state. The pop: its ticket, looks, the element, and the slot is
  // free again; a look is at the slot's state and at whether the queue is closed. An eighth of the time waited lies
  // between two looks at least, so their times grow by 9/8 once that is more than a round trip, which takes 2 us at
  // least: eight looks until then, and 8 ln(t / 16 us) more.
  constexpr double kOthers = 4 + 3;
  const auto looks = [](std::int64_t wait_ps) { return 9 + 9 * std::log(static_cast<double>(wait_ps) / 16e6); };
  for (const std::int64_t wait_ps : {kShortPs, kLongPs}) {
    const Cost of_both = cost(pass_on, wait_ps);
    INFO("waiting " << wait_ps << " ps: " << of_both.requests << " work requests");
    CHECK(of_both.requests > kOthers);
    CHECK(of_both.requests < kOthers + 2 * looks(wait_ps));
  }
  const double lossless = cost(pass_on, kLongPs).requests;
  const auto lossy = counters(pass_on, kTurns, kLongPs, 3'000);
  CHECK(lossy.packets_lost > 0);
  CHECK(static_cast<double>(lossy.work_requests) / kTurns < 1.2 * lossless);
}
