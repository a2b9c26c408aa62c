#include "loco_sim/workloads/collectives/plan.hpp"

#include <algorithm>
#include <utility>

namespace loco::workloads::collectives {

namespace {
void add_unique(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (list.empty() || list.back() != value) list.push_back(value);
}

/// Of which there are as many as a rank has neighbours, by their numbers.
void find_streams(const Schedule& schedule, std::vector<RankPlan>& plans) {
  using Streams = std::map<std::pair<Rank, std::uint32_t>, std::vector<std::uint32_t>>;
  std::vector<Streams> to(schedule.ranks), from(schedule.ranks);
  for (std::uint32_t m = 0; m < schedule.moves.size(); ++m) {
    const Move& move = schedule.moves[m];
    RankPlan& sender = plans[move.from];
    RankPlan& receiver = plans[move.to];
    to[move.from][{move.to, move.stream}].push_back(static_cast<std::uint32_t>(sender.sends.size()));
    from[move.to][{move.from, move.stream}].push_back(static_cast<std::uint32_t>(receiver.receives.size()));
    sender.sends.push_back({.move = m});
    receiver.receives.push_back({.move = m});
  }
  for (Rank r = 0; r < schedule.ranks; ++r) {
    for (auto& [key, sends] : to[r]) {
      for (const std::uint32_t s : sends) plans[r].sends[s].stream = static_cast<std::uint32_t>(plans[r].to.size());
      plans[r].to.push_back(std::move(sends));
    }
    for (auto& [key, receives] : from[r]) plans[r].from.push_back(std::move(receives));
  }
}
}  // namespace

std::vector<RankPlan> plan(const Schedule& schedule) {
  std::vector<RankPlan> plans(schedule.ranks);
  find_streams(schedule, plans);
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
