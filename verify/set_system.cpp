#include "verify/set_system.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace loco::verify {

SetSystem::SetSystem(const Program& program, FlushMask flushes, Network network, std::uint32_t pending)
    : program_(&program),
      flushes_(std::move(flushes)),
      network_(network),
      pending_(pending),
      facts_(program, flushes_, network),
      read_openly_(program.shared.size(), false) {
  find_alike();
  find_told_apart();
  for (const RemoteStatement& s : program.remotes) {
    keeps_order_.push_back(ordered(network, s, s));
    Mask& read = read_by_.emplace_back(0);
    for (const std::uint32_t v : reads(s)) read |= mask_of(v);
    const bool get_reads_openly = s.kind == RemoteKind::kGet && !keeps_order_.back();
    if (s.operand) read_openly_[*s.operand] = true;
    if (s.swap) read_openly_[*s.swap] = true;
    if (get_reads_openly) read_openly_[s.remote] = true;
  }
}

void SetSystem::find_alike() {
  using Meaning = std::tuple<RemoteKind, std::uint32_t, std::uint32_t, std::optional<std::uint32_t>,
                             std::optional<std::uint32_t>, std::optional<std::uint32_t>>;
  std::map<Meaning, std::uint32_t> first;
  for (std::uint32_t i = 0; i < program_->remotes.size(); ++i) {
    const RemoteStatement& s = program_->remotes[i];
    alike_.push_back(first.emplace(Meaning{s.kind, s.process, s.remote, s.result, s.operand, s.swap}, i).first->second);
  }
}

void SetSystem::find_told_apart() {
  told_apart_.assign(program_->remotes.size(), pending_);
  constexpr std::uint32_t kFewMax = 16;
  std::vector<std::uint32_t> count(program_->remotes.size(), 0);
  for (std::uint32_t p = 0; p < program_->processes.size(); ++p) {
    const Process& process = program_->processes[p];
    for (const Edge& edge : process.edges) {
      if (edge.action.kind != ActionKind::kRemote) continue;
      count[alike_[edge.action.remote]] += facts_.processes[p].in_loop[edge.from] ? kFewMax + 1 : 1;
    }
  }
  for (std::uint32_t i = 0; i < count.size(); ++i) {
    const RemoteKind kind = program_->remotes[i].kind;
    if ((kind == RemoteKind::kRga || kind == RemoteKind::kCas) && count[i] <= kFewMax)
      told_apart_[i] = std::max(pending_, count[i]);
  }
}

Point SetSystem::initial() {
  Point point = first_state<Point>(*program_, [&](const Integer& initial) { return numbers_.value(initial); });
  normalise(point);
  return point;
}

void SetSystem::part_values(const Point& point, const Expression& expression, std::vector<Value>& into) {
  into.clear();
  const auto part = [&](Value value) { return into.emplace_back(value); };
  const auto leaf = [&](const ExpressionNode& node) {
    return part(node.op == Operator::kLiteral ? numbers_.value(node.literal) : leaf_value(*program_, point, node));
  };
  (void)fold(expression, stack_, leaf,
             [&](Operator op, Value left, Value right) { return part(numbers_.apply(op, left, right)); });
}

Value SetSystem::value(const Point& point, const Expression& expression) {
  part_values(point, expression, parts_);
  return parts_.back();
}

bool SetSystem::broken(const Point& point) {
  for (const Property& property : program_->properties) {
    if (property.kind == PropertyKind::kFinal && !ended(point)) continue;
    if (value(point, property.expression) == 0) return true;
  }
  return false;
}

bool SetSystem::awaits(std::uint32_t flush, const Entry& entry) const {
  return verify::awaits(program_->flushes[flush], program_->remotes[entry.statement]);
}

bool SetSystem::reads_openly(const Entry& entry) const {
  if (entry.result_only) return false;
  return program_->remotes[entry.statement].kind != RemoteKind::kGet || !keeps_order(entry.statement);
}

std::uint32_t SetSystem::held_back_by(const Point& point, std::uint32_t entry) const {
  const Entry& later = point.entries[entry];
  if (later.result_only || later.many || !keeps_order(later.statement)) return entry;
  for (std::uint32_t i = 0; i < entry; ++i) {
    const Entry& earlier = point.entries[i];
    if (!earlier.result_only && !earlier.many &&
        ordered(network_, program_->remotes[earlier.statement], program_->remotes[later.statement]))
      return i;
  }
  return entry;
}

void SetSystem::process_moves(const Point& point, std::uint32_t process, std::vector<Move>& into) {
  const Process& p = program_->processes[process];
  for (const std::uint32_t e : p.locations[point.at[process]].edges) {
    const Action& action = p.edges[e].action;
    if (action.kind == ActionKind::kAssume && action.expression &&
        (value(point, *action.expression) != 0) == action.negated)
      continue;
    if (action.kind == ActionKind::kFlush && flushes_[action.flush] &&
        std::any_of(point.entries.begin(), point.entries.end(),
                    [&](const Entry& entry) { return awaits(action.flush, entry); }))
      continue;
    const auto choices = std::max<std::size_t>(action.choices.size(), 1);
    for (std::uint32_t c = 0; c < choices; ++c) into.push_back({false, process, e, c, 0, 0, 0, false});
  }
}

void SetSystem::entry_moves(const Point& point, std::uint32_t entry, std::vector<Move>& into) {
  const Entry& e = point.entries[entry];
  if (held_back_by(point, entry) != entry) return;
  const RemoteStatement& s = program_->remotes[e.statement];
  const auto add = [&](Value first, Value second) {
    into.push_back({true, 0, 0, 0, entry, first, second, false});
    if (e.many) into.push_back({true, 0, 0, 0, entry, first, second, true});
  };
  if (!e.result_only && s.kind == RemoteKind::kCas) {
    for (const auto& [operand, swap] : sets_.pairs(e.set)) add(operand, swap);
  } else if (!e.result_only && !reads_openly(e)) {
    add(point.shared[s.remote], 0);
  } else {
    for (const Value v : sets_.values(e.set)) add(v, 0);
  }
}

/// What an entry may have read once it could also read what memory holds now.
SetId SetSystem::grown(const Point& point, const Entry& entry) {
  const RemoteStatement& s = program_->remotes[entry.statement];
  if (s.kind == RemoteKind::kCas) return sets_.pairs_with(entry.set, point.shared[*s.operand], point.shared[*s.swap]);
  return sets_.with(entry.set, point.shared[s.kind == RemoteKind::kGet ? s.remote : *s.operand]);
}

void SetSystem::write(Point& point, std::uint32_t shared, Value value) {
  if (point.shared[shared] == value) return;
  point.shared[shared] = value;
  if (!read_openly_[shared]) return;
  for (Entry& e : point.entries) {
    if (!reads_openly(e)) continue;
    const RemoteStatement& s = program_->remotes[e.statement];
    if (s.kind == RemoteKind::kGet ? s.remote == shared : (s.operand == shared || s.swap == shared))
      e.set = grown(point, e);
  }
}

SetId SetSystem::united(const Entry& a, const Entry& b) {
  const bool pairs = !a.result_only && program_->remotes[a.statement].kind == RemoteKind::kCas;
  return pairs ? sets_.pairs_united(a.set, b.set) : sets_.united(a.set, b.set);
}

void SetSystem::add(Point& point, Entry entry) {
  const auto alike = [&](const Entry& e) {
    return e.statement == entry.statement && e.result_only == entry.result_only;
  };
  const auto same = static_cast<std::size_t>(std::count_if(point.entries.begin(), point.entries.end(), alike));
  const bool merged =
      std::any_of(point.entries.begin(), point.entries.end(), [&](const Entry& e) { return alike(e) && e.many; });
  if (merged || same >= told_apart_[entry.statement]) {
    for (const Entry& e : point.entries) {
      if (alike(e)) entry.set = united(entry, e);
    }
    point.entries.erase(std::remove_if(point.entries.begin(), point.entries.end(), alike), point.entries.end());
    entry.many = true;
    point.merged = true;
  }
  point.entries.push_back(entry);
}

bool SetSystem::merges(const Point& point, const Move& move) const {
  std::uint32_t statement = 0;
  if (move.nic) {
    const Entry& entry = point.entries[move.entry];
    if (entry.result_only || program_->remotes[entry.statement].kind == RemoteKind::kPut) return false;
    statement = entry.statement;
  } else {
    const Action& action = program_->processes[move.process].edges[move.edge].action;
    if (action.kind != ActionKind::kRemote || network_ == Network::kSc) return false;
    statement = alike_[action.remote];
  }
  std::size_t same = 0;
  for (const Entry& e : point.entries) {
    if (e.statement == statement && e.result_only == move.nic) ++same;
  }
  return same >= told_apart_[statement];
}

void SetSystem::issue(Point& point, std::uint32_t statement) {
  const RemoteStatement& s = program_->remotes[statement];
  if (network_ == Network::kSc) return at_once(point, s);
  Entry entry;
  entry.statement = alike_[statement];
  if (reads_openly(entry)) entry.set = grown(point, entry);
  add(point, entry);
}

/// What memory holds where `old` was, when an operation has read these values.
Value SetSystem::at_target(const RemoteStatement& s, Value old, Value operand, Value swap) {
  return verify::at_target(s.kind, old, operand, swap,
                           [&](Value a, Value b) { return numbers_.apply(Operator::kAdd, a, b); });
}

void SetSystem::at_once(Point& point, const RemoteStatement& s) {
  const auto read = [&](const std::optional<std::uint32_t>& v) { return v ? point.shared[*v] : 0; };
  const Value old = point.shared[s.remote];
  write(point, s.remote, at_target(s, old, read(s.operand), read(s.swap)));
  if (s.result) write(point, *s.result, old);
}

void SetSystem::go_on(Point& point, const Move& move) {
  const Entry entry = point.entries[move.entry];
  const RemoteStatement& s = program_->remotes[entry.statement];
  if (!move.stays) point.entries.erase(point.entries.begin() + move.entry);
  if (entry.result_only || (s.kind == RemoteKind::kGet && reads_openly(entry)))
    return write(point, s.result.value(), move.first);
  const Value old = point.shared[s.remote];
  write(point, s.remote, at_target(s, old, move.first, move.second));
  if (s.kind != RemoteKind::kPut) add(point, {entry.statement, true, false, sets_.with(ValueSets::kEmpty, old)});
}

void SetSystem::do_edge(Point& point, const Action& action, std::uint32_t choice) {
  switch (action.kind) {
    case ActionKind::kAssign:
      point.locals[action.local] = value(point, *action.expression);
      break;
    case ActionKind::kChoose:
      point.locals[action.local] = numbers_.value(action.choices[choice]);
      break;
    case ActionKind::kLoad:
      point.locals[action.local] = point.shared[action.shared];
      break;
    case ActionKind::kStore:
      write(point, action.shared, value(point, *action.expression));
      break;
    case ActionKind::kRemote:
      issue(point, action.remote);
      break;
    default:
      break;
  }
}

bool SetSystem::take(Point& point, const Move& move) {
  if (move.nic) {
    go_on(point, move);
    return false;
  }
  const Edge& edge = program_->processes[move.process].edges[move.edge];
  if (edge.action.kind == ActionKind::kAssert &&
      (!edge.action.expression || value(point, *edge.action.expression) == 0))
    return true;
  do_edge(point, edge.action, move.choice);
  point.at[move.process] = edge.to;
  for (const std::uint32_t local : facts_.processes[move.process].edges[move.edge].dead_after) point.locals[local] = 0;
  return false;
}

std::uint32_t SetSystem::moves_weight(const Point& point, const Move& move) const {
  if (!move.nic) return 1;
  const Entry& e = point.entries[move.entry];
  const RemoteKind kind = program_->remotes[e.statement].kind;
  if (e.result_only || !reads_openly(e)) return 1;
  return kind == RemoteKind::kCas ? 3 : 2;
}

bool SetSystem::changes_nothing(const Entry& entry, Mask live) const {
  const RemoteStatement& s = program_->remotes[entry.statement];
  Mask written = s.result ? mask_of(*s.result) : 0;
  if (!entry.result_only && s.kind != RemoteKind::kGet) written |= mask_of(s.remote);
  return (written & live) == 0;
}

/// Drops operations that change nothing that anybody may still read, except through operations dropped as well.
void SetSystem::drop_operations(Point& point) {
  Mask watched = facts_.property_shared;
  for (std::size_t p = 0; p < point.at.size(); ++p) watched |= facts_.processes[p].futures[point.at[p]].reads;
  matters_.assign(point.entries.size(), false);
  for (bool more = true; more;) {  // an operation's reads matter if its writes do
    more = false;
    for (std::size_t i = 0; i < point.entries.size(); ++i) {
      const Entry& e = point.entries[i];
      if (matters_[i] || changes_nothing(e, watched)) continue;
      matters_[i] = more = true;
      if (!e.result_only) watched |= read_by_[e.statement];
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < point.entries.size(); ++i) {
    if (matters_[i]) point.entries[kept++] = point.entries[i];
  }
  point.entries.resize(kept);
}

void SetSystem::forget_values(Point& point) const {
  Mask live = facts_.property_shared;
  for (std::uint32_t p = 0; p < point.at.size(); ++p) {
    const StaticProcess& facts = facts_.processes[p];
    Mask own = facts.live[point.at[p]];
    for (const Entry& e : point.entries) {
      // The result of a pending operation that the process flushes before it reads comes over what is there now.
      const RemoteStatement& s = program_->remotes[e.statement];
      if (s.process == p && s.result && point.shared.size() <= 64)
        own &= ~mask_of(*s.result) | facts.read_before_flush[s.target][point.at[p]];
    }
    live |= own;
  }
  for (const Entry& e : point.entries) {
    const RemoteStatement& s = program_->remotes[e.statement];
    if (e.result_only) continue;
    // What an operation reads openly it may have read already; only of a cas both values make the pair.
    if (s.kind == RemoteKind::kCas || s.kind == RemoteKind::kRga || !reads_openly(e)) live |= mask_of(s.remote);
    if (s.kind == RemoteKind::kCas) live |= mask_of(*s.operand) | mask_of(*s.swap);
  }
  for (std::uint32_t v = 0; v < point.shared.size(); ++v) {
    if ((live & mask_of(v)) == 0) point.shared[v] = kNoValue;
  }
}

void SetSystem::normalise(Point& point) {
  drop_operations(point);
  forget_values(point);
  sort(point);
}

/// One order for points that differ in nothing else. Operations whose place in the order of issue may matter keep it.
void SetSystem::sort(Point& point) const {
  const auto rank = [&](const Entry& e) {
    const RemoteStatement& s = program_->remotes[e.statement];
    const bool queued = keeps_order(e.statement) && !e.result_only && !e.many;
    if (!queued) return std::tuple(std::uint32_t{1}, e.statement, e.result_only ? 1U : 0U, e.many ? 1U : 0U, e.set);
    const auto kind = network_ == Network::kVerbs ? static_cast<std::uint32_t>(s.kind) : 0U;
    return std::tuple(std::uint32_t{0}, s.process, s.target, kind, SetId{0});
  };
  std::stable_sort(point.entries.begin(), point.entries.end(),
                   [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
}

}  // namespace loco::verify
