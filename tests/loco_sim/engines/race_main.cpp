// What a fence is for: node A puts a value to node B and tells node C of it, which reads it there. Between the two
// belongs a fence, a program's own, a barrier's or a lock's.
//   test_engine_race told|barrier|mutex fence|no_fence
// Under the thread sanitizer: the race, if there is one. Without: 1 when a value was not there yet.
#include <atomic>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "tests/loco_sim/engines/plain.hpp"

namespace {

using namespace loco::test;  // NOLINT: a test

constexpr std::uint64_t kRounds = 100;

std::atomic<std::uint64_t> stale = 0;

/// Node 0 tells node 2 what it has put to node 1.
void told(EngineTransport& node, bool fence) {
  plain_words words(node, 1);
  loco::manager mgr(node);
  loco::owned_var<std::uint64_t> told(mgr, "told", 0);
  loco::owned_var<std::uint64_t> seen(mgr, "seen", 2);
  mgr.wait_for_ready();
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    if (node.my_node() == 0) {
      words.put(mgr, 1, 0, round);
      if (fence) loco::global_fence(mgr, 1);
      told.store(round);
      told.push(2);
      while (seen.load() < round) node.pause();
    } else if (node.my_node() == 2) {
      while (told.load() < round) node.pause();
      if (words.get(mgr, 1, 0) != round) ++stale;
      seen.store(round);
      seen.push(0);
    }
  }
}

/// Node n puts to node n + 1, all meet at a barrier, node n + 2 reads.
void met(EngineTransport& node, bool fence) {
  using Fence = loco::barrier_options::Fence;
  plain_words words(node, 1);
  loco::manager mgr(node);
  loco::barrier bar(mgr, "bar", {.fence = fence ? Fence::all_nodes : Fence::none});
  loco::barrier next(mgr, "next");
  mgr.wait_for_ready();
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    words.put(mgr, (node.my_node() + 1) % 3, 0, round);
    bar.waiting();
    if (words.get(mgr, (node.my_node() + 2) % 3, 0) != round) ++stale;
    next.waiting();
  }
}

/// All add to a word on node 1 under a lock that is on node 2.
void added(EngineTransport& node, bool fence) {
  plain_words words(node, 1);
  loco::manager mgr(node);
  loco::mutex lock(mgr, "lock", 2, {.fence = fence});
  loco::barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    lock.lock();
    words.put(mgr, 1, 0, words.get(mgr, 1, 0) + 1);
    lock.unlock();
  }
  bar.waiting();
  if (node.my_node() == 0) stale = 3 * kRounds - words.get(mgr, 1, 0);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::map<std::string, std::function<void(EngineTransport&, bool)>> programs = {
      {"told", told}, {"barrier", met}, {"mutex", added}};
  const auto program = argc == 3 ? programs.find(argv[1]) : programs.end();
  const std::string mode = argc == 3 ? argv[2] : "";
  if (program == programs.end() || (mode != "fence" && mode != "no_fence")) {
    std::fputs("expected told, barrier or mutex, then fence or no_fence\n", stderr);
    return 2;
  }
  EngineCluster(3).run([&](EngineTransport& node) { program->second(node, mode == "fence"); });
  std::printf("%llu values were not there yet\n", static_cast<unsigned long long>(stale.load()));
  return stale == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
