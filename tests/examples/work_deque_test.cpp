// examples/work_deque.hpp: every task is done once, by its owner or by a thief.
#include "examples/work_deque.hpp"

#include <atomic>
#include <vector>

#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "tests/examples/many_runs.hpp"

using namespace loco::test;  // NOLINT: a test

namespace {

/// Node 0 pushes ten tasks, pops one behind every second one and all in the end; the others steal. Four tasks fit.
class Work {
 public:
  explicit Work(deque_options options = {}) : options_(options), done_(kTasks) {}

  void operator()(loco::Transport& node) {
    loco::manager mgr(node);
    work_deque tasks(mgr, "tasks", 0, 4, options_);
    loco::owned_var<std::uint64_t> ended(mgr, "ended", 0);
    loco::barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    if (mgr.my_node() == 0) {
      own(tasks);
      ended.store(1);
      ended.push_broadcast();
    } else {
      while (ended.load() == 0)
        if (const auto task = tasks.steal()) done(*task);
    }
    bar.waiting();
  }

  [[nodiscard]] std::string wrong() const {
    for (const auto& times : done_)
      if (times != 1) return times == 0 ? "a task is lost" : "a task is done twice";
    return {};
  }

 private:
  static constexpr std::size_t kTasks = 10;

  void own(work_deque& tasks) {
    for (std::size_t task = 0; task < kTasks; ++task) {
      while (!tasks.push(task)) pop(tasks);
      if (task % 2 == 1) pop(tasks);
    }
    while (pop(tasks)) {
    }
  }
  bool pop(work_deque& tasks) {
    const auto task = tasks.pop();
    if (task) done(*task);
    return task.has_value();
  }
  void done(work_deque::Task task) { ++done_.at(task); }

  deque_options options_;
  std::vector<std::atomic<int>> done_;  ///< how often, by task
};

}  // namespace

TEST_CASE("every task of a work-stealing deque is done once") {
  right_on_many_schedules<Work>(2, 40);
  right_on_many_schedules<Work>(3, 40);
  right_on_threads<Work>(4, 20);
}

TEST_CASE("every task of a work-stealing deque is done once, under 1,000 schedules", "[.long]") {
  right_on_many_schedules<Work>(2, 500);
  right_on_many_schedules<Work>(4, 500);
}

TEST_CASE("a work-stealing deque whose owner does not fence has tasks done twice") {
  CHECK(first_wrong<Work>(2, 300, deque_options{.fence = false}) == "a task is done twice");
}
