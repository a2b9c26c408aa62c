#include "loco_sim/workloads/collectives/layout.hpp"

#include <algorithm>

namespace loco::workloads::collectives {

bool in_a_row(const Move& move) {
  for (std::size_t i = 1; i < move.pieces.size(); ++i)
    if (move.pieces[i].from != move.pieces[i - 1].from + 1 || move.pieces[i].to != move.pieces[i - 1].to + 1)
      return false;
  return true;
}

CollectiveLayout::CollectiveLayout(const Schedule& schedule, std::uint64_t bytes)
    : parts_(schedule.parts), bytes_(bytes), come_(offset(schedule.slots)), landing_(schedule.moves.size()) {
  std::vector<std::uint64_t> words(schedule.ranks);
  for (std::size_t m = 0; m < schedule.moves.size(); ++m) word_of_.push_back(words[schedule.moves[m].to]++);
  now_ = come_ + *std::ranges::max_element(words) * kWord;
  std::vector<std::uint64_t> ends(schedule.ranks, now_ + kWord);
  staging_.assign(schedule.moves.size(), 0);
  for (std::size_t m = 0; m < schedule.moves.size(); ++m) {
    const Move& move = schedule.moves[m];
    if (move.add || !in_a_row(move)) {
      landing_[m] = ends[move.to];
      ends[move.to] += length(move);
    }
    if (!in_a_row(move)) {
      staging_[m] = ends[move.from];
      ends[move.from] += length(move);
    }
  }
  end_ = *std::ranges::max_element(ends);
}

}  // namespace loco::workloads::collectives
