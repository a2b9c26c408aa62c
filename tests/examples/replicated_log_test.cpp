// examples/replicated_log.hpp: whatever two nodes, or one node at two times, know to be committed is the same.
#include "examples/replicated_log.hpp"

#include <array>
#include <map>
#include <mutex>

#include "loco_sim/loco/objects/barrier.hpp"
#include "tests/examples/many_runs.hpp"
#include "tests/loco_sim/loco/failing.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

/// All nodes want to lead and append, at once; they look at the log all the time.
class Leaders {
 public:
  explicit Leaders(log_options options = {}) : options_(options) {}

  void operator()(loco::Transport& node) {
    loco::manager mgr(node);
    replicated_log log(mgr, "log", kSlots, options_);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    append_some(log);
    bar.waiting();
    look(log);
    bar.waiting();
    if (mgr.my_node() == 0) last(log);
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  static constexpr std::uint64_t kSlots = 64;

  void append_some(replicated_log& log) {
    std::uint32_t value = 100 * (log.my_node() + 1);
    for (int turn = 0; turn < 3; ++turn) {
      look(log);
      if (!log.lead()) continue;
      look(log);
      for (int i = 0; i < 3 && log.append(++value); ++i) {
        acknowledged(value);
        look(log);
      }
    }
  }
  /// Who leads now has all that anybody was told is committed.
  void last(replicated_log& log) {
    while (!log.lead()) {
    }
    look(log);
    for (const auto& [slot, value] : seen_) acknowledged_.erase(value);
    if (!acknowledged_.empty()) wrong_ = "a committed value is lost";
  }

  void acknowledged(std::uint32_t value) {
    const std::lock_guard lock(mutex_);
    acknowledged_[value] = true;
  }
  void look(replicated_log& log) {
    for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
      const auto value = log.committed(slot);
      if (!value) return;
      const std::lock_guard lock(mutex_);
      if (seen_.emplace(slot, *value).first->second != *value) wrong_ = "two values are committed in a slot";
    }
  }

  log_options options_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint32_t> seen_;  ///< by slot
  std::map<std::uint32_t, bool> acknowledged_;
  std::string wrong_;
};

}  // namespace

TEST_CASE("what is committed in a replicated log stays as it is, whoever leads") {
  right_on_many_schedules<Leaders>(3, 40);
  right_on_many_schedules<Leaders>(4, 10);
  right_on_threads<Leaders>(3, 20);
}

TEST_CASE("what is committed in a replicated log stays as it is, under 1,000 schedules", "[.long]") {
  right_on_many_schedules<Leaders>(3, 500);
  right_on_many_schedules<Leaders>(5, 500);
}

TEST_CASE("a replicated log whose leaders do not ask for their permission commits two values in a slot") {
  const std::string wrong = first_wrong<Leaders>(3, 300, log_options{.ask_permission = false});
  CHECK((wrong == "two values are committed in a slot" || wrong == "a committed value is lost"));
}

TEST_CASE("a replicated log goes on when a leader stops") {
  constexpr loco::NodeId kFirst = failing::kDead;
  std::array<std::uint32_t, 2> found{};
  failing::run([&](loco::Transport& node) {
    loco::manager mgr(node);
    replicated_log log(mgr, "log", 8);
    mgr.wait_for_ready();
    if (mgr.my_node() == kFirst) {
      require(log.lead() && log.append(7), "all nodes answer");
      failing::live(node);
    }
    failing::wait_until(node, failing::kAfter);
    if (mgr.my_node() == 0) {
      require(!log.lead() && log.lead(), "it hears of the latest epoch; two of three nodes answer");
      require(log.append(8), "and are enough");
    }
    while (!log.committed(1)) node.compute(failing::kRoundTrip);
    found.at(mgr.my_node()) = *log.committed(0) * 10 + *log.committed(1);
  });
  CHECK(found == std::array<std::uint32_t, 2>{78, 78});
}
