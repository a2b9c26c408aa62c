// READs that may be executed more than once: the words that each execution has read, and which packets of the response
// have been placed. With the witness, the trace has one aNRR a word: that of the execution whose response the requester
// takes. The requester begins and ends a track; the responder reports the words that it samples. It reports them
// directly, not over the network: for the trace only, without influence on the run. Private to nic_model/.
#pragma once

#include <cstdint>
#include <vector>

#include "nic_model/verbs.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// A word as a repeated READ has found it.
struct Sample {
  std::uint64_t value = 0;
  SubeventId source = 0;
  std::uint64_t seq = 0;
  sim::SimTime at{};

  bool operator==(const Sample&) const = default;
};

class ReadTracks {
 public:
  /// Begins the track of a READ of so many words; without the witness it has none.
  [[nodiscard]] std::uint32_t begin(std::size_t words) {
    const std::uint32_t track = tracks_.acquire();
    tracks_[track].sampled.assign(words, 0);
    return track;
  }
  void end(std::uint32_t track) {
    tracks_[track] = {};
    tracks_.release(track);
  }

  /// Another execution begins; its number, from 0.
  std::uint32_t execute(std::uint32_t track) {
    Track& t = tracks_[track];
    t.executions.emplace_back(t.sampled.size());
    return static_cast<std::uint32_t>(t.executions.size() - 1);
  }
  /// The aNRR of a word; 0 while there is none.
  [[nodiscard]] SubeventId sampled(std::uint32_t track, std::size_t word) const { return tracks_[track].sampled[word]; }
  void name(std::uint32_t track, std::size_t word, SubeventId id) { tracks_[track].sampled[word] = id; }
  /// An execution has found a word that another one had found before.
  void keep(std::uint32_t track, std::uint32_t execution, std::size_t word, const Sample& sample) {
    tracks_[track].executions[execution][word] = sample;
  }
  /// The sample of a word by an execution; null for the first one that read the word, and without the witness.
  [[nodiscard]] const Sample* kept(std::uint32_t track, std::uint64_t execution, std::size_t word) const {
    const Track& t = tracks_[track];
    if (execution >= t.executions.size() || t.sampled[word] == 0) return nullptr;
    const Sample& sample = t.executions[execution][word];
    return sample.seq == 0 ? nullptr : &sample;
  }

  /// Has packet `index` of the answer, which has `packets`, not been placed before? From now on it has.
  bool place_once(std::uint32_t track, std::uint32_t packets, std::uint32_t index) {
    std::vector<std::uint64_t>& placed = tracks_[track].placed;
    placed.resize((packets + 63) / 64);
    std::uint64_t& word = placed[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

  /// The first packet from `from` on that place_once() was not asked for.
  [[nodiscard]] std::uint32_t first_not_placed(std::uint32_t track, std::uint32_t from) const {
    const std::vector<std::uint64_t>& placed = tracks_[track].placed;
    while (from / 64 < placed.size() && (placed[from / 64] >> (from % 64) & 1U) != 0) ++from;
    return from;
  }

  [[nodiscard]] std::size_t in_use() const { return tracks_.in_use(); }
  bool operator==(const ReadTracks&) const = default;

 private:
  struct Track {
    std::vector<SubeventId> sampled{};              // the aNRR of each word, once there is one
    std::vector<std::vector<Sample>> executions{};  // by execution, then by word
    std::vector<std::uint64_t> placed{};            // out of order: one bit a packet of the response

    bool operator==(const Track&) const = default;
  };

  sim::Pool<Track> tracks_{};
};

}  // namespace loco::nic
