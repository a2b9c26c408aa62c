#include "verify/explicit_engine.hpp"

#include <fmt/format.h>
#include <utility>

#include "verify/concretize.hpp"
#include "verify/schedule.hpp"
#include "verify/set_search.hpp"

namespace loco::verify {

namespace {

using End = SearchResult::End;

constexpr std::uint64_t kSuspiciousPoints = 20'000;
/// A search for a shorter schedule is not worth more than this.
constexpr std::uint64_t kSidePointsMax = 50'000;

class ExplicitEngine : public Engine {
 public:
  ExplicitEngine(std::uint64_t points_max, std::uint64_t points_first)
      : points_max_(points_max), points_first_(points_first) {}

  [[nodiscard]] std::string_view name() const override { return "explicit"; }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    answer.engine = name();
    try {
      return decide(task, answer);
    } catch (const LimitReached& reached) {
      return {Verdict::kUnknown, reached.what(), std::string(name()), std::nullopt, "", std::nullopt};
    }
  }

 private:
  Answer decide(const Task& task, Answer answer) {
    const std::uint32_t most = task.network == Network::kSc ? 1 : std::max<std::uint32_t>(task.limits.pending, 1);
    // Telling few operations apart is quick where it suffices, and may never end where it does not: so each number of
    // them gets few points first, and all of them get more when none has decided.
    if (task.limits.suspicious) {
      if (auto schedule = bounded(task, 1, kSuspiciousPoints)) return unsafe(std::move(answer), task, *schedule);
    }
    for (std::uint64_t points = points_first_;; points *= 8) {
      const bool last = points_max_ != 0 && points >= points_max_;
      bool ended = true;  // nothing is gained with more points
      for (std::uint32_t pending = 1; pending <= most; ++pending) {
        SetSystem system(task.program, task.flushes, task.network, pending);
        const SearchResult result = search(system, {task.limits, last ? points_max_ : points, true, false});
        if (result.end == End::kNothing) return safe(std::move(answer), result, pending);
        if (result.end == End::kBroken) {
          auto schedule = concretize(system, result.way, task.limits);
          if (!schedule) schedule = bounded(task, pending, points);
          if (schedule) return unsafe(std::move(answer), task, *schedule);
          continue;  // operations that were merged did what none of them can: tell more of them apart
        }
        ended = false;
        answer.why = reached(result);
        auto schedule = result.merged ? bounded(task, pending, points) : std::nullopt;
        if (schedule) return unsafe(std::move(answer), task, *schedule);
        if (result.end != End::kPoints) return answer;
        if (!result.merged) break;  // the next number would find the same
      }
      if (ended) {
        answer.why = fmt::format(
            "no proof and no counterexample with {} instances of a statement told apart while they are pending", most);
        return answer;
      }
      if (last) {
        answer.more = true;
        return answer;
      }
    }
  }

  static Answer safe(Answer answer, const SearchResult& result, std::uint32_t pending) {
    answer.verdict = Verdict::kSafe;
    answer.why =
        fmt::format("nothing is broken in {} points, {}", result.points,
                    result.merged ? fmt::format("with more than {} pending instances of a statement as a set", pending)
                                  : "which are all that the program has");
    return answer;
  }

  static std::string reached(const SearchResult& result) {
    const char* what = result.end == End::kTime     ? "out of time"
                       : result.end == End::kMemory ? "out of memory"
                                                    : "out of points";
    return fmt::format("{}: nothing is broken in the {} points that were reached", what, result.points);
  }

  /// A real counterexample with at most so many instances of a statement pending, if a short search finds one.
  static std::optional<Schedule> bounded(const Task& task, std::uint32_t pending, std::uint64_t points) {
    SetSystem system(task.program, task.flushes, task.network, pending);
    const SearchResult result = search(system, {task.limits, points, true, true});
    return result.end == End::kBroken ? concretize(system, result.way, task.limits) : std::nullopt;
  }

  static Answer unsafe(Answer answer, const Task& task, const Schedule& found) {
    const Semantics semantics(task.program, task.flushes, task.network);
    Counterexample counterexample{without_needless_steps(semantics, found, task.limits), false};
    try {
      if (task.limits.shortest) shorten(task, semantics, counterexample);
    } catch (const LimitReached&) {
      // It need not be the shortest.
    }
    const auto broken = run(semantics, counterexample.schedule).broken.value();
    answer.verdict = Verdict::kUnsafe;
    answer.why = fmt::format("{} fails after {} steps", broken.text, counterexample.schedule.size());
    answer.counterexample = std::move(counterexample);
    return answer;
  }

  /// The shortest counterexample, if a short search finds it.
  static void shorten(const Task& task, const Semantics& semantics, Counterexample& counterexample) {
    SetSystem system(task.program, task.flushes, task.network, std::max<std::uint32_t>(task.limits.pending, 1));
    const SearchResult result = search(system, {task.limits, kSidePointsMax, false, true});
    if (result.end != End::kBroken) return;
    auto schedule = concretize(system, result.way, task.limits);
    if (!schedule) return;
    const bool shortest = schedule->size() <= result.distance && !result.held_back;
    Schedule better = without_needless_steps(semantics, *schedule, task.limits);
    if (better.size() > counterexample.schedule.size()) return;
    counterexample = {std::move(better), shortest};
  }

  std::uint64_t points_max_;
  std::uint64_t points_first_;
};

}  // namespace

std::unique_ptr<Engine> explicit_engine(std::uint64_t points_max, std::uint64_t points_first) {
  return std::make_unique<ExplicitEngine>(points_max, points_first);
}

}  // namespace loco::verify
