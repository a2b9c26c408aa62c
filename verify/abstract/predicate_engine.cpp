#include "verify/abstract/predicate_engine.hpp"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "verify/abstract/certify.hpp"
#include "verify/abstract/refine.hpp"
#include "verify/semantics.hpp"

namespace loco::verify {

namespace {

using namespace abstract;

constexpr std::uint8_t kCap = 2;
constexpr std::uint8_t kCapMax = 8;

/// All that a verdict depends on: a program may be gone, and another one be where it was.
std::string text_of(const Program& program) {
  std::string text = program.file;
  for (const SharedVariable& v : program.shared) text += fmt::format("|{} {} {}", v.name, v.initial.str(), v.process);
  for (const LocalVariable& v : program.locals) text += fmt::format("|{} {} {}", v.name, v.initial.str(), v.process);
  for (const RemoteStatement& r : program.remotes) text += fmt::format("|{} {}", r.text, r.process);
  for (const FlushStatement& f : program.flushes) text += fmt::format("|{} {}", f.text, f.process);
  for (const Process& p : program.processes) {
    text += fmt::format("|process {} {} {}", p.name(), p.entry, p.exit);
    for (const Edge& e : p.edges) text += fmt::format("|{} {} {} {}", e.from, e.to, e.text, e.action.negated);
  }
  for (const Property& p : program.properties)
    text += fmt::format("|{} {}", int{p.kind == PropertyKind::kFinal}, p.expression.text);
  return text;
}

class PredicateEngine final : public Engine {
 public:
  explicit PredicateEngine(std::vector<Expression> given) : given_(std::move(given)) {}

  [[nodiscard]] std::string_view name() const override { return "predicates"; }

  [[nodiscard]] Answer check(const Task& task) override { return check(task, Order::kReduced); }

  [[nodiscard]] Answer check(const Task& task, Order order) {
    Answer answer;
    answer.engine = name();
    try {
      prepare(task);
      decide(task, order, answer);
    } catch (const GivesUp& e) {
      answer.why = e.what();
    } catch (const LimitReached& e) {
      answer.why = fmt::format("{}, with {} predicates", e.what(), predicates_.size());
      answer.more = task.limits.ticks_max != 0;
    }
    return answer;
  }

  /// Over memory: an element's are those of the variable that it is a value of.
  [[nodiscard]] std::vector<Linear> learnt() const {
    if (!reduced_) return {};
    Predicates result = predicates_;
    std::uint32_t operand = 0;
    for (const Channel& c : reduced_->channels) {
      for (const Operand& o : c.operands) {
        const Variable remote = reduced_->shared(reduced_->program->remotes[c.remote].remote);
        const Linear source = Linear::of(c.results ? remote : o.source);
        if (operand < predicates_.elements.size()) {
          for (const Linear& p : predicates_.elements[operand])
            result.add(*reduced_, substitute(p, [&](Variable v) { return v == o.element ? &source : nullptr; }));
        }
        ++operand;
      }
    }
    return result.memory;
  }

 private:
  void prepare(const Task& task) {
    std::string text = text_of(task.program);
    const bool known = reduced_ && text == text_ && reduced_->network == task.network;
    text_ = std::move(text);
    if (known) {
      reduced_->program = &task.program;
      return;
    }
    reduced_.reset();
    reduced_ = reduce(task.program, task.network);
    predicates_ = {};
    predicates_.memory = atoms_of(*reduced_, given_);
    caps_.assign(reduced_->channels.size(), kCap);
  }

  void decide(const Task& task, Order order, Answer& answer) {
    for (int round = 0;; ++round) {
      Abstraction abstraction(*reduced_, predicates_);
      Stepper stepper(abstraction, task.flushes, caps_, task.limits);
      const Footprint footprint(*reduced_, task.flushes);
      SearchResult result = search(stepper, footprint, task.limits, order);
      if (result.verdict == Verdict::kSafe) {
        answer.verdict = Verdict::kSafe;
        answer.predicates = static_cast<std::uint32_t>(predicates_.size());
        answer.why = fmt::format(
            "{} predicates over memory and {} over what is pending, found in {} rounds, keep {} "
            "abstract states from breaking anything",
            predicates_.memory.size(), predicates_.size() - predicates_.memory.size(), round, result.states);
        if (order == Order::kAll)
          answer.certificate = to_text(*reduced_, certify(stepper, result.kept, caps_, task.flushes));
        return;
      }
      if (result.verdict == Verdict::kUnknown) {
        answer.why = fmt::format("{}, with {} predicates", result.why, predicates_.size());
        answer.more = task.limits.ticks_max != 0;
        return;
      }
      const Refinement refinement = refine(stepper, *result.path, predicates_);
      if (refinement.kind == Refinement::Kind::kRun) return confirm(task, refinement.schedule, answer);
      if (refinement.kind == Refinement::Kind::kStuck) {
        answer.why = refinement.why;
        return;
      }
      if (refinement.kind == Refinement::Kind::kCount && !count_further(refinement.channel, answer)) return;
    }
  }

  bool count_further(std::uint32_t channel, Answer& answer) {
    if (caps_[channel] < kCapMax) {
      ++caps_[channel];
      return true;
    }
    answer.why = fmt::format("operations of {} that are pending together could not be told apart",
                             reduced_->program->remotes[reduced_->channels[channel].remote].text);
    return false;
  }

  /// The exact semantics has the last word on a schedule.
  static void confirm(const Task& task, const Schedule& schedule, Answer& answer) {
    const Semantics semantics(task.program, task.flushes, task.network);
    State state = semantics.initial();
    Counterexample counterexample;
    answer.why = "a run of the abstraction is none of the program";
    for (const Step& step : schedule) {
      if (semantics.obstacle(state, step)) return;
      counterexample.schedule.push_back(step);
      const auto broken = semantics.broken_by(state, step);
      state = semantics.after(state, step);
      if (broken) return finish(std::move(counterexample), broken->text, answer);
    }
    if (const auto broken = semantics.broken_in(state)) finish(std::move(counterexample), broken->text, answer);
  }

  static void finish(Counterexample counterexample, const std::string& text, Answer& answer) {
    answer.verdict = Verdict::kUnsafe;
    answer.why = fmt::format("{} fails after {} steps", text, counterexample.schedule.size());
    answer.counterexample = std::move(counterexample);
  }

  std::vector<Expression> given_;
  std::string text_;
  std::optional<Reduced> reduced_;
  Predicates predicates_;
  Caps caps_;
};

}  // namespace

std::vector<Linear> atoms_of(const Reduced& reduced, const std::vector<Expression>& expressions) {
  Predicates predicates;
  for (const Expression& e : expressions) {
    const auto naming = [&](const ExpressionNode& node) {
      return Linear::of(node.op == Operator::kShared ? reduced.shared(node.index) : reduced.local(node.index));
    };
    for (const bool negated : {false, true}) {
      for (const Conjunction& c : where_true(e, negated, naming)) {
        for (const Linear& atom : c.atoms) predicates.add(reduced, atom);
      }
    }
  }
  return predicates.memory;
}

std::unique_ptr<Engine> predicate_engine(std::vector<Expression> predicates) {
  return std::make_unique<PredicateEngine>(std::move(predicates));
}

Learned learn(const Task& task, std::vector<Expression> predicates) {
  PredicateEngine engine(std::move(predicates));
  Learned result;
  result.answer = engine.check(task);
  result.predicates = engine.learnt();
  return result;
}

Answer certified(const Task& task, std::vector<Expression> predicates) {
  return PredicateEngine(std::move(predicates)).check(task, Order::kAll);
}

std::string certificate_of(const Task& task) { return certified(task).certificate; }

}  // namespace loco::verify
