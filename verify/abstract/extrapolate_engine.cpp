#include "verify/abstract/extrapolate_engine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "verify/abstract/extrapolation.hpp"
#include "verify/abstract/predicate_engine.hpp"

namespace loco::verify {

namespace {

using namespace abstract;

constexpr std::uint8_t kFlag = 2;  // a channel holds none, one, or more

void add(std::vector<Linear>& list, const std::vector<Linear>& more) {
  for (const Linear& p : more) {
    if (std::find(list.begin(), list.end(), p) == list.end()) list.push_back(p);
  }
}

class ExtrapolateEngine final : public Engine {
 public:
  explicit ExtrapolateEngine(std::vector<Expression> given) : given_(std::move(given)) {}

  [[nodiscard]] std::string_view name() const override { return "extrapolate"; }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    try {
      answer = decide(task);
    } catch (const GivesUp& e) {
      answer.why = e.what();
    } catch (const LimitReached& e) {
      answer.why = e.what();
    }
    answer.engine = name();
    return answer;
  }

 private:
  Answer decide(const Task& task) {
    const Reduced reduced = reduce(task.program, task.network);
    std::vector<Linear> predicates = atoms_of(reduced, given_);
    if (given_.empty()) {
      const Learned sc = learn({task.program, task.flushes, Network::kSc, task.limits});
      // A property violated without a network is violated with one: the reduction finds the schedule.
      if (sc.answer.verdict != Verdict::kSafe) return learn(task).answer;
      predicates = sc.predicates;
    }
    for (int round = 0;; ++round) {
      Abstraction abstraction(reduced, extrapolated(reduced, predicates));
      const BooleanProgram program = boolean_program(reduced, predicates, task.limits);
      const Caps caps(reduced.channels.size(), kFlag);
      ExtrapolatedStepper stepper(abstraction, program, task.flushes, caps, task.limits);
      const SearchResult result = search(stepper, Footprint(reduced, task.flushes), task.limits, Order::kReduced);
      const std::string found =
          fmt::format("{} predicates, {} when extrapolated; {} solver calls; {} abstract states", predicates.size(),
                      abstraction.predicates().size() + reduced.channels.size(), program.solver_calls, result.states);
      if (result.verdict == Verdict::kSafe)
        return {Verdict::kSafe, found, "", std::nullopt, "", static_cast<std::uint32_t>(predicates.size())};
      if (result.verdict == Verdict::kUnknown) return {Verdict::kUnknown, result.why, "", std::nullopt, ""};
      const Learned more = learn(task);
      if (more.answer.verdict != Verdict::kSafe) return more.answer;
      const std::size_t before = predicates.size();
      add(predicates, more.predicates);
      if (predicates.size() == before || round > 0)
        return {Verdict::kUnknown, "the extrapolated program has a run that breaks it: " + found, "", std::nullopt, ""};
    }
  }

  std::vector<Expression> given_;
};

}  // namespace

std::unique_ptr<Engine> extrapolate_engine(std::vector<Expression> predicates) {
  return std::make_unique<ExtrapolateEngine>(std::move(predicates));
}

std::string dump(const Task& task, const std::string& what, const std::vector<Expression>& given) {
  const Reduced reduced = reduce(task.program, task.network);
  if (what == "reduced") return reduction_text(reduced);
  if (what != "bp" && what != "ebp")
    throw std::invalid_argument(fmt::format("expected bp, reduced or ebp, found \"{}\"", what));
  std::vector<Linear> predicates = atoms_of(reduced, given);
  if (given.empty()) predicates = learn({task.program, task.flushes, Network::kSc, task.limits}).predicates;
  const BooleanProgram program = boolean_program(reduced, predicates, task.limits);
  return what == "bp" ? to_text(reduced, program) : extrapolation_text(reduced, program);
}

}  // namespace loco::verify
