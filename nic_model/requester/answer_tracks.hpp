// Records which packets of a work request's answers have arrived. Needed where every packet is answered, or where a
// READ may be executed more than once. Private to nic_model/.
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

  /// Marks packet `index` of an answer of `packets` packets as placed. Returns true the first time.
  bool place_once(std::uint32_t track, std::uint32_t packets, std::uint32_t index) {
    std::vector<std::uint64_t>& placed = tracks_[track];
    placed.resize((packets + 63) / 64);
    std::uint64_t& word = placed[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

  /// The first packet from `from` on that is not marked.
  [[nodiscard]] std::uint32_t first_not_placed(std::uint32_t track, std::uint32_t from) const {
    const std::vector<std::uint64_t>& placed = tracks_[track];
    while (from / 64 < placed.size() && (placed[from / 64] >> (from % 64) & 1U) != 0) ++from;
    return from;
  }

  [[nodiscard]] std::size_t in_use() const { return tracks_.in_use(); }
  bool operator==(const AnswerTracks&) const = default;

 private:
  sim::Pool<std::vector<std::uint64_t>> tracks_{};  // one bit per packet
};

}  // namespace loco::nic
