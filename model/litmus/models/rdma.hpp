// Relations shared by rdmawait, rdmatso and msw (LOCO paper, Appendix G.2).
#pragma once

#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

/// The rdmawait predicate on the events of one library. `pf_ib` and `pf_so` are the library's polls-from pairs:
/// those that enter ib, and those that enter so.
void add_rdma(const Skeleton& x, const Set& events, const Relation& pf_ib, const Relation& pf_so,
              const ModelOptions& options, Axioms& a);

/// pf of rdmatso: polls take the oldest operation towards their node that is not yet polled, so the k-th poll of a node
/// takes the k-th operation; a remote atomic, which may write twice, is one. False if a poll has nothing earlier to
/// take.
[[nodiscard]] bool polls_from(const Skeleton& x, Relation& pf);

/// The predicate of rdmawait on a library's own events.
void add_rdmawait(const Skeleton& x, Library library, const ModelOptions& options, Axioms& a);

}  // namespace loco::model::litmus
