// examples/leader_election.hpp: no term has two leaders.
#include "examples/leader_election.hpp"

#include <map>
#include <mutex>

#include "loco_sim/loco/objects/barrier.hpp"
#include "tests/examples/many_runs.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

/// All nodes want to lead, three times each.
class Election {
 public:
  explicit Election(election_options options = {}) : options_(options) {}

  void operator()(loco::Transport& node) {
    loco::manager mgr(node);
    leader_election election(mgr, "election", options_);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    for (int i = 0; i < 3; ++i)
      if (const auto term = election.campaign()) note(*term, mgr.my_node());
    bar.waiting();
    // All have stood back by now: who asks again leads, if not at once, since it may have missed terms of others.
    if (mgr.my_node() != 0 || !wrong_.empty()) return;
    std::optional<std::uint32_t> last;
    for (std::size_t i = 0; i < 3U * mgr.num_nodes() && !last; ++i) last = election.campaign();
    if (!last) wrong_ = "nobody can lead any more";
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void note(std::uint32_t term, loco::NodeId node) {
    const std::lock_guard lock(mutex_);
    if (!leaders_.emplace(term, node).second) wrong_ = "a term has two leaders";
  }

  election_options options_;
  std::mutex mutex_;
  std::map<std::uint32_t, loco::NodeId> leaders_;  ///< by term
  std::string wrong_;
};

}  // namespace

TEST_CASE("an election has one leader a term") {
  right_on_many_schedules<Election>(3, 40);
  right_on_many_schedules<Election>(4, 20);
  right_on_threads<Election>(3, 20);
}

TEST_CASE("an election has one leader a term, under 1,000 schedules", "[.long]") {
  right_on_many_schedules<Election>(3, 500);
  right_on_many_schedules<Election>(5, 500);
}

TEST_CASE("an election without compare-and-swap has terms with two leaders") {
  CHECK(first_wrong<Election>(3, 200, election_options{.compare_and_swap = false}) == "a term has two leaders");
}

TEST_CASE("an election goes on when the leader stops") {
  std::optional<std::uint32_t> second;
  failing::run([&](loco::Transport& node) {
    loco::manager mgr(node);
    leader_election election(mgr, "election");
    mgr.wait_for_ready();
    if (mgr.my_node() == failing::kDead) {
      require(election.campaign() == 1, "all nodes answer");
      failing::live(node);
    }
    failing::wait_until(node, failing::kAfter);
    if (mgr.my_node() != 0) return failing::wait_until(node, 2 * failing::kAfter);
    require(!election.campaign(), "the first term has a leader");
    second = election.campaign();
  });
  CHECK(second == 2);
}
