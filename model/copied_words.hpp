// Which word that an operation read feeds which one that it writes: a put copies a range of words, and so do a get and
// a broadcast's puts. Ranges are told apart by address, since packets may be placed, and answers come, in any order,
// and some of them never.
#pragma once

#include <span>
#include <vector>

#include "model/trace_index.hpp"

namespace loco::model {

class CopiedWords {
 public:
  struct Pair {
    SubeventId read = 0;  ///< 0: the call has read nothing that could feed it
    SubeventId written = 0;
  };

  explicit CopiedWords(const TraceIndex& index) : index_(&index) {}

  /// The pairs of one call, by address of the word written. Where the trace has as many words of both stamps, the i-th
  /// is the i-th. Where it has fewer that were written (a trace that does not say what was still to come), the range
  /// written lies so that values agree, if there is such a place.
  const std::vector<Pair>& of(std::span<const SubeventId> parts, Stamp read, Stamp written);

 private:
  void by_address(std::span<const SubeventId> parts, Stamp stamp, std::vector<SubeventId>& ids) const;
  /// Pairs with the range read that begins at the i-th word; false when a word or its value does not fit.
  bool fits(std::size_t first);

  const TraceIndex* index_;
  std::vector<SubeventId> reads_, writes_;
  std::vector<Pair> pairs_;
};

}  // namespace loco::model
