// coreRMA's rules no-C and C (paper, Section 5): a value is undefined iff the read, or the write it reads, is in a
// conflict. A conflict-free read sees a write that hb does not hide from it.
#pragma once

#include <algorithm>
#include <vector>

#include "model/litmus/skeleton.hpp"
#include "model/litmus/values.hpp"

namespace loco::model::litmus {

/// Does rf agree with the conflicts, for the reads and writes of one cell? `hb(a, b)`: is a before b?
template <class Hb>
[[nodiscard]] bool conflicts_agree(const Skeleton& x, const Sources& rf, const std::vector<int>& writes,
                                   const std::vector<int>& reads, Hb hb) {
  const auto any_write = [&](auto predicate) { return std::any_of(writes.begin(), writes.end(), predicate); };
  const auto conflict = [&](int a, int b) {
    return a != b && !hb(a, b) && !hb(b, a) && !(x.sub(a).atomic && x.sub(b).atomic) &&
           (x.sub(a).writes || x.sub(b).writes);
  };
  const auto write_conflict = [&](int w) { return any_write([&](int o) { return conflict(w, o); }); };
  return std::all_of(reads.begin(), reads.end(), [&](int r) {
    const bool own = any_write([&](int w) { return conflict(r, w); });
    const auto visible = [&](int w) {
      return hb(w, r) && !any_write([&](int o) { return o != r && hb(w, o) && hb(o, r); });
    };
    const int w = rf[r];
    if (w == kConflict) return own || any_write([&](int o) { return o != r && visible(o) && write_conflict(o); });
    if (own) return false;
    if (w == kInitial) return !any_write([&](int o) { return o != r && hb(o, r); });
    return w < 0 || (!write_conflict(w) && visible(w));
  });
}

}  // namespace loco::model::litmus
