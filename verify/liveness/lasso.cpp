#include "verify/liveness/lasso.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "verify/liveness/exact_states.hpp"

namespace loco::verify::liveness {

namespace {

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

  /// Adds the reads of constants as steps: in the graph they are part of the step before.
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

}  // namespace

std::optional<Lasso> lasso_of(Graph& graph, const Finding& finding) { return Writer(graph).run(finding); }

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
