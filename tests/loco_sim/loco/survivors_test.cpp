// What the nodes that are left do behind the stop of another one: they make objects among themselves, of names that are
// new, and go on with them.
#include <mutex>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;           // NOLINT: a test
using namespace loco::test::failing;  // NOLINT: a test
using loco::manager;

namespace {

constexpr loco::NodeId kSurvivors = 2;

/// Posts a put to the node that has stopped, without a key: its failure surfaces later, once.
void put_in_vain(loco::var<std::uint64_t>& word) { word.push(kDead); }

/// How many errors a barrier has told of before it returned.
int errors_of(loco::barrier& bar) {
  for (int errors = 0;; ++errors) {
    require(errors < 2, "a failure surfaces once");
    try {
      bar.waiting();
      return errors;
    } catch (const loco::operation_error& error) {
      require(error.peer() == kDead, "the node that has stopped");
    }
  }
}

}  // namespace

TEST_CASE("a barrier that told of an old failure is waited for again, and counts once") {
  int told = 0;
  require_consistent(
      run([&told](loco::Transport& node) {
        manager mgr(node);
        loco::var<std::uint64_t> word(mgr, "word");
        mgr.wait_for_ready();
        if (node.my_node() == kDead)
          while (true) node.compute(kStop);
        node.compute(kAfter);
        const loco::expect_num others{kSurvivors - 1};
        loco::barrier bar(mgr, "bar", {.fence = loco::barrier_options::Fence::participants, .participants = {0, 1}});
        loco::mutex lock(mgr, "lock", 0, {.peers = others});
        loco::atomic_var<std::uint64_t> count(mgr, "count", 1, 0, others);
        mgr.wait_for_ready();
        for (std::uint64_t round = 1; round <= 3; ++round) {
          if (round == 2 && node.my_node() == 0) put_in_vain(word);
          { const std::lock_guard held(lock); }  // cannot fence node 2, lets go all the same
          count.fetch_add(1);
          told += errors_of(bar);
          require(count.load() == round * kSurvivors, "both have come");
          told += errors_of(bar);
        }
      }),
      {trace::Library::rdmawait, trace::Library::sv, trace::Library::bal, trace::Library::lock});
  CHECK(told == 1);  // node 0's put
}
