// Is a lasso a counterexample? What a graph found, or what a file says, is taken step by step by the exact semantics.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "verify/liveness/exact_states.hpp"
#include "verify/liveness/lasso.hpp"

namespace loco::verify::liveness {

namespace {

/// Takes a lasso step by step and judges it.
class Judge {
 public:
  Judge(const Semantics& semantics, const LivenessProperty& property, Fairness fairness, const Lasso& lasso)
      : semantics_(semantics),
        program_(semantics.program()),
        property_(property),
        fairness_(fairness),
        lasso_(lasso),
        state_(semantics.initial()),
        shifts_(program_),
        by_(shifts_.groups(), 0) {}

  std::optional<std::string> fault() {
    note_state();
    if (auto obstacle = take(lasso_.stem, 0)) return obstacle;
    begin_ = state_;
    const bool came = open_ == 0;
    if (lasso_.loop.empty()) {
      if (!lasso_.again.empty()) return "\"again\" names operations, but there is no loop";
      if (!semantics_.steps(state_).empty()) return "a step can still be taken after the last one";
      return asked_for_at_the_end(came);
    }
    in_loop_ = true;
    if (auto obstacle = take(lasso_.loop, lasso_.stem.size())) return obstacle;
    if (lasso_.recurrent.empty()) {
      if (!same_but_for_operations(begin_, state_))
        return "the loop does not come back to the same memory, locals and places";
    } else {
      const auto by = moved(shifts_, begin_, state_, [&](std::uint32_t v, bool local) { return is_idle(v, local); });
      if (!by) return "the loop does not come back to the same state with numbers moved";
      by_ = *by;
      begin_ = moved(program_, shifts_, by_, begin_);
    }
    if (auto wrong = wrong_again()) return wrong;
    if (auto unfair = unfairness()) return unfair;
    return asked_for_in_the_loop();
  }

 private:
  bool holds(const std::optional<Expression>& expression) const {
    return semantics_.value_of(state_, expression.value()) != 0;
  }

  /// Nobody reads it in the loop, and the property does not name it.
  [[nodiscard]] bool is_idle(std::uint32_t variable, bool local) const {
    const std::set<std::uint32_t>& read = local ? read_locals_ : read_shared_;
    return read.count(variable) == 0;
  }

  void note_reads(const Expression& expression) {
    for (const ExpressionNode& node : expression.nodes) {
      if (node.op == Operator::kLocal) read_locals_.insert(node.index);
      if (node.op == Operator::kShared) read_shared_.insert(node.index);
    }
  }

  /// The variables that a step of the loop reads: all that its statement may read.
  void note_reads(const Step& step) {
    if (step.kind == Step::Kind::kCpu) {
      for (const std::uint32_t e : program_.processes[step.process].locations[state_.at[step.process]].edges) {
        const Action& action = program_.processes[step.process].edges[e].action;
        if (action.expression) note_reads(*action.expression);
        if (action.kind == ActionKind::kLoad) read_shared_.insert(action.shared);
        if (action.kind == ActionKind::kRemote) note_reads(program_.remotes[action.remote]);
      }
      return;
    }
    for (const PendingOperation& o : state_.pending) {
      if (o.number == step.operation) note_reads(program_.remotes[o.statement]);
    }
  }

  void note_reads(const RemoteStatement& s) {
    for (const std::uint32_t v : reads(s)) read_shared_.insert(v);
  }

  [[nodiscard]] bool has_ended(std::uint32_t p) const { return state_.at[p] == program_.processes[p].exit; }

  /// The awaited events that have not come in the present state.
  void note_state() {
    if (property_.kind == LivenessKind::kEventually) {
      open_ = came_ || holds(property_.then) ? 0 : 1;
      came_ = open_ == 0;
    }
    if (property_.kind == LivenessKind::kLeadsTo) {
      if (holds(property_.when)) open_ = 1;
      if (holds(property_.then)) open_ = 0;
      if (in_loop_ && holds(property_.then)) came_in_loop_ = true;
    }
    for (std::uint32_t p = 0; p < program_.processes.size() && in_loop_; ++p) {
      bool can = false;
      for (const std::uint32_t e : program_.processes[p].locations[state_.at[p]].edges)
        can = can || !semantics_.obstacle(state_, {Step::Kind::kCpu, p, e, 0, 0});
      if (!can) waits_.insert(p);
    }
  }

  std::optional<std::string> take(const Schedule& schedule, std::size_t before) {
    if (in_loop_) {
      note_state();
      if (property_.when) note_reads(*property_.when);
      if (property_.then) note_reads(*property_.then);
    }
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      const Step& step = schedule[i];
      if (const auto obstacle = semantics_.obstacle(state_, step))
        return fmt::format("step {} cannot be taken: {}", before + i + 1, *obstacle);
      if (in_loop_) note_reads(step);
      if (step.kind == Step::Kind::kCpu && in_loop_) {
        steps_.insert(step.process);
        for (const LivenessProperty::Labelled& l : property_.labels)
          progress_ = progress_ || (l.process == step.process && l.location == state_.at[l.process]);
      }
      state_ = semantics_.after(state_, step);
      note_state();
    }
    return std::nullopt;
  }

  std::optional<std::string> wrong_again() const {
    if (lasso_.again.size() != state_.pending.size() || begin_.pending.size() != state_.pending.size())
      return "\"again\" does not pair the operations that are pending at the loop's end and at its begin";
    std::set<std::uint32_t> taken;
    const auto numbered = [](const Exact& state, std::uint32_t number) {
      return std::find_if(state.pending.begin(), state.pending.end(),
                          [&](const PendingOperation& o) { return o.number == number; });
    };
    for (const auto& [end, begin] : lasso_.again) {
      const auto after = numbered(state_, end);
      const auto before = numbered(begin_, begin);
      if (after == state_.pending.end() || before == begin_.pending.end() || !taken.insert(begin).second ||
          meaning(program_, *after) != meaning(program_, *before))
        return fmt::format("operation {} at the loop's end cannot take the place of operation {} at its begin", end,
                           begin);
    }
    for (const PendingOperation& a : state_.pending) {
      for (const PendingOperation& b : state_.pending) {
        if (a.number < b.number && same_queue(semantics_, a, b) &&
            lasso_.again.at(a.number) > lasso_.again.at(b.number))
          return fmt::format("operations {} and {} change places", a.number, b.number);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> unfairness() const {
    for (std::uint32_t p = 0; p < program_.processes.size() && fairness_ == Fairness::kWeak; ++p) {
      if (steps_.count(p) == 0 && waits_.count(p) == 0)
        return fmt::format("process {} could step all the time and does not", program_.processes[p].name());
    }
    if (fairness_ == Fairness::kNone) return std::nullopt;
    for (const PendingOperation& o : begin_.pending) {
      // Round by round, the operation is the one at the end whose place it takes.
      std::uint32_t number = o.number;
      std::size_t rounds = 0;
      while (std::any_of(state_.pending.begin(), state_.pending.end(),
                         [&](const PendingOperation& p) { return p.number == number; })) {
        number = lasso_.again.at(number);
        if (++rounds > begin_.pending.size()) return fmt::format("operation {} is never done", o.number);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool all_have_ended() const {
    return std::all_of(property_.processes.begin(), property_.processes.end(),
                       [&](std::uint32_t p) { return has_ended(p); });
  }

  std::optional<std::string> asked_for_at_the_end(bool came) const {
    const bool by_state = property_.kind == LivenessKind::kEventually || property_.kind == LivenessKind::kLeadsTo;
    if (by_state ? came : all_have_ended()) return "what is asked for comes";
    return std::nullopt;
  }

  std::optional<std::string> asked_for_in_the_loop() const {
    switch (property_.kind) {
      case LivenessKind::kEnds:
        if (all_have_ended()) return "what is asked for comes";
        break;
      case LivenessKind::kEventually:
        if (open_ == 0) return "what is asked for comes";
        break;
      case LivenessKind::kLeadsTo:
        if (open_ == 0 || came_in_loop_) return "what is asked for comes";
        break;
      case LivenessKind::kProgress:
        if (progress_ || all_have_ended()) return "what is asked for comes";
    }
    if (fairness_ != Fairness::kNic) return std::nullopt;
    const bool asked = std::any_of(steps_.begin(), steps_.end(), [&](std::uint32_t p) { return property_.names(p); });
    return asked ? std::nullopt : std::optional<std::string>("no process that is asked for steps in the loop");
  }

  const Semantics& semantics_;
  const Program& program_;
  const LivenessProperty& property_;
  Fairness fairness_;
  const Lasso& lasso_;
  Exact state_;
  Exact begin_;  ///< of the loop
  bool in_loop_ = false;
  int open_ = 0;  ///< 1: the awaited event has not come
  bool came_ = false;
  bool came_in_loop_ = false;
  bool progress_ = false;
  Shifts shifts_;
  std::vector<Integer> by_;                            ///< by group: how far its numbers move in a round
  std::set<std::uint32_t> read_shared_, read_locals_;  ///< in the loop
  std::set<std::uint32_t> steps_;                      ///< processes that step in the loop
  std::set<std::uint32_t> waits_;                      ///< ... that cannot, in some state of it
};

}  // namespace

std::optional<std::string> fault_of(const Semantics& semantics, const LivenessProperty& property, Fairness fairness,
                                    const Lasso& lasso) {
  return Judge(semantics, property, fairness, lasso).fault();
}

}  // namespace loco::verify::liveness
