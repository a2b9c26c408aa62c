#include "verify/liveness/lasso.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

namespace loco::verify::liveness {

namespace {

using Exact = verify::State;

/// What two operations have in common that nobody can tell apart.
auto meaning(const Program& program, const PendingOperation& o) {
  const bool before = o.next <= Part::kTarget;
  const RemoteStatement& s = program.remotes[o.statement];
  const bool operand = before && s.operand && o.next > Part::kReadOperand;
  const bool swap = before && s.swap && o.next > Part::kReadSwap;
  return std::tuple(o.statement, o.next, operand ? o.operand : Integer(0), swap ? o.swap : Integer(0),
                    before ? Integer(0) : o.result);
}

/// Whether its place among others matters.
bool queued(const Semantics& semantics, const PendingOperation& o) {
  const RemoteStatement& s = semantics.program().remotes[o.statement];
  return o.next <= Part::kTarget && ordered(semantics.network(), s, s);
}

bool same_queue(const Semantics& semantics, const PendingOperation& a, const PendingOperation& b) {
  const Program& program = semantics.program();
  return queued(semantics, a) && queued(semantics, b) &&
         ordered(semantics.network(), program.remotes[a.statement], program.remotes[b.statement]);
}

/// The place of each operation of `end` among those of `begin`, first come first; nothing when they are not the same.
std::optional<std::map<std::uint32_t, std::uint32_t>> matched(const Semantics& semantics, const Exact& begin,
                                                              const Exact& end) {
  if (begin.pending.size() != end.pending.size()) return std::nullopt;
  std::map<std::uint32_t, std::uint32_t> result;
  std::set<std::uint32_t> taken;
  for (const PendingOperation& o : end.pending) {
    const auto place = std::find_if(begin.pending.begin(), begin.pending.end(), [&](const PendingOperation& b) {
      return taken.count(b.number) == 0 && meaning(semantics.program(), b) == meaning(semantics.program(), o);
    });
    if (place == begin.pending.end()) return std::nullopt;
    taken.insert(place->number);
    result[o.number] = place->number;
  }
  // What waited for what has to do so again.
  for (std::size_t i = 0; i < end.pending.size(); ++i) {
    for (std::size_t k = i + 1; k < end.pending.size(); ++k) {
      if (same_queue(semantics, end.pending[i], end.pending[k]) &&
          result[end.pending[i].number] > result[end.pending[k].number])
        return std::nullopt;
    }
  }
  return result;
}

/// By how much each group of numbers moves from one state to another; nothing when something else changes. `idle`:
/// variables that need not move along, since nobody looks at them.
template <typename Idle>
std::optional<std::vector<Integer>> moved(const Shifts& shifts, const Exact& a, const Exact& b, Idle idle) {
  std::vector<Integer> by(shifts.groups(), 0);
  const auto variables = [&](const auto& visit) {
    for (std::uint32_t v = 0; v < a.shared.size(); ++v)
      visit(shifts.of_shared(v), b.shared[v] - a.shared[v], idle(v, false));
    for (std::uint32_t l = 0; l < a.locals.size(); ++l)
      visit(shifts.of_local(l), b.locals[l] - a.locals[l], idle(l, true));
  };
  bool fits = a.at == b.at;
  variables([&](std::uint32_t group, const Integer& difference, bool) {
    if (difference == Integer(0)) return;
    if (group == Shifts::kNone)
      fits = false;
    else
      by[group] = difference;
  });
  variables([&](std::uint32_t group, const Integer& difference, bool unused) {
    if (group == Shifts::kNone) return;
    fits = fits && (difference == by[group] || (difference == Integer(0) && unused));
  });
  return fits ? std::optional(by) : std::nullopt;
}

/// An operation with the values that it holds moved.
PendingOperation moved(const Program& program, const Shifts& shifts, const std::vector<Integer>& by,
                       PendingOperation o) {
  const RemoteStatement& s = program.remotes[o.statement];
  const auto move = [&](std::uint32_t variable, Integer& value) {
    if (const std::uint32_t group = shifts.of_shared(variable); group != Shifts::kNone) value += by[group];
  };
  if (s.operand) move(*s.operand, o.operand);
  if (s.swap) move(*s.swap, o.swap);
  move(s.remote, o.result);
  return o;
}

/// The state with what its operations hold moved.
Exact moved(const Program& program, const Shifts& shifts, const std::vector<Integer>& by, Exact state) {
  for (PendingOperation& o : state.pending) o = moved(program, shifts, by, o);
  return state;
}

bool same_but_for_operations(const Exact& a, const Exact& b) {
  return a.at == b.at && a.shared == b.shared && a.locals == b.locals;
}

class Writer {
 public:
  explicit Writer(Graph& graph)
      : graph_(graph),
        system_(graph.system()),
        semantics_(system_.program(), system_.flushes(), system_.network()),
        state_(semantics_.initial()) {}

  std::optional<Lasso> run(const Finding& finding) {
    Lasso lasso;
    std::vector<Move> chain;
    (void)system_.initial(&chain);
    here_ = system_.first();
    for (const Move& move : chain) {
      if (!take(move, lasso.stem)) return std::nullopt;
    }
    if (!take(finding.stem, lasso.stem)) return std::nullopt;
    if (finding.loop.empty()) return lasso;
    constexpr int kRoundsMax = 8;
    for (int round = 0; round < kRoundsMax; ++round) {
      const Exact begin = state_;
      lasso.loop.clear();
      if (!take(finding.loop, lasso.loop)) return std::nullopt;
      if (same_but_for_operations(begin, state_)) {
        if (auto again = matched(semantics_, begin, state_)) {
          lasso.again = std::move(*again);
          return lasso;
        }
      }
      constexpr int kSettled = 2;  // what nobody reads has its value of every round by then
      if (round >= kSettled && comes_back_moved(begin, lasso)) return lasso;
      lasso.stem.insert(lasso.stem.end(), lasso.loop.begin(), lasso.loop.end());
    }
    return std::nullopt;
  }

 private:
  bool take(const std::vector<GraphStep>& way, Schedule& into) {
    for (const GraphStep& step : way) {
      const Move move = graph_.move(step.state, step.edge);
      const std::uint32_t p = system_.owner(here_, move);
      if (!take(move, into)) return false;
      while (const auto next = system_.unseen(here_, p)) {
        if (!take(*next, into)) return false;
      }
    }
    return true;
  }

  /// Whether the state at hand is the one before the loop with numbers moved; then it says so.
  bool comes_back_moved(const Exact& begin, Lasso& lasso) const {
    const Shifts& shifts = system_.shifts();
    const auto by = moved(shifts, begin, state_, [](std::uint32_t, bool) { return true; });
    if (!by) return false;
    auto again = matched(semantics_, moved(system_.program(), shifts, *by, begin), state_);
    if (!again) return false;
    lasso.again = std::move(*again);
    lasso.recurrent = condition(shifts, begin, *by);
    return true;
  }

  [[nodiscard]] std::string condition(const Shifts& shifts, const Exact& begin, const std::vector<Integer>& by) const {
    const Program& program = system_.program();
    std::string text;
    const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " && ") + term; };
    for (std::uint32_t g = 0; g < shifts.groups(); ++g) {
      std::string first;
      Integer from = 0;
      const auto member = [&](const std::string& name, const Integer& value) {
        if (first.empty()) {
          first = name;
          from = value;
        } else {
          add(fmt::format("{} - {} == {}", name, first, (value - from).str()));
        }
      };
      if (by[g] == Integer(0)) continue;
      for (std::uint32_t v = 0; v < program.shared.size(); ++v) {
        if (shifts.of_shared(v) == g && begin.shared[v] != state_.shared[v])
          member(program.shared[v].name, begin.shared[v]);
      }
      for (std::uint32_t l = 0; l < program.locals.size(); ++l) {
        if (shifts.of_local(l) == g && begin.locals[l] != state_.locals[l])
          member(local_name(program, l), begin.locals[l]);
      }
      add(fmt::format("{} >= {}", first, from.str()));
    }
    return text + ", all else as at the loop's begin";
  }

  /// One move of the system, from `here_` on.
  bool take(const Move& move, Schedule& into) {
    const bool remote = !move.nic && edge_of(move).action.kind == ActionKind::kRemote;
    std::uint32_t number = state_.issued;
    if (move.nic) {
      const auto found = number_of(move.operation);
      if (!found) return false;
      number = *found;
    }
    const bool ok = move.nic ? add({Step::Kind::kNic, 0, 0, 0, number}, into)
                             : add({Step::Kind::kCpu, move.process, move.edge, move.choice, 0}, into);
    if (!ok || ((move.nic || remote) && !settle(number, into))) return false;
    here_ = system_.single(here_, move);
    return true;
  }

  [[nodiscard]] const Edge& edge_of(const Move& move) const {
    return system_.program().processes[move.process].edges[move.edge];
  }

  bool add(const Step& step, Schedule& into) {
    if (semantics_.obstacle(state_, step)) return false;
    state_ = semantics_.after(state_, step);
    into.push_back(step);
    return true;
  }

  /// Reads of constants, which the graph does at once.
  bool settle(std::uint32_t number, Schedule& into) {
    for (;;) {
      const auto o = std::find_if(state_.pending.begin(), state_.pending.end(),
                                  [&](const PendingOperation& p) { return p.number == number; });
      if (o == state_.pending.end() || !system_.reads_constant(o->statement, o->next)) return true;
      if (!add({Step::Kind::kNic, 0, 0, 0, number}, into)) return false;
    }
  }

  /// The operation that the graph's state has at that place: the same in a queue, or the first of those that are alike.
  [[nodiscard]] std::optional<std::uint32_t> number_of(std::uint32_t place) const {
    const Operation& wanted = here_.operations[place];
    std::uint32_t before = 0;  // of the same statement, value and parts, that come before it in its queue
    for (std::uint32_t i = 0; i < place; ++i) before += here_.operations[i] == wanted ? 1U : 0U;
    for (const PendingOperation& o : state_.pending) {
      if (!is(o, wanted)) continue;
      if (!queued(semantics_, o) || before == 0) return o.number;
      --before;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is(const PendingOperation& exact, const Operation& o) const {
    PendingOperation other;
    other.statement = o.statement;
    other.next = o.next;
    other.operand = system_.numbers().integer(o.operand);
    other.swap = system_.numbers().integer(o.swap);
    other.result = system_.numbers().integer(o.result);
    return meaning(system_.program(), exact) == meaning(system_.program(), other);
  }

  Graph& graph_;
  System& system_;
  Semantics semantics_;
  Exact state_;
  State here_;  ///< of the system, with its real values: moves have the same places as in the graph
};

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

  /// What a step of the loop looks at. All that its statement may read counts.
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

  /// What has been asked for and has not come, in the state at hand.
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
    const bool asked = std::any_of(steps_.begin(), steps_.end(), [&](std::uint32_t p) {
      return property_.processes.empty() ||
             std::binary_search(property_.processes.begin(), property_.processes.end(), p);
    });
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
  int open_ = 0;  ///< 1: what was asked for has not come
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

std::optional<Lasso> lasso_of(Graph& graph, const Finding& finding) { return Writer(graph).run(finding); }

std::optional<std::string> fault_of(const Semantics& semantics, const LivenessProperty& property, Fairness fairness,
                                    const Lasso& lasso) {
  return Judge(semantics, property, fairness, lasso).fault();
}

std::string round_in_words(const Semantics& semantics, const Lasso& lasso) {
  const Program& program = semantics.program();
  Exact state = semantics.initial();
  for (const Step& step : lasso.stem) state = semantics.after(state, step);
  std::string stepping;
  std::string others;
  for (std::uint32_t p = 0; p < program.processes.size(); ++p) {
    const std::string name = program.processes[p].name();
    const bool steps = std::any_of(lasso.loop.begin(), lasso.loop.end(),
                                   [&](const Step& s) { return s.kind == Step::Kind::kCpu && s.process == p; });
    if (steps)
      stepping += fmt::format("{}{}", stepping.empty() ? "" : ", ", name);
    else
      others +=
          fmt::format("; process {} {}", name, state.at[p] == program.processes[p].exit ? "has ended" : "stands still");
  }
  std::string pending;
  for (const auto& [end, begin] : lasso.again)
    pending += fmt::format("{}#{} is pending in the place of #{}", pending.empty() ? "" : ", ", end, begin);
  return fmt::format("in each round {} {} steps{}; {}", stepping.find(',') == std::string::npos ? "process" : "each of",
                     stepping, others, pending.empty() ? "nothing is pending" : pending);
}

}  // namespace loco::verify::liveness
