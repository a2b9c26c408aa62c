#include "verify/flush_search.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "verify/schedule.hpp"

namespace loco::verify {

namespace {

class Searcher {
 public:
  Searcher(Engine& engine, const Task& task, const std::function<void(const Elements&, const Answer&)>& done)
      : engine_(engine), task_(task), done_(done), candidates_(static_cast<std::uint32_t>(task.flushes.size())) {
    for (std::uint32_t f = 0; f < task.flushes.size(); ++f) {
      if (task.flushes[f]) given_.push_back(f);
    }
  }

  FlushSearch run() {
    result_.all = engine_.check(task_);
    ++result_.checks;
    if (done_) done_(given_, result_.all);
    if (result_.all.verdict != Verdict::kSafe) {
      result_.why = "with all flushes the program is not known to be safe";
      return std::move(result_);
    }
    for (std::size_t size = 0; size <= given_.size() && !result_.found; ++size) {
      while (const auto placement = candidates_.next(size)) {
        if (!check(*placement)) return std::move(result_);
      }
    }
    std::sort(result_.placements.begin(), result_.placements.end());
    result_.why = fmt::format("{} of {} flushes, after {} checks", result_.placements.front().size(), given_.size(),
                              result_.checks);
    if (!result_.undecided.empty())
      result_.why += fmt::format("; of {} placements that are as small or smaller it is not known whether they work",
                                 result_.undecided.size());
    return std::move(result_);
  }

 private:
  /// Says whether to go on.
  bool check(const Elements& placement) {
    if (task_.limits.look) task_.limits.look();
    if (task_.limits.out_of_time()) {
      result_.why = fmt::format("out of time after {} checks", result_.checks);
      return false;
    }
    const Answer answer = placement == given_ ? result_.all : engine_.check(with(placement));
    if (placement != given_) ++result_.checks;
    if (done_) done_(placement, answer);
    candidates_.exclude(placement);
    if (answer.verdict == Verdict::kSafe) {
      result_.found = true;
      result_.placements.push_back(placement);
    } else if (answer.verdict == Verdict::kUnknown) {
      result_.undecided.push_back(placement);
    } else {
      learn(placement, answer.counterexample.value().schedule);
    }
    return true;
  }

  void learn(const Elements& placement, const Schedule& schedule) {
    const Semantics semantics(task_.program, with(placement).flushes, task_.network);
    Elements clause = flushes_that_would_wait(semantics, with_operations_early(semantics, schedule));
    clause.erase(std::remove_if(clause.begin(), clause.end(), [&](std::uint32_t f) { return !task_.flushes[f]; }),
                 clause.end());
    if (clause.empty()) throw std::logic_error("a counterexample holds with all flushes, which are safe");
    candidates_.require(clause);
  }

  [[nodiscard]] Task with(const Elements& placement) const {
    Task result = task_;
    result.limits.shortest = false;
    result.flushes.assign(task_.flushes.size(), false);
    for (const std::uint32_t f : placement) result.flushes[f] = true;
    return result;
  }

  Engine& engine_;
  const Task& task_;
  const std::function<void(const Elements&, const Answer&)>& done_;
  HittingSets candidates_;
  Elements given_;
  FlushSearch result_;
};

}  // namespace

FlushSearch search_flushes(Engine& engine, const Task& task,
                           const std::function<void(const Elements&, const Answer&)>& done) {
  return Searcher(engine, task, done).run();
}

}  // namespace loco::verify
