// What rdmawait, rdmatso and msw share (LOCO paper, Appendix G.2).
#pragma once

#include "model/litmus/axioms.hpp"

namespace loco::model::litmus {

/// The rdmawait predicate on the events of one library. `pf_ib` and `pf_so` are the library's polls-from pairs:
/// those that enter ib, and those that enter so.
void add_rdma(const Skeleton& x, const Set& events, const Relation& pf_ib, const Relation& pf_so, Axioms& a);

/// The predicate of rdmawait on a library's own events.
void add_rdmawait(const Skeleton& x, const Set& events, Axioms& a);

}  // namespace loco::model::litmus
