#include "verify/concretize.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "verify/schedule.hpp"

namespace loco::verify {

namespace {

/// An operation that was issued.
struct Instance {
  std::uint32_t statement = 0;
  std::size_t issued = 0;  ///< the step that issued it
  bool result_only = false;
  bool done = false;
  Integer result;
};

class Concretizer {
 public:
  Concretizer(SetSystem& system, const Limits& limits)
      : system_(system),
        limits_(limits),
        program_(system.program()),
        semantics_(system.program(), system.flushes(), system.network()),
        state_(semantics_.initial()) {
    for (const Integer& value : state_.shared) history_.push_back({{0, value}});
  }

  std::optional<Schedule> run(const std::vector<Move>& way) {
    Point point = system_.initial();
    for (const Move& move : way) {
      limits_.tick();
      if (move.nic ? !nic(point, move) : !cpu(move)) return std::nullopt;
      (void)system_.take(point, move);
      system_.normalise(point);
    }
    Schedule result;
    std::stable_sort(reads_.begin(), reads_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    auto read = reads_.begin();
    for (std::size_t i = 0; i <= steps_.size(); ++i) {
      for (; read != reads_.end() && read->first == i; ++read) result.push_back(nic_step(read->second));
      if (i < steps_.size()) result.push_back(steps_[i]);
    }
    const Run outcome = verify::run(semantics_, result, &limits_);
    if (!outcome.broken) return std::nullopt;
    result.resize(outcome.steps);
    return result;
  }

 private:
  static Step nic_step(std::uint32_t operation) { return {Step::Kind::kNic, 0, 0, 0, operation}; }

  void write(std::uint32_t shared, const Integer& value) {
    state_.shared[shared] = value;
    history_[shared].emplace_back(steps_.size(), value);  // after the step that is about to be counted
  }

  bool cpu(const Move& move) {
    const Step step{Step::Kind::kCpu, move.process, move.edge, move.choice, 0};
    const Action& action = program_.processes[move.process].edges[move.edge].action;
    if (action.kind == ActionKind::kFlush && system_.flushes()[action.flush]) finish_before(action.flush);
    if (action.kind == ActionKind::kRemote && system_.network() != Network::kSc)
      instances_.push_back({action.remote, steps_.size(), false, false, 0});
    const std::vector<Integer> before = state_.shared;
    if (semantics_.obstacle(state_, step)) return false;
    state_ = semantics_.after(state_, step);
    state_.pending.clear();  // instances_ has them
    steps_.push_back(step);
    for (std::uint32_t v = 0; v < before.size(); ++v) {
      if (before[v] != state_.shared[v]) history_[v].emplace_back(steps_.size(), state_.shared[v]);
    }
    return true;
  }

  /// Operations that the walk forgot, because nobody could tell when they would go on, do so now.
  void finish_before(std::uint32_t flush) {
    for (std::uint32_t i = 0; i < instances_.size(); ++i)
      if (awaits(program_.flushes[flush], program_.remotes[instances_[i].statement])) finish(i);
  }

  /// Takes all remaining steps of an operation on the present memory.
  void finish(std::uint32_t i) {
    while (!instances_[i].done) part_now(i);
  }

  void part_now(std::uint32_t i) {
    const RemoteStatement& s = program_.remotes[instances_[i].statement];
    if (!instances_[i].result_only) {
      reach_before(i);
      if (s.operand) reads_.emplace_back(steps_.size(), i);
      if (s.swap) reads_.emplace_back(steps_.size(), i);
    }
    do_part(i, s.operand ? state_.shared[*s.operand] : 0, s.swap ? state_.shared[*s.swap] : 0);
  }

  /// Operations that the walk forgot, and that the network keeps before this one, reach their target.
  void reach_before(std::uint32_t later) {
    for (std::uint32_t i = 0; i < later; ++i) {
      const Instance& earlier = instances_[i];
      if (!earlier.done && !earlier.result_only &&
          ordered(system_.network(), program_.remotes[earlier.statement],
                  program_.remotes[instances_[later].statement]))
        part_now(i);
    }
  }

  /// The part at the target, or the write of the result.
  void do_part(std::uint32_t i, const Integer& operand, const Integer& swap) {
    Instance& instance = instances_[i];
    const RemoteStatement& s = program_.remotes[instance.statement];
    steps_.push_back(nic_step(i));
    if (instance.result_only) {
      write(*s.result, instance.result);
      instance.done = true;
      return;
    }
    instance.result = state_.shared[s.remote];
    instance.result_only = true;
    if (s.kind == RemoteKind::kRga) write(s.remote, instance.result + operand);
    if (s.kind == RemoteKind::kCas && instance.result == operand) write(s.remote, swap);
    if (s.kind == RemoteKind::kPut) {
      write(s.remote, operand);
      instance.done = true;
    }
  }

  /// The latest time from `from` to `to` at which a variable had this value: before the step of that number.
  [[nodiscard]] std::optional<std::size_t> when(std::uint32_t shared, const Integer& value, std::size_t from,
                                                std::size_t to) const {
    const auto& changes = history_[shared];
    std::size_t end = to;  // of the time that changes[k] lasted
    for (std::size_t k = changes.size(); k-- > 0;) {
      const std::size_t begin = std::max(changes[k].first, from);
      if (changes[k].second == value && begin <= end && begin <= to) return std::min(end, to);
      if (changes[k].first <= from) break;
      if (changes[k].first != 0) end = std::min(end, changes[k].first - 1);
    }
    return std::nullopt;
  }

  /// When an instance can have read what the move says; the operand's time, then the swap's.
  [[nodiscard]] std::optional<std::vector<std::size_t>> times(const Instance& instance, const Move& move) const {
    const RemoteStatement& s = program_.remotes[instance.statement];
    const Integer first = system_.numbers().integer(move.first);
    const std::size_t now = steps_.size();
    const std::size_t from = instance.issued + 1;
    if (s.kind == RemoteKind::kCas) {
      const auto swap = when(*s.swap, system_.numbers().integer(move.second), from, now);
      const auto operand = swap ? when(*s.operand, first, from, *swap) : std::nullopt;
      if (!operand) return std::nullopt;
      return std::vector<std::size_t>{*operand, *swap};
    }
    const auto time = when(s.kind == RemoteKind::kGet ? s.remote : *s.operand, first, from, now);
    if (!time) return std::nullopt;
    return std::vector<std::size_t>{*time};
  }

  /// Whether the values that an instance may have read are those of the entry.
  [[nodiscard]] bool alike(const Instance& instance, const Entry& entry) const {
    const RemoteStatement& s = program_.remotes[instance.statement];
    if (s.kind == RemoteKind::kCas) return true;
    const std::uint32_t source = s.kind == RemoteKind::kGet ? s.remote : *s.operand;
    std::set<Integer> values;
    for (std::size_t k = history_[source].size(); k-- > 0;) {
      values.insert(history_[source][k].second);
      if (history_[source][k].first <= instance.issued + 1) break;
    }
    std::set<Integer> expected;
    for (const Value v : system_.sets().values(entry.set)) expected.insert(system_.numbers().integer(v));
    return values == expected;
  }

  /// The instance that the move is about.
  [[nodiscard]] std::optional<std::uint32_t> choose(const Entry& entry, const Move& move) const {
    std::optional<std::uint32_t> fallback;
    for (std::uint32_t i = 0; i < instances_.size(); ++i) {
      limits_.tick();
      const Instance& instance = instances_[i];
      if (instance.done || system_.alike(instance.statement) != entry.statement ||
          instance.result_only != entry.result_only)
        continue;
      if (entry.result_only) {
        if (instance.result == system_.numbers().integer(move.first)) return i;
        continue;
      }
      if (!system_.reads_openly(entry)) return i;
      if (!times(instance, move)) continue;
      if (!entry.many && alike(instance, entry)) return i;
      if (!fallback) fallback = i;
    }
    return fallback;
  }

  bool nic(const Point& point, const Move& move) {
    const Entry& entry = point.entries[move.entry];
    const auto chosen = choose(entry, move);
    if (!chosen) return false;
    if (entry.many && !move.stays) {
      // The last of several: what the others write, this one writes over.
      for (std::uint32_t i = 0; i < instances_.size(); ++i) {
        if (i != *chosen && system_.alike(instances_[i].statement) == entry.statement) finish(i);
      }
    }
    const RemoteStatement& s = program_.remotes[entry.statement];
    if (!entry.result_only) reach_before(*chosen);
    if (instances_[*chosen].done || instances_[*chosen].result_only != entry.result_only) return false;
    if (entry.result_only || !system_.reads_openly(entry)) {
      do_part(*chosen, 0, 0);
      return true;
    }
    const auto read = times(instances_[*chosen], move);
    if (!read) return false;
    if (s.kind == RemoteKind::kGet) {  // the read is its part at the target
      reads_.emplace_back(read->front(), *chosen);
      instances_[*chosen].result_only = true;
      instances_[*chosen].result = system_.numbers().integer(move.first);
      do_part(*chosen, 0, 0);
      return true;
    }
    for (const std::size_t time : *read) reads_.emplace_back(time, *chosen);
    do_part(*chosen, system_.numbers().integer(move.first), system_.numbers().integer(move.second));
    return true;
  }

  SetSystem& system_;
  const Limits& limits_;
  const Program& program_;
  Semantics semantics_;
  State state_;     ///< places, memory and locals as they are; pending operations are in instances_
  Schedule steps_;  ///< without reads that are free to come earlier
  std::vector<std::pair<std::size_t, std::uint32_t>> reads_;  ///< (before which step, which operation)
  std::vector<Instance> instances_;
  std::vector<std::vector<std::pair<std::size_t, Integer>>> history_;  ///< values of each variable, from which step on
};

}  // namespace

std::optional<Schedule> concretize(SetSystem& system, const std::vector<Move>& way, const Limits& limits) {
  return Concretizer(system, limits).run(way);
}

}  // namespace loco::verify
