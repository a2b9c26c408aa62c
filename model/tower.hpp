// Local soundness on a run (LOCO paper, Def. 3.13): what a library call promises holds in the level below.
//
// A promise is an edge of the upper level that the library answers for: its own so, and the ppo into and out of
// the subevents that it synthesises (aGF, aCR, aWT). The concretisation f maps a subevent of the call to one of its
// implementation: itself where it was recorded; else one of the same stamp and node; else what the proofs in the
// paper's Appendix H take (a wait for aGF, a read for aWT). Every promise (s1, s2) must have f(s1) before f(s2) in the
// hb of the level below.
//
// Most promises are pairs of the lower level's own ppo: Fig. 10 says so of their stamps. The others are looked for in
// the graph (paths.hpp).
#pragma once

#include "model/level.hpp"
#include "model/library_checker.hpp"
#include "model/order.hpp"

namespace loco::model {

/// A storey: a level with all its edges, materialised.
struct Storey {
  Level level;
  Order order;

  /// `counted` has seen all edges of the level.
  Storey(Level of, const Order& counted);
};

/// `upper` is `lower` with one library more; the lower one's edges are used up. Reports Rule::promise; nothing when the
/// lower level has a cycle, for then it promises everything.
void check_tower(Storey& lower, Storey& upper, Library library, Reports& reports);

}  // namespace loco::model
