// coreRMA's rules no-C and C (paper, Section 5): a value is undefined iff the read, or the write it reads, is in a
// conflict. A conflict-free read sees a write that hb does not hide from it.
#pragma once

#include <algorithm>
#include <vector>

#include "model/litmus/models/axioms.hpp"
#include "model/litmus/skeletons/skeleton.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

/// Does rf agree with the conflicts, for the reads and writes of one cell? `hb(a, b)`: is a before b?
/// Among atomic accesses R1 and R2 say what hides what; a set without them lets an atomic read look anywhere.
template <class Hb>
[[nodiscard]] bool conflicts_agree(const Skeleton& x, const Axioms& a, const Sources& rf,
                                   const std::vector<int>& writes, const std::vector<int>& reads, Hb hb) {
  const auto any_write = [&](auto predicate) { return std::any_of(writes.begin(), writes.end(), predicate); };
  const auto conflict = [&](int i, int j) {
    return i != j && !hb(i, j) && !hb(j, i) && !(x.sub(i).atomic && x.sub(j).atomic) &&
           (x.sub(i).writes || x.sub(j).writes);
  };
  const auto write_conflict = [&](int w) { return any_write([&](int o) { return conflict(w, o); }); };
  return std::all_of(reads.begin(), reads.end(), [&](int r) {
    const bool own = any_write([&](int w) { return conflict(r, w); });
    const auto atomic = [&](int w) { return x.sub(w).atomic && x.sub(r).atomic; };
    const auto hides = [&](int o) { return o != r && hb(o, r) && (a.r1 || !atomic(o)); };
    const auto visible = [&](int w) {
      return (hb(w, r) || (!a.r2 && atomic(w))) &&
             !any_write([&](int o) { return hb(w, o) && (atomic(w) ? hides(o) : o != r && hb(o, r)); });
    };
    const int w = rf[r];
    if (w == kConflict) return own || any_write([&](int o) { return o != r && visible(o) && write_conflict(o); });
    if (own) return false;
    if (w == kInitial) return !any_write(hides);
    return w < 0 || (!write_conflict(w) && visible(w));
  });
}

}  // namespace loco::model::litmus
