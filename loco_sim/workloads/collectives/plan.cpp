#include "loco_sim/workloads/collectives/plan.hpp"

#include <algorithm>

namespace loco::workloads::collectives {

namespace {
void add_unique(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (list.empty() || list.back() != value) list.push_back(value);
}
}  // namespace

std::vector<RankPlan> plan(const Schedule& schedule) {
  std::vector<RankPlan> plans(schedule.ranks);
  for (std::uint32_t m = 0; m < schedule.moves.size(); ++m) {
    const Move& move = schedule.moves[m];
    plans[move.from].sends.push_back({.move = m});
    RankPlan& to = plans[move.to];
    to.from[move.from].push_back(static_cast<std::uint32_t>(to.receives.size()));
    to.receives.push_back({.move = m});
  }
  for (RankPlan& p : plans) {
    std::vector<std::vector<std::uint32_t>> into(schedule.slots);  // receives
    std::vector<std::vector<std::uint32_t>> out_of(schedule.slots);
    std::map<std::uint32_t, std::uint32_t> at_step;
    for (std::uint32_t r = 0; r < p.receives.size(); ++r) {
      const Move& move = schedule.moves[p.receives[r].move];
      at_step[move.step] = r;
      for (const Piece& piece : move.pieces) into[piece.to].push_back(r);
    }
    for (std::uint32_t s = 0; s < p.sends.size(); ++s) {
      const Move& move = schedule.moves[p.sends[s].move];
      for (const Piece& piece : move.pieces) {
        add_unique(out_of[piece.from], s);
        for (const std::uint32_t r : into[piece.from])
          if (schedule.moves[p.receives[r].move].step < move.step) add_unique(p.receives[r].frees, s);
      }
      if (schedule.pace == Pace::staged && move.step > 0)
        if (const auto before = at_step.find(move.step - 1); before != at_step.end())
          p.sends[s].behind = before->second;
    }
    for (RankPlan::Receive& receive : p.receives) {
      std::ranges::sort(receive.frees);
      receive.frees.erase(std::ranges::unique(receive.frees).begin(), receive.frees.end());
      for (const std::uint32_t s : receive.frees) ++p.sends[s].waits;
      const Move& move = schedule.moves[receive.move];
      if (!move.add) continue;
      for (const Piece& piece : move.pieces)
        for (const std::uint32_t s : out_of[piece.to])
          if (schedule.moves[p.sends[s].move].step <= move.step) add_unique(receive.blockers, s);
    }
  }
  return plans;
}

bool steps_alike(const Schedule& schedule) {
  std::vector<std::uint32_t> sent(schedule.ranks), received(schedule.ranks);
  std::vector<Rank> to(schedule.ranks, kNone);
  for (const Move& move : schedule.moves) {
    if (move.pieces.size() != 1 || sent[move.from]++ != move.step || received[move.to]++ != move.step) return false;
    if (to[move.from] == kNone) to[move.from] = move.to;
    if (to[move.from] != move.to) return false;
  }
  return std::ranges::all_of(sent, [&](std::uint32_t n) { return n == sent.front(); }) && sent == received;
}

std::uint32_t steps_of(const Schedule& schedule) { return schedule.moves.empty() ? 0 : schedule.moves.back().step + 1; }

}  // namespace loco::workloads::collectives
