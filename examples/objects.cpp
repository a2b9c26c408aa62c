// Each of LOCO's objects at work, on any transport: `--object barrier` (or ring, mutex, atomic, store, all), `--rounds
// N`. What the nodes print does not depend on the network; the last line of node 0 says how long a round took.
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <fmt/core.h>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "examples/any_transport.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/store/kvstore.hpp"

namespace {

std::uint64_t rounds = 100;

/// Times rounds, those behind the first one: at first use queue pairs are made.
class stopwatch {
 public:
  stopwatch(loco::Transport& node, std::string what) : node_(node), what_(std::move(what)) {}
  ~stopwatch() {
    if (node_.my_node() != 0 || count_ == 0 || std::uncaught_exceptions() != 0) return;
    fmt::print("node 0: {}: {} ns a round\n", what_,
               (node_.now_ps() - began_) / 1000 / static_cast<std::int64_t>(count_));
  }
  void begin(std::uint64_t count) {
    began_ = node_.now_ps();
    count_ = count;
  }

 private:
  loco::Transport& node_;
  std::string what_;
  std::int64_t began_ = 0;
  std::uint64_t count_ = 0;
};

void barriers(loco::manager& mgr) {
  loco::barrier bar(mgr, "bar");
  bar.wait_for_ready();
  bar.waiting();
  {
    stopwatch watch(mgr.transport(), "barrier");
    watch.begin(rounds);
    for (std::uint64_t i = 0; i < rounds; ++i) bar.waiting();
  }
  fmt::print("node {}: barrier: {} rounds\n", mgr.my_node(), rounds);
}

void ring(loco::manager& mgr) {
  loco::ring_buffer ring(mgr, "ring", /*writer=*/0);
  loco::barrier bar(mgr, "ring-bar");
  mgr.wait_for_ready();
  bar.waiting();
  std::uint64_t sum = 0;
  const auto number = [](std::uint64_t i) { return i * i + 1; };
  {
    stopwatch watch(mgr.transport(), "ring");
    watch.begin(rounds);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      std::uint64_t value = number(i);
      if (mgr.my_node() == 0) {
        ring.send(std::as_bytes(std::span(&value, 1)));
      } else {
        const loco::ring_buffer::Message message = ring.receive();
        std::memcpy(&value, message.data(), sizeof(value));
      }
      sum += value;
    }
    while (mgr.my_node() == 0 && !ring.received_by_all()) mgr.transport().pause();
  }
  fmt::print("node {}: ring: {} messages, sum {}\n", mgr.my_node(), rounds, sum);
  bar.waiting();
}

/// A counter on the last node, raised by all nodes under a lock on node 0.
constexpr std::uint64_t kMeetEach = 256;  // rounds

void mutexes(loco::manager& mgr) {
  const loco::NodeId home = mgr.num_nodes() - 1;
  loco::mutex lock(mgr, "lock");
  loco::var<std::uint64_t> counter(mgr, "counter");
  loco::barrier bar(mgr, "lock-bar");
  mgr.wait_for_ready();
  bar.waiting();
  {
    stopwatch watch(mgr.transport(), "mutex");
    loco::mem_ref value(mgr, 8);
    loco::ack_key key(mgr);
    watch.begin(rounds);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      lock.lock();
      mgr.get(value.address(), counter.copy(home), 0, 8, &key);
      key.wait();
      value.store(value.load() + 1);
      mgr.put(value.address(), counter.copy(home), 0, 8, &key);
      lock.unlock();
      key.wait();
      // A node that dies without the lock is missed by nobody who takes it: now and then all meet.
      if (i % kMeetEach == kMeetEach - 1) bar.waiting();
    }
  }
  bar.waiting();
  if (mgr.my_node() == home) fmt::print("node {}: mutex: the counter is {}\n", home, counter.load());
  bar.waiting();
}

void atomics(loco::manager& mgr) {
  loco::atomic_var<std::uint64_t> word(mgr, "word", /*home=*/mgr.num_nodes() - 1);
  loco::barrier bar(mgr, "atomic-bar");
  mgr.wait_for_ready();
  bar.waiting();
  {
    stopwatch watch(mgr.transport(), "atomic");
    word.fetch_add(0);
    watch.begin(rounds);
    for (std::uint64_t i = 0; i < rounds; ++i) word.fetch_add(mgr.my_node() + 1);
  }
  bar.waiting();
  fmt::print("node {}: atomic: {}\n", mgr.my_node(), word.load());
  bar.waiting();
}

/// Each node inserts keys of its own, raises those of the node before, and erases every third of its own.
void store(loco::manager& mgr) {
  loco::kvstore store(mgr, "store", {.slots_per_node = rounds});
  loco::barrier bar(mgr, "store-bar");
  mgr.wait_for_ready();
  const std::uint64_t nodes = mgr.num_nodes(), me = mgr.my_node();
  const auto key = [&](std::uint64_t node, std::uint64_t i) { return i * nodes + node; };
  std::uint64_t done = 0;
  bar.waiting();
  {
    stopwatch watch(mgr.transport(), "store");
    watch.begin(rounds);
    for (std::uint64_t i = 0; i < rounds; ++i) done += store.insert(key(me, i), 1000 + i) ? 1U : 0U;
    bar.waiting();
    for (std::uint64_t i = 0; i < rounds; ++i) done += store.update(key((me + 1) % nodes, i), 2000 + i) ? 1U : 0U;
    bar.waiting();
    for (std::uint64_t i = 0; i < rounds; i += 3) done += store.erase(key(me, i)) ? 1U : 0U;
    bar.waiting();
  }
  std::uint64_t present = 0, sum = 0;
  for (std::uint64_t k = 0; k < nodes * rounds; ++k)
    if (const auto value = store.lookup(k)) {
      ++present;
      sum += *value;
    }
  fmt::print("node {}: store: {} changes, {} keys, sum {}\n", me, done, present, sum);
  bar.waiting();
}

/// All nodes change the same few keys; each operation is told with when it began and ended by the machine's clock.
void history(loco::manager& mgr) {
  constexpr std::uint64_t kKeys = 4;
  loco::kvstore store(mgr, "history", {.slots_per_node = rounds});
  loco::barrier bar(mgr, "history-bar");
  mgr.wait_for_ready();
  bar.waiting();
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  std::mt19937_64 draw(mgr.my_node());
  std::string told;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t key = draw() % kKeys, kind = draw() % 4, value = i * mgr.num_nodes() + mgr.my_node() + 1;
    const auto begin = now();
    std::uint64_t result = 0;
    if (kind == 0) result = store.insert(key, value) ? 1U : 0U;
    if (kind == 1) result = store.update(key, value) ? 1U : 0U;
    if (kind == 2) result = store.erase(key) ? 1U : 0U;
    if (kind == 3) result = store.lookup(key).value_or(0);
    constexpr std::array<const char*, 4> kNames = {"insert", "update", "erase", "lookup"};
    told += fmt::format("{} {} {} {} {} {}\n", kNames[kind], key, value, result, begin, now());
  }
  bar.waiting();
  fmt::print("{}", told);
}

const std::map<std::string, void (*)(loco::manager&)> kObjects = {
    {"barrier", barriers}, {"ring", ring}, {"mutex", mutexes}, {"atomic", atomics}, {"store", store}};

}  // namespace

int main(int argc, char** argv) {
  using loco::trace::Library;
  const std::array libraries = {Library::rdmawait, Library::sv, Library::bal, Library::rbl, Library::lock};
  std::string object = "all";
  const auto program = [&](loco::Transport& node) {
    loco::manager mgr(node);
    for (const auto& [name, work] : kObjects)
      if (object == "all" || object == name) work(mgr);
    if (object == "history") history(mgr);
  };
  const examples::Setting which{"--object", "barrier, ring, mutex, atomic, store, all, or history: of a store",
                                [&](const std::string& name) {
                                  object = name;
                                  return name == "all" || name == "history" || kObjects.contains(name);
                                }};
  const examples::Setting how_many{"--rounds", "a number from 1 to 1000000000", [&](const std::string& text) {
                                     const char* const end = text.data() + text.size();
                                     const auto [at, error] = std::from_chars(text.data(), end, rounds);
                                     return error == std::errc{} && at == end && rounds >= 1 && rounds <= 1'000'000'000;
                                   }};
  return examples::main(argc, argv,
                        {.nodes = 2, .libraries = libraries, .program = program, .settings = {which, how_many}});
}
