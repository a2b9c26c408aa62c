// Keeps a search to the least of each orbit of assignments under a group of symmetries: the lexicographic leader.
//
// The search decides variables one after the other: the source of each read, then the last write of each final
// location, as subevents or below 0. A symmetry s maps an assignment A to sA, where (sA)(s(v)) = s(A(v)). A is a leader
// iff no sA is smaller; a prefix of it is given up as soon as some sA is smaller whatever follows. Symmetries for
// which sA is larger need no more looking at, so deep in the search few are left; those that are left at the end
// leave A as it is, and the orbit has (order of the group / their number) assignments.
#pragma once

#include <cstdint>
#include <vector>

#include "model/litmus/search/symmetry.hpp"

namespace loco::model::litmus {

class Leader {
 public:
  /// A variable: a read's number, or kSubeventsMax plus the number of an observable (a final location).
  using Variable = int;

  /// No symmetries: every assignment is a leader.
  Leader() = default;
  /// `variables` in the order in which they will be decided. Precondition: the symmetries map variables to variables,
  /// and the paths of x to themselves.
  Leader(const Skeleton& x, const std::vector<const Automorphism*>& symmetries, const std::vector<Variable>& variables);

  [[nodiscard]] bool trivial() const { return maps_.empty(); }
  /// Decides the k-th variable, the ones before being decided. False if no leader begins like this.
  bool decide(std::size_t k, int value);
  /// All variables are decided: how many symmetries leave the assignment as it is, the identity included.
  [[nodiscard]] std::uint64_t stabiliser() const { return maps_.empty() ? 1 : open_.back().size() + 1; }

 private:
  struct Map {
    std::vector<std::int16_t> image;   ///< of subevents
    std::vector<std::int16_t> origin;  ///< by position: where the variable stands that is mapped to the one here
  };
  struct Open {  ///< a symmetry that has not made a difference yet
    std::uint32_t map = 0;
    std::uint32_t at = 0;  ///< positions before are equal
  };

  std::vector<Map> maps_;
  std::vector<int> decided_;
  std::vector<std::vector<Open>> open_;  ///< by number of decided variables
};

}  // namespace loco::model::litmus
