// Where the data of a collective lies in the memory of each rank. Nothing of a network, and no simulated time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/workloads/collectives/schedule.hpp"

namespace loco::workloads::collectives {

/// The pieces of a move lie in a row on both sides.
[[nodiscard]] bool in_a_row(const Move& move);

/// Where things are in the memory of a rank's channel.
class CollectiveLayout {
 public:
  CollectiveLayout(const Schedule& schedule, std::uint64_t bytes);

  /// Whole words, of which some parts have one more than others.
  [[nodiscard]] std::uint64_t offset(Slot slot) const {
    return slot / parts_ * bytes_ + bytes_ / kWord * (slot % parts_) / parts_ * kWord;
  }
  [[nodiscard]] std::uint64_t length(Slot slot) const { return offset(slot + 1) - offset(slot); }
  [[nodiscard]] std::uint64_t length(const Move& move) const {
    std::uint64_t sum = 0;
    for (const Piece& piece : move.pieces) sum += length(piece.from);
    return sum;
  }
  /// The word that says that a move has come, at its receiver.
  [[nodiscard]] std::uint64_t come(std::size_t move) const { return come_ + word_of_[move] * kWord; }
  /// What such a word is put from.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t landing(std::size_t move) const { return landing_[move]; }
  [[nodiscard]] std::uint64_t staging(std::size_t move) const { return staging_[move]; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  std::uint32_t parts_;
  std::uint64_t bytes_;
  std::uint64_t come_;
  std::uint64_t now_ = 0;
  std::uint64_t end_ = 0;
  std::vector<std::uint64_t> word_of_;
  std::vector<std::uint64_t> landing_;  // of moves that do not go to their places at once
  std::vector<std::uint64_t> staging_;  // of moves that are packed
};

}  // namespace loco::workloads::collectives
