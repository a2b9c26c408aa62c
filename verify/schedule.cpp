#include "verify/schedule.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace loco::verify {

namespace {

bool issues(const Program& program, const Step& step) {
  return step.kind == Step::Kind::kCpu &&
         program.processes.at(step.process).edges.at(step.edge).action.kind == ActionKind::kRemote;
}

/// The schedule without the steps that are marked, and without what these operations would have done.
Schedule without(const Semantics& semantics, const Schedule& schedule, const std::vector<bool>& left_out) {
  Schedule result;
  std::map<std::uint32_t, std::uint32_t> numbers;  // of operations that stay
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Step step = schedule[i];
    if (step.kind == Step::Kind::kNic) {
      const auto number = numbers.find(step.operation);
      if (left_out[i] || number == numbers.end()) continue;
      step.operation = number->second;
    } else {
      const bool issue = issues(semantics.program(), step);
      if (issue && !left_out[i]) numbers.emplace(before, static_cast<std::uint32_t>(numbers.size()));
      if (issue) ++before;
      if (left_out[i]) continue;
    }
    result.push_back(step);
  }
  return result;
}

/// Tries to leave out all steps that `chosen(i)` names.
template <typename Chosen>
bool try_without(const Semantics& semantics, Schedule& schedule, const Limits& limits, Chosen chosen) {
  std::vector<bool> left_out(schedule.size());
  for (std::size_t i = 0; i < schedule.size(); ++i) left_out[i] = chosen(i);
  if (std::find(left_out.begin(), left_out.end(), true) == left_out.end()) return false;
  Schedule shorter = without(semantics, schedule, left_out);
  const Run result = run(semantics, shorter, &limits);
  if (!result.broken) return false;
  shorter.resize(result.steps);
  if (shorter.size() >= schedule.size()) return false;
  schedule = std::move(shorter);
  return true;
}

}  // namespace

Run run(const Semantics& semantics, const Schedule& schedule, const Limits* limits) {
  Run result;
  State state = semantics.initial();
  result.broken = semantics.broken_in(state);
  for (const Step& step : schedule) {
    if (limits != nullptr) limits->tick();
    if (result.broken) return result;
    result.obstacle = semantics.obstacle(state, step);
    if (result.obstacle) return result;
    result.broken = semantics.broken_by(state, step);
    state = semantics.after(state, step);
    ++result.steps;
    if (!result.broken) result.broken = semantics.broken_in(state);
  }
  return result;
}

namespace {

void leave_out_needless_steps(const Semantics& semantics, Schedule& best, const Limits& limits) {
  for (bool better = true; better;) {
    better = false;
    for (std::uint32_t p = 0; p < semantics.program().processes.size(); ++p) {
      // A process may not be needed from some point on.
      for (std::size_t from = 0; from < best.size(); ++from) {
        if (best[from].kind != Step::Kind::kCpu || best[from].process != p) continue;
        if (try_without(semantics, best, limits, [&](std::size_t i) {
              return i >= from && best[i].kind == Step::Kind::kCpu && best[i].process == p;
            })) {
          better = true;
          break;
        }
      }
    }
    for (const std::size_t length : {8U, 4U, 2U, 1U}) {
      for (std::size_t from = best.size(); from-- > 0;) {
        // So many steps in a row of one process, or of one operation.
        if (from >= best.size()) continue;
        const Step first = best[from];
        std::size_t left = length;
        better |= try_without(semantics, best, limits, [&](std::size_t i) {
          if (i < from || left == 0 || best[i].kind != first.kind || best[i].process != first.process ||
              best[i].operation != first.operation)
            return false;
          --left;
          return true;
        });
      }
    }
  }
}

}  // namespace

Schedule without_needless_steps(const Semantics& semantics, const Schedule& schedule, const Limits& limits) {
  Schedule best = schedule;
  best.resize(run(semantics, best).steps);
  constexpr std::size_t kLongMax = 400;  // trying takes the square of the length
  if (best.size() > kLongMax) return best;
  try {
    leave_out_needless_steps(semantics, best, limits);
  } catch (const LimitReached&) {
    // A limit was reached: the steps left out before it stay left out.
  }
  return best;
}

namespace {

/// Where an operation is issued, and which steps move it.
struct Life {
  std::uint32_t statement = 0;
  std::size_t issued = 0;
  std::vector<std::size_t> moves;
};

std::vector<Life> lives(const Semantics& semantics, const Schedule& schedule) {
  std::vector<Life> result;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Step& step = schedule[i];
    if (step.kind == Step::Kind::kNic) {
      result.at(step.operation).moves.push_back(i);
    } else if (issues(semantics.program(), step)) {
      result.push_back({semantics.program().processes[step.process].edges[step.edge].action.remote, i, {}});
    }
  }
  return result;
}

std::size_t parts(RemoteKind kind) {
  std::size_t result = 0;
  for (Part part = first_part(kind); part != Part::kDone; part = part_after(kind, part)) ++result;
  return result;
}

/// The flush of a step that does not count and would wait for an operation of this statement, if it is one.
std::optional<std::uint32_t> passes(const Semantics& semantics, const Step& step, std::uint32_t statement) {
  if (step.kind != Step::Kind::kCpu) return std::nullopt;
  const Program& program = semantics.program();
  const Action& action = program.processes[step.process].edges[step.edge].action;
  if (action.kind != ActionKind::kFlush || semantics.flushes()[action.flush]) return std::nullopt;
  return awaits(program.flushes[action.flush], program.remotes[statement]) ? std::optional(action.flush) : std::nullopt;
}

/// The schedule with an operation done, in all its parts, right before step `at`.
Schedule done_before(const Schedule& schedule, const Life& life, std::uint32_t operation, std::size_t at,
                     std::size_t parts) {
  Schedule result;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (i == at) {
      for (; moved < parts; ++moved) result.push_back({Step::Kind::kNic, 0, 0, 0, operation});
    }
    const bool own = std::find(life.moves.begin(), life.moves.end(), i) != life.moves.end();
    if (own && i > at) continue;
    if (own) ++moved;
    result.push_back(schedule[i]);
  }
  return result;
}

}  // namespace

namespace {

void bring_operations_early(const Semantics& semantics, Schedule& best, const Limits& limits) {
  const auto operations = static_cast<std::uint32_t>(lives(semantics, best).size());
  for (std::uint32_t o = 0; o < operations; ++o) {
    const std::vector<Life> all = lives(semantics, best);
    if (o >= all.size()) break;
    const Life& life = all[o];
    const std::size_t whole = parts(semantics.program().remotes[life.statement].kind);
    for (std::size_t i = life.issued + 1; i < best.size(); ++i) {
      if (life.moves.size() == whole && life.moves.back() < i) break;
      if (!passes(semantics, best[i], life.statement)) continue;
      Schedule earlier = done_before(best, life, o, i, whole);
      const Run result = run(semantics, earlier, &limits);
      if (!result.broken) continue;
      earlier.resize(result.steps);
      best = std::move(earlier);
      break;
    }
  }
}

}  // namespace

Schedule with_operations_early(const Semantics& semantics, const Schedule& schedule, const Limits& limits) {
  Schedule best = schedule;
  if (semantics.network() == Network::kSc) return best;
  try {
    bring_operations_early(semantics, best, limits);
  } catch (const LimitReached&) {
    // A limit was reached: the steps moved forward before it stay where they are.
  }
  return best;
}

std::vector<std::uint32_t> flushes_that_would_wait(const Semantics& semantics, const Schedule& schedule) {
  std::vector<std::uint32_t> result;
  if (semantics.network() == Network::kSc) return result;
  for (const Life& life : lives(semantics, schedule)) {
    const std::size_t whole = parts(semantics.program().remotes[life.statement].kind);
    const std::size_t end = life.moves.size() == whole ? life.moves.back() : schedule.size();
    for (std::size_t i = life.issued + 1; i < end; ++i) {
      const auto flush = passes(semantics, schedule[i], life.statement);
      if (flush) result.push_back(*flush);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

namespace {

std::string change(const std::string& name, const Integer& before, const Integer& after) {
  return before == after ? fmt::format("{} stays {}", name, after.str())
                         : fmt::format("{} = {} (was {})", name, after.str(), before.str());
}

StepInWords nic_step(const Program& program, const State& before, const State& after, const Step& step) {
  const auto operation = std::find_if(before.pending.begin(), before.pending.end(),
                                      [&](const PendingOperation& o) { return o.number == step.operation; });
  const RemoteStatement& s = program.remotes[operation->statement];
  StepInWords result{s.process, true, operation->number, "", "", s.place};
  const auto variable = [&](std::uint32_t v) { return program.shared[v].name; };
  const auto written = [&](std::uint32_t v) { return change(variable(v), before.shared[v], after.shared[v]); };
  const auto read = [&](std::uint32_t v) { return fmt::format("{} is {}", variable(v), before.shared[v].str()); };
  switch (operation->next) {
    case Part::kReadOperand:
      result.action = fmt::format("reads {}", variable(*s.operand));
      result.effect = read(*s.operand);
      break;
    case Part::kReadSwap:
      result.action = fmt::format("reads {}", variable(*s.swap));
      result.effect = read(*s.swap);
      break;
    case Part::kTarget:
      if (s.kind == RemoteKind::kGet) {
        result.action = fmt::format("reads {}", variable(s.remote));
        result.effect = read(s.remote);
      } else {
        const bool put = s.kind == RemoteKind::kPut;
        result.action = put ? fmt::format("writes {}", variable(s.remote))
                        : s.kind == RemoteKind::kRga
                            ? fmt::format("adds {} to {}", operation->operand.str(), variable(s.remote))
                            : fmt::format("compares {} with {}", variable(s.remote), operation->operand.str());
        result.effect = written(s.remote);
      }
      break;
    default:
      result.action = fmt::format("writes {}", variable(*s.result));
      result.effect = written(*s.result);
  }
  return result;
}

StepInWords cpu_step(const Program& program, const State& before, const State& after, const Step& step) {
  const Edge& edge = program.processes[step.process].edges[step.edge];
  const Action& action = edge.action;
  StepInWords result{step.process, false, std::nullopt, edge.text, "", edge.place};
  if (action.kind == ActionKind::kAssign || action.kind == ActionKind::kChoose || action.kind == ActionKind::kLoad)
    result.effect = change(program.locals[action.local].name, before.locals[action.local], after.locals[action.local]);
  if (action.kind == ActionKind::kStore)
    result.effect =
        change(program.shared[action.shared].name, before.shared[action.shared], after.shared[action.shared]);
  if (action.kind != ActionKind::kRemote) return result;
  result.operation = before.issued;
  if (!after.pending.empty() && after.pending.back().number == before.issued) return result;
  const RemoteStatement& s = program.remotes[action.remote];  // sc: done at once
  for (const std::uint32_t v : writes(s)) {
    if (!result.effect.empty()) result.effect += ", ";
    result.effect += change(program.shared[v].name, before.shared[v], after.shared[v]);
  }
  return result;
}

}  // namespace

std::vector<StepInWords> in_words(const Semantics& semantics, const Schedule& schedule) {
  std::vector<StepInWords> result;
  State state = semantics.initial();
  for (const Step& step : schedule) {
    if (semantics.obstacle(state, step)) break;
    const State next = semantics.after(state, step);
    result.push_back(step.kind == Step::Kind::kNic ? nic_step(semantics.program(), state, next, step)
                                                   : cpu_step(semantics.program(), state, next, step));
    state = next;
  }
  return result;
}

}  // namespace loco::verify
