#include "verify/flush_search.hpp"

#include <algorithm>
#include <chrono>
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
    try {
      return search();
    } catch (const LimitReached& reached) {
      result_.why = fmt::format("{} after {} checks", reached.what(), result_.checks);
      return std::move(result_);
    }
  }

 private:
  FlushSearch search() {
    result_.all = engine_.check(task_);
    ++result_.checks;
    if (done_) done_(given_, result_.all);
    if (result_.all.verdict != Verdict::kSafe) {
      result_.why = "with all flushes the program is not known to be safe";
      return std::move(result_);
    }
    first_half_ = half_of_what_is_left();
    for (std::size_t size = 0; size <= given_.size() && !result_.found; ++size) {
      result_.at_least = size;
      while (const auto placement = candidates_.next(size, task_.limits)) {
        if (!check(*placement)) return at_most();
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

  /// Says whether to go on.
  bool check(const Elements& placement) {
    if (task_.limits.look) task_.limits.look();
    if (std::chrono::steady_clock::now() >= first_half_ || task_.limits.out_of_time()) return false;
    Task task = with(placement);
    task.limits.deadline = first_half_;
    task.limits.suspicious = 4 * placement.size() < given_.size();
    const Answer answer = placement == given_ ? result_.all : engine_.check(task);
    if (placement != given_) ++result_.checks;
    if (done_) done_(placement, answer);
    const bool cut = answer.verdict == Verdict::kUnknown && std::chrono::steady_clock::now() >= first_half_;
    if (cut) return false;
    candidates_.exclude(placement);
    if (answer.verdict == Verdict::kSafe) {
      result_.found = true;
      result_.placements.push_back(placement);
    } else if (answer.verdict == Verdict::kUnknown) {
      result_.undecided.push_back(placement);
    } else {
      learn(placement, answer);
    }
    return true;
  }

  /// When the search for all smallest placements gives way to one that finds some placement.
  [[nodiscard]] std::chrono::steady_clock::time_point half_of_what_is_left() const {
    const auto now = std::chrono::steady_clock::now();
    if (task_.limits.deadline == std::chrono::steady_clock::time_point::max()) return task_.limits.deadline;
    return now + (task_.limits.deadline - now) / 2;
  }

  /// The answer when the search for the smallest placements takes too long: a placement from which no flush can be
  /// removed, found by removing one after the other.
  FlushSearch at_most() {
    Elements placement = given_;
    bool whole = true;
    for (const std::uint32_t flush : given_) {
      Elements fewer = placement;
      fewer.erase(std::find(fewer.begin(), fewer.end(), flush));
      if (!candidates_.meets_all(fewer)) continue;
      whole = !task_.limits.out_of_time();
      if (!whole) break;
      const Answer answer = engine_.check(with(fewer));
      ++result_.checks;
      if (done_) done_(fewer, answer);
      if (answer.verdict == Verdict::kSafe) placement = std::move(fewer);
      if (answer.verdict == Verdict::kUnsafe) learn(fewer, answer);
    }
    result_.at_most = placement;
    result_.why = fmt::format("at most {} of {} flushes, at least {}: out of time after {} checks{}", placement.size(),
                              given_.size(), result_.at_least, result_.checks,
                              whole ? "" : ", in which not every flush was tried");
    return std::move(result_);
  }

  void learn(const Elements& placement, const Answer& answer) {
    if (answer.passed) return require(*answer.passed);
    const Schedule& schedule = answer.counterexample.value().schedule;
    const Semantics semantics(task_.program, with(placement).flushes, task_.network);
    require(flushes_that_would_wait(semantics, with_operations_early(semantics, schedule, task_.limits)));
  }

  void require(Elements clause) {
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
  std::chrono::steady_clock::time_point first_half_;
};

}  // namespace

FlushSearch search_flushes(Engine& engine, const Task& task,
                           const std::function<void(const Elements&, const Answer&)>& done) {
  return Searcher(engine, task, done).run();
}

}  // namespace loco::verify
