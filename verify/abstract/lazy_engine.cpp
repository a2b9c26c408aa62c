#include "verify/abstract/lazy_engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "verify/abstract/refine.hpp"
#include "verify/semantics.hpp"

namespace loco::verify {

namespace {

using namespace abstract;

constexpr std::uint8_t kCapMax = 8;

class LazyEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "lazy"; }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    answer.engine = name();
    try {
      prepare(task);
      decide(task, answer);
    } catch (const TooLarge& e) {
      answer.why = e.what();
    } catch (const TooManyCases& e) {
      answer.why = e.what();
    } catch (const TooManyPredicates& e) {
      answer.why = e.what();
    }
    return answer;
  }

 private:
  void prepare(const Task& task) {
    if (reduced_ && reduced_->program == &task.program && reduced_->network == task.network) return;
    reduced_ = reduce(task.program, task.network);
    predicates_ = {};
    caps_.assign(reduced_->channels.size(), 2);
  }

  void decide(const Task& task, Answer& answer) {
    const bool verbose = std::getenv("LAZY_VERBOSE") != nullptr;
    for (int round = 1;; ++round) {
      Abstraction abstraction(*reduced_, predicates_);
      Stepper stepper(abstraction, task.flushes, caps_);
      const Footprint footprint(*reduced_, task.flushes);
      const SearchResult result = search(stepper, footprint, task.limits);
      if (verbose) {
        fmt::print(stderr, "round {}: {} predicates, {} states, {} steps\n", round, predicates_.size(), result.states,
                   result.path ? result.path->steps.size() : 0);
      }
      if (result.verdict == Verdict::kSafe) {
        answer.verdict = Verdict::kSafe;
        answer.why = fmt::format("{} predicates, {} abstract states, {} rounds of refinement", predicates_.size(),
                                 result.states, round - 1);
        return;
      }
      if (result.verdict == Verdict::kUnknown) {
        answer.why = fmt::format("{} ({} predicates)", result.why, predicates_.size());
        return;
      }
      const Refinement refinement = refine(stepper, *result.path, predicates_);
      if (verbose && refinement.kind == Refinement::Kind::kPredicates) {
        for (const Linear& p : predicates_.memory) fmt::print(stderr, " {};", to_string(p, [&](Variable v) { return reduced_->name(v); }));
        for (const auto& l : predicates_.elements) for (const Linear& p : l) fmt::print(stderr, " {};", to_string(p, [&](Variable v) { return reduced_->name(v); }));
        fmt::print(stderr, "\n");
      }
      switch (refinement.kind) {
        case Refinement::Kind::kRun:
          return confirm(task, refinement.schedule, answer);
        case Refinement::Kind::kPredicates:
          break;
        case Refinement::Kind::kCount:
          if (caps_[refinement.channel] >= kCapMax) {
            answer.why = "pending operations of one statement could not be told apart";
            return;
          }
          ++caps_[refinement.channel];
          break;
        case Refinement::Kind::kStuck:
          answer.why = refinement.why;
          return;
      }
    }
  }

  /// The exact semantics has the last word on a schedule.
  void confirm(const Task& task, const Schedule& schedule, Answer& answer) {
    const Semantics semantics(task.program, task.flushes, task.network);
    State state = semantics.initial();
    Counterexample counterexample;
    for (const Step& step : schedule) {
      if (semantics.obstacle(state, step)) {
        answer.why = "an abstract run could not be confirmed";
        return;
      }
      counterexample.schedule.push_back(step);
      const auto broken = semantics.broken_by(state, step);
      state = semantics.after(state, step);
      if (broken) return finish(std::move(counterexample), broken->text, answer);
    }
    if (const auto broken = semantics.broken_in(state)) return finish(std::move(counterexample), broken->text, answer);
    answer.why = "an abstract run could not be confirmed";
  }

  static void finish(Counterexample counterexample, const std::string& text, Answer& answer) {
    answer.verdict = Verdict::kUnsafe;
    answer.why = fmt::format("{} does not hold", text);
    answer.counterexample = std::move(counterexample);
  }

  std::optional<Reduced> reduced_;
  Predicates predicates_;
  Caps caps_;
};

}  // namespace

std::unique_ptr<Engine> make_lazy_engine() { return std::make_unique<LazyEngine>(); }

}  // namespace loco::verify
