// States of the exact semantics at the begin and at the end of a loop: are they the same but for the names of pending
// operations and for groups of numbers that have moved? Private to the lassos.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "verify/liveness/shifts.hpp"
#include "verify/semantics.hpp"

namespace loco::verify::liveness {

using Exact = verify::State;

/// The key by which two operations are alike: no step tells operations with equal keys apart.
inline auto meaning(const Program& program, const PendingOperation& o) {
  const bool before = o.next <= Part::kTarget;
  const RemoteStatement& s = program.remotes[o.statement];
  const bool operand = before && s.operand && o.next > Part::kReadOperand;
  const bool swap = before && s.swap && o.next > Part::kReadSwap;
  return std::tuple(o.statement, o.next, operand ? o.operand : Integer(0), swap ? o.swap : Integer(0),
                    before ? Integer(0) : o.result);
}

/// Whether its place among others matters.
inline bool queued(const Semantics& semantics, const PendingOperation& o) {
  const RemoteStatement& s = semantics.program().remotes[o.statement];
  return o.next <= Part::kTarget && ordered(semantics.network(), s, s);
}

inline bool same_queue(const Semantics& semantics, const PendingOperation& a, const PendingOperation& b) {
  const Program& program = semantics.program();
  return queued(semantics, a) && queued(semantics, b) &&
         ordered(semantics.network(), program.remotes[a.statement], program.remotes[b.statement]);
}

/// The place of each operation of `end` among those of `begin`, first come first; nothing when they are not the same.
[[nodiscard]] inline std::optional<std::map<std::uint32_t, std::uint32_t>> matched(const Semantics& semantics,
                                                                                   const Exact& begin,
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
inline PendingOperation moved(const Program& program, const Shifts& shifts, const std::vector<Integer>& by,
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
inline Exact moved(const Program& program, const Shifts& shifts, const std::vector<Integer>& by, Exact state) {
  for (PendingOperation& o : state.pending) o = moved(program, shifts, by, o);
  return state;
}

inline bool same_but_for_operations(const Exact& a, const Exact& b) {
  return a.at == b.at && a.shared == b.shared && a.locals == b.locals;
}

}  // namespace loco::verify::liveness
