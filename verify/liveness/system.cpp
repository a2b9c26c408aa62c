#include "verify/liveness/system.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace loco::verify::liveness {

namespace {

constexpr std::uint32_t kNobody = 0xffffffffU;

Program asked(const Program& program) {
  Program result = program;
  result.properties.clear();
  for (const LivenessProperty& l : program.liveness) {
    if (l.when) result.properties.push_back({PropertyKind::kAlways, *l.when, l.place});
    if (l.then) result.properties.push_back({PropertyKind::kAlways, *l.then, l.place});
  }
  return result;
}

}  // namespace

System::System(const Program& program, FlushMask flushes, Network network, std::uint32_t bound, Beyond beyond)
    : program_(&program),
      flushes_(std::move(flushes)),
      network_(network),
      bound_(bound),
      beyond_(beyond),
      constants_(program),
      asked_(asked(program)),
      facts_(asked_, flushes_, network),
      shifts_(program) {
  find_unseen();
}

void System::find_unseen() {
  const Program& program = *program_;
  for (const SharedVariable& v : program.shared) owner_.push_back(v.process);
  for (const RemoteStatement& s : program.remotes) owner_[s.remote] = kNobody;
  std::vector<bool> locals(program.locals.size(), false);
  std::vector<std::vector<std::vector<bool>>> places(program.processes.size());  // what properties tell apart
  for (std::uint32_t p = 0; p < program.processes.size(); ++p) {
    std::vector<bool> end(program.processes[p].locations.size(), false);
    end[program.processes[p].exit] = true;
    places[p].push_back(std::move(end));
  }
  const auto standing = [&](std::uint32_t p, std::uint32_t location) {
    std::vector<bool> there(program.processes[p].locations.size(), false);
    there[location] = true;
    places[p].push_back(std::move(there));
  };
  for (const Property& property : asked_.properties) {
    for (const ExpressionNode& node : property.expression.nodes) {
      if (node.op == Operator::kShared) owner_[node.index] = kNobody;
      if (node.op == Operator::kLocal) locals[node.index] = true;
      if (node.op == Operator::kAt) standing(node.index, node.location);
      if (node.op == Operator::kIn)
        places[node.index].push_back(program.processes[node.index].labels[node.location].inside);
    }
  }
  for (const LivenessProperty& l : program.liveness) {
    for (const LivenessProperty::Labelled& label : l.labels) standing(label.process, label.location);
  }
  for (std::uint32_t p = 0; p < program.processes.size(); ++p) {
    std::vector<bool>& seen = seen_edges_.emplace_back();
    for (const Edge& edge : program.processes[p].edges) {
      const ActionKind kind = edge.action.kind;
      const bool assigns = kind == ActionKind::kAssign || kind == ActionKind::kLoad;
      const bool told = std::any_of(places[p].begin(), places[p].end(),
                                    [&](const std::vector<bool>& set) { return set[edge.from] != set[edge.to]; });
      seen.push_back(told || (assigns && locals[edge.action.local]) || edge.from == edge.to);
    }
  }
}

/// Whether a pending operation has to read the variable on its own side, or to write it.
bool System::in_use(const State& state, std::uint32_t shared) const {
  return std::any_of(state.operations.begin(), state.operations.end(), [&](const Operation& o) {
    const RemoteStatement& s = program_->remotes[o.statement];
    return s.operand == shared || s.swap == shared || s.result == shared;
  });
}

/// Whether of all that is pending only this operation uses the word of its process.
bool System::alone(const State& state, std::uint32_t operation, std::uint32_t word) const {
  for (std::uint32_t o = 0; o < state.operations.size(); ++o) {
    if (o == operation) continue;
    const RemoteStatement& s = program_->remotes[state.operations[o].statement];
    if (s.operand == word || s.swap == word || s.result == word) return false;
  }
  return true;
}

std::uint32_t System::owner(const State& state, const Move& move) const {
  return move.nic ? program_->remotes[state.operations[move.operation].statement].process : move.process;
}

/// The operation that the process waits for at a flush and that only its own words are in the way of.
std::optional<Move> System::unseen_part(const State& state, std::uint32_t p, std::uint32_t target) const {
  for (std::uint32_t o = 0; o < state.operations.size(); ++o) {
    const Operation& operation = state.operations[o];
    const RemoteStatement& s = program_->remotes[operation.statement];
    if (s.process != p || s.target != target || operation.many || operation.next == Part::kTarget) continue;
    const std::uint32_t word = operation.next == Part::kReadOperand ? *s.operand
                               : operation.next == Part::kReadSwap  ? *s.swap
                                                                    : *s.result;
    if (is_own(word, p) && alone(state, o, word)) return Move{true, 0, 0, 0, o, false};
  }
  return std::nullopt;
}

std::optional<Move> System::unseen(const State& state, std::uint32_t p) {
  const Process& process = program_->processes[p];
  const std::uint32_t at = state.at[p];
  if (facts_.processes[p].loop_heads[at]) return std::nullopt;
  for (const std::uint32_t e : process.locations[at].edges) {
    const Edge& edge = process.edges[e];
    const Action& action = edge.action;
    const bool own_word = (action.kind == ActionKind::kLoad || action.kind == ActionKind::kStore) &&
                          is_own(action.shared, p) && !in_use(state, action.shared);
    const bool local = action.kind == ActionKind::kSkip || action.kind == ActionKind::kAssign ||
                       action.kind == ActionKind::kAssert ||
                       (action.kind == ActionKind::kAssume && action.expression) || action.kind == ActionKind::kFlush;
    if (seen_edges_[p][e] || (!local && !own_word)) return std::nullopt;
    if (enabled(state, edge)) return Move{false, p, e, 0, 0, false};
    if (action.kind == ActionKind::kFlush) return unseen_part(state, p, program_->flushes[action.flush].target);
  }
  return std::nullopt;
}

/// Values that nobody reads before they are overwritten.
void System::forget(State& state) const {
  Mask live = facts_.property_shared;
  for (std::uint32_t p = 0; p < state.at.size(); ++p) live |= facts_.processes[p].live[state.at[p]];
  for (const Operation& o : state.operations) {
    const RemoteStatement& s = program_->remotes[o.statement];
    if (o.next > Part::kTarget) continue;
    if (s.kind != RemoteKind::kPut) live |= mask_of(s.remote);
    if (s.operand) live |= mask_of(*s.operand);
    if (s.swap) live |= mask_of(*s.swap);
  }
  for (std::uint32_t v = 0; v < state.shared.size(); ++v) {
    if ((live & mask_of(v)) == 0) state.shared[v] = kNoValue;
  }
  for (std::uint32_t l = 0; l < state.locals.size(); ++l) {
    const std::uint32_t p = program_->locals[l].process;
    const std::vector<std::uint32_t>& live_here = facts_.processes[p].live_locals[state.at[p]];
    if (!std::binary_search(live_here.begin(), live_here.end(), l)) state.locals[l] = kNoValue;
  }
}

/// Groups of which only differences matter, from their smallest value on.
void System::shift(State& state, std::optional<Operation>& more) const {
  using Groups = std::vector<std::vector<Value*>>;
  Groups groups(shifts_.groups());
  Groups beside(shifts_.groups());
  const auto add_to = [](Groups& into, std::uint32_t group, Value& value) {
    if (group != Shifts::kNone && value != kNoValue) into[group].push_back(&value);
  };
  const auto add_operation = [&](Groups& into, Operation& o) {
    const auto add = [&](std::uint32_t group, Value& value) { add_to(into, group, value); };
    const RemoteStatement& s = program_->remotes[o.statement];
    if (o.next == Part::kWriteResult) add(shifts_.of_shared(s.remote), o.result);
    if (o.next > Part::kTarget) return;
    if (s.operand && o.next > Part::kReadOperand) add(shifts_.of_shared(*s.operand), o.operand);
    if (s.swap && o.next > Part::kReadSwap) add(shifts_.of_shared(*s.swap), o.swap);
  };
  for (std::uint32_t v = 0; v < state.shared.size(); ++v) add_to(groups, shifts_.of_shared(v), state.shared[v]);
  for (std::uint32_t l = 0; l < state.locals.size(); ++l) add_to(groups, shifts_.of_local(l), state.locals[l]);
  for (Operation& o : state.operations) add_operation(groups, o);
  if (more) add_operation(beside, *more);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<Value*>& group = groups[g];
    constexpr Value kFar = 1 << 20;  // larger numbers have handles that are no numbers
    const auto small = [](const Value* v) { return *v > -kFar && *v < kFar; };
    if (group.empty() || !std::all_of(group.begin(), group.end(), small)) continue;
    const Value least = **std::min_element(group.begin(), group.end(), [](Value* a, Value* b) { return *a < *b; });
    for (Value* v : group) *v -= least;
    for (Value* v : beside[g]) *v -= least;
  }
}

State System::after(const State& state, const Move& move) {
  State result = single(state, move);
  auto added = added_;
  const std::uint32_t p = owner(state, move);
  while (const auto next = unseen(result, p)) result = single(result, *next);
  forget(result);
  shift(result, added);
  added_ = added;
  return result;
}

State System::initial(std::vector<Move>* chain) {
  State result = first();
  for (std::uint32_t p = 0; p < result.at.size(); ++p) {
    while (const auto next = unseen(result, p)) {
      if (chain != nullptr) chain->push_back(*next);
      result = single(result, *next);
    }
  }
  forget(result);
  std::optional<Operation> none;
  shift(result, none);
  return result;
}

State System::first() {
  return first_state<State>(*program_, [&](const Integer& initial) { return numbers_.value(initial); });
}

Value System::value(const State& state, const Expression& expression) {
  std::vector<Value> stack;
  return fold(
      expression, stack,
      [&](const ExpressionNode& node) {
        return node.op == Operator::kLiteral ? numbers_.value(node.literal) : leaf_value(*program_, state, node);
      },
      [&](Operator op, Value left, Value right) { return numbers_.apply(op, left, right); });
}

bool System::queued(const Operation& o) const {
  const RemoteStatement& s = program_->remotes[o.statement];
  return !o.many && o.next <= Part::kTarget && ordered(network_, s, s);
}

/// Whether the part at the target waits for that of an earlier operation.
bool System::waits(const State& state, std::uint32_t operation) const {
  const Operation& later = state.operations[operation];
  if (later.next != Part::kTarget || !queued(later)) return false;
  for (std::uint32_t i = 0; i < operation; ++i) {
    const Operation& earlier = state.operations[i];
    if (queued(earlier) && ordered(network_, program_->remotes[earlier.statement], program_->remotes[later.statement]))
      return true;
  }
  return false;
}

bool System::enabled(const State& state, const Edge& edge) {
  const Action& action = edge.action;
  if (action.kind == ActionKind::kAssume)
    return !action.expression || (value(state, *action.expression) != 0) != action.negated;
  if (action.kind != ActionKind::kFlush || !flushes_[action.flush]) return true;
  const FlushStatement& flush = program_->flushes[action.flush];
  return std::none_of(state.operations.begin(), state.operations.end(),
                      [&](const Operation& o) { return awaits(flush, program_->remotes[o.statement]); });
}

void System::moves(const State& state, std::vector<Move>& into, std::vector<bool>& enabled_processes, bool& held_back) {
  into.clear();
  enabled_processes.assign(state.at.size(), false);
  for (std::uint32_t p = 0; p < state.at.size(); ++p) {
    const Process& process = program_->processes[p];
    for (const std::uint32_t e : process.locations[state.at[p]].edges) {
      const Edge& edge = process.edges[e];
      if (!enabled(state, edge)) continue;
      enabled_processes[p] = true;
      if (beyond_ == Beyond::kHeldBack && edge.action.kind == ActionKind::kRemote && network_ != Network::kSc) {
        const auto pending = std::count_if(state.operations.begin(), state.operations.end(),
                                           [&](const Operation& o) { return o.statement == edge.action.remote; });
        if (pending >= static_cast<std::ptrdiff_t>(bound_)) {
          held_back = true;
          continue;
        }
      }
      const auto choices = std::max<std::size_t>(edge.action.choices.size(), 1);
      for (std::uint32_t c = 0; c < choices; ++c) into.push_back({false, p, e, c, 0, false});
    }
  }
  for (std::uint32_t o = 0; o < state.operations.size(); ++o) {
    if (waits(state, o)) continue;
    const Operation& operation = state.operations[o];
    // Of equal operations only one moves, since all give the same state; in a queue each has a place of its own.
    if (o > 0 && !queued(operation) && state.operations[o - 1] == operation) continue;
    into.push_back({true, 0, 0, 0, o, false});
    if (operation.many) into.push_back({true, 0, 0, 0, o, true});
  }
}

bool System::reads_constant(std::uint32_t statement, Part part) const {
  const RemoteStatement& s = program_->remotes[statement];
  if (part == Part::kReadOperand) return constants_.shared[*s.operand];
  return part == Part::kReadSwap && constants_.shared[*s.swap];
}

/// Reads that give the same whenever they are done are done now.
void System::settle(State& state, Operation& o) {
  while (o.next != Part::kDone && reads_constant(o.statement, o.next)) go_on(state, o);
}

/// One part.
void System::go_on(State& state, Operation& o) {
  do_part(state, o, program_->remotes[o.statement],
          [&](Value a, Value b) { return numbers_.apply(Operator::kAdd, a, b); });
}

void System::add(State& state, const Operation& operation) {
  added_ = operation;
  state.operations.push_back(operation);
  if (beyond_ == Beyond::kHeldBack) return;
  std::vector<Operation>& all = state.operations;
  // Places in a queue make operations different: there all of a statement count.
  const bool in_queue = queued(operation);
  const auto same = [&](const Operation& o) {
    if (in_queue) return o.statement == operation.statement && queued(o);
    Operation plain = o;
    plain.many = operation.many;
    return plain == operation;
  };
  const bool merged = std::any_of(all.begin(), all.end(), [&](const Operation& o) { return same(o) && o.many; });
  const auto count = std::count_if(all.begin(), all.end(), same);
  const bool among_many = in_queue && std::any_of(all.begin(), all.end(), [&](const Operation& o) {
                            return o.many && o.statement == operation.statement && o.next <= Part::kTarget;
                          });
  if (!merged && !among_many && count <= static_cast<std::ptrdiff_t>(bound_)) return;
  for (Operation& o : all) {
    if (same(o)) o.many = true;
  }
  std::vector<Operation> kept;
  for (const Operation& o : all) {
    if (!o.many || std::find(kept.begin(), kept.end(), o) == kept.end()) kept.push_back(o);
  }
  all = std::move(kept);
}

void System::do_edge(State& state, const Edge& edge, std::uint32_t choice) {
  const Action& action = edge.action;
  switch (action.kind) {
    case ActionKind::kAssign:
      state.locals[action.local] = value(state, *action.expression);
      break;
    case ActionKind::kChoose:
      state.locals[action.local] = numbers_.value(action.choices[choice]);
      break;
    case ActionKind::kLoad:
      state.locals[action.local] = state.shared[action.shared];
      break;
    case ActionKind::kStore:
      state.shared[action.shared] = value(state, *action.expression);
      break;
    case ActionKind::kRemote: {
      Operation operation;
      operation.statement = action.remote;
      operation.next = first_part(program_->remotes[action.remote].kind);
      if (network_ == Network::kSc) {
        while (operation.next != Part::kDone) go_on(state, operation);
      } else {
        settle(state, operation);
        add(state, operation);
      }
      break;
    }
    default:
      break;
  }
}

State System::single(const State& before, const Move& move) {
  added_.reset();
  State state = before;
  if (!move.nic) {
    const Edge& edge = program_->processes[move.process].edges[move.edge];
    do_edge(state, edge, move.choice);
    state.at[move.process] = edge.to;
    sort(state);
    return state;
  }
  Operation operation = state.operations[move.operation];
  const auto place = state.operations.begin() + move.operation;
  if (!operation.many) {
    // In a queue an operation that has read more keeps its place.
    if (queued(operation) && operation.next != Part::kTarget) {
      go_on(state, *place);
      settle(state, *place);
      sort(state);
      return state;
    }
    state.operations.erase(place);
  } else if (!move.stays) {
    // There were more than the bound says; of those that had an order nothing is known.
    operation.many = false;
    const bool order = queued(operation);
    state.operations.erase(place);
    if (!order) state.operations.insert(state.operations.end(), bound_, operation);
  }
  const bool was_many = operation.many || state.operations.size() > before.operations.size();
  operation.many = false;
  const bool had_order = queued(operation);
  go_on(state, operation);
  settle(state, operation);
  if (operation.next != Part::kDone) {
    operation.many = was_many && had_order && operation.next <= Part::kTarget;  // it has no place in a queue any more
    if (operation.many) {
      added_ = operation;
      if (std::find(state.operations.begin(), state.operations.end(), operation) == state.operations.end())
        state.operations.push_back(operation);
    } else {
      add(state, operation);
    }
  }
  sort(state);
  return state;
}

void System::sort(State& state) const {
  using Rank = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  const auto rank = [&](const Operation& o) -> Rank {
    if (!queued(o)) return {1, 0, 0, 0};
    const RemoteStatement& s = program_->remotes[o.statement];
    return {0, s.process, s.target, network_ == Network::kVerbs ? static_cast<std::uint32_t>(s.kind) : 0U};
  };
  std::stable_sort(state.operations.begin(), state.operations.end(), [&](const Operation& a, const Operation& b) {
    const Rank first = rank(a);
    const Rank second = rank(b);
    if (first != second) return first < second;
    return std::get<0>(first) == 1 && a < b;
  });
}

}  // namespace loco::verify::liveness
