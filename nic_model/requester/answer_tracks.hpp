// Which packets of the answers to a work request have come, where each is answered, or a READ may be executed more than
// once. Private to nic_model/.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ring.hpp"

namespace loco::nic {

class AnswerTracks {
 public:
  [[nodiscard]] std::uint32_t begin() { return tracks_.acquire(); }
  void end(std::uint32_t track) {
    tracks_[track].clear();
    tracks_.release(track);
  }

  /// Has packet `index` of the answer, which has `packets`, not been placed before? From now on it has.
  bool place_once(std::uint32_t track, std::uint32_t packets, std::uint32_t index) {
    std::vector<std::uint64_t>& placed = tracks_[track];
    placed.resize((packets + 63) / 64);
    std::uint64_t& word = placed[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

  /// The first packet from `from` on that place_once() was not asked for.
  [[nodiscard]] std::uint32_t first_not_placed(std::uint32_t track, std::uint32_t from) const {
    const std::vector<std::uint64_t>& placed = tracks_[track];
    while (from / 64 < placed.size() && (placed[from / 64] >> (from % 64) & 1U) != 0) ++from;
    return from;
  }

  [[nodiscard]] std::size_t in_use() const { return tracks_.in_use(); }
  bool operator==(const AnswerTracks&) const = default;

 private:
  sim::Pool<std::vector<std::uint64_t>> tracks_{};  // one bit a packet
};

}  // namespace loco::nic
